// SPDX-License-Identifier: LGPL-2.1-only
#include "wait/queue.h"

#include <errno.h>
#include <stdlib.h>

#define PIECES_MAX 4096		/* a wait moved more often than that keeps its first pieces */

/* ---- queueing ---- */

/* Remember up to SL_TASK_IDLE_CPUS free CPUs; the last place is kept for one that is not allowed. */
static void note_free_cpus(struct sl_engine *e, struct sl_task *t, uint64_t now_ns)
{
	unsigned int w, nr_words = (e->cpus.max + 63) / 64;
	bool have_forbidden = false;

	for (w = 0; w < nr_words; w++) {
		uint64_t bits = e->cpus.free_mask[w];

		for (; bits; bits &= bits - 1) {
			unsigned int cpu = w * 64 + (unsigned int)__builtin_ctzll(bits);
			bool allowed = sl_task_allows(t, cpu);

			if (allowed ? t->nr_idle - have_forbidden >= SL_TASK_IDLE_CPUS - 1
				    : have_forbidden)
				continue;
			have_forbidden |= !allowed;
			t->idle[t->nr_idle].cpu = (int16_t)cpu;
			t->idle[t->nr_idle].allowed = allowed;
			t->idle[t->nr_idle].free_ns = sl_cpu_free_ns(e->cpus.at[cpu], now_ns);
			t->nr_idle++;
		}
	}
}

/* Was x, no waker of t, woken onto this CPU less than its slice ago, with a slice no longer than t's? */
static bool stacks(const struct sl_task *x, const struct sl_task *t, const struct sl_cpu *c,
		   uint64_t now_ns)
{
	return x && x != t && x != t->waker && x->slice_ns && x->slice_ns <= t->slice_ns &&
	       x->wait_kind == SL_WAIT_WAKE && x->queued_ns != SL_TIME_NONE && x->cpu == (int)c->cpu &&
	       (x->state == SL_TASK_QUEUED || x->state == SL_TASK_RUNNING) &&
	       sl_since(now_ns, x->queued_ns) <= x->slice_ns;
}

/*
 * Is t queued behind such a task, running or queued, while a task with a longer slice runs
 * on another CPU that t may use (or a CPU is free)? Of the queued ones the latest is looked
 * at: of several that were woken together each has the one before it in front.
 */
static bool is_stacked(struct sl_engine *e, struct sl_task *t, const struct sl_cpu *c, uint64_t now_ns)
{
	unsigned int cpu;

	if (!stacks(c->curr, t, c, now_ns) && !stacks(c->woken, t, c, now_ns))
		return false;
	t->better_cpu = -1;
	for (cpu = 0; cpu < e->cpus.max; cpu++) {
		const struct sl_cpu *other = e->cpus.at[cpu];

		if (!other || other == c || !other->curr || !sl_task_allows(t, cpu) ||
		    other->task_slot != SL_SLOT_FAIR || other->curr->slice_ns <= t->slice_ns ||
		    stacks(other->woken, t, other, now_ns))
			continue;
		t->better_cpu = (int16_t)cpu;
		return true;
	}
	return t->nr_idle && t->idle[0].allowed;
}

void sl_queue_note_placement(struct sl_engine *e, struct sl_task *t, struct sl_cpu *c,
			     uint64_t now_ns)
{
	if (e->cpus.nr_free)
		note_free_cpus(e, t, now_ns);
	if (t->slice_ns && is_stacked(e, t, c, now_ns))
		t->flags |= SL_TASK_STACKED;
}

void sl_queue_on(struct sl_engine *e, struct sl_task *t, int cpu, uint64_t now_ns)
{
	struct sl_cpu *c;

	t->cpu = (int16_t)cpu;
	if (cpu < 0 || !e->want_causes)
		return;
	c = sl_cpus_get(&e->cpus, (unsigned int)cpu, now_ns);
	if (!c) {
		e->error = -ENOMEM;
		t->cpu = -1;
		return;
	}
	c->nr_queued++;
	sl_cpu_sums_at(c, now_ns, t->since);
	sl_cpu_update_free(&e->cpus, c, now_ns);
}

void sl_queue_off(struct sl_engine *e, struct sl_task *t, uint64_t now_ns)
{
	struct sl_cpu *c = t->cpu >= 0 ? e->cpus.at[t->cpu] : NULL;

	if (!c || t->state != SL_TASK_QUEUED || !e->want_causes)
		return;
	if (c->nr_queued)
		c->nr_queued--;
	sl_cpu_update_free(&e->cpus, c, now_ns);
}

static void add_piece(struct sl_engine *e, struct sl_task *t, uint64_t start_ns, int cpu)
{
	if (t->nr_pieces == PIECES_MAX)
		return;
	if (t->nr_pieces == t->cap_pieces) {
		uint32_t cap = t->cap_pieces ? t->cap_pieces * 2 : 4;
		struct sl_piece *grown = realloc(t->pieces, cap * sizeof(*grown));

		if (!grown) {
			e->error = -ENOMEM;
			return;
		}
		t->pieces = grown;
		t->cap_pieces = cap;
	}
	t->pieces[t->nr_pieces].start_ns = start_ns;
	t->pieces[t->nr_pieces++].cpu = cpu;
}

