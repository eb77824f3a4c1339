// SPDX-License-Identifier: LGPL-2.1-only
#include "sched/decision.h"

#include <errno.h>
#include <stdlib.h>

void sl_cpu_fair_free(struct sl_cpu_fair *f)
{
	if (f) {
		free(f->ring);
		free(f->levels);
	}
	free(f);
}

/* The snapshot that ev belongs to, begun anew when the last one is of another time. */
static struct sl_cpu_fair *collect(struct sl_cpu_fair **f, const struct sl_event *ev)
{
	uint64_t now_ns = ev->ts_ns;

	if (!*f)
		*f = calloc(1, sizeof(**f));
	if (*f && (*f)->ns != now_ns) {
		(*f)->ns = now_ns;
		(*f)->cpu = ev->cpu;
		(*f)->nr_blocks = 0;
		(*f)->lone.known = false;
	}
	return *f;
}

int sl_snapshot_queue(struct sl_cpu_fair **fair, const struct sl_event *ev)
{
	struct sl_cpu_fair *f = collect(fair, ev);
	struct sl_block *b;
	unsigned int i;

	if (!f)
		return -ENOMEM;
	if (f->nr_blocks == sizeof(f->blocks) / sizeof(*f->blocks))
		return 0;
	b = &f->blocks[f->nr_blocks++];
	sl_fair_queue_read(&ev->queue, &b->queue);
	for (i = 0; i < SL_ROLE_NR; i++)
		b->by_role[i].known = false;
	return 0;
}

int sl_snapshot_entity(struct sl_cpu_fair **fair, const struct sl_event *ev)
{
	struct sl_cpu_fair *f = collect(fair, ev);
	const struct sl_ev_entity *e = &ev->entity;
	struct sl_block *b;

	if (!f)
		return -ENOMEM;
	b = f->nr_blocks ? &f->blocks[f->nr_blocks - 1] : NULL;
	if (e->role <= SL_ROLE_NONE || e->role >= SL_ROLE_NR)
		return 0;
	if (!b || !(e->flags & SL_ENTITY_ON_RQ) || b->by_role[e->role].known)
		sl_entity_read(e, &f->lone);
	else
		sl_entity_read(e, &b->by_role[e->role]);
	return 0;
}

/* The snapshot, if it is of this instant. It serves one event. */
static bool take(struct sl_cpu_fair *f, uint64_t now_ns)
{
	if (!f || !f->ns)
		return false;
	if (f->ns == now_ns) {
		f->ns = 0;
		return true;
	}
	f->ns = 0;
	return false;
}

struct sl_task_fair *sl_decision_task(struct sl_task *t)
{
	if (!t->fair)
		t->fair = calloc(1, sizeof(*t->fair));
	return t->fair;
}

static void note_lag(struct sl_task_fair *tf, const struct sl_block *own, enum sl_entity_role curr)
{
	tf->lag = (int64_t)(sl_eevdf_avg(&own->queue, &own->by_role[curr]) - tf->entities[0].vruntime);
	tf->lag_known = true;
}

int sl_decision_waking(struct sl_cpu_fair *f, struct sl_task *t, uint64_t now_ns)
{
	if (t->fair) {
		t->fair->was_delayed = false;
		sl_told_forget(&t->fair->told);
	}
	if (!take(f, now_ns) || !f->lone.known)
		return 0;
	if (!sl_decision_task(t))
		return -ENOMEM;
	t->fair->was_delayed = f->lone.flags & SL_ENTITY_DELAYED;
	return 0;
}

void sl_decision_forget(struct sl_task *t)
{
	unsigned int i;

	if (!t->fair)
		return;
	t->fair->ns = 0;
	t->fair->wakeup.ns = t->fair->moved.ns = 0;
	t->fair->after.known = false;
	t->fair->off_until_ns = 0;
	t->fair->select.pid = 0;
	t->fair->energy.chosen_ns = 0;
	t->fair->slices.pid = t->fair->decay.pid = t->fair->push.pid = 0;
	t->fair->nr_pushes = 0;
	t->fair->pushed = false;
	for (i = 0; i < SL_STAYS_MAX; i++)
		t->fair->stays[i].known = false;
}

