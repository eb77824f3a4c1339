// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A comparison for people: what is compared and how sure it is, then per group the rows
 * that are posted on mailing lists, the causes beside each other, and what the tail is
 * made of. With more than two sides each is compared with the first in turn.
 */
#include "out/diff.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "out/table.h"
#include "out/text.h"
#include "util/time.h"

#define HANG 9
#define TAIL_CAUSES 4		/* of so many causes the sentence about the tail tells the change */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void print_side(struct sl_out *out, const struct sl_diff *diff, unsigned int s)
{
	const struct sl_diff_side *side = &diff->sides[s];
	const struct sl_report *first = side->reports[0];
	uint64_t events = 0, lost = 0, unknown = 0, ns = 0;
	struct sl_line line = { .used = 0 };
	unsigned int f;

	for (f = 0; f < side->nr; f++) {
		const struct sl_report *report = side->reports[f];

		events += report->info->events;
		lost += report->lost_events;
		unknown += report->lost_unknown_gaps;
		ns += sl_since(report->t_end_ns, report->t_start_ns);
	}
	sl_line_add(&line, "%c:%*s", sl_diff_letter(s), HANG - 2, "");
	if (side->nr > 1)
		sl_line_add(&line, "%u recordings: ", side->nr);
	for (f = 0; f < side->nr; f++) {
		if (f)
			sl_line_add(&line, " ");
		sl_line_add_name(&line, side->nr > 1 ? base_name(first->params.path) : first->params.path,
				 out->utf8);
		if (side->nr > 1 && f + 1 < side->nr)
			first = side->reports[f + 1];
	}
	sl_line_add(&line, ", %" PRIu64 " events in ", events);
	sl_line_add_duration(&line, ns);
	sl_line_add(&line, ", %" PRIu64 "%s lost", lost, unknown ? " or more" : "");
	if (side->reports[0]->backend)
		sl_line_add(&line, ", %s", side->reports[0]->backend);
	sl_line_add(&line, ", ");
	sl_line_add_name(&line, side->reports[0]->info->kernel ? side->reports[0]->info->kernel :
			 "kernel not in the file", out->utf8);
	sl_out_wrap(out, 0, HANG, line.text);
}

static void print_note(struct sl_out *out, const char *label, const char *text)
{
	struct sl_line line = { .used = 0 };

	sl_line_add(&line, "%-*s%s", HANG, label, text);
	sl_out_wrap(out, 0, HANG, line.text);
}

/* A cause that only one side can tell moves its time into "undetermined" on the other. */
static void print_blind(struct sl_out *out, const struct sl_diff *diff, unsigned int s)
{
	const bool *base = diff->sides[0].not_assessable, *side = diff->sides[s].not_assessable;
	unsigned int which, c;

	for (which = 0; which < 2; which++) {
		struct sl_line line = { .used = 0 };

		for (c = 0; c < SL_CAUSE_NR; c++) {
			if (base[c] == side[c] || side[c] != (which == 1))
				continue;
			if (!line.used)
				sl_line_add(&line, "%-*s%c cannot tell ", HANG, "Beware:",
					    sl_diff_letter(which ? s : 0));
			else
				sl_line_add(&line, ", ");
			sl_line_add(&line, "%s", sl_cause_descs[c].id);
		}
		if (line.used) {
			sl_line_add(&line, ": that time is among others there (fair-undetermined)");
			sl_out_wrap(out, 0, HANG, line.text);
		}
	}
}

static char *change_text(char *buf, size_t size, int64_t permille)
{
	uint64_t part = (uint64_t)(permille < 0 ? -permille : permille);

	snprintf(buf, size, "%c%" PRIu64 ".%" PRIu64 " %%", permille < 0 ? '-' : '+', part / 10, part % 10);
	return buf;
}

/* ---- the rows of a group ---- */

static char *value_text(char *buf, size_t size, uint64_t value, const struct sl_fmt_unit *unit)
{
	if (value == SL_TIME_NONE)
		snprintf(buf, size, "n/a");
	else if (unit)
		sl_fmt_scaled(buf, size, value, unit->scale, unit->decimals);
	else
		snprintf(buf, size, "%" PRIu64, value);
	return buf;
}

