// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: resched-delayed
 *
 * The hog is in system calls of 10 ms in which a kernel with preempt=none does not
 * switch. The victim has the shorter slice and is owed time: its wakeup asks the hog to
 * stop at once, which it does only when the system call returns.
 */
#include <string.h>

#include "mincore.h"

static const struct rt_about about = { .causes = "resched-delayed" };

static struct rt_beat victim = { .offset_ns = 20 * RT_MS, .period_ns = 17 * RT_MS, .cpu_ns = 20 * RT_US };

int main(int argc, char **argv)
{
	const char *model = rt_preempt_model();

	rt_begin(argc, argv, &about);
	if (strcmp(model, "none") && strcmp(model, "?"))
		rt_skip("preempt=%s: a system call is interrupted for the wakee", model);
	long_call_prepare(10 * RT_MS);
	rt_start(&(struct rt_spec){ .comm = "mincore-hog", .pinned = true, .cpu = rt_cpu(0),
				    .slice_ns = 50 * RT_MS, .run = long_calls });
	rt_start(&(struct rt_spec){ .comm = "v-long-syscall", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .slice_ns = RT_MS / 10, .run = rt_beat, .arg = &victim });
	return rt_run();
}
