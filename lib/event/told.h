/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the numbers in the decision tracepoints mean (kernel-patches/contract). One
 * entry per number, in the kernel's order: SL_..(ID, "word that the kernel prints").
 */
#ifndef SL_EVENT_TOLD_H
#define SL_EVENT_TOLD_H

/* sched_wakeup_preempt.why */
#define SL_PREEMPT_WHYS(X)                                                              \
	X(FEATURE, "feature")		/* WAKEUP_PREEMPTION is off */                  \
	X(RESCHED, "resched")		/* it was asked to stop before */               \
	X(THROTTLED, "throttled")	/* the wakee is */                              \
	X(IDLE_CURR, "idle-curr")	/* SCHED_IDLE runs, the wakee is normal: preempts */ \
	X(IDLE_WAKEE, "idle-wakee")                                                     \
	X(POLICY, "policy")		/* a SCHED_BATCH or SCHED_IDLE wakee */         \
	X(DELAYED, "delayed")		/* a wakee whose dequeue is delayed */          \
	X(FORK, "fork")                                                                 \
	X(SYNC, "sync")			/* the waker is about to sleep */               \
	X(SYNC_RESCHED, "sync-resched")	/* the same, and preempts */                    \
	X(PICKED, "picked")		/* the wakee would be picked: preempts */       \
	X(SHORT, "short")		/* a shorter slice, and eligible: preempts */   \
	X(INELIGIBLE, "ineligible")                                                     \
	X(BUDDY, "buddy")                                                               \
	X(PROTECTED, "protected")                                                       \
	X(DEADLINE, "deadline")

/* sched_pick_fair.why */
#define SL_PICK_WHYS(X)                                                                 \
	X(ONLY, "only")			/* nothing else is queued */                    \
	X(BUDDY, "buddy")                                                               \
	X(PROTECTED, "protected")	/* runs on: its slice is protected */           \
	X(CURR, "curr")			/* runs on: the earliest deadline */            \
	X(LEFTMOST, "leftmost")		/* the earliest deadline of all, and eligible */ \
	X(SEARCH, "search")		/* the earliest deadline of those eligible */

/* sched_select_task_rq_fair.path */
#define SL_SELECT_PATHS(X)                                                              \
	X(NONE, "none")                                                                 \
	X(CURRENT_CPU, "current-cpu")	/* the waker asked for its own */               \
	X(ENERGY, "energy")                                                             \
	X(SLOW, "slow")			/* the idlest CPU of a domain: fork, exec */    \
	X(FAST, "fast")			/* an idle sibling of the target */

/* sched_select_task_rq_fair.why */
#define SL_SELECT_WHYS(X)                                                               \
	X(NONE, "none")                                                                 \
	X(CURRENT_CPU, "current-cpu")                                                   \
	X(ENERGY, "energy")                                                             \
	X(SLOW, "slow")                                                                 \
	X(IDLE_TARGET, "idle-target")                                                   \
	X(IDLE_PREV, "idle-prev")                                                       \
	X(PER_CPU_KTHREAD, "per-cpu-kthread")                                           \
	X(IDLE_RECENT, "idle-recent")                                                   \
	X(IDLE_CAPACITY, "idle-capacity")                                               \
	X(IDLE_SMT, "idle-smt")                                                         \
	X(IDLE_CORE, "idle-core")                                                       \
	X(IDLE_SCAN, "idle-scan")                                                       \
	X(SCAN_LIMIT, "scan-limit")	/* SIS_UTIL ended the search */                 \
	X(NO_IDLE, "no-idle")                                                           \
	X(AFFINITY, "affinity")		/* no CPU of the cache domain is allowed */

/* sched_energy_choice.why */
#define SL_ENERGY_WHYS(X)                                                               \
	X(NO_UTIL, "no-util")                                                           \
	X(RACED, "raced")		/* utilisation changed while it was compared */ \
	X(CHEAPER, "cheaper")                                                           \
	X(FITS_BETTER, "fits-better")                                                   \
	X(MORE_CAPACITY, "more-capacity")                                               \
	X(PREV, "prev")			/* nothing is better than staying */            \
	X(LESS_BUSY, "less-busy")	/* costs the same, fewer tasks are there */     \
	X(SLICE, "slice")		/* costs the same, it runs at once there */

/* sched_resched_fair.site */
#define SL_RESCHED_SITES(X)                                                             \
	X(WAKEUP, "wakeup")                                                             \
	X(DEADLINE, "deadline")		/* its slice is used up */                      \
	X(PROTECTION, "protection")	/* its protection has ended */                  \
	X(HRTICK, "hrtick")                                                             \
	X(THROTTLE, "throttle")                                                         \
	X(UNTHROTTLE, "unthrottle")                                                     \
	X(CLASS, "class")

