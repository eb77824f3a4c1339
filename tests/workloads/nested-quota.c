// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: throttled
 *
 * As quota, but the limit is that of a group two levels above the thread's own, which has
 * none: it is stopped with its ancestor.
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
	rt_cgroup_enter_below("nested", 2, 10000, 40000);
	rt_start(&(struct rt_spec){ .comm = "v-nested-quota", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .run = victim });
	return rt_run();
}
