// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: idle-exit
 *
 * Timers wake the victim on a CPU on which nothing else runs. What it waits for is the
 * rest of the interrupt that woke it, and the way out of idle: both are a few
 * microseconds, and which is longer depends on the machine.
 */
#include "rt.h"

static const struct rt_about about = {
	.causes = "idle-exit",
	.parts = "irq:80 softirq:50 wake-path:50",
};

static void victim(void *arg)
{
	uint64_t t = rt_t0();

	(void)arg;
	for (; rt_more(); t = rt_next(t, 2300 * RT_US)) {
		rt_sleep_until(t);
		rt_burn(20 * RT_US);
	}
}

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	rt_start(&(struct rt_spec){ .comm = "v-idle-exit", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .run = victim });
	return rt_run();
}
