// SPDX-License-Identifier: LGPL-2.1-only
#include "sched/decision.h"

#include <errno.h>
#include <stdlib.h>

void sl_cpu_fair_free(struct sl_cpu_fair *f)
{
	if (f)
		free(f->ring);
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

static struct sl_task_fair *fair_of(struct sl_task *t)
{
	if (!t->fair)
		t->fair = calloc(1, sizeof(*t->fair));
	return t->fair;
}

static void note_lag(struct sl_task_fair *tf, const struct sl_block *own, enum sl_entity_role curr)
{
	tf->lag = (int64_t)(sl_eevdf_avg(&own->queue, &own->by_role[curr]) - tf->entity.vruntime);
	tf->lag_known = true;
}

int sl_decision_waking(struct sl_cpu_fair *f, struct sl_task *t, uint64_t now_ns)
{
	if (t->fair)
		t->fair->was_delayed = false;
	if (!take(f, now_ns) || !f->lone.known)
		return 0;
	if (!fair_of(t))
		return -ENOMEM;
	t->fair->was_delayed = f->lone.flags & SL_ENTITY_DELAYED;
	return 0;
}

void sl_decision_moved(struct sl_task *t)
{
	if (t->fair)
		t->fair->moved = true;
}

int sl_decision_wakeup(struct sl_cpu_fair *f, struct sl_task *t, uint32_t occupant, uint64_t now_ns)
{
	struct sl_task_fair *tf;
	unsigned int i;

	if (t->fair) {
		t->fair->ns = 0;
		t->fair->wakeup.ns = 0;
	}
	if (!take(f, now_ns) || !f->nr_blocks || !f->blocks[0].by_role[SL_ROLE_WAKEE].known)
		return 0;
	tf = fair_of(t);
	if (!tf)
		return -ENOMEM;
	tf->ns = now_ns;
	tf->moved = false;
	tf->entity = f->blocks[0].by_role[SL_ROLE_WAKEE];
	note_lag(tf, &f->blocks[0], SL_ROLE_CURR);
	if (tf->entity.slice > 0)
		t->slice_ns = (uint64_t)tf->entity.slice;
	tf->nr_levels = 0;
	for (i = 0; i < f->nr_blocks; i++) {
		const struct sl_block *b = &f->blocks[i];

		if (!b->by_role[SL_ROLE_WAKEE].known)
			break;
		if (tf->nr_levels < SL_FAIR_LEVELS_MAX)
			tf->groups[tf->nr_levels++] = b->queue.group;
		if (!b->by_role[SL_ROLE_CURR].known || tf->wakeup.ns)
			continue;
		tf->wakeup.ns = now_ns;
		tf->wakeup.cpu = f->cpu;
		tf->wakeup.kind = SL_DECISION_WAKEUP;
		tf->wakeup.level = (uint8_t)i;
		tf->wakeup.nr_levels = 0;
		tf->wakeup.task = occupant;
		tf->wakeup.queue = b->queue;
		tf->wakeup.curr = b->by_role[SL_ROLE_CURR];
		tf->wakeup.best = b->by_role[SL_ROLE_BEST];
		tf->rival = b->by_role[SL_ROLE_WAKEE];
	}
	return 0;
}

/* Where prev stands now that it stopped: queued again, or asleep with its lag. */
static int note_prev(struct sl_cpu_fair *f, struct sl_task *prev, unsigned int nr_next,
		     uint64_t now_ns)
{
	unsigned int i, shared = nr_next;
	struct sl_task_fair *tf;

	if (prev->fair) {
		prev->fair->ns = 0;
		prev->fair->wakeup.ns = 0;
	}
	tf = fair_of(prev);
	if (!tf)
		return -ENOMEM;
	if (f->lone.known && f->lone.pid == prev->tid && !(f->lone.flags & SL_ENTITY_ON_RQ)) {
		tf->sleep_lag_known = f->lone.flags & SL_ENTITY_LAG;
		tf->sleep_lag = (int64_t)f->lone.lag_or_vprot;
		if (f->lone.flags & SL_ENTITY_THROTTLED) {
			tf->ns = now_ns;
			tf->entity = f->lone;
			tf->lag_known = false;
			tf->moved = false;
			tf->nr_levels = 0;
		}
		return 0;
	}
	/* Its own levels stand behind those of next, which it may share from some level on. */
	tf->nr_levels = 0;
	for (i = nr_next; i < f->nr_blocks && tf->nr_levels < SL_FAIR_LEVELS_MAX; i++) {
		const struct sl_entity *own = &f->blocks[i].by_role[SL_ROLE_PREV];

		if (!own->known)
			break;
		if (!tf->nr_levels) {
			tf->entity = *own;
			note_lag(tf, &f->blocks[i], SL_ROLE_NEXT);
		}
		tf->groups[tf->nr_levels++] = f->blocks[i].queue.group;
	}
	for (i = 0; i < nr_next; i++)
		if (f->blocks[i].by_role[SL_ROLE_PREV].known) {
			if (!tf->nr_levels) {
				tf->entity = f->blocks[i].by_role[SL_ROLE_PREV];
				note_lag(tf, &f->blocks[i], SL_ROLE_NEXT);
			}
			shared = i;
			break;
		}
	for (i = shared; i < nr_next && tf->nr_levels < SL_FAIR_LEVELS_MAX; i++)
		tf->groups[tf->nr_levels++] = f->blocks[i].queue.group;
	if (!tf->nr_levels || tf->entity.pid != prev->tid || tf->entity.flags & SL_ENTITY_GROUP)
		return 0;
	tf->ns = now_ns;
	tf->moved = false;
	tf->sleep_lag_known = false;
	return 0;
}

/* A free slot of the ring, which grows while something waits that its oldest entry serves. */
static struct sl_decision *ring_put(struct sl_cpu_fair *f, uint64_t oldest_ns)
{
	uint32_t size = f->ring ? f->ring_mask + 1 : 0, i;
	struct sl_decision *grown;

	if (!size || (f->ring_nr >= size && size < SL_DECISIONS_MAX &&
		      f->ring[f->ring_nr & f->ring_mask].ns > oldest_ns)) {
		grown = malloc((size ? size * 2 : SL_DECISIONS_MIN) * sizeof(*grown));
		if (grown) {
			uint32_t mask = (size ? size * 2 : SL_DECISIONS_MIN) - 1;

			for (i = 0; i < size; i++)
				grown[(f->ring_nr - size + i) & mask] =
					f->ring[(f->ring_nr - size + i) & f->ring_mask];
			free(f->ring);
			f->ring = grown;
			f->ring_mask = mask;
		} else if (!size) {
			return NULL;
		}
	}
	return &f->ring[f->ring_nr++ & f->ring_mask];
}

int sl_decision_made(struct sl_cpu_fair *f, enum sl_decision_kind kind, uint32_t occupant,
		     struct sl_task *prev, uint64_t oldest_ns, uint64_t now_ns)
{
	enum sl_entity_role role = kind == SL_DECISION_PICK ? SL_ROLE_NEXT : SL_ROLE_CURR;
	bool taken = take(f, now_ns);
	struct sl_decision *d;
	unsigned int nr = 0;

	if (prev && prev->fair && !taken)
		prev->fair->ns = prev->fair->wakeup.ns = 0;
	if (!taken)
		return 0;
	while (nr < f->nr_blocks && f->blocks[nr].by_role[role].known)
		nr++;
	if (prev && note_prev(f, prev, nr, now_ns))
		return -ENOMEM;
	if (!nr)
		return 0;
	d = ring_put(f, oldest_ns);
	if (!d)
		return -ENOMEM;
	d->ns = now_ns;
	d->cpu = f->cpu;
	d->kind = (uint8_t)kind;
	d->level = 0;
	d->task = occupant;
	d->queue = f->blocks[0].queue;
	d->curr = f->blocks[0].by_role[role];
	d->best = f->blocks[0].by_role[SL_ROLE_BEST];
	for (d->nr_levels = 0; d->nr_levels < nr && d->nr_levels < SL_FAIR_LEVELS_MAX; d->nr_levels++)
		d->groups[d->nr_levels] = f->blocks[d->nr_levels].queue.group;
	return 0;
}

static uint64_t ring_oldest(const struct sl_cpu_fair *f)
{
	return f->ring_nr > f->ring_mask + 1ull ? f->ring_nr - f->ring_mask - 1 : 0;
}

const struct sl_decision *sl_decision_at(const struct sl_cpu_fair *f, uint64_t ns)
{
	uint64_t low, high;

	if (!f || !f->ring_nr)
		return NULL;
	/* The first one behind ns is searched for; those of one instant stay in order. */
	for (low = ring_oldest(f), high = f->ring_nr; low < high;) {
		uint64_t mid = low + (high - low) / 2;

		if (f->ring[mid & f->ring_mask].ns <= ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low > ring_oldest(f) ? &f->ring[(low - 1) & f->ring_mask] : NULL;
}

const struct sl_decision *sl_decision_first(const struct sl_cpu_fair *f)
{
	return f && f->ring_nr ? &f->ring[ring_oldest(f) & f->ring_mask] : NULL;
}

const struct sl_decision *sl_decision_after(const struct sl_cpu_fair *f, const struct sl_decision *d)
{
	/* The newest lies at ring_nr - 1; how far d is from it tells its number. */
	uint32_t at = (uint32_t)(d - f->ring), newest = (uint32_t)((f->ring_nr - 1) & f->ring_mask);

	return at == newest ? NULL : &f->ring[(at + 1) & f->ring_mask];
}
