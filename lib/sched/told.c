// SPDX-License-Identifier: LGPL-2.1-only
#include "sched/told.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "util/time.h"

#define ROOT_GROUP 1

static int32_t slice_of(uint64_t ns)
{
	return ns <= INT32_MAX ? (int32_t)ns : INT32_MAX;
}

static void entity(struct sl_entity *e, int32_t pid, uint64_t vruntime, uint64_t deadline)
{
	*e = (struct sl_entity){
		.vruntime = vruntime,
		.deadline = deadline,
		.pid = pid,
		.group = ROOT_GROUP,
		.flags = SL_ENTITY_ON_RQ,
		.known = true,
	};
}

static void queue(struct sl_level *l, int32_t cpu, int32_t nr_queued, uint64_t avg_vruntime)
{
	memset(l, 0, sizeof(*l));
	l->queue = (struct sl_fair_queue){
		.zero_vruntime = avg_vruntime,
		.group = ROOT_GROUP,
		.cpu = cpu >= 0 && cpu < SL_CPU_MAX ? cpu : -1,
		.nr_queued = nr_queued,
		.min_slice = -1,
		.flags = SL_QUEUE_FLAT | SL_QUEUE_AVG | SL_QUEUE_NO_MIN_SLICE,
		.known = true,
	};
	l->why = -1;
}

static void protection(struct sl_entity *e, uint64_t vprot)
{
	e->flags |= SL_ENTITY_VPROT;
	e->lag_or_vprot = vprot;
}

/* The last weight that was told of t; 0: none. */
static uint32_t weight_of(const struct sl_task *t)
{
	return t && t->fair ? t->fair->told.placed.weight : 0;
}

static void stand_alone(struct sl_task_fair *tf)
{
	tf->nr_levels = 1;
	tf->groups[0] = ROOT_GROUP;
}

int sl_told_select(struct sl_task *t, const struct sl_event *ev)
{
	struct sl_task_fair *tf = sl_decision_task(t);

	if (!tf)
		return -ENOMEM;
	tf->told.select = ev->select;
	tf->told.selected_ns = ev->ts_ns;
	return 0;
}

/*
 * t is put back on the queue that it stopped on. Was a group without bandwidth there when it
 * stopped? Of several the last one that got it back kept it away.
 */
static void note_throttled(const struct sl_cpu_fair *f, const struct sl_task *t, uint64_t now_ns)
{
	uint64_t latest_ns = 0;
	unsigned int i;

	for (i = 0; f && i < SL_THROTTLED_MAX; i++)
		if (f->throttled[i].cgroup && f->throttled[i].since_ns <= t->queued_ns &&
		    f->throttled[i].until_ns >= t->queued_ns && f->throttled[i].until_ns > latest_ns) {
			latest_ns = f->throttled[i].until_ns;
			t->fair->off_cgroup = f->throttled[i].cgroup;
			t->fair->off_until_ns = now_ns;
		}
}

int sl_told_place(const struct sl_cpu_fair *f, struct sl_task *t, const struct sl_event *ev)
{
	const struct sl_wide_place *w = ev->place.wide;
	struct sl_task_fair *tf = sl_decision_task(t);
	struct sl_told_queueing *told;
	unsigned int stay;

	if (!tf)
		return -ENOMEM;
	told = &tf->told;
	entity(&told->placed, t->tid, w->vruntime, w->deadline);
	told->placed.slice = slice_of(w->slice);
	told->placed.weight = w->weight <= UINT32_MAX ? (uint32_t)w->weight : UINT32_MAX;
	told->lag = (int64_t)w->lag;
	told->placed_lag = (int64_t)w->placed_lag;
	/* A delayed task is placed anew on the queue that it never left (requeue_delayed_entity(), 7.3). */
	told->was_delayed = !(ev->place.flags & SL_PLACE_WAKEUP);
	told->placed_ns = ev->ts_ns;
	if (t->state != SL_TASK_QUEUED)
		return 0;
	/* Moved to this queue, or put back after it was taken off: by bandwidth, or a new priority. */
	stay = sl_decision_stay(t);
	if (stay >= SL_STAYS_MAX)
		return 0;
	if (!stay && t->wait_kind == SL_WAIT_PREEMPT && !tf->off_until_ns)
		note_throttled(f, t, ev->ts_ns);
	tf->stays[stay] = told->placed;
	stand_alone(tf);
	return 0;
}

