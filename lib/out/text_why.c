// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Why: what held the chosen waits, where they could have run instead, who ran
 * meanwhile, and what this recording cannot tell.
 */
#include "out/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "out/table.h"

#define OCCUPANTS_MAX 10

static bool is_place(const struct sl_why_cause *cause)
{
	return sl_cause_descs[cause->cause].family == SL_FAMILY_PLACE;
}

/* "p99.9" -> "P99.9": as percentiles are written in a sentence. */
static void add_label(struct sl_line *line, const char *label)
{
	if (*label == 'p' && isdigit((unsigned char)label[1]))
		sl_line_add(line, "P%s", label + 1);
	else
		sl_line_add(line, "%s", label);
}

static bool several_kinds(const struct sl_report *report)
{
	return report->params.waits & (report->params.waits - 1);
}

/* Each kind of wait has a threshold of its own; the one that is known is the first kind's. */
static void add_threshold(struct sl_line *line, const struct sl_report *report)
{
	enum sl_wait_kind first = SL_WAIT_WAKE;

	while (report->params.waits && !(report->params.waits >> first & 1))
		first++;
	if (!several_kinds(report)) {
		sl_line_add(line, " = ");
		sl_line_add_duration(line, report->why.threshold_ns);
		return;
	}
	sl_line_add(line, " of their kind (%s: ", sl_wait_kind_name(first));
	sl_line_add_duration(line, report->why.threshold_ns);
	sl_line_add(line, ")");
}

/*
 * Of the samples, and then of what the percentile knows nothing about: a wait
 * that never ended is at least as long, and nobody would forgive leaving it out.
 */
static void print_headline(struct sl_out *out, const struct sl_report *report)
{
	const struct sl_why_spec *spec = &report->params.why;
	const struct sl_why *why = &report->why;
	uint64_t samples = why->count - why->tainted;
	struct sl_line line = { .used = 0 };

	if (!why->selected && !why->count) {
		sl_out_title(out, "No wait to explain");
		return;
	}
	if (why->fell_back)
		sl_line_add(&line, "The worst %" PRIu64 " of %" PRIu64 " waits", samples, why->selected);
	else if (spec->mode == SL_WHY_QUANTILE && spec->quantile >= 1 && samples == 1)
		sl_line_add(&line, "The longest of %" PRIu64 " wait%s", why->selected,
			    why->selected == 1 ? "" : "s");
	else
		sl_line_add(&line, "%" PRIu64 " of %" PRIu64 " waits", samples, why->selected);
	if (spec->mode == SL_WHY_DURATION) {
		sl_line_add(&line, " of at least ");
		sl_line_add_duration(&line, spec->at_least_ns);
	} else if (why->fell_back) {
		sl_line_add(&line, " (");
		add_label(&line, spec->label);
		if (spec->quantile < 1)
			sl_line_add(&line, " needs %.0f samples", ceil(1 / (1 - spec->quantile) - 1e-9));
		sl_line_add(&line, ")");
	} else if (spec->quantile >= 1) {
		sl_line_add(&line, "%s", samples == 1 ? "" : " that are the longest of their kind");
	} else {
		sl_line_add(&line, " above ");
		add_label(&line, spec->label);
		add_threshold(&line, report);
	}
	if (why->tainted)
		sl_line_add(&line, ", and %" PRIu64 " that %s no sample%s", why->tainted,
			    why->tainted == 1 ? "is" : "are", why->tainted == 1 ? "" : "s");
	sl_line_add(&line, ", ");
	sl_line_add_duration(&line, why->total_ns);
	sl_line_add(&line, " in all");
	sl_out_title(out, "%s", line.text);
	if (several_kinds(report) && spec->mode == SL_WHY_QUANTILE && spec->quantile < 1)
		fputs("  A kind with too few samples for that gives its longest waits.\n", out->file);
	if (why->tainted)
		fputs("  No sample, but shown: open at the end, or touched by a gap in the data.\n", out->file);
	if (report->flight && spec->mode == SL_WHY_QUANTILE)
		fputs("  The percentile is of the kept windows only, not of the whole run.\n", out->file);
	if (report->recorded_above_ns && why->threshold_ns < report->recorded_above_ns) {
		struct sl_line note = { .used = 0 };

		sl_line_add(&note, "Only waits of at least ");
		sl_line_add_duration(&note, report->recorded_above_ns);
		sl_line_add(&note, " were recorded: shorter ones are counted, and not among these.");
		sl_out_wrap(out, 2, 2, note.text);
	}
}

