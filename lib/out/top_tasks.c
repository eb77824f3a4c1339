// SPDX-License-Identifier: LGPL-2.1-only
/* top's screen of tasks: how long each waits, and what for. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "out/top.h"
#include "util/time.h"

#define COMM_WIDTH 13
/* From this width on each row says where its task waits. */
#define WHERE_WIDTH 120

struct key {
	enum sl_top_sort sort;
	bool reverse;
};

static uint64_t number(const struct sl_top_task *task, enum sl_top_sort sort)
{
	switch (sort) {
	case SL_TOP_BY_WAITED:
		return task->now_ns;
	case SL_TOP_BY_P99:
		return task->p99_ns;
	case SL_TOP_BY_MAX:
		return task->max_ns;
	case SL_TOP_BY_P50:
		return task->p50_ns;
	case SL_TOP_BY_WAITS:
		return task->now_waits;
	case SL_TOP_BY_NOW:
		return task->waiting ? task->waiting_ns + 1 : 0;
	case SL_TOP_BY_NAME:
	case SL_TOP_SORT_NR:
		break;
	}
	return 0;
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct sl_top_task *x = *(const struct sl_top_task *const *)a;
	const struct sl_top_task *y = *(const struct sl_top_task *const *)b;
	const struct key *key = arg;
	const uint64_t nx = number(x, key->sort), ny = number(y, key->sort);
	int order = nx < ny ? 1 : nx > ny ? -1 : 0;

	if (key->sort == SL_TOP_BY_NAME)
		order = strncmp(x->comm, y->comm, sizeof(x->comm));
	if (!order && key->sort == SL_TOP_BY_WAITED)
		order = x->sum_ns < y->sum_ns ? 1 : x->sum_ns > y->sum_ns ? -1 : 0;
	if (key->reverse)
		order = -order;
	return order ? order : x->tid < y->tid ? -1 : x->tid > y->tid;
}

static char *cause_of(char *buf, size_t size, const struct sl_top_task *task)
{
	const struct sl_top_judged *j = task->judged;

	if (task->cause == SL_CAUSE_NONE)
		snprintf(buf, size, "-");
	else
		snprintf(buf, size, "%s %u%%", sl_cause_descs[task->cause].id,
			 (sl_fmt_permille(j->cause_ns[task->cause], j->ns) + 5) / 10);
	return buf;
}

/* n per second, in five columns. */
static char *rate(char *buf, size_t size, uint64_t n, uint64_t ns)
{
	const uint64_t tenths = ns ? (n * 10000000000ull + ns / 2) / ns : 0;

	if (tenths < 1000)
		snprintf(buf, size, "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
	else if (tenths < 1000000)
		snprintf(buf, size, "%" PRIu64, (tenths + 5) / 10);
	else
		snprintf(buf, size, "%" PRIu64 "k", (tenths + 5000) / 10000);
	return buf;
}

static void add_row(struct sl_top_page *page, const struct sl_top_frame *f, const struct sl_top_view *view,
		    const struct sl_top_task *task)
{
	char comm[80], slice[24], waits[24], p50[24], p99[24], max[24], waited[24], cause[64], where[256];

	sl_top_name(comm, sizeof(comm), task->comm, COMM_WIDTH, view->utf8);
	sl_top_short(slice, sizeof(slice), task->slice_ns ?: SL_TIME_NONE);
	rate(waits, sizeof(waits), task->now_waits, f->interval_ns);
	sl_top_short(p50, sizeof(p50), task->waits ? task->p50_ns : SL_TIME_NONE);
	sl_top_short(p99, sizeof(p99), task->waits ? task->p99_ns : SL_TIME_NONE);
	sl_top_short(max, sizeof(max), task->waits ? task->max_ns : SL_TIME_NONE);
	sl_top_short(waited, sizeof(waited), f->interval_ns ? (uint64_t)((double)task->now_ns * 1e9 /
								     (double)f->interval_ns) : 0);
	cause_of(cause, sizeof(cause), task);
	*where = '\0';
	if (view->width >= WHERE_WIDTH)
		sl_top_where(where, sizeof(where), task, view->utf8);
	sl_top_add(page, SL_TOP_LINE_ROW, task->tid, "%s %7" PRId32 " %-4s %5s %5s %5s %5s %5s %5s %-22s %s",
		   comm, task->tid, task->sched_class == SL_CLASS_UNKNOWN ? "-" : sl_class_name(task->sched_class),
		   slice, waits, p50, p99, max, waited, cause, where);
}

/* The longest of those that wait at this moment: where a row has no room for it. */
static void add_longest(struct sl_top_page *page, const struct sl_top_view *view,
			const struct sl_top_task *const *rows, unsigned int nr)
{
	const struct sl_top_task *longest = NULL;
	char who[128], where[256], line[400];
	unsigned int waiting = 0;

	for (unsigned int i = 0; i < nr; i++) {
		waiting += rows[i]->waiting;
		if (rows[i]->waiting && (!longest || rows[i]->waiting_ns > longest->waiting_ns))
			longest = rows[i];
	}
	if (!longest) {
		sl_top_add(page, SL_TOP_LINE_TEXT, -1, "now: none of them waits");
		return;
	}
	snprintf(line, sizeof(line), "now: %u wait; %s %s", waiting,
		 sl_top_who(who, sizeof(who), longest->comm, longest->tid, 0, view->utf8),
		 sl_top_where(where, sizeof(where), longest, view->utf8));
	sl_top_add(page, SL_TOP_LINE_TEXT, longest->tid, "%s", sl_fmt_cut(line, view->width));
}

void sl_top_tasks(struct sl_top_page *page, const struct sl_top_frame *f, const struct sl_top_view *view)
{
	const struct sl_top_task **rows = malloc((f->nr_tasks + 1) * sizeof(*rows));
	struct key key = { view->sort, view->reverse };
	unsigned int nr = 0;

	if (!rows) {
		page->failed = true;
		return;
	}
	for (unsigned int i = 0; i < f->nr_tasks; i++) {
		const struct sl_top_task *task = &f->tasks[i];
		const char *cause = task->cause == SL_CAUSE_NONE ? NULL : sl_cause_descs[task->cause].id;

		if (sl_top_found(view, task->comm, task->tid, cause))
			rows[nr++] = task;
	}
	qsort_r(rows, nr, sizeof(*rows), compare, &key);
	if (*f->why)
		sl_top_add(page, SL_TOP_LINE_TEXT, -1, "now: not known");
	else
		add_longest(page, view, rows, nr);
	sl_top_add(page, SL_TOP_LINE_HEAD, -1, "%-*s %7s %-4s %5s %5s %5s %5s %5s %5s %-22s %s", COMM_WIDTH,
		   "task", "tid", "cls", "slice", "w/s", "P50", "P99", "max", "wait", "held most by",
		   view->width >= WHERE_WIDTH ? "waits now" : "");
	page->fixed = page->nr;
	for (unsigned int i = 0; i < nr; i++)
		add_row(page, f, view, rows[i]);
	if (!nr && view->search && *view->search)
		sl_top_add(page, SL_TOP_LINE_NOTE, -1, "nothing is like '%s'; / and Enter show all", view->search);
	else if (!nr && f->only_short)
		sl_top_add(page, SL_TOP_LINE_NOTE, -1,
			   "no thread with a short slice has waited%s; a or --all shows the others",
			   f->base_slice_ns ? "" : " (the base slice is not known)");
	else if (!nr)
		sl_top_add(page, SL_TOP_LINE_NOTE, -1, "no thread has waited yet");
	free(rows);
}
