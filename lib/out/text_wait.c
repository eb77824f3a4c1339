// SPDX-License-Identifier: LGPL-2.1-only
/* One wait: who, how long, from where to where, and its segments in time order. */
#include "out/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/told.h"
#include "out/fmt.h"
#include "out/table.h"
#include "util/time.h"

#define LINES_MAX 16		/* per wait; more segments than that are added up */

/* Columns of the timeline: as they are, or narrow enough for a mail. */
struct layout {
	int indent, at, length, share, cpu, who, decision;
	const char *confidence;
	uint64_t whole_us_ns;		/* times from that on have no decimals */
	unsigned int explained;		/* of segments that are added up, so many of the longest */
};

static const struct layout *layout_of(const struct sl_out *out)
{
	static const struct layout wide = { 5, 12, 11, 8, 4, 24, 19, "confidence", UINT64_MAX, 0 };
	static const struct layout narrow = { 2, 9, 10, 7, 3, 13, 6, "sure", 100000000, 2 };

	return sl_out_width(out) < SL_OUT_WIDTH ? &narrow : &wide;
}

static void print_who(struct sl_out *out, const struct sl_wait *wait, unsigned int rank)
{
	bool open = wait->run_ns == SL_WAIT_NO_TIME;
	struct sl_line line = { .used = 0 };
	char sec[32];

	sl_line_add(&line, "%3u. ", rank);
	sl_line_add_name(&line, wait->comm[0] ? wait->comm : "?", out->utf8);
	sl_line_add(&line, " %" PRId32 ": %s", wait->tid, open ? "at least " : "");
	sl_line_add_duration(&line, wait->delay_ns);
	if (wait->kind != SL_WAIT_WAKE)
		sl_line_add(&line, " (%s)", sl_wait_kind_name(wait->kind));
	sl_line_add(&line, open ? ", waiting since %s" : ", ran at %s",
		    sl_time_fmt_sec(sec, sizeof(sec), open ? wait->start_ns : wait->run_ns, 6));
	if (wait->waker_tid >= 0) {
		sl_line_add(&line, ", woken by ");
		sl_line_add_name(&line, wait->waker_comm[0] ? wait->waker_comm : "?", out->utf8);
		sl_line_add(&line, " %" PRId32, wait->waker_tid);
		if (wait->waker_context > SL_WAKER_TASK)
			sl_line_add(&line, " in %s", sl_waker_context_name(wait->waker_context));
		if (wait->waker_cpu >= 0)
			sl_line_add(&line, " on CPU %d", wait->waker_cpu);
	} else if (wait->kind == SL_WAIT_WAKE) {
		sl_line_add(&line, ", waker unknown");
	}
	sl_out_wrap(out, 0, 5, line.text);
}

static void print_where(struct sl_out *out, const struct sl_wait *wait)
{
	static const char *const relation[SL_CPUS_NR] = {
		[SL_CPUS_UNKNOWN] = "", [SL_CPUS_SMT] = " (same core)",
		[SL_CPUS_CLUSTER] = " (same cluster)", [SL_CPUS_LLC] = " (same LLC)",
		[SL_CPUS_PACKAGE] = " (other LLC)", [SL_CPUS_APART] = " (other package)",
	};
	struct sl_line line = { .used = 0 };
	char text[128];
	unsigned int i, nr = 0;

	sl_line_add(&line, "CPU ");
	sl_line_add_cpu(&line, wait->prev_cpu);
	sl_line_add(&line, " before, ");
	sl_line_add_cpu(&line, wait->wake_cpu);
	sl_line_add(&line, " queued, ");
	sl_line_add_cpu(&line, wait->run_cpu);
	sl_line_add(&line, " ran");
	if (wait->migrations)
		sl_line_add(&line, ", moved %u time%s while queued", wait->migrations,
			    wait->migrations == 1 ? "" : "s");
	if (wait->primary < SL_CAUSE_NR) {
		sl_line_add(&line, "; primary %s ", sl_cause_descs[wait->primary].id);
		sl_line_add_duration(&line, wait->primary_ns);
		sl_line_add(&line, " (%s)", sl_confidence_name(wait->primary_confidence));
	}
	if (wait->avoidable_ns) {
		sl_line_add(&line, "; ");
		sl_line_add_duration(&line, wait->avoidable_ns);
		sl_line_add(&line, " avoidable");
		if (wait->avoidable_cpu >= 0)
			sl_line_add(&line, " on CPU %d%s", wait->avoidable_cpu,
				    relation[wait->avoidable_relation]);
		if (wait->avoidable_capacity >= 0 && wait->avoidable_capacity != wait->wake_capacity)
			sl_line_add(&line, ", capacity %d against %d", wait->avoidable_capacity,
				    wait->wake_capacity);
	}
	if (wait->forbidden_ns) {
		sl_line_add(&line, "; ");
		sl_line_add_duration(&line, wait->forbidden_ns);
		sl_line_add(&line, " free on CPU %d, which its affinity forbids", wait->forbidden_cpu);
	}
	for (i = SL_CAUSE_HOLD_NR; i < SL_CAUSE_NR; i++)
		if (wait->place_causes & (1u << (i - SL_CAUSE_HOLD_NR)) && i != (unsigned int)wait->primary)
			sl_line_add(&line, "%s%s", nr++ ? ", " : "; ", sl_cause_descs[i].id);
	if (sl_out_taints(wait->taints, text, sizeof(text), ", "))
		sl_line_add(&line, "; tainted: %s", text);
	sl_out_wrap(out, 5, 5, line.text);
}

