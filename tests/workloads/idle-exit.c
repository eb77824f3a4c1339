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

static struct rt_beat victim = { .period_ns = 2300 * RT_US, .cpu_ns = 20 * RT_US };

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	rt_start(&(struct rt_spec){ .comm = "v-idle-exit", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .run = rt_beat, .arg = &victim });
	return rt_run();
}
