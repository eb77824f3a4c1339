// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stats/stats.h"

/* Deterministic, and not the generator of any library. */
static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void empty_group(void **state)
{
	struct sl_stats_pool *pool = sl_stats_pool_new(false);
	struct sl_stats *s = sl_stats_new(pool);

	(void)state;
	assert_true(sl_stats_count(s) == 0 && sl_stats_sum(s) == 0);
	assert_true(sl_stats_min(s) == 0 && sl_stats_max(s) == 0);
	assert_true(sl_stats_quantile(s, 0.5) == 0 && sl_stats_quantile(s, 1) == 0);
	assert_true(sl_stats_pool_is_exact(pool));
	sl_stats_pool_free(pool);
	sl_stats_pool_free(NULL);
}

/* 1..n us in a mixed order; nearest rank by hand. */
static void nearest_rank(void **state)
{
	static const struct {
		unsigned int n;
		uint64_t p50, p90, p99, p999;
	} cases[] = {
		{ 1, 1, 1, 1, 1 },
		{ 2, 1, 2, 2, 2 },
		{ 3, 2, 3, 3, 3 },
		{ 10, 5, 9, 10, 10 },
		{ 99, 50, 90, 99, 99 },		/* ceil(49.5) ceil(89.1) ceil(98.01) ceil(98.901) */
		{ 100, 50, 90, 99, 100 },
		{ 101, 51, 91, 100, 101 },
		{ 999, 500, 900, 990, 999 },	/* ceil(499.5) ceil(899.1) ceil(989.01) ceil(998.001) */
		{ 1000, 500, 900, 990, 999 },
		{ 1001, 501, 901, 991, 1000 },
		{ 2000, 1000, 1800, 1980, 1998 },
		{ 100000, 50000, 90000, 99000, 99900 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_stats_pool *pool = sl_stats_pool_new(false);
		struct sl_stats *s = sl_stats_new(pool);
		uint64_t n = cases[i].n, k, step = 7919 % n ? 7919 : 1;	/* a prime: visits each once */

		for (k = 0; k < n; k++)
			assert_int_equal(sl_stats_add(s, (k * step % n + 1) * 1000), 0);
		assert_true(sl_stats_count(s) == n);
		assert_true(sl_stats_sum(s) == n * (n + 1) / 2 * 1000);
		assert_true(sl_stats_min(s) == 1000 && sl_stats_max(s) == n * 1000);
		assert_true(sl_stats_quantile(s, 0.5) == cases[i].p50 * 1000);
		assert_true(sl_stats_quantile(s, 0.9) == cases[i].p90 * 1000);
		assert_true(sl_stats_quantile(s, 0.99) == cases[i].p99 * 1000);
		assert_true(sl_stats_quantile(s, 0.999) == cases[i].p999 * 1000);
		assert_true(sl_stats_quantile(s, 1) == n * 1000);
		/* asking does not change the answer, nor what comes after */
		assert_true(sl_stats_quantile(s, 0.5) == cases[i].p50 * 1000);
		assert_int_equal(sl_stats_add(s, 1), 0);
		assert_true(sl_stats_min(s) == 1 && sl_stats_count(s) == n + 1);
		sl_stats_pool_free(pool);
	}
}

static void extreme_values(void **state)
{
	struct sl_stats_pool *pool = sl_stats_pool_new(false);
	struct sl_stats *s = sl_stats_new(pool);

	(void)state;
	assert_int_equal(sl_stats_add(s, 0), 0);
	assert_int_equal(sl_stats_add(s, UINT32_MAX), 0);
	assert_int_equal(sl_stats_add(s, (uint64_t)UINT32_MAX + 1), 0);
	assert_int_equal(sl_stats_add(s, 1ull << 62), 0);
	assert_true(sl_stats_min(s) == 0 && sl_stats_max(s) == 1ull << 62);
	assert_true(sl_stats_quantile(s, 0.25) == 0);
	assert_true(sl_stats_quantile(s, 0.5) == UINT32_MAX);
	assert_true(sl_stats_quantile(s, 0.75) == (uint64_t)UINT32_MAX + 1);
	assert_true(sl_stats_quantile(s, 1) == 1ull << 62);
	sl_stats_pool_free(pool);
}

/*
 * Past the budget every group becomes a histogram: never too low, at most
 * 1/SL_STATS_SUB too high; count, sum, min and max stay exact. The groups of a
 * pool turn together, whichever of them holds the samples.
 */
static void histogram_error(void **state)
{
	static const double qs[] = { 0.0001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1 };
	const size_t n = SL_STATS_EXACT_SAMPLES + 65536, small = 1000;
	struct sl_stats_pool *pool = sl_stats_pool_new(false);
	struct sl_stats *big = sl_stats_new(pool), *other = sl_stats_new(pool);
	uint64_t *values = malloc(n * sizeof(*values)), seed = 88172645463325252ull, sum = 0;
	size_t i, k;

	(void)state;
	assert_non_null(values);
	for (i = 0; i < small; i++)
		assert_int_equal(sl_stats_add(other, (i + 1) * 1000), 0);
	assert_true(sl_stats_pool_is_exact(pool));
	for (i = 0; i < n; i++) {
		/* spread over many powers of two, as latencies are */
		values[i] = next_random(&seed) >> (i % 1000 ? 33 + next_random(&seed) % 31 : 20);
		sum += values[i];
		assert_int_equal(sl_stats_add(big, values[i]), 0);
	}
	assert_false(sl_stats_pool_is_exact(pool));
	qsort(values, n, sizeof(*values), by_value);
	assert_true(sl_stats_count(big) == n && sl_stats_sum(big) == sum);
	assert_true(sl_stats_min(big) == values[0] && sl_stats_max(big) == values[n - 1]);
	for (k = 0; k < sizeof(qs) / sizeof(qs[0]); k++) {
		double exact_rank = qs[k] * (double)n;
		size_t rank = (size_t)exact_rank;
		uint64_t exact, got = sl_stats_quantile(big, qs[k]);

		rank += (double)rank < exact_rank;
		exact = values[rank - 1];
		assert_true(got >= exact);
		assert_true(got - exact <= exact / SL_STATS_SUB + 1);
		assert_true(got <= sl_stats_max(big));
	}
	assert_true(sl_stats_quantile(other, 0.5) >= 500000);
	assert_true(sl_stats_quantile(other, 0.5) <= 500000 + 500000 / SL_STATS_SUB + 1);
	assert_true(sl_stats_count(other) == small && sl_stats_max(other) == 1000000);
	free(values);
	sl_stats_pool_free(pool);
}

static void exact_on_demand(void **state)
{
	const uint64_t n = SL_STATS_EXACT_SAMPLES + 1000;
	struct sl_stats_pool *pool = sl_stats_pool_new(true);
	struct sl_stats *s = sl_stats_new(pool);
	uint64_t i;

	(void)state;
	for (i = 0; i < n; i++)
		assert_int_equal(sl_stats_add(s, n - i), 0);
	assert_true(sl_stats_pool_is_exact(pool));
	assert_true(sl_stats_quantile(s, 0.5) == (n + 1) / 2);
	assert_true(sl_stats_quantile(s, 1) == n);
	sl_stats_pool_free(pool);
}

struct octaves {
	uint64_t count, last_hi;
	bool ordered;
};

static void on_octave(void *arg, uint64_t lo_ns, uint64_t hi_ns, uint64_t count)
{
	struct octaves *o = arg;

	if (lo_ns < o->last_hi || hi_ns <= lo_ns || !count)
		o->ordered = false;
	o->last_hi = hi_ns;
	o->count += count;
}

static void octaves_hold_every_sample(void **state)
{
	struct sl_stats_pool *pool = sl_stats_pool_new(false);
	struct sl_stats *s = sl_stats_new(pool);
	struct octaves o = { 0, 0, true };
	uint64_t i;

	(void)state;
	for (i = 0; i < 5000; i++)
		assert_int_equal(sl_stats_add(s, i * i), 0);
	sl_stats_each_octave(s, on_octave, &o);
	assert_true(o.count == 5000 && o.ordered);
	for (i = 0; i < SL_STATS_EXACT_SAMPLES; i++)
		assert_int_equal(sl_stats_add(s, i), 0);
	o = (struct octaves){ 0, 0, true };
	sl_stats_each_octave(s, on_octave, &o);
	assert_true(o.count == 5000 + SL_STATS_EXACT_SAMPLES && o.ordered);
	sl_stats_pool_free(pool);
}

struct ranges {
	uint64_t lo_ns[8], hi_ns[8], count[8];
	unsigned int nr;
};

static void on_range(void *arg, uint64_t lo_ns, uint64_t hi_ns, uint64_t count)
{
	struct ranges *r = arg;

	assert_true(r->nr < 8);
	r->lo_ns[r->nr] = lo_ns;
	r->hi_ns[r->nr] = hi_ns;
	r->count[r->nr++] = count;
}

/* Two groups together, 16 ranges per power of two: from 32 ns on they are 2 ns wide, ... */
static void parts_of_a_power_of_two(void **state)
{
	static const uint64_t one[] = { 0, 15, 33, UINT64_MAX }, other[] = { 15, 32, 1000 };
	static const struct ranges want = {
		{ 0, 15, 32, 992, 0xf800000000000000ull }, { 1, 16, 34, 1024, UINT64_MAX },
		{ 1, 2, 2, 1, 1 }, 5,
	};
	struct sl_stats_pool *pool = sl_stats_pool_new(false);
	struct sl_stats *stats[] = { sl_stats_new(pool), sl_stats_new(pool) };
	struct ranges r = { .nr = 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_int_equal(sl_stats_add(stats[0], one[i]), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(sl_stats_add(stats[1], other[i]), 0);
	sl_stats_each_range(stats, 2, 16, on_range, &r);
	assert_int_equal(r.nr, want.nr);
	for (i = 0; i < r.nr; i++)
		assert_true(r.lo_ns[i] == want.lo_ns[i] && r.hi_ns[i] == want.hi_ns[i] &&
			    r.count[i] == want.count[i]);
	sl_stats_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_group),
		cmocka_unit_test(nearest_rank),
		cmocka_unit_test(extreme_values),
		cmocka_unit_test(histogram_error),
		cmocka_unit_test(exact_on_demand),
		cmocka_unit_test(octaves_hold_every_sample),
		cmocka_unit_test(parts_of_a_power_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
