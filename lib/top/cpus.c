// SPDX-License-Identifier: LGPL-2.1-only
/* A row per CPU. Idle time is the kernel's own account in /proc/stat. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "event/evidence.h"
#include "live/bpf/live.h"
#include "top/own.h"

static unsigned int index_of(const uint16_t *cpus, unsigned int nr, unsigned int cpu)
{
	for (unsigned int i = 0; i < nr; i++)
		if (cpus[i] == cpu)
			return i;
	return nr;
}

static void fill_idle(struct sl_top *top, const uint16_t *cpus, unsigned int nr)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[512];

	for (unsigned int i = 0; i < nr; i++)
		top->frame.cpus[i].idle_permille = -1;
	while (file && fgets(line, sizeof(line), file)) {
		uint64_t v[8] = { 0 }, all = 0, idle;
		struct sl_top_busy *busy;
		unsigned int cpu, i;

		if (sscanf(line, "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
			   " %" SCNu64 " %" SCNu64, &cpu, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
			   &v[7]) < 5)
			continue;
		i = index_of(cpus, nr, cpu);
		if (i == nr)
			continue;
		for (unsigned int k = 0; k < 8; k++)
			all += v[k];
		idle = v[3] + v[4];	/* idle and waiting for I/O */
		busy = &top->busy[i];
		if (busy->known && all > busy->all && idle >= busy->idle)
			top->frame.cpus[i].idle_permille = (idle - busy->idle) * 1000 / (all - busy->all);
		*busy = (struct sl_top_busy){ idle, all, true };
	}
	if (file)
		fclose(file);
}

static void fill_now(struct sl_top *top, struct sl_top_cpu *row)
{
	const uint64_t now_ns = sl_top_now_ns();
	struct sl_bpf_now now;

	row->tid = -1;
	row->nr_running = -1;
	row->min_slice_ns = 0;
	row->ran_ns = 0;
	if (!sl_watch_now(top->watch, row->cpu, &now))
		return;
	row->tid = now.pid;
	memcpy(row->comm, now.comm, sizeof(row->comm));
	row->ran_ns = now_ns > now.since ? now_ns - now.since : 0;
	row->nr_running = now.nr_running;
	if (now.seen && !(now.queue.flags & SL_QUEUE_NO_MIN_SLICE))
		row->min_slice_ns = now.queue.queue.min_slice;
}

int sl_top_fill_cpus(struct sl_top *top)
{
	struct sl_top_frame *f = &top->frame;
	unsigned int nr, nr_threads;
	const uint16_t *cpus = sl_watch_cpus(top->watch, &nr);
	const struct sl_bpf_hist *threads = sl_watch_threads(top->watch, &nr_threads);

	fill_idle(top, cpus, nr);
	for (unsigned int i = 0; i < nr; i++) {
		struct sl_top_cpu *row = &f->cpus[i];
		uint64_t waits, ns;

		row->cpu = cpus[i];
		row->waiting = 0;
		fill_now(top, row);
		if (sl_watch_cpu(top->watch, cpus[i], &waits, &ns)) {
			row->now_waits = waits - top->cpu_waits[i];
			row->now_ns = ns - top->cpu_ns[i];
			top->cpu_waits[i] = waits;
			top->cpu_ns[i] = ns;
		} else {
			row->now_waits = top->cpu_waits[i];
			row->now_ns = top->cpu_ns[i];
			top->cpu_waits[i] = top->cpu_ns[i] = 0;
		}
	}
	for (unsigned int t = 1; t < nr_threads; t++) {
		unsigned int i = threads[t].since ? index_of(cpus, nr, threads[t].wait_cpu) : nr;

		if (i < nr)
			f->cpus[i].waiting++;
	}
	return 0;
}
