/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Samples of one group: exact values while there are few, then a histogram.
 *
 * A pool holds the budget of exact samples for all its groups together. While there
 * are no more than SL_STATS_EXACT_SAMPLES of them, every value is kept and
 * percentiles are nearest rank on exact ns. Some way above that (and unless the pool was
 * made with exact = true) all groups turn into log-linear histograms with
 * SL_STATS_SUB sub-buckets per power of two: a percentile is then the upper edge
 * of its bucket, at most 1/SL_STATS_SUB too high, never too low; count, sum,
 * min and max stay exact.
 */
#ifndef SL_STATS_STATS_H
#define SL_STATS_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define SL_STATS_EXACT_SAMPLES (256 * 1024)
#define SL_STATS_SUB 256

struct sl_stats_pool;
struct sl_stats;

struct sl_stats_pool *sl_stats_pool_new(bool exact);	/* NULL: out of memory */
void sl_stats_pool_free(struct sl_stats_pool *pool);	/* and all its groups */
bool sl_stats_pool_is_exact(const struct sl_stats_pool *pool);

struct sl_stats *sl_stats_new(struct sl_stats_pool *pool);	/* owned by the pool */

/* Where the next samples go; only sl_stats_add() touches it. */
struct sl_stats_tail {
	uint32_t *next, *end;
};

int sl_stats_add_slow(struct sl_stats *stats, uint64_t ns);

/* Add a sample. 0 or -ENOMEM. */
static inline int sl_stats_add(struct sl_stats *stats, uint64_t ns)
{
	struct sl_stats_tail *tail = (struct sl_stats_tail *)stats;

	if (__builtin_expect(tail->next == tail->end || ns >= UINT32_MAX, 0))
		return sl_stats_add_slow(stats, ns);
	*tail->next++ = (uint32_t)ns;
	return 0;
}

/*
 * Add n samples between low_ns and high_ns, sum_ns in all; they count as high_ns. The
 * pool's groups are histograms from then on. 0 or -ENOMEM.
 */
int sl_stats_add_many(struct sl_stats *stats, uint64_t low_ns, uint64_t high_ns, uint64_t n,
		      uint64_t sum_ns);

uint64_t sl_stats_count(struct sl_stats *stats);
uint64_t sl_stats_sum(struct sl_stats *stats);
uint64_t sl_stats_min(struct sl_stats *stats);	/* 0 when empty, like max */
uint64_t sl_stats_max(struct sl_stats *stats);
/* Nearest rank: the ceil(q * count)-th smallest, 0 < q <= 1. 0 when empty. */
uint64_t sl_stats_quantile(struct sl_stats *stats, double q);
/*
 * Several quantiles at once (at most SL_STATS_QUANTILES_MAX) over several groups of
 * one pool taken together; ret[i] answers q[i], in any order.
 */
#define SL_STATS_QUANTILES_MAX 8
void sl_stats_quantiles_of(struct sl_stats *const *stats, unsigned int nr, const double *q,
			   unsigned int nr_q, uint64_t *ret);

/*
 * Call f for each range [lo, hi) of ns that holds samples of any of the groups of one
 * pool, ascending: for drawing. Each power of two is cut into `parts` ranges (a power of
 * two, at most SL_STATS_PARTS_MAX); those below `parts` ns are 1 ns wide: ns 0 is in [0, 1).
 */
#define SL_STATS_PARTS_MAX 16
void sl_stats_each_range(struct sl_stats *const *stats, unsigned int nr, unsigned int parts,
			 void (*f)(void *arg, uint64_t lo_ns, uint64_t hi_ns, uint64_t count),
			 void *arg);

/* The same of one group, in whole powers of two. */
void sl_stats_each_octave(struct sl_stats *stats,
			  void (*f)(void *arg, uint64_t lo_ns, uint64_t hi_ns, uint64_t count),
			  void *arg);

#endif
