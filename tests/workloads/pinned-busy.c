// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: affinity
 *
 * As rt-hog: a fair task waits for a realtime one on the only CPU that it may use.
 * The other CPUs have nothing to do, as far as it lies with this program. Affinity is
 * a placement cause that is never primary; what holds the task is rt-class.
 */
#include <sched.h>

#include "rt.h"

static const struct rt_about about = { .causes = "affinity", .judge = "place" };

static struct rt_beat hog = { .period_ns = 10 * RT_MS, .wall_ns = 3 * RT_MS };
static struct rt_beat victim = { .offset_ns = RT_MS / 2, .period_ns = 10 * RT_MS, .cpu_ns = 20 * RT_US };

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	rt_cpu(1);	/* there must be another one */
	rt_start(&(struct rt_spec){ .comm = "pinned-hog", .pinned = true, .cpu = rt_cpu(0),
				    .policy = SCHED_FIFO, .prio = 10, .run = rt_beat, .arg = &hog });
	rt_start(&(struct rt_spec){ .comm = "v-pinned-busy", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .run = rt_beat, .arg = &victim });
	return rt_run();
}
