// SPDX-License-Identifier: GPL-2.0-only
/* The permutation test, on units few enough to count the relabellings by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <cmocka.h>

#include "stats/permute.h"

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static struct sl_permute_result run(unsigned int nr_a, unsigned int nr_b, unsigned int nr_rows,
				    const double *values, double *ret_p)
{
	const struct sl_permute permute = { nr_a, nr_b, nr_rows, values };
	struct sl_permute_result result;

	assert_int_equal(sl_permute_test(&permute, ret_p, &result), 0);
	return result;
}

/* 1 2 3 against 11 12 13: of the 20 ways to pick three of six, two are as far apart. */
static void apart(void **state)
{
	const double values[] = { 1, 2, 3, 11, 12, 13 };
	struct sl_permute_result result;
	double p;

	(void)state;
	result = run(3, 3, 1, values, &p);
	assert_true(result.exact);
	assert_int_equal(result.relabellings, 20);
	assert_near(result.least_p, 2.0 / 20);
	assert_near(p, 2.0 / 20);
}

/* 1 3 against 2 10: sums of side A over the 6 ways: 3, 4, 11, 5, 12, 13, the middle is 8. As it
 * happened it is 4; as far from the middle are 3, 4, 12 and 13. */
static void counted(void **state)
{
	const double values[] = { 1, 3, 2, 10 };
	double p;

	(void)state;
	run(2, 2, 1, values, &p);
	assert_near(p, 4.0 / 6);
}

/* Unequal sides: 0 against 1 2 3. Side A is one of four, only 0 and 3 are 1.5 from the middle. */
static void unequal(void **state)
{
	const double values[] = { 0, 1, 2, 3 };
	struct sl_permute_result result;
	double p;

	(void)state;
	result = run(1, 3, 1, values, &p);
	assert_int_equal(result.relabellings, 4);
	assert_near(result.least_p, 1.0 / 4);
	assert_near(p, 2.0 / 4);
}

/* Nothing varies: no difference, whatever else is tested. */
static void all_equal(void **state)
{
	const double values[] = { 5, 5, 5, 5, 5, 5, 5, 5 };
	double p;

	(void)state;
	run(4, 4, 1, values, &p);
	assert_near(p, 1);
}

/*
 * Two rows. The first is 4 apart from 4, each row alone would have 2 of 70. In the second another
 * labelling and its opposite are further apart (0 0 0 0 against 9 9 9 9 without any spread), so
 * that each row's p counts those as well: 4 of 70.
 */
static void corrected(void **state)
{
	const double values[] = {
		1, 2, 3, 4, 21, 22, 23, 24,
		0, 0, 9, 9, 0, 0, 9, 9,
	};
	double p[2], alone;

	(void)state;
	run(4, 4, 2, values, p);
	assert_near(p[0], 4.0 / 70);
	assert_near(p[1], 1);
	run(4, 4, 1, values, &alone);
	assert_near(alone, 2.0 / 70);
}

/* The unit of a value does not matter, nor does its zero. */
static void scale(void **state)
{
	const double a[] = { 1, 4, 2, 8, 5, 7, 9, 6 };
	double b[8], p, q;
	unsigned int i;

	(void)state;
	for (i = 0; i < 8; i++)
		b[i] = 1e6 * a[i] - 3e5;
	run(4, 4, 1, a, &p);
	run(4, 4, 1, b, &q);
	assert_near(p, q);
}

/* 12 of 24 are 2.7 million ways: a sample of them, the same one every time. */
static void sampled(void **state)
{
	double values[24], p, again;
	struct sl_permute_result result;
	unsigned int i;

	(void)state;
	for (i = 0; i < 24; i++)
		values[i] = i < 12 ? i : i + 100;
	result = run(12, 12, 1, values, &p);
	assert_false(result.exact);
	assert_near(p, 1.0 / (double)(result.relabellings + 1));
	assert_near(result.least_p, p);
	for (i = 0; i < 24; i++)
		values[i] = i % 2 ? 23 - i : i;		/* no side is above the other */
	run(12, 12, 1, values, &p);
	run(12, 12, 1, values, &again);
	assert_true(p > 0.3);
	assert_near(p, again);
}

static void limits(void **state)
{
	double values[65] = { 0 }, p = 7;
	struct sl_permute_result result;
	struct sl_permute permute = { 0, 3, 1, values };

	(void)state;
	assert_int_equal(sl_permute_test(&permute, &p, &result), -EINVAL);
	permute = (struct sl_permute){ 33, 32, 1, values };
	assert_int_equal(sl_permute_test(&permute, &p, &result), -EINVAL);
	assert_near(p, 7);
	run(32, 32, 1, values, &p);
	assert_near(p, 1);
	result = run(1, 1, 1, values, &p);
	assert_near(result.least_p, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(apart), cmocka_unit_test(counted), cmocka_unit_test(unequal),
		cmocka_unit_test(all_equal), cmocka_unit_test(corrected), cmocka_unit_test(scale),
		cmocka_unit_test(sampled), cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests_name("permute", tests, NULL, NULL);
}
