/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Keep a slice on all threads of a command while it runs.
 *
 * It is set before the command starts, and new threads inherit it. A program
 * can take it back (sched_setattr(2) without a sched_runtime), and a thread made
 * with reset-on-fork starts without it; so the command's processes are looked at
 * again 10, 50 and 200 ms after the start, then every 500 ms, but never for more
 * than about 1 % of the time. In between a thread can be without it.
 */
#ifndef SL_LIVE_SLICE_KEEP_H
#define SL_LIVE_SLICE_KEEP_H

#include <sys/types.h>

#include "live/text.h"
#include "util/err.h"

struct sl_slice_keep;

/*
 * Set the slice on `pid`, the command that has not started yet. -EOPNOTSUPP when
 * the kernel keeps no slices.
 */
int sl_slice_keep_new(uint64_t ns, pid_t pid, struct sl_slice_keep **ret_keep, struct sl_err *err);
void sl_slice_keep_free(struct sl_slice_keep *keep);	/* NULL is fine */

/* The command has started: looks are timed from here. */
void sl_slice_keep_start(struct sl_slice_keep *keep);
/* Milliseconds until the next look, as poll() takes it: the smaller of it and `timeout`. */
int sl_slice_keep_timeout(const struct sl_slice_keep *keep, int timeout);
/* Look if it is time; now_ns is the time on the clock of the recording. */
void sl_slice_keep_look(struct sl_slice_keep *keep, uint64_t now_ns);

/*
 * Keys slice.asked_ns, slice.ns, slice.threads (seen with it), slice.again (times
 * it was set after the start), and slice.TID=NS@TIME for each thread it was set on:
 * it took effect then. The command itself has start_ns: before its first instruction.
 */
void sl_slice_keep_meta(const struct sl_slice_keep *keep, uint64_t start_ns,
			struct sl_kv_list *list);
/* One line of what was done, for people. Returns buf. */
char *sl_slice_keep_note(const struct sl_slice_keep *keep, uint64_t start_ns, char *buf, size_t size);

#endif
