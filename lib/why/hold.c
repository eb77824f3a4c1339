// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What held a task while its CPU did something else. The order of the rules is
 * the order of scheduling classes: a task never waits for a lower class unless
 * preemption is delayed or a bandwidth limit let the lower class in.
 */
#include "why/eevdf.h"

static struct sl_verdict verdict(enum sl_cause cause, enum sl_confidence confidence)
{
	struct sl_verdict v = { cause, confidence };

	return v;
}

/*
 * What runs ran already when t was queued there. A task that was switched out while runnable took
 * part in the pick of what came in instead.
 */
static bool was_there(const struct sl_task *t, const struct sl_interval *iv)
{
	uint64_t from_ns;

	return iv->ran_at_queueing &&
	       (t->wait_kind != SL_WAIT_PREEMPT || sl_eevdf_stay(t, iv->start_ns, &from_ns) ||
		(t->fair && t->fair->off_until_ns && t->fair->off_until_ns <= iv->start_ns));
}

/*
 * A lower class runs although t is runnable. It ran already when t was queued:
 * then it only has to be switched out. It was picked afterwards: then t could not
 * be picked.
 */
static struct sl_verdict behind_lower_class(const struct sl_why_context *ctx, const struct sl_task *t,
					    const struct sl_interval *iv)
{
	if (iv->summed)
		return verdict(SL_CAUSE_RESCHED_DELAYED, SL_CONF_UNKNOWN);
	/*
	 * pick_task_dl() skips a queue of throttled reservations (6.18). Whoever was stopped for that
	 * stays throttled also where it is moved to.
	 */
	if (t->sched_class == SL_CLASS_DL && (t->wait_kind == SL_WAIT_PREEMPT || !iv->ran_at_queueing))
		return verdict(SL_CAUSE_THROTTLED, SL_CONF_DERIVED);
	if (was_there(t, iv))
		return verdict(SL_CAUSE_RESCHED_DELAYED, SL_CONF_DERIVED);
	if (t->sched_class != SL_CLASS_RT)
		return verdict(SL_CAUSE_RESCHED_DELAYED, SL_CONF_UNKNOWN);
	if (ctx->fair_server == 1)
		return verdict(SL_CAUSE_FAIR_SERVER, SL_CONF_DERIVED);
	if (ctx->fair_server == 0)
		return verdict(SL_CAUSE_RT_THROTTLED, SL_CONF_DERIVED);
	return verdict(SL_CAUSE_RT_THROTTLED, SL_CONF_UNKNOWN);
}

static struct sl_verdict behind_idle(const struct sl_why_context *ctx, const struct sl_task *t,
				     const struct sl_interval *iv)
{
	if (t->sched_class == SL_CLASS_DL && (t->wait_kind == SL_WAIT_PREEMPT || !iv->ran_at_queueing))
		return verdict(SL_CAUSE_THROTTLED, SL_CONF_DERIVED);
	if (was_there(t, iv))
		return verdict(SL_CAUSE_IDLE_EXIT, SL_CONF_DERIVED);
	/*
	 * The CPU went idle although t was queued there: nothing let it run. A throttled
	 * cgroup does that; core scheduling and a stale queue in the recording do as well.
	 */
	if (t->cgroup && ctx->throttled_group && ctx->throttled_group(ctx->arg, t->cgroup))
		return verdict(SL_CAUSE_THROTTLED, SL_CONF_DERIVED);
	return verdict(SL_CAUSE_IDLE_EXIT, SL_CONF_UNKNOWN);
}

static struct sl_verdict behind_fair(const struct sl_why_context *ctx, const struct sl_task *t,
				     const struct sl_interval *iv)
{
	bool low_policy = t->policy == POLICY_BATCH || t->policy == POLICY_IDLE;

	if (t->sched_class == SL_CLASS_EXT)
		return verdict(SL_CAUSE_SCHED_EXT, SL_CONF_DERIVED);
	/*
	 * wakeup_preempt_fair() (6.18) never preempts for a SCHED_BATCH or SCHED_IDLE
	 * wakee. From the next tick on other rules decide, which we cannot see.
	 */
	if (low_policy && t->wait_kind == SL_WAIT_WAKE && iv->ran_at_queueing && ctx->tick_ns &&
	    iv->end_ns - iv->start_ns <= ctx->tick_ns)
		return verdict(SL_CAUSE_NO_WAKEUP_PREEMPT, SL_CONF_DERIVED);
	return verdict(SL_CAUSE_FAIR_UNDETERMINED, SL_CONF_UNKNOWN);
}

