// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: no-wakeup-preempt
 *
 * A SCHED_IDLE task wakes behind a normal one. The one that runs has used up its slice
 * of 1 ms long ago and is protected no more. Being alone on the queue it is at the
 * average, so that it has no claim left at the next tick, which decides for the wakee.
 */
#include <sched.h>

#include "rt.h"

static const struct rt_about about = {
	.causes = "no-wakeup-preempt",
	/* at the tick, when the hog had too little time to pay for the victim's last run */
	.parts = "ineligible:30",
	.untouched = true,
};

static void victim(void *arg)
{
	uint64_t t = rt_t0();

	(void)arg;
	/*
	 * 57 ms drifts through all phases of the tick. It does nothing: with the weight of
	 * SCHED_IDLE even 10 us have to be paid for with 3 ms, and before that is done
	 * it would not be eligible.
	 */
	for (; rt_more(); t = rt_next(t, 57 * RT_MS))
		rt_sleep_until(t);
}

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	rt_start(&(struct rt_spec){ .comm = "idle-hog", .pinned = true, .cpu = rt_cpu(0),
				    .slice_ns = RT_MS, .run = rt_spin });
	rt_start(&(struct rt_spec){ .comm = "v-idle-wakee", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .policy = SCHED_IDLE, .run = victim });
	return rt_run();
}
