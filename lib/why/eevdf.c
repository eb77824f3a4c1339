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
 * eligible entity has an earlier deadline; the running one is protected. Protection
 * comes last because it only matters to a task that would have been picked.
 */
#include "why/eevdf.h"

enum policy { POLICY_BATCH = 3, POLICY_IDLE = 5 };

bool sl_eevdf_knows(const struct sl_task *t)
{
	return t->fair && t->fair->ns && t->fair->ns == t->queued_ns && !t->fair->moved;
}

static void start(struct sl_fair_decision *r, const struct sl_decision *d)
{
	static const enum sl_decided_at at[] = {
		[SL_DECISION_WAKEUP] = SL_DECIDED_AT_WAKEUP,
		[SL_DECISION_PICK] = SL_DECIDED_AT_PICK,
		[SL_DECISION_PICK_AGAIN] = SL_DECIDED_AT_PICK_AGAIN,
		[SL_DECISION_TICK] = SL_DECIDED_AT_TICK,
	};

	*r = (struct sl_fair_decision){
		.at = at[d->kind],
		.ns = d->ns,
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

/*
 * own waits in the queue of d, whose running entity is d->curr. Which comparison kept
 * it there? `protect`: the running one's protection counted.
 */
static struct sl_verdict compare(const struct sl_decision *d, const struct sl_entity *own,
				 bool protect, struct sl_fair_decision *r)
{
	const struct sl_entity *curr = &d->curr, *best = &d->best;
	struct sl_verdict v = { SL_CAUSE_FAIR_UNDETERMINED, SL_CONF_UNKNOWN };
	bool curr_eligible = sl_eevdf_eligible(&d->queue, curr, curr->vruntime);
	int64_t protected_ns = sl_eevdf_protected(curr);

	r->lag_ns = (int64_t)(sl_eevdf_avg(&d->queue, curr) - own->vruntime);
	r->slice_ns = own->slice > 0 ? own->slice : SL_NO_VALUE;
	if (curr->flags & SL_ENTITY_VPROT)
		r->protected_ns = protected_ns;
	r->curr_weight = curr->weight;
	against(r, own, curr);

	if (!sl_eevdf_eligible(&d->queue, curr, own->vruntime)) {
		v.cause = SL_CAUSE_INELIGIBLE;
		v.confidence = SL_CONF_EXACT;
		r->by_ns = -r->lag_ns;
		return v;
	}
	if (d->queue.buddy && d->queue.buddy == curr->pid && !(curr->flags & SL_ENTITY_GROUP)) {
		/* set_next_entity() clears the buddy: it is still one only where it was not taken as one */
		v.cause = SL_CAUSE_BUDDY;
		v.confidence = SL_CONF_DERIVED;
		return v;
	}
	if (best->known && best->pid != own->pid && sl_vtime_before(best->deadline, own->deadline) &&
	    sl_eevdf_eligible(&d->queue, curr, best->vruntime)) {
		/* Whoever runs, this one would have come first. */
		if (!curr_eligible || !sl_vtime_before(curr->deadline, best->deadline))
			against(r, own, best);
		v.cause = SL_CAUSE_LATER_DEADLINE;
		v.confidence = SL_CONF_EXACT;
		r->by_ns = r->deadline_behind_ns;
		return v;
	}
	if (curr_eligible && sl_vtime_before(curr->deadline, own->deadline)) {
		v.cause = SL_CAUSE_LATER_DEADLINE;
		v.confidence = SL_CONF_EXACT;
		r->by_ns = r->deadline_behind_ns;
		return v;
	}
	if (curr_eligible && protect && protected_ns > 0) {
		v.cause = SL_CAUSE_SLICE_PROTECTION;
		v.confidence = SL_CONF_EXACT;
		r->by_ns = protected_ns;
		return v;
	}
	return v;
}

/* Of a comparison between group entities: it was the groups', whatever it says. */
static void lift(struct sl_verdict *v, struct sl_fair_decision *r)
{
	r->below = v->cause == SL_CAUSE_FAIR_UNDETERMINED ? SL_CAUSE_NONE : v->cause;
	v->cause = SL_CAUSE_GROUP_LEVEL;
	if (v->confidence == SL_CONF_UNKNOWN)
		v->confidence = SL_CONF_DERIVED;	/* that it was there is seen, not what it said */
}

static bool judge_wakeup(const struct sl_why_context *ctx, const struct sl_task *t,
			 struct sl_verdict *v, struct sl_fair_decision *r)
{
	const struct sl_decision *d = &t->fair->wakeup;
	const struct sl_entity *own = &t->fair->rival, *curr = &d->curr;
	bool low_policy = t->fair->entity.flags & (SL_ENTITY_IDLE | SL_ENTITY_BATCH) ||
			  t->policy == POLICY_BATCH || t->policy == POLICY_IDLE;
	bool own_idle = own->flags & SL_ENTITY_IDLE, curr_idle = curr->flags & SL_ENTITY_IDLE;
	bool shorter = own->slice > 0 && curr->slice > 0 && own->slice < curr->slice;

	start(r, d);
	r->level = d->level;
	r->group = d->queue.group;
	v->cause = SL_CAUSE_NO_WAKEUP_PREEMPT;
	v->confidence = SL_CONF_EXACT;
	if (ctx->no_wakeup_preemption)
		return true;
	if (own_idle != curr_idle) {
		against(r, own, curr);
		return own_idle;	/* the other way round it preempts */
	}
	if (low_policy) {
		against(r, own, curr);
		return true;
	}
	*v = compare(d, own, !(shorter && !ctx->no_preempt_short), r);
	if (curr->flags & SL_ENTITY_GROUP || own->flags & SL_ENTITY_GROUP)
		lift(v, r);
	return true;
}

/* The first queue, from t's own upwards, that the running task's hierarchy has as well. */
static bool common_queue(const struct sl_task_fair *tf, const struct sl_decision *d,
			 unsigned int *ret_own, unsigned int *ret_curr)
{
	unsigned int i, j;

	for (i = 0; i < tf->nr_levels; i++)
		for (j = 0; j < d->nr_levels; j++)
			if (tf->groups[i] == d->groups[j]) {
				*ret_own = i;
				*ret_curr = j;
				return true;
			}
	return false;
}

/*
 * Not every snapshot was taken at the decision itself: a new task's check follows
 * sched_wakeup_new (wake_up_new_task(), 6.1 to 7.3), and when a pick chooses the
 * running task again, the runqueue is unlocked by the time that is told (__schedule()).
 */
static bool taken_beside(const struct sl_task *t, const struct sl_decision *d)
{
	return d->kind == SL_DECISION_PICK_AGAIN ||
	       (d->kind == SL_DECISION_WAKEUP && t->wait_kind == SL_WAIT_FORK);
}

static bool judge(const struct sl_why_context *ctx, const struct sl_task *t,
		  const struct sl_decision *d, struct sl_verdict *v, struct sl_fair_decision *r)
{
	unsigned int own, curr;

	if (d->kind == SL_DECISION_WAKEUP)
		return judge_wakeup(ctx, t, v, r);
	if (!common_queue(t->fair, d, &own, &curr))
		return false;
	start(r, d);
	r->level = (int)own;
	r->group = t->fair->groups[own];
	if (own || curr) {
		/* The groups' own entities are not in this snapshot. */
		v->cause = SL_CAUSE_GROUP_LEVEL;
		v->confidence = SL_CONF_EXACT;
		r->rival_tid = d->curr.pid;
		r->rival_slice_ns = d->curr.slice > 0 ? d->curr.slice : SL_NO_VALUE;
		r->slice_ns = t->fair->entity.slice > 0 ? t->fair->entity.slice : SL_NO_VALUE;
		return true;
	}
	/* A pick is over, its protection was the previous one's; else that of the running one holds. */
	*v = compare(d, &t->fair->entity, d->kind != SL_DECISION_PICK, r);
	return true;
}

bool sl_eevdf_judge(const struct sl_why_context *ctx, const struct sl_task *t,
		    const struct sl_decision *d, struct sl_verdict *v, struct sl_fair_decision *r)
{
	if (!judge(ctx, t, d, v, r))
		return false;
	if (v->confidence == SL_CONF_EXACT && taken_beside(t, d))
		v->confidence = SL_CONF_DERIVED;
	return true;
}
