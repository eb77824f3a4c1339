// SPDX-License-Identifier: LGPL-2.1-only
/* A row per thread: the kernel's counts, what was judged, and where it waits now. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "event/evidence.h"
#include "live/bpf/consume.h"
#include "live/bpf/live.h"
#include "live/slice.h"
#include "top/own.h"

#define NICE_0_WEIGHT 1024
#define POLICY_EXT 7

static int index_tids(struct sl_top *top)
{
	uint32_t mask = 255;

	while (mask < 2 * top->nr_entries)
		mask = mask * 2 + 1;
	if (mask != top->by_tid_mask) {
		free(top->by_tid);
		top->by_tid = malloc((mask + 1ull) * sizeof(*top->by_tid));
		if (!top->by_tid)
			return -ENOMEM;
		top->by_tid_mask = mask;
	}
	memset(top->by_tid, 0, (mask + 1ull) * sizeof(*top->by_tid));
	for (unsigned int i = 1; i < top->nr_entries; i++) {
		uint32_t at = (uint32_t)top->entries[i].tid * 2654435769u >> 7 & mask;

		if (!top->entries[i].tid)
			continue;
		while (top->by_tid[at])
			at = (at + 1) & mask;
		top->by_tid[at] = i + 1;
	}
	return 0;
}

struct sl_top_entry *sl_top_entry_of(struct sl_top *top, int32_t tid)
{
	uint32_t at = (uint32_t)tid * 2654435769u >> 7 & top->by_tid_mask;

	if (!top->by_tid)
		return NULL;
	for (; top->by_tid[at]; at = (at + 1) & top->by_tid_mask)
		if (top->entries[top->by_tid[at] - 1].tid == tid)
			return &top->entries[top->by_tid[at] - 1];
	return NULL;
}

int sl_top_follow(struct sl_top *top)
{
	unsigned int nr;
	const struct sl_bpf_hist *threads = sl_watch_threads(top->watch, &nr);

	if (nr > top->nr_entries) {
		struct sl_top_entry *grown = realloc(top->entries, nr * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + top->nr_entries, 0, (nr - top->nr_entries) * sizeof(*grown));
		top->entries = grown;
		top->nr_entries = nr;
	}
	for (unsigned int i = 1; i < nr; i++) {
		struct sl_top_entry *entry = &top->entries[i];

		if (entry->tid != threads[i].tid)
			*entry = (struct sl_top_entry){ .tid = threads[i].tid };
	}
	return index_tids(top);
}

static enum sl_class class_of(const struct sl_bpf_hist *hist)
{
	if (hist->policy == POLICY_EXT)
		return SL_CLASS_EXT;
	if (hist->prio < 0)
		return SL_CLASS_DL;
	return hist->prio < 100 ? SL_CLASS_RT : SL_CLASS_FAIR;
}

static bool listed(int32_t id, const int32_t *ids, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* By cgroup the kernel has filtered, or the analysis. */
static bool selected(const struct sl_filter *filter, const struct sl_bpf_hist *hist)
{
	char comm[sizeof(hist->comm) + 1] = "";

	if (filter->nr_pids && !listed(hist->tgid, filter->pids, filter->nr_pids))
		return false;
	if (filter->nr_tids && !listed(hist->tid, filter->tids, filter->nr_tids))
		return false;
	memcpy(comm, hist->comm, sizeof(hist->comm));
	return !filter->comm_glob || !fnmatch(filter->comm_glob, comm, 0);
}

/* Nearest rank; a bucket counts as its upper edge, as in reports. */
static uint64_t quantile(const struct sl_bpf_hist *hist, uint64_t total, unsigned int percent)
{
	const uint64_t rank = (total * percent + 99) / 100;
	uint64_t seen = 0, from_ns, to_ns;

	for (unsigned int i = 0; i < SL_BPF_HIST_BUCKETS; i++) {
		seen += hist->buckets[i];
		if (seen < rank || !seen)
			continue;
		sl_bpf_hist_range(i, &from_ns, &to_ns);
		return to_ns - 1 < hist->max_ns ? to_ns - 1 : hist->max_ns;
	}
	return hist->max_ns;
}

enum sl_cause sl_top_judged_cause(const struct sl_top_judged *judged, unsigned int i)
{
	uint64_t below_ns = UINT64_MAX;
	unsigned int best = SL_CAUSE_NONE, before = 0, c;

	/* The i-th in order of time; of equal ones the first. */
	for (;;) {
		best = SL_CAUSE_NONE;
		for (c = 0; c < SL_CAUSE_HOLD_NR; c++)
			if (judged->cause_ns[c] && judged->cause_ns[c] < below_ns &&
			    (best == SL_CAUSE_NONE || judged->cause_ns[c] > judged->cause_ns[best]))
				best = c;
		if (best == SL_CAUSE_NONE)
			return SL_CAUSE_NONE;
		for (c = best; c < SL_CAUSE_HOLD_NR; c++)
			if (judged->cause_ns[c] == judged->cause_ns[best] && before++ == i)
				return (enum sl_cause)c;
		below_ns = judged->cause_ns[best];
	}
}

