// SPDX-License-Identifier: LGPL-2.1-only
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SAMPLES 252
#define SAMPLE_BIG UINT32_MAX		/* the value is in big[] */
#define SUB_BITS 8
#define OCTAVES (64 - SUB_BITS + 1)	/* octave 0 is linear: 0..255 */

_Static_assert(1 << SUB_BITS == SL_STATS_SUB, "SL_STATS_SUB is a power of two");

struct chunk {
	struct chunk *older;
	uint32_t n;
	uint32_t ns[CHUNK_SAMPLES];
};

struct sl_stats {
	struct sl_stats_pool *pool;
	uint64_t count, sum, min, max;
	struct chunk *newest;		/* exact mode: all values; else those not in octave[] yet */
	uint64_t *big;			/* exact mode: values that need more than 32 bits */
	uint32_t nr_big, cap_big;
	uint64_t *sorted;		/* cache of the exact values, valid for sorted_count */
	uint64_t sorted_count;
	uint32_t *octave[OCTAVES];	/* histogram mode: SL_STATS_SUB counters each, lazily */
};

struct sl_stats_pool {
	bool keep_exact, exact;
	uint64_t samples;
	struct sl_stats **stats;
	unsigned int nr, cap;
};

struct sl_stats_pool *sl_stats_pool_new(bool exact)
{
	struct sl_stats_pool *pool = calloc(1, sizeof(*pool));

	if (pool) {
		pool->keep_exact = exact;
		pool->exact = true;
	}
	return pool;
}

static void drop_exact(struct sl_stats *s)
{
	struct chunk *c, *older;

	for (c = s->newest; c; c = older) {
		older = c->older;
		free(c);
	}
	free(s->big);
	free(s->sorted);
	s->newest = NULL;
	s->big = NULL;
	s->sorted = NULL;
	s->nr_big = s->cap_big = 0;
}

void sl_stats_pool_free(struct sl_stats_pool *pool)
{
	unsigned int i, o;

	if (!pool)
		return;
	for (i = 0; i < pool->nr; i++) {
		drop_exact(pool->stats[i]);
		for (o = 0; o < OCTAVES; o++)
			free(pool->stats[i]->octave[o]);
		free(pool->stats[i]);
	}
	free(pool->stats);
	free(pool);
}

bool sl_stats_pool_is_exact(const struct sl_stats_pool *pool)
{
	return pool->exact;
}

struct sl_stats *sl_stats_new(struct sl_stats_pool *pool)
{
	struct sl_stats *s;

	if (pool->nr == pool->cap) {
		unsigned int cap = pool->cap ? pool->cap * 2 : 64;
		struct sl_stats **grown = realloc(pool->stats, cap * sizeof(*grown));

		if (!grown)
			return NULL;
		pool->stats = grown;
		pool->cap = cap;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->pool = pool;
	s->min = UINT64_MAX;
	pool->stats[pool->nr++] = s;
	return s;
}

static unsigned int octave_of(uint64_t ns)
{
	return ns < SL_STATS_SUB ? 0 : (unsigned int)(63 - __builtin_clzll(ns)) - SUB_BITS + 1;
}

static int hist_add(struct sl_stats *s, uint64_t ns)
{
	unsigned int o = octave_of(ns), sub;

	sub = o ? (unsigned int)(ns >> (o - 1)) & (SL_STATS_SUB - 1) : (unsigned int)ns;
	if (!s->octave[o]) {
		s->octave[o] = calloc(SL_STATS_SUB, sizeof(uint32_t));
		if (!s->octave[o])
			return -ENOMEM;
	}
	s->octave[o][sub]++;
	return 0;
}

/* Largest value that falls into a bucket. */
static uint64_t bucket_top(unsigned int o, unsigned int sub)
{
	uint64_t base = o ? (uint64_t)(SL_STATS_SUB + sub) : sub;

	return o ? ((base + 1) << (o - 1)) - 1 : base;
}

/*
 * Move the values of a chunk into the histogram. Done a chunk at a time: the
 * counters of one group stay in the cache meanwhile, those of all groups do not.
 */
static int fold_chunk(struct sl_stats *s, struct chunk *c)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < c->n && !ret; i++)
		if (c->ns[i] != SAMPLE_BIG)
			ret = hist_add(s, c->ns[i]);
	c->n = 0;
	return ret;
}

static int to_histogram(struct sl_stats *s)
{
	struct chunk *c;
	uint32_t i;
	int ret = 0;

	for (c = s->newest; c && !ret; c = c->older)
		ret = fold_chunk(s, c);
	for (i = 0; i < s->nr_big && !ret; i++)
		ret = hist_add(s, s->big[i]);
	drop_exact(s);
	return ret;
}

static int pending_add(struct sl_stats *s, uint64_t ns)
{
	if (ns >= SAMPLE_BIG)
		return hist_add(s, ns);
	if (!s->newest) {
		s->newest = calloc(1, sizeof(*s->newest));
		if (!s->newest)
			return -ENOMEM;
	}
	s->newest->ns[s->newest->n++] = (uint32_t)ns;
	return s->newest->n == CHUNK_SAMPLES ? fold_chunk(s, s->newest) : 0;
}

