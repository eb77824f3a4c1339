// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Was the task sent to the wrong CPU? The evidence is taken when it is queued:
 * which CPUs were free then (sched/cpu.h says what free means). What they did
 * during the wait says how much of it was avoidable. Where the kernel tells why it
 * chose the CPU (event/told.h), its word goes before what the CPUs looked like.
 */
#include "why/explain.h"

#include "event/told.h"

/* What the kernel told of its choice for this wait; NULL: nothing. */
static const struct sl_ev_select *told_selection(const struct sl_task *t)
{
	const struct sl_task_fair *tf = t->fair;

	return tf && t->wait_kind != SL_WAIT_PREEMPT && t->queued_ns != SL_TIME_NONE &&
	       tf->select.pid == t->tid ? &tf->select : NULL;
}

static const struct sl_told_energy *told_energy(const struct sl_task *t)
{
	const struct sl_task_fair *tf = t->fair;

	return tf && t->wait_kind != SL_WAIT_PREEMPT && t->queued_ns != SL_TIME_NONE &&
	       tf->energy.chosen_ns ? &tf->energy : NULL;
}

/*
 * The same where it decided: what select_task_rq_fair() returns is overruled when the task may not
 * run there (select_task_rq(), 7.3).
 */
static const struct sl_ev_select *deciding_selection(const struct sl_task *t)
{
	const struct sl_ev_select *s = told_selection(t);

	return s && s->cpu == t->wake_cpu ? s : NULL;
}

static const struct sl_ev_min_slice *told_slices(const struct sl_task *t)
{
	const struct sl_task_fair *tf = t->fair;

	return tf && t->wait_kind != SL_WAIT_PREEMPT && t->queued_ns != SL_TIME_NONE &&
	       tf->slices.pid == t->tid ? &tf->slices : NULL;
}

bool sl_placed_by_slice(const struct sl_task *t)
{
	const struct sl_ev_min_slice *m = told_slices(t);

	return m && m->cpu == t->wake_cpu && m->other_cpu >= 0 && m->min_slice < m->other_min_slice &&
	       m->other_min_slice != UINT64_MAX && m->slice < m->other_min_slice;
}

static bool by_energy(const struct sl_task *t, const struct sl_ev_select *s)
{
	const struct sl_told_energy *en = told_energy(t);

	return s ? s->path == SL_PATH_ENERGY : en && en->choice.cpu == t->wake_cpu;
}

/* Does what the kernel says of its choice settle that it passed over this CPU, which was free? */
static bool passed_over(const struct sl_why_context *ctx, const struct sl_ev_select *s, int cpu)
{
	enum sl_cpu_relation relation;

	switch (s->why) {
	case SL_SELECT_CURRENT_CPU:	/* no other CPU is looked at */
	case SL_SELECT_PER_CPU_KTHREAD:
	case SL_SELECT_ENERGY:		/* costs are compared, whatever is idle */
		return true;
	case SL_SELECT_SCAN_LIMIT:	/* only CPUs that share the LLC would have been looked at */
		relation = ctx->topology ? sl_topology_relation(ctx->topology, s->target_cpu, cpu) : SL_CPUS_UNKNOWN;
		return relation == SL_CPUS_SMT || relation == SL_CPUS_CLUSTER || relation == SL_CPUS_LLC;
	default:
		return false;
	}
}

static void note(struct sl_explained *r, enum sl_cause cause, bool exact)
{
	r->place_causes |= sl_place_bit(cause);
	if (exact)
		r->place_exact |= sl_place_bit(cause);
}

/* The CPU that was free for longest while the task waited; of two the one it came from. */
static void note_free(const struct sl_engine *e, const struct sl_closing *closing, int prev_cpu,
		      struct sl_explained *r)
{
	const struct sl_task *t = closing->task;
	unsigned int i;

	for (i = 0; i < t->nr_idle; i++) {
		const struct sl_cpu *c = e->cpus.at[t->idle[i].cpu];
		uint64_t free_ns = sl_cpu_free_ns(c, closing->end_ns) - t->idle[i].free_ns;

		if (!t->idle[i].allowed) {
			r->forbidden_ns = free_ns;
			r->forbidden_cpu = t->idle[i].cpu;
		} else if (free_ns > r->avoidable_ns || (free_ns == r->avoidable_ns && free_ns &&
							 t->idle[i].cpu == prev_cpu)) {
			r->avoidable_ns = free_ns;
			r->avoidable_cpu = t->idle[i].cpu;
		}
	}
}

