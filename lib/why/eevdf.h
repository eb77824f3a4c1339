/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Why a fair task that runs was not asked to stop for one that waits: the decisions
 * of EEVDF, recomputed from snapshots; private to this room.
 */
#ifndef SL_WHY_EEVDF_H
#define SL_WHY_EEVDF_H

#include "sched/cpu.h"
#include "why/explain.h"

/* Is there a snapshot of where t stands in its wait? */
bool sl_eevdf_knows(const struct sl_task *t);

/*
 * What the decision says of t, which waits behind d's running task. False: nothing.
 * ret_decision is filled in except for the rival's name.
 */
bool sl_eevdf_judge(const struct sl_why_context *ctx, const struct sl_task *t,
		    const struct sl_decision *d, struct sl_verdict *ret_verdict,
		    struct sl_fair_decision *ret_decision);

#endif
