// SPDX-License-Identifier: LGPL-2.1-only
#include "why/eevdf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void sl_wait_release(struct sl_wait *wait)
{
	free(wait->segments);
	wait->segments = NULL;
	wait->nr_segments = 0;
}

/* All CPUs share one task of pid 0, whose name is that of the idle task met last. */
static void name_of(char ret_comm[16], const struct sl_task *t, int cpu)
{
	if (t->tid == 0 && cpu >= 0)
		snprintf(ret_comm, 16, "swapper/%hu", (unsigned short)cpu);
	else
		memcpy(ret_comm, t->comm, 16);
}

static void add_hold(struct sl_explained *r, enum sl_cause cause, enum sl_confidence confidence,
		     uint64_t ns)
{
	unsigned int i;

	if (!ns)
		return;
	for (i = 0; i < r->nr; i++)
		if (r->hold[i].cause == cause && r->hold[i].confidence == confidence) {
			r->hold[i].ns += ns;
			return;
		}
	r->hold[r->nr].cause = (uint8_t)cause;
	r->hold[r->nr].confidence = (uint8_t)confidence;
	r->hold[r->nr++].ns = ns;
}

/* The same for a cause that r does not have yet. */
static inline void put_hold(struct sl_explained *r, enum sl_cause cause,
			    enum sl_confidence confidence, uint64_t ns)
{
	r->hold[r->nr].cause = (uint8_t)cause;
	r->hold[r->nr].confidence = (uint8_t)confidence;
	r->hold[r->nr].ns = ns;
	r->nr += ns != 0;
}

/* No answer is better than the data it stands on. */
static enum sl_confidence limit(const struct sl_explainer *x, const struct sl_closing *closing,
				enum sl_confidence confidence)
{
	if (closing->taints & (SL_TAINT_LOST_EVENTS | SL_TAINT_INCONSISTENT | SL_TAINT_CLOCK_SKEW) ||
	    closing->moved_unseen)
		return SL_CONF_UNKNOWN;
	return x->context.clock_is_per_cpu && confidence == SL_CONF_EXACT ? SL_CONF_DERIVED : confidence;
}

/* Nor than what its CPU is known to have done. */
static enum sl_confidence limit_in(const struct sl_explainer *x, const struct sl_closing *closing,
				   const struct sl_interval *iv, enum sl_confidence confidence)
{
	if (iv->doubtful || (iv->summed && closing->unsure))
		return SL_CONF_UNKNOWN;
	return limit(x, closing, confidence);
}

/* ---- need_resched of the task that t replaces ---- */

struct resched {
	uint64_t lazy_ns, hard_ns;	/* from when on; SL_TIME_NONE: never */
	uint64_t lazy_event_ns, hard_event_ns;
	uint8_t lazy_kind, hard_kind;
};

/* Valid only for the CPU that t runs on now and its last occupant. False: nothing was seen. */
static bool resched_of(const struct sl_engine *e, const struct sl_closing *closing,
		       struct resched *ret)
{
	const struct sl_task *t = closing->task;
	const struct sl_cpu *c;
	uint64_t queued;

	if (closing->run_cpu < 0 || t->cpu != closing->run_cpu || t->queued_ns == SL_TIME_NONE)
		return false;
	c = e->cpus.at[closing->run_cpu];
	if (c->lazy.ns == SL_TIME_NONE && c->hard.ns == SL_TIME_NONE)
		return false;
	queued = t->nr_pieces ? t->pieces[t->nr_pieces - 1].start_ns : t->queued_ns;
	ret->lazy_ns = c->lazy.ns < queued ? queued : c->lazy.ns;
	ret->hard_ns = c->hard.ns < queued ? queued : c->hard.ns;
	ret->lazy_event_ns = c->lazy.ns;
	ret->hard_event_ns = c->hard.ns;
	ret->lazy_kind = c->lazy.kind;
	ret->hard_kind = c->hard.kind;
	return true;
}

/* A tracepoint states it; the flag in some other event's header only says "since then, or earlier". */
static enum sl_confidence resched_confidence(uint8_t kind)
{
	return kind == SL_EV_NEED_RESCHED || kind == SL_EV_RESCHED_FAIR ? SL_CONF_EXACT : SL_CONF_DERIVED;
}

