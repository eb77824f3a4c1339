// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The order of the questions is that of the kernel (kernel/sched/fair.c, 6.18).
 *
 * check_preempt_wakeup_fair(): a pending request to stop, WAKEUP_PREEMPTION, idle
 * against normal entities, the wakee's policy, then __pick_eevdf() with the running
 * entity's protection unless the wakee's slice is shorter.
 * __pick_eevdf(): the next buddy if eligible; the running entity while it is eligible
 * and protected; else the earliest deadline among the eligible, the running one
 * included.
 *
 * A task that waits loses by the first of these that holds: it is not eligible; an
 * eligible entity has an earlier deadline; the running one is protected, or was the next
 * buddy. Those come last because they only matter to a task that would have been picked.
 */
#include "why/eevdf.h"

/* Further back than that it was not set when the entity was: a group that was moved, or the like. */
#define PROTECTION_PLAUSIBLE_NS 1000000000

bool sl_eevdf_knows(const struct sl_task *t)
{
	unsigned int i;

	for (i = 0; t->fair && i < SL_STAYS_MAX; i++)
		if (t->fair->stays[i].known)
			return true;
	return false;
}

unsigned int sl_eevdf_stay(const struct sl_task *t, uint64_t at_ns, uint64_t *ret_from_ns)
{
	unsigned int stay = t->nr_pieces ? t->nr_pieces - 1u : 0;

	while (stay && t->pieces[stay].start_ns > at_ns)
		stay--;
	*ret_from_ns = t->nr_pieces ? t->pieces[stay].start_ns : t->queued_ns;
	return stay;
}

static void start(struct sl_fair_decision *r, enum sl_decided_at at, uint64_t ns)
{
	*r = (struct sl_fair_decision){
		.at = at,
		.ns = ns,
		.below = SL_CAUSE_NONE,
		.level = -1,
		.rival_tid = -1,
		.by_ns = SL_NO_VALUE,
		.lag_ns = SL_NO_VALUE,
		.deadline_behind_ns = SL_NO_VALUE,
		.protected_ns = SL_NO_VALUE,
		.slice_ns = SL_NO_VALUE,
		.rival_slice_ns = SL_NO_VALUE,
		.overrun_ns = SL_NO_VALUE,
	};
}

static void against(struct sl_fair_decision *r, const struct sl_entity *own,
		    const struct sl_entity *rival)
{
	r->rival_tid = rival->pid;
	r->deadline_behind_ns = (int64_t)(own->deadline - rival->deadline);
	r->rival_slice_ns = rival->slice > 0 ? rival->slice : SL_NO_VALUE;
}

/* How the running task stands to the one that waits, beside its eligibility and deadline. */
enum protection {
	UNPROTECTED,		/* a pick that sets a new protection; a shorter slice breaks it */
	PROTECTED_IF_ELIGIBLE,	/* __pick_eevdf() */
	PROTECTED,		/* the tick looks at nothing else (update_curr(), 6.18) */
};

/*
 * own waits in the queue of l, whose running entity is l->curr. Which comparison kept
 * it there? ties: own loses those, as from the tree's order.
 */
static struct sl_verdict compare(const struct sl_level *l, const struct sl_entity *own,
				 enum protection protection, bool ties, struct sl_fair_decision *r)
{
	const struct sl_entity *curr = &l->curr, *best = &l->best;
	struct sl_verdict v = { SL_CAUSE_FAIR_UNDETERMINED, SL_CONF_UNKNOWN };
	bool curr_eligible = sl_eevdf_eligible(&l->queue, curr, curr->vruntime);
	int64_t protected_ns = sl_eevdf_protected(curr);

	r->lag_ns = (int64_t)(sl_eevdf_avg(&l->queue, curr) - own->vruntime);
	r->slice_ns = own->slice > 0 ? own->slice : SL_NO_VALUE;
	if (curr->flags & SL_ENTITY_VPROT && protected_ns > -PROTECTION_PLAUSIBLE_NS)
		r->protected_ns = protected_ns;
	r->curr_weight = curr->weight;
	if (l->queue.flags & SL_QUEUE_FLAT)	/* has the weights in full: nice 0 is 1 << 20 (7.3) */
		r->curr_weight = curr->weight >> 10 ? curr->weight >> 10 : 1;
	against(r, own, curr);

