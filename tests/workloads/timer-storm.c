// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: irq
 *
 * Thousands of timers of one CPU expire at the same instant. All are handled in one
 * timer interrupt (6.18: hrtimer_interrupt(), timerfd_tmrproc()). The victim's own timer
 * expires a microsecond earlier: it is woken first, in the same interrupt, and waits for
 * its end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>

#include "rt.h"

#define TIMERS 4000

static const struct rt_about about = { .causes = "irq" };

static int fds[TIMERS];

/* Arming them takes tens of ms; where it takes longer than there was time, more is left next time. */
static void victim(void *arg)
{
	uint64_t ahead = 40 * RT_MS;

	(void)arg;
	while (rt_more()) {
		const uint64_t storm = rt_now() + ahead;
		const struct itimerspec when = {
			.it_value = { (time_t)(storm / 1000000000ull), (long)(storm % 1000000000ull) },
		};

		for (int i = 0; i < TIMERS; i++)
			timerfd_settime(fds[i], TFD_TIMER_ABSTIME, &when, NULL);
		if (rt_now() + RT_MS > storm)
			ahead += 40 * RT_MS;
		rt_sleep_until(storm - RT_US);
		rt_burn(20 * RT_US);
	}
}

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	rt_need_files(TIMERS);
	for (int i = 0; i < TIMERS; i++) {
		fds[i] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (fds[i] < 0)
			rt_skip("timerfd number %d: %s", i, strerror(errno));
	}
	rt_start(&(struct rt_spec){ .comm = "v-timer-storm", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .run = victim });
	return rt_run();
}
