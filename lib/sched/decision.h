/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Decisions of the fair class, as far as snapshots tell them: what each CPU's
 * scheduler saw when it picked, ticked or checked a wakeup, and where each queued
 * task stood then.
 *
 * Snapshot events stand before the event that they explain (event/evidence.h); they
 * are collected per recording CPU and taken over when that event comes. A queued
 * entity's vruntime and deadline do not change until it runs, leaves the queue or is
 * reweighted, so what was seen when a task was queued holds for its wait.
 */
#ifndef SL_SCHED_DECISION_H
#define SL_SCHED_DECISION_H

#include "sched/eevdf.h"
#include "sched/task.h"

enum sl_decision_kind {
	SL_DECISION_WAKEUP,	/* the preemption check of a wakeup */
	SL_DECISION_PICK,	/* another task was picked */
	SL_DECISION_PICK_AGAIN,	/* the running task was picked again */
	SL_DECISION_TICK,	/* the tick let the running task run on */
	SL_DECISION_STOP,	/* the running task was asked to stop at once: no levels */
	SL_DECISION_STOP_LAZILY,
};

#define SL_DECISIONS_MIN 256
#define SL_DECISIONS_MAX (16 * 1024)

/* A queue at a decision, and what stood in it; each entity known or not. */
struct sl_level {
	struct sl_fair_queue queue;
	struct sl_entity curr;		/* runs, or was picked */
	struct sl_entity best;		/* the earliest deadline of those eligible, where before curr's */
	struct sl_entity prev;		/* picks: stopped, and is queued here */
	int8_t why;			/* the kernel's own word (event/told.h); -1: it did not say */
	bool best_delayed;		/* told: a pick would dequeue best and go on */
	bool kept;			/* picks: curr, a group, ran before as well: only its task changed */
	bool was_buddy;			/* picks: curr was the next buddy when the one before was asked to stop */
};

struct sl_decision {
	uint64_t ns;
	uint64_t first_level;		/* number of its first level in the ring of levels */
	uint32_t task;			/* index of the task that runs; UINT32_MAX unknown */
	int32_t buddy;			/* requests to stop: the queue's next buddy; 0 none, or not known */
	uint16_t cpu;			/* that recorded it */
	uint8_t kind;			/* enum sl_decision_kind */
	uint8_t event;			/* enum sl_ev_kind that told it */
	uint8_t nr_levels;		/* of the running task's hierarchy, from its own queue to the root's */
};

#define SL_STAYS_MAX 8
#define SL_THROTTLED_MAX 16

/* The preemption check of a wakeup. */
struct sl_wakeup_check {
	uint64_t ns;			/* 0: none, or no fair task ran there */
	uint32_t task;			/* as in struct sl_decision */
	uint16_t cpu;
	uint8_t event;			/* as in struct sl_decision */
	uint8_t level;			/* of the woken task's hierarchy: where both had an entity */
	struct sl_entity own;		/* its own there */
	struct sl_level at;
};

#define SL_ENERGY_CANDIDATES_MAX 16

/* What energy-aware scheduling compared for a task. */
struct sl_told_energy {
	uint64_t chosen_ns;		/* 0: it has not chosen */
	struct sl_ev_energy_choice choice;
	uint32_t nr;			/* candidates ever; the first ones are kept */
	struct {
		uint64_t cost;
		int32_t cpu, fits;
	} candidates[SL_ENERGY_CANDIDATES_MAX];
};

/* What the kernel told of a task on its way to a queue. */
struct sl_told_queueing {
	uint64_t placed_ns, checked_ns, selected_ns; /* 0: not told */
	struct sl_entity placed;	/* sched_place_entity */
	int64_t lag, placed_lag;	/* its lag when it left the queue, and what was given back */
	bool was_delayed;
	struct sl_wakeup_check check;	/* sched_wakeup_preempt */
	struct sl_ev_select select;	/* sched_select_task_rq_fair */
	struct sl_told_energy energy;
	struct sl_ev_min_slice slices;	/* sched_min_slice_choice; pid 0: not told */
	struct sl_ev_lag_decay decay;	/* sched_lag_decay; pid 0: not told */
};

static inline void sl_told_forget(struct sl_told_queueing *told)
{
	told->placed_ns = told->checked_ns = told->selected_ns = 0;
	told->energy.chosen_ns = told->energy.nr = 0;
	told->slices.pid = told->decay.pid = 0;
}

/*
 * What a waiting task brings to decisions. It stays on one queue after the other; where
 * it stood there is seen when it is queued by a wakeup or a switch, else when it leaves
 * the queue or is picked from it.
 */
struct sl_task_fair {
	uint64_t ns;			/* when it was seen to be queued; 0: it was not */
	struct sl_entity stays[SL_STAYS_MAX]; /* its own entity, by piece of the wait; known or not */
	struct sl_entity after;		/* the first stay began throttled: as it was picked later */
	uint8_t nr_levels;
	int32_t groups[SL_FAIR_LEVELS_MAX]; /* its queues, from its own to the root's */
	struct sl_entity entities[SL_FAIR_LEVELS_MAX]; /* its own, and the groups' above it, at ns */
	int64_t lag;			/* V of its own queue - vruntime */
	bool lag_known;
	struct sl_wakeup_check wakeup;
	struct sl_wakeup_check moved;	/* the check on the CPU that it was moved to last; told only */
	struct sl_told_queueing told;	/* of the wakeup that goes on */
	struct sl_ev_select select;	/* of its wakeup; pid 0: not told */
	struct sl_told_energy energy;	/* the same; chosen_ns 0: not told */
	struct sl_ev_min_slice slices;	/* the same; pid 0: not told */
	struct sl_ev_lag_decay decay;	/* the same; pid 0: not told */
	struct sl_ev_push push;		/* the last attempt to push it while it waits; pid 0: none was told */
	uint32_t nr_pushes;		/* so many attempts */
	bool pushed;			/* one of them moved it */
	uint64_t off_until_ns;		/* it was taken off its queue when it stopped, and put back then; 0: not */
	uint64_t off_cgroup;		/* the group whose bandwidth was used up there; 0: not known */
	/* its last sleep */
	int64_t sleep_lag;		/* lag at its dequeue */
	bool sleep_lag_known;
	bool was_delayed;		/* it was still queued, delayed, when it was woken */
};

