// SPDX-License-Identifier: LGPL-2.1-only
#include "live/thread.h"

#include <sched.h>
#include <signal.h>
#include <string.h>

#include "event/event.h"

int sl_thread_start(pthread_t *ret_thread, void *(*main)(void *arg), void *arg, struct sl_err *err)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(ret_thread, NULL, main, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r ? sl_err_set(err, -r, "cannot start a reader: pthread_create: %s", strerror(r)) : 0;
}

void sl_thread_avoid_cpus(const uint8_t *avoid)
{
	const size_t bytes = CPU_ALLOC_SIZE(SL_CPU_MAX);
	cpu_set_t *set = avoid ? CPU_ALLOC(SL_CPU_MAX) : NULL;

	if (!set)
		return;
	CPU_ZERO_S(bytes, set);
	if (!sched_getaffinity(0, bytes, set)) {
		for (unsigned int cpu = 0; cpu < SL_CPU_MAX; cpu++)
			if (avoid[cpu])
				CPU_CLR_S(cpu, bytes, set);
		if (CPU_COUNT_S(bytes, set))
			sched_setaffinity(0, bytes, set);
	}
	CPU_FREE(set);
}

void sl_thread_raise(int tid)
{
	const struct sched_param lowest = { .sched_priority = 1 };

	sched_setscheduler(tid, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest);
}

void sl_thread_lower(int tid)
{
	const struct sched_param none = { 0 };

	sched_setscheduler(tid, SCHED_OTHER, &none);
}
