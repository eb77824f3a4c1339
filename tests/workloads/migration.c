// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: rt-class
 *
 * Realtime threads hold both CPUs for 4 ms of every 20. The victim is queued on the first
 * after one of them; at two a realtime mover sends it to the second one, where it goes on
 * waiting. One wait, on two CPUs, held by realtime on both: a migration neither starts
 * it anew nor loses its first half. The scoreboard judges waits that moved.
 */
#include <sched.h>

#include "rt.h"

#define PERIOD (20 * RT_MS)

static const struct rt_about about = { .causes = "rt-class", .judge = "moved" };

static int home, away;

static void hog(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t);
		rt_burn_until(t + 4 * RT_MS);
	}
}

static void victim(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0() + RT_MS; rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t);
		rt_burn(20 * RT_US);
		rt_pin(0, home);
	}
}

static void mover(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0() + 2 * RT_MS; rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t);
		rt_pin(rt_tid_of(0), away);
	}
}

int main(int argc, char **argv)
{
	struct rt_spec spec = { .comm = "both-hog", .pinned = true, .policy = SCHED_FIFO, .prio = 10,
				.run = hog };

	rt_begin(argc, argv, &about);
	home = rt_cpu(0);
	away = rt_cpu(1);
	rt_start(&(struct rt_spec){ .comm = "v-migration", .victim = true, .pinned = true,
				    .cpu = home, .run = victim });
	spec.cpu = home;
	rt_start(&spec);
	spec.cpu = away;
	rt_start(&spec);
	rt_start(&(struct rt_spec){ .comm = "mover", .pinned = true, .cpu = away,
				    .policy = SCHED_FIFO, .prio = 20, .run = mover });
	return rt_run();
}
