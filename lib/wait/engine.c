// SPDX-License-Identifier: LGPL-2.1-only
#include "wait/queue.h"

#include <errno.h>
#include <stdlib.h>

#include "wait/decisions.h"

const char *sl_discard_name(enum sl_discard discard)
{
	static const char *const names[SL_DISCARD_NR] = {
		[SL_DISCARD_ALREADY_RUNNING] = "already_running",
		[SL_DISCARD_ALREADY_QUEUED] = "already_queued",
		[SL_DISCARD_IDLE_TASK] = "idle_task",
		[SL_DISCARD_NOT_SUCCESSFUL] = "not_successful",
		[SL_DISCARD_NEVER_QUEUED] = "never_queued",
		[SL_DISCARD_OPEN_AT_LOSS] = "open_at_loss",
		[SL_DISCARD_INCONSISTENT] = "inconsistent",
		[SL_DISCARD_CLOCK_SKEW] = "clock_skew",
		[SL_DISCARD_OPEN_AT_END] = "open_at_end",
		[SL_DISCARD_EXITED] = "exited",
		[SL_DISCARD_OWN_THREAD] = "own_thread",
		[SL_DISCARD_FILTERED] = "filtered",
	};

	return names[discard];
}

int sl_engine_init(struct sl_engine *e, bool want_causes)
{
	int ret;

	memset(e, 0, sizeof(*e));
	e->want_causes = want_causes;
	e->first_ns = SL_TIME_NONE;
	ret = sl_tasks_init(&e->tasks);
	if (ret)
		return ret;
	ret = sl_cpus_init(&e->cpus, &e->tasks, want_causes);
	if (ret)
		sl_tasks_release(&e->tasks);
	return ret;
}

void sl_engine_release(struct sl_engine *e)
{
	sl_cpumask_release(&e->recorded);
	sl_tasks_release(&e->tasks);
	sl_cpus_release(&e->cpus);
	free(e->gaps);
	e->gaps = NULL;
	e->nr_gaps = 0;
}

static enum sl_waker_context context_of(uint8_t ctx)
{
	if (ctx & SL_CTX_NMI)
		return SL_WAKER_NMI;
	if (ctx & SL_CTX_HARDIRQ)
		return SL_WAKER_HARDIRQ;
	return ctx & SL_CTX_SOFTIRQ ? SL_WAKER_SOFTIRQ : SL_WAKER_TASK;
}

/* sched_waking of a task that is not asleep: false when no new wait begins. */
static bool waking_not_asleep(struct sl_engine *e, struct sl_task *t, uint64_t now_ns)
{
	if (t->flags & SL_TASK_WAKING_PENDING) {
		e->discarded[SL_DISCARD_NEVER_QUEUED]++;
		t->flags &= (uint8_t)~SL_TASK_WAKING_PENDING;
	}
	switch ((enum sl_task_state)t->state) {
	case SL_TASK_WAKING:
		sl_queue_count_discard(e, SL_WAIT_WAKE,
				       sl_queue_touched_by_gap(e, t) ? SL_DISCARD_OPEN_AT_LOSS
								     : SL_DISCARD_NEVER_QUEUED);
		break;
	case SL_TASK_QUEUED:
		if (t->wait_kind != SL_WAIT_WAKE && !sl_queue_touched_by_gap(e, t)) {
			t->flags |= SL_TASK_WAKING_PENDING;
			return false;
		}
		sl_queue_drop(e, t, SL_DISCARD_INCONSISTENT, now_ns);
		t->state = SL_TASK_WAKING;
		break;
	case SL_TASK_RUNNING:
		t->flags |= SL_TASK_WAKING_PENDING;
		break;
	case SL_TASK_UNKNOWN:
	case SL_TASK_SLEEPING:
	case SL_TASK_DEAD:
		t->state = SL_TASK_WAKING;
		break;
	}
	return true;
}

/* ---- wakeups ---- */

