/* SPDX-License-Identifier: LGPL-2.1-only */
/* What the recorder's own threads have in common. */
#ifndef SL_LIVE_THREAD_H
#define SL_LIVE_THREAD_H

#include <pthread.h>
#include <stdint.h>

#include "util/err.h"

/* pthread_create() with all signals blocked in the new thread. */
int sl_thread_start(pthread_t *ret_thread, void *(*main)(void *arg), void *arg, struct sl_err *err);
/*
 * Of the calling thread: away from these CPUs, [SL_CPU_MAX], where it may run
 * elsewhere; else, and with NULL, it is left to the scheduler.
 */
void sl_thread_avoid_cpus(const uint8_t *avoid);
/*
 * The lowest realtime priority for a thread, or back. Where the right to it is
 * missing, the thread stays as it is.
 */
void sl_thread_raise(int tid);
void sl_thread_lower(int tid);

#endif