/* Why it was sent there, in the kernel's own words (event/told.h). */
static const char *sentence(const char *why)
{
	static const char *const sentences[SL_SELECT_NR] = {
		[SL_SELECT_CURRENT_CPU] = "the waker asked for its own CPU",
		[SL_SELECT_ENERGY] = "the energy model decided",
		[SL_SELECT_SLOW] = "the idlest CPU of a domain",
		[SL_SELECT_IDLE_TARGET] = "it was idle, and the first to be looked at",
		[SL_SELECT_IDLE_PREV] = "it was idle, and the task's previous CPU",
		[SL_SELECT_PER_CPU_KTHREAD] = "woken by a kernel thread that belongs to that CPU",
		[SL_SELECT_IDLE_RECENT] = "it was idle, and the task ran there recently",
		[SL_SELECT_IDLE_CAPACITY] = "the idle CPU whose capacity suits the task best",
		[SL_SELECT_IDLE_SMT] = "it was idle, in the previous CPU's core",
		[SL_SELECT_IDLE_CORE] = "its core was idle",
		[SL_SELECT_IDLE_SCAN] = "it was idle, and the search came to it first",
		[SL_SELECT_SCAN_LIMIT] = "SIS_UTIL ended the search for an idle CPU",
		[SL_SELECT_NO_IDLE] = "no idle CPU found",
		[SL_SELECT_AFFINITY] = "the task may run on no CPU that shares that cache",
	};
	int i;

	for (i = 0; why && i < SL_SELECT_NR; i++)
		if (sentences[i] && !strcmp(why, sl_select_why_name(i)))
			return sentences[i];
	return "the kernel gives no reason that is known here";
}

static void print_selection(struct sl_out *out, const struct sl_wait *wait)
{
	const struct sl_selection *s = &wait->selection;
	struct sl_line line = { .used = 0 };

	if (!s->told)
		return;
	sl_line_add(&line, "sent to CPU ");
	sl_line_add_cpu(&line, s->cpu);
	if (s->path && strcmp(s->path, sl_select_path_name(SL_PATH_NONE)) &&
	    strcmp(s->path, sl_select_path_name(SL_PATH_CURRENT_CPU)))
		sl_line_add(&line, " on the %s path", s->path);
	sl_line_add(&line, ": %s", sentence(s->why));
	if (s->scanned > 0 || s->scan_limit >= 0) {
		sl_line_add(&line, " (looked at %d", s->scanned);
		if (s->scan_limit >= 0)
			sl_line_add(&line, ", SIS_UTIL allows %d", s->scan_limit);
		sl_line_add(&line, ")");
	}
	if (s->affine > 0 && s->target_cpu == s->cpu)
		sl_line_add(&line, "; pulled there, to its waker's CPU");
	else if (s->target_cpu >= 0 && s->target_cpu != s->cpu)
		sl_line_add(&line, "; the search began at CPU %d%s", s->target_cpu,
			    s->affine > 0 ? ", its waker's" : "");
	if (wait->wake_cpu >= 0 && wait->wake_cpu != s->cpu)
		sl_line_add(&line, "; overruled: queued on CPU %d", wait->wake_cpu);
	sl_out_wrap(out, 5, 7, line.text);
}