struct sl_block {			/* a level of a snapshot */
	struct sl_fair_queue queue;
	struct sl_entity by_role[SL_ROLE_NR];
};

/* Per CPU; made when its first snapshot comes. */
struct sl_cpu_fair {
	uint64_t ns;			/* of the snapshot being collected; 0: none */
	uint16_t cpu;
	unsigned int nr_blocks;
	struct sl_block blocks[2 * SL_FAIR_LEVELS_MAX];
	struct sl_entity lone;		/* an entity off every queue, or without one */
	struct sl_entity queued_as;	/* how the task that is being switched to had been queued, or not known */
	struct {			/* a pick whose sched_switch has not come */
		uint64_t ns;		/* 0: none */
		struct sl_level level;
		struct sl_entity prev;	/* ran, and is still queued; or not known */
	} told;
	struct {			/* groups that were without bandwidth here, latest */
		uint64_t cgroup;	/* 0: free */
		uint64_t since_ns, until_ns; /* until SL_TIME_NONE: they still are */
	} throttled[SL_THROTTLED_MAX];
	uint64_t looked_vruntime;	/* of the running entity when a wakeup last looked at it */
	int32_t looked_pid;

	struct sl_decision *ring;
	struct sl_level *levels;	/* twice as many */
	uint32_t ring_mask;
	uint64_t ring_nr, levels_nr;	/* ever */
	uint64_t ring_first, levels_first; /* before these nothing is kept */
};

void sl_cpu_fair_free(struct sl_cpu_fair *f);	/* NULL is fine */

/* For sched/told.c: t's part, made when there is none (NULL: no memory); that it waits nowhere. */
struct sl_task_fair *sl_decision_task(struct sl_task *t);
void sl_decision_forget(struct sl_task *t);
/* The stay, by piece of the wait, that t is in now: below SL_STAYS_MAX, or not kept. */
static inline unsigned int sl_decision_stay(const struct sl_task *t)
{
	return t->nr_pieces ? t->nr_pieces - 1u : 0;
}
/* A decision with one level into f's ring; head says all but where the level lies. */
int sl_decision_put(struct sl_cpu_fair *f, const struct sl_decision *head, const struct sl_level *level,
		    uint64_t oldest_ns);

/* Collect; *f is made when NULL. 0 or -ENOMEM. */
int sl_snapshot_queue(struct sl_cpu_fair **f, const struct sl_event *ev);
int sl_snapshot_entity(struct sl_cpu_fair **f, const struct sl_event *ev);

/*
 * The event at now_ns takes its snapshot over. f is that of the recording CPU (NULL
 * is fine: no snapshot); a snapshot of another time is dropped.
 */
/* t was queued by a wakeup; occupant: index of the task that runs there. */
int sl_decision_wakeup(struct sl_cpu_fair *f, struct sl_task *t, uint32_t occupant, uint64_t now_ns);
/* t is about to be woken. */
int sl_decision_waking(struct sl_cpu_fair *f, struct sl_task *t, uint64_t now_ns);
/* t, queued, moves to another CPU (before it is queued there). */
int sl_decision_moved(struct sl_cpu_fair *f, struct sl_task *t, uint64_t now_ns);
/* t, queued, was picked on this CPU (before its wait closes). The snapshot is not used up. */
int sl_decision_arrived(struct sl_cpu_fair *f, struct sl_task *t, uint64_t now_ns);
/* The running task of *target's CPU was asked to stop, on CPU `cpu`, whose snapshots are f. */
int sl_decision_stop(struct sl_cpu_fair **target, struct sl_cpu_fair *f, bool lazily, uint32_t occupant,
		     const struct sl_event *ev, uint64_t oldest_ns);
/*
 * A pick, a repeated pick or a tick on this CPU, whose running task is `occupant`.
 * prev, for picks: the task that stopped (it may wait or sleep from now on).
 * oldest_ns: no task has been waiting here since before that.
 */
int sl_decision_made(struct sl_cpu_fair *f, enum sl_decision_kind kind, uint32_t occupant,
		     struct sl_task *prev, uint64_t oldest_ns, uint64_t now_ns);

/* Level i of d, which lies in f's ring; NULL: no longer there. */
const struct sl_level *sl_decision_level(const struct sl_cpu_fair *f, const struct sl_decision *d,
					 unsigned int i);
/*
 * Where the groups above a waiting task stood after d: entities[], as they were
 * before it, is brought up to date from what d shows of them.
 */
void sl_decision_follow(const struct sl_cpu_fair *f, const struct sl_decision *d,
			const struct sl_task_fair *tf, struct sl_entity entities[SL_FAIR_LEVELS_MAX]);

/* The latest decision of the ring at or before ns; NULL: none, or no longer there. */
const struct sl_decision *sl_decision_at(const struct sl_cpu_fair *f, uint64_t ns);
/* The oldest one kept; NULL: none. */
const struct sl_decision *sl_decision_first(const struct sl_cpu_fair *f);
/* The one after d; NULL: none. d lies in f's ring. */
const struct sl_decision *sl_decision_after(const struct sl_cpu_fair *f, const struct sl_decision *d);

#endif