/* "841.2" or, of several recordings, "841.2 [799.0 .. 901.3]" */
static void value_cell(struct sl_table *table, const struct sl_diff_value *value, bool several,
		       const struct sl_fmt_unit *unit)
{
	char median[32], min[32], max[32];

	value_text(median, sizeof(median), value->median, unit);
	sl_table_cell(table, "%s", median);
	if (!several)
		return;
	if (value->median == SL_TIME_NONE)
		sl_table_cell(table, "%s", "");
	else
		sl_table_cell(table, "[%s .. %s]", value_text(min, sizeof(min), value->min, unit),
			      value_text(max, sizeof(max), value->max, unit));
}

static void change_cells(struct sl_table *table, const struct sl_diff_line *line)
{
	int64_t permille;
	char text[32];

	if (sl_diff_line_change(line, &permille))
		sl_table_cell(table, "(%s)", change_text(text, sizeof(text), permille));
	else
		sl_table_cell(table, "%s", line->row == SL_DIFF_SAMPLES ? "" : "(n/a)");
	sl_table_cell(table, "%s", sl_diff_line_is_significant(line) ? "*" : "");
}

static uint64_t largest_of(const struct sl_diff_group *group, unsigned int s)
{
	uint64_t a = group->cells[0].rows[SL_DIFF_MAX].max, b = group->cells[s].rows[SL_DIFF_MAX].max;

	if (a == SL_TIME_NONE || (b != SL_TIME_NONE && b > a))
		return b;
	return a;
}

static int print_rows(struct sl_out *out, const struct sl_diff *diff, const struct sl_diff_group *group,
		      unsigned int s, const struct sl_fmt_unit *unit)
{
	struct sl_diff_line line = { .diff = diff, .group = group, .side = s };
	bool several[2] = { diff->sides[0].nr > 1, diff->sides[s].nr > 1 };
	struct sl_table *table = sl_table_new();
	unsigned int row, i;
	int ret;

	if (!table)
		return -ENOMEM;
	sl_table_column(table, SL_LEFT, "");
	for (i = 0; i < 2; i++) {
		char head[8] = { sl_diff_letter(i ? s : 0), 0 };

		sl_table_column(table, SL_RIGHT, head);
		if (several[i])
			sl_table_column(table, SL_RIGHT, "from .. to");
	}
	sl_table_column(table, SL_RIGHT, "+ is better");
	sl_table_column(table, SL_LEFT, "");
	for (row = 0; row < SL_DIFF_ROWS; row++) {
		line.row = row;
		sl_table_row(table);
		sl_table_cell(table, "%s", sl_diff_row_name(row));
		for (i = 0; i < 2; i++) {
			struct sl_diff_value value = sl_diff_line_value(&line, i ? s : 0);

			value_cell(table, &value, several[i], row == SL_DIFF_SAMPLES ? NULL : unit);
		}
		change_cells(table, &line);
	}
	ret = sl_table_print(table, out, 2);
	sl_table_free(table);
	return ret;
}

/* ---- causes ---- */

struct cause_order {
	const struct sl_diff *diff;
	const struct sl_diff_group *group;
	unsigned int side;
};

static uint64_t moved_ns(const struct cause_order *order, enum sl_cause cause)
{
	uint64_t a = sl_diff_per_1000_ns(order->diff, order->group, 0, cause);
	uint64_t b = sl_diff_per_1000_ns(order->diff, order->group, order->side, cause);

	a = a == SL_TIME_NONE ? 0 : a;
	b = b == SL_TIME_NONE ? 0 : b;
	return a > b ? a - b : b - a;
}

/* What moved most comes first; causes of placement, which lie across the others, last. */
static int by_moved(const void *a, const void *b, void *arg)
{
	enum sl_cause x = *(const enum sl_cause *)a, y = *(const enum sl_cause *)b;
	bool px = sl_cause_descs[x].family == SL_FAMILY_PLACE;
	bool py = sl_cause_descs[y].family == SL_FAMILY_PLACE;
	uint64_t mx, my;

	if (px != py)
		return px - py;
	mx = moved_ns(arg, x);
	my = moved_ns(arg, y);
	return mx != my ? (mx < my ? 1 : -1) : (int)x - (int)y;
}

