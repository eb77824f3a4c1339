// SPDX-License-Identifier: LGPL-2.1-only
/* One wait: who, how long, from where to where, and its segments in time order. */
#include "out/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "out/table.h"
#include "util/time.h"

#define SEGMENTS_MAX 12		/* lines per wait; of more, the largest are shown */

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
			sl_line_add(&line, " on CPU %d", wait->avoidable_cpu);
	}
	for (i = SL_CAUSE_HOLD_NR; i < SL_CAUSE_NR; i++)
		if (wait->place_causes & (1u << (i - SL_CAUSE_HOLD_NR)) && i != (unsigned int)wait->primary)
			sl_line_add(&line, "%s%s", nr++ ? ", " : "; ", sl_cause_descs[i].id);
	if (sl_out_taints(wait->taints, text, sizeof(text), ", "))
		sl_line_add(&line, "; tainted: %s", text);
	sl_out_wrap(out, 5, 5, line.text);
}

static void print_segment(struct sl_out *out, const struct sl_wait *wait,
			  const struct sl_segment *seg, unsigned int permille)
{
	char at[32], len[32], share[16], cpu[16] = "-", who[96] = "-";

	sl_fmt_scaled(at, sizeof(at), sl_since(seg->start_ns, wait->start_ns), 1000, 3);
	sl_fmt_scaled(len, sizeof(len), seg->ns, 1000, 3);
	if (seg->cpu >= 0)
		snprintf(cpu, sizeof(cpu), "%d", seg->cpu);
	if (seg->occupant_tid >= 0 || seg->occupant_comm[0]) {
		char comm[80];

		sl_fmt_escape(comm, sizeof(comm),
			      seg->occupant_comm[0] ? seg->occupant_comm : seg->occupant_tid ? "?" : "idle",
			      out->utf8);
		if (seg->occupant_tid > 0)
			snprintf(who, sizeof(who), "%.70s %" PRId32, comm, seg->occupant_tid);
		else
			snprintf(who, sizeof(who), "%s", comm);
	}
	sl_fmt_cut(who, 24);
	fprintf(out->file, "     %12s %11s %8s  %-17s %4s  %s%*s %s\n", at, len,
		sl_fmt_percent(share, sizeof(share), permille), sl_cause_descs[seg->cause].id, cpu, who,
		(int)(24 - sl_fmt_width(who)), "", sl_confidence_name(seg->confidence));
}

struct ranked {
	uint64_t ns;
	unsigned int index;
};

static int by_length(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns < right->ns ? 1 : -1;
	return (left->index > right->index) - (left->index < right->index);
}

/* Which segments to print: all of a short list, else the longest. */
static bool choose(const struct sl_wait *wait, bool *ret_show)
{
	struct ranked *ranked;
	unsigned int i;

	if (wait->nr_segments <= SEGMENTS_MAX) {
		memset(ret_show, true, wait->nr_segments);
		return true;
	}
	ranked = malloc(wait->nr_segments * sizeof(*ranked));
	if (!ranked)
		return false;
	for (i = 0; i < wait->nr_segments; i++)
		ranked[i] = (struct ranked){ wait->segments[i].ns, i };
	qsort(ranked, wait->nr_segments, sizeof(*ranked), by_length);
	for (i = 0; i < SEGMENTS_MAX - 1; i++)
		ret_show[ranked[i].index] = true;
	free(ranked);
	return true;
}

static void print_segments(struct sl_out *out, const struct sl_wait *wait)
{
	uint64_t *ns = calloc(wait->nr_segments + 1, sizeof(*ns));
	unsigned int *shares = calloc(wait->nr_segments + 1, sizeof(*shares));
	bool *show = calloc(wait->nr_segments + 1, sizeof(*show));
	unsigned int i, hidden = 0, hidden_permille = 0;
	uint64_t hidden_ns = 0;

	if (!ns || !shares || !show || !choose(wait, show)) {
		fputs("     (segments are not shown: out of memory)\n", out->file);
		goto out;
	}
	for (i = 0; i < wait->nr_segments; i++)
		ns[i] = wait->segments[i].ns;
	sl_fmt_shares(ns, wait->nr_segments, shares);
	fputs("            at us   length us    share  held by            CPU  by whom"
	      "                  confidence\n", out->file);
	for (i = 0; i < wait->nr_segments; i++) {
		if (show[i]) {
			print_segment(out, wait, &wait->segments[i], shares[i]);
			continue;
		}
		hidden++;
		hidden_ns += ns[i];
		hidden_permille += shares[i];
	}
	if (hidden) {
		char len[32], share[16];

		fprintf(out->file, "     %12s %11s %8s  %u more segments\n", "...",
			sl_fmt_scaled(len, sizeof(len), hidden_ns, 1000, 3),
			sl_fmt_percent(share, sizeof(share), hidden_permille), hidden);
	}
out:
	free(ns);
	free(shares);
	free(show);
}

void sl_text_wait(struct sl_out *out, const struct sl_wait *wait, unsigned int rank)
{
	print_who(out, wait, rank);
	print_where(out, wait);
	if (wait->nr_segments)
		print_segments(out, wait);
}
