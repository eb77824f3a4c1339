// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: rt-class
 *
 * A SCHED_FIFO thread runs 3 ms of every 10 on one CPU. Half a millisecond after it
 * began, a timer on that CPU wakes a fair task which may run nowhere else.
 */
#include <sched.h>

#include "rt.h"

static const struct rt_about about = { .causes = "rt-class" };

static struct rt_beat hog = { .period_ns = 10 * RT_MS, .wall_ns = 3 * RT_MS };
static struct rt_beat victim = { .offset_ns = RT_MS / 2, .period_ns = 10 * RT_MS, .cpu_ns = 20 * RT_US };

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	rt_start(&(struct rt_spec){ .comm = "rt-hog", .pinned = true, .cpu = rt_cpu(0),
				    .policy = SCHED_FIFO, .prio = 10, .run = rt_beat, .arg = &hog });
	rt_start(&(struct rt_spec){ .comm = "v-rt-hog", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .run = rt_beat, .arg = &victim });
	return rt_run();
}