/* The rules that yield to a pending need_resched. */
static bool yields_to_resched(enum sl_cause cause)
{
	return cause == SL_CAUSE_FAIR_UNDETERMINED || cause == SL_CAUSE_NO_WAKEUP_PREEMPT ||
	       cause == SL_CAUSE_RESCHED_DELAYED;
}

/* Non-interrupt time since a stamp, all of it spent by the last occupant. */
static uint64_t task_time_since(const struct sl_cpu *c, const struct sl_task *t,
				const struct sl_resched *r, uint64_t from_ns, uint64_t end_ns)
{
	uint64_t irq_now = c->sums[SL_SLOT_IRQ] + c->sums[SL_SLOT_SOFTIRQ], irq_then = r->irq_ns;

	if (c->slot == SL_SLOT_IRQ || c->slot == SL_SLOT_SOFTIRQ)
		irq_now += sl_since(end_ns, c->last_ns);

	if (r->ns < from_ns)	/* counted from when t was queued */
		irq_then = t->since[SL_SLOT_IRQ] + t->since[SL_SLOT_SOFTIRQ];
	return sl_since(sl_since(end_ns, from_ns), irq_now - irq_then);
}

/* ---- sums ---- */

/* Plain cases: a fair task behind classes, interrupts and other fair tasks. */
static bool explain_by_sums(struct sl_explainer *x, const struct sl_engine *e,
			    const struct sl_closing *closing, struct sl_explained *r)
{
	const enum sl_confidence exact = limit(x, closing, SL_CONF_EXACT);
	const struct sl_task *t = closing->task;
	const struct sl_cpu *c;
	uint64_t ns[SL_SLOT_NR], fair;
	struct resched rs;

	if (t->sched_class != SL_CLASS_FAIR || closing->taints || t->policy > 0 ||
	    t->flags & SL_TASK_STACKED || sl_placed_by_slice(t) || closing->unsure ||
	    !sl_interval_sums(e, closing, ns) || ns[SL_SLOT_LOST] ||
	    (e->has_snapshots && sl_eevdf_knows(t)))
		return false;
	c = e->cpus.at[t->cpu];
	if (c->first_ns > t->queued_ns)
		return false;
	if (ns[SL_SLOT_IDLE] && (t->nr_pieces || c->went_idle_ns > t->queued_ns))
		return false;
	put_hold(r, SL_CAUSE_IRQ, exact, ns[SL_SLOT_IRQ]);
	put_hold(r, SL_CAUSE_SOFTIRQ, exact, ns[SL_SLOT_SOFTIRQ]);
	put_hold(r, SL_CAUSE_STOP_CLASS, exact, ns[SL_SLOT_STOP]);
	put_hold(r, SL_CAUSE_DL_CLASS, exact, ns[SL_SLOT_DL]);
	put_hold(r, SL_CAUSE_RT_CLASS, exact, ns[SL_SLOT_RT]);
	if (ns[SL_SLOT_IDLE])
		put_hold(r, SL_CAUSE_IDLE_EXIT, limit(x, closing, SL_CONF_DERIVED), ns[SL_SLOT_IDLE]);
	fair = ns[SL_SLOT_FAIR];
	if (fair && c->task_slot == SL_SLOT_FAIR && resched_of(e, closing, &rs)) {
		uint64_t hard = 0, any = 0;

		if (rs.hard_ns != SL_TIME_NONE)
			hard = any = task_time_since(c, t, &c->hard, rs.hard_ns, closing->end_ns);
		if (rs.lazy_ns != SL_TIME_NONE) {
			any = task_time_since(c, t, &c->lazy, rs.lazy_ns, closing->end_ns);
			any = any > hard ? any : hard;
		}
		if (any <= fair) {
			put_hold(r, SL_CAUSE_LAZY_RESCHED,
				 limit(x, closing, resched_confidence(rs.lazy_kind)), any - hard);
			put_hold(r, SL_CAUSE_RESCHED_DELAYED,
				 limit(x, closing, resched_confidence(rs.hard_kind)), hard);
			fair -= any;
		}
	}
	put_hold(r, SL_CAUSE_FAIR_UNDETERMINED, SL_CONF_UNKNOWN, fair);
	return true;
}