static void ns_cell(struct sl_table *table, uint64_t ns, const struct sl_fmt_unit *unit)
{
	char text[32];

	sl_table_cell(table, "%s", value_text(text, sizeof(text), ns, unit));
}

/* "+12.3": time that B has more. */
static void moved_cell(struct sl_table *table, uint64_t a, uint64_t b, const struct sl_fmt_unit *unit)
{
	char text[32];

	if (a == SL_TIME_NONE || b == SL_TIME_NONE)
		sl_table_cell(table, "n/a");
	else
		sl_table_cell(table, "%c%s", b < a ? '-' : '+',
			      value_text(text, sizeof(text), b < a ? a - b : b - a, unit));
}

static void count_cell(struct sl_table *table, uint64_t milli)
{
	char text[32];

	if (milli == SL_TIME_NONE)
		sl_table_cell(table, "n/a");
	else
		sl_table_cell(table, "%s", sl_fmt_scaled(text, sizeof(text), milli, 1000, 1));
}

static void cause_row(struct sl_table *table, const struct cause_order *order, enum sl_cause cause,
		      const struct sl_fmt_unit *unit)
{
	struct sl_diff_line line = { order->diff, order->group, order->side, SL_DIFF_ROWS, cause };
	uint64_t a = sl_diff_per_1000_ns(order->diff, order->group, 0, cause);
	uint64_t b = sl_diff_per_1000_ns(order->diff, order->group, order->side, cause);

	sl_table_row(table);
	sl_table_cell(table, "%s%s", sl_cause_descs[cause].family == SL_FAMILY_PLACE ? "placed: " : "",
		      sl_cause_descs[cause].id);
	ns_cell(table, a, unit);
	ns_cell(table, b, unit);
	moved_cell(table, a, b, unit);
	sl_table_cell(table, "%s", sl_diff_line_is_significant(&line) ? "*" : "");
	count_cell(table, sl_diff_per_1000_milli(order->diff, order->group, 0, cause));
	count_cell(table, sl_diff_per_1000_milli(order->diff, order->group, order->side, cause));
}

static int print_causes(struct sl_out *out, const struct sl_diff *diff, const struct sl_diff_group *group,
			unsigned int s)
{
	struct cause_order order = { diff, group, s };
	enum sl_cause shown[SL_CAUSE_NR];
	struct sl_table *table;
	struct sl_fmt_unit unit;
	unsigned int i, c, nr = 0;
	uint64_t largest = 0;
	char head[2][32];
	int ret;

	for (c = 0; c < SL_CAUSE_NR; c++) {
		if (!sl_diff_cause_shown(group, s, c))
			continue;
		shown[nr++] = c;
		for (i = 0; i < 2; i++) {
			uint64_t ns = sl_diff_per_1000_ns(diff, group, i ? s : 0, c);

			if (ns != SL_TIME_NONE && ns > largest)
				largest = ns;
		}
	}
	if (!nr)
		return 0;
	table = sl_table_new();
	if (!table)
		return -ENOMEM;
	qsort_r(shown, nr, sizeof(*shown), by_moved, &order);
	unit = sl_fmt_unit_of_waits(largest);
	for (i = 0; i < 2; i++)
		snprintf(head[i], sizeof(head[i]), "%c (%s)", sl_diff_letter(i ? s : 0), unit.name);
	sl_table_column(table, SL_LEFT, "Causes per 1000 waits");
	sl_table_column(table, SL_RIGHT, head[0]);
	sl_table_column(table, SL_RIGHT, head[1]);
	snprintf(head[0], sizeof(head[0]), "%c - A", sl_diff_letter(s));
	sl_table_column(table, SL_RIGHT, head[0]);
	sl_table_column(table, SL_LEFT, "");
	for (i = 0; i < 2; i++) {
		snprintf(head[i], sizeof(head[i]), "waits %c", sl_diff_letter(i ? s : 0));
		sl_table_column(table, SL_RIGHT, head[i]);
	}
	for (i = 0; i < nr; i++)
		cause_row(table, &order, shown[i], &unit);
	ret = sl_table_print(table, out, 2);
	sl_table_free(table);
	return ret;
}

/* ---- the tail ---- */

static double per_wait(const struct sl_diff_causes *causes, enum sl_cause cause)
{
	return causes->waits ? (double)causes->ns[cause] / (double)causes->waits : 0;
}

