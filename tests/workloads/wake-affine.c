// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: wake-affine
 *
 * The victim sleeps on one CPU, which then is idle. A task that has run for 1 ms on another
 * CPU, longer than its slice, writes to the pipe from which it reads, a wakeup that is
 * marked as sync: the waker is about to sleep. So the victim is pulled to the waker's CPU
 * (6.18: wake_affine_idle()). But the waker goes on for two milliseconds, and as a
 * SCHED_BATCH task the victim does not preempt it. All other CPUs are busy: select_idle_sibling()
 * would find one that shares a cache with the waker's. Where both CPUs share one it undoes the
 * pull: nothing to see.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "rt.h"

static const struct rt_about about = { .causes = "wake-affine", .judge = "primary" };

static int pipe_fds[2], home;

static void waker(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0() + 5 * RT_MS; rt_more(); t = rt_next(t, 10 * RT_MS)) {
		rt_sleep_until(t);
		rt_burn_until(t + RT_MS);
		if (write(pipe_fds[1], "", 1) != 1)
			rt_die("write: %s", strerror(errno));
		rt_burn_until(t + 3 * RT_MS);
	}
}

static void victim(void *arg)
{
	char byte;

	(void)arg;
	while (rt_more()) {
		rt_pin(0, home);
		rt_pin(0, -1);
		if (read(pipe_fds[0], &byte, 1) != 1)
			rt_die("read: %s", strerror(errno));
		rt_burn(20 * RT_US);
	}
}

/* So that the victim does not wait for a waker that has ended. */
static void last_word(void *arg)
{
	(void)arg;
	while (rt_more())
		rt_sleep_until(rt_now() + 100 * RT_MS);
	if (write(pipe_fds[1], "", 1) != 1)
		rt_die("write: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	int away;

	rt_begin(argc, argv, &about);
	home = rt_cpu(0);
	if (pipe2(pipe_fds, O_CLOEXEC))
		rt_die("pipe: %s", strerror(errno));
	away = rt_cpu_apart(home);
	if (rt_nr_cpus() > 32)
		rt_skip("more than 32 CPUs: too many hogs");
	for (unsigned int i = 0; i < rt_nr_cpus(); i++)
		if (rt_cpu(i) != away && rt_cpu(i) != home)
			rt_start(&(struct rt_spec){ .comm = "other-hog", .pinned = true, .cpu = rt_cpu(i),
						    .run = rt_spin });
	rt_start(&(struct rt_spec){ .comm = "sync-waker", .pinned = true, .cpu = away,
				    .slice_ns = RT_MS / 2, .run = waker });
	rt_start(&(struct rt_spec){ .comm = "v-wake-affine", .victim = true, .policy = SCHED_BATCH,
				    .run = victim });
	rt_start(&(struct rt_spec){ .comm = "last-word", .run = last_word });
	return rt_run();
}
