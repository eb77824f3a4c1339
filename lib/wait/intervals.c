// SPDX-License-Identifier: LGPL-2.1-only
#include "wait/intervals.h"

#include <errno.h>
#include <stdlib.h>

static struct sl_interval *push(struct sl_intervals *out)
{
	if (out->nr == out->cap) {
		uint32_t cap = out->cap ? out->cap * 2 : 64;
		struct sl_interval *grown = realloc(out->v, cap * sizeof(*grown));

		if (!grown)
			return NULL;
		out->v = grown;
		out->cap = cap;
	}
	return memset(&out->v[out->nr++], 0, sizeof(*out->v));
}

static int push_unknown(struct sl_intervals *out, int cpu, uint64_t from_ns, uint64_t to_ns)
{
	struct sl_interval *iv = push(out);

	if (!iv)
		return -ENOMEM;
	iv->start_ns = iv->change_ns = from_ns;
	iv->end_ns = to_ns;
	iv->cpu = cpu;
	iv->slot = SL_SLOT_LOST;
	iv->kind = SL_EV_LOST;
	return 0;
}

/*
 * [from, to) lies before what the history still holds. The sums of the whole wait
 * say how long each slot had; what the intervals found later is taken off.
 */
static int push_summed(struct sl_intervals *out, uint32_t first, const uint64_t sums[SL_SLOT_NR],
		       int cpu, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t left[SL_SLOT_NR];
	uint32_t i, nr = out->nr;
	unsigned int slot;

	memcpy(left, sums, sizeof(left));
	for (i = first; i < nr; i++)
		left[out->v[i].slot] -= out->v[i].end_ns - out->v[i].start_ns;
	for (slot = 0; slot < SL_SLOT_NR; slot++) {
		struct sl_interval *iv;

		if (!left[slot] || left[slot] > to_ns - from_ns)
			continue;
		iv = push(out);
		if (!iv)
			return -ENOMEM;
		iv->start_ns = iv->change_ns = from_ns;
		iv->end_ns = from_ns += left[slot];
		iv->cpu = cpu;
		iv->slot = (uint8_t)slot;
		iv->kind = SL_EV_LOST;
		iv->summed = true;
	}
	return from_ns < to_ns ? push_unknown(out, cpu, from_ns, to_ns) : 0;
}

static void reverse(struct sl_interval *v, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr / 2; i++) {
		struct sl_interval tmp = v[i];

		v[i] = v[nr - 1 - i];
		v[nr - 1 - i] = tmp;
	}
}

/* Walk the history of one CPU back from to_ns to from_ns, then put it in order. */
static int walk(const struct sl_engine *e, struct sl_intervals *out, int cpu, uint64_t from_ns,
		uint64_t to_ns, const uint64_t *sums)
{
	const struct sl_cpu *c = cpu >= 0 ? e->cpus.at[cpu] : NULL;
	uint32_t first = out->nr, i;
	uint64_t nr, oldest, end = to_ns;
	bool at_queueing = true;
	int ret;

	if (from_ns >= to_ns)
		return 0;
	if (!c || !c->history)
		return push_unknown(out, cpu, from_ns, to_ns);
	oldest = c->history_nr > c->history_mask + 1ull ? c->history_nr - c->history_mask - 1 : 0;
	for (nr = c->history_nr; nr > oldest && end > from_ns; nr--) {
		const struct sl_cpu_change *ch = &c->history[(nr - 1) & c->history_mask];
		struct sl_interval *iv;

		if (ch->ns >= end)
			continue;
		iv = push(out);
		if (!iv)
			return -ENOMEM;
		iv->end_ns = end;
		iv->start_ns = end = ch->ns > from_ns ? ch->ns : from_ns;
		iv->change_ns = ch->ns;
		iv->occupant = ch->task == UINT32_MAX ? NULL : sl_tasks_at(&e->tasks, ch->task);
		iv->cpu = cpu;
		iv->slot = ch->slot;
		iv->kind = ch->kind;
		iv->before_cpu_known = iv->start_ns < c->first_ns;
	}
	if (out->nr > first)
		reverse(out->v + first, out->nr - first);
	if (end > from_ns) {
		uint32_t known = out->nr;

		ret = sums ? push_summed(out, first, sums, cpu, from_ns, end)
			   : push_unknown(out, cpu, from_ns, end);
		if (ret)
			return ret;
		/* rotate the older part to the front */
		reverse(out->v + first, known - first);
		reverse(out->v + known, out->nr - known);
		reverse(out->v + first, out->nr - first);
	}
	for (i = first; i < out->nr; i++) {
		if (i > first && out->v[i].change_ns > from_ns &&
		    (out->v[i].kind == SL_EV_SWITCH || out->v[i].kind == SL_EV_LOST))
			at_queueing = false;
		out->v[i].ran_at_queueing = at_queueing && !out->v[i].summed;
	}
	return 0;
}

int sl_intervals_of(const struct sl_engine *e, const struct sl_closing *closing,
		    struct sl_intervals *out)
{
	const struct sl_task *t = closing->task;
	uint64_t from = t->queued_ns != SL_TIME_NONE ? t->queued_ns : t->waking_ns;
	uint64_t sums[SL_SLOT_NR];
	bool have_sums;
	uint32_t i;
	int ret = 0;

	out->nr = 0;
	have_sums = !t->nr_pieces && sl_interval_sums(e, closing, sums);
	if (!t->nr_pieces)
		return walk(e, out, t->cpu >= 0 ? t->cpu : closing->run_cpu, from, closing->end_ns,
			    have_sums ? sums : NULL);
	for (i = 0; i < t->nr_pieces && !ret; i++)
		ret = walk(e, out, t->pieces[i].cpu, t->pieces[i].start_ns,
			   i + 1 < t->nr_pieces ? t->pieces[i + 1].start_ns : closing->end_ns, NULL);
	return ret;
}

void sl_intervals_release(struct sl_intervals *intervals)
{
	free(intervals->v);
	memset(intervals, 0, sizeof(*intervals));
}