static void add_cost(struct sl_line *line, const char *what, int cpu, uint64_t cost)
{
	sl_line_add(line, "%s CPU %d costs ", what, cpu);
	if (cost == SL_NO_COST)
		sl_line_add(line, "n/a");
	else
		sl_line_add(line, "%" PRIu64, cost);
}

static void print_energy(struct sl_out *out, const struct sl_wait *wait)
{
	static const char *const sentences[SL_ENERGY_NR] = {
		[SL_ENERGY_NO_UTIL] = "the task has no utilisation yet, so it stays",
		[SL_ENERGY_RACED] = "utilisation changed while it was compared, so it stays",
		[SL_ENERGY_CHEAPER] = "cheaper",
		[SL_ENERGY_FITS_BETTER] = "it fits better",
		[SL_ENERGY_MORE_CAPACITY] = "it has more capacity",
		[SL_ENERGY_PREV] = "nothing is better than staying",
		[SL_ENERGY_LESS_BUSY] = "it costs the same, and fewer tasks are there",
		[SL_ENERGY_SLICE] = "it costs the same, and the task's slice lets it run at once",
	};
	const struct sl_energy *en = &wait->energy;
	struct sl_line line = { .used = 0 };
	int i;

	if (!en->told)
		return;
	add_cost(&line, "energy:", en->cpu, en->cost);
	if (en->next_cpu >= 0)
		add_cost(&line, ", next", en->next_cpu, en->next_cost);
	if (en->prev_cpu >= 0 && en->prev_cpu != en->cpu && en->prev_cpu != en->next_cpu)
		add_cost(&line, ", staying on", en->prev_cpu, en->prev_cost);
	for (i = 0; en->why && i < SL_ENERGY_NR; i++)
		if (!strcmp(en->why, sl_energy_why_name(i)))
			sl_line_add(&line, "; %s", sentences[i]);
	sl_out_wrap(out, 5, 7, line.text);
}

static void add_slice(struct sl_line *line, int cpu, int64_t ns)
{
	sl_line_add(line, "CPU %d ", cpu);
	if (ns == SL_NO_VALUE)
		sl_line_add(line, "none");
	else
		sl_line_add_duration(line, (uint64_t)ns);
}

static void print_slices(struct sl_out *out, const struct sl_wait *wait)
{
	const struct sl_slices *s = &wait->slices;
	struct sl_line line = { .used = 0 };

	if (!s->told)
		return;
	sl_line_add(&line, "shortest slices: ");
	add_slice(&line, s->cpu, s->min_slice_ns);
	if (s->other_cpu >= 0) {
		sl_line_add(&line, ", ");
		add_slice(&line, s->other_cpu, s->other_min_slice_ns);
	}
	if (s->slice_ns != SL_NO_VALUE) {
		sl_line_add(&line, "; its own ");
		sl_line_add_duration(&line, (uint64_t)s->slice_ns);
	}
	sl_line_add(&line, "; CPU %d chosen of %u", s->cpu, s->candidates);
	if (s->site)
		sl_line_add(&line, " (%s)", s->site);
	sl_out_wrap(out, 5, 7, line.text);
}

static void print_push(struct sl_out *out, const struct sl_wait *wait)
{
	const struct sl_push *p = &wait->push;
	struct sl_line line = { .used = 0 };

	if (!p->told || !p->tries)
		return;
	sl_line_add(&line, "push from CPU %d", p->cpu);
	if (p->dest_cpu >= 0)
		sl_line_add(&line, " to CPU %d", p->dest_cpu);
	sl_line_add(&line, ": %s", p->result ? p->result : "n/a");
	if (p->trigger)
		sl_line_add(&line, " (%s)", p->trigger);
	if (p->tries > 1)
		sl_line_add(&line, ", the last of %u attempts", p->tries);
	sl_out_wrap(out, 5, 7, line.text);
}

/* One line: a segment, or (times > 0) several of the same cause, CPU and name together. */
struct line {
	const struct sl_segment *seg;
	uint64_t ns;
	unsigned int permille;
	unsigned int times, threads;
};

static char *fmt_us(const struct layout *l, char *buf, size_t size, uint64_t ns)
{
	return sl_fmt_scaled(buf, size, ns, 1000, ns < l->whole_us_ns ? 3 : 0);
}