/* sched_min_slice_choice.site */
#define SL_MIN_SLICE_SITES(X)                                                           \
	X(WAKE_AFFINE, "wake-affine")	/* the waker's CPU or the previous one */       \
	X(IDLE_CPU, "idle-cpu")		/* no idle CPU was found */                     \
	X(IDLE_CAPACITY, "idle-capacity") /* the same, CPUs of several sizes */         \
	X(EAS, "eas")			/* CPUs of equal energy cost */

/* sched_push_fair.trigger */
#define SL_PUSH_TRIGGERS(X)                                                             \
	X(WAKEUP, "wakeup")		/* it was woken and has to wait */              \
	X(NOT_PICKED, "not-picked")	/* a task with a longer slice runs */           \
	X(PREEMPTED, "preempted")	/* it ran until one with a shorter slice came */ \
	X(MISFIT, "misfit")		/* the CPU's capacity is not enough */          \
	X(RUNNING, "running")		/* the same, it was stopped to be pushed */

/* sched_push_fair.result */
#define SL_PUSH_RESULTS(X)                                                              \
	X(PUSHED, "pushed")                                                             \
	X(NO_BETTER, "no-better")	/* no CPU is better */                          \
	X(NOT_ALLOWED, "not-allowed")                                                   \
	X(RACED, "raced")		/* no longer so when the locks were taken */    \
	X(NOTHING, "nothing")		/* nobody on the list can be moved */

#define SL_PREEMPT(ID, word) SL_PREEMPT_##ID,
#define SL_PICK(ID, word) SL_PICK_##ID,
#define SL_PATH(ID, word) SL_PATH_##ID,
#define SL_SELECT(ID, word) SL_SELECT_##ID,
#define SL_ENERGY(ID, word) SL_ENERGY_##ID,
#define SL_SITE(ID, word) SL_SITE_##ID,
#define SL_MIN_SLICE(ID, word) SL_MIN_SLICE_##ID,
#define SL_TRIGGER(ID, word) SL_TRIGGER_##ID,
#define SL_PUSH(ID, word) SL_PUSH_##ID,
enum sl_preempt_why { SL_PREEMPT_WHYS(SL_PREEMPT) SL_PREEMPT_NR };
enum sl_pick_why { SL_PICK_WHYS(SL_PICK) SL_PICK_NR };
enum sl_select_path { SL_SELECT_PATHS(SL_PATH) SL_PATH_NR };
enum sl_select_why { SL_SELECT_WHYS(SL_SELECT) SL_SELECT_NR };
enum sl_energy_why { SL_ENERGY_WHYS(SL_ENERGY) SL_ENERGY_NR };
enum sl_resched_site { SL_RESCHED_SITES(SL_SITE) SL_SITE_NR };
enum sl_min_slice_site { SL_MIN_SLICE_SITES(SL_MIN_SLICE) SL_MIN_SLICE_NR };
enum sl_push_trigger { SL_PUSH_TRIGGERS(SL_TRIGGER) SL_TRIGGER_NR };
enum sl_push_result { SL_PUSH_RESULTS(SL_PUSH) SL_PUSH_NR };

/* Bits of sched_wakeup_preempt.flags and sched_pick_fair.flags. */
enum sl_told_flags {
	SL_TOLD_BEST_DELAYED = 1,	/* a pick would dequeue `best` and go on */
	SL_TOLD_SHORT = 2,		/* wakeups: the wakee's slice is the shorter one */
	SL_TOLD_PICK_DELAYED = 2,	/* picks: the picked one is dequeued, another pick follows */
	SL_TOLD_SYNC = 4,
	SL_TOLD_FORK = 8,
	SL_TOLD_CURR_PROTECTED = 16,
};

/* Bits of sched_place_entity.flags (kernel/sched/sched.h, 7.3). */
#define SL_PLACE_WAKEUP 0x1

/* The kernel's word for a number; NULL: none of ours. */
const char *sl_preempt_why_name(int why);
const char *sl_pick_why_name(int why);
const char *sl_select_path_name(int path);
const char *sl_select_why_name(int why);
const char *sl_energy_why_name(int why);
const char *sl_resched_site_name(int site);
const char *sl_min_slice_site_name(int site);
const char *sl_push_trigger_name(int trigger);
const char *sl_push_result_name(int result);

#endif
