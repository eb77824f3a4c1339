// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: throttled
 *
 * The only thread of a cgroup that may use 10 ms of every 40 wants more. It is
 * stopped while it runs, so its waits are those of a task that was preempted: since
 * 6.18 a thread is throttled on its way to user space, and before that with its queue.
 */
#include "rt.h"

static const struct rt_about about = {
	.causes = "throttled",
	/* when the group is let go, others may have to be overcome */
	.parts = "group-level:15",
	.flat_parts = "ineligible:15 later-deadline:15 slice-protection:15",
	.waits = "preempt",
	/* Shorter ones are due to others, which may run while the group is stopped. */
	.why = "15ms",
	.others = true,
};

static void victim(void *arg)
{
	(void)arg;
	while (rt_more())
		rt_burn(RT_MS);
}

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	rt_cgroup_enter("quota", 10000, 40000);
	rt_start(&(struct rt_spec){ .comm = "v-quota", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .run = victim });
	return rt_run();
}
