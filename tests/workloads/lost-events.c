// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: lost-data
 *
 * Two realtime threads on one CPU wake each other as fast as they can for 60 ms of
 * every 200, while a third one holds the other CPU, so that the recorder has no CPU on
 * which to save what it records into buffers as small as they get: events are lost, and
 * with them the truth about the victim, which waits all that time. What is right is that
 * its waits are marked, that they are no samples, and that nothing in them is called exact.
 */
#include <sched.h>

#include "rt.h"

#define PERIOD (200 * RT_MS)
#define BURST (60 * RT_MS)

static const struct rt_about about = {
	.causes = "lost-data",
	.judge = "lost",
	.why = "0ns",
	.record = "-m 8k",
};

static struct rt_gate ping, pong;

static void hog(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t);
		rt_burn_until(t + BURST);
	}
}

static void pinger(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t);
		while (rt_now() < t + BURST) {
			rt_gate_open(&ping);
			rt_gate_wait(&pong);
		}
	}
}

static void ponger(void *arg)
{
	(void)arg;
	while (rt_more()) {
		rt_gate_wait(&ping);
		rt_gate_open(&pong);
	}
}

static void victim(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0() + RT_MS; rt_more(); t = rt_next(t, PERIOD / 5)) {
		rt_sleep_until(t);
		rt_burn(20 * RT_US);
	}
}

int main(int argc, char **argv)
{
	struct rt_spec spec = { .pinned = true, .policy = SCHED_FIFO, .prio = 10 };

	rt_begin(argc, argv, &about);
	if (rt_nr_cpus() > 4)
		rt_skip("more than 4 CPUs: the recorder finds one, or all would have to be held");
	for (unsigned int i = 1; i < rt_nr_cpus(); i++) {
		spec.comm = "keep-off";
		spec.cpu = rt_cpu(i);
		spec.run = hog;
		rt_start(&spec);
	}
	spec.cpu = rt_cpu(0);
	spec.comm = "ping";
	spec.run = pinger;
	rt_start(&spec);
	spec.comm = "pong";
	spec.run = ponger;
	rt_start(&spec);
	rt_start(&(struct rt_spec){ .comm = "v-lost-events", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .run = victim });
	return rt_run();
}
