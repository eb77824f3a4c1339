// SPDX-License-Identifier: LGPL-2.1-only
/* top's lists of waits that were judged: all that are kept, and those of one task in full. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "out/text.h"
#include "out/top.h"
#include "util/time.h"

#define WHO_WIDTH 22
#define BAR_WIDTH 40
#define WORST 5
#define TEXT_INDENT 2		/* of lines that the report prints */

static int by_end(const void *a, const void *b)
{
	const struct sl_wait *x = *(const struct sl_wait *const *)a, *y = *(const struct sl_wait *const *)b;

	return x->run_ns < y->run_ns ? 1 : x->run_ns > y->run_ns ? -1 : 0;
}

static void add_wait(struct sl_top_page *page, const struct sl_top_frame *f, const struct sl_top_view *view,
		     const struct sl_wait *wait)
{
	char ago[24], who[128], delay[16], behind[128], comm[64];
	const char *held = sl_out_held_by(wait);
	int32_t tid = -1;

	sl_fmt_scaled(ago, sizeof(ago), sl_since(f->clock_ns, wait->run_ns), 1000000000, 1);
	sl_top_who(who, sizeof(who), wait->comm, wait->tid, WHO_WIDTH, view->utf8);
	sl_top_short(delay, sizeof(delay), wait->delay_ns);
	*behind = '\0';
	if (sl_out_occupant(wait, comm, sizeof(comm), &tid))
		sl_top_who(behind, sizeof(behind), comm, tid, WHO_WIDTH, view->utf8);
	sl_top_add(page, SL_TOP_LINE_ROW, wait->tid, "%6s %s %5s %4d  %-17s %-7s  %s", ago, who, delay,
		   wait->run_cpu, wait->taints ? "events missing" : held ?: "-",
		   wait->primary == SL_CAUSE_NONE ? "-" : sl_confidence_name(wait->primary_confidence), behind);
}

void sl_top_outliers(struct sl_top_page *page, const struct sl_top_frame *f, const struct sl_top_view *view)
{
	const struct sl_why *why = f->kept ? &f->kept->why : NULL;
	const unsigned int nr = why ? why->nr_waits : 0;
	const struct sl_wait **rows = malloc((nr + 1) * sizeof(*rows));
	unsigned int shown = 0;
	char total[16];

	if (!rows) {
		page->failed = true;
		return;
	}
	for (unsigned int i = 0; i < nr; i++) {
		const char *held = sl_out_held_by(&why->waits[i]);

		if (sl_top_found(view, why->waits[i].comm, why->waits[i].tid, held))
			rows[shown++] = &why->waits[i];
	}
	if (view->by_time)
		qsort(rows, shown, sizeof(*rows), by_end);
	sl_top_add(page, SL_TOP_LINE_TEXT, -1, "kept: %" PRIu64 " waits, %s in all; the %s %u; S saves them",
		   why ? why->count : 0, sl_fmt_duration(total, sizeof(total), why ? why->total_ns : 0),
		   view->by_time ? "latest first:" : "longest", shown);
	sl_top_add(page, SL_TOP_LINE_HEAD, -1, "%6s %-*s %5s %4s  %-17s %-7s  %s", "s ago", WHO_WIDTH, "task",
		   "wait", "CPU", "held most by", "sure", "behind");
	page->fixed = page->nr;
	for (unsigned int i = 0; i < shown; i++)
		add_wait(page, f, view, rows[view->reverse ? shown - 1 - i : i]);
	if (!shown)
		sl_top_add(page, SL_TOP_LINE_NOTE, -1, "no wait has reached the threshold yet");
	free(rows);
}

/* ---- one task ---- */

static void add_histogram(struct sl_top_page *page, const struct sl_top_view *view,
			  const struct sl_bpf_hist *hist)
{
	uint64_t octaves[SL_BPF_HIST_OCTAVES + 1] = { 0 }, most = 0;
	unsigned int first = SL_BPF_HIST_OCTAVES + 1, last = 0;

	for (unsigned int i = 0; i < SL_BPF_HIST_BUCKETS; i++) {
		uint64_t *octave = &octaves[i / SL_BPF_HIST_SUB];

		*octave += hist->buckets[i];
		most = *octave > most ? *octave : most;
		if (!hist->buckets[i])
			continue;
		last = i / SL_BPF_HIST_SUB;
		first = first > last ? last : first;
	}
	sl_top_add(page, SL_TOP_LINE_HEAD, -1, "%15s %8s", "all its waits", "number");
	for (unsigned int i = first; i <= last && most; i++) {
		const uint64_t from_ns = i ? 1ull << (SL_BPF_HIST_FIRST_SHIFT + i - 1) : 0;
		char from[16], to[16], bar[BAR_WIDTH * 4 + 8];

		sl_top_add(page, SL_TOP_LINE_TEXT, -1, "%6s - %6s %8" PRIu64 " |%s",
			   sl_top_short(from, sizeof(from), from_ns),
			   sl_top_short(to, sizeof(to), from_ns ? 2 * from_ns : 1ull << SL_BPF_HIST_FIRST_SHIFT),
			   octaves[i], sl_top_bar(bar, sizeof(bar), octaves[i] * 1000 / most, BAR_WIDTH,
						  view->utf8));
	}
}