int sl_decision_moved(struct sl_cpu_fair *f, struct sl_task *t, uint64_t now_ns)
{
	unsigned int stay = sl_decision_stay(t);
	struct sl_entity *e;

	if (!take(f, now_ns) || !f->lone.known || f->lone.pid != t->tid || stay >= SL_STAYS_MAX)
		return 0;
	if (!sl_decision_task(t))
		return -ENOMEM;
	e = &t->fair->stays[stay];
	if (e->known)
		return 0;
	*e = f->lone;
	/* dequeue_entity() makes the deadline relative, and leaves vruntime as it was (6.18). */
	if (e->flags & SL_ENTITY_REL_DEADLINE)
		e->deadline += e->vruntime;
	return 0;
}

int sl_decision_arrived(struct sl_cpu_fair *f, struct sl_task *t, uint64_t now_ns)
{
	unsigned int stay = sl_decision_stay(t), i;
	const struct sl_entity *next;
	struct sl_task_fair *tf;

	if (f)
		f->queued_as.known = false;
	if (f && t->fair && stay < SL_STAYS_MAX)
		f->queued_as = t->fair->stays[stay];
	if (!f || f->ns != now_ns || !f->nr_blocks || stay >= SL_STAYS_MAX)
		return 0;
	next = &f->blocks[0].by_role[SL_ROLE_NEXT];
	if (!next->known || next->pid != t->tid)
		return 0;
	tf = sl_decision_task(t);
	if (!tf)
		return -ENOMEM;
	if (tf->stays[stay].known) {
		if (!(tf->stays[stay].flags & SL_ENTITY_THROTTLED))
			return 0;
		tf->after = *next;
		tf->nr_levels = 0;
	} else {
		tf->stays[stay] = *next;
	}
	if (tf->ns && tf->nr_levels)
		return 0;
	for (i = 0; i < f->nr_blocks && i < SL_FAIR_LEVELS_MAX && f->blocks[i].by_role[SL_ROLE_NEXT].known; i++) {
		tf->groups[i] = f->blocks[i].queue.group;
		tf->entities[i].known = false;
	}
	tf->nr_levels = (uint8_t)i;
	tf->lag_known = false;
	return 0;
}

int sl_decision_wakeup(struct sl_cpu_fair *f, struct sl_task *t, uint32_t occupant, uint64_t now_ns)
{
	struct sl_task_fair *tf;
	unsigned int i;

	sl_decision_forget(t);
	if (!take(f, now_ns) || !f->nr_blocks || !f->blocks[0].by_role[SL_ROLE_WAKEE].known)
		return 0;
	tf = sl_decision_task(t);
	if (!tf)
		return -ENOMEM;
	tf->ns = now_ns;
	tf->entities[0] = f->blocks[0].by_role[SL_ROLE_WAKEE];
	note_lag(tf, &f->blocks[0], SL_ROLE_CURR);
	if (tf->entities[0].slice > 0)
		t->slice_ns = (uint64_t)tf->entities[0].slice;
	tf->nr_levels = 0;
	for (i = 0; i < f->nr_blocks; i++) {
		const struct sl_block *b = &f->blocks[i];

		if (!b->by_role[SL_ROLE_WAKEE].known) {
			/* enqueue_task_fair() stops at a throttled group, whose entity is off its queue (6.12) */
			if (f->lone.known && f->lone.pid == t->tid && f->lone.flags & SL_ENTITY_GROUP)
				tf->entities[0].flags |= f->lone.flags & SL_ENTITY_THROTTLED;
			break;
		}
		if (tf->nr_levels == SL_FAIR_LEVELS_MAX)
			break;
		tf->groups[i] = b->queue.group;
		if (i)
			tf->entities[i] = b->by_role[SL_ROLE_WAKEE];
		tf->nr_levels++;
		if (!b->by_role[SL_ROLE_CURR].known || tf->wakeup.ns)
			continue;
		tf->wakeup.ns = now_ns;
		tf->wakeup.cpu = f->cpu;
		tf->wakeup.level = (uint8_t)i;
		tf->wakeup.own = b->by_role[SL_ROLE_WAKEE];
		tf->wakeup.task = occupant;
		tf->wakeup.at.queue = b->queue;
		tf->wakeup.at.curr = b->by_role[SL_ROLE_CURR];
		tf->wakeup.at.best = b->by_role[SL_ROLE_BEST];
		tf->wakeup.at.prev.known = false;
		tf->wakeup.at.why = -1;
		tf->wakeup.event = SL_EV_WAKEUP;
	}
	tf->stays[0] = tf->entities[0];
	if (f->blocks[0].by_role[SL_ROLE_CURR].known) {
		f->looked_vruntime = f->blocks[0].by_role[SL_ROLE_CURR].vruntime;
		f->looked_pid = f->blocks[0].by_role[SL_ROLE_CURR].pid;
	}
	return 0;
}

