// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: ineligible
 *
 * The victim has nice 10, so that its virtual time goes 9 times faster than the
 * hog's. It runs 3.6 ms, which is nearly its slice, sleeps half a millisecond and wakes,
 * more than 30 ms of virtual time ahead of the hog. Too short a sleep to forget it: the
 * victim is still queued, its dequeue delayed. It becomes eligible only when the hog has
 * run for as long, in many slices, and is picked soon then, since the rest of its own
 * slice is short. What the hog has of the slice in which that happens is the rest.
 */
#include "rt.h"

static const struct rt_about about = {
	.causes = "ineligible",
	.parts = "slice-protection:15 later-deadline:15",
};

static void victim(void *arg)
{
	(void)arg;
	while (rt_more()) {
		rt_burn(36 * RT_MS / 10);
		rt_sleep_until(rt_now() + RT_MS / 2);
	}
}

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	rt_start(&(struct rt_spec){ .comm = "lag-hog", .pinned = true, .cpu = rt_cpu(0),
				    .slice_ns = 4 * RT_MS, .run = rt_spin });
	rt_start(&(struct rt_spec){ .comm = "v-negative-lag", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .nice = 10, .slice_ns = 4 * RT_MS,
				    .run = victim });
	return rt_run();
}
