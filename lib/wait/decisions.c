// SPDX-License-Identifier: LGPL-2.1-only
#include "wait/decisions.h"

static uint32_t occupant_of(const struct sl_engine *e, int cpu)
{
	const struct sl_cpu *c = cpu >= 0 ? e->cpus.at[cpu] : NULL;

	return c && c->curr ? c->curr->index : UINT32_MAX;
}

/* The CPU that a field names, known from now on; NULL: there is no such CPU, or no memory. */
static struct sl_cpu *cpu_named(struct sl_engine *e, int32_t cpu, uint64_t now_ns)
{
	return cpu >= 0 && cpu < SL_CPU_MAX ? sl_cpus_get(&e->cpus, (unsigned int)cpu, now_ns) : NULL;
}

void sl_decisions_queued(struct sl_engine *e, struct sl_cpu *c, struct sl_task *t, uint64_t now_ns)
{
	sl_no_memory_if(e, sl_decision_wakeup(c->fair, t, occupant_of(e, t->wake_cpu), now_ns));
	sl_told_queued(t, now_ns);
}

void sl_decisions_arrived(struct sl_engine *e, struct sl_cpu *c, struct sl_task *next, uint64_t now_ns)
{
	if (!sl_told_arrived(c->fair, next))
		sl_no_memory_if(e, sl_decision_arrived(c->fair, next, now_ns));
}

void sl_decisions_switched(struct sl_engine *e, struct sl_cpu *c, struct sl_task *next,
			   struct sl_task *prev, uint64_t now_ns)
{
	int ret = sl_told_is_pick_of(c->fair, next) ?
			  sl_told_switched(c->fair, next, prev, c->oldest_queued_ns, now_ns) :
			  sl_decision_made(c->fair, SL_DECISION_PICK, next->index, prev,
					   c->oldest_queued_ns, now_ns);

	sl_no_memory_if(e, ret);
}

static void on_snapshot(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev)
{
	e->has_snapshots = true;
	sl_no_memory_if(e, ev->kind == SL_EV_QUEUE ? sl_snapshot_queue(&c->fair, ev)
						   : sl_snapshot_entity(&c->fair, ev));
}

/* What was asked of the running task has been done: it was picked again. */
static void request_is_over(struct sl_cpu *c)
{
	c->lazy.ns = c->hard.ns = SL_TIME_NONE;
	c->asked = false;
}

/* The scheduler, or the tick, looked at the running task and let it go on. */
static void on_kept_running(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev)
{
	enum sl_decision_kind kind = SL_DECISION_TICK;

	if (ev->kind == SL_EV_PICKED_AGAIN) {
		kind = SL_DECISION_PICK_AGAIN;
		request_is_over(c);
	}
	if (e->has_snapshots && c->curr)
		sl_no_memory_if(e, sl_decision_made(c->fair, kind, c->curr->index, NULL,
						    c->oldest_queued_ns, ev->ts_ns));
}

void sl_resched_note(struct sl_cpu *c, struct sl_resched *r, const struct sl_event *ev)
{
	if (r->ns != SL_TIME_NONE || !c->curr || c->task_slot == SL_SLOT_IDLE)
		return;
	sl_cpu_advance(c, ev->ts_ns);
	r->ns = ev->ts_ns;
	r->irq_ns = c->sums[SL_SLOT_IRQ] + c->sums[SL_SLOT_SOFTIRQ];
	r->kind = ev->kind;
	c->asked = true;
}

/* c's running task is asked to stop. f: the snapshots of the CPU that recorded it; NULL: none. */
static void ask_to_stop(struct sl_engine *e, struct sl_cpu *c, struct sl_cpu_fair *f, bool lazily,
			const struct sl_event *ev)
{
	sl_resched_note(c, lazily ? &c->lazy : &c->hard, ev);
	if (e->has_snapshots && c->curr)
		sl_no_memory_if(e, sl_decision_stop(&c->fair, f, lazily, c->curr->index, ev,
						    c->oldest_queued_ns));
}

static void on_need_resched(struct sl_engine *e, const struct sl_event *ev)
{
	const struct sl_ev_need_resched *n = &ev->need_resched;
	struct sl_cpu *c = cpu_named(e, n->cpu, ev->ts_ns);

	if (!c)
		return;
	/* __resched_curr() says nothing of a request that is pending: an older one is over. */
	c->hard.ns = SL_TIME_NONE;
	if (n->tif)
		c->lazy.ns = SL_TIME_NONE;
	ask_to_stop(e, c, e->cpus.at[ev->cpu]->fair, n->tif != 0, ev);
}

