// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: idle-cpu-missed
 *
 * Hogs are on one CPU and on those that share a cache with it. There the victim slept, and
 * there a timer wakes it. It may run on the other CPUs, too, and nothing runs there, as far as
 * it lies with this program. But they share no cache with the busy ones, and
 * select_idle_sibling() (6.18) does not look there. As a SCHED_BATCH task the victim does not
 * preempt the hog but waits for its slice to end, or for an idle CPU that fetches it. Where all CPUs
 * share a cache there is nothing to see.
 */
#include <sched.h>

#include "rt.h"

static const struct rt_about about = {
	.causes = "idle-cpu-missed",
	.judge = "primary",
	.why = "200us",
};

static int home;

static void victim(void *arg)
{
	(void)arg;
	/* 17 ms drifts through all phases of the tick */
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, 17 * RT_MS)) {
		rt_pin(0, home);
		rt_pin(0, -1);
		rt_sleep_until(t);
		rt_burn(20 * RT_US);
	}
}

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	home = rt_cpu(0);
	rt_cpu_apart(home);
	for (unsigned int i = 0; i < rt_nr_cpus(); i++)
		if (rt_cpu(i) == home || rt_share_cache(rt_cpu(i), home))
			rt_start(&(struct rt_spec){ .comm = "home-hog", .pinned = true, .cpu = rt_cpu(i),
						    .slice_ns = 8 * RT_MS, .run = rt_spin });
	rt_start(&(struct rt_spec){ .comm = "v-idle-missed", .victim = true, .policy = SCHED_BATCH,
				    .slice_ns = RT_MS, .run = victim });
	return rt_run();
}