static void print_line(struct sl_out *out, const struct sl_wait *wait, const struct line *line)
{
	const struct layout *l = layout_of(out);
	const struct sl_segment *seg = line->seg;
	char at[32], len[32], share[16], cpu[16] = "-", who[128] = "-";

	if (line->times)
		snprintf(at, sizeof(at), "%u", line->times);
	else
		fmt_us(l, at, sizeof(at), sl_since(seg->start_ns, wait->start_ns));
	fmt_us(l, len, sizeof(len), line->ns);
	if (seg->cpu >= 0)
		snprintf(cpu, sizeof(cpu), "%d", seg->cpu);
	if (seg->occupant_tid >= 0 || seg->occupant_comm[0]) {
		char comm[80];

		sl_fmt_escape(comm, sizeof(comm),
			      seg->occupant_comm[0] ? seg->occupant_comm : seg->occupant_tid ? "?" : "idle",
			      out->utf8);
		if (line->threads > 1)
			snprintf(who, sizeof(who), "%.70s, %u threads", comm, line->threads);
		else if (seg->occupant_tid > 0)
			snprintf(who, sizeof(who), "%.70s %" PRId32, comm, seg->occupant_tid);
		else
			snprintf(who, sizeof(who), "%s", comm);
	}
	sl_fmt_cut(who, (unsigned int)l->who);
	fprintf(out->file, "%*s%*s %*s %*s  %-17s %*s  %s%*s %s\n", l->indent, "", l->at, at, l->length, len,
		l->share, sl_fmt_percent(share, sizeof(share), line->permille), sl_cause_descs[seg->cause].id,
		l->cpu, cpu, who, l->who - (int)sl_fmt_width(who), "", sl_confidence_name(seg->confidence));
}

static void add_signed(struct sl_line *line, const char *before, int64_t ns)
{
	sl_line_add(line, "%s%s", before, ns < 0 ? "-" : "");
	sl_line_add_duration(line, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns);
}

/* Of several segments in one line only that the groups' comparison said the same. */
static void print_below(struct sl_out *out, const struct sl_segment *seg)
{
	if (seg->decision.at == SL_DECIDED_NOWHERE || seg->cause != SL_CAUSE_GROUP_LEVEL)
		return;
	fprintf(out->file, "%*sbetween groups: %s\n", layout_of(out)->decision, "",
		seg->decision.below == SL_CAUSE_NONE ? "not known why" : sl_cause_descs[seg->decision.below].id);
}

/* What the scheduler compared, under the segment that came of it. Virtual time. */
static void print_decision(struct sl_out *out, const struct sl_segment *seg)
{
	const struct sl_fair_decision *d = &seg->decision;
	struct sl_line line = { .used = 0 };
	enum sl_cause cause = d->below == SL_CAUSE_NONE ? seg->cause : d->below;

	if (d->at == SL_DECIDED_NOWHERE)
		return;
	sl_line_add(&line, "at %s %s: ", d->at == SL_DECIDED_AT_TICK ? "a" : "the",
		    d->at == SL_DECIDED_AT_PICK_AGAIN ? "next pick" : sl_decided_at_name(d->at));
	if (seg->cause == SL_CAUSE_GROUP_LEVEL)
		sl_line_add(&line, "between groups (%s), %d above its own queue; ",
			    d->below == SL_CAUSE_NONE ? "not known why" : sl_cause_descs[d->below].id, d->level);
	if (d->lag_ns != SL_NO_VALUE)
		add_signed(&line, "lag ", d->lag_ns);
	else
		sl_line_add(&line, "lag n/a");
	if (d->deadline_behind_ns != SL_NO_VALUE) {
		sl_line_add(&line, ", deadline ");
		sl_line_add_duration(&line, d->deadline_behind_ns < 0 ? 0 - (uint64_t)d->deadline_behind_ns :
									 (uint64_t)d->deadline_behind_ns);
		sl_line_add(&line, " %s %s", d->deadline_behind_ns < 0 ? "before" : "behind",
			    d->rival_comm[0] ? "" : "the running one's");
		if (d->rival_comm[0]) {
			sl_line_add_name(&line, d->rival_comm, out->utf8);
			sl_line_add(&line, " %" PRId32, d->rival_tid);
		}
	}
	if (d->protected_ns != SL_NO_VALUE && d->protected_ns > 0)
		add_signed(&line, ", running one protected for ", d->protected_ns);
	else if (d->protected_ns != SL_NO_VALUE && cause == SL_CAUSE_SLICE_PROTECTION)
		sl_line_add(&line, ", protection over");
	if (d->overrun_ns != SL_NO_VALUE && d->overrun_ns > 0)
		add_signed(&line, ", then until the tick looked ", d->overrun_ns);
	if (d->slice_ns != SL_NO_VALUE)
		add_signed(&line, ", slice ", d->slice_ns);
	if (d->rival_slice_ns != SL_NO_VALUE)
		add_signed(&line, " against ", d->rival_slice_ns);
	sl_out_wrap(out, (unsigned int)layout_of(out)->decision, (unsigned int)layout_of(out)->decision + 2,
		    line.text);
}