static inline void on_waking(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev)
{
	const struct sl_ev_waking *w = &ev->waking;
	struct sl_task *t = sl_engine_task(e, w->pid);

	if (SL_UNLIKELY(!t))
		return;
	e->wakeups++;
	if (SL_UNLIKELY(w->pid == 0 || !w->success)) {
		e->discarded[w->pid == 0 ? SL_DISCARD_IDLE_TASK : SL_DISCARD_NOT_SUCCESSFUL]++;
		if (w->pid == 0)
			t->flags |= SL_TASK_WAKING_PENDING;
		return;
	}
	sl_task_set_comm(t, w->comm);
	sl_task_set_prio(t, w->prio);
	if (SL_LIKELY(t->state == SL_TASK_SLEEPING))
		t->state = SL_TASK_WAKING;
	else if (!waking_not_asleep(e, t, ev->ts_ns))
		return;
	e->woken = t;
	t->wait_kind = SL_WAIT_WAKE;
	t->waking_ns = ev->ts_ns;
	t->queued_ns = SL_TIME_NONE;
	t->waker = SL_LIKELY(c->curr_tid == ev->common_pid) ? c->curr : sl_engine_task(e, ev->common_pid);
	t->waker_cpu = (int16_t)ev->cpu;
	t->waker_context = (uint8_t)context_of(ev->ctx);
	t->prev_cpu = (int16_t)((uint32_t)w->target_cpu < SL_CPU_MAX ? w->target_cpu : -1);
	t->wake_cpu = -1;
	if (SL_UNLIKELY(e->has_snapshots))
		sl_no_memory_if(e, sl_decision_waking(c->fair, t, ev->ts_ns));
}

/* sched_wakeup of a task that no sched_waking announced: false when no wait begins. */
static bool wakeup_unannounced(struct sl_engine *e, struct sl_task *t, const struct sl_event *ev)
{
	bool pending = t->flags & SL_TASK_WAKING_PENDING;

	t->flags &= (uint8_t)~SL_TASK_WAKING_PENDING;
	if (t->tid == 0) {
		e->wakeups += !pending;
		e->discarded[SL_DISCARD_IDLE_TASK] += !pending;
		return false;
	}
	if (!ev->wakeup.success) {
		if (t->state == SL_TASK_WAKING)
			t->state = SL_TASK_SLEEPING;
		else
			e->wakeups += !pending;
		e->discarded[SL_DISCARD_NOT_SUCCESSFUL]++;
		return false;
	}
	switch ((enum sl_task_state)t->state) {
	case SL_TASK_RUNNING:
		e->wakeups += !pending;
		e->discarded[SL_DISCARD_ALREADY_RUNNING]++;
		return false;
	case SL_TASK_QUEUED:
		e->wakeups += !pending;
		if (t->wait_kind != SL_WAIT_WAKE && !sl_queue_touched_by_gap(e, t)) {
			e->discarded[SL_DISCARD_ALREADY_QUEUED]++;
			return false;
		}
		sl_queue_drop(e, t, SL_DISCARD_INCONSISTENT, ev->ts_ns);
		break;
	case SL_TASK_WAKING:
		return true;
	case SL_TASK_UNKNOWN:
	case SL_TASK_SLEEPING:
	case SL_TASK_DEAD:
		if (pending)	/* it left its CPU between the two without our seeing it */
			return true;
		e->wakeups++;
		break;
	}
	t->waking_ns = SL_TIME_NONE;
	t->waker = NULL;
	t->waker_cpu = t->prev_cpu = t->wake_cpu = -1;
	t->waker_context = SL_WAKER_UNKNOWN;
	return true;
}

static inline void on_wakeup(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev)
{
	const struct sl_ev_wakeup *w = &ev->wakeup;
	struct sl_task *t = e->woken;

	if (!t || t->tid != w->pid)
		t = sl_engine_task(e, w->pid);
	if (SL_UNLIKELY(!t))
		return;
	if (SL_UNLIKELY(t->state != SL_TASK_WAKING || !w->success) && !wakeup_unannounced(e, t, ev))
		return;
	sl_task_set_comm(t, w->comm);
	sl_task_set_prio(t, w->prio);
	if (SL_LIKELY((uint32_t)w->target_cpu < SL_CPU_MAX))
		t->wake_cpu = (int16_t)w->target_cpu;
	if (SL_UNLIKELY(e->has_snapshots))	/* before it is queued: placement looks at its slice */
		sl_decisions_queued(e, c, t, ev->ts_ns);
	sl_queue_open(e, t, SL_WAIT_WAKE, t->wake_cpu, ev->ts_ns);
}

