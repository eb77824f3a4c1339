/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Do two sides differ, or is it noise? A permutation test of many values at once.
 *
 * A unit is one independent piece of evidence: a recording, or a stretch of one. Each unit
 * has a value per row (a percentile, the time of a cause). Were both sides the same, any
 * relabelling of the units would be as likely as the one that happened. A row's p is the
 * share of relabellings in which some row, of all that are tested, has its means further
 * apart (in terms of how much its values vary: the order is that of Student's t) than this
 * row has. That is Westfall and Young's single-step max-T correction: the chance to see
 * even one such difference where there is none is at most p, however many rows there are
 * and however they depend on each other.
 */
#ifndef SL_STATS_PERMUTE_H
#define SL_STATS_PERMUTE_H

#include <stdbool.h>
#include <stdint.h>

#define SL_PERMUTE_UNITS_MAX 64		/* of both sides together */
#define SL_PERMUTE_EXACT_MAX 50000	/* so many relabellings are all tried; of more, a sample */

struct sl_permute {
	unsigned int nr_a, nr_b;	/* units per side, at least 1 each */
	unsigned int nr_rows;
	const double *values;		/* [row * (nr_a + nr_b) + unit], those of side A first */
};

struct sl_permute_result {
	bool exact;			/* every relabelling was tried */
	uint64_t relabellings;
	double least_p;			/* the smallest p that so few units can give */
};

/* ret_p[row]: 0 < p <= 1; the same input gives the same p. 0, -EINVAL or -ENOMEM. */
int sl_permute_test(const struct sl_permute *permute, double *ret_p, struct sl_permute_result *ret);

#endif
