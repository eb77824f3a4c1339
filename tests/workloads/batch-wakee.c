// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: no-wakeup-preempt
 *
 * A SCHED_BATCH task wakes behind a fair one. The one that runs has used up its slice
 * of 1 ms long ago and is protected no more, and the wakee is owed time: any other
 * policy would preempt. As it is, the next tick decides, and decides for the wakee.
 */
#include <sched.h>

#include "rt.h"

static const struct rt_about about = { .causes = "no-wakeup-preempt", .untouched = true };

/* 37 ms drifts through all phases of the tick */
static struct rt_beat victim = { .period_ns = 37 * RT_MS, .cpu_ns = 20 * RT_US };

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	rt_start(&(struct rt_spec){ .comm = "batch-hog", .pinned = true, .cpu = rt_cpu(0),
				    .slice_ns = RT_MS, .run = rt_spin });
	rt_start(&(struct rt_spec){ .comm = "v-batch-wakee", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .policy = SCHED_BATCH, .slice_ns = RT_MS,
				    .run = rt_beat, .arg = &victim });
	return rt_run();
}
