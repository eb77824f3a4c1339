/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Samples of one group: exact values while there are few, then a histogram.
 *
 * A pool holds the budget of exact samples for all its groups together. While
 * the pool has no more than SL_STATS_EXACT_SAMPLES, every value is kept and
 * percentiles are nearest rank on exact ns. Above that (and unless the pool was
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
int sl_stats_add(struct sl_stats *stats, uint64_t ns);		/* 0 or -ENOMEM */

uint64_t sl_stats_count(const struct sl_stats *stats);
uint64_t sl_stats_sum(const struct sl_stats *stats);
uint64_t sl_stats_min(const struct sl_stats *stats);	/* 0 when empty, like max */
uint64_t sl_stats_max(const struct sl_stats *stats);
/* Nearest rank: the ceil(q * count)-th smallest, 0 < q <= 1. 0 when empty. */
uint64_t sl_stats_quantile(struct sl_stats *stats, double q);

/*
 * Call f for each power-of-two range [lo, hi) of ns that holds samples,
 * ascending: for drawing. ns 0 is in [0, 1).
 */
void sl_stats_each_octave(const struct sl_stats *stats,
			  void (*f)(void *arg, uint64_t lo_ns, uint64_t hi_ns, uint64_t count),
			  void *arg);

#endif