static void fill_check(struct sl_wakeup_check *check, const struct sl_task *t, const struct sl_task *curr,
		       const struct sl_event *ev)
{
	const struct sl_ev_wakeup_preempt *p = &ev->wakeup_preempt;
	const struct sl_wide_wakeup_preempt *w = p->wide;
	struct sl_level *l = &check->at;

	check->ns = ev->ts_ns;
	check->task = curr && curr->tid == p->curr_pid ? curr->index : UINT32_MAX;
	check->cpu = ev->cpu;
	check->event = SL_EV_WAKEUP_PREEMPT;
	check->level = 0;
	entity(&check->own, t->tid, w->vruntime, w->deadline);
	check->own.slice = slice_of(w->slice);
	check->own.weight = weight_of(t);
	queue(l, p->cpu, p->nr_queued, w->avg_vruntime);
	entity(&l->curr, p->curr_pid, w->curr_vruntime, w->curr_deadline);
	protection(&l->curr, w->curr_vprot);
	l->curr.slice = slice_of(w->curr_slice);
	l->curr.weight = weight_of(curr);
	if (p->best_pid > 0 && p->best_pid != p->curr_pid) {
		entity(&l->best, p->best_pid, w->best_vruntime, w->best_deadline);
		l->best_delayed = p->flags & SL_TOLD_BEST_DELAYED;
	}
	l->why = p->why >= 0 && p->why < SL_PREEMPT_NR ? (int8_t)p->why : -1;
}

/* t waits on the queue of the CPU that the check is about: it was woken, and looked at, there. */
static void note_wakeup(struct sl_task *t, const struct sl_wakeup_check *check, uint64_t now_ns)
{
	struct sl_task_fair *tf = t->fair;

	tf->ns = now_ns;
	tf->wakeup = *check;
	tf->wakeup.ns = now_ns;
	tf->entities[0] = tf->stays[0] = check->own;
	tf->lag = (int64_t)(check->at.queue.zero_vruntime - check->own.vruntime);
	tf->lag_known = true;
	stand_alone(tf);
}

int sl_told_wakeup_preempt(struct sl_task *t, const struct sl_task *curr, const struct sl_event *ev)
{
	struct sl_task_fair *tf = sl_decision_task(t);
	struct sl_wakeup_check check;
	unsigned int stay;

	if (!tf)
		return -ENOMEM;
	fill_check(&check, t, curr, ev);
	stay = sl_decision_stay(t);
	if (t->state != SL_TASK_QUEUED) {
		tf->told.check = check;
		tf->told.checked_ns = ev->ts_ns;
	} else if (!stay && t->wait_kind == SL_WAIT_FORK) {	/* wake_up_new_task() (7.3) */
		note_wakeup(t, &check, t->queued_ns);
	} else if (stay < SL_STAYS_MAX && (stay || tf->off_until_ns)) {	/* moved here, or put back */
		tf->moved = check;
		tf->moved.ns = tf->off_until_ns ? tf->off_until_ns : t->pieces[stay].start_ns;
		tf->stays[stay] = check.own;
		stand_alone(tf);
	}
	return 0;
}

int sl_told_energy(struct sl_task *t, const struct sl_event *ev)
{
	struct sl_task_fair *tf = sl_decision_task(t);
	struct sl_told_energy *en;

	if (!tf)
		return -ENOMEM;
	en = &tf->told.energy;
	/* The candidates of one choice stand together; another choice begins anew. */
	if (en->chosen_ns)
		*en = (struct sl_told_energy){ 0 };
	if (en->nr < SL_ENERGY_CANDIDATES_MAX) {
		en->candidates[en->nr].cpu = ev->energy.cpu;
		en->candidates[en->nr].cost = ev->energy.cost;
		en->candidates[en->nr].fits = ev->energy.fits;
	}
	en->nr++;
	return 0;
}

