/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The fair class as snapshots show it: entities, queues, and the comparisons of
 * the scheduler, in its own integer arithmetic.
 *
 * Formulas (kernel/sched/fair.c, 6.18; the same since 6.6):
 *	key(v)		(s64)(v - zero_vruntime)
 *	avg, load	sums over the tree; the running entity is added while it is queued
 *	eligible(v)	avg >= key(v) * load			vruntime_eligible()
 *	V		zero_vruntime + floor(avg / load)	avg_vruntime()
 *	protected	(s64)(vprot - vruntime) > 0		protect_slice()
 * Virtual times are ns of a task of nice 0 and wrap: compare differences only.
 */
#ifndef SL_SCHED_EEVDF_H
#define SL_SCHED_EEVDF_H

#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"
#include "event/evidence.h"

#define SL_FAIR_LEVELS_MAX 8

struct sl_entity {
	uint64_t vruntime, deadline, lag_or_vprot;
	int32_t pid, group;		/* the group whose queue it is in */
	uint32_t weight;		/* nice 0: 1024 */
	int32_t slice;			/* ns */
	uint16_t flags;			/* enum sl_entity_flags; 0: no snapshot */
	bool known;
};

struct sl_fair_queue {
	int64_t sum_w_vruntime;
	uint64_t sum_weight, zero_vruntime;
	int32_t group, cpu, nr_queued;
	int32_t min_slice;		/* ns; -1 unknown */
	int32_t buddy;			/* pid; -1 a group; 0 none */
	uint16_t flags;			/* enum sl_queue_flags */
	bool known;
};

void sl_entity_read(const struct sl_ev_entity *ev, struct sl_entity *ret_entity);
void sl_fair_queue_read(const struct sl_ev_queue *ev, struct sl_fair_queue *ret_queue);

/* a before b on the circle of virtual time */
static inline bool sl_vtime_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

/* May an entity at vruntime be picked? curr: the running entity of this queue; NULL: none. */
bool sl_eevdf_eligible(const struct sl_fair_queue *q, const struct sl_entity *curr, uint64_t vruntime);

/* The weighted average vruntime V. Of an empty queue: zero_vruntime. */
uint64_t sl_eevdf_avg(const struct sl_fair_queue *q, const struct sl_entity *curr);

/* Time in virtual ns that the running entity is still protected; <= 0: it is not, or no such evidence. */
static inline int64_t sl_eevdf_protected(const struct sl_entity *curr)
{
	return curr->flags & SL_ENTITY_VPROT ? (int64_t)(curr->lag_or_vprot - curr->vruntime) : 0;
}

#endif
