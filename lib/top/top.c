// SPDX-License-Identifier: LGPL-2.1-only
#include "top/own.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Waits with more are kept folded: as text reports print them anyway. */
#define MAX_SEGMENTS 40

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

uint64_t sl_top_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static bool is_tracefs(const struct sl_top *top)
{
	return strcmp(sl_watch_backend(top->watch), "bpf") != 0;
}

int sl_top_open(const struct sl_top_params *params, struct sl_top **ret_top, struct sl_err *err)
{
	struct sl_top *top = calloc(1, sizeof(*top));
	unsigned int nr_cpus;
	int r;

	if (!top)
		return sl_err_set(err, -ENOMEM, "out of memory");
	top->params = *params;
	r = sl_watch_open(&params->watch, &top->watch, err);
	if (r < 0) {
		free(top);
		return r;
	}
	sl_watch_cpus(top->watch, &nr_cpus);
	top->cpu_waits = calloc(nr_cpus, sizeof(*top->cpu_waits));
	top->cpu_ns = calloc(nr_cpus, sizeof(*top->cpu_ns));
	top->busy = calloc(nr_cpus, sizeof(*top->busy));
	top->frame.cpus = calloc(nr_cpus, sizeof(*top->frame.cpus));
	top->frame.causes = calloc(SL_CAUSE_NR, sizeof(*top->frame.causes));
	if (!top->cpu_waits || !top->cpu_ns || !top->busy || !top->frame.cpus || !top->frame.causes) {
		sl_top_close(top);
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	/* With bpf the kernel has tested the cgroup, also of tasks that the metadata do not know. */
	if (!is_tracefs(top))
		top->params.filter.cgroup = NULL;
	top->frame.nr_cpus = nr_cpus;
	top->frame.backend = sl_watch_backend(top->watch);
	top->frame.why = sl_watch_why(top->watch);
	*ret_top = top;
	return 0;
}

int sl_top_start(struct sl_top *top, struct sl_err *err)
{
	int r = sl_watch_start(top->watch, err);

	top->start_ns = top->last_ns = sl_top_now_ns();
	top->last_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	sl_top_fill_cpus(top);
	return r;
}

void sl_top_close(struct sl_top *top)
{
	if (!top)
		return;
	sl_report_free(top->kept);
	sl_watch_close(top->watch);
	free(top->frame.tasks);
	free(top->frame.causes);
	free(top->frame.cpus);
	free(top->entries);
	free(top->by_tid);
	free(top->cpu_waits);
	free(top->cpu_ns);
	free(top->busy);
	free(top);
}

int sl_top_take(struct sl_top *top, int *ret_ms, struct sl_err *err)
{
	return sl_watch_take(top->watch, ret_ms, err);
}

const struct sl_top_frame *sl_top_frame(const struct sl_top *top)
{
	return &top->frame;
}

static void note_cpu(struct sl_top *top, const struct sl_wait *wait)
{
	unsigned int nr;
	const uint16_t *cpus = sl_watch_cpus(top->watch, &nr);

	for (unsigned int i = 0; i < nr; i++)
		if (cpus[i] == wait->run_cpu) {
			top->cpu_waits[i]++;
			top->cpu_ns[i] += wait->delay_ns;
		}
}

/* Every selected wait of what is kept, each time anew: those that ended since are counted. */
static void on_wait(void *arg, const struct sl_wait *wait)
{
	struct sl_top *top = arg;
	const struct sl_watch_params *watch = &top->params.watch;
	const uint64_t base_ns = top->frame.base_slice_ns;
	const struct sl_top_entry *entry;

	if (wait->run_ns == SL_WAIT_NO_TIME || wait->run_ns <= top->seen_ns ||
	    wait->run_ns > top->seen_now_ns)
		return;
	if (is_tracefs(top) && !wait->taints) {
		if (sl_watch_count(top->watch, wait))
			top->error = -ENOMEM;
		note_cpu(top, wait);
		if (!sl_top_entry_of(top, wait->tid) && sl_top_follow(top))
			top->error = -ENOMEM;
	}
	if (wait->delay_ns < watch->threshold_ns)
		return;
	entry = sl_top_entry_of(top, wait->tid);
	if (watch->only_short && is_tracefs(top)) {
		unsigned int nr;
		const struct sl_bpf_hist *threads = sl_watch_threads(top->watch, &nr);
		const struct sl_bpf_hist *hist = entry ? &threads[entry - top->entries] : NULL;

		if (!hist || !hist->custom_slice || !base_ns || hist->slice_ns >= base_ns)
			return;
	}
	if (wait->taints)
		top->frame.tainted_waits++;
	else
		sl_top_causes_add(top, wait);
}

static int judge(struct sl_top *top, struct sl_err *err)
{
	const struct sl_report_params params = {
		.path = sl_watch_path(top->watch),
		.waits = 1u << SL_WAIT_WAKE,
		.why = { .mode = SL_WHY_DURATION, .at_least_ns = top->params.watch.threshold_ns },
		.filter = top->params.filter,
		.detail_waits = top->params.max_waits,
		.max_segments = MAX_SEGMENTS,
		.on_wait = on_wait,
		.on_wait_min_ns = is_tracefs(top) ? 0 : top->params.watch.threshold_ns,
		.arg = top,
	};
	struct sl_report *report;
	int r = sl_report_run(&params, &report, err);

	if (r == SL_EDATA)
		return 0;	/* no wait among it yet */
	if (r < 0)
		return r;
	sl_report_free(top->kept);
	top->kept = report;
	return top->error ? sl_err_set(err, top->error, "out of memory") : 0;
}

static void note_own(struct sl_top *top, uint64_t interval_ns)
{
	const uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct sl_top_frame *f = &top->frame;
	unsigned long size, resident;
	FILE *file = fopen("/proc/self/statm", "re");

	f->own_cpu_permille = interval_ns ? (cpu_ns - top->last_cpu_ns) * 1000 / interval_ns : 0;
	top->last_cpu_ns = cpu_ns;
	f->own_rss_bytes = 0;
	if (file && fscanf(file, "%lu %lu", &size, &resident) == 2)
		f->own_rss_bytes = (uint64_t)resident * sysconf(_SC_PAGESIZE);
	if (file)
		fclose(file);
}

int sl_top_refresh(struct sl_top *top, struct sl_err *err)
{
	struct sl_top_frame *f = &top->frame;
	struct sl_watch_counts counts;
	const uint64_t now_ns = sl_top_now_ns();
	int r = sl_watch_look(top->watch, &counts, err);

	if (r < 0)
		return r;
	f->nr++;
	f->clock_ns = now_ns;
	f->real_ns = clock_ns(CLOCK_REALTIME);
	f->run_ns = now_ns - top->start_ns;
	f->interval_ns = now_ns - top->last_ns;
	top->last_ns = now_ns;
	f->threshold_ns = top->params.watch.threshold_ns;
	f->only_short = top->params.watch.only_short;
	f->base_slice_ns = sl_watch_base_slice(top->watch);
	f->lost = counts.lost;
	f->kept_bytes = counts.kept_bytes;
	top->seen_now_ns = counts.seen_ns;
	sl_top_causes_begin(top);
	if (sl_top_follow(top))
		return sl_err_set(err, -ENOMEM, "out of memory");
	if (r > 0) {
		r = judge(top, err);
		if (r < 0)
			return r;
	}
	top->seen_ns = top->seen_now_ns;
	f->kept = top->kept;
	r = sl_top_fill_tasks(top) ?: sl_top_fill_cpus(top) ?: sl_top_fill_causes(top);
	if (r < 0)
		return sl_err_set(err, r, "out of memory");
	note_own(top, f->interval_ns);
	return 0;
}

void sl_top_judge(struct sl_top *top, uint64_t threshold_ns, bool only_short)
{
	top->params.watch.threshold_ns = top->frame.threshold_ns = threshold_ns;
	top->params.watch.only_short = top->frame.only_short = only_short;
	sl_watch_send(top->watch, threshold_ns, only_short);
}

void sl_top_reset(struct sl_top *top)
{
	struct sl_top_frame *f = &top->frame;

	sl_watch_reset(top->watch);
	memset(top->causes, 0, sizeof(top->causes));
	memset(top->entries, 0, top->nr_entries * sizeof(*top->entries));
	f->judged_waits = f->judged_ns = f->tainted_waits = 0;
	f->now_judged_waits = f->now_judged_ns = 0;
}

int sl_top_save(struct sl_top *top, const char *path, uint64_t *ret_bytes, struct sl_err *err)
{
	if (!top->kept)
		return sl_err_set(err, SL_EDATA, "nothing is kept yet: no wait reached the threshold");
	return sl_watch_save(top->watch, path, ret_bytes, err);
}