static void add_signed(struct sl_line *line, double ns)
{
	sl_line_add(line, "%c", ns < 0 ? '-' : '+');
	sl_line_add_duration(line, (uint64_t)(fabs(ns) + 0.5));
}

/* HOLD and FAIR causes partition a wait, so these changes add up to that of the average. */
static void print_tail(struct sl_out *out, const struct sl_diff *diff, const struct sl_diff_group *group,
		       unsigned int s)
{
	const struct sl_diff_causes *a = &group->cells[0].tail, *b = &group->cells[s].tail;
	struct sl_line line = { .used = 0 };
	bool told[SL_CAUSE_HOLD_NR] = { false };
	unsigned int i, c;
	double average;

	if (!a->waits || !b->waits)
		return;
	average = (double)b->total_ns / (double)b->waits - (double)a->total_ns / (double)a->waits;
	sl_line_add(&line, "Above P%g (A %" PRIu64 " wait%s, %c %" PRIu64 "): ", diff->params.tail * 100,
		    a->waits, a->waits == 1 ? "" : "s", sl_diff_letter(s), b->waits);
	add_signed(&line, average);
	sl_line_add(&line, " per wait");
	for (i = 0; i < TAIL_CAUSES; i++) {
		unsigned int best = SL_CAUSE_HOLD_NR;
		double most = 0;

		for (c = 0; c < SL_CAUSE_HOLD_NR; c++) {
			double moved = per_wait(b, c) - per_wait(a, c);

			if (!told[c] && fabs(moved) > most) {
				most = fabs(moved);
				best = c;
			}
		}
		if (best == SL_CAUSE_HOLD_NR || most < 0.5)
			break;
		told[best] = true;
		sl_line_add(&line, "%s%s ", i ? ", " : ", of which ", sl_cause_descs[best].id);
		add_signed(&line, per_wait(b, best) - per_wait(a, best));
	}
	sl_out_wrap(out, 2, 4, line.text);
}

/* ---- the whole ---- */

static int print_group(struct sl_out *out, const struct sl_diff *diff, const struct sl_diff_group *group,
		       unsigned int s)
{
	struct sl_fmt_unit unit = sl_fmt_unit_of_waits(largest_of(group, s));
	uint64_t slice_a = group->cells[0].slice_ns, slice_b = group->cells[s].slice_ns;
	struct sl_line line = { .used = 0 };
	char name[600];
	int ret;

	sl_line_add(&line, "%s, in %s", sl_diff_group_name(name, sizeof(name), diff, group, out->utf8),
		    unit.name);
	if (slice_a && slice_b) {
		sl_line_add(&line, ", slice ");
		sl_line_add_duration(&line, slice_a);
		if (slice_a != slice_b) {
			sl_line_add(&line, " and ");
			sl_line_add_duration(&line, slice_b);
		}
	}
	putc('\n', out->file);
	sl_out_title(out, "%s", line.text);
	ret = print_rows(out, diff, group, s, &unit);
	if (!ret)
		ret = print_causes(out, diff, group, s);
	if (!ret)
		print_tail(out, diff, group, s);
	return ret;
}

/* The significant values of a group, worst news as good news: "P99 +12.3 %". */
static void add_findings(struct sl_line *text, struct sl_out *out, const struct sl_diff *diff,
			 const struct sl_diff_group *group, unsigned int s, const char **between)
{
	struct sl_diff_line line = { .diff = diff, .group = group, .side = s };
	const char *separator = NULL;
	char name[600], change[32];
	unsigned int i;

	for (i = SL_DIFF_AVG; i < SL_DIFF_ROWS + SL_CAUSE_NR; i++) {
		bool cause = i >= SL_DIFF_ROWS;
		int64_t permille;

		line.row = cause ? SL_DIFF_ROWS : i;
		line.cause = cause ? i - SL_DIFF_ROWS : 0;
		if (!sl_diff_line_is_significant(&line))
			continue;
		if (!separator)
			sl_line_add(text, "%s%s: ", *between,
				    sl_diff_group_name(name, sizeof(name), diff, group, out->utf8));
		sl_line_add(text, "%s%s ", separator ? separator : "",
			    cause ? sl_cause_descs[line.cause].id : sl_diff_row_name(i));
		sl_line_add(text, "%s", sl_diff_line_change(&line, &permille) ?
			    change_text(change, sizeof(change), permille) : "new");
		separator = ", ";
		*between = "; ";
	}
}