static void add_judged(struct sl_top_page *page, const struct sl_top_judged *judged)
{
	char total[16], time[16], share[16], exact[16];

	sl_top_add(page, SL_TOP_LINE_HEAD, -1, "held by, in the %" PRIu64 " waits that were judged, %s in all",
		   judged->waits, sl_fmt_duration(total, sizeof(total), judged->ns));
	for (unsigned int i = 0;; i++) {
		const enum sl_cause cause = sl_top_judged_cause(judged, i);

		if (cause == SL_CAUSE_NONE)
			return;
		sl_fmt_percent(share, sizeof(share), sl_fmt_permille(judged->cause_ns[cause], judged->ns));
		sl_fmt_percent(exact, sizeof(exact),
			       sl_fmt_permille(judged->exact_ns[cause], judged->cause_ns[cause]));
		sl_top_add(page, SL_TOP_LINE_TEXT, -1, "  %-17s %8s %6s   exact %s", sl_cause_descs[cause].id, share,
			   sl_top_short(time, sizeof(time), judged->cause_ns[cause]), exact);
	}
}

/* As the report prints it, line by line. */
static void add_in_full(struct sl_top_page *page, const struct sl_top_view *view,
			const struct sl_wait *wait, unsigned int rank)
{
	char *text = NULL, *save = NULL;
	size_t len;
	struct sl_out out = { .file = open_memstream(&text, &len), .utf8 = view->utf8 };

	if (!out.file) {
		page->failed = true;
		return;
	}
	sl_text_wait(&out, wait, rank);
	if (fclose(out.file)) {
		page->failed = true;
		return;
	}
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		sl_top_add(page, SL_TOP_LINE_TEXT, -1, "%s", line + strnlen(line, TEXT_INDENT) *
			   (strspn(line, " ") >= TEXT_INDENT));
	free(text);
}

void sl_top_detail(struct sl_top_page *page, const struct sl_top_frame *f, const struct sl_top_view *view)
{
	const struct sl_top_task *task = NULL;
	char who[128], where[256], slice[16], p50[16], p99[16], max[16];
	unsigned int rank = 0;

	for (unsigned int i = 0; i < f->nr_tasks; i++)
		if (f->tasks[i].tid == view->tid)
			task = &f->tasks[i];
	if (!task) {
		sl_top_add(page, SL_TOP_LINE_NOTE, -1, "thread %" PRId32 " is gone, or is not shown", view->tid);
	} else {
		sl_top_who(who, sizeof(who), task->comm, task->tid, 0, view->utf8);
		sl_top_add(page, SL_TOP_LINE_TEXT, task->tid, "%s of process %" PRId32 ", %s, slice %s; %s%s", who,
			   task->tgid, sl_class_name(task->sched_class),
			   sl_top_short(slice, sizeof(slice), task->slice_ns ?: SL_TIME_NONE),
			   task->waiting ? "waits " : "does not wait now",
			   sl_top_where(where, sizeof(where), task, view->utf8));
		sl_top_add(page, SL_TOP_LINE_TEXT, -1, "%" PRIu64 " waits, P50 %s, P99 %s, max %s", task->waits,
			   sl_top_short(p50, sizeof(p50), task->p50_ns),
			   sl_top_short(p99, sizeof(p99), task->p99_ns),
			   sl_top_short(max, sizeof(max), task->max_ns));
		page->fixed = page->nr;
		add_judged(page, task->judged);
		add_histogram(page, view, task->hist);
	}
	for (unsigned int i = 0; f->kept && i < f->kept->why.nr_waits && rank < WORST; i++) {
		const struct sl_wait *wait = &f->kept->why.waits[i];

		if (wait->tid != view->tid)
			continue;
		if (!rank++)
			sl_top_add(page, SL_TOP_LINE_HEAD, -1, "its longest waits that are kept");
		add_in_full(page, view, wait, rank);
	}
}
