// SPDX-License-Identifier: LGPL-2.1-only
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SAMPLES 252
#define FIRST_CHUNK_SAMPLES 28	/* many tasks wait only a few times */
#define SUB_BITS 8
#define OCTAVES (64 - SUB_BITS + 1)	/* octave 0 is linear: 0..255 */

_Static_assert(1 << SUB_BITS == SL_STATS_SUB, "SL_STATS_SUB is a power of two");

struct chunk {
	struct chunk *older;
	uint32_t n;		/* of a full chunk, or one that was settled */
	uint32_t ns[];
};

/*
 * Samples are only appended to the newest chunk; what they add up to is worked out
 * a chunk at a time, when it is full or somebody asks. In histogram mode the
 * counters of one group then stay in the cache meanwhile, those of all do not.
 */
struct sl_stats {
	struct sl_stats_tail tail;	/* first: sl_stats_add() relies on it */
	struct sl_stats_pool *pool;
	struct chunk *newest;		/* exact mode: all values; else those not in octave[] yet */
	uint32_t settled;		/* values of newest that are in count, sum, ... */
	uint64_t count, sum, min, max;
	uint64_t *big;			/* exact mode: values that need more than 32 bits */
	uint32_t nr_big, cap_big;
	uint32_t *octave[OCTAVES];	/* histogram mode: SL_STATS_SUB counters each, lazily */
};