static int exact_add(struct sl_stats *s, uint64_t ns)
{
	struct chunk *c = s->newest;

	if (!c || c->n == CHUNK_SAMPLES) {
		c = malloc(sizeof(*c));
		if (!c)
			return -ENOMEM;
		c->older = s->newest;
		c->n = 0;
		s->newest = c;
	}
	if (ns >= SAMPLE_BIG) {
		if (s->nr_big == s->cap_big) {
			uint32_t cap = s->cap_big ? s->cap_big * 2 : 16;
			uint64_t *grown = realloc(s->big, cap * sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			s->big = grown;
			s->cap_big = cap;
		}
		s->big[s->nr_big++] = ns;
		ns = SAMPLE_BIG;
	}
	c->ns[c->n++] = (uint32_t)ns;
	return 0;
}

int sl_stats_add(struct sl_stats *s, uint64_t ns)
{
	struct sl_stats_pool *pool = s->pool;
	unsigned int i;
	int ret;

	s->count++;
	s->sum += ns;
	if (ns < s->min)
		s->min = ns;
	if (ns > s->max)
		s->max = ns;
	if (!pool->exact)
		return pending_add(s, ns);
	if (++pool->samples <= SL_STATS_EXACT_SAMPLES || pool->keep_exact)
		return exact_add(s, ns);
	pool->exact = false;
	for (i = 0; i < pool->nr; i++) {
		ret = to_histogram(pool->stats[i]);
		if (ret)
			return ret;
	}
	return pending_add(s, ns);
}

uint64_t sl_stats_count(const struct sl_stats *s)
{
	return s->count;
}

uint64_t sl_stats_sum(const struct sl_stats *s)
{
	return s->sum;
}

uint64_t sl_stats_min(const struct sl_stats *s)
{
	return s->count ? s->min : 0;
}

uint64_t sl_stats_max(const struct sl_stats *s)
{
	return s->max;
}

/* LSD radix sort on the bytes that differ: percentiles of 256 k samples in a few ms. */
static int sort_u64(uint64_t *v, uint64_t n)
{
	uint64_t *tmp = malloc((n ? n : 1) * sizeof(*tmp)), any = 0, all = ~0ull, i;
	unsigned int shift;

	if (!tmp)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		any |= v[i];
		all &= v[i];
	}
	for (shift = 0; shift < 64; shift += 8) {
		uint64_t start[257] = { 0 };

		if (!((any ^ all) >> shift & 0xff))
			continue;
		for (i = 0; i < n; i++)
			start[(v[i] >> shift & 0xff) + 1]++;
		for (i = 0; i < 256; i++)
			start[i + 1] += start[i];
		for (i = 0; i < n; i++)
			tmp[start[v[i] >> shift & 0xff]++] = v[i];
		memcpy(v, tmp, n * sizeof(*v));
	}
	free(tmp);
	return 0;
}

static const uint64_t *sorted_values(struct sl_stats *s)
{
	uint64_t n = 0, *v;
	struct chunk *c;
	uint32_t i;

	if (s->sorted && s->sorted_count == s->count)
		return s->sorted;
	free(s->sorted);
	s->sorted = NULL;
	v = malloc(s->count * sizeof(*v));
	if (!v)
		return NULL;
	for (c = s->newest; c; c = c->older)
		for (i = 0; i < c->n; i++)
			if (c->ns[i] != SAMPLE_BIG)
				v[n++] = c->ns[i];
	for (i = 0; i < s->nr_big; i++)
		v[n++] = s->big[i];
	if (sort_u64(v, n)) {
		free(v);
		return NULL;
	}
	s->sorted = v;
	s->sorted_count = s->count;
	return v;
}

uint64_t sl_stats_quantile(struct sl_stats *s, double q)
{
	const uint64_t *v;
	uint64_t rank, seen = 0;
	unsigned int o, sub;

	if (!s->count)
		return 0;
	/* 0.999 * 1000 is 999.0000000000001 or 999 by luck of the platform: take the tick off. */
	rank = (uint64_t)ceil(q * (double)s->count * (1 - 1e-14));
	rank = rank < 1 ? 1 : rank > s->count ? s->count : rank;
	if (s->pool->exact) {
		v = sorted_values(s);
		return v ? v[rank - 1] : s->max;
	}
	if (s->newest && fold_chunk(s, s->newest))
		return s->max;
	for (o = 0; o < OCTAVES; o++)
		for (sub = 0; s->octave[o] && sub < SL_STATS_SUB; sub++) {
			seen += s->octave[o][sub];
			if (seen >= rank) {
				uint64_t top = bucket_top(o, sub);

				return top > s->max ? s->max : top;
			}
		}
	return s->max;
}

void sl_stats_each_octave(const struct sl_stats *s,
			  void (*f)(void *arg, uint64_t lo_ns, uint64_t hi_ns, uint64_t count),
			  void *arg)
{
	uint64_t count[65] = { 0 };	/* [0]: ns 0; [k]: 2^(k-1) .. 2^k - 1 */
	unsigned int o, sub, k;
	struct chunk *c;
	uint32_t i;

	for (c = s->newest; c; c = c->older)
		for (i = 0; i < c->n; i++)
			if (c->ns[i] != SAMPLE_BIG)
				count[c->ns[i] ? 32 - __builtin_clz(c->ns[i]) : 0]++;
	for (i = 0; i < s->nr_big; i++)
		count[64 - __builtin_clzll(s->big[i])]++;
	for (o = 0; o < OCTAVES; o++)
		for (sub = 0; s->octave[o] && sub < SL_STATS_SUB; sub++)
			if (s->octave[o][sub]) {
				uint64_t top = bucket_top(o, sub);

				count[top ? 64 - __builtin_clzll(top) : 0] += s->octave[o][sub];
			}
	for (k = 0; k < 65; k++)
		if (count[k])
			f(arg, k ? 1ull << (k - 1) : 0, k < 64 ? 1ull << k : UINT64_MAX, count[k]);
}
