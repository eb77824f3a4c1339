// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: later-deadline
 *
 * Four hogs with slices of 8 ms begin together on one CPU, and 2 ms later the victim
 * with the same slice. Nothing is owed to it, so it is placed at the average: eligible,
 * its deadline a slice ahead of that. The hogs' deadlines are a slice ahead of where they
 * began, which is earlier, and each has its first slice before the victim's. If the last
 * of them passes the average before its slice ends, only its protection is left. Later the
 * CPU becomes idle, and each of them runs once alone: a task that leaves an empty queue
 * takes no lag along into the next period.
 */
#include "rt.h"

#define HOGS 4
#define SLICE (8 * RT_MS)
#define PERIOD (120 * RT_MS)

static const struct rt_about about = {
	.causes = "later-deadline",
	.parts = "slice-protection:25",
	.why = "5ms",
};

static void alone_at(uint64_t ns)
{
	rt_sleep_until(ns);
	rt_burn(50 * RT_US);
}

static void hog(void *arg)
{
	const uint64_t nr = (uintptr_t)arg;

	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t);
		rt_burn(12 * RT_MS);
		alone_at(t + (90 + 4 * nr) * RT_MS);
	}
}

static void victim(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t + 2 * RT_MS);
		rt_burn(50 * RT_US);
		alone_at(t + (90 + 4 * HOGS) * RT_MS);
	}
}

int main(int argc, char **argv)
{
	struct rt_spec spec = { .comm = "herd", .pinned = true, .slice_ns = SLICE, .run = hog };

	rt_begin(argc, argv, &about);
	spec.cpu = rt_cpu(0);
	for (uintptr_t i = 0; i < HOGS; i++) {
		spec.arg = (void *)i;
		rt_start(&spec);
	}
	spec.comm = "v-herd";
	spec.victim = true;
	spec.run = victim;
	rt_start(&spec);
	return rt_run();
}