static void forget_task(struct sl_engine *e, struct sl_task *t, uint64_t now_ns)
{
	if (t->flags & SL_TASK_WAKING_PENDING)
		e->discarded[SL_DISCARD_NEVER_QUEUED]++;
	if (t->state == SL_TASK_QUEUED)
		sl_queue_drop(e, t, SL_DISCARD_EXITED, now_ns);
	else if (t->state == SL_TASK_WAKING)
		sl_queue_count_discard(e, SL_WAIT_WAKE, SL_DISCARD_EXITED);
	t->flags &= (uint8_t)~SL_TASK_WAKING_PENDING;
	t->state = SL_TASK_DEAD;
}

/*
 * A task is born. task_newtask and sched_process_fork both tell it, in either
 * order; the second one only adds what it knows. What the child inherits from
 * its parent is copied; what the metadata says about this tid wins.
 */
static struct sl_task *on_birth(struct sl_engine *e, struct sl_task *parent, int32_t tid,
				const char comm[SL_COMM_LEN], uint64_t now_ns)
{
	struct sl_task *old = sl_tasks_find(&e->tasks, tid), *t = old;
	unsigned int i;

	if (tid <= 0)
		return NULL;
	if (old && old->flags & SL_TASK_FRESH)
		return old;
	if (old)
		forget_task(e, old, now_ns);
	t = sl_tasks_create(&e->tasks, tid);
	if (!t) {
		e->error = -ENOMEM;
		return NULL;
	}
	e->woken = NULL;
	t->flags |= SL_TASK_FRESH;
	sl_task_set_comm(t, comm);
	if (old && old->flags & SL_TASK_AT_END) {
		/* The metadata, read at the end of the recording, speaks of this one. */
		t->flags |= old->flags & (SL_TASK_OWN | SL_TASK_MASK_VALID | SL_TASK_AT_END);
		t->tgid = old->tgid;
		t->policy = old->policy;
		t->slice_ns = old->slice_ns;
		t->cgroup = old->cgroup;
	} else if (parent) {
		t->flags |= parent->flags & SL_TASK_MASK_VALID;
		t->policy = parent->policy;
		t->slice_ns = parent->slice_ns;
		t->cgroup = parent->cgroup;
		old = parent;
	} else {
		return t;
	}
	for (i = 0; i < old->allowed.nr_words * 64; i++)
		if (sl_cpumask_test(&old->allowed, i))
			sl_cpumask_set(&t->allowed, i);
	if (parent)
		t->flags |= parent->flags & SL_TASK_TARGET;
	return t;
}

static void on_newtask(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev)
{
	const uint64_t clone_thread = 0x10000;	/* CLONE_THREAD */
	struct sl_task *parent = c->curr && c->curr->tid == ev->common_pid
					 ? c->curr : sl_engine_task(e, ev->common_pid);
	struct sl_task *t = on_birth(e, parent, ev->newtask.pid, ev->newtask.comm, ev->ts_ns);

	if (t && t->tgid < 0) {
		if (!(ev->newtask.clone_flags & clone_thread))
			t->tgid = t->tid;
		else if (parent)
			t->tgid = parent->tgid;
		sl_task_identity_changed(t);
	}
}

static void on_wakeup_new(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev)
{
	const struct sl_ev_wakeup_new *w = &ev->wakeup_new;
	struct sl_task *t = sl_engine_task(e, w->pid);

	if (!t || w->pid == 0)
		return;
	sl_task_set_comm(t, w->comm);
	sl_task_set_prio(t, w->prio);
	t->flags &= (uint8_t)~SL_TASK_FRESH;
	if (t->state == SL_TASK_QUEUED)
		sl_queue_drop(e, t, SL_DISCARD_INCONSISTENT, ev->ts_ns);
	else if (t->state == SL_TASK_WAKING)
		sl_queue_count_discard(e, SL_WAIT_WAKE, SL_DISCARD_INCONSISTENT);
	t->waking_ns = SL_TIME_NONE;
	t->waker = NULL;
	t->waker_cpu = t->prev_cpu = -1;
	t->waker_context = SL_WAKER_UNKNOWN;
	t->wake_cpu = (int16_t)(w->target_cpu >= 0 && w->target_cpu < SL_CPU_MAX ? w->target_cpu : -1);
	if (e->has_snapshots)
		sl_decisions_queued(e, c, t, ev->ts_ns);
	sl_queue_open(e, t, SL_WAIT_FORK, t->wake_cpu, ev->ts_ns);
}