/* The fair class says it also when a request is pending, which then goes on. */
static void on_resched_fair(struct sl_engine *e, const struct sl_event *ev)
{
	const struct sl_ev_resched_fair *r = &ev->resched_fair;
	struct sl_cpu *c = cpu_named(e, r->cpu, ev->ts_ns);

	if (!c || (r->pending && (r->lazy || c->hard.ns != SL_TIME_NONE)))
		return;
	if (!r->pending)
		c->lazy.ns = c->hard.ns = SL_TIME_NONE;
	ask_to_stop(e, c, NULL, r->lazy, ev);
}

static void on_pick(struct sl_engine *e, const struct sl_event *ev)
{
	struct sl_cpu *c = cpu_named(e, ev->pick.cpu, ev->ts_ns);
	struct sl_task *t = sl_engine_task(e, ev->pick.pid);

	if (!c || !t)
		return;
	sl_no_memory_if(e, sl_told_pick(&c->fair, t, c->curr, ev, c->oldest_queued_ns));
	if (c->curr == t)
		request_is_over(c);
}

/* Events about a task on its way to a queue, or on its way off it. */
static void on_task_told(struct sl_engine *e, const struct sl_event *ev, int32_t pid)
{
	struct sl_task *t = pid > 0 ? sl_engine_task(e, pid) : NULL;
	const struct sl_cpu *c;
	int ret = 0;

	if (!t)
		return;
	switch ((enum sl_ev_kind)ev->kind) {
	case SL_EV_SELECT:
		ret = sl_told_select(t, ev);
		break;
	case SL_EV_PLACE:
		c = cpu_named(e, ev->place.cpu, ev->ts_ns);
		ret = sl_told_place(c ? c->fair : NULL, t, ev);
		break;
	case SL_EV_WAKEUP_PREEMPT:
		c = cpu_named(e, ev->wakeup_preempt.cpu, ev->ts_ns);
		ret = sl_told_wakeup_preempt(t, c ? c->curr : NULL, ev);
		break;
	case SL_EV_ENERGY:
		ret = sl_told_energy(t, ev);
		break;
	case SL_EV_ENERGY_CHOICE:
		ret = sl_told_energy_choice(t, ev);
		break;
	case SL_EV_LAG_DECAY:
		ret = sl_told_lag_decay(t, ev);
		break;
	case SL_EV_MIN_SLICE:
		ret = sl_told_min_slice(t, ev);
		break;
	case SL_EV_PUSH:
		if (t->state == SL_TASK_QUEUED)
			ret = sl_told_push(t, ev);
		break;
	default:
		break;
	}
	sl_no_memory_if(e, ret);
}

void sl_decisions_apply(struct sl_engine *e, struct sl_cpu *c, const struct sl_event *ev)
{
	if (!e->want_causes)
		return;
	switch ((enum sl_ev_kind)ev->kind) {
	case SL_EV_QUEUE:
	case SL_EV_ENTITY:
		on_snapshot(e, c, ev);
		return;
	case SL_EV_PICKED_AGAIN:
	case SL_EV_TICK:
		on_kept_running(e, c, ev);
		return;
	case SL_EV_NEED_RESCHED:
		on_need_resched(e, ev);
		return;
	default:
		break;
	}
	e->has_snapshots = true;
	switch ((enum sl_ev_kind)ev->kind) {
	case SL_EV_SELECT:
		on_task_told(e, ev, ev->select.pid);
		break;
	case SL_EV_PLACE:
		on_task_told(e, ev, ev->place.pid);
		break;
	case SL_EV_WAKEUP_PREEMPT:
		on_task_told(e, ev, ev->wakeup_preempt.pid);
		break;
	case SL_EV_ENERGY:
		on_task_told(e, ev, ev->energy.pid);
		break;
	case SL_EV_ENERGY_CHOICE:
		on_task_told(e, ev, ev->energy_choice.pid);
		break;
	case SL_EV_LAG_DECAY:
		on_task_told(e, ev, ev->lag_decay.pid);
		break;
	case SL_EV_MIN_SLICE:
		on_task_told(e, ev, ev->min_slice.pid);
		break;
	case SL_EV_PUSH:
		on_task_told(e, ev, ev->push.pid);
		break;
	case SL_EV_PICK:
		on_pick(e, ev);
		break;
	case SL_EV_RESCHED_FAIR:
		on_resched_fair(e, ev);
		break;
	case SL_EV_THROTTLE:
		c = cpu_named(e, ev->throttle.cpu, ev->ts_ns);
		if (c)
			sl_no_memory_if(e, sl_told_throttle(&c->fair, ev));
		break;
	case SL_EV_UNTHROTTLE:
		c = cpu_named(e, ev->unthrottle.cpu, ev->ts_ns);
		if (c)
			sl_told_unthrottle(c->fair, ev);
		break;
	default:
		break;
	}
}