static void confidence_cells(struct sl_table *table, const uint64_t *confidence_ns)
{
	unsigned int shares[SL_CONF_NR], i;
	char text[32];

	sl_fmt_shares(confidence_ns, SL_CONF_NR, shares);
	for (i = 0; i < SL_CONF_NR; i++)
		sl_table_cell(table, "%s",
			      shares[i] ? sl_fmt_percent(text, sizeof(text), shares[i]) : "-");
}

static struct sl_table *cause_table(const char *head, const char *time_head)
{
	struct sl_table *table = sl_table_new();

	if (!table)
		return NULL;
	sl_table_column(table, SL_LEFT, head);
	sl_table_column(table, SL_RIGHT, time_head);
	sl_table_column(table, SL_RIGHT, "share");
	sl_table_column(table, SL_RIGHT, "waits");
	sl_table_column(table, SL_RIGHT, "primary");
	sl_table_column(table, SL_RIGHT, "exact");
	sl_table_column(table, SL_RIGHT, "derived");
	sl_table_column(table, SL_RIGHT, "unknown");
	return table;
}

static void cause_row(struct sl_table *table, const struct sl_why_cause *cause,
		      const struct sl_fmt_unit *unit, unsigned int permille)
{
	char time[32], share[32];

	sl_table_row(table);
	sl_table_cell(table, "%s", sl_cause_descs[cause->cause].id);
	sl_table_cell(table, "%s", sl_fmt_scaled(time, sizeof(time), cause->ns, unit->scale,
						 unit->decimals));
	sl_table_cell(table, "%s", sl_fmt_percent(share, sizeof(share), permille));
	sl_table_cell(table, "%" PRIu64, cause->count);
	sl_table_cell(table, "%" PRIu64, cause->primary);
	confidence_cells(table, cause->confidence_ns);
}

static void sum_cells(struct sl_table *table, const char *name, uint64_t ns, uint64_t total_ns,
		      const struct sl_fmt_unit *unit)
{
	char time[32], share[32];

	sl_table_row(table);
	sl_table_cell(table, "%s", name);
	sl_table_cell(table, "%s", sl_fmt_scaled(time, sizeof(time), ns, unit->scale, unit->decimals));
	sl_table_cell(table, "%s", sl_fmt_percent(share, sizeof(share), sl_fmt_permille(ns, total_ns)));
}

/* HOLD and FAIR causes: these partition the time. */
static int print_held(struct sl_out *out, const struct sl_why *why, const struct sl_fmt_unit *unit)
{
	uint64_t ns[SL_CAUSE_NR + 1], sum = 0, unexplained = 0, confidence[SL_CONF_NR] = { 0 };
	unsigned int shares[SL_CAUSE_NR + 1], i, c, nr = 0;
	struct sl_table *table;
	char head[32];
	int ret;

	snprintf(head, sizeof(head), "time (%s)", unit->name);
	table = cause_table("held by", head);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < why->nr_causes && nr < SL_CAUSE_NR; i++)
		if (!is_place(&why->causes[i]))
			ns[nr++] = why->causes[i].ns;
	sl_fmt_shares(ns, nr, shares);
	for (i = 0, nr = 0; i < why->nr_causes; i++) {
		const struct sl_why_cause *cause = &why->causes[i];

		if (is_place(cause))
			continue;
		cause_row(table, cause, unit, shares[nr++]);
		sum += cause->ns;
		unexplained += sl_out_unexplained(cause);
		for (c = 0; c < SL_CONF_NR; c++)
			confidence[c] += cause->confidence_ns[c];
	}
	sl_table_rule(table);
	sum_cells(table, "all", sum, sum, unit);
	sl_table_cell(table, "%" PRIu64, why->count);
	sl_table_cell(table, "%s", "");
	confidence_cells(table, confidence);
	sum_cells(table, "of it unexplained", unexplained, sum, unit);
	ret = sl_table_print(table, out, 2);
	sl_table_free(table);
	return ret;
}

/* PLACE causes lie across the time above, so they have a table of their own. */
static int print_placed(struct sl_out *out, const struct sl_why *why, const struct sl_fmt_unit *unit)
{
	struct sl_table *table;
	unsigned int i, nr = 0;
	char head[32];
	int ret;

	for (i = 0; i < why->nr_causes; i++)
		nr += is_place(&why->causes[i]);
	if (!nr)
		return 0;
	snprintf(head, sizeof(head), "time (%s)", unit->name);
	table = cause_table("queued there by", head);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < why->nr_causes; i++)
		if (is_place(&why->causes[i]))
			cause_row(table, &why->causes[i], unit,
				  sl_fmt_permille(why->causes[i].ns, why->total_ns));
	putc('\n', out->file);
	sl_out_title(out, "Placement: time that another CPU could have saved (overlaps the above)");
	ret = sl_table_print(table, out, 2);
	sl_table_free(table);
	return ret;
}

