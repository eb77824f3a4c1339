/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A wait: the time between "could run" and "runs" of one task, what held it
 * instant by instant, and where it could have run instead.
 *
 * Invariants, asserted by the tests for every wait:
 *	delay_ns == run_ns - start_ns		(lower bound if open at the end)
 *	sum(segments[].ns) == delay_ns		when segments are present; contiguous unless folded
 *	sum(cause_ns[]) == delay_ns		over the HOLD and FAIR causes
 * All times are ns on the recording's clock. "No CPU known" is -1, "no such
 * instant" is SL_WAIT_NO_TIME, an unknown task is tid -1.
 */
#ifndef SCHEDLAT_WAIT_H
#define SCHEDLAT_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "schedlat/api.h"

#define SL_WAIT_NO_TIME UINT64_MAX

enum sl_wait_kind { SL_WAIT_WAKE, SL_WAIT_PREEMPT, SL_WAIT_FORK, SL_WAIT_NR };

enum sl_class { SL_CLASS_UNKNOWN, SL_CLASS_STOP, SL_CLASS_DL, SL_CLASS_RT, SL_CLASS_FAIR,
		SL_CLASS_IDLE, SL_CLASS_EXT, SL_CLASS_NR };

/* A cause: what held the task (HOLD, FAIR) or sent it there (PLACE). See schedlat-causes(7). */
enum sl_cause {
#define SL_CAUSE(ID, id, family, doc, needs) SL_CAUSE_##ID,
#include "schedlat/causes.def"
	SL_CAUSE_NR,
	SL_CAUSE_NONE = SL_CAUSE_NR
};
/* HOLD and FAIR causes come first: these partition a wait. */
#define SL_CAUSE_HOLD_NR (SL_CAUSE_FAIR_UNDETERMINED + 1)

enum sl_cause_family { SL_FAMILY_HOLD, SL_FAMILY_FAIR, SL_FAMILY_PLACE };

struct sl_cause_desc {
	const char *id;			/* "wake-path" */
	enum sl_cause_family family;
	const char *doc;
	const char *needs;
};
extern SL_API const struct sl_cause_desc sl_cause_descs[SL_CAUSE_NR];

enum sl_confidence { SL_CONF_EXACT, SL_CONF_DERIVED, SL_CONF_UNKNOWN, SL_CONF_NR };

enum sl_taint {
	SL_TAINT_LOST_EVENTS = 1 << 0,	/* a gap touches it: no sample */
	SL_TAINT_BEFORE_TRACE = 1 << 1,	/* part of it lies before a CPU's first event */
	SL_TAINT_INCONSISTENT = 1 << 2,	/* a switch was missed: no sample */
	SL_TAINT_CLOCK_SKEW = 1 << 3,	/* its ends are out of order: no sample */
	SL_TAINT_OPEN_AT_END = 1 << 4,	/* never ran: delay_ns is a lower bound: no sample */
};
#define SL_TAINT_NR 5

/* The closest thing that two CPUs share. */
enum sl_cpu_relation { SL_CPUS_UNKNOWN, SL_CPUS_SMT, SL_CPUS_CLUSTER, SL_CPUS_LLC, SL_CPUS_PACKAGE,
		       SL_CPUS_APART, SL_CPUS_NR };

enum sl_waker_context { SL_WAKER_UNKNOWN, SL_WAKER_TASK, SL_WAKER_SOFTIRQ, SL_WAKER_HARDIRQ,
			SL_WAKER_NMI, SL_WAKER_NR };

/* Why a wakeup gave no sample. wakeups == samples + sum(discarded). */
enum sl_discard {
	SL_DISCARD_ALREADY_RUNNING,	/* a wakeup of the running task: no wait */
	SL_DISCARD_ALREADY_QUEUED,	/* a wakeup of a preempted task: no wait */
	SL_DISCARD_IDLE_TASK,		/* pid 0 is never a wakee */
	SL_DISCARD_NOT_SUCCESSFUL,	/* success=0 on old kernels */
	SL_DISCARD_NEVER_QUEUED,	/* waking without a following wakeup or switch */
	SL_DISCARD_OPEN_AT_LOSS,	/* a gap touches it */
	SL_DISCARD_INCONSISTENT,	/* woken twice without running: a switch was missed */
	SL_DISCARD_CLOCK_SKEW,		/* runs before it is woken */
	SL_DISCARD_OPEN_AT_END,		/* never ran before the recording ended */
	SL_DISCARD_EXITED,		/* its tid was reused while it waited */
	SL_DISCARD_OWN_THREAD,		/* schedlat's own */
	SL_DISCARD_FILTERED,		/* not selected by -p -t --comm -C -G --time */
	SL_DISCARD_NR
};
SL_API const char *sl_discard_name(enum sl_discard discard);	/* "already_running", ... */