	if (!sl_eevdf_eligible(&l->queue, curr, own->vruntime)) {
		v.cause = SL_CAUSE_INELIGIBLE;
		v.confidence = SL_CONF_EXACT;
		r->by_ns = (int64_t)(0 - (uint64_t)r->lag_ns);
		return v;
	}
	if (best->known && best->pid != own->pid && sl_vtime_before(best->deadline, own->deadline) &&
	    sl_eevdf_eligible(&l->queue, curr, best->vruntime)) {
		/* Whoever runs, this one would have come first. */
		if (!curr_eligible || !sl_vtime_before(curr->deadline, best->deadline))
			against(r, own, best);
		v.cause = SL_CAUSE_LATER_DEADLINE;
		v.confidence = SL_CONF_EXACT;
		r->by_ns = r->deadline_behind_ns;
		return v;
	}
	if (curr_eligible && (sl_vtime_before(curr->deadline, own->deadline) ||
			      (ties && curr->deadline == own->deadline))) {
		v.cause = SL_CAUSE_LATER_DEADLINE;
		v.confidence = SL_CONF_EXACT;
		r->by_ns = r->deadline_behind_ns;
		return v;
	}
	if (protected_ns > 0 && (protection == PROTECTED ||
				 (protection == PROTECTED_IF_ELIGIBLE && curr_eligible))) {
		v.cause = SL_CAUSE_SLICE_PROTECTION;
		v.confidence = SL_CONF_EXACT;
		r->by_ns = protected_ns;
		return v;
	}
	if (l->was_buddy && curr_eligible) {	/* nothing else explains that it was picked */
		v.cause = SL_CAUSE_BUDDY;
		v.confidence = l->why >= 0 ? SL_CONF_EXACT : SL_CONF_DERIVED;
	}
	return v;
}

/* Of a comparison with `best`, which a pick would have dequeued: who had come next is not known. */
static void doubt_best(const struct sl_level *l, struct sl_verdict *v, const struct sl_fair_decision *r)
{
	if (v->cause == SL_CAUSE_LATER_DEADLINE && l->best_delayed && r->rival_tid == l->best.pid)
		v->confidence = SL_CONF_DERIVED;
}

/*
 * The kernel said why its check did not preempt, or that it did. Where its reason is a
 * comparison, that is made again: it tells by how much, and which of two rules held a task
 * that a protected one kept waiting. A contradiction is no answer.
 */
static void judge_told_wakeup(const struct sl_level *l, const struct sl_entity *own,
			      struct sl_verdict *v, struct sl_fair_decision *r)
{
	enum sl_preempt_why why = (enum sl_preempt_why)l->why;
	struct sl_verdict compared;

	compared = compare(l, own, why == SL_PREEMPT_PROTECTED ? PROTECTED_IF_ELIGIBLE : UNPROTECTED, true, r);
	doubt_best(l, &compared, r);
	v->confidence = SL_CONF_EXACT;
	switch (why) {
	case SL_PREEMPT_FEATURE:
	case SL_PREEMPT_IDLE_WAKEE:
	case SL_PREEMPT_POLICY:
	case SL_PREEMPT_FORK:
	case SL_PREEMPT_SYNC:
		v->cause = SL_CAUSE_NO_WAKEUP_PREEMPT;
		return;
	case SL_PREEMPT_THROTTLED:
		v->cause = SL_CAUSE_THROTTLED;
		return;
	case SL_PREEMPT_RESCHED:	/* it does not say which way */
		v->cause = SL_CAUSE_RESCHED_DELAYED;
		v->confidence = SL_CONF_DERIVED;
		return;
	case SL_PREEMPT_IDLE_CURR:
	case SL_PREEMPT_SYNC_RESCHED:
	case SL_PREEMPT_PICKED:
	case SL_PREEMPT_SHORT:	/* wakeup_preempt_fair() asks by resched_curr_lazy() (7.3) */
		v->cause = SL_CAUSE_LAZY_RESCHED;
		return;
	case SL_PREEMPT_BUDDY:
		v->cause = SL_CAUSE_BUDDY;
		return;
	case SL_PREEMPT_DELAYED:
		v->cause = SL_CAUSE_NO_WAKEUP_PREEMPT;
		if (compared.cause == SL_CAUSE_INELIGIBLE)
			*v = compared;
		return;
	case SL_PREEMPT_INELIGIBLE:
	case SL_PREEMPT_PROTECTED:
	case SL_PREEMPT_DEADLINE:
	case SL_PREEMPT_NR:
		break;
	}
	*v = compared;
	if ((why == SL_PREEMPT_INELIGIBLE) != (v->cause == SL_CAUSE_INELIGIBLE)) {
		v->cause = SL_CAUSE_FAIR_UNDETERMINED;
		v->confidence = SL_CONF_UNKNOWN;
	}
}

