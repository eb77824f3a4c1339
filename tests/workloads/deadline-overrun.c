// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: throttled
 *
 * A SCHED_DEADLINE task with a reservation of 4 ms in every 20 wants more. It is taken off
 * its CPU when the reservation is used up and comes back with the next period; meanwhile
 * the CPU has nothing else to do.
 */
#include <sched.h>

#include "rt.h"

static const struct rt_about about = {
	.causes = "throttled",
	.waits = "preempt",
	/* shorter ones are due to the stopper and the like */
	.why = "5ms",
	.others = true,
};

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	rt_start(&(struct rt_spec){ .comm = "v-dl-overrun", .victim = true, .policy = SCHED_DEADLINE,
				    .slice_ns = 4 * RT_MS, .period_ns = 20 * RT_MS, .run = rt_spin });
	return rt_run();
}