/* Was it pulled to the waker's CPU? The kernel's word settles it, both ways. */
static void note_pull(const struct sl_task *t, const struct sl_ev_select *s, struct sl_explained *r)
{
	int prev_cpu = s ? s->prev_cpu : t->prev_cpu;
	bool pulled;

	if (t->wait_kind != SL_WAIT_WAKE)
		return;
	if (s)
		pulled = s->affine == 1 && s->cpu == s->target_cpu && s->cpu != prev_cpu;
	else
		pulled = t->waker_cpu >= 0 && prev_cpu >= 0 && t->wake_cpu == t->waker_cpu &&
			 prev_cpu != t->waker_cpu;
	if (!pulled)
		return;
	note(r, SL_CAUSE_WAKE_AFFINE, s);
	r->pull_hurt = r->avoidable_cpu == prev_cpu;
}

/*
 * Attempts to put it right. That there was none is told by silence, so only where the events are
 * recorded; whether there was a better CPU is what the rest of the evidence says.
 */
static void note_push(const struct sl_why_context *ctx, const struct sl_task *t, struct sl_explained *r)
{
	if (!r->avoidable_ns || (t->fair && t->fair->pushed))
		return;
	if (t->fair && t->fair->nr_pushes)
		note(r, SL_CAUSE_PUSH_FAILED, true);
	else if (ctx->has_push)
		note(r, SL_CAUSE_PUSH_MISSED, true);
}

void sl_placement_of(const struct sl_why_context *ctx, const struct sl_engine *e,
		     const struct sl_closing *closing, struct sl_explained *ret)
{
	const struct sl_task *t = closing->task;
	const struct sl_ev_select *s;

	ret->place_causes = ret->place_exact = 0;
	ret->avoidable_ns = ret->forbidden_ns = 0;
	ret->avoidable_cpu = ret->forbidden_cpu = -1;
	ret->pull_hurt = false;
	if (t->wait_kind == SL_WAIT_PREEMPT || !(t->flags & SL_TASK_TARGET_BUSY))
		return;
	s = deciding_selection(t);
	note_free(e, closing, s ? s->prev_cpu : t->prev_cpu, ret);
	if (ret->avoidable_ns) {
		note(ret, SL_CAUSE_IDLE_CPU_MISSED, s && passed_over(ctx, s, ret->avoidable_cpu));
		if (by_energy(t, s))
			note(ret, SL_CAUSE_ENERGY_CHOICE, true);
	}
	if (t->flags & SL_TASK_STACKED) {
		note(ret, SL_CAUSE_STACKED_WAKEUP, false);
		/* Where a task with a longer slice ran, those in front would not have been in front. */
		if (t->better_cpu >= 0 && ret->stacked_ns > ret->avoidable_ns) {
			ret->avoidable_ns = ret->stacked_ns;
			ret->avoidable_cpu = t->better_cpu;
		}
	}
	if (sl_placed_by_slice(t)) {
		note(ret, SL_CAUSE_MIN_SLICE_CHOICE, true);
		/* Where all slices are longer than its own it would not have been behind them. */
		if (ret->stacked_ns > ret->avoidable_ns) {
			ret->avoidable_ns = ret->stacked_ns;
			ret->avoidable_cpu = t->fair->slices.other_cpu;
		}
	}
	note_push(ctx, t, ret);
	note_pull(t, s, ret);
	if (ret->forbidden_ns && sl_task_is_pinned(t)) {
		note(ret, SL_CAUSE_AFFINITY, false);
	} else {
		ret->forbidden_ns = 0;
		ret->forbidden_cpu = -1;
	}
	if (ctx->clock_is_per_cpu)	/* the order of events of several CPUs is not exact then */
		ret->place_exact = 0;
}

enum sl_cause sl_placement_to_blame(const struct sl_explained *r)
{
	/* The most specific one first: what the kernel states it compared, then patterns. */
	static const enum sl_cause order[] = { SL_CAUSE_ENERGY_CHOICE, SL_CAUSE_MIN_SLICE_CHOICE,
					       SL_CAUSE_PUSH_FAILED, SL_CAUSE_STACKED_WAKEUP };
	unsigned int i;

	/* Affinity is never to blame: what it forbids the scheduler could not have chosen. */
	if (!r->avoidable_ns || r->avoidable_ns < r->delay_ns - r->avoidable_ns)
		return SL_CAUSE_NONE;
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (r->place_causes & sl_place_bit(order[i]))
			return order[i];
	return r->pull_hurt ? SL_CAUSE_WAKE_AFFINE : SL_CAUSE_IDLE_CPU_MISSED;
}

enum sl_confidence sl_placement_confidence(const struct sl_explained *r, unsigned int causes)
{
	if (r->taints)
		return SL_CONF_UNKNOWN;
	return causes & ~r->place_exact ? SL_CONF_DERIVED : SL_CONF_EXACT;
}

