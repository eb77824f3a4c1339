/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Decisions as the kernel itself tells them: the events of the patch series
 * kernel-patches/tracepoints (on a flat fair runqueue, so one level). They end up where
 * snapshots do (sched/decision.h), with the kernel's word for the reason in
 * sl_level.why.
 *
 * On its way to a queue a woken task is told in this order: select (which CPU), place
 * (where on the queue), wakeup_preempt (against the running task), then sched_wakeup
 * queues it; a new task is queued by sched_wakeup_new before the last of them. A pick is
 * told before its sched_switch; without one the running task was picked again.
 */
#ifndef SL_SCHED_TOLD_H
#define SL_SCHED_TOLD_H

#include "event/told.h"
#include "sched/decision.h"

/* Those that return int return 0 or -ENOMEM. t: the task that the event is about. */
int sl_told_select(struct sl_task *t, const struct sl_event *ev);
/* f: of the event's CPU field, whose groups without bandwidth it has; NULL is fine. */
int sl_told_place(const struct sl_cpu_fair *f, struct sl_task *t, const struct sl_event *ev);
/* curr: the task that runs there; NULL: not known. */
int sl_told_wakeup_preempt(struct sl_task *t, const struct sl_task *curr, const struct sl_event *ev);
/* Energy-aware scheduling looks at a CPU for t, and what it chose. */
int sl_told_energy(struct sl_task *t, const struct sl_event *ev);
int sl_told_energy_choice(struct sl_task *t, const struct sl_event *ev);
/* Slices were compared to choose a CPU for t; what became of its lag while it slept. */
int sl_told_min_slice(struct sl_task *t, const struct sl_event *ev);
int sl_told_lag_decay(struct sl_task *t, const struct sl_event *ev);
/* Its CPU tried to push t, which waits there, to another one. */
int sl_told_push(struct sl_task *t, const struct sl_event *ev);
/* t was queued by a wakeup, now: what was told of it holds for this wait. */
void sl_told_queued(struct sl_task *t, uint64_t now_ns);

/* t was picked on *f's CPU, on which curr runs (NULL: not known). */
int sl_told_pick(struct sl_cpu_fair **f, struct sl_task *t, const struct sl_task *curr,
		 const struct sl_event *ev, uint64_t oldest_ns);
/* A switch to next: was its pick told? f: NULL is fine. */
static inline bool sl_told_is_pick_of(const struct sl_cpu_fair *f, const struct sl_task *next)
{
	return f && f->told.ns && f->told.level.curr.pid == next->tid;
}
/* If so next, which waited, stood where the pick says, and this is true. */
bool sl_told_arrived(const struct sl_cpu_fair *f, struct sl_task *next);
/* If so, after the switch: a decision of its own, and prev's place if it is still queued. */
int sl_told_switched(struct sl_cpu_fair *f, const struct sl_task *next, struct sl_task *prev,
		     uint64_t oldest_ns, uint64_t now_ns);

/* A group has no bandwidth left on *f's CPU, or has again. */
int sl_told_throttle(struct sl_cpu_fair **f, const struct sl_event *ev);
void sl_told_unthrottle(struct sl_cpu_fair *f, const struct sl_event *ev);

#endif
