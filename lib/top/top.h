/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A running system, refresh by refresh: who waits how long, and why.
 *
 * How long: every wait from a wakeup to the switch is counted per thread, in the kernel
 * with the bpf backend. Why: waits of at least the threshold are judged, by the analysis
 * that reports are made of (schedlat/report.h): `kept` is the report on the latest of
 * them, and saving writes the file that it was made of. What was judged is added up when
 * it ends; shares of causes are shares of that, never of all waits.
 *
 * Times are ns, "now" means the last interval, the other sums go from the start or the
 * last reset. Everything of a frame lives until the next refresh.
 */
#ifndef SL_TOP_TOP_H
#define SL_TOP_TOP_H

#include "live/watch.h"
#include "schedlat/report.h"

#define SL_TOP_TREND 60			/* intervals that are remembered */

struct sl_top;

struct sl_top_params {
	struct sl_watch_params watch;	/* only_short: tasks with a short slice are shown and judged */
	struct sl_filter filter;	/* which tasks are shown and judged; by time it cannot be */
	unsigned int max_waits;		/* waits that are kept with their segments */
};

/* What a thread had to say of waits that were judged. */
struct sl_top_judged {
	uint64_t waits, ns;
	uint64_t cause_ns[SL_CAUSE_HOLD_NR];
	uint64_t exact_ns[SL_CAUSE_HOLD_NR];
};

struct sl_top_task {
	int32_t tid, tgid;
	char comm[16];
	enum sl_class sched_class;
	uint64_t slice_ns;		/* 0: not known, or it has none */
	bool is_short;			/* a slice of its own, below the base slice */
	uint64_t waits, sum_ns, p50_ns, p99_ns, max_ns;
	uint64_t now_waits, now_ns;
	const struct sl_bpf_hist *hist;	/* all of its waits: drawn in detail */
	const struct sl_top_judged *judged;
	enum sl_cause cause;		/* that held it longest in judged waits; NONE: nothing was judged */
	bool waiting;			/* at the moment of the refresh; the rest is about that */
	uint64_t waiting_ns;
	int wait_cpu;
	int32_t behind_tid;		/* who runs there; 0: nobody, -1: not known */
	char behind_comm[16];
	int64_t protected_ns;		/* so long it goes on being protected; SL_NO_VALUE: not known or not */
};

struct sl_top_cause {
	enum sl_cause cause;
	uint64_t now_ns, total_ns;	/* PLACE causes: avoidable time, which lies across the others */
	uint64_t now_waits, total_waits; /* with any of it */
	uint64_t confidence_ns[SL_CONF_NR]; /* of total_ns */
	uint16_t trend[SL_TOP_TREND];	/* permille of the judged time of each interval, latest last */
};

struct sl_top_cpu {
	unsigned int cpu;
	int32_t tid;			/* who runs; 0: idle, -1: not known */
	char comm[16];
	uint64_t ran_ns;		/* since it was switched to */
	int nr_running;			/* with the running one; -1: not known */
	uint64_t min_slice_ns;		/* of the running one's queue; 0: not known */
	int idle_permille;		/* now; -1: not known */
	unsigned int waiting;		/* tasks that are known to wait there at this moment */
	uint64_t now_waits, now_ns;	/* waits that ended there */
};

/* All waits, judged or not, by what went on meanwhile. */
struct sl_top_all {
	uint64_t waits, sum_ns;
	bool by_class;			/* bpf only: what follows is known */
	uint64_t path_ns, moved_ns, ran_ns[SL_BPF_RAN_NR];
};

struct sl_top_frame {
	uint64_t nr;			/* 1, 2, ... */
	uint64_t clock_ns;		/* of the recording's clock */
	uint64_t real_ns;		/* since 1970 */
	uint64_t run_ns, interval_ns;	/* since the start; since the refresh before */
	const char *backend, *why;	/* why: what is missing without bpf; "" with it */
	uint64_t threshold_ns, base_slice_ns;	/* base slice 0: not known */
	bool only_short;
	struct sl_top_task *tasks;	/* as they came; those that the filter selects */
	unsigned int nr_tasks, nr_threads; /* nr_threads: with those that it does not */
	struct sl_top_cause *causes;	/* only those that occurred; largest total first, PLACE last */
	unsigned int nr_causes;
	struct sl_top_cpu *cpus;
	unsigned int nr_cpus;
	struct sl_top_all all;
	uint64_t judged_waits, judged_ns, now_judged_waits, now_judged_ns;
	uint64_t tainted_waits;		/* long enough, but events are missing: not judged */
	const struct sl_report *kept;	/* NULL: nothing yet */
	uint64_t kept_bytes, lost;
	uint64_t own_cpu_permille;	/* of one CPU, now */
	uint64_t own_rss_bytes;
};

int sl_top_open(const struct sl_top_params *params, struct sl_top **ret_top, struct sl_err *err);
int sl_top_start(struct sl_top *top, struct sl_err *err);
void sl_top_close(struct sl_top *top);		/* NULL is fine */

/* Between refreshes; the ms until it is needed again. */
int sl_top_take(struct sl_top *top, int *ret_ms, struct sl_err *err);
int sl_top_refresh(struct sl_top *top, struct sl_err *err);
const struct sl_top_frame *sl_top_frame(const struct sl_top *top);

/* From now on. */
void sl_top_judge(struct sl_top *top, uint64_t threshold_ns, bool only_short);
/* Everything is counted anew. */
void sl_top_reset(struct sl_top *top);
/* What `kept` was made of. An existing file becomes PATH.old. */
int sl_top_save(struct sl_top *top, const char *path, uint64_t *ret_bytes, struct sl_err *err);

/* How a task's judged time divides: the cause with the i-th largest part, NONE behind the last. */
enum sl_cause sl_top_judged_cause(const struct sl_top_judged *judged, unsigned int i);

#endif