static void on_migrate(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev)
{
	const struct sl_ev_migrate *m = &ev->migrate;
	struct sl_task *t;

	if (m->pid == 0 || m->dest_cpu < 0 || m->dest_cpu >= SL_CPU_MAX)
		return;
	t = sl_engine_task(e, m->pid);
	if (!t)
		return;
	if (t->state == SL_TASK_QUEUED) {
		if (e->has_snapshots)
			sl_no_memory_if(e, sl_decision_moved(c->fair, t, ev->ts_ns));
		sl_queue_move(e, t, m->dest_cpu, ev->ts_ns);
	} else if (t->state == SL_TASK_WAKING || t->flags & SL_TASK_WAKING_PENDING)
		t->wake_cpu = (int16_t)m->dest_cpu;
}

/*
 * The first thing seen of a CPU tells who has been running there: prev of a
 * switch, or the task in whose context the event was recorded. That holds back
 * to when the CPU was last looked at, not further.
 */
static void meet_cpu(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev)
{
	bool first = c->first_ns == SL_TIME_NONE;
	struct sl_task *t;

	if (ev->kind >= SL_EV_META && ev->kind != SL_EV_LOST)
		return;
	if (first)
		c->first_ns = ev->ts_ns;
	t = sl_engine_task(e, ev->kind == SL_EV_SWITCH ? ev->switched.prev_pid : ev->common_pid);
	if (!t)
		return;
	c->curr = t;
	c->curr_tid = t->tid;
	if (ev->kind == SL_EV_SWITCH) {
		sl_task_set_comm(t, ev->switched.prev_comm);
		sl_task_set_prio(t, ev->switched.prev_prio);
	}
	if (t->state == SL_TASK_WAKING) {
		/* It was running all along: the wakeup is one of a running task. */
		t->state = SL_TASK_RUNNING;
		t->flags |= SL_TASK_WAKING_PENDING;
	} else if (t->state == SL_TASK_QUEUED) {
		/* Later on: the switch to it was missed, and with it the end of its wait. */
		sl_queue_drop(e, t, first && t->wait_kind == SL_WAIT_WAKE ? SL_DISCARD_ALREADY_RUNNING
									  : SL_DISCARD_INCONSISTENT,
			      ev->ts_ns);
	}
	if (t->tid)
		t->state = SL_TASK_RUNNING;
	t->cpu = (int16_t)c->cpu;
	sl_task_saw_cpu(t, c->cpu);
	c->task_slot = (uint8_t)sl_slot_of_class((enum sl_class)t->sched_class);
	c->curr_since_ns = sl_cpu_advance_to_read(c);
	sl_cpu_change(&e->cpus, c, c->last_ns, (enum sl_slot)c->task_slot, (enum sl_ev_kind)ev->kind);
	sl_cpu_update_free(&e->cpus, c, ev->ts_ns);
}

/* The class of a task that ran since the CPU was met is only told when it leaves. */
static void learn_class(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev)
{
	sl_task_set_prio(c->curr, ev->switched.prev_prio);
	c->task_slot = (uint8_t)sl_slot_of_class((enum sl_class)c->curr->sched_class);
	if (c->slot == SL_SLOT_LOST && !c->irq_depth && !c->softirq_depth)
		sl_cpu_change(&e->cpus, c, sl_cpu_advance_to_read(c), (enum sl_slot)c->task_slot, SL_EV_SWITCH);
}