static int compare_kind(const struct sl_segment *a, const struct sl_segment *b)
{
	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	if (a->confidence != b->confidence)
		return a->confidence < b->confidence ? -1 : 1;
	if (a->decision.below != b->decision.below)
		return a->decision.below < b->decision.below ? -1 : 1;
	return strncmp(a->occupant_comm, b->occupant_comm, sizeof(a->occupant_comm));
}

static int by_kind(const void *x, const void *y)
{
	const struct sl_segment *a = ((const struct line *)x)->seg, *b = ((const struct line *)y)->seg;
	int order = compare_kind(a, b);

	if (order)
		return order;
	if (a->occupant_tid != b->occupant_tid)
		return a->occupant_tid < b->occupant_tid ? -1 : 1;
	return (a > b) - (a < b);
}

static int by_length(const void *x, const void *y)
{
	const struct line *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return (a->seg > b->seg) - (a->seg < b->seg);
}

/* Many short segments say little one by one: add up those of one cause, CPU and name. */
static unsigned int coalesce(struct line *lines, unsigned int nr)
{
	unsigned int i, last = 0;

	qsort(lines, nr, sizeof(*lines), by_kind);
	lines[0].times = lines[0].seg->times;
	lines[0].threads = 1;
	for (i = 1; i < nr; i++) {
		if (compare_kind(lines[last].seg, lines[i].seg)) {
			lines[++last] = lines[i];
			lines[last].times = lines[last].seg->times;
			lines[last].threads = 1;
			continue;
		}
		lines[last].ns += lines[i].ns;
		lines[last].times += lines[i].seg->times;
		/* Sorted by thread as well: the latest one stands for the line. */
		lines[last].threads += lines[last].seg->occupant_tid != lines[i].seg->occupant_tid;
		lines[last].seg = lines[i].seg;
	}
	qsort(lines, last + 1, sizeof(*lines), by_length);
	return last + 1;
}

static void print_rest(struct sl_out *out, const struct line *lines, unsigned int nr)
{
	const struct layout *l = layout_of(out);
	char len[32], share[16];
	unsigned int i, permille = 0, segments = 0;
	uint64_t ns = 0;

	for (i = 0; i < nr; i++) {
		ns += lines[i].ns;
		permille += lines[i].permille;
		segments += lines[i].times;
	}
	fprintf(out->file, "%*s%*u %*s %*s  more segments, each line of them shorter\n", l->indent, "", l->at,
		segments, l->length, fmt_us(l, len, sizeof(len), ns), l->share,
		sl_fmt_percent(share, sizeof(share), permille));
}

/* Shares are taken of the lines as printed: rounding a thousand parts one by one would add up. */
static bool share_out(struct line *lines, unsigned int nr)
{
	uint64_t *ns = calloc(nr, sizeof(*ns));
	unsigned int *shares = calloc(nr, sizeof(*shares)), i;

	for (i = 0; ns && shares && i < nr; i++)
		ns[i] = lines[i].ns;
	if (ns && shares)
		sl_fmt_shares(ns, nr, shares);
	for (i = 0; ns && shares && i < nr; i++)
		lines[i].permille = shares[i];
	free(ns);
	free(shares);
	return ns && shares;
}

