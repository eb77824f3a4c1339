// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: fair-server
 *
 * A realtime task never leaves its CPU by itself, and a fair one wants to run there. The
 * deadline server for fair tasks gives it its guaranteed share ahead of realtime: here
 * 4 ms of every 40 instead of 50 of every 1000, so that a short recording has enough of them.
 * The victim is the realtime task, which is preempted for that.
 */
#include <sched.h>
#include <stdio.h>

#include "rt.h"

static const struct rt_about about = {
	.causes = "fair-server",
	.waits = "preempt",
	/* shorter ones are due to the stopper and the like */
	.why = "1ms",
};

static void set_server(int cpu, const char *name, const char *ns)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/kernel/debug/sched/fair_server/cpu%d/%s", cpu, name);
	rt_set(path, ns);
}

int main(int argc, char **argv)
{
	int cpu;

	rt_begin(argc, argv, &about);
	cpu = rt_cpu(0);
	rt_cpu(1);	/* for everything else on this machine */
	/* in this order, and put back in the other: the one must never be more than the other */
	set_server(cpu, "runtime", "4000000");
	set_server(cpu, "period", "40000000");
	rt_start(&(struct rt_spec){ .comm = "v-fair-server", .victim = true, .pinned = true, .cpu = cpu,
				    .policy = SCHED_FIFO, .prio = 10, .run = rt_spin });
	rt_start(&(struct rt_spec){ .comm = "fair-hog", .pinned = true, .cpu = cpu, .run = rt_spin });
	return rt_run();
}
