// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: lazy-resched
 *
 * The hog spins in user space. The victim has the shorter slice and is owed time, so that its
 * wakeup asks the hog to stop; but it is woken from another CPU, and with preempt=lazy
 * no interrupt is sent for that (6.18: __resched_curr()). The hog goes on until
 * something else makes it enter the kernel, at the latest the next tick. HRTICK is off since
 * it would soon be something else: one more task on the queue sets that timer anew, from
 * another CPU by an interrupt (7.3: hrtick_start()).
 */
#include "rt.h"

static const struct rt_about about = {
	.causes = "lazy-resched",
	/* the waker's CPU may be held up between waking and queueing: an emulated one is at times */
	.parts = "wake-path:20",
	.needs = "preempt=lazy feature=NO_HRTICK",
};

static struct rt_gate gate;

static void waker(void *arg)
{
	(void)arg;
	/* 17 ms drifts through all phases of the tick */
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

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	/*
	 * The next CPU, in the hope that it shares a cache: else the wakeup itself is left to an
	 * interrupt of the victim's CPU (6.18: ttwu_queue_cond()), after which it stops at once.
	 */
	rt_start(&(struct rt_spec){ .comm = "user-hog", .pinned = true, .cpu = rt_cpu(0),
				    .slice_ns = 50 * RT_MS, .run = rt_spin });
	rt_start(&(struct rt_spec){ .comm = "remote-waker", .pinned = true, .cpu = rt_cpu(1),
				    .run = waker });
	rt_start(&(struct rt_spec){ .comm = "v-lazy-remote", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .slice_ns = RT_MS / 10, .run = victim });
	return rt_run();
}