static inline void leave_cpu(struct sl_engine *e, struct sl_cpu *c, struct sl_task *t,
			     const struct sl_event *ev)
{
	const struct sl_ev_switched *s = &ev->switched;

	if (SL_UNLIKELY(t->state != SL_TASK_RUNNING)) {
		if (t->state == SL_TASK_QUEUED)
			sl_queue_drop(e, t, SL_DISCARD_INCONSISTENT, ev->ts_ns);
		else if (t->state == SL_TASK_WAKING)
			t->flags |= SL_TASK_WAKING_PENDING;
	}
	if (s->prev_state == 'R') {
		sl_queue_open(e, t, SL_WAIT_PREEMPT, c->cpu, ev->ts_ns);
		return;
	}
	if (SL_UNLIKELY(t->flags & SL_TASK_WAKING_PENDING)) {
		/* Woken while it was on its way out: the wakeup completes once it is off the CPU. */
		t->flags &= (uint8_t)~SL_TASK_WAKING_PENDING;
		t->state = SL_TASK_WAKING;
		t->wait_kind = SL_WAIT_WAKE;
		t->queued_ns = SL_TIME_NONE;
		return;
	}
	t->state = s->prev_state == 'X' || s->prev_state == 'Z' ? SL_TASK_DEAD : SL_TASK_SLEEPING;
}

/*
 * Another task runs on c than the last switch said, and no gap explains it. Delays
 * stay right, they need only the switch to the waiting task; what we say of the
 * CPU since its last change does not.
 */
static void missed_switch(struct sl_engine *e, struct sl_cpu *c, uint64_t now_ns)
{
	struct sl_task *t = c->curr;

	e->switch_mismatches++;
	if (t && t->state == SL_TASK_RUNNING && t->cpu == (int)c->cpu)
		t->state = SL_TASK_UNKNOWN;
	c->curr = NULL;
	c->curr_tid = SL_CPU_NOBODY;
	c->task_slot = SL_SLOT_LOST;
	c->lazy.ns = c->hard.ns = SL_TIME_NONE;
	if (e->want_causes) {
		sl_cpu_doubt(c);
		sl_cpu_change(&e->cpus, c, sl_cpu_advance_to_read(c), SL_SLOT_LOST, SL_EV_LOST);
	}
	c->unsure_ns = now_ns;
	sl_cpu_update_free(&e->cpus, c, now_ns);
}

/* next is switched in on c without having waited, as far as we know. */
static void run_unexpectedly(struct sl_engine *e, struct sl_cpu *c, struct sl_task *next,
			     uint64_t now_ns)
{
	if (next->state == SL_TASK_WAKING) {
		next->cpu = next->wake_cpu;
		sl_queue_close(e, next, c, now_ns);
	} else if (next->state == SL_TASK_RUNNING && next->cpu != (int)c->cpu && next->cpu >= 0 &&
		   e->cpus.at[next->cpu] && e->cpus.at[next->cpu]->curr == next) {
		/* It left the other CPU without our seeing it. */
		missed_switch(e, e->cpus.at[next->cpu], now_ns);
	}
}

static inline void switch_account(struct sl_engine *e, struct sl_cpu *c, struct sl_task *next,
			   uint64_t now_ns)
{
	sl_cpu_advance(c, now_ns);
	c->curr_since_ns = now_ns;
	if (next->tid == 0)
		c->went_idle_ns = now_ns;
	c->irq_depth = c->softirq_depth = 0;	/* no interrupt handler switches tasks */
	c->lazy.ns = c->hard.ns = SL_TIME_NONE;
	c->task_slot = (uint8_t)sl_slot_of_class((enum sl_class)next->sched_class);
	sl_cpu_change(&e->cpus, c, now_ns, (enum sl_slot)c->task_slot, SL_EV_SWITCH);
	sl_cpu_update_free(&e->cpus, c, now_ns);
}