/* Of the running task, at the level where the waiting one is: how long it stays protected. */
static int64_t protected_ns(const struct sl_bpf_now *now, int group, uint64_t now_ns)
{
	const struct sl_bpf_part *part = &now->entity;
	int64_t left;

	if (!now->seen || !(part->flags & SL_ENTITY_VPROT) || part->entity.weight <= 0 ||
	    (!(now->queue.flags & SL_QUEUE_FLAT) && part->group != group))
		return SL_NO_VALUE;
	left = (int64_t)(part->entity.lag_or_vprot - part->entity.vruntime) * part->entity.weight /
	       NICE_0_WEIGHT - (int64_t)(now_ns - now->seen);
	return left > 0 ? left : SL_NO_VALUE;
}

static void fill_waiting(const struct sl_top *top, struct sl_top_task *task,
			 const struct sl_bpf_hist *hist, uint64_t since_ns)
{
	const uint64_t now_ns = sl_top_now_ns();
	struct sl_bpf_now now;

	task->behind_tid = -1;
	task->protected_ns = SL_NO_VALUE;
	if (!since_ns || since_ns > now_ns)
		return;
	task->waiting = true;
	task->waiting_ns = now_ns - since_ns;
	task->wait_cpu = hist->wait_cpu;
	if (!sl_watch_now(top->watch, hist->wait_cpu, &now) || now.pid == task->tid)
		return;
	task->behind_tid = now.pid;
	memcpy(task->behind_comm, now.comm, sizeof(task->behind_comm));
	if (task->sched_class == SL_CLASS_FAIR)
		task->protected_ns = protected_ns(&now, hist->group, now_ns);
}

static void fill_task(struct sl_top *top, struct sl_top_entry *entry, struct sl_top_task *task,
		      const struct sl_bpf_hist *hist)
{
	const uint64_t base_ns = top->frame.base_slice_ns, count = hist->count;

	if (count != entry->count) {
		uint64_t total = 0;

		for (unsigned int i = 0; i < SL_BPF_HIST_BUCKETS; i++)
			total += hist->buckets[i];
		entry->p50_ns = quantile(hist, total, 50);
		entry->p99_ns = quantile(hist, total, 99);
	}
	task->tid = hist->tid;
	task->tgid = hist->tgid;
	memcpy(task->comm, hist->comm, sizeof(task->comm));
	task->sched_class = class_of(hist);
	task->slice_ns = hist->slice_ns;
	task->is_short = hist->custom_slice && base_ns && hist->slice_ns < base_ns;
	task->waits = count;
	task->sum_ns = hist->sum_ns;
	task->p50_ns = entry->p50_ns;
	task->p99_ns = entry->p99_ns;
	task->max_ns = hist->max_ns;
	task->now_waits = count - entry->count;
	task->now_ns = task->sum_ns - entry->sum_ns;
	task->hist = hist;
	task->judged = &entry->judged;
	task->cause = sl_top_judged_cause(&entry->judged, 0);
	fill_waiting(top, task, hist, hist->since);
	entry->count = count;
	entry->sum_ns = task->sum_ns;
}

static void add_all(struct sl_top_all *all, const struct sl_bpf_hist *hist)
{
	all->waits += hist->count;
	all->sum_ns += hist->sum_ns;
	all->path_ns += hist->path_ns;
	all->moved_ns += hist->moved_ns;
	for (unsigned int i = 0; i < SL_BPF_RAN_NR; i++)
		all->ran_ns[i] += hist->ran_ns[i];
}

int sl_top_fill_tasks(struct sl_top *top)
{
	struct sl_top_frame *f = &top->frame;
	unsigned int nr;
	const struct sl_bpf_hist *threads = sl_watch_threads(top->watch, &nr);
	struct sl_top_task *tasks;

	f->nr_tasks = f->nr_threads = 0;
	f->all = (struct sl_top_all){ .by_class = !strcmp(f->backend, "bpf") };
	if (sl_top_follow(top))
		return -ENOMEM;
	tasks = realloc(f->tasks, (nr ? nr : 1) * sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	f->tasks = tasks;
	for (unsigned int i = 1; i < nr; i++) {
		struct sl_top_task *task = &tasks[f->nr_tasks];

		if (threads[i].dead) {
			/* Its row is gone with it; what was judged of it stays in the causes. */
			sl_watch_forget(top->watch, i);
			top->entries[i] = (struct sl_top_entry){ 0 };
			continue;
		}
		if (!threads[i].tid || !(threads[i].count || threads[i].since))
			continue;
		f->nr_threads++;
		*task = (struct sl_top_task){ 0 };
		fill_task(top, &top->entries[i], task, &threads[i]);
		if (!selected(&top->params.filter, &threads[i]) || (f->only_short && !task->is_short))
			continue;
		add_all(&f->all, &threads[i]);
		f->nr_tasks++;
	}
	return 0;
}