static void print_verdict(struct sl_out *out, const struct sl_diff *diff, unsigned int s)
{
	const struct sl_diff_side *side = &diff->sides[s];
	struct sl_line line = { .used = 0 };
	const char *between = "";
	unsigned int g;

	if (!side->tested) {
		sl_line_add(&line, "Result: not tested, so differences may be noise");
	} else if (!side->significant) {
		sl_line_add(&line, "Result: no significant difference");
		if (side->test.least_p >= side->alpha)
			sl_line_add(&line, " (so few recordings cannot show any)");
	} else {
		sl_line_add(&line, "Result: %u of %u values differ significantly, + is better. ",
			    side->significant, side->values_tested);
		for (g = 0; g < diff->nr_groups; g++)
			add_findings(&line, out, diff, &diff->groups[g], s, &between);
	}
	sl_out_wrap(out, 0, 2, line.text);
}

/* Groups that one of the two lacks have nothing to compare. */
static void print_unmatched(struct sl_out *out, const struct sl_diff *diff, unsigned int s)
{
	unsigned int which, g;

	for (which = 0; which < 2; which++) {
		struct sl_line line = { .used = 0 };
		unsigned int nr = 0;

		for (g = 0; g < diff->nr_groups; g++) {
			const struct sl_diff_group *group = &diff->groups[g];
			char name[600];

			if (!group->cells[which ? s : 0].files || group->cells[which ? 0 : s].files)
				continue;
			if (nr++ < 10)
				sl_line_add(&line, "%s%s (%" PRIu64 ")", nr > 1 ? ", " : "",
					    sl_diff_group_name(name, sizeof(name), diff, group, out->utf8),
					    group->cells[which ? s : 0].samples);
		}
		if (nr > 10)
			sl_line_add(&line, ", ... (%u in all)", nr);
		if (nr) {
			struct sl_line whole = { .used = 0 };

			sl_line_add(&whole, "Waits only in %c, so n/a: %s", sl_diff_letter(which ? s : 0),
				    line.text);
			putc('\n', out->file);
			sl_out_wrap(out, 0, 2, whole.text);
		}
	}
}

static int print_pair(struct sl_out *out, const struct sl_diff *diff, unsigned int s,
		      const struct sl_out_view *view)
{
	unsigned int g, shown = 0, left = 0;
	char text[512];
	int ret = 0;

	if (diff->params.nr_sides > 2) {
		putc('\n', out->file);
		sl_out_title(out, "A against %c", sl_diff_letter(s));
	}
	sl_diff_say_test(diff, s, text, sizeof(text));
	print_note(out, "Test:", text);
	print_blind(out, diff, s);
	print_verdict(out, diff, s);
	for (g = 0; g < diff->nr_groups && !ret; g++) {
		const struct sl_diff_group *group = &diff->groups[g];

		if (!group->cells[0].files || !group->cells[s].files)
			continue;
		if (shown == view->worst) {
			left++;
			continue;
		}
		shown++;
		ret = print_group(out, diff, group, s);
	}
	if (left)
		fprintf(out->file, "\n%u more group%s with fewer waits: -n %u shows all\n", left,
			left == 1 ? "" : "s", shown + left);
	print_unmatched(out, diff, s);
	return ret;
}

int sl_out_diff_text(struct sl_out *out, const struct sl_diff *diff, const struct sl_out_view *view)
{
	const struct sl_report *first = diff->sides[0].reports[0];
	unsigned int s;
	int ret = 0;

	sl_text_definition(out, first);
	for (s = 0; s < diff->params.nr_sides; s++)
		print_side(out, diff, s);
	if (first->recorded_above_ns) {
		char above[32], text[160];

		sl_fmt_duration(above, sizeof(above), first->recorded_above_ns);
		snprintf(text, sizeof(text), "causes are of waits of at least %s, which is what was recorded; "
			 "the rows are of all", above);
		print_note(out, "Causes:", text);
	}
	for (s = 1; s < diff->params.nr_sides && !ret; s++)
		ret = print_pair(out, diff, s, view);
	return ret;
}
