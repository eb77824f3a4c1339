// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: rt-class
 *
 * A SCHED_FIFO thread runs 3 ms of every 10 on one CPU. Half a millisecond after it
 * began, a timer on that CPU wakes a fair task which may run nowhere else.
 */
#include <sched.h>

#include "rt.h"

static const struct rt_about about = { .causes = "rt-class" };

static void hog(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, 10 * RT_MS)) {
		rt_sleep_until(t);
		rt_burn_until(t + 3 * RT_MS);
	}
}

static void victim(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0() + RT_MS / 2; rt_more(); t = rt_next(t, 10 * RT_MS)) {
		rt_sleep_until(t);
		rt_burn(20 * RT_US);
	}
}

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	rt_start(&(struct rt_spec){ .comm = "rt-hog", .pinned = true, .cpu = rt_cpu(0),
				    .policy = SCHED_FIFO, .prio = 10, .run = hog });
	rt_start(&(struct rt_spec){ .comm = "v-rt-hog", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .run = victim });
	return rt_run();
}