/* Of a comparison between group entities: it was the groups', whatever it says. */
static void lift(struct sl_verdict *v, struct sl_fair_decision *r)
{
	r->below = v->cause == SL_CAUSE_FAIR_UNDETERMINED ? SL_CAUSE_NONE : v->cause;
	v->cause = SL_CAUSE_GROUP_LEVEL;
	if (v->confidence == SL_CONF_UNKNOWN)
		v->confidence = SL_CONF_DERIVED;	/* that it was there is seen, not what it said */
}

bool sl_eevdf_judge_wakeup(const struct sl_why_context *ctx, const struct sl_task *t,
			   const struct sl_wakeup_check *check, struct sl_verdict *v,
			   struct sl_fair_decision *r)
{
	const struct sl_task_fair *tf = t->fair;
	const struct sl_level *l = &check->at;
	const struct sl_entity *own = &check->own, *curr = &l->curr;
	bool low_policy = tf->entities[0].flags & (SL_ENTITY_IDLE | SL_ENTITY_BATCH) ||
			  t->policy == POLICY_BATCH || t->policy == POLICY_IDLE;
	bool own_idle = own->flags & SL_ENTITY_IDLE, curr_idle = curr->flags & SL_ENTITY_IDLE;
	bool shorter = own->slice > 0 && curr->slice > 0 && own->slice < curr->slice;

	start(r, SL_DECIDED_AT_WAKEUP, check->ns);
	r->level = check->level;
	r->group = l->queue.group;
	against(r, own, curr);
	if (l->why >= 0) {
		judge_told_wakeup(l, own, v, r);
		return true;
	}
	v->cause = SL_CAUSE_NO_WAKEUP_PREEMPT;
	/* A new task's check follows sched_wakeup_new (wake_up_new_task(), 6.1 to 7.3). */
	v->confidence = t->wait_kind == SL_WAIT_FORK ? SL_CONF_DERIVED : SL_CONF_EXACT;
	if (ctx->no_wakeup_preemption)
		return true;
	if (own_idle != curr_idle)
		return own_idle;	/* the other way round it preempts */
	if (low_policy)
		return true;
	*v = compare(l, own, ctx->no_protection || (shorter && !ctx->no_preempt_short) ?
				     UNPROTECTED : PROTECTED_IF_ELIGIBLE, false, r);
	if (v->cause == SL_CAUSE_FAIR_UNDETERMINED && !ctx->asked_by_event) {
		/* It won: the running task was asked to stop, of which this kernel has no event. */
		v->cause = SL_CAUSE_RESCHED_DELAYED;
		v->confidence = SL_CONF_DERIVED;
		return true;
	}
	if (v->confidence == SL_CONF_EXACT && t->wait_kind == SL_WAIT_FORK)
		v->confidence = SL_CONF_DERIVED;
	if (curr->flags & SL_ENTITY_GROUP || own->flags & SL_ENTITY_GROUP)
		lift(v, r);
	return true;
}