/* ---- segments ---- */

/* What is being explained, and the segments so far. */
struct build {
	struct sl_explainer *x;
	const struct sl_engine *e;
	const struct sl_closing *closing;
	struct sl_explained *r;
	struct resched *resched;	/* NULL: none was seen */
	uint64_t followed_ns;		/* x->entities[] is up to date until then; 0: not begun */
	uint64_t occupant_since_ns;	/* resched speaks of the occupant from then on */
	bool wanted;			/* false: only sums */
	unsigned int fold_above;	/* 0: never */
	struct sl_segment *v;
	unsigned int nr, cap;
	uint32_t *place;		/* folded: hash of v, index + 1; NULL: not folded */
	uint32_t place_mask;
};

static bool same_hold(const struct sl_segment *a, const struct sl_segment *b)
{
	return a->cause == b->cause && a->confidence == b->confidence && a->cpu == b->cpu &&
	       a->occupant_tid == b->occupant_tid;
}

/* The slot of a segment like this one, or the free slot where it belongs. */
static uint32_t *find_place(struct build *b, const struct sl_segment *seg)
{
	uint32_t h = (uint32_t)seg->occupant_tid * 2654435761u ^ (uint32_t)seg->cause * 40503u ^
		     (uint32_t)seg->confidence << 9 ^ (uint32_t)seg->cpu << 13;

	for (h = (h ^ h >> 15) & b->place_mask; b->place[h]; h = (h + 1) & b->place_mask)
		if (same_hold(&b->v[b->place[h] - 1], seg))
			break;
	return &b->place[h];
}

/* From now on stretches of one cause, confidence, CPU and occupant are added up. */
static int start_folding(struct build *b)
{
	unsigned int i, nr = b->nr;
	uint32_t mask = 255;

	while (mask < 4 * b->cap)
		mask = mask * 2 + 1;
	free(b->place);
	b->place = calloc(mask + 1ull, sizeof(*b->place));
	if (!b->place)
		return -ENOMEM;
	b->place_mask = mask;
	b->nr = 0;
	for (i = 0; i < nr; i++) {
		uint32_t *place = find_place(b, &b->v[i]);

		if (*place) {
			b->v[*place - 1].ns += b->v[i].ns;
			b->v[*place - 1].times += b->v[i].times;
		} else {
			b->v[b->nr++] = b->v[i];
			*place = b->nr;
		}
	}
	return 0;
}

