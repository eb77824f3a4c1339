// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: lazy-resched
 *
 * The hog is in system calls of 10 ms. The victim has the shorter slice and is owed time:
 * its wakeup asks the hog to stop. With preempt=lazy that takes effect on the return to
 * user space or at the next tick, whichever comes first (6.18: resched_curr_lazy()).
 */
#include "mincore.h"

static const struct rt_about about = { .causes = "lazy-resched", .needs = "preempt=lazy" };

static struct rt_beat victim = { .offset_ns = 20 * RT_MS, .period_ns = 17 * RT_MS, .cpu_ns = 20 * RT_US };

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	long_call_prepare(10 * RT_MS);
	rt_start(&(struct rt_spec){ .comm = "mincore-hog", .pinned = true, .cpu = rt_cpu(0),
				    .slice_ns = 50 * RT_MS, .run = long_calls });
	rt_start(&(struct rt_spec){ .comm = "v-lazy-syscall", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .slice_ns = RT_MS / 10, .run = rt_beat, .arg = &victim });
	return rt_run();
}
