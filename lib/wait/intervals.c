// SPDX-License-Identifier: LGPL-2.1-only
#include "wait/intervals.h"

/* A stretch of the wait on one CPU, and whom to tell. */
struct walk {
	const struct sl_engine *e;
	int cpu;
	uint64_t from_ns, to_ns;
	const uint64_t *sums;	/* per slot, of the whole stretch; NULL: not known */
	sl_interval_fn f;
	void *arg;
};

static int tell_unknown(const struct walk *w, uint64_t from_ns, uint64_t to_ns)
{
	struct sl_interval iv = {
		.start_ns = from_ns,
		.end_ns = to_ns,
		.change_ns = from_ns,
		.cpu = w->cpu,
		.slot = SL_SLOT_LOST,
		.kind = SL_EV_LOST,
	};

	return w->f(w->arg, &iv);
}

/*
 * [from, end) lies before what the history still holds. The sums of the whole
 * stretch say how long each slot had; what the history explains is taken off.
 */
static int tell_summed(const struct walk *w, const uint64_t explained[SL_SLOT_NR], uint64_t end_ns)
{
	uint64_t at = w->from_ns;
	unsigned int slot;
	int ret;

	for (slot = 0; w->sums && slot < SL_SLOT_NR; slot++) {
		uint64_t ns = sl_since(w->sums[slot], explained[slot]);
		struct sl_interval iv = {
			.start_ns = at,
			.end_ns = at + ns,
			.change_ns = at,
			.cpu = w->cpu,
			.slot = (uint8_t)slot,
			.kind = SL_EV_LOST,
			.summed = true,
		};

		if (!ns || ns > end_ns - at)
			continue;
		ret = w->f(w->arg, &iv);
		if (ret)
			return ret;
		at += ns;
	}
	return at < end_ns ? tell_unknown(w, at, end_ns) : 0;
}

static int walk(const struct walk *w)
{
	const struct sl_cpu *c = w->cpu >= 0 ? w->e->cpus.at[w->cpu] : NULL;
	uint64_t explained[SL_SLOT_NR] = { 0 };
	uint64_t nr, oldest, end = w->to_ns;
	bool at_queueing = true, first = true;
	int ret;

	if (w->from_ns >= w->to_ns)
		return 0;
	if (!c || !c->history)
		return tell_unknown(w, w->from_ns, w->to_ns);

	/* Back to the change that was in force when the stretch began ... */
	oldest = c->history_nr > c->history_mask + 1ull ? c->history_nr - c->history_mask - 1 : 0;
	for (nr = c->history_nr; nr > oldest && end > w->from_ns; nr--) {
		const struct sl_cpu_change *ch = &c->history[(nr - 1) & c->history_mask];

		if (ch->ns >= end)
			continue;
		explained[ch->slot] += end - (ch->ns > w->from_ns ? ch->ns : w->from_ns);
		end = ch->ns;
	}
	if (end > w->from_ns) {
		ret = tell_summed(w, explained, end);
		if (ret)
			return ret;
		at_queueing = false;
	}

	/* ... and forward from there. */
	for (; nr < c->history_nr; nr++) {
		const struct sl_cpu_change *ch = &c->history[nr & c->history_mask];
		uint64_t next_ns = nr + 1 < c->history_nr ? c->history[(nr + 1) & c->history_mask].ns
							  : w->to_ns;
		struct sl_interval iv = {
			.start_ns = ch->ns > w->from_ns ? ch->ns : w->from_ns,
			.end_ns = next_ns < w->to_ns ? next_ns : w->to_ns,
			.change_ns = ch->ns,
			.occupant = ch->task == UINT32_MAX ? NULL : sl_tasks_at(&w->e->tasks, ch->task),
			.cpu = w->cpu,
			.slot = ch->slot,
			.kind = ch->kind,
			.doubtful = ch->doubtful,
		};

		if (iv.start_ns >= iv.end_ns)
			continue;
		if (!first && (ch->kind == SL_EV_SWITCH || ch->kind == SL_EV_LOST))
			at_queueing = false;
		first = false;
		iv.ran_at_queueing = at_queueing;
		iv.before_cpu_known = iv.start_ns < c->first_ns;
		ret = w->f(w->arg, &iv);
		if (ret)
			return ret;
	}
	return 0;
}

int sl_intervals_each(const struct sl_engine *e, const struct sl_closing *closing,
		      sl_interval_fn f, void *arg)
{
	const struct sl_task *t = closing->task;
	uint64_t sums[SL_SLOT_NR];
	struct walk w = { .e = e, .f = f, .arg = arg };
	uint32_t i;
	int ret = 0;

	if (!t->nr_pieces) {
		w.cpu = t->cpu >= 0 ? t->cpu : closing->run_cpu;
		w.from_ns = t->queued_ns != SL_TIME_NONE ? t->queued_ns : t->waking_ns;
		w.to_ns = closing->end_ns;
		if (sl_interval_sums(e, closing, sums))
			w.sums = sums;
		return walk(&w);
	}
	for (i = 0; i < t->nr_pieces && !ret; i++) {
		w.cpu = t->pieces[i].cpu;
		w.from_ns = t->pieces[i].start_ns;
		w.to_ns = i + 1 < t->nr_pieces ? t->pieces[i + 1].start_ns : closing->end_ns;
		ret = walk(&w);
	}
	return ret;
}