/*
 * The decision behind a `fair` segment, as far as snapshots of the scheduler's state
 * tell it. Virtual times are ns of a task of nice 0. SL_NO_VALUE: not known.
 */
#define SL_NO_VALUE INT64_MIN

enum sl_decided_at {
	SL_DECIDED_NOWHERE,		/* no snapshot */
	SL_DECIDED_AT_WAKEUP, SL_DECIDED_AT_PICK, SL_DECIDED_AT_PICK_AGAIN, SL_DECIDED_AT_TICK,
	SL_DECIDED_NR
};

struct sl_fair_decision {
	enum sl_decided_at at;
	uint64_t ns;			/* when */
	enum sl_cause below;		/* group-level: what the groups' comparison said; NONE */
	int level;			/* of the waiting task's hierarchy: 0 its own queue; -1 unknown */
	int32_t group;			/* whose queue decided: cgroup inode, 1 root, < 0 autogroup; 0 unknown */
	int32_t rival_tid;		/* whose deadline, protection or preference; -1 unknown */
	char rival_comm[16];
	int64_t by_ns;			/* by how much, virtual: lag below zero, deadline behind, protection left */
	int64_t lag_ns;			/* of the waiting task: V - vruntime; < 0: ineligible */
	int64_t deadline_behind_ns;	/* its deadline - the rival's */
	int64_t protected_ns;		/* what the running task had left of its protection */
	int64_t slice_ns, rival_slice_ns;
	unsigned int curr_weight;	/* of the running entity, nice 0: 1024; 0 unknown */
	int64_t overrun_ns;		/* wall time that the segment goes on behind the protection's end:
					 * up to a tick, it is the tick's granularity */
};

struct sl_segment {
	uint64_t start_ns, ns;
	enum sl_cause cause;		/* HOLD: also the kind; FAIR: the kind is "fair", this the reason */
	enum sl_confidence confidence;
	int cpu;			/* the CPU it was queued on; -1 before it was queued */
	int32_t occupant_tid;		/* who ran there; 0 idle, -1 unknown or nobody in particular */
	char occupant_comm[16];		/* "" when unknown */
	unsigned int times;		/* 1; more in a folded wait: so many stretches added up */
	/* the event that began it */
	const char *evidence_event;	/* tracepoint name, static */
	uint64_t evidence_ns;
	int evidence_cpu;
	struct sl_fair_decision decision; /* fair segments; at == SL_DECIDED_NOWHERE else */
};

/*
 * Why the kernel chose the CPU that the task was sent to, as far as it tells that itself
 * (tracepoint sched_select_task_rq_fair). The words are static, those that the kernel prints.
 */
struct sl_selection {
	bool told;			/* false: nothing below is known */
	const char *path;		/* "fast", "energy", ... NULL: a word of a later kernel */
	const char *why;		/* "scan-limit", "idle-prev", ... NULL: the same */
	int cpu;			/* what it chose */
	/* of the search for an idle CPU, on the fast path; -1: there was none, or not told */
	int target_cpu;			/* where it began */
	int affine;			/* 1: that is the waker's CPU, by wake_affine(); 0: it is not */
	int scanned, scan_limit;	/* CPUs that it looked at, and that it may look at (SIS_UTIL) */
};

#define SL_NO_COST UINT64_MAX

/* What energy-aware scheduling compared (sched_energy_candidate, sched_energy_choice). */
struct sl_energy {
	bool told;			/* false: nothing below is known */
	const char *why;		/* "cheaper", ... NULL: a word of a later kernel */
	int cpu;			/* what it chose */
	uint64_t cost;			/* in the energy model's unit; SL_NO_COST: not known, and so below */
	int next_cpu;			/* the cheapest other candidate that is strong enough; -1: none */
	uint64_t next_cost;
	int prev_cpu;			/* where it ran before: what staying would have cost */
	uint64_t prev_cost;
};

/*
 * The shortest slices on busy CPUs, where they were compared to choose one of them
 * (sched_min_slice_choice). ns; SL_NO_VALUE: no fair task was there.
 */
struct sl_slices {
	bool told;			/* false: nothing below is known */
	const char *site;		/* "wake-affine", "idle-cpu", ... NULL: a word of a later kernel */
	int target_cpu;			/* where it would have gone without; -1: not known */
	int cpu;			/* what was chosen */
	int other_cpu;			/* the best of the others; -1: there was none */
	unsigned int candidates;	/* CPUs with fair tasks that it may use */
	int64_t slice_ns;		/* its own */
	int64_t min_slice_ns, other_min_slice_ns;
};