/* The next level of prev's hierarchy. Above the one it shares with next, both are the same entity. */
static bool add_level(struct sl_task_fair *tf, const struct sl_block *b)
{
	const struct sl_entity *own = &b->by_role[SL_ROLE_PREV];

	if (tf->nr_levels == SL_FAIR_LEVELS_MAX)
		return false;
	if (!own->known)
		own = &b->by_role[SL_ROLE_NEXT];
	if (!own->known)
		return false;
	tf->entities[tf->nr_levels] = *own;
	if (!tf->nr_levels)
		note_lag(tf, b, SL_ROLE_NEXT);
	tf->groups[tf->nr_levels++] = b->queue.group;
	return true;
}

/* Where prev stands now that it stopped: queued again, or asleep with its lag. */
static int note_prev(struct sl_cpu_fair *f, struct sl_task *prev, unsigned int nr_next,
		     uint64_t now_ns)
{
	struct sl_task_fair *tf;
	unsigned int i;

	sl_decision_forget(prev);
	tf = sl_decision_task(prev);
	if (!tf)
		return -ENOMEM;
	if (f->lone.known && f->lone.pid == prev->tid && !(f->lone.flags & SL_ENTITY_ON_RQ)) {
		tf->sleep_lag_known = f->lone.flags & SL_ENTITY_LAG;
		tf->sleep_lag = (int64_t)f->lone.lag_or_vprot;
		if (f->lone.flags & SL_ENTITY_THROTTLED) {
			tf->ns = now_ns;
			tf->stays[0] = f->lone;
			tf->lag_known = false;
			tf->nr_levels = 0;
		}
		return 0;
	}
	/* Its own levels stand behind those of next, which it may share from some level on. */
	tf->nr_levels = 0;
	for (i = nr_next; i < f->nr_blocks; i++)
		if (!add_level(tf, &f->blocks[i]))
			break;
	for (i = 0; i < nr_next && !f->blocks[i].by_role[SL_ROLE_PREV].known; i++)
		;
	for (; i < nr_next && add_level(tf, &f->blocks[i]); i++)
		;
	if (!tf->nr_levels || tf->entities[0].pid != prev->tid || tf->entities[0].flags & SL_ENTITY_GROUP)
		return 0;
	tf->ns = now_ns;
	tf->stays[0] = tf->entities[0];
	/* A sleeper that stays queued until its lag is paid sleeps with the lag that it has now. */
	tf->sleep_lag_known = tf->entities[0].flags & SL_ENTITY_DELAYED;
	tf->sleep_lag = tf->lag;
	return 0;
}