/* The first queue, from t's own upwards, that the running task's hierarchy has as well. */
static const struct sl_level *common_level(const struct sl_task_fair *tf, const struct sl_cpu_fair *f,
					   const struct sl_decision *d, unsigned int *ret_own,
					   unsigned int *ret_curr)
{
	const struct sl_level *l;
	unsigned int i, j;

	for (i = 0; i < tf->nr_levels; i++)
		for (j = 0; (l = sl_decision_level(f, d, j)) != NULL; j++)
			if (tf->groups[i] && tf->groups[i] == l->queue.group) {
				*ret_own = i;
				*ret_curr = j;
				return l;
			}
	return NULL;
}

/*
 * A group that waits is reweighted, and so moved, when tasks join or leave it, which not every
 * snapshot shows. Does the queue say that it weighs something else by now?
 */
static bool reweighted_since(const struct sl_level *l, const struct sl_entity *own)
{
	int64_t in_tree = (int64_t)l->queue.nr_queued - (l->curr.flags & SL_ENTITY_ON_RQ ? 1 : 0);

	return own->flags & SL_ENTITY_GROUP && own->group != l->curr.group &&
	       (own->weight > l->queue.sum_weight || (in_tree == 1 && own->weight != l->queue.sum_weight));
}

bool sl_eevdf_judge(const struct sl_why_context *ctx, const struct sl_task *t,
		    const struct sl_cpu_fair *f, const struct sl_decision *d,
		    const struct sl_entity entities[SL_FAIR_LEVELS_MAX], bool came_later,
		    struct sl_verdict *v, struct sl_fair_decision *r)
{
	static const enum sl_decided_at at[] = {
		[SL_DECISION_PICK] = SL_DECIDED_AT_PICK,
		[SL_DECISION_PICK_AGAIN] = SL_DECIDED_AT_PICK_AGAIN,
		[SL_DECISION_TICK] = SL_DECIDED_AT_TICK,
	};
	enum protection protection = PROTECTED_IF_ELIGIBLE;
	const struct sl_level *l;
	struct sl_level with_own;
	unsigned int own, curr;

	l = common_level(t->fair, f, d, &own, &curr);
	if (!l || !l->curr.known)
		return false;
	start(r, at[d->kind], d->ns);
	r->level = (int)own;
	r->group = l->queue.group;
	v->cause = SL_CAUSE_FAIR_UNDETERMINED;
	v->confidence = SL_CONF_UNKNOWN;
	/* The average that the kernel tells does not count who came later. */
	if (l->why >= 0 && (came_later || l->why == SL_PICK_ONLY))
		return true;
	if (entities[own].known && !reweighted_since(l, &entities[own])) {
		if (ctx->no_protection)
			protection = UNPROTECTED;
		else if (d->kind == SL_DECISION_TICK)
			protection = PROTECTED;
		else if (d->kind == SL_DECISION_PICK && !l->kept)
			protection = UNPROTECTED;
		if (came_later && !own) {
			with_own = *l;
			with_own.queue.sum_weight += entities[0].weight;
			/* unsigned: it wraps as the kernel's does, whatever the file says */
			with_own.queue.sum_w_vruntime = (int64_t)
				((uint64_t)l->queue.sum_w_vruntime +
				 (entities[0].vruntime - l->queue.zero_vruntime) * entities[0].weight);
			l = &with_own;
		}
		*v = compare(l, &entities[own], protection, d->kind == SL_DECISION_PICK, r);
		doubt_best(l, v, r);
	}
	if (l->why >= 0)
		return true;
	if (own || curr) {
		/* That it lay between groups is certain; a waiting group's entity may have been reweighted. */
		lift(v, r);
		v->confidence = SL_CONF_EXACT;
	}
	/*
	 * The runqueue is unlocked by the time that a repeated pick (__schedule(), 6.18) and a tick
	 * (local_timer_exit) are told, and a tick compares nothing with those that wait. A flat
	 * queue's pick is reweighted before it is told (set_next_task_fair(), 7.3).
	 */
	if (v->confidence == SL_CONF_EXACT &&
	    (d->kind != SL_DECISION_PICK || l->queue.flags & SL_QUEUE_FLAT || came_later))
		v->confidence = SL_CONF_DERIVED;
	return true;
}