struct sl_stats_pool {
	bool keep_exact, exact;
	uint64_t samples;		/* in full chunks */
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

static void free_chunks(struct sl_stats *s)
{
	struct chunk *c, *older;

	for (c = s->newest; c; c = older) {
		older = c->older;
		free(c);
	}
	s->newest = NULL;
	s->tail.next = s->tail.end = NULL;
	s->settled = 0;
}

void sl_stats_pool_free(struct sl_stats_pool *pool)
{
	unsigned int i, o;

	if (!pool)
		return;
	for (i = 0; i < pool->nr; i++) {
		free_chunks(pool->stats[i]);
		free(pool->stats[i]->big);
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

static int hist_add_n(struct sl_stats *s, uint64_t ns, uint32_t n)
{
	unsigned int o = octave_of(ns), sub;

	sub = o ? (unsigned int)(ns >> (o - 1)) & (SL_STATS_SUB - 1) : (unsigned int)ns;
	if (!s->octave[o]) {
		s->octave[o] = calloc(SL_STATS_SUB, sizeof(uint32_t));
		if (!s->octave[o])
			return -ENOMEM;
	}
	s->octave[o][sub] += n;
	return 0;
}

static int hist_add(struct sl_stats *s, uint64_t ns)
{
	return hist_add_n(s, ns, 1);
}

/* Largest value that falls into a bucket. */
static uint64_t bucket_top(unsigned int o, unsigned int sub)
{
	uint64_t base = o ? (uint64_t)(SL_STATS_SUB + sub) : sub;

	return o ? ((base + 1) << (o - 1)) - 1 : base;
}

static void account(struct sl_stats *s, uint64_t ns)
{
	s->count++;
	s->sum += ns;
	if (ns < s->min)
		s->min = ns;
	if (ns > s->max)
		s->max = ns;
}

/* Bring count, sum, min, max (and in histogram mode the counters) up to date. */
static int settle(struct sl_stats *s)
{
	struct chunk *c = s->newest;
	uint32_t i;
	int ret = 0;

	if (!c)
		return 0;
	c->n = (uint32_t)(s->tail.next - c->ns);
	for (i = s->settled; i < c->n; i++)
		account(s, c->ns[i]);
	s->settled = c->n;
	if (s->pool->exact)
		return 0;
	for (i = 0; i < c->n && !ret; i++)
		ret = hist_add(s, c->ns[i]);
	c->n = s->settled = 0;
	s->tail.next = c->ns;
	return ret;
}

static int to_histogram(struct sl_stats *s)
{
	struct chunk *c;
	uint32_t i;
	int ret = 0;

	settle(s);
	for (c = s->newest; c && !ret; c = c->older)
		for (i = 0; i < c->n && !ret; i++)
			ret = hist_add(s, c->ns[i]);
	for (i = 0; i < s->nr_big && !ret; i++)
		ret = hist_add(s, s->big[i]);
	free_chunks(s);
	free(s->big);
	s->big = NULL;
	s->nr_big = s->cap_big = 0;
	return ret;
}

static int add_big(struct sl_stats *s, uint64_t ns)
{
	account(s, ns);
	if (!s->pool->exact)
		return hist_add(s, ns);
	if (s->nr_big == s->cap_big) {
		uint32_t cap = s->cap_big ? s->cap_big * 2 : 16;
		uint64_t *grown = realloc(s->big, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		s->big = grown;
		s->cap_big = cap;
	}
	s->big[s->nr_big++] = ns;
	return 0;
}

static int add_chunk(struct sl_stats *s)
{
	uint32_t room = s->newest || s->count ? CHUNK_SAMPLES : FIRST_CHUNK_SAMPLES;
	struct chunk *c = malloc(sizeof(*c) + room * sizeof(c->ns[0]));

	if (!c)
		return -ENOMEM;
	c->older = s->newest;
	c->n = 0;
	s->newest = c;
	s->settled = 0;
	s->tail.next = c->ns;
	s->tail.end = c->ns + room;
	return 0;
}

/* All of them before the mode changes: settle() asks for it. */
static int pool_to_histograms(struct sl_stats_pool *pool)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < pool->nr && !ret; i++)
		ret = settle(pool->stats[i]);
	pool->exact = false;
	for (i = 0; i < pool->nr && !ret; i++)
		ret = to_histogram(pool->stats[i]);
	return ret;
}

int sl_stats_add_many(struct sl_stats *s, uint64_t low_ns, uint64_t high_ns, uint64_t n, uint64_t sum_ns)
{
	int ret = s->pool->exact ? pool_to_histograms(s->pool) : settle(s);

	if (ret || !n)
		return ret;
	s->count += n;
	s->sum += sum_ns;
	if (low_ns < s->min)
		s->min = low_ns;
	if (high_ns > s->max)
		s->max = high_ns;
	return hist_add_n(s, high_ns, n < UINT32_MAX ? (uint32_t)n : UINT32_MAX);
}

int sl_stats_add_slow(struct sl_stats *s, uint64_t ns)
{
	struct sl_stats_pool *pool = s->pool;
	int ret;

	if (ns >= UINT32_MAX)
		return add_big(s, ns);
	ret = settle(s);
	if (ret)
		return ret;
	if (pool->exact && s->newest) {
		pool->samples += s->newest->n;
		if (pool->samples > SL_STATS_EXACT_SAMPLES && !pool->keep_exact)
			ret = pool_to_histograms(pool);
	}
	if (!ret && (pool->exact || !s->newest))
		ret = add_chunk(s);
	if (!ret)
		*s->tail.next++ = (uint32_t)ns;
	return ret;
}

uint64_t sl_stats_count(struct sl_stats *s)
{
	settle(s);
	return s->count;
}

uint64_t sl_stats_sum(struct sl_stats *s)
{
	settle(s);
	return s->sum;
}

uint64_t sl_stats_min(struct sl_stats *s)
{
	settle(s);
	return s->count ? s->min : 0;
}

uint64_t sl_stats_max(struct sl_stats *s)
{
	settle(s);
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

static uint64_t copy_values(const struct sl_stats *s, uint64_t *v)
{
	const struct chunk *c;
	uint64_t n = 0;
	uint32_t i;

	for (c = s->newest; c; c = c->older)
		for (i = 0; i < c->n; i++)
			v[n++] = c->ns[i];
	for (i = 0; i < s->nr_big; i++)
		v[n++] = s->big[i];
	return n;
}

static void exact_ranks(struct sl_stats *const *stats, unsigned int nr, uint64_t count,
			const uint64_t *rank, unsigned int nr_ranks, uint64_t *ret)
{
	uint64_t *v = malloc(count * sizeof(*v)), n = 0;
	unsigned int i;

	if (!v)
		return;
	for (i = 0; i < nr; i++)
		n += copy_values(stats[i], v + n);
	if (!sort_u64(v, n))
		for (i = 0; i < nr_ranks; i++)
			ret[i] = v[rank[i] - 1];
	free(v);
}

/* One value per rank; they may come in any order. */
static void histogram_ranks(struct sl_stats *const *stats, unsigned int nr, const uint64_t *rank,
			    unsigned int nr_ranks, uint64_t *ret)
{
	uint64_t before = 0;
	unsigned int o, sub, i;

	for (o = 0; o < OCTAVES; o++) {
		uint64_t total[SL_STATS_SUB];
		bool any = false;

		for (i = 0; i < nr; i++)
			any |= stats[i]->octave[o] != NULL;
		if (!any)
			continue;
		memset(total, 0, sizeof(total));
		for (i = 0; i < nr; i++)
			for (sub = 0; stats[i]->octave[o] && sub < SL_STATS_SUB; sub++)
				total[sub] += stats[i]->octave[o][sub];
		for (sub = 0; sub < SL_STATS_SUB; sub++) {
			uint64_t upto = before + total[sub];

			for (i = 0; i < nr_ranks && upto > before; i++)
				if (rank[i] > before && rank[i] <= upto && bucket_top(o, sub) < ret[i])
					ret[i] = bucket_top(o, sub);
			before = upto;
		}
	}
}

void sl_stats_quantiles_of(struct sl_stats *const *stats, unsigned int nr, const double *q,
			   unsigned int nr_q, uint64_t *ret)
{
	uint64_t rank[SL_STATS_QUANTILES_MAX], count = 0, max = 0;
	bool all_max = true;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		settle(stats[i]);
		count += stats[i]->count;
		if (stats[i]->max > max)
			max = stats[i]->max;
	}
	for (i = 0; i < nr_q; i++) {
		/* 0.999 * 1000 is 999.0000000000001 or 999 by luck of the platform: take the tick off. */
		rank[i] = (uint64_t)ceil(q[i] * (double)count * (1 - 1e-14));
		rank[i] = rank[i] < 1 ? 1 : rank[i] > count ? count : rank[i];
		all_max &= rank[i] == count;
		ret[i] = max;
	}
	if (!count || all_max)
		return;
	if (stats[0]->pool->exact)
		exact_ranks(stats, nr, count, rank, nr_q, ret);
	else
		histogram_ranks(stats, nr, rank, nr_q, ret);
}

uint64_t sl_stats_quantile(struct sl_stats *s, double q)
{
	uint64_t value;

	sl_stats_quantiles_of(&s, 1, &q, 1, &value);
	return value;
}

/* Ranges are numbered: parts of 1 ns from 0 on, then `parts` of them per power of two. */
static unsigned int range_of(uint64_t ns, unsigned int bits)
{
	unsigned int above;

	if (ns < 1u << bits)
		return (unsigned int)ns;
	above = (unsigned int)(63 - __builtin_clzll(ns)) - bits;
	return (above << bits) + (unsigned int)(ns >> above);
}

static void count_ranges(struct sl_stats *s, unsigned int bits, uint64_t *count)
{
	unsigned int o, sub;
	struct chunk *c;
	uint32_t i;

	settle(s);
	for (c = s->newest; c; c = c->older)
		for (i = 0; i < c->n; i++)
			count[range_of(c->ns[i], bits)]++;
	for (i = 0; i < s->nr_big; i++)
		count[range_of(s->big[i], bits)]++;
	for (o = 0; o < OCTAVES; o++)
		for (sub = 0; s->octave[o] && sub < SL_STATS_SUB; sub++)
			if (s->octave[o][sub])
				count[range_of(bucket_top(o, sub), bits)] += s->octave[o][sub];
}

void sl_stats_each_range(struct sl_stats *const *stats, unsigned int nr, unsigned int parts,
			 void (*f)(void *arg, uint64_t lo_ns, uint64_t hi_ns, uint64_t count),
			 void *arg)
{
	uint64_t count[SL_STATS_PARTS_MAX * 65] = { 0 };
	unsigned int bits = (unsigned int)__builtin_ctz(parts), i;

	for (i = 0; i < nr; i++)
		count_ranges(stats[i], bits, count);
	for (i = 0; i < parts * (65 - bits); i++) {
		unsigned int above = i < parts ? 0 : (i >> bits) - 1;
		uint64_t lo_ns = (uint64_t)(i - (above << bits)) << above;

		if (count[i])
			f(arg, lo_ns, lo_ns + (1ull << above) > lo_ns ? lo_ns + (1ull << above) : UINT64_MAX,
			  count[i]);
	}
}

void sl_stats_each_octave(struct sl_stats *s,
			  void (*f)(void *arg, uint64_t lo_ns, uint64_t hi_ns, uint64_t count),
			  void *arg)
{
	sl_stats_each_range(&s, 1, 1, f, arg);
}