void sl_queue_move(struct sl_engine *e, struct sl_task *t, int cpu, uint64_t now_ns)
{
	struct sl_cpu *old = t->cpu >= 0 ? e->cpus.at[t->cpu] : NULL;
	unsigned int i;

	if (t->cpu == cpu)
		return;
	if (e->want_causes) {
		if (!t->nr_pieces) {
			memset(t->moved, 0, sizeof(t->moved));
			add_piece(e, t, t->queued_ns, t->cpu);
		}
		if (old) {
			sl_cpu_advance(old, now_ns);
			for (i = 0; i < SL_SLOT_NR; i++)
				t->moved[i] += old->sums[i] - t->since[i];
		} else {
			t->moved[SL_SLOT_LOST] += sl_since(now_ns, t->queued_ns);
		}
		add_piece(e, t, now_ns, cpu);
	}
	sl_queue_off(e, t, now_ns);
	sl_queue_on(e, t, cpu, now_ns);
	if (t->migrations < UINT16_MAX)
		t->migrations++;
}

/* ---- closing ---- */

/* What happens on a CPU that is not recorded is lost, all of it. */
bool sl_queue_touched_by_gap(const struct sl_engine *e, const struct sl_task *t)
{
	uint64_t start = sl_wait_start(t, false);
	const struct sl_cpu *c = t->cpu >= 0 ? e->cpus.at[t->cpu] : NULL;
	int cpu = t->cpu >= 0 ? t->cpu : t->wake_cpu;

	if (e->some_cpus && cpu >= 0 && !sl_cpumask_test(&e->recorded, (unsigned int)cpu))
		return true;
	if (c && c->gap_end_ns > start)
		return true;
	return e->gap_end_ns > start && !e->whole_waits && !sl_task_is_pinned(t);
}

static void report_closing(struct sl_engine *e, struct sl_task *t, int run_cpu, uint64_t end_ns,
			   unsigned int taints)
{
	const struct sl_cpu *c = t->cpu >= 0 ? e->cpus.at[t->cpu] : NULL;
	struct sl_closing closing = {
		.task = t,
		.end_ns = end_ns,
		.run_cpu = run_cpu,
		.taints = taints,
		.moved_unseen = run_cpu >= 0 && t->cpu >= 0 && t->cpu != run_cpu,
	};

	closing.unsure = closing.moved_unseen || (c && c->unsure_ns > sl_wait_start(t, false));
	e->on_closed(e->arg, &closing);
}

static enum sl_discard discard_of(unsigned int taints)
{
	if (taints & SL_TAINT_LOST_EVENTS)
		return SL_DISCARD_OPEN_AT_LOSS;
	if (taints & SL_TAINT_CLOCK_SKEW)
		return SL_DISCARD_CLOCK_SKEW;
	if (taints & SL_TAINT_INCONSISTENT)
		return SL_DISCARD_INCONSISTENT;
	return SL_DISCARD_OPEN_AT_END;
}

void sl_queue_drop(struct sl_engine *e, struct sl_task *t, enum sl_discard why, uint64_t now_ns)
{
	if (why == SL_DISCARD_INCONSISTENT && sl_queue_touched_by_gap(e, t))
		why = SL_DISCARD_OPEN_AT_LOSS;
	sl_queue_count_discard(e, (enum sl_wait_kind)t->wait_kind, why);
	sl_queue_off(e, t, now_ns);
}

/* A gap, a clock that went backwards, or a move that no event told. */
void sl_queue_close_slow(struct sl_engine *e, struct sl_task *t, struct sl_cpu *c, uint64_t now_ns)
{
	struct sl_cpu *queued = t->cpu >= 0 ? e->cpus.at[t->cpu] : NULL;
	uint64_t start = sl_wait_start(t, false);
	unsigned int taints = 0;

	if ((e->gap_end_ns > start || c->gap_end_ns > start || e->some_cpus) &&
	    sl_queue_touched_by_gap(e, t))
		taints |= SL_TAINT_LOST_EVENTS;
	if (start > now_ns)
		taints |= SL_TAINT_CLOCK_SKEW;
	if (taints)
		sl_queue_count_discard(e, (enum sl_wait_kind)t->wait_kind, discard_of(taints));
	if (queued && queued != c && e->want_causes)
		sl_cpu_advance(queued, now_ns);
	report_closing(e, t, c->cpu, now_ns, taints);
	if (queued == c && t->state == SL_TASK_QUEUED && c->nr_queued)
		c->nr_queued--;
	else
		sl_queue_off(e, t, now_ns);
}

void sl_queue_close_at_end(struct sl_engine *e, struct sl_task *t)
{
	unsigned int taints = SL_TAINT_OPEN_AT_END;

	if (t->state == SL_TASK_WAKING)
		t->cpu = -1;
	if (sl_queue_touched_by_gap(e, t))
		taints |= SL_TAINT_LOST_EVENTS;
	sl_queue_count_discard(e, (enum sl_wait_kind)t->wait_kind, discard_of(taints));
	report_closing(e, t, -1, e->now_ns, taints);
}