/* Where many are added up: what was compared before the longest ones that a choice explains. */
static void print_longest(struct sl_out *out, const struct sl_wait *wait, unsigned int nr)
{
	const struct sl_segment *before = NULL;

	for (; nr; nr--) {
		const struct sl_segment *seg = NULL;
		struct sl_line line = { .used = 0 };
		unsigned int i;

		for (i = 0; i < wait->nr_segments; i++) {
			const struct sl_segment *s = &wait->segments[i];

			if (s->decision.at == SL_DECIDED_NOWHERE ||
			    (before && (s->ns > before->ns || (s->ns == before->ns && s <= before))))
				continue;
			if (!seg || s->ns > seg->ns)
				seg = s;
		}
		if (!seg)
			return;
		sl_line_add(&line, "%s ", before ? "then" : "the longest:");
		sl_line_add_duration(&line, seg->ns);
		sl_line_add(&line, " from ");
		sl_line_add_duration(&line, sl_since(seg->start_ns, wait->start_ns));
		sl_line_add(&line, " on, %s behind ", sl_cause_descs[seg->cause].id);
		sl_line_add_name(&line, seg->occupant_comm[0] ? seg->occupant_comm : "?", out->utf8);
		sl_line_add(&line, " %" PRId32, seg->occupant_tid);
		sl_out_wrap(out, 5, 7, line.text);
		print_decision(out, seg);
		before = seg;
	}
}

static void print_segments(struct sl_out *out, const struct sl_wait *wait)
{
	const struct layout *l = layout_of(out);
	unsigned int nr = wait->nr_segments, shown, stretches = 0, i;
	struct line *lines = calloc(nr, sizeof(*lines));

	for (i = 0; lines && i < nr; i++) {
		lines[i] = (struct line){ .seg = &wait->segments[i], .ns = wait->segments[i].ns };
		stretches += wait->segments[i].times;
	}
	if (lines && (nr > LINES_MAX || wait->folded))
		nr = coalesce(lines, nr);
	if (!lines || !share_out(lines, nr)) {
		fputs("     (segments are not shown: out of memory)\n", out->file);
		free(lines);
		return;
	}
	if (lines[0].times)
		fprintf(out->file, "     %u segments, added up by cause, CPU and name:\n",
			stretches);
	fprintf(out->file, "%*s%*s %*s %*s  %-17s %*s  %-*s %s\n", l->indent, "", l->at,
		lines[0].times ? "times" : "at us", l->length, "length us", l->share, "share", "held by", l->cpu,
		"CPU", l->who, "by whom", l->confidence);
	shown = nr > LINES_MAX ? LINES_MAX - 1 : nr;
	for (i = 0; i < shown; i++) {
		print_line(out, wait, &lines[i]);
		if (lines[i].times)
			print_below(out, lines[i].seg);
		else
			print_decision(out, lines[i].seg);
	}
	if (shown < nr)
		print_rest(out, lines + shown, nr - shown);
	if (lines[0].times && !wait->folded)
		print_longest(out, wait, l->explained);
	free(lines);
}

/* Where its lag came from: only where its own entity was seen. */
static void print_lag(struct sl_out *out, const struct sl_wait *wait)
{
	struct sl_line line = { .used = 0 };

	if (wait->wake_lag_ns != SL_NO_VALUE)
		add_signed(&line, "queued with lag ", wait->wake_lag_ns);
	if (wait->sleep_lag_ns != SL_NO_VALUE)
		add_signed(&line, line.used ? "; went to sleep with " : "went to sleep with lag ",
			   wait->sleep_lag_ns);
	if (wait->decayed_lag_ns != SL_NO_VALUE && wait->decayed_lag_ns != wait->sleep_lag_ns)
		add_signed(&line, !strcmp(wait->lag_origin, "reset") ? ", reset as its CPU was idle: " :
			   ", decayed to ", wait->decayed_lag_ns);
	if (wait->was_delayed > 0)
		sl_line_add(&line, "%sslept while still queued (delayed dequeue)", line.used ? "; " : "");
	if (wait->throttled_group) {
		sl_line_add(&line, "%sthrottled in cgroup ", line.used ? "; " : "");
		sl_line_add_name(&line, wait->throttled_group, out->utf8);
	}
	if (line.used)
		sl_out_wrap(out, 5, 5, line.text);
}

void sl_text_wait(struct sl_out *out, const struct sl_wait *wait, unsigned int rank)
{
	print_who(out, wait, rank);
	print_where(out, wait);
	print_selection(out, wait);
	print_energy(out, wait);
	print_slices(out, wait);
	print_push(out, wait);
	print_lag(out, wait);
	if (wait->nr_segments)
		print_segments(out, wait);
}
