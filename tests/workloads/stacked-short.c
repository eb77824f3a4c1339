// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: stacked-wakeup
 *
 * Every CPU has a hog with a slice of 50 ms. Four tasks with slices of 0.1 ms sleep on
 * one CPU, may run on two, and are woken together by timers of that CPU. One of them
 * preempts the hog; the others wait for each other, though on the other CPU each of them
 * would have preempted a hog at once: no CPU is idle, so the search for a better one ends
 * where it began (6.18: select_task_rq_fair()). The one that was woken first is not
 * judged, wherever it comes in: nobody was there when it was queued.
 */
#include "rt.h"

#define SHORT 4
#define PERIOD (20 * RT_MS)

static const struct rt_about about = {
	.causes = "stacked-wakeup",
	.judge = "place",
	.why = "0ns",
};

static int home;

static void victim(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_pin(0, home);
		rt_pin(0, -1);
		rt_sleep_until(t);
		rt_burn(400 * RT_US);
	}
}

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	home = rt_cpu(0);
	rt_cpu(1);
	if (rt_nr_cpus() > 32)
		rt_skip("more than 32 CPUs: too many hogs");
	for (unsigned int i = 0; i < rt_nr_cpus(); i++)
		rt_start(&(struct rt_spec){ .comm = "long-hog", .pinned = true, .cpu = rt_cpu(i),
					    .slice_ns = 50 * RT_MS, .run = rt_spin });
	for (int i = 0; i < SHORT; i++)
		rt_start(&(struct rt_spec){ .comm = "v-stacked", .victim = true,
					    .slice_ns = RT_MS / 10, .run = victim });
	return rt_run();
}