static inline void on_switch(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev)
{
	const struct sl_ev_switched *s = &ev->switched;
	struct sl_task *prev = c->curr, *next;
	uint64_t now_ns = ev->ts_ns;

	if (SL_UNLIKELY(!prev || prev->tid != s->prev_pid)) {
		if (prev)
			missed_switch(e, c, now_ns);
		prev = sl_engine_task(e, s->prev_pid);
	}
	next = sl_engine_task(e, s->next_pid);
	if (SL_UNLIKELY(!prev || !next))
		return;
	if (SL_UNLIKELY(c->task_slot == SL_SLOT_LOST && c->curr) && e->want_causes)
		learn_class(e, c, ev);
	sl_task_set_comm(next, s->next_comm);
	sl_task_set_prio(next, s->next_prio);
	if (next->tid) {
		if (SL_UNLIKELY(e->has_snapshots) && next->state == SL_TASK_QUEUED)
			sl_decisions_arrived(e, c, next, now_ns);
		if (SL_LIKELY(next->state == SL_TASK_QUEUED))
			sl_queue_close(e, next, c, now_ns);
		else
			run_unexpectedly(e, c, next, now_ns);
		next->state = SL_TASK_RUNNING;
		next->flags &= (uint8_t)~SL_TASK_FRESH;
		if (next->ran_cpu != (int)c->cpu) {
			next->ran_cpu = (int16_t)c->cpu;
			sl_task_saw_cpu(next, c->cpu);
		}
		next->cpu = (int16_t)c->cpu;
	}
	if (prev->tid && prev != next) {
		sl_task_set_comm(prev, s->prev_comm);
		sl_task_set_prio(prev, s->prev_prio);
		leave_cpu(e, c, prev, ev);
	}
	c->curr = next;
	c->curr_tid = next->tid;
	if (!e->want_causes)
		return;
	switch_account(e, c, next, now_ns);
	if (SL_UNLIKELY(e->has_snapshots))
		sl_decisions_switched(e, c, next, prev->tid ? prev : NULL, now_ns);
}

static void keep_gap(struct sl_engine *e, const struct sl_event *ev)
{
	struct sl_gap *g;

	if (!e->gaps)
		e->gaps = calloc(SL_GAPS_MAX, sizeof(*e->gaps));
	if (!e->gaps || e->nr_gaps == SL_GAPS_MAX)
		return;
	g = &e->gaps[e->nr_gaps++];
	g->cpu = ev->cpu;
	g->from_ns = ev->lost.from_ns > e->first_ns ? ev->lost.from_ns : e->first_ns;
	g->until_ns = ev->lost.until_ns;
	g->count = ev->lost.count;
}

static void on_lost(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev)
{
	uint64_t from = ev->lost.from_ns, end = ev->lost.until_ns;

	keep_gap(e, ev);

	/* What was accounted since the last known instant stays; a wait it touches is tainted anyway. */
	if (from < sl_cpu_advance_to_read(c))
		from = c->last_ns;
	if (from < e->first_ns)
		from = e->first_ns;
	sl_cpu_advance(c, from < ev->ts_ns ? from : ev->ts_ns);
	if (c->curr && c->curr->state == SL_TASK_RUNNING && c->curr->cpu == (int)c->cpu)
		c->curr->state = SL_TASK_UNKNOWN;
	c->curr = NULL;
	c->curr_tid = SL_CPU_NOBODY;
	c->irq_depth = c->softirq_depth = 0;
	c->lazy.ns = c->hard.ns = SL_TIME_NONE;
	c->task_slot = SL_SLOT_LOST;
	c->lost_open = end == SL_TIME_NONE;
	sl_cpu_change(&e->cpus, c, c->last_ns, SL_SLOT_LOST, SL_EV_LOST);
	if (!c->lost_open)
		sl_cpu_advance(c, ev->ts_ns);
	if (end > c->gap_end_ns)
		c->gap_end_ns = end;
	if (end > e->gap_end_ns)
		e->gap_end_ns = end;
	sl_cpu_update_free(&e->cpus, c, ev->ts_ns);
}

static void irq_change(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev)
{
	enum sl_slot slot = sl_cpu_slot_now(c);

	if (!e->want_causes || slot == (enum sl_slot)c->slot)
		return;
	sl_cpu_advance(c, ev->ts_ns);
	sl_cpu_change(&e->cpus, c, ev->ts_ns, slot, (enum sl_ev_kind)ev->kind);
}

/*
 * The flags of an event are those of the task that runs there.  When one is gone without a switch,
 * schedule() has cleared both (clear_tsk_need_resched(), 6.18) and picked the same task again: the
 * request is over, and one that is seen later is another.  Not for switches: the flags are cleared
 * before that event.
 */
