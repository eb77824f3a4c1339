/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The analysis of one recording, from file to numbers. report, timehist and
 * later diff, top and bugreport all read this; out/ only prints it.
 */
#ifndef SCHEDLAT_REPORT_H
#define SCHEDLAT_REPORT_H

#include "schedlat/api.h"
#include "schedlat/err.h"
#include "schedlat/input.h"
#include "schedlat/wait.h"

enum sl_from { SL_FROM_WAKING, SL_FROM_WAKEUP };
enum sl_by { SL_BY_TID, SL_BY_COMM, SL_BY_TGID, SL_BY_CGROUP, SL_BY_CLASS, SL_BY_ALL, SL_BY_NR };

enum sl_why_mode { SL_WHY_NONE, SL_WHY_QUANTILE, SL_WHY_DURATION };

struct sl_why_spec {
	enum sl_why_mode mode;
	double quantile;		/* 0..1, for QUANTILE: waits strictly above that percentile */
	uint64_t at_least_ns;		/* for DURATION: waits of at least that */
	char label[16];			/* "p99.9", "500us": as the user wrote it */
};

/* "p99.9", "p50", "max" or a duration: "500us". SL_EUSAGE with what is accepted. */
SL_API int sl_why_parse(const char *text, struct sl_why_spec *ret_spec, struct sl_err *err);

struct sl_filter {			/* empty (all zero) selects everything */
	const int32_t *pids; unsigned int nr_pids;	/* processes: all their threads */
	const int32_t *tids; unsigned int nr_tids;
	const char *comm_glob;
	const uint8_t *cpus;		/* [SL_CPU_MAX] 0/1; NULL: all. Tests the CPU the task ran on */
	const char *cgroup;		/* path; descendants included */
	uint64_t time_start_ns, time_stop_ns;	/* the wait's end lies in [start, stop); stop 0: no limit */
	bool ignore_recorded_targets;	/* --all: do not apply the -p/-t of record */
};

struct sl_report_params {
	const char *path;
	enum sl_from from;
	unsigned int waits;		/* bit per enum sl_wait_kind; 0 means wake only */
	enum sl_by by;
	struct sl_why_spec why;
	struct sl_filter filter;
	unsigned int detail_waits;	/* keep segments of at most that many worst waits; UINT_MAX: all */
	unsigned int max_segments;	/* fold waits with more; 0: never (on_wait is never folded) */
	bool exact;			/* keep every sample, whatever memory it takes */
	unsigned int threads;		/* 0 or 1: one; 2: reading and analysis overlap */
	/* For timehist: every selected wait with its segments, in the order they end. NULL: none */
	void (*on_wait)(void *arg, const struct sl_wait *wait);
	uint64_t on_wait_min_ns;	/* only waits of at least that */
	/* About ten times a second with 0..1000. NULL: none */
	void (*on_progress)(void *arg, unsigned int permille);
	void *arg;
};

struct sl_group {
	enum sl_wait_kind kind;
	/* what it groups by; the rest: comm "", tid/tgid -1, class UNKNOWN, cgroup NULL */
	char comm[16];
	int32_t tid, tgid;
	enum sl_class sched_class;
	const char *cgroup;
	uint64_t slice_ns;		/* 0: unknown, or tasks differ */
	uint64_t count;
	uint64_t min_ns, avg_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
	struct sl_stats *stats;		/* for histograms (stats/stats.h) */
};

struct sl_why_cause {
	enum sl_cause cause;
	uint64_t ns;			/* HOLD, FAIR: time held; PLACE: avoidable time (overlaps the others) */
	uint64_t count;			/* waits with any of it */
	uint64_t primary;		/* waits whose primary cause it is */
	uint64_t confidence_ns[SL_CONF_NR];
};

struct sl_occupant {			/* who ran instead, over the waits with segments */
	char comm[16];
	uint64_t ns, count;		/* count: waits in which it appears */
};

struct sl_why {
	uint64_t selected;		/* samples the quantile was taken of */
	uint64_t threshold_ns;		/* waits above (QUANTILE) or at least (DURATION) this */
	bool fell_back;			/* too few samples for the quantile: the worst ones instead */
	uint64_t count, total_ns;	/* waits chosen */
	uint64_t tainted;		/* of these, waits that are not samples (open at end, loss) */
	struct sl_why_cause *causes;	/* only those with count > 0; by ns, largest first; PLACE last */
	unsigned int nr_causes;
	struct sl_occupant *occupants;	/* largest ns first */
	unsigned int nr_occupants;
	struct sl_wait *waits;		/* longest first; at most detail_waits, with segments */
	unsigned int nr_waits;
};

struct sl_report_meta {			/* schedlat:meta events */
	const char *key, *value;
};

struct sl_report {
	struct sl_report_params params;
	const struct sl_source_info *info;
	uint64_t t_start_ns, t_end_ns;		/* first and last event; equal: empty */
	const struct sl_report_meta *meta;
	unsigned int nr_meta;
	const char *backend;			/* "tracefs", ... NULL: not recorded by schedlat */
	bool flight;				/* a --flight recording: percentiles are not of the whole run */
	uint64_t lost_events;			/* counted ones */
	uint64_t lost_gaps, lost_unknown_gaps;
	const struct sl_gap *gaps;		/* the first SL_GAPS_MAX of them, in time order */
	unsigned int nr_gaps;
	uint64_t recorder_lost_events;		/* as the recorder counted; 0: none, or not recorded by schedlat */
	uint64_t wakeups, samples, discarded[SL_DISCARD_NR];
	uint64_t preempt_waits, fork_waits;	/* samples of these kinds */
	uint64_t other_discarded[SL_WAIT_NR];	/* preempt and fork waits that are no samples */
	uint64_t switch_mismatches;		/* sched_switch whose prev was not known to run there */
	uint64_t tainted_longest_ns;		/* longest wait that a gap touches; 0: none */
	uint64_t recorded_above_ns;		/* only waits of at least that are in the file; 0: all are */
	bool percentiles_exact;			/* false: histogram, relative error below */
	double histogram_error;			/* upper bound, for example 0.0039 */
	struct sl_group *groups;		/* count, largest first */
	unsigned int nr_groups;
	struct sl_why why;			/* zero when params.why.mode is NONE */
	bool not_assessable[SL_CAUSE_NR];	/* causes this recording cannot tell */
};

/*
 * Analyse params->path. Errors: those of sl_source_open(); SL_EDATA when there
 * is nothing to analyse (no sched_switch, no wakeup, or wakeups and switches
 * that never pair). *ret_report is owned by the caller.
 */
SL_API int sl_report_run(const struct sl_report_params *params, struct sl_report **ret_report,
		  struct sl_err *err);
SL_API void sl_report_free(struct sl_report *report);	/* NULL is fine */

/* Value of a metadata key, NULL when the recording has none. */
SL_API const char *sl_report_meta_get(const struct sl_report *report, const char *key);

#endif
