// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: no-wakeup-preempt
 *
 * As batch-wakee, but the wakee is an ordinary task, and the scheduler feature
 * WAKEUP_PREEMPTION is off: no wakeup of a fair task preempts another one.
 */
#include "rt.h"

static const struct rt_about about = {
	.causes = "no-wakeup-preempt",
	.needs = "feature=NO_WAKEUP_PREEMPTION",
	.untouched = true,
};

/* 37 ms drifts through all phases of the tick */
static struct rt_beat victim = { .period_ns = 37 * RT_MS, .cpu_ns = 20 * RT_US };

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	rt_start(&(struct rt_spec){ .comm = "tick-hog", .pinned = true, .cpu = rt_cpu(0),
				    .slice_ns = RT_MS, .run = rt_spin });
	rt_start(&(struct rt_spec){ .comm = "v-wakeup-off", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .slice_ns = RT_MS, .run = rt_beat, .arg = &victim });
	return rt_run();
}
