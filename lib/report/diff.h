/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Sides side by side: each a recording, or several of the same thing. Groups are matched
 * by what they group by; the first side is what the others are compared with.
 *
 * Every number is one that sl_report_run() gives for a file. A side of several files has
 * the median of theirs, and how far they spread. Whether a difference is more than
 * noise is asked of stats/permute.h, about the logarithms; a unit of that test is a file where each side has at
 * least SL_DIFF_FILES_MIN, else a stretch of a file with as many waits as the others.
 */
#ifndef SL_REPORT_DIFF_H
#define SL_REPORT_DIFF_H

#include "schedlat/report.h"
#include "stats/permute.h"

#define SL_DIFF_FILES_MIN 4		/* of 3 and 3 the smallest p is 2 in 20 */
#define SL_DIFF_SIDES_MAX 16
#define SL_DIFF_FILES_MAX (SL_PERMUTE_UNITS_MAX / 2)	/* of one side */
#define SL_DIFF_UNIT_WAITS 10		/* a unit with fewer waits of a group says nothing */

enum sl_diff_row { SL_DIFF_SAMPLES, SL_DIFF_AVG, SL_DIFF_P50, SL_DIFF_P90, SL_DIFF_P99,
		   SL_DIFF_P999, SL_DIFF_MAX, SL_DIFF_ROWS };

struct sl_diff_input {			/* of one side */
	const char *const *paths;
	unsigned int nr;
};

struct sl_diff_params {
	struct sl_report_params report;	/* path, why and on_wait are not used */
	struct sl_diff_input sides[SL_DIFF_SIDES_MAX];
	unsigned int nr_sides;		/* at least 2 */
	double tail;			/* the waits above this quantile are the tail: 0 < tail <= 1 */
};

/* A value over the files of a side that have the group. */
struct sl_diff_value {
	uint64_t median, min, max;	/* SL_WAIT_NO_TIME: no file has it */
};

struct sl_diff_causes {			/* summed over the files of a side */
	uint64_t waits;			/* whose causes these are */
	uint64_t total_ns;		/* of these waits */
	uint64_t ns[SL_CAUSE_NR];	/* HOLD and FAIR add up to total_ns; PLACE: avoidable time */
	uint64_t count[SL_CAUSE_NR];	/* waits with any of it */
};

/* What one side has of a group. */
struct sl_diff_cell {
	unsigned int files;		/* with at least one wait of it; 0: nothing below is known */
	uint64_t samples;		/* in all its files */
	struct sl_diff_value rows[SL_DIFF_ROWS];
	uint64_t slice_ns;		/* 0: unknown, or they differ */
	struct sl_diff_causes all;	/* of every wait that is a sample */
	struct sl_diff_causes tail;	/* of those above the quantile of their file, at least the worst */
};

/* A side against the first. p is NAN where nothing was tested. */
struct sl_diff_tests {
	double p[SL_DIFF_ROWS];
	double cause_p[SL_CAUSE_NR];	/* of the time per wait */
	/* p below alpha and, of stretches, the sides further apart than either is wide */
	bool significant[SL_DIFF_ROWS], cause_significant[SL_CAUSE_NR];
};

struct sl_diff_group {
	struct sl_group key;		/* kind and what it groups by; its numbers are not set */
	struct sl_diff_cell cells[SL_DIFF_SIDES_MAX];
	struct sl_diff_tests tests[SL_DIFF_SIDES_MAX];	/* [0] is not used */
};

struct sl_diff_side {
	struct sl_report **reports;	/* one per file */
	unsigned int nr;
	bool not_assessable[SL_CAUSE_NR];	/* in at least one of its files */
	/* the test of this side against the first */
	bool tested;			/* false: no group has enough waits for it */
	bool units_are_files;
	unsigned int units, base_units;	/* of this side, and of the first */
	unsigned int values_tested;	/* rows and causes of all groups */
	double alpha;			/* a significant difference has a smaller p */
	struct sl_permute_result test;
	unsigned int significant;	/* values */
};

struct sl_diff {
	struct sl_diff_params params;
	struct sl_diff_side sides[SL_DIFF_SIDES_MAX];
	struct sl_diff_group *groups;	/* most samples first; those that one side lacks come last */
	unsigned int nr_groups, nr_matched;	/* matched: every side has waits of it */
};

/*
 * Errors: those of sl_report_run(); SL_EUSAGE when a file is given twice; SL_EDATA when the
 * files do not measure the same thing, with what differs. *ret_diff is the caller's.
 */
int sl_diff_run(const struct sl_diff_params *params, struct sl_diff **ret_diff, struct sl_err *err);
void sl_diff_free(struct sl_diff *diff);	/* NULL is fine */

/* (base - value) / base, in tenths of a percent: above 0 is better. False: nothing to compare. */
bool sl_diff_change(uint64_t base, uint64_t value, int64_t *ret_permille);

const char *sl_diff_row_name(enum sl_diff_row row);	/* "Total Samples", ... as they are posted */
const char *sl_diff_row_key(enum sl_diff_row row);	/* "count", "avg_ns", ... as in report */

#endif
