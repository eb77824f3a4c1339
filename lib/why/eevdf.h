/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Why a fair task that runs was not asked to stop for one that waits: the decisions
 * of EEVDF, recomputed from snapshots; private to this room.
 */
#ifndef SL_WHY_EEVDF_H
#define SL_WHY_EEVDF_H

#include "sched/cpu.h"
#include "event/told.h"
#include "why/explain.h"

enum policy { POLICY_BATCH = 3, POLICY_IDLE = 5 };

/* Is there a snapshot of where t stood in its wait, on one queue at least? */
bool sl_eevdf_knows(const struct sl_task *t);

/* Which piece of its wait an instant lies in, and when that began. */
unsigned int sl_eevdf_stay(const struct sl_task *t, uint64_t at_ns, uint64_t *ret_from_ns);

/*
 * What the check at its own wakeup or where it moved to, or a later decision on its CPU, says of t. entities:
 * where t and the groups above it stood then; came_later: t was queued there after d, by
 * a migration. False: nothing. ret_decision is filled in
 * except for the rival's name.
 */
bool sl_eevdf_judge_wakeup(const struct sl_why_context *ctx, const struct sl_task *t,
			   const struct sl_wakeup_check *check, struct sl_verdict *ret_verdict,
			   struct sl_fair_decision *ret_decision);
bool sl_eevdf_judge(const struct sl_why_context *ctx, const struct sl_task *t,
		    const struct sl_cpu_fair *f, const struct sl_decision *d,
		    const struct sl_entity entities[SL_FAIR_LEVELS_MAX], bool came_later,
		    struct sl_verdict *ret_verdict, struct sl_fair_decision *ret_decision);

#endif