int sl_told_energy_choice(struct sl_task *t, const struct sl_event *ev)
{
	struct sl_task_fair *tf = sl_decision_task(t);

	if (!tf)
		return -ENOMEM;
	tf->told.energy.choice = ev->energy_choice;
	tf->told.energy.chosen_ns = ev->ts_ns;
	return 0;
}

int sl_told_min_slice(struct sl_task *t, const struct sl_event *ev)
{
	struct sl_task_fair *tf = sl_decision_task(t);

	if (!tf)
		return -ENOMEM;
	tf->told.slices = ev->min_slice;	/* of several the last one: each has the one before as its target */
	return 0;
}

int sl_told_lag_decay(struct sl_task *t, const struct sl_event *ev)
{
	struct sl_task_fair *tf = sl_decision_task(t);

	if (!tf)
		return -ENOMEM;
	tf->told.decay = ev->lag_decay;
	return 0;
}

int sl_told_push(struct sl_task *t, const struct sl_event *ev)
{
	struct sl_task_fair *tf = sl_decision_task(t);

	if (!tf)
		return -ENOMEM;
	tf->push = ev->push;
	tf->nr_pushes++;
	tf->pushed |= ev->push.result == SL_PUSH_PUSHED;
	return 0;
}

void sl_told_queued(struct sl_task *t, uint64_t now_ns)
{
	struct sl_task_fair *tf = t->fair;
	struct sl_told_queueing *told;

	if (!tf)
		return;
	told = &tf->told;
	if (told->selected_ns)
		tf->select = told->select;
	if (told->energy.chosen_ns)
		tf->energy = told->energy;
	tf->slices = told->slices;
	tf->decay = told->decay;
	if (told->checked_ns) {
		note_wakeup(t, &told->check, now_ns);
	} else if (told->placed_ns) {
		tf->ns = now_ns;
		tf->entities[0] = tf->stays[0] = told->placed;
		tf->lag_known = false;
		stand_alone(tf);
	}
	if (told->placed_ns || told->checked_ns) {
		tf->sleep_lag_known = told->placed_ns;
		tf->sleep_lag = told->lag;
		tf->was_delayed = !told->placed_ns || told->was_delayed;
		if (tf->stays[0].slice > 0)
			t->slice_ns = (uint64_t)tf->stays[0].slice;
	}
	sl_told_forget(told);
}

static struct sl_cpu_fair *made(struct sl_cpu_fair **f, int32_t cpu)
{
	if (!*f)
		*f = calloc(1, sizeof(**f));
	if (*f)
		(*f)->cpu = (uint16_t)cpu;
	return *f;
}

int sl_told_pick(struct sl_cpu_fair **fair, struct sl_task *t, const struct sl_task *curr,
		 const struct sl_event *ev, uint64_t oldest_ns)
{
	const struct sl_ev_pick *p = &ev->pick;
	const struct sl_wide_pick *w = p->wide;
	struct sl_cpu_fair *f = made(fair, p->cpu);
	struct sl_level *l;

	if (!f)
		return -ENOMEM;
	f->told.ns = 0;
	if (p->flags & SL_TOLD_PICK_DELAYED)	/* it is dequeued, and another one picked */
		return 0;
	l = &f->told.level;
	queue(l, p->cpu, p->nr_queued, w->avg_vruntime);
	entity(&l->curr, p->pid, w->vruntime, w->deadline);
	l->curr.slice = slice_of(w->slice);
	l->curr.weight = weight_of(t);
	if (p->curr_pid == p->pid)	/* another one's is of when it ran last; it gets a new one now */
		protection(&l->curr, w->vprot);
	if (p->best_pid > 0 && p->best_pid != p->pid) {
		entity(&l->best, p->best_pid, w->best_vruntime, w->best_deadline);
		l->best_delayed = p->flags & SL_TOLD_BEST_DELAYED;
	}
	l->why = p->why >= 0 && p->why < SL_PICK_NR ? (int8_t)p->why : -1;
	l->was_buddy = l->why == SL_PICK_BUDDY;
	if (curr && curr == t) {	/* no sched_switch follows */
		const struct sl_decision d = {
			.ns = ev->ts_ns,
			.task = t->index,
			.cpu = ev->cpu,
			.kind = SL_DECISION_PICK_AGAIN,
			.event = SL_EV_PICK,
		};

		return sl_decision_put(f, &d, l, oldest_ns);
	}
	f->told.prev.known = false;
	if (p->curr_pid > 0 && p->curr_pid != p->pid)
		entity(&f->told.prev, p->curr_pid, w->curr_vruntime, w->curr_deadline);
	f->told.ns = ev->ts_ns;
	return 0;
}

