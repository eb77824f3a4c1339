/* SPDX-License-Identifier: LGPL-2.1-only */
/* Between diff.c, which reads the files, and diff_test.c, which compares; private to this room. */
#ifndef SL_REPORT_DIFF_LOCAL_H
#define SL_REPORT_DIFF_LOCAL_H

#include "report/diff.h"
#include "stats/stats.h"

/* A stretch of the waits of one group in one file. */
struct sl_diff_unit {
	struct sl_stats *stats;
	uint64_t waits;
	uint64_t ns[SL_CAUSE_NR];
};

/* One group in one file. */
struct sl_diff_part {
	const struct sl_group *group;	/* NULL: the file has no wait of it */
	uint64_t seen;			/* waits that came by so far */
	uint64_t tail_from_ns;		/* waits of at least that are the tail */
	uint64_t count[SL_CAUSE_NR];
	struct sl_diff_causes tail;
	struct sl_diff_unit *units;	/* [units of a file of this side] */
};

struct sl_diff_file {
	struct sl_stats_pool *pool;
	struct sl_diff_part *parts;	/* [group] */
	struct sl_diff_unit *units;	/* those of all parts */
	bool has_waits;			/* the file has every wait, not only counts of them */
};

/* Stretches that each file of a side is cut into. */
unsigned int sl_diff_units_per_file(const struct sl_diff_side *side);

/* The cells of side s, from what its files gave. */
void sl_diff_fill_side(struct sl_diff *diff, unsigned int s, const struct sl_diff_file *files);

/* Is side s different from the first? 0 or -ENOMEM. */
int sl_diff_test_side(struct sl_diff *diff, unsigned int s, const struct sl_diff_file *base_files,
		      const struct sl_diff_file *files);

#endif