static int rings_resize(struct sl_cpu_fair *f, uint32_t size)
{
	struct sl_decision *ring = malloc(size * sizeof(*ring));
	struct sl_level *levels = malloc(2 * size * sizeof(*levels));
	uint64_t nr;

	if (!ring || !levels) {
		free(ring);
		free(levels);
		return -ENOMEM;
	}
	for (nr = f->ring_first; nr < f->ring_nr; nr++)
		ring[nr & (size - 1)] = f->ring[nr & f->ring_mask];
	for (nr = f->levels_first; nr < f->levels_nr; nr++)
		levels[nr & (2 * size - 1)] = f->levels[nr & (2 * f->ring_mask + 1)];
	free(f->ring);
	free(f->levels);
	f->ring = ring;
	f->levels = levels;
	f->ring_mask = size - 1;
	return 0;
}

static struct sl_level *level_at(const struct sl_cpu_fair *f, uint64_t nr)
{
	return &f->levels[nr & (2 * f->ring_mask + 1)];
}

/* A free slot of the ring, which grows while something waits that its oldest entry serves. */
static struct sl_decision *ring_put(struct sl_cpu_fair *f, uint64_t oldest_ns)
{
	uint32_t size = f->ring ? f->ring_mask + 1 : 0;

	if (!size) {
		if (rings_resize(f, SL_DECISIONS_MIN))
			return NULL;
	} else if (f->ring_nr - f->ring_first == size && size < SL_DECISIONS_MAX &&
		   f->ring[f->ring_first & f->ring_mask].ns >= oldest_ns) {
		rings_resize(f, size * 2);	/* without more room the oldest ones go */
	}
	if (f->ring_nr - f->ring_first == f->ring_mask + 1ull)
		f->ring_first++;
	return &f->ring[f->ring_nr++ & f->ring_mask];
}

/* A decision of which no queue is shown. */
static int put_plain(struct sl_cpu_fair *f, enum sl_decision_kind kind, enum sl_ev_kind event,
		     uint32_t occupant, unsigned int cpu, uint64_t oldest_ns, uint64_t now_ns)
{
	struct sl_decision *d = ring_put(f, oldest_ns);

	if (!d)
		return -ENOMEM;
	*d = (struct sl_decision){
		.ns = now_ns,
		.task = occupant,
		.cpu = (uint16_t)cpu,
		.kind = (uint8_t)kind,
		.event = (uint8_t)event,
	};
	return 0;
}

static struct sl_level *add_to_levels(struct sl_cpu_fair *f)
{
	struct sl_level *l = &f->levels[f->levels_nr++ & (2 * f->ring_mask + 1)];

	if (f->levels_nr - f->levels_first > 2ull * f->ring_mask + 2)
		f->levels_first++;
	return l;
}

int sl_decision_put(struct sl_cpu_fair *f, const struct sl_decision *head, const struct sl_level *level,
		    uint64_t oldest_ns)
{
	struct sl_decision *d = ring_put(f, oldest_ns);

	if (!d)
		return -ENOMEM;
	*d = *head;
	d->first_level = f->levels_nr;
	d->nr_levels = 1;
	*add_to_levels(f) = *level;
	return 0;
}

static struct sl_decision *last_of(const struct sl_cpu_fair *f)
{
	return f->ring_first < f->ring_nr ? &f->ring[(f->ring_nr - 1) & f->ring_mask] : NULL;
}

/* The request to stop that has not led through the scheduler yet; NULL: none. */
static const struct sl_decision *pending_stop(const struct sl_cpu_fair *f)
{
	const struct sl_decision *last = last_of(f);

	return last && (last->kind == SL_DECISION_STOP || last->kind == SL_DECISION_STOP_LAZILY) ? last : NULL;
}

/*
 * Did l's running group run already at the last decision? pick_next_task_fair() does not put
 * and set again what prev and next have in common (6.18), so its protection goes on.
 */
static bool ran_in(const struct sl_cpu_fair *f, const struct sl_decision *last, const struct sl_level *l)
{
	const struct sl_level *then;
	unsigned int i;

	if (!(l->curr.flags & SL_ENTITY_GROUP))
		return false;
	for (i = 0; (then = sl_decision_level(f, last, i)) != NULL; i++)
		if (then->queue.group == l->queue.group)
			return then->curr.flags & SL_ENTITY_GROUP && then->curr.group == l->curr.group;
	return false;
}

