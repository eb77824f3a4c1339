/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * From events to waits. The engine keeps the scheduler's state (tasks, CPUs),
 * opens a wait when a task becomes runnable, and reports it when the task runs
 * or when it turns out not to be a sample.
 *
 * A wake wait opens at sched_waking (or, without one, at sched_wakeup) and closes
 * at the sched_switch to the task; a preempt wait opens when a task is switched
 * out while runnable; a fork wait opens at sched_wakeup_new. Migration while
 * queued splits a wait into pieces, it never restarts it.
 *
 * Every wakeup is counted once in `wakeups` and ends either in one sample or in
 * one of discarded[]; see schedlat-causes(7).
 */
#ifndef SL_WAIT_ENGINE_H
#define SL_WAIT_ENGINE_H

#include "sched/cpu.h"
#include "sched/task.h"

/* How a wait ended, for the consumer. The task still holds everything about the wait. */
struct sl_closing {
	struct sl_task *task;
	uint64_t end_ns;	/* it ran; or the end of what is known (see taints) */
	int run_cpu;		/* -1: it did not run */
	unsigned int taints;	/* enum sl_taint; 0: a sample */
	bool moved_unseen;	/* ran on another CPU than the one it was known to be queued on */
	bool unsure;		/* that, or a switch was missed on the CPU it was queued on */
};

struct sl_engine {
	struct sl_tasks tasks;
	struct sl_cpus cpus;
	bool want_causes;	/* account CPU time and placement, not only delays */
	uint64_t now_ns, first_ns;
	struct sl_task *woken;		/* of the latest sched_waking: sched_wakeup mostly follows it */
	uint64_t gap_end_ns;	/* end of the latest gap of any CPU; 0: none */
	bool some_cpus;		/* only those in `recorded` were recorded */
	struct sl_cpumask recorded;
	bool whole_waits;	/* of each wait its own CPU is recorded whole, other CPUs are not: record -T */
	struct sl_gap *gaps;	/* the first SL_GAPS_MAX; NULL: none */
	unsigned int nr_gaps;
	bool has_snapshots;		/* of the fair class: see sched/decision.h */
	bool seen[SL_EV_NR];		/* kinds that occurred */
	uint64_t events;
	uint64_t wakeups;
	uint64_t discarded[SL_DISCARD_NR];
	uint64_t other_discarded[SL_WAIT_NR];	/* preempt and fork waits that are no samples */
	uint64_t switch_mismatches;		/* prev of a switch is not who ran there */
	int error;				/* -ENOMEM: stop */

	/* A wake, preempt or fork wait has ended. Called with CPU time accounted up to end_ns. */
	void (*on_closed)(void *arg, const struct sl_closing *closing);
	/* Metadata events. */
	void (*on_meta)(void *arg, const struct sl_event *event);
	void *arg;
};

int sl_engine_init(struct sl_engine *e, bool want_causes);	/* 0 or -ENOMEM */
void sl_engine_release(struct sl_engine *e);

/* Apply a batch in time order. 0 or -ENOMEM. */
int sl_engine_apply(struct sl_engine *e, const struct sl_event *events, unsigned int nr);

/* The recording has ended: close what is open, at the last event's time. */
void sl_engine_finish(struct sl_engine *e);

/*
 * When a wait began: sched_waking or, from the queue on, sched_wakeup; for
 * preempt and fork waits the instant it was queued.
 */
static inline uint64_t sl_wait_start(const struct sl_task *t, bool from_wakeup)
{
	if (t->wait_kind != SL_WAIT_WAKE || t->waking_ns == SL_TIME_NONE)
		return t->queued_ns;
	return from_wakeup && t->queued_ns != SL_TIME_NONE ? t->queued_ns : t->waking_ns;
}

#endif
