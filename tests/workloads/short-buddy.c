// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: buddy
 *
 * Three tasks on one CPU. The hog has begun a slice of 20 ms when the victim wakes. As a
 * SCHED_BATCH task it does not preempt, though with a slice of 3 ms its virtual deadline is the
 * earliest. Right after it the short one wakes, with such a slice, too, shorter than the hog's,
 * and eligible. That overrides the hog's protection, and though the victim's deadline, that of
 * a larger share of the group's weight, is still the earliest, the wakee is marked as the
 * next buddy and picked (7.3: wakeup_preempt_fair(), set_short_buddy()). It runs for 2 ms;
 * from a tick in them on it is its own slice that protects it. Then the victim's turn comes.
 * Later the CPU becomes idle, and each of the three runs once alone: a task that leaves an
 * empty queue takes no lag along into the next period.
 */
#include <sched.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "rt.h"

#define PERIOD (37 * RT_MS)

static const struct rt_about about = {
	.causes = "buddy",
	.parts = "slice-protection:60 no-wakeup-preempt:20",
	.why = "1ms",
};

static void alone_at(uint64_t ns)
{
	rt_sleep_until(ns);
	rt_burn(50 * RT_US);
}

static void hog(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t);
		rt_burn(6 * RT_MS);
		alone_at(t + 22 * RT_MS);
	}
}

static void victim(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t + 1000 * RT_US);
		rt_burn(50 * RT_US);
		alone_at(t + 26 * RT_MS);
	}
}

static void short_one(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0(); rt_more(); t = rt_next(t, PERIOD)) {
		rt_sleep_until(t + 1200 * RT_US);
		rt_burn(2 * RT_MS);
		alone_at(t + 30 * RT_MS);
	}
}

/* Such a wakee is marked since 7.3; before, only the feature NEXT_BUDDY marks any. */
static void check_kernel(void)
{
	struct utsname name;
	unsigned int major = 0, minor = 0;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2 ||
	    major < 7 || (major == 7 && minor < 3))
		rt_skip("this kernel marks no wakee for its short slice (before 7.3)");
}

int main(int argc, char **argv)
{
	struct rt_spec spec = { .comm = "buddy-hog", .pinned = true, .slice_ns = 20 * RT_MS, .run = hog };

	rt_begin(argc, argv, &about);
	check_kernel();
	spec.cpu = rt_cpu(0);
	rt_start(&spec);
	spec.comm = "short-wakee";
	spec.slice_ns = 3 * RT_MS;
	spec.run = short_one;
	rt_start(&spec);
	spec.comm = "v-short-buddy";
	spec.victim = true;
	spec.policy = SCHED_BATCH;
	spec.slice_ns = 3 * RT_MS;
	spec.run = victim;
	rt_start(&spec);
	return rt_run();
}
