// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: dl-class
 *
 * A thread with a reservation of 4 ms every 10 ms uses 3 of them. Half a millisecond
 * after it began, a timer on its CPU wakes a fair task which may run nowhere else.
 * A reservation cannot be pinned, but select_task_rq_dl() (6.18) leaves it where it
 * slept as long as no other reservation runs there.
 */
#include <sched.h>
#include <stdio.h>

#include "rt.h"

static const struct rt_about about = { .causes = "dl-class" };

static void hog(void *arg)
{
	const int home = rt_cpu(0);
	bool moved = false;

	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t += 10 * RT_MS) {
		rt_sleep_until(t);
		rt_burn_until(t + 3 * RT_MS);
		if (!moved && sched_getcpu() != home)
			fprintf(stderr, "the reservation has moved to CPU %d\n", sched_getcpu());
		moved = sched_getcpu() != home;
	}
}

static void victim(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0() + RT_MS / 2; rt_more(); t += 10 * RT_MS) {
		rt_sleep_until(t);
		rt_burn(20 * RT_US);
	}
}

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	rt_start(&(struct rt_spec){ .comm = "deadline-hog", .pinned = true, .cpu = rt_cpu(0),
				    .policy = SCHED_DEADLINE, .slice_ns = 4 * RT_MS,
				    .period_ns = 10 * RT_MS, .run = hog });
	rt_start(&(struct rt_spec){ .comm = "v-deadline-hog", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .run = victim });
	return rt_run();
}