/* Larger runs first. */
static int rank(enum sl_class sched_class)
{
	switch (sched_class) {
	case SL_CLASS_STOP:
		return 4;
	case SL_CLASS_DL:
		return 3;
	case SL_CLASS_RT:
		return 2;
	case SL_CLASS_FAIR:
	case SL_CLASS_EXT:
		return 1;
	case SL_CLASS_UNKNOWN:
	case SL_CLASS_IDLE:
	case SL_CLASS_NR:
		break;
	}
	return 0;
}

int sl_told_throttled(const struct sl_why_context *ctx, const struct sl_task *t, const char **ret_path)
{
	*ret_path = NULL;
	if (!t->fair || !t->fair->off_until_ns)
		return 0;
	if (!t->cgroup || !ctx->group_above)
		return -1;
	return ctx->group_above(ctx->arg, t->fair->off_cgroup, t->cgroup, ret_path);
}

/*
 * A group gets its quota back with the next period (sched_cfs_period_timer(), 6.18), so a
 * task is not held for longer than that.
 */
uint64_t sl_throttled_until(const struct sl_why_context *ctx, const struct sl_task *t)
{
	uint64_t period_ns = 0;
	const char *path;

	/* Put back on its queue by a change of priority: what throttled others is no reason. */
	if (t->fair && t->fair->off_until_ns)
		return sl_told_throttled(ctx, t, &path) ? t->fair->off_until_ns : 0;
	if (!t->fair || !t->fair->stays[0].known || !(t->fair->stays[0].flags & SL_ENTITY_THROTTLED))
		return 0;
	if (ctx->throttle_period_ns && t->cgroup)
		period_ns = ctx->throttle_period_ns(ctx->arg, t->cgroup);
	return period_ns ? t->queued_ns + period_ns : SL_TIME_NONE;
}

struct sl_verdict sl_hold_of(const struct sl_why_context *ctx, const struct sl_task *t,
			     const struct sl_interval *iv)
{
	int own = rank((enum sl_class)t->sched_class);
	const char *path;

	/*
	 * It was off the queue for bandwidth when it stopped. Decision tracepoints tell when it came
	 * back; snapshots do not: an idle CPU would have taken it, a busy one may run others first.
	 */
	if (iv->slot != SL_SLOT_IRQ && iv->slot != SL_SLOT_SOFTIRQ && iv->slot != SL_SLOT_LOST &&
	    iv->start_ns < sl_throttled_until(ctx, t))
		return verdict(SL_CAUSE_THROTTLED,
			       (t->fair->off_until_ns ? sl_told_throttled(ctx, t, &path) > 0 :
							iv->slot == SL_SLOT_IDLE) ? SL_CONF_EXACT : SL_CONF_DERIVED);
	switch ((enum sl_slot)iv->slot) {
	case SL_SLOT_IRQ:
		return verdict(SL_CAUSE_IRQ, SL_CONF_EXACT);
	case SL_SLOT_SOFTIRQ:
		return verdict(SL_CAUSE_SOFTIRQ, SL_CONF_EXACT);
	case SL_SLOT_STOP:
		return verdict(SL_CAUSE_STOP_CLASS, SL_CONF_EXACT);
	case SL_SLOT_DL:
		return own > rank(SL_CLASS_DL) ? behind_lower_class(ctx, t, iv)
					       : verdict(SL_CAUSE_DL_CLASS, SL_CONF_EXACT);
	case SL_SLOT_RT:
		return own > rank(SL_CLASS_RT) ? behind_lower_class(ctx, t, iv)
					       : verdict(SL_CAUSE_RT_CLASS, SL_CONF_EXACT);
	case SL_SLOT_FAIR:
		return own > rank(SL_CLASS_FAIR) ? behind_lower_class(ctx, t, iv)
						 : behind_fair(ctx, t, iv);
	case SL_SLOT_IDLE:
		return behind_idle(ctx, t, iv);
	case SL_SLOT_LOST:
	case SL_SLOT_NR:
		break;
	}
	return verdict(SL_CAUSE_LOST_DATA, SL_CONF_UNKNOWN);
}
