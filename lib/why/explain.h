/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * From a wait that ends to its causes.
 *
 * Two ways, one answer: sl_explain() gives the time per cause at a fixed cost
 * where sums are enough, and falls back to the intervals where they are not;
 * sl_explain_segments() always reads the intervals and yields the segments. The
 * tests compare both for every golden wait.
 */
#ifndef SL_WHY_EXPLAIN_H
#define SL_WHY_EXPLAIN_H

#include "sched/eevdf.h"
#include "sched/topology.h"
#include "schedlat/wait.h"
#include "wait/engine.h"
#include "wait/intervals.h"

/* What the recording says about the machine, as far as causes depend on it. */
struct sl_why_context {
	bool from_wakeup;		/* --from=wakeup: the path is no part of the wait */
	bool has_wakeup;		/* sched_wakeup is recorded */
	bool has_push;			/* sched_push_fair is recorded: without one nobody tried */
	bool clock_is_per_cpu;		/* nothing is exact then */
	uint64_t tick_ns;		/* 0: unknown */
	bool no_wakeup_preemption, no_preempt_short;	/* scheduler features that are known to be off */
	bool no_protection;		/* RUN_TO_PARITY is off, and nothing else protects (before 6.17) */
	bool asked_by_event;		/* need_resched events are recorded: a request to stop has one */
	int fair_server;		/* 1 yes, 0 no, -1 unknown */
	/* Of a task's cgroup and those above it, the nearest that was throttled while recording.
	 * NULL: none, or unknown. */
	const char *(*throttled_group)(void *arg, const char *cgroup);
	/* The bandwidth period of that group; 0: unknown. NULL: unknown */
	uint64_t (*throttle_period_ns)(void *arg, const char *cgroup);
	/*
	 * Is the group with this inode number the cgroup or above it? 1 yes, and its path in *ret_path;
	 * 0 no; -1 not known. NULL: not known.
	 */
	int (*group_above)(void *arg, uint64_t ino, const char *cgroup, const char **ret_path);
	void *arg;
	const struct sl_topology *topology;	/* NULL: not known */
};

struct sl_hold {
	uint64_t ns;
	uint8_t cause;			/* enum sl_cause, HOLD or FAIR */
	uint8_t confidence;		/* enum sl_confidence */
};

#define SL_HOLD_MAX (SL_CAUSE_HOLD_NR * SL_CONF_NR)

struct sl_explained {
	uint64_t start_ns, delay_ns;
	unsigned int taints;
	unsigned int nr;
	struct sl_hold hold[SL_HOLD_MAX];	/* sum of ns == delay_ns */
	unsigned int place_causes, place_exact;	/* see struct sl_wait */
	uint64_t avoidable_ns, forbidden_ns;
	int avoidable_cpu, forbidden_cpu;
	bool pull_hurt;				/* wake-affine, and the previous CPU was the free one */
	uint64_t stacked_ns;			/* stacked-wakeup: behind tasks whose slice is no longer */
	enum sl_cause primary;
	enum sl_confidence primary_confidence;
	uint64_t primary_ns;
};

struct sl_explainer {
	struct sl_why_context context;
	/* scratch: where the waiting task and the groups above it stand */
	struct sl_entity entities[SL_FAIR_LEVELS_MAX];
};

/* 0 or -ENOMEM */
int sl_explain(struct sl_explainer *x, const struct sl_engine *e, const struct sl_closing *closing,
	       struct sl_explained *ret);

/*
 * The whole wait as users see it, folded if it has more than fold_above segments
 * (0: never), segments included (malloc'ed into
 * ret->segments; free with sl_wait_release()). 0 or -ENOMEM.
 */
int sl_explain_segments(struct sl_explainer *x, const struct sl_engine *e,
			const struct sl_closing *closing, unsigned int fold_above,
			struct sl_wait *ret);
void sl_wait_release(struct sl_wait *wait);

/* ---- between the files of this room ---- */

struct sl_verdict {
	enum sl_cause cause;
	enum sl_confidence confidence;
};

/* What held t during an interval, need_resched not considered (hold.c). */
struct sl_verdict sl_hold_of(const struct sl_why_context *ctx, const struct sl_task *t,
			     const struct sl_interval *iv);
/* Until when bandwidth control held t since it was queued; 0: it did not; SL_TIME_NONE: not known. */
uint64_t sl_throttled_until(const struct sl_why_context *ctx, const struct sl_task *t);
/*
 * The kernel told that t was put back on its queue, and a group that was out of bandwidth there: was
 * it t's? 1 yes, and its path (owned by the context); 0 no, or nothing was told; -1 not known.
 */
int sl_told_throttled(const struct sl_why_context *ctx, const struct sl_task *t, const char **ret_path);
/* Did the kernel compare slices to choose its CPU, and is another one where all have longer slices than it? */
bool sl_placed_by_slice(const struct sl_task *t);
/* Was it the wrong CPU? Fills place_causes, avoidable_* (placement.c). */
void sl_placement_of(const struct sl_why_context *ctx, const struct sl_engine *e,
		     const struct sl_closing *closing, struct sl_explained *ret);
/* The placement cause that outweighs what held the task; SL_CAUSE_NONE: none does. */
enum sl_cause sl_placement_to_blame(const struct sl_explained *r);
/* How sure r's placement causes of the mask are: the least sure of them. */
enum sl_confidence sl_placement_confidence(const struct sl_explained *r, unsigned int causes);
/* The placement as users see it. */
void sl_placement_show(const struct sl_why_context *ctx, const struct sl_task *t,
		       const struct sl_explained *r, struct sl_wait *w);

static inline unsigned int sl_place_bit(enum sl_cause cause)
{
	return 1u << (cause - SL_CAUSE_HOLD_NR);
}

#endif
