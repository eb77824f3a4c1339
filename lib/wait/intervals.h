/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the CPUs of a waiting task did, stretch by stretch, read back from their
 * histories. Raw facts; why/ turns them into causes.
 */
#ifndef SL_WAIT_INTERVALS_H
#define SL_WAIT_INTERVALS_H

#include "wait/engine.h"

struct sl_interval {
	uint64_t start_ns, end_ns;
	uint64_t change_ns;		/* the event that began it (may lie before start_ns) */
	const struct sl_task *occupant;	/* NULL: not known */
	int cpu;			/* -1: not known where it was queued */
	uint8_t slot;			/* enum sl_slot */
	uint8_t kind;			/* enum sl_ev_kind of that event */
	bool ran_at_queueing;		/* the occupant ran already when the task was queued here */
	bool before_cpu_known;		/* lies before the CPU's first event */
	bool doubtful;			/* a switch was missed meanwhile */
	bool summed;			/* older than the history: only the length is known */
};

/* 0 to go on; anything else ends the reading and is returned. */
typedef int (*sl_interval_fn)(void *arg, const struct sl_interval *interval);

/*
 * The queued part of a wait (from when the task was queued, or from waking_ns if
 * that is all there is, to closing->end_ns), in order and without holes. 0, or what
 * f returned. Valid while the wait closes.
 */
int sl_intervals_each(const struct sl_engine *e, const struct sl_closing *closing,
		      sl_interval_fn f, void *arg);

/*
 * The same as sums per slot, at a fixed cost. False when only the intervals can
 * tell (the task's place was not known all the time). Valid while the wait closes.
 */
static inline bool sl_interval_sums(const struct sl_engine *e, const struct sl_closing *closing,
				    uint64_t ret_ns[SL_SLOT_NR])
{
	const struct sl_task *t = closing->task;
	const struct sl_cpu *c;
	unsigned int i;

	if (t->cpu < 0 || t->queued_ns == SL_TIME_NONE || closing->moved_unseen)
		return false;
	c = e->cpus.at[t->cpu];
	for (i = 0; i < SL_SLOT_NR; i++)
		ret_ns[i] = c->sums[i] - t->since[i];
	ret_ns[c->slot] += sl_since(closing->end_ns, c->last_ns);
	for (i = 0; t->nr_pieces && i < SL_SLOT_NR; i++)
		ret_ns[i] += t->moved[i];
	return true;
}

#endif