static int print_occupants(struct sl_out *out, const struct sl_why *why)
{
	struct sl_table *table;
	struct sl_fmt_unit unit;
	uint64_t total_ns = 0;
	unsigned int i;
	char head[32];
	int ret;

	if (!why->nr_occupants)
		return 0;
	table = sl_table_new();
	if (!table)
		return -ENOMEM;
	for (i = 0; i < why->nr_waits; i++)
		total_ns += why->waits[i].delay_ns;
	unit = sl_fmt_unit_for(why->occupants[0].ns);
	snprintf(head, sizeof(head), "time (%s)", unit.name);
	sl_table_column(table, SL_LEFT, "who");
	sl_table_column(table, SL_RIGHT, head);
	sl_table_column(table, SL_RIGHT, "share");
	sl_table_column(table, SL_RIGHT, "in waits");
	for (i = 0; i < why->nr_occupants && i < OCCUPANTS_MAX; i++) {
		const struct sl_occupant *who = &why->occupants[i];
		char text[128];

		sl_table_row(table);
		sl_table_cell(table, "%s", sl_fmt_escape(text, sizeof(text),
							 who->comm[0] ? who->comm : "?", out->utf8));
		sl_table_cell(table, "%s", sl_fmt_scaled(text, sizeof(text), who->ns, unit.scale,
							 unit.decimals));
		sl_table_cell(table, "%s", sl_fmt_percent(text, sizeof(text),
							  sl_fmt_permille(who->ns, total_ns)));
		sl_table_cell(table, "%" PRIu64, who->count);
	}
	putc('\n', out->file);
	if (why->nr_waits < why->count)
		sl_out_title(out, "Who ran instead, over the worst %u waits", why->nr_waits);
	else
		sl_out_title(out, "Who ran instead");
	ret = sl_table_print(table, out, 2);
	if (why->nr_occupants > OCCUPANTS_MAX)
		fprintf(out->file, "  ... and %u more\n", why->nr_occupants - OCCUPANTS_MAX);
	sl_table_free(table);
	return ret;
}

/* Causes that need the same evidence share a line. */
void sl_text_not_assessable(struct sl_out *out, const struct sl_report *report)
{
	bool done[SL_CAUSE_NR] = { false }, any = false;
	unsigned int i, j;

	for (i = 0; i < SL_CAUSE_NR; i++) {
		struct sl_line line = { .used = 0 };

		if (!report->not_assessable[i] || done[i])
			continue;
		if (!any) {
			putc('\n', out->file);
			sl_out_title(out, "Not assessable from this recording (not the same as absent)");
			any = true;
		}
		for (j = i; j < SL_CAUSE_NR; j++) {
			if (!report->not_assessable[j] || done[j] ||
			    strcmp(sl_cause_descs[i].needs, sl_cause_descs[j].needs))
				continue;
			sl_line_add(&line, "%s%s", j == i ? "" : ", ", sl_cause_descs[j].id);
			done[j] = true;
		}
		sl_line_add(&line, ": needs %s", sl_cause_descs[i].needs);
		sl_out_wrap(out, 2, 4, line.text);
	}
}

int sl_text_why(struct sl_out *out, const struct sl_report *report, const struct sl_out_view *view)
{
	const struct sl_why *why = &report->why;
	struct sl_fmt_unit unit = sl_fmt_unit_for(why->total_ns);
	unsigned int i, shown;
	int ret;

	print_headline(out, report);
	ret = why->count ? print_held(out, why, &unit) : 0;
	ret = ret ? ret : print_placed(out, why, &unit);
	ret = ret ? ret : print_occupants(out, why);
	if (ret)
		return ret;
	shown = view->worst < why->nr_waits ? view->worst : why->nr_waits;
	if (shown) {
		putc('\n', out->file);
		if (shown < why->count)
			sl_out_title(out, "The worst %u of these waits, instant by instant", shown);
		else
			sl_out_title(out, "Each of these waits, instant by instant");
	}
	for (i = 0; i < shown; i++)
		sl_text_wait(out, &why->waits[i], i + 1);
	sl_text_not_assessable(out, report);
	return 0;
}