static void note_flags(struct sl_cpu *c, const struct sl_event *ev)
{
	if (!(ev->ctx & SL_CTX_NEED_RESCHED) && c->hard.ns != SL_TIME_NONE)
		c->lazy.ns = c->hard.ns = SL_TIME_NONE;
	if (!(ev->ctx & SL_CTX_NEED_RESCHED_LAZY))
		c->lazy.ns = SL_TIME_NONE;
	c->asked = c->lazy.ns != SL_TIME_NONE || c->hard.ns != SL_TIME_NONE;
	if (ev->ctx & SL_CTX_NEED_RESCHED)
		sl_resched_note(c, &c->hard, ev);
	else if (ev->ctx & SL_CTX_NEED_RESCHED_LAZY)
		sl_resched_note(c, &c->lazy, ev);
}

/* Priority inheritance: a running task's CPU changes class with it. */
static void on_new_prio(struct sl_engine *e, struct sl_task *t, const struct sl_event *ev)
{
	struct sl_cpu *c = t->state == SL_TASK_RUNNING && t->cpu >= 0 ? e->cpus.at[t->cpu] : NULL;

	sl_task_set_prio(t, ev->pi_setprio.newprio);
	if (!c || c->curr != t)
		return;
	c->task_slot = (uint8_t)sl_slot_of_class((enum sl_class)t->sched_class);
	irq_change(e, c, ev);
}

/* A task that ends has run: whatever we believe it waits for, its switch-in was missed. */
static void give_up_waiting(struct sl_engine *e, const struct sl_event *ev)
{
	struct sl_task *t = sl_tasks_find(&e->tasks, ev->exit.pid);

	if (t && (t->state == SL_TASK_QUEUED || t->state == SL_TASK_WAKING)) {
		if (t->state == SL_TASK_QUEUED)
			sl_queue_drop(e, t, SL_DISCARD_EXITED, ev->ts_ns);
		else
			sl_queue_count_discard(e, SL_WAIT_WAKE, SL_DISCARD_EXITED);
		t->state = SL_TASK_UNKNOWN;
	}
}

/*
 * The task in whose context ev was recorded is not the one that we believe to run
 * there: the CPU is new, or a switch was missed. NULL: nothing to apply ev to.
 */
static struct sl_cpu *get_context(struct sl_engine *e, const struct sl_event *ev)
{
	struct sl_cpu *c = sl_cpus_get(&e->cpus, ev->cpu, ev->ts_ns);

	if (!c) {
		e->error = -ENOMEM;
		return NULL;
	}
	if (ev->kind == SL_EV_LOST)
		return c;
	if (ev->kind == SL_EV_EXIT)
		give_up_waiting(e, ev);
	if (ev->kind == SL_EV_SWITCH ? c->curr && c->curr_tid == ev->switched.prev_pid
				     : c->curr && c->curr_tid == ev->common_pid)
		return c;
	if (c->curr)
		missed_switch(e, c, ev->ts_ns);
	meet_cpu(e, c, ev);
	return c;
}

