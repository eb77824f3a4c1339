// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: idle-cpu-missed
 *
 * All CPUs share a cache and are busy, each with a task of its own, for most of the time,
 * but one of them has a pause in which the victim is woken on another one. A search would find
 * the idle CPU; but with so much utilisation in the cache's domain none is made (7.3:
 * update_idle_cpu_scan(), SIS_UTIL, select_idle_cpu()). As a SCHED_BATCH task the victim
 * preempts nobody, and waits for its own CPU's pause.
 */
#include <sched.h>

#include "rt.h"

#define PERIOD (10 * RT_MS)
/* in each period: when one CPU pauses, when the victim is woken, when its own CPU pauses */
#define AWAY_PAUSE (12 * RT_MS / 10)
#define AWAY_AGAIN (4 * RT_MS)
#define WAKEUP (26 * RT_MS / 10)
#define HOME_PAUSE (42 * RT_MS / 10)
#define HOME_AGAIN (5 * RT_MS)

static const struct rt_about about = {
	.causes = "idle-cpu-missed",
	.judge = "primary",
	.why = "200us",
};

static int home, away;

static void home_hog(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t + HOME_AGAIN);
		rt_burn_until(t + PERIOD + HOME_PAUSE);
	}
}

static void away_hog(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t + AWAY_AGAIN);
		rt_burn_until(t + PERIOD + AWAY_PAUSE);
	}
}

static void victim(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0() + 20 * PERIOD + WAKEUP; rt_more(); t = rt_next(t, PERIOD)) {
		rt_pin(0, home);
		rt_pin(0, -1);
		rt_sleep_until(t);
		rt_burn(20 * RT_US);
	}
}

int main(int argc, char **argv)
{
	struct rt_spec spec = { .comm = "scan-hog", .pinned = true, .slice_ns = 20 * RT_MS };

	rt_begin(argc, argv, &about);
	home = rt_cpu(0);
	/* the first: no sibling of the last, which would be looked at in any case */
	away = rt_cpu(rt_nr_cpus() - 1);
	if (rt_nr_cpus() < 4)
		rt_skip("needs four CPUs, so that one that pauses is no large part of all");
	if (rt_nr_cpus() > 32)
		rt_skip("more than 32 CPUs: too many hogs");
	for (unsigned int i = 0; i < rt_nr_cpus(); i++) {
		spec.cpu = rt_cpu(i);
		spec.run = spec.cpu == home ? home_hog : spec.cpu == away ? away_hog : rt_spin;
		rt_start(&spec);
	}
	rt_start(&(struct rt_spec){ .comm = "v-scan-limit", .victim = true, .policy = SCHED_BATCH,
				    .run = victim });
	return rt_run();
}