bool sl_told_arrived(const struct sl_cpu_fair *f, struct sl_task *next)
{
	unsigned int stay = sl_decision_stay(next);

	if (!sl_told_is_pick_of(f, next))
		return false;
	if (stay < SL_STAYS_MAX && sl_decision_task(next) && !next->fair->stays[stay].known) {
		next->fair->stays[stay] = f->told.level.curr;
		next->fair->stays[stay].flags &= (uint16_t)~SL_ENTITY_VPROT;
		if (!next->fair->ns || !next->fair->nr_levels) {
			stand_alone(next->fair);
			next->fair->lag_known = false;
		}
	}
	return true;
}

int sl_told_switched(struct sl_cpu_fair *f, const struct sl_task *next, struct sl_task *prev,
		     uint64_t oldest_ns, uint64_t now_ns)
{
	const struct sl_decision d = {
		.ns = now_ns,
		.task = next->index,
		.cpu = f->cpu,
		.kind = SL_DECISION_PICK,
		.event = SL_EV_PICK,
	};
	const struct sl_entity *own = &f->told.prev;

	f->told.ns = 0;
	if (prev) {
		sl_decision_forget(prev);
		if (own->known && own->pid == prev->tid && prev->state == SL_TASK_QUEUED) {
			struct sl_task_fair *tf = sl_decision_task(prev);

			if (!tf)
				return -ENOMEM;
			tf->ns = now_ns;
			tf->entities[0] = tf->stays[0] = *own;
			tf->stays[0].slice = tf->told.placed.slice;
			stand_alone(tf);
			tf->lag = (int64_t)(f->told.level.queue.zero_vruntime - own->vruntime);
			tf->lag_known = true;
		}
	}
	return sl_decision_put(f, &d, &f->told.level, oldest_ns);
}

int sl_told_throttle(struct sl_cpu_fair **fair, const struct sl_event *ev)
{
	struct sl_cpu_fair *f = made(fair, ev->throttle.cpu);
	unsigned int i, at = 0;

	if (!f)
		return -ENOMEM;
	/* In the place of the same group, else a free one, else that of the one that was over first. */
	for (i = 0; i < SL_THROTTLED_MAX; i++) {
		if (f->throttled[i].cgroup == ev->throttle.cgroup || !f->throttled[i].cgroup) {
			at = i;
			break;
		}
		if (f->throttled[i].until_ns < f->throttled[at].until_ns)
			at = i;
	}
	f->throttled[at].cgroup = ev->throttle.cgroup;
	f->throttled[at].since_ns = ev->ts_ns;
	f->throttled[at].until_ns = SL_TIME_NONE;
	return 0;
}

void sl_told_unthrottle(struct sl_cpu_fair *f, const struct sl_event *ev)
{
	unsigned int i;

	for (i = 0; f && i < SL_THROTTLED_MAX; i++)
		if (f->throttled[i].cgroup && f->throttled[i].cgroup == ev->unthrottle.cgroup)
			f->throttled[i].until_ns = ev->ts_ns;
}
