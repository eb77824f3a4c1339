/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * How a wait opens, moves and closes; private to this room. What happens at every
 * wakeup and switch is inline, the rest is in queue.c.
 *
 * Without causes (want_causes false) only times matter: CPUs are not accounted and
 * queues not counted.
 */
#ifndef SL_WAIT_QUEUE_H
#define SL_WAIT_QUEUE_H

#include "wait/engine.h"

#define SL_LIKELY(x) __builtin_expect(!!(x), 1)
#define SL_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The task is queued on a CPU that was busy: which CPUs were free, is it stacked? */
void sl_queue_note_placement(struct sl_engine *e, struct sl_task *t, struct sl_cpu *c,
			     uint64_t now_ns);
/* Accounts and counts t on a CPU that has not been seen before, too. */
void sl_queue_on(struct sl_engine *e, struct sl_task *t, int cpu, uint64_t now_ns);
void sl_queue_off(struct sl_engine *e, struct sl_task *t, uint64_t now_ns);
/* A queued task moves: the wait goes on, its time so far stays with the old CPU. */
void sl_queue_move(struct sl_engine *e, struct sl_task *t, int cpu, uint64_t now_ns);
/* Does a gap lie between the start of the wait and now, on a CPU that matters to the task? */
bool sl_queue_touched_by_gap(const struct sl_engine *e, const struct sl_task *t);
/* A wait that is open turns out to be no sample: its task runs, wakes again or is gone. */
void sl_queue_drop(struct sl_engine *e, struct sl_task *t, enum sl_discard why, uint64_t now_ns);
/* The end of the recording finds it open. */
void sl_queue_close_at_end(struct sl_engine *e, struct sl_task *t);

static inline void sl_queue_count_discard(struct sl_engine *e, enum sl_wait_kind kind,
					  enum sl_discard why)
{
	if (kind == SL_WAIT_WAKE)
		e->discarded[why]++;
	else
		e->other_discarded[kind]++;
}

static inline void sl_queue_open(struct sl_engine *e, struct sl_task *t, enum sl_wait_kind kind,
				 int cpu, uint64_t now_ns)
{
	struct sl_cpu *c;

	t->state = SL_TASK_QUEUED;
	t->wait_kind = (uint8_t)kind;
	t->queued_ns = now_ns;
	t->cpu = (int16_t)cpu;
	if (!e->want_causes)
		return;
	t->migrations = 0;
	t->nr_pieces = 0;
	t->nr_idle = 0;
	t->flags &= (uint8_t)~(SL_TASK_STACKED | SL_TASK_TARGET_BUSY);
	if (SL_UNLIKELY(cpu < 0))
		return;
	c = e->cpus.at[cpu];
	if (SL_UNLIKELY(!c)) {
		sl_queue_on(e, t, cpu, now_ns);
		return;
	}
	c->nr_queued++;
	sl_cpu_sums_at(c, now_ns, t->since);
	if (kind == SL_WAIT_PREEMPT)
		return;
	if (c->free_since_ns == SL_TIME_NONE) {
		t->flags |= SL_TASK_TARGET_BUSY;
		if (SL_UNLIKELY(e->cpus.nr_free || t->slice_ns))
			sl_queue_note_placement(e, t, c, now_ns);
	} else {
		sl_cpu_update_free(&e->cpus, c, now_ns);
	}
	c->woken = t;
}

void sl_queue_close_slow(struct sl_engine *e, struct sl_task *t, struct sl_cpu *c, uint64_t now_ns);

/* The task, queued or waking, is switched in on CPU c at now_ns. */
static inline void sl_queue_close(struct sl_engine *e, struct sl_task *t, struct sl_cpu *c,
				  uint64_t now_ns)
{
	uint64_t start = sl_wait_start(t, false);
	struct sl_closing closing;

	if (SL_UNLIKELY(e->gap_end_ns > start || c->gap_end_ns > start || start > now_ns ||
			t->cpu != (int)c->cpu)) {
		sl_queue_close_slow(e, t, c, now_ns);
		return;
	}
	closing.task = t;
	closing.end_ns = now_ns;
	closing.run_cpu = c->cpu;
	closing.taints = 0;
	closing.moved_unseen = false;
	closing.unsure = c->unsure_ns > start;
	e->on_closed(e->arg, &closing);
	if (t->state == SL_TASK_QUEUED && c->nr_queued)
		c->nr_queued--;		/* the caller tells c who runs there now */
}

#endif
