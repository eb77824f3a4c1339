// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: wake-path
 *
 * The victim is woken from a CPU that shares no cache with its own. Such a wakeup is put on
 * a list and left to an interrupt of the victim's CPU (7.3: ttwu_queue_wakelist()); but
 * that has its interrupts off for some milliseconds, again and again: the hog takes a
 * signal off a queue of a hundred thousand others, and collect_signal() looks at all of
 * them under a lock with interrupts off.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rt.h"

#define MOST 400000
#define WANTED_NS (2 * RT_MS)

static const struct rt_about about = { .causes = "wake-path" };

static struct rt_gate gate;

static uint64_t take_last(void)
{
	const struct timespec at_once = { 0, 0 };
	const uint64_t began = rt_now();
	sigset_t last;

	sigemptyset(&last);
	sigaddset(&last, SIGRTMIN + 1);
	if (sigqueue(getpid(), SIGRTMIN + 1, (union sigval){ 0 }) || sigtimedwait(&last, NULL, &at_once) < 0)
		rt_die("a signal to itself: %s", strerror(errno));
	return rt_now() - began;
}

static void hog(void *unused)
{
	(void)unused;
	while (rt_more())
		take_last();
}

static void waker(void *arg)
{
	(void)arg;
	for (uint64_t t = rt_t0() + 20 * RT_MS; rt_more(); t = rt_next(t, 17 * RT_MS)) {
		rt_sleep_until(t);
		rt_gate_open(&gate);
	}
	rt_gate_open(&gate);
}

static void victim(void *arg)
{
	(void)arg;
	while (rt_more()) {
		rt_gate_wait(&gate);
		rt_burn(20 * RT_US);
	}
}

static void prepare(void)
{
	const struct rlimit limit = { MOST + 1000, MOST + 1000 };
	sigset_t both;
	int nr = 0;

	sigemptyset(&both);
	sigaddset(&both, SIGRTMIN);
	sigaddset(&both, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &both, NULL);
	if (setrlimit(RLIMIT_SIGPENDING, &limit))
		rt_skip("no %d signals may be pending: %s", MOST, strerror(errno));
	for (uint64_t ns = 0; ns < WANTED_NS && nr < MOST; ns = take_last())
		for (int i = 0; i < 10000; i++, nr++)
			if (sigqueue(getpid(), SIGRTMIN, (union sigval){ 0 }))
				rt_skip("%d signals are pending, no more can be: %s", nr, strerror(errno));
}

int main(int argc, char **argv)
{
	int home;

	rt_begin(argc, argv, &about);
	home = rt_cpu(0);
	rt_start(&(struct rt_spec){ .comm = "signal-hog", .pinned = true, .cpu = home, .run = hog });
	rt_start(&(struct rt_spec){ .comm = "far-waker", .pinned = true, .cpu = rt_cpu_apart(home),
				    .run = waker });
	rt_start(&(struct rt_spec){ .comm = "v-remote-wake", .victim = true, .pinned = true, .cpu = home,
				    .policy = SCHED_FIFO, .prio = 10, .run = victim });
	prepare();
	return rt_run();
}
