// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: affinity
 *
 * As rt-hog: a fair task waits for a realtime one on the only CPU that it may use.
 * The other CPUs have nothing to do, as far as it lies with this program. Affinity is
 * a placement cause that is never primary; what holds the task is rt-class.
 */
#include <sched.h>

#include "rt.h"

static const struct rt_about about = { .causes = "affinity", .judge = "place" };

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
	rt_cpu(1);	/* there must be another one */
	rt_start(&(struct rt_spec){ .comm = "pinned-hog", .pinned = true, .cpu = rt_cpu(0),
				    .policy = SCHED_FIFO, .prio = 10, .run = hog });
	rt_start(&(struct rt_spec){ .comm = "v-pinned-busy", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .run = victim });
	return rt_run();
}
