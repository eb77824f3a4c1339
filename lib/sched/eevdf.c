// SPDX-License-Identifier: LGPL-2.1-only
#include "sched/eevdf.h"

void sl_entity_read(const struct sl_ev_entity *ev, struct sl_entity *ret)
{
	ret->vruntime = ev->vruntime;
	ret->deadline = ev->deadline;
	ret->lag_or_vprot = ev->lag_or_vprot;
	ret->pid = ev->pid;
	ret->group = ev->group;
	ret->weight = ev->weight > 0 ? (uint32_t)ev->weight : 0;
	ret->slice = ev->slice;
	ret->flags = (uint16_t)ev->flags;
	ret->known = true;
}

void sl_fair_queue_read(const struct sl_ev_queue *ev, struct sl_fair_queue *ret)
{
	ret->sum_w_vruntime = (int64_t)ev->sum_w_vruntime;
	ret->sum_weight = ev->sum_weight;
	ret->zero_vruntime = ev->zero_vruntime;
	ret->group = ev->group;
	ret->cpu = ev->qcpu >= 0 && ev->qcpu < SL_CPU_MAX ? ev->qcpu : -1;
	ret->nr_queued = ev->nr_queued;
	ret->min_slice = ev->flags & SL_QUEUE_NO_MIN_SLICE ? -1 : ev->min_slice;
	ret->buddy = ev->buddy;
	ret->flags = (uint16_t)ev->flags;
	ret->known = true;
}

/*
 * Sums with the running entity. The load is signed as in vruntime_eligible() (6.18). 128 bits hold
 * what 64-bit values from a file make of it: 2^63 times 2^63 and a little more.
 */
static void sums(const struct sl_fair_queue *q, const struct sl_entity *curr, __int128 *ret_avg,
		 __int128 *ret_load)
{
	*ret_avg = q->sum_w_vruntime;
	*ret_load = (int64_t)q->sum_weight;
	if (curr && curr->known && curr->flags & SL_ENTITY_ON_RQ) {
		*ret_avg += (__int128)(int64_t)(curr->vruntime - q->zero_vruntime) * curr->weight;
		*ret_load += curr->weight;
	}
}

bool sl_eevdf_eligible(const struct sl_fair_queue *q, const struct sl_entity *curr, uint64_t vruntime)
{
	__int128 avg, load;

	/* avg >= key * load holds for whole numbers just when key <= floor(avg / load). */
	if (q->flags & SL_QUEUE_AVG)
		return !sl_vtime_before(q->zero_vruntime, vruntime);
	sums(q, curr, &avg, &load);
	return avg >= (int64_t)(vruntime - q->zero_vruntime) * load;
}

uint64_t sl_eevdf_avg(const struct sl_fair_queue *q, const struct sl_entity *curr)
{
	__int128 avg, load;

	if (q->flags & SL_QUEUE_AVG)
		return q->zero_vruntime;
	sums(q, curr, &avg, &load);
	if (load <= 0)
		return q->zero_vruntime;
	if (avg < 0)
		avg -= load - 1;
	return q->zero_vruntime + (uint64_t)(int64_t)(avg / load);
}
