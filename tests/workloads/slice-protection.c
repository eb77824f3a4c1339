// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: slice-protection
 *
 * Two hogs and the victim have slices of 20 ms, so that the shortest slice, up to
 * which the running task is protected, is 20 ms. Half a millisecond after a hog was
 * switched to it opens the gate for the victim. At that moment
 *
 * - the victim is owed several ms (it waits more than it runs), so it is eligible and
 *   its deadline is the earliest: it would be picked;
 * - the hog is eligible too, since the other hog has just had its slice and pulls the
 *   average ahead; so its protection counts, in __pick_eevdf() (6.18);
 * - no slice is shorter than another, so PREEMPT_SHORT does not cancel the protection.
 *
 * The victim runs 4 ms. Each wait adds 6 ms to what it is owed and each run takes 2 ms.
 * When it is owed so much that the hog is not eligible it preempts at once, runs, and
 * is owed less; so it stays near that border, where these conditions hold. On its way
 * there, at first, the hog's deadline is the earlier one.
 */
#include "rt.h"

#define SLICE (20 * RT_MS)

static const struct rt_about about = { .causes = "slice-protection" };

static struct rt_gate gate;

static void hog(void *arg)
{
	uint64_t last = rt_now(), now, picked = 0;

	(void)arg;
	while (rt_more()) {
		now = rt_now();
		if (now - last > 10 * RT_MS)
			picked = now;
		last = now;
		if (picked && now - picked > RT_MS / 2) {
			picked = 0;
			if (rt_gate_has_waiter(&gate))
				rt_gate_open(&gate);
		}
	}
}

static void victim(void *arg)
{
	(void)arg;
	while (rt_more()) {
		rt_gate_wait(&gate);
		rt_burn(4 * RT_MS);
	}
}

int main(int argc, char **argv)
{
	struct rt_spec spec = { .comm = "long-slice-hog", .pinned = true, .slice_ns = SLICE, .run = hog };

	rt_begin(argc, argv, &about);
	spec.cpu = rt_cpu(0);
	rt_start(&spec);
	rt_start(&spec);
	spec.comm = "v-slice-prot";
	spec.victim = true;
	spec.run = victim;
	rt_start(&spec);
	return rt_run();
}