/* The latest decision before the one that was just put into the ring; NULL: none. */
static const struct sl_decision *last_with_levels(const struct sl_cpu_fair *f)
{
	uint64_t nr;

	for (nr = f->ring_nr - 1; nr > f->ring_first; nr--)
		if (f->ring[(nr - 1) & f->ring_mask].nr_levels)
			return &f->ring[(nr - 1) & f->ring_mask];
	return NULL;
}

/*
 * set_next_task_fair() (7.3) reweights a task after it was picked and before that is told, which
 * moves its vruntime and deadline, but not the average. What was compared is what it was queued as.
 */
static void before_reweight(struct sl_cpu_fair *f, struct sl_level *l)
{
	if (!(l->queue.flags & SL_QUEUE_FLAT) || !f->queued_as.known || f->queued_as.pid != l->curr.pid)
		return;
	l->queue.zero_vruntime = sl_eevdf_avg(&l->queue, &l->curr);
	l->queue.flags |= SL_QUEUE_AVG;
	l->curr.vruntime = f->queued_as.vruntime;
	l->curr.deadline = f->queued_as.deadline;
}

int sl_decision_made(struct sl_cpu_fair *f, enum sl_decision_kind kind, uint32_t occupant,
		     struct sl_task *prev, uint64_t oldest_ns, uint64_t now_ns)
{
	enum sl_entity_role role = kind == SL_DECISION_PICK ? SL_ROLE_NEXT : SL_ROLE_CURR;
	bool taken = take(f, now_ns);
	const struct sl_decision *last, *stop;
	struct sl_decision *d;
	unsigned int nr = 0, i;
	int32_t buddy;

	if (prev && !taken)
		sl_decision_forget(prev);
	if (!taken)	/* what was decided before a pick does not hold after it */
		return f && f->ring && kind == SL_DECISION_PICK ?
			       put_plain(f, kind, SL_EV_SWITCH, occupant, f->cpu, oldest_ns, now_ns) : 0;
	stop = pending_stop(f);
	if (stop && kind == SL_DECISION_TICK && stop->task == occupant)
		return 0;
	/*
	 * A wakeup that preempts by its shorter slice makes itself the next buddy before it asks the
	 * running task to stop (wakeup_preempt_fair(), 7.3); the pick has cleared that when it is told.
	 */
	buddy = stop ? stop->buddy : 0;
	while (nr < f->nr_blocks && nr < SL_FAIR_LEVELS_MAX && f->blocks[nr].by_role[role].known)
		nr++;
	/* A timer that only woke somebody brought curr's account up to date then, not since. */
	if (kind == SL_DECISION_TICK && nr && f->blocks[0].by_role[role].pid == f->looked_pid &&
	    f->blocks[0].by_role[role].vruntime == f->looked_vruntime)
		return 0;
	if (prev && note_prev(f, prev, nr, now_ns))
		return -ENOMEM;
	/* Next is of another class: the levels show where prev and its groups stand. */
	for (i = nr; !nr && i < f->nr_blocks && i < SL_FAIR_LEVELS_MAX; i++)
		if (!f->blocks[i].by_role[SL_ROLE_PREV].known)
			break;
	nr = nr ? nr : i;
	if (!nr)
		return f->ring && kind == SL_DECISION_PICK ?
			       put_plain(f, kind, SL_EV_SWITCH, occupant, f->cpu, oldest_ns, now_ns) : 0;
	d = ring_put(f, oldest_ns);
	if (!d)
		return -ENOMEM;
	last = last_with_levels(f);
	if (last && (!prev || last->task != prev->index))
		last = NULL;
	d->ns = now_ns;
	d->first_level = f->levels_nr;
	d->task = occupant;
	d->cpu = f->cpu;
	d->kind = (uint8_t)kind;
	d->event = kind == SL_DECISION_PICK ? SL_EV_SWITCH : kind == SL_DECISION_TICK ? SL_EV_TICK : SL_EV_PICKED_AGAIN;
	d->nr_levels = (uint8_t)nr;
	for (i = 0; i < nr; i++) {
		const struct sl_block *b = &f->blocks[i];
		struct sl_level *l = add_to_levels(f);

		l->queue = b->queue;
		l->curr = b->by_role[role];
		l->best = b->by_role[SL_ROLE_BEST];
		l->prev = b->by_role[SL_ROLE_PREV];
		l->why = -1;
		l->best_delayed = false;
		l->kept = kind == SL_DECISION_PICK && last && ran_in(f, last, l);
		l->was_buddy = kind == SL_DECISION_PICK && !i && buddy > 0 && l->curr.pid == buddy;
		if (kind == SL_DECISION_PICK && !i)
			before_reweight(f, l);
	}
	f->queued_as.known = false;
	return 0;
}