/* Attempts to push the task to a better CPU while it waited (sched_push_fair). */
struct sl_push {
	bool told;			/* false: the recording has no such events */
	unsigned int tries;
	/* of the last one */
	const char *trigger;		/* "wakeup", ... NULL: none, or a word of a later kernel */
	const char *result;		/* "pushed", "no-better", ... NULL: the same */
	int cpu, dest_cpu;		/* from where, and where to; -1: none */
};

struct sl_wait {
	int32_t tid, tgid;		/* tgid -1: unknown process */
	char comm[16];
	enum sl_class sched_class;
	const char *cgroup;		/* path; NULL: unknown. Lives as long as the report */
	enum sl_wait_kind kind;
	uint64_t waking_ns;		/* sched_waking; NO_TIME: not recorded or not a wakeup */
	uint64_t wakeup_ns;		/* queued; NO_TIME: not recorded */
	uint64_t start_ns;		/* per --from: where delay_ns starts */
	uint64_t run_ns;		/* NO_TIME: open at the end */
	uint64_t delay_ns;
	int32_t waker_tid;		/* -1: unknown (no sched_waking) */
	int32_t waker_tgid;		/* -1: unknown process */
	char waker_comm[16];
	enum sl_waker_context waker_context;
	int waker_cpu, prev_cpu, wake_cpu, run_cpu;	/* -1: no event told it */
	unsigned int migrations;	/* while queued */
	unsigned int taints;		/* enum sl_taint bits */

	uint64_t cause_ns[SL_CAUSE_HOLD_NR];
	uint64_t confidence_ns[SL_CAUSE_HOLD_NR][SL_CONF_NR];	/* sums to cause_ns */

	/* what the task brought to its queue; SL_NO_VALUE: not known */
	int64_t sleep_lag_ns;		/* lag when it went to sleep */
	int64_t wake_lag_ns;		/* lag when it was queued: V - vruntime */
	int was_delayed;		/* it was still queued while it slept: 1 yes, 0 no, -1 unknown */
	/* where the lag that it was queued with came from; NULL: not known. "carried" (it is that of its last
	 * sleep), "decayed" (less of it), "reset" (its CPU had been idle), "delayed" (it had not left the queue) */
	const char *lag_origin;
	int64_t decayed_lag_ns;		/* what was left of sleep_lag_ns; SL_NO_VALUE: not told */
	const char *throttled_group;	/* path of the group that held it; NULL: none or unknown */

	struct sl_selection selection;
	struct sl_energy energy;
	struct sl_slices slices;
	struct sl_push push;
	unsigned int place_causes;	/* bit (cause - SL_CAUSE_HOLD_NR) per PLACE cause that applies */
	unsigned int place_exact;	/* those of them that the kernel itself states */
	enum sl_confidence place_confidence;	/* of the least sure of them */
	uint64_t avoidable_ns;		/* time an allowed CPU that was idle at enqueue stayed free */
	int avoidable_cpu;		/* -1: none */
	enum sl_cpu_relation avoidable_relation; /* of that CPU to the one it was sent to */
	int avoidable_capacity, wake_capacity;	/* of both, 1024 the strongest; -1: not known */
	uint64_t forbidden_ns;		/* the same of a CPU that its affinity forbids; 0 unless pinned to one CPU */
	int forbidden_cpu;		/* -1: none */

	enum sl_cause primary;
	uint64_t primary_ns;
	enum sl_confidence primary_confidence;

	struct sl_segment *segments;	/* NULL: not asked for */
	unsigned int nr_segments;
	bool folded;			/* stretches of one cause, CPU and occupant are added up: their
					 * lengths are right, they no longer follow each other */
};

/* Events of a CPU that are missing. */
struct sl_gap {
	int cpu;
	uint64_t from_ns, until_ns;	/* until SL_WAIT_NO_TIME: to the end of the recording */
	uint64_t count;			/* UINT64_MAX: unknown */
};
#define SL_GAPS_MAX 256			/* kept with their times; the source counts all */

SL_API const char *sl_wait_kind_name(enum sl_wait_kind kind);			/* "wake" "preempt" "fork" */
SL_API const char *sl_class_name(enum sl_class sched_class);			/* "fair" ... "unknown" */
SL_API const char *sl_confidence_name(enum sl_confidence confidence);		/* "exact" ... */
SL_API const char *sl_taint_name(enum sl_taint taint);				/* "lost-events" ... */
SL_API const char *sl_cpu_relation_name(enum sl_cpu_relation relation);	/* "smt" "cluster" "llc" "package" "apart", NULL */
SL_API const char *sl_waker_context_name(enum sl_waker_context context);	/* "task" ... */
SL_API const char *sl_decided_at_name(enum sl_decided_at at);	/* "wakeup" "pick" "pick-again" "tick", NULL */
/* "fair" for FAIR causes, else the cause's own id. */
SL_API const char *sl_segment_kind_name(const struct sl_segment *segment);

#endif
