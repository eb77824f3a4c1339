// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: later-deadline slice-protection ineligible group-level
 *
 * Two hogs per CPU, all equals, and a victim like them that sleeps now and then: no CPU
 * is ever idle, and none is better than another. The waits are due to load. Which of
 * the fair causes it is depends on the moment, and is not the question: the scoreboard
 * looks at the primary cause, which must not be a placement cause.
 */
#include "rt.h"

static const struct rt_about about = {
	.causes = "later-deadline slice-protection ineligible group-level",
	.judge = "fault",
	.why = "p75",
	.others = true,
};

static void victim(void *arg)
{
	(void)arg;
	while (rt_more()) {
		rt_sleep_until(rt_now() + 11 * RT_MS);
		rt_burn(3 * RT_MS);
	}
}

int main(int argc, char **argv)
{
	const unsigned int most = 16;

	rt_begin(argc, argv, &about);
	if (rt_nr_cpus() > most)
		rt_skip("more than %u CPUs: too many threads", most);
	for (unsigned int i = 0; i < 2 * rt_nr_cpus(); i++)
		rt_start(&(struct rt_spec){ .comm = "equal", .slice_ns = 3 * RT_MS, .run = rt_spin });
	rt_start(&(struct rt_spec){ .comm = "v-saturation", .victim = true, .slice_ns = 3 * RT_MS,
				    .run = victim });
	return rt_run();
}