static int emit(struct build *b, const struct sl_segment *seg)
{
	struct sl_segment *last = b->nr ? &b->v[b->nr - 1] : NULL;
	uint32_t *place = NULL;

	if (!seg->ns)
		return 0;
	add_hold(b->r, seg->cause, seg->confidence, seg->ns);
	if (!b->wanted)
		return 0;
	if (b->place) {
		place = find_place(b, seg);
		if (*place) {
			b->v[*place - 1].ns += seg->ns;
			b->v[*place - 1].times++;
			return 0;
		}
	} else if (last && same_hold(last, seg)) {
		last->ns += seg->ns;
		return 0;
	}
	if (b->nr == b->cap) {
		unsigned int cap = b->cap ? b->cap * 2 : 8;
		struct sl_segment *grown = realloc(b->v, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		b->v = grown;
		b->cap = cap;
	}
	b->v[b->nr++] = *seg;
	if (place)
		*place = b->nr;
	if (b->fold_above && (place ? b->nr > b->place_mask / 2 : b->nr > b->fold_above))
		return start_folding(b);
	return 0;
}

/* seg is filled in further: whatever else it says stands for the next part as well. */
static int emit_part(struct build *b, struct sl_segment *seg, uint64_t from_ns, uint64_t to_ns,
		     struct sl_verdict v)
{
	seg->start_ns = from_ns;
	seg->ns = sl_since(to_ns, from_ns);
	seg->times = 1;
	seg->cause = v.cause;
	seg->confidence = v.confidence;
	return emit(b, seg);
}

static void name_rival(const struct sl_engine *e, struct sl_fair_decision *d)
{
	const struct sl_task *rival = d->rival_tid > 0 ? sl_tasks_find(&e->tasks, d->rival_tid) : NULL;

	if (rival)
		memcpy(d->rival_comm, rival->comm, sizeof(d->rival_comm));
}

/*
 * Where the task and its groups stand on the queue that it is on at an instant, as far as
 * decisions up to d show it; false: not known. *ret_from_ns: when it came there.
 */
static bool stand_at(struct build *b, const struct sl_cpu_fair *f, uint64_t at_ns, uint64_t *ret_from_ns)
{
	const struct sl_task *t = b->closing->task;
	unsigned int stay = sl_eevdf_stay(t, at_ns, ret_from_ns), i;
	const struct sl_decision *d;
	const struct sl_entity *own = stay < SL_STAYS_MAX ? &t->fair->stays[stay] : NULL;

	if (t->fair->off_until_ns && !stay) {
		*ret_from_ns = t->fair->off_until_ns;
	} else if (own && own->known && own->flags & SL_ENTITY_THROTTLED) {
		*ret_from_ns = sl_throttled_until(&b->x->context, t);
		own = &t->fair->after;
	}
	if (!own || !own->known || *ret_from_ns > at_ns)
		return false;
	if (b->followed_ns < *ret_from_ns) {
		b->followed_ns = *ret_from_ns;
		b->x->entities[0] = *own;
		for (i = 1; i < t->fair->nr_levels; i++) {
			b->x->entities[i] = t->fair->entities[i];
			b->x->entities[i].known &= own == &t->fair->stays[0] && t->fair->ns;
		}
	}
	if (t->fair->nr_levels < 2)
		return true;
	d = sl_decision_at(f, b->followed_ns);
	for (d = d ? sl_decision_after(f, d) : sl_decision_first(f); d && d->ns <= at_ns;
	     d = sl_decision_after(f, d)) {
		sl_decision_follow(f, d, t->fair, b->x->entities);
		b->followed_ns = d->ns;
	}
	return true;
}

/* HZ=1000 */
#define SHORTEST_TICK_NS 1000000u

/*
 * What a flat queue compared is certain until the next tick, which moves the running task's
 * deadline with its weight (task_tick_fair() and reweight_eevdf(), 7.3) and says nothing of it.
 * Where the tick is not known it is taken for the shortest that a kernel is built with.
 */
static void doubt_past_tick(const struct sl_why_context *ctx, uint64_t decided_ns, uint64_t at_ns,
			    struct sl_verdict *v, uint64_t *until_ns)
{
	uint64_t certain_ns = decided_ns + (ctx->tick_ns ? ctx->tick_ns : SHORTEST_TICK_NS);

	if (v->confidence != SL_CONF_EXACT ||
	    (v->cause != SL_CAUSE_INELIGIBLE && v->cause != SL_CAUSE_LATER_DEADLINE &&
	     v->cause != SL_CAUSE_SLICE_PROTECTION))
		return;
	if (at_ns >= certain_ns)
		v->confidence = SL_CONF_DERIVED;
	else if (certain_ns < *until_ns)
		*until_ns = certain_ns;
}

/* What holds t behind the fair task `occupant` from an instant on, and until when that is all we know. */
static bool judge_fair(struct build *b, const struct sl_interval *iv, uint64_t at_ns,
		       struct sl_verdict *ret_v, struct sl_segment *part, uint64_t *ret_until_ns)
{
	const struct sl_task *t = b->closing->task;
	const struct sl_task_fair *tf = t->fair;
	const struct sl_cpu_fair *f = b->e->cpus.at[iv->cpu]->fair;
	const struct sl_decision *d = sl_decision_at(f, at_ns), *next;
	const struct sl_wakeup_check *check;
	const struct sl_level *level;
	uint64_t since_ns;
	bool flat;

	next = d ? sl_decision_after(f, d) : sl_decision_first(f);
	*ret_until_ns = next && next->ns > at_ns ? next->ns : SL_TIME_NONE;
	if (!iv->occupant)
		return false;
	if (d && d->task == iv->occupant->index &&
	    (d->kind == SL_DECISION_STOP || d->kind == SL_DECISION_STOP_LAZILY)) {
		ret_v->cause = d->kind == SL_DECISION_STOP ? SL_CAUSE_RESCHED_DELAYED : SL_CAUSE_LAZY_RESCHED;
		ret_v->confidence = SL_CONF_EXACT;
		part->evidence_event = sl_event_kind_name((enum sl_ev_kind)d->event);
		part->evidence_ns = d->ns;
		part->evidence_cpu = d->cpu;
		return true;
	}
	if (!stand_at(b, f, at_ns, &since_ns)) {
		if (since_ns > at_ns && since_ns < *ret_until_ns)
			*ret_until_ns = since_ns;
		return false;
	}
	/* Until something is decided after it, the check when it was queued there is the latest. */
	check = tf->moved.ns == since_ns ? &tf->moved : &tf->wakeup;
	if (check->ns == since_ns && check->task == iv->occupant->index && iv->ran_at_queueing &&
	    (!d || d->ns < since_ns)) {
		part->evidence_event = sl_event_kind_name((enum sl_ev_kind)check->event);
		part->evidence_cpu = check->cpu;
		flat = check->at.queue.flags & SL_QUEUE_FLAT;
		if (!sl_eevdf_judge_wakeup(&b->x->context, t, check, ret_v, &part->decision))
			return false;
	} else if (d && d->task == iv->occupant->index &&
		   (d->ns >= since_ns || since_ns != t->queued_ns || !tf->ns)) {
		part->evidence_event = sl_event_kind_name((enum sl_ev_kind)d->event);
		part->evidence_cpu = d->cpu;
		level = sl_decision_level(f, d, 0);
		flat = level && level->queue.flags & SL_QUEUE_FLAT;
		if (!sl_eevdf_judge(&b->x->context, t, f, d, b->x->entities, d->ns < since_ns, ret_v, &part->decision))
			return false;
	} else {
		return false;
	}
	part->evidence_ns = part->decision.ns;
	name_rival(b->e, &part->decision);
	if (flat)
		doubt_past_tick(&b->x->context, part->decision.ns, at_ns, ret_v, ret_until_ns);
	return true;
}

/* A stretch behind a fair task, one segment per decision that held the task there. */
static int emit_fair(struct build *b, struct sl_segment *seg, const struct sl_interval *iv,
		     uint64_t from_ns, uint64_t to_ns, struct sl_verdict v)
{
	int ret = 0;

	if (iv->cpu < 0 || iv->summed || !b->e->has_snapshots || !sl_eevdf_knows(b->closing->task) ||
	    (v.cause != SL_CAUSE_FAIR_UNDETERMINED && v.cause != SL_CAUSE_NO_WAKEUP_PREEMPT))
		return emit_part(b, seg, from_ns, to_ns, v);
	while (from_ns < to_ns && !ret) {
		struct sl_segment part = *seg;
		struct sl_verdict pv = v;
		uint64_t until_ns;

		if (judge_fair(b, iv, from_ns, &pv, &part, &until_ns)) {
			pv.confidence = limit_in(b->x, b->closing, iv, pv.confidence);
		} else {
			part = *seg;
			pv.cause = SL_CAUSE_FAIR_UNDETERMINED;
			pv.confidence = SL_CONF_UNKNOWN;
		}
		if (until_ns > to_ns)
			until_ns = to_ns;
		ret = emit_part(b, &part, from_ns, until_ns, pv);
		from_ns = until_ns;
	}
	return ret;
}

static int emit_interval(void *arg, const struct sl_interval *iv);

/* An interval across the end of a throttling is two. */
static int emit_cut(struct build *b, const struct sl_interval *iv, uint64_t cut_ns)
{
	struct sl_interval part = *iv;
	int ret;

	part.end_ns = cut_ns;
	ret = emit_interval(b, &part);
	if (ret)
		return ret;
	part.start_ns = cut_ns;
	part.end_ns = iv->end_ns;
	/* Where the kernel told when it was put back on the queue, what runs then ran at that moment. */
	part.ran_at_queueing = b->closing->task->fair->off_until_ns != 0;
	return emit_interval(b, &part);
}

/* One interval becomes up to three kinds of segments: before, lazy, and hard need_resched. */
static int emit_interval(void *arg, const struct sl_interval *iv)
{
	struct build *b = arg;
	const struct resched *rs = b->resched;
	uint64_t throttled = sl_throttled_until(&b->x->context, b->closing->task);
	struct sl_verdict v = sl_hold_of(&b->x->context, b->closing->task, iv);
	struct sl_segment seg = {
		.cpu = iv->cpu,
		.occupant_tid = iv->occupant ? iv->occupant->tid : -1,
		.evidence_event = iv->summed ? NULL : sl_event_kind_name((enum sl_ev_kind)iv->kind),
		.evidence_ns = iv->change_ns,
		.evidence_cpu = iv->cpu,
	};
	uint64_t at = iv->start_ns, soft, hard;
	int ret;

	if (throttled > iv->start_ns && throttled < iv->end_ns)
		return emit_cut(b, iv, throttled);
	if (iv->before_cpu_known)
		b->r->taints |= SL_TAINT_BEFORE_TRACE;
	if ((b->closing->task->flags & SL_TASK_STACKED || sl_placed_by_slice(b->closing->task)) &&
	    iv->occupant && iv->slot == SL_SLOT_FAIR &&
	    iv->occupant->slice_ns && iv->occupant->slice_ns <= b->closing->task->slice_ns)
		b->r->stacked_ns += iv->end_ns - iv->start_ns;
	if (iv->occupant)
		name_of(seg.occupant_comm, iv->occupant, iv->cpu);
	v.confidence = limit_in(b->x, b->closing, iv, v.confidence);
	if (!rs || iv->cpu != b->closing->run_cpu || at < b->occupant_since_ns ||
	    !yields_to_resched(v.cause))
		return emit_fair(b, &seg, iv, at, iv->end_ns, v);

	hard = rs->hard_ns < iv->end_ns ? rs->hard_ns : iv->end_ns;
	soft = rs->lazy_ns < hard ? rs->lazy_ns : hard;
	if (soft > at) {
		ret = emit_fair(b, &seg, iv, at, soft, v);
		if (ret)
			return ret;
		at = soft;
	}
	if (hard > at) {
		v.cause = SL_CAUSE_LAZY_RESCHED;
		v.confidence = limit_in(b->x, b->closing, iv, resched_confidence(rs->lazy_kind));
		seg.evidence_event = sl_event_kind_name((enum sl_ev_kind)rs->lazy_kind);
		seg.evidence_ns = rs->lazy_event_ns;
		ret = emit_part(b, &seg, at, hard, v);
		if (ret)
			return ret;
		at = hard;
	}
	v.cause = SL_CAUSE_RESCHED_DELAYED;
	v.confidence = limit_in(b->x, b->closing, iv, resched_confidence(rs->hard_kind));
	seg.evidence_event = sl_event_kind_name((enum sl_ev_kind)rs->hard_kind);
	seg.evidence_ns = rs->hard_event_ns;
	return emit_part(b, &seg, at, iv->end_ns, v);
}

static int explain_by_intervals(struct build *b, const struct sl_engine *e)
{
	struct resched rs;

	if (resched_of(e, b->closing, &rs)) {
		b->resched = &rs;
		b->occupant_since_ns = e->cpus.at[b->closing->run_cpu]->curr_since_ns;
	}
	return sl_intervals_each(e, b->closing, emit_interval, b);
}

/* ---- the whole ---- */

static int emit_path(struct build *b, uint64_t end_ns)
{
	const struct sl_task *t = b->closing->task;
	struct sl_verdict v = { SL_CAUSE_WAKE_PATH, limit(b->x, b->closing, SL_CONF_EXACT) };
	struct sl_segment seg;

	if (!b->wanted) {
		put_hold(b->r, v.cause, v.confidence, sl_since(end_ns, b->r->start_ns));
		return 0;
	}
	seg = (struct sl_segment){
		.cpu = -1,
		.occupant_tid = -1,
		.evidence_event = "sched_waking",
		.evidence_ns = t->waking_ns,
		.evidence_cpu = t->waker_cpu,
	};
	return emit_part(b, &seg, b->r->start_ns, end_ns, v);
}

static void choose_primary(struct sl_explained *r)
{
	enum sl_cause place;
	unsigned int i, k;

	r->primary = SL_CAUSE_NONE;
	r->primary_ns = 0;
	r->primary_confidence = SL_CONF_UNKNOWN;
	place = sl_placement_to_blame(r);
	if (place != SL_CAUSE_NONE) {
		r->primary = place;
		r->primary_ns = r->avoidable_ns;
		r->primary_confidence = sl_placement_confidence(r, sl_place_bit(place));
		return;
	}
	for (i = 0; i < r->nr; i++) {
		enum sl_cause cause = (enum sl_cause)r->hold[i].cause;
		unsigned int confidence = r->hold[i].confidence;
		uint64_t ns = r->hold[i].ns;

		/* The parts of a cause lie apart only where their confidence differs. */
		for (k = i + 1; k < r->nr; k++)
			if (r->hold[k].cause == cause) {
				ns += r->hold[k].ns;
				if (r->hold[k].confidence > confidence)
					confidence = r->hold[k].confidence;
			}
		if (ns > r->primary_ns || (ns == r->primary_ns && cause < r->primary)) {
			r->primary = cause;
			r->primary_ns = ns;
			/* as sure as the least sure part of it */
			r->primary_confidence = (enum sl_confidence)confidence;
		}
	}
}

static int explain(struct build *b, const struct sl_engine *e)
{
	const struct sl_closing *closing = b->closing;
	const struct sl_task *t = closing->task;
	struct sl_explained *r = b->r;
	bool queued = t->queued_ns != SL_TIME_NONE, has_wakeup = b->x->context.has_wakeup;
	int ret = 0;

	r->nr = 0;
	r->stacked_ns = 0;
	r->taints = closing->taints;
	r->start_ns = sl_wait_start(t, b->x->context.from_wakeup);
	r->delay_ns = sl_since(closing->end_ns, r->start_ns);
	if (closing->taints & SL_TAINT_CLOCK_SKEW) {
		r->delay_ns = 0;
	} else {
		if (queued && r->start_ns < t->queued_ns)
			ret = emit_path(b, t->queued_ns);
		else if (!queued && (has_wakeup || closing->run_cpu < 0))
			ret = emit_path(b, closing->end_ns);
		if (!ret && (queued || (!has_wakeup && closing->run_cpu >= 0)) &&
		    (b->wanted || !explain_by_sums(b->x, e, closing, r)))
			ret = explain_by_intervals(b, e);
	}
	sl_placement_of(&b->x->context, e, closing, r);
	choose_primary(r);
	return ret;
}

int sl_explain(struct sl_explainer *x, const struct sl_engine *e, const struct sl_closing *closing,
	       struct sl_explained *ret)
{
	struct build b = { .x = x, .e = e, .closing = closing, .r = ret };

	return explain(&b, e);
}

/* Where the lag that it was queued with came from: as told, or as place_entity() uses it (6.6 to 7.3). */
static void show_lag(const struct sl_task *t, struct sl_wait *w)
{
	const struct sl_ev_lag_decay *d = &t->fair->decay;

	if (t->fair->was_delayed) {
		w->lag_origin = "delayed";
	} else if (d->pid == t->tid) {
		w->sleep_lag_ns = (int64_t)d->lag;
		w->decayed_lag_ns = (int64_t)d->decayed_lag;
		w->lag_origin = d->reset ? "reset" : d->lag != d->decayed_lag ? "decayed" : "carried";
	} else if (w->sleep_lag_ns != SL_NO_VALUE) {
		w->lag_origin = "carried";
	}
}

/* Protection is virtual time of the running task: heavier ones stay longer. */
static void note_overruns(struct build *b)
{
	unsigned int i;

	for (i = 0; i < b->nr; i++) {
		struct sl_fair_decision *d = &b->v[i].decision;
		__int128 wall;

		if (d->protected_ns == SL_NO_VALUE || !d->curr_weight || b->place ||
		    (b->v[i].cause != SL_CAUSE_SLICE_PROTECTION && d->below != SL_CAUSE_SLICE_PROTECTION))
			continue;
		wall = (__int128)d->protected_ns * d->curr_weight / 1024;
		d->overrun_ns = wall >= b->v[i].ns ? 0 : (int64_t)(b->v[i].ns - wall);
	}
}

int sl_explain_segments(struct sl_explainer *x, const struct sl_engine *e,
			const struct sl_closing *closing, unsigned int fold_above, struct sl_wait *w)
{
	const struct sl_task *t = closing->task;
	struct sl_explained r;
	struct build b = { .x = x, .e = e, .closing = closing, .r = &r, .wanted = true,
			   .fold_above = fold_above };
	bool wake = t->wait_kind == SL_WAIT_WAKE, folded;
	unsigned int i;
	int ret;

	ret = explain(&b, e);
	note_overruns(&b);
	folded = b.place != NULL;
	free(b.place);
	if (ret) {
		free(b.v);
		return ret;
	}
	if (b.nr < b.cap / 2) {
		struct sl_segment *fitted = realloc(b.v, (b.nr ? b.nr : 1) * sizeof(*fitted));

		if (fitted)
			b.v = fitted;
	}
	memset(w, 0, sizeof(*w));
	w->tid = t->tid;
	w->tgid = t->tgid;
	memcpy(w->comm, t->comm, sizeof(w->comm));
	w->sched_class = (enum sl_class)t->sched_class;
	w->cgroup = t->cgroup;
	w->kind = (enum sl_wait_kind)t->wait_kind;
	w->waking_ns = wake ? t->waking_ns : SL_WAIT_NO_TIME;
	w->wakeup_ns = t->queued_ns;
	w->start_ns = r.start_ns;
	w->run_ns = closing->run_cpu >= 0 ? closing->end_ns : SL_WAIT_NO_TIME;
	w->delay_ns = r.delay_ns;
	w->waker_tid = wake && t->waker ? t->waker->tid : -1;
	w->waker_tgid = wake && t->waker ? t->waker->tgid : -1;
	if (wake && t->waker)
		name_of(w->waker_comm, t->waker, t->waker_cpu);
	w->waker_context = wake && t->waker ? (enum sl_waker_context)t->waker_context : SL_WAKER_UNKNOWN;
	w->waker_cpu = wake ? t->waker_cpu : -1;
	w->prev_cpu = wake ? t->prev_cpu : -1;
	w->wake_cpu = w->kind == SL_WAIT_PREEMPT ? -1 : t->wake_cpu;
	w->run_cpu = closing->run_cpu;
	w->migrations = t->migrations;
	w->taints = r.taints;
	for (i = 0; i < r.nr; i++) {
		w->cause_ns[r.hold[i].cause] += r.hold[i].ns;
		w->confidence_ns[r.hold[i].cause][r.hold[i].confidence] += r.hold[i].ns;
	}
	w->sleep_lag_ns = w->wake_lag_ns = w->decayed_lag_ns = SL_NO_VALUE;
	w->was_delayed = -1;
	if (sl_eevdf_knows(t)) {
		if (wake && t->fair->sleep_lag_known)
			w->sleep_lag_ns = t->fair->sleep_lag;
		if (t->fair->ns && t->fair->lag_known)
			w->wake_lag_ns = t->fair->lag;
		if (wake) {
			w->was_delayed = t->fair->was_delayed;
			show_lag(t, w);
		}
	}
	if (w->cause_ns[SL_CAUSE_THROTTLED])
		sl_told_throttled(&x->context, t, &w->throttled_group);
	if (w->cause_ns[SL_CAUSE_THROTTLED] && !w->throttled_group && t->cgroup && x->context.throttled_group)
		w->throttled_group = x->context.throttled_group(x->context.arg, t->cgroup);
	sl_placement_show(&x->context, t, &r, w);
	w->primary = r.primary;
	w->primary_ns = r.primary_ns;
	w->primary_confidence = r.primary_confidence;
	w->segments = b.v;
	w->nr_segments = b.nr;
	w->folded = folded;
	return 0;
}
