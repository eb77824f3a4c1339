/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The engine's part that hands decisions on: events of the scheduler's own state
 * (snapshots) and of its decisions as the kernel tells them go to the task and the
 * CPU that they are about; see sched/decision.h and sched/told.h.
 */
#ifndef SL_WAIT_DECISIONS_H
#define SL_WAIT_DECISIONS_H

#include <errno.h>

#include "sched/told.h"
#include "wait/engine.h"

/* An event of the group DECISION, recorded on c. */
void sl_decisions_apply(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev);

/* Only while e->has_snapshots: c recorded that t, about to be queued on wake_cpu, was woken. */
void sl_decisions_queued(struct sl_engine *e, struct sl_cpu *c, struct sl_task *t, uint64_t now_ns);
/* c switched to next, before its wait closes. */
void sl_decisions_arrived(struct sl_engine *e, struct sl_cpu *c, struct sl_task *next, uint64_t now_ns);
/* c has switched to next; prev NULL: from the idle task. */
void sl_decisions_switched(struct sl_engine *e, struct sl_cpu *c, struct sl_task *next,
			   struct sl_task *prev, uint64_t now_ns);

/* need_resched of c's running task was seen in ev. */
void sl_resched_note(struct sl_cpu *c, struct sl_resched *r, const struct sl_event *ev);

/*
 * Where events tell when a request begins (need_resched) and when it is over (picked_again,
 * sched_switch), the flags add nothing; the bpf backend cannot always read them.
 */
static inline bool sl_has_resched_events(const struct sl_engine *e)
{
	return e->has_snapshots && e->seen[SL_EV_NEED_RESCHED];
}

static inline void sl_no_memory_if(struct sl_engine *e, int ret)
{
	if (ret)
		e->error = ret;
}

/* Any task, made when it is new; NULL: no memory, and e->error says so. */
static inline struct sl_task *sl_engine_task(struct sl_engine *e, int32_t tid)
{
	struct sl_task *t = sl_tasks_get(&e->tasks, tid);

	if (!t)
		e->error = -ENOMEM;
	return t;
}

#endif