/* ---- for the eye ---- */

static void show_selection(const struct sl_task *t, struct sl_selection *w)
{
	const struct sl_ev_select *s = told_selection(t);

	w->cpu = w->target_cpu = w->affine = w->scanned = w->scan_limit = -1;
	w->told = s;
	if (!s)
		return;
	w->path = sl_select_path_name(s->path);
	w->why = sl_select_why_name(s->why);
	w->cpu = s->cpu;
	if (s->path != SL_PATH_FAST)	/* nothing was searched */
		return;
	w->target_cpu = s->target_cpu;
	w->affine = s->affine == 1;
	w->scanned = s->scanned;
	w->scan_limit = s->scan_limit;
}

static void show_energy(const struct sl_task *t, struct sl_energy *w)
{
	const struct sl_told_energy *en = told_energy(t);
	unsigned int i;

	w->cpu = w->next_cpu = w->prev_cpu = -1;
	w->cost = w->next_cost = w->prev_cost = SL_NO_COST;
	w->told = en;
	if (!en)
		return;
	w->why = sl_energy_why_name(en->choice.why);
	w->cpu = en->choice.cpu;
	w->cost = en->choice.cost;
	w->prev_cpu = en->choice.prev_cpu;
	w->prev_cost = en->choice.prev_cost;
	if (en->nr > SL_ENERGY_CANDIDATES_MAX)	/* the next best may be one that was not kept */
		return;
	for (i = 0; i < en->nr; i++)
		if (en->candidates[i].cpu != w->cpu && en->candidates[i].fits > 0 &&
		    en->candidates[i].cost < w->next_cost) {
			w->next_cpu = en->candidates[i].cpu;
			w->next_cost = en->candidates[i].cost;
		}
}

static int64_t slice_value(uint64_t ns)
{
	return ns > INT64_MAX ? SL_NO_VALUE : (int64_t)ns;
}

static void show_slices(const struct sl_task *t, struct sl_slices *w)
{
	const struct sl_ev_min_slice *m = told_slices(t);

	w->cpu = w->target_cpu = w->other_cpu = -1;
	w->slice_ns = w->min_slice_ns = w->other_min_slice_ns = SL_NO_VALUE;
	w->told = m;
	if (!m)
		return;
	w->site = sl_min_slice_site_name(m->site);
	w->target_cpu = m->target_cpu;
	w->cpu = m->cpu;
	w->other_cpu = m->other_cpu;
	w->candidates = m->candidates > 0 ? (unsigned int)m->candidates : 0;
	w->slice_ns = slice_value(m->slice);
	w->min_slice_ns = slice_value(m->min_slice);
	w->other_min_slice_ns = slice_value(m->other_min_slice);
}

static void show_push(const struct sl_why_context *ctx, const struct sl_task *t, struct sl_push *w)
{
	const struct sl_task_fair *tf = t->fair;

	w->cpu = w->dest_cpu = -1;
	if (t->wait_kind == SL_WAIT_PREEMPT)
		return;
	w->told = ctx->has_push || (tf && tf->nr_pushes);
	if (!tf || !tf->nr_pushes)
		return;
	w->tries = tf->nr_pushes;
	w->trigger = sl_push_trigger_name(tf->push.trigger);
	w->result = sl_push_result_name(tf->push.result);
	w->cpu = tf->push.cpu;
	w->dest_cpu = tf->push.dest_cpu == tf->push.cpu ? -1 : tf->push.dest_cpu;
}

void sl_placement_show(const struct sl_why_context *ctx, const struct sl_task *t,
		       const struct sl_explained *r, struct sl_wait *w)
{
	show_selection(t, &w->selection);
	show_energy(t, &w->energy);
	show_slices(t, &w->slices);
	show_push(ctx, t, &w->push);
	w->place_causes = r->place_causes;
	w->place_exact = r->taints ? 0 : r->place_exact;
	w->place_confidence = sl_placement_confidence(r, r->place_causes);
	w->avoidable_ns = r->avoidable_ns;
	w->avoidable_cpu = r->avoidable_cpu;
	w->avoidable_capacity = w->wake_capacity = -1;
	if (ctx->topology && r->avoidable_cpu >= 0) {
		w->avoidable_relation = sl_topology_relation(ctx->topology, w->wake_cpu, r->avoidable_cpu);
		w->avoidable_capacity = sl_topology_capacity(ctx->topology, r->avoidable_cpu);
		w->wake_capacity = sl_topology_capacity(ctx->topology, w->wake_cpu);
	}
	w->forbidden_ns = r->forbidden_ns;
	w->forbidden_cpu = r->forbidden_cpu;
}
