// SPDX-License-Identifier: LGPL-2.1-only
#include "stats/permute.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLED 20000		/* relabellings tried when there are too many for all */
#define EPSILON 1e-9		/* sums of the same values in another order are still equal */

struct work {
	unsigned int units, nr_a, nr_rows;
	double *score;		/* [unit * nr_rows + row]: value - mean, over a standard deviation */
	double *sum;		/* [row]: of the units labelled A */
	double *observed;	/* [row]: |sum| as it happened */
	double *largest;	/* [relabelling]: the largest |sum| of all rows */
};

/* The scores of one row: its values, centred and scaled so that their sum over side A has variance 1. */
static void score_row(struct work *w, unsigned int row, const double *values)
{
	double mean = 0, square = 0, variance;
	unsigned int i;

	for (i = 0; i < w->units; i++)
		mean += values[i] / w->units;
	for (i = 0; i < w->units; i++)
		square += (values[i] - mean) * (values[i] - mean);
	/* Of a sum of nr_a values drawn without putting back, of units that sum to 0. */
	variance = square * w->nr_a * (w->units - w->nr_a) / (w->units * (w->units - 1.0));
	for (i = 0; i < w->units; i++)
		w->score[(size_t)i * w->nr_rows + row] =
			variance > 0 ? (values[i] - mean) / sqrt(variance) : 0;
}

/* Sums of a labelling into w->sum; the largest of them without their signs. */
static double label(struct work *w, uint64_t side_a)
{
	double largest = 0;
	unsigned int row;

	memset(w->sum, 0, w->nr_rows * sizeof(*w->sum));
	for (; side_a; side_a &= side_a - 1) {
		const double *score = w->score + (unsigned int)__builtin_ctzll(side_a) * (size_t)w->nr_rows;

		for (row = 0; row < w->nr_rows; row++)
			w->sum[row] += score[row];
	}
	for (row = 0; row < w->nr_rows; row++)
		if (fabs(w->sum[row]) > largest)
			largest = fabs(w->sum[row]);
	return largest;
}

/* n over k; anything above SL_PERMUTE_EXACT_MAX is as good as infinite. */
static uint64_t choose(unsigned int n, unsigned int k)
{
	uint64_t result = 1;
	unsigned int i;

	for (i = 1; i <= k && result <= SL_PERMUTE_EXACT_MAX; i++)
		result = result * (n - k + i) / i;
	return i > k ? result : UINT64_MAX;
}

/* The next larger word with as many bits (Gosper). */
static uint64_t next_subset(uint64_t set)
{
	uint64_t low = set & -set, ripple = set + low;

	return ripple | ((set ^ ripple) >> 2) / low;
}

static uint64_t random_u64(uint64_t *state)	/* xorshift64*: a fixed start, the same answer every time */
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

static uint64_t random_subset(unsigned int n, unsigned int k, uint64_t *state)
{
	unsigned int order[SL_PERMUTE_UNITS_MAX], i;
	uint64_t set = 0;

	for (i = 0; i < n; i++)
		order[i] = i;
	for (i = 0; i < k; i++) {
		unsigned int at = i + (unsigned int)((random_u64(state) >> 32) * (n - i) >> 32);

		set |= 1ull << order[at];
		order[at] = order[i];
	}
	return set;
}

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* How many of v (largest first) are at least that. */
static uint64_t at_least(const double *v, uint64_t nr, double value)
{
	uint64_t low = 0, high = nr;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (v[middle] >= value - EPSILON)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void try_all(struct work *w, struct sl_permute_result *result)
{
	uint64_t set = w->nr_a < 64 ? (1ull << w->nr_a) - 1 : UINT64_MAX, state = 88172645463325252ull, i;

	for (i = 0; i < result->relabellings; i++) {
		w->largest[i] = label(w, result->exact ? set : random_subset(w->units, w->nr_a, &state));
		if (result->exact && i + 1 < result->relabellings)
			set = next_subset(set);
	}
}

int sl_permute_test(const struct sl_permute *permute, double *ret_p, struct sl_permute_result *ret)
{
	struct work w = { .units = permute->nr_a + permute->nr_b, .nr_a = permute->nr_a,
			  .nr_rows = permute->nr_rows };
	struct sl_permute_result result;
	uint64_t all, extra;
	unsigned int row;
	int r = -ENOMEM;

	if (!permute->nr_a || !permute->nr_b || w.units > SL_PERMUTE_UNITS_MAX)
		return -EINVAL;
	all = choose(w.units, w.nr_a);
	result.exact = all <= SL_PERMUTE_EXACT_MAX;
	result.relabellings = result.exact ? all : SAMPLED;
	/* The labelling that happened is one of all; of a sample it counts besides. */
	extra = result.exact ? 0 : 1;
	/* With as many units on both sides, a relabelling and its opposite have means equally far apart. */
	result.least_p = (w.nr_a * 2 == w.units ? 2.0 : 1.0) / (double)all;
	if (!result.exact)
		result.least_p = 1.0 / (SAMPLED + 1);

	w.score = malloc(((size_t)w.units * w.nr_rows + 1) * sizeof(double));
	w.sum = malloc((w.nr_rows + 1) * sizeof(double));
	w.observed = malloc((w.nr_rows + 1) * sizeof(double));
	w.largest = malloc(result.relabellings * sizeof(double));
	if (!w.score || !w.sum || !w.observed || !w.largest)
		goto out;
	for (row = 0; row < w.nr_rows; row++)
		score_row(&w, row, permute->values + (size_t)row * w.units);
	label(&w, w.nr_a < 64 ? (1ull << w.nr_a) - 1 : UINT64_MAX);
	for (row = 0; row < w.nr_rows; row++)
		w.observed[row] = fabs(w.sum[row]);
	try_all(&w, &result);
	qsort(w.largest, result.relabellings, sizeof(double), descending);
	for (row = 0; row < w.nr_rows; row++)
		ret_p[row] = (double)(at_least(w.largest, result.relabellings, w.observed[row]) + extra) /
			     (double)(result.relabellings + extra);
	*ret = result;
	r = 0;
out:
	free(w.score);
	free(w.sum);
	free(w.observed);
	free(w.largest);
	return r;
}
