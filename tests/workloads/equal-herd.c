// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: later-deadline
 *
 * Five hogs with slices of 4 ms on one CPU, and the victim with the same. The victim
 * runs more than a slice, so that it goes to sleep with nothing owed to it, and sleeps
 * long enough for its delayed dequeue to end: it wakes at the average, eligible, its
 * deadline a slice ahead. Hogs below the average that have not had their turn of this
 * round have earlier deadlines. In the last of these turns the running hog passes the
 * average, and it is then its protection that keeps the victim waiting.
 */
#include "rt.h"

#define HOGS 5

static const struct rt_about about = {
	.causes = "later-deadline",
	.parts = "slice-protection:30",
};

static void victim(void *arg)
{
	(void)arg;
	while (rt_more()) {
		rt_sleep_until(rt_now() + 31 * RT_MS);
		rt_burn(6 * RT_MS);
	}
}

int main(int argc, char **argv)
{
	struct rt_spec spec = { .comm = "herd", .pinned = true, .slice_ns = 4 * RT_MS, .run = rt_spin };

	rt_begin(argc, argv, &about);
	spec.cpu = rt_cpu(0);
	for (int i = 0; i < HOGS; i++)
		rt_start(&spec);
	spec.comm = "v-herd";
	spec.victim = true;
	spec.run = victim;
	rt_start(&spec);
	return rt_run();
}
