// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test D of the evaluation: four tasks short-0 .. short-3 and sixteen normal-00 .. normal-15 are
 * released together every 7.777 ms and use 0.5 ms of CPU each. Which slices they have is
 * not decided here: whoever starts this sets them (schedlat slice) before SIGUSR1.
 *
 *	eval-wake -w -s SECONDS FILE
 *
 * Each measures, as cyclictest does, from the instant that its timer was set for to its first
 * clock reading. FILE gets a line "NAME NS" for each activation after the first half second,
 * once the load is known to the scheduler. Who is still busy at a release misses it: such
 * releases are no samples, and are counted in a line "missed NAME NUMBER".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt.h"

#define SHORT 4
#define NORMAL 16
#define PERIOD (7777 * RT_US)
#define CPU_TIME (500 * RT_US)
#define WARM_UP (500 * RT_MS)
#define MAX_SECONDS 600u

static const struct rt_about about = { .causes = "stacked-wakeup" };

static struct task {
	char comm[16];
	uint32_t *late_ns;	/* touched before the start: a page fault is no wakeup latency */
	size_t nr, max;
	uint64_t missed;
} tasks[SHORT + NORMAL];

static void run(void *arg)
{
	struct task *task = arg;
	uint64_t next;

	for (uint64_t t = rt_t0() + PERIOD; ; t = next) {
		const bool counts = t >= rt_t0() + WARM_UP;
		uint64_t late;

		rt_sleep_until(t);
		late = rt_now() - t;
		if (!rt_more())
			return;
		if (counts && task->nr < task->max)
			task->late_ns[task->nr++] = late < UINT32_MAX ? (uint32_t)late : UINT32_MAX;
		rt_burn(CPU_TIME);
		next = rt_next(t, PERIOD);
		if (counts)
			task->missed += (next - t) / PERIOD - 1;
	}
}

static void write_to(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		rt_die("%s: %s", path, strerror(errno));
	for (unsigned int i = 0; i < SHORT + NORMAL; i++) {
		const struct task *task = &tasks[i];

		for (size_t k = 0; k < task->nr; k++)
			fprintf(file, "%s %u\n", task->comm, task->late_ns[k]);
		fprintf(file, "missed %s %llu\n", task->comm, (unsigned long long)task->missed);
	}
	if (fclose(file))
		rt_die("%s: %s", path, strerror(errno));
}

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	if (optind + 1 != argc) {
		fprintf(stderr, "usage: eval-wake [-w] [-s SECONDS] FILE\n");
		return 129;
	}
	for (unsigned int i = 0; i < SHORT + NORMAL; i++) {
		struct task *task = &tasks[i];
		size_t size;

		task->max = MAX_SECONDS * 1000 * RT_MS / PERIOD;
		size = task->max * sizeof(*task->late_ns);
		task->late_ns = malloc(size);
		if (!task->late_ns)
			rt_die("no memory for the samples");
		memset(task->late_ns, 0xff, size);
		if (i < SHORT)
			snprintf(task->comm, sizeof(task->comm), "short-%u", i);
		else
			snprintf(task->comm, sizeof(task->comm), "normal-%02u", i - SHORT);
		rt_start(&(struct rt_spec){ .comm = task->comm, .run = run, .arg = task });
	}
	if (rt_run())
		return 1;
	write_to(argv[optind]);
	return 0;
}
