// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: dl-class
 *
 * A thread with a reservation of 4 ms every 10 ms uses 3 of them. Half a millisecond
 * after it began, a timer on its CPU wakes a fair task which may run nowhere else.
 * A reservation cannot be pinned. It mostly stays where it is, and when it moves the
 * victim moves after it.
 */
#include <sched.h>

#include "rt.h"

static const struct rt_about about = { .causes = "dl-class" };

static int where;

static void hog(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, 10 * RT_MS)) {
		rt_sleep_until(t);
		rt_burn_until(t + 3 * RT_MS);
		__atomic_store_n(&where, sched_getcpu(), __ATOMIC_RELAXED);
	}
}

static void victim(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0() + RT_MS / 2; rt_more(); t = rt_next(t, 10 * RT_MS)) {
		rt_sleep_until(t);
		rt_burn(20 * RT_US);
		rt_pin(0, __atomic_load_n(&where, __ATOMIC_RELAXED));
	}
}

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	where = rt_cpu(0);
	rt_start(&(struct rt_spec){ .comm = "deadline-hog", .pinned = true, .cpu = where,
				    .policy = SCHED_DEADLINE, .slice_ns = 4 * RT_MS,
				    .period_ns = 10 * RT_MS, .run = hog });
	rt_start(&(struct rt_spec){ .comm = "v-deadline-hog", .victim = true, .pinned = true,
				    .cpu = where, .run = victim });
	return rt_run();
}