int sl_decision_stop(struct sl_cpu_fair **target, struct sl_cpu_fair *f, bool lazily, uint32_t occupant,
		     const struct sl_event *ev, uint64_t oldest_ns)
{
	int32_t buddy = take(f, ev->ts_ns) && f->nr_blocks ? f->blocks[0].queue.buddy : 0;

	if (!*target)
		*target = calloc(1, sizeof(**target));
	if (!*target ||
	    put_plain(*target, lazily ? SL_DECISION_STOP_LAZILY : SL_DECISION_STOP, (enum sl_ev_kind)ev->kind,
		      occupant, ev->cpu, oldest_ns, ev->ts_ns))
		return -ENOMEM;
	last_of(*target)->buddy = buddy;
	return 0;
}

const struct sl_level *sl_decision_level(const struct sl_cpu_fair *f, const struct sl_decision *d,
					 unsigned int i)
{
	if (i >= d->nr_levels || d->first_level < f->levels_first)
		return NULL;
	return level_at(f, d->first_level + i);
}

void sl_decision_follow(const struct sl_cpu_fair *f, const struct sl_decision *d,
			const struct sl_task_fair *tf, struct sl_entity entities[SL_FAIR_LEVELS_MAX])
{
	const struct sl_level *l;
	unsigned int i, k;

	if (tf->nr_levels < 2)
		return;
	for (i = 0; (l = sl_decision_level(f, d, i)) != NULL; i++) {
		const struct sl_entity *shown[] = { &l->curr, &l->best, &l->prev };

		for (k = 1; k < tf->nr_levels; k++) {
			if (tf->groups[k] != l->queue.group)
				continue;
			for (unsigned int s = 0; s < 3; s++)
				if (shown[s]->known && shown[s]->flags & SL_ENTITY_GROUP &&
				    shown[s]->group == tf->groups[k - 1])
					entities[k] = *shown[s];
		}
	}
}

const struct sl_decision *sl_decision_at(const struct sl_cpu_fair *f, uint64_t ns)
{
	uint64_t low, high;

	if (!f || f->ring_first == f->ring_nr)
		return NULL;
	/* The first one behind ns is searched for; those of one instant stay in order. */
	for (low = f->ring_first, high = f->ring_nr; low < high;) {
		uint64_t mid = low + (high - low) / 2;

		if (f->ring[mid & f->ring_mask].ns <= ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low > f->ring_first ? &f->ring[(low - 1) & f->ring_mask] : NULL;
}

const struct sl_decision *sl_decision_first(const struct sl_cpu_fair *f)
{
	return f && f->ring_first < f->ring_nr ? &f->ring[f->ring_first & f->ring_mask] : NULL;
}

const struct sl_decision *sl_decision_after(const struct sl_cpu_fair *f, const struct sl_decision *d)
{
	/* The newest lies at ring_nr - 1; how far d is from it tells its number. */
	uint32_t at = (uint32_t)(d - f->ring), newest = (uint32_t)((f->ring_nr - 1) & f->ring_mask);

	return at == newest ? NULL : &f->ring[(at + 1) & f->ring_mask];
}
