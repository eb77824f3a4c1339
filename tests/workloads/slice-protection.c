// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: slice-protection
 *
 * Three tasks on one CPU, all with slices of 20 ms, so that none is shorter than another
 * and a task that was just picked is protected for 20 ms. In each period the first hog
 * begins, runs for 12 ms and goes to sleep; then the second, which has waited for that, is
 * picked, and soon opens the gate for the victim. At that moment
 *
 * - the second hog is eligible: the first has just run and pulled the average ahead;
 * - the victim, to which nothing is owed, is placed at the average: eligible;
 * - by its higher weight the victim's virtual deadline is the earliest: it would be picked.
 *
 * But the hog's slice has begun, and it is protected (6.18: __pick_eevdf()). It goes to
 * sleep 12 ms later, or is passed over before, when another group on this CPU makes the
 * kernel pick anew after the hog has passed the average. Then the CPU becomes idle, and
 * each of the three runs once alone: a task that leaves an empty queue takes no lag along
 * into the next period.
 *
 * The weights are such that all this holds as well with one flat queue, where a task's weight is
 * its share of its group's, as it was when it was queued (7.3: se->h_load): the hogs' from
 * before the victim came, the victim's with it.
 */
#include "rt.h"

#define SLICE (20 * RT_MS)
#define PERIOD (80 * RT_MS)

static const struct rt_about about = {
	.causes = "slice-protection",
	.why = "1ms",
};

static struct rt_gate gate;
/* The first one has had its turn, and sleeps. */
static int first_sleeps;

static void alone_at(uint64_t ns)
{
	rt_sleep_until(ns);
	rt_burn(50 * RT_US);
}

static void first(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t);
		__atomic_store_n(&first_sleeps, 0, __ATOMIC_RELAXED);
		rt_burn(12 * RT_MS);
		__atomic_store_n(&first_sleeps, 1, __ATOMIC_RELAXED);
		alone_at(t + 60 * RT_MS);
	}
}

static void second(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t + RT_MS);
		rt_burn(RT_MS / 2);
		/* else something else has run here, and this one was picked before its turn */
		if (__atomic_load_n(&first_sleeps, __ATOMIC_RELAXED))
			rt_gate_open(&gate);
		rt_burn(23 * RT_MS / 2);
		alone_at(t + 64 * RT_MS);
	}
	rt_gate_open(&gate);
}

static void victim(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_gate_wait(&gate);
		rt_burn(50 * RT_US);
		alone_at(t + 68 * RT_MS);
	}
}

int main(int argc, char **argv)
{
	struct rt_spec spec = { .comm = "first-hog", .pinned = true, .slice_ns = SLICE, .run = first };

	rt_begin(argc, argv, &about);
	spec.cpu = rt_cpu(0);
	rt_start(&spec);
	spec.comm = "second-hog";
	spec.run = second;
	rt_start(&spec);
	spec.comm = "v-slice-prot";
	spec.victim = true;
	spec.nice = -15;
	spec.run = victim;
	rt_start(&spec);
	return rt_run();
}