static inline void apply(struct sl_engine *e, const struct sl_event *ev)
{
	struct sl_cpu *c;
	struct sl_task *t;

	e->seen[ev->kind] = true;
	if (SL_UNLIKELY(ev->kind >= SL_EV_META && ev->kind != SL_EV_LOST)) {
		if (e->on_meta)
			e->on_meta(e->arg, ev);
		return;
	}
	if (SL_UNLIKELY(e->first_ns == SL_TIME_NONE))
		e->first_ns = ev->ts_ns;
	e->now_ns = ev->ts_ns;
	c = e->cpus.at[ev->cpu];
	if (SL_UNLIKELY(!c || c->curr_tid != ev->common_pid)) {
		c = get_context(e, ev);
		if (!c)
			return;
	}
	if (SL_UNLIKELY((ev->ctx & (SL_CTX_NEED_RESCHED | SL_CTX_NEED_RESCHED_LAZY)) || c->asked) &&
	    e->want_causes && ev->kind != SL_EV_SWITCH && !sl_has_resched_events(e))
		note_flags(c, ev);

	switch ((enum sl_ev_kind)ev->kind) {
	case SL_EV_SWITCH:
		on_switch(e, c, ev);
		break;
	case SL_EV_WAKING:
		on_waking(e, c, ev);
		break;
	case SL_EV_WAKEUP:
		on_wakeup(e, c, ev);
		break;
	case SL_EV_WAKEUP_NEW:
		on_wakeup_new(e, c, ev);
		break;
	case SL_EV_MIGRATE:
		on_migrate(e, c, ev);
		break;
	case SL_EV_FORK:
		on_birth(e, sl_tasks_find(&e->tasks, ev->fork.parent_pid), ev->fork.child_pid,
			 ev->fork.child_comm, ev->ts_ns);
		break;
	case SL_EV_NEWTASK:
		on_newtask(e, c, ev);
		break;
	case SL_EV_RENAME:
		t = sl_engine_task(e, ev->rename.pid);
		if (t)
			sl_task_set_comm(t, ev->rename.newcomm);
		break;
	case SL_EV_PI_SETPRIO:
		t = sl_engine_task(e, ev->pi_setprio.pid);
		if (t)
			on_new_prio(e, t, ev);
		break;
	case SL_EV_IRQ_ENTRY:
	case SL_EV_VECTOR_ENTRY:
	case SL_EV_IPI_ENTRY:
		if (c->irq_depth < UINT8_MAX)
			c->irq_depth++;
		irq_change(e, c, ev);
		break;
	case SL_EV_IRQ_EXIT:
	case SL_EV_VECTOR_EXIT:
	case SL_EV_IPI_EXIT:
		if (c->irq_depth)
			c->irq_depth--;
		irq_change(e, c, ev);
		break;
	case SL_EV_SOFTIRQ_ENTRY:
		c->softirq_depth = 1;
		irq_change(e, c, ev);
		break;
	case SL_EV_SOFTIRQ_EXIT:
		c->softirq_depth = 0;
		irq_change(e, c, ev);
		break;
	case SL_EV_LOST:
		on_lost(e, c, ev);
		break;
	case SL_EV_NEED_RESCHED:
	case SL_EV_QUEUE:
	case SL_EV_ENTITY:
	case SL_EV_PICKED_AGAIN:
	case SL_EV_TICK:
	case SL_EV_WAKEUP_PREEMPT:
	case SL_EV_PICK:
	case SL_EV_PLACE:
	case SL_EV_SELECT:
	case SL_EV_THROTTLE:
	case SL_EV_UNTHROTTLE:
	case SL_EV_ENERGY:
	case SL_EV_ENERGY_CHOICE:
	case SL_EV_RESCHED_FAIR:
	case SL_EV_LAG_DECAY:
	case SL_EV_MIN_SLICE:
	case SL_EV_PUSH:
		sl_decisions_apply(e, c, ev);
		break;
	case SL_EV_EXIT:	/* get_context() knows it; the final switch has state X or Z */
	case SL_EV_EXEC:	/* the new name comes with task_rename and the next switch */
	case SL_EV_CPU_IDLE:	/* switches to and from pid 0 bound the idle time */
	case SL_EV_META:
	case SL_EV_TASK:
	case SL_EV_WINDOW:
	case SL_EV_NR:
		break;
	}
}

int sl_engine_apply(struct sl_engine *e, const struct sl_event *events, unsigned int nr)
{
	unsigned int i;

	e->events += nr;
	for (i = 0; i < nr; i++)
		apply(e, &events[i]);
	return e->error;
}

void sl_engine_finish(struct sl_engine *e)
{
	uint32_t i;

	for (i = 0; i < e->cpus.max; i++)
		if (e->cpus.at[i])
			sl_cpu_advance(e->cpus.at[i], e->now_ns);
	for (i = 0; i < e->tasks.nr; i++) {
		struct sl_task *t = sl_tasks_at(&e->tasks, i);

		if (t->flags & SL_TASK_WAKING_PENDING && t->tid)
			e->discarded[SL_DISCARD_NEVER_QUEUED]++;
		if (t->state == SL_TASK_QUEUED || t->state == SL_TASK_WAKING)
			sl_queue_close_at_end(e, t);
	}
}
