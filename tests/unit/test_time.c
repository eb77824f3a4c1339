// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/time.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static void parses_durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "0", 0 },
		{ "0ns", 0 },
		{ "250ns", 250 },
		{ "500us", 500000 },
		{ "1.5ms", 1500000 },
		{ "1.000001ms", 1000001 },
		{ "0.5us", 500 },
		{ "10s", 10000000000ull },
		{ "2m", 120000000000ull },
		{ "1h", 3600000000000ull },
		{ "1.5h", 5400000000000ull },
		{ "18446744073709551615ns", UINT64_MAX },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		struct sl_err err = { "" };
		uint64_t ns = 7;

		assert_int_equal(sl_time_parse(good[i].text, &ns, &err), 0);
		assert_true(ns == good[i].ns);
		assert_string_equal(err.msg, "");
	}
}

static void refuses_what_is_no_duration(void **state)
{
	static const char *const bad[] = {
		"", "5", "1.5", "us", ".us", "-5us", "5 us", "5us ", "5parsec", "1.2.3ms", "5US", "0x5us",
		"18446744073709551616ns", "18446744073709551615us", "99999999999999999999999999s", "nan",
		"infs", "5e3us", "1,5ms",
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct sl_err err = { "" };
		uint64_t ns = 7;

		assert_int_equal(sl_time_parse(bad[i], &ns, &err), SL_EUSAGE);
		assert_true(ns == 7);		/* untouched on failure */
		assert_true(err.msg[0]);
		assert_int_equal(sl_time_parse(bad[i], &ns, NULL), SL_EUSAGE);
	}
}

static void parses_windows(void **state)
{
	uint64_t start = 1, stop = 2;

	(void)state;
	assert_int_equal(sl_time_parse_window("12.5,13", &start, &stop, NULL), 0);
	assert_true(start == 12500000000ull && stop == 13000000000ull);
	assert_int_equal(sl_time_parse_window("12.5,", &start, &stop, NULL), 0);
	assert_true(start == 12500000000ull && stop == SL_TIME_NONE);
	assert_int_equal(sl_time_parse_window(",0.000000001", &start, &stop, NULL), 0);
	assert_true(start == 0 && stop == 1);
	assert_int_equal(sl_time_parse_window(",", &start, &stop, NULL), 0);
	assert_true(start == 0 && stop == SL_TIME_NONE);
}

static void refuses_what_is_no_window(void **state)
{
	static const char *const bad[] = { "", "5", "5-6", "6,5", "a,b", "1,2,3", "1s,2s", "-1,2",
					   "99999999999999999999,", "1,2 " };
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct sl_err err = { "" };
		uint64_t start = 7, stop = 8;

		assert_int_equal(sl_time_parse_window(bad[i], &start, &stop, &err), SL_EUSAGE);
		assert_true(start == 7 && stop == 8);
		assert_true(err.msg[0]);
	}
}

/* Rounding must carry: a library once printed 1234.999999501 s as 1234.1000000. */
static void rounds_seconds_with_carry(void **state)
{
	static const struct {
		uint64_t ns;
		int digits;
		const char *text;
	} cases[] = {
		{ 1234999999501ull, 6, "1235.000000" },
		{ 1234999999499ull, 6, "1234.999999" },
		{ 1234999999500ull, 6, "1235.000000" },
		{ 1234999999501ull, 9, "1234.999999501" },
		{ 59999999500ull, 6, "60.000000" },
		{ 59999999499ull, 6, "59.999999" },
		{ 59999999500ull, 9, "59.999999500" },
		{ 999999999ull, 0, "1" },
		{ 499999999ull, 0, "0" },
		{ 500000000ull, 0, "1" },
		{ 1ull, 9, "0.000000001" },
		{ 1ull, 6, "0.000000" },
		{ 500ull, 6, "0.000001" },
		{ 0, 6, "0.000000" },
		{ 94999999ull, 1, "0.1" },
		{ 1049999999ull, 1, "1.0" },
		{ UINT64_MAX, 9, "18446744073.709551615" },
		{ UINT64_MAX, 3, "18446744073.710" },
	};
	char buf[64];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(sl_time_fmt_sec(buf, sizeof(buf), cases[i].ns, cases[i].digits),
				    cases[i].text);
}

static void formats_for_people(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" },
		{ 950, "950 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 12300, "12.3 us" },
		{ 4560000, "4.56 ms" },
		{ 456000000, "456 ms" },
		{ 1230000000, "1.23 s" },
		{ 12300000000ull, "12.3 s" },
	};
	char buf[64];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(sl_time_fmt_human(buf, sizeof(buf), cases[i].ns), cases[i].text);
}

/* 999.9 us rounded to three digits is 1.00 ms, and 9.999 us is 10.0 us: never "1000 us". */
static void people_never_see_four_digits(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 999999, "1.00 ms" },
		{ 999499, "999 us" },
		{ 9999, "10.0 us" },
		{ 99999, "100 us" },
		{ 999999999, "1.00 s" },
	};
	char buf[64];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(sl_time_fmt_human(buf, sizeof(buf), cases[i].ns), cases[i].text);
}

static void never_wraps(void **state)
{
	uint64_t ns = 7;

	(void)state;
	assert_false(sl_delta(5, 6, &ns));
	assert_true(ns == 7);
	assert_true(sl_delta(6, 5, &ns));
	assert_true(ns == 1);
	assert_true(sl_delta(UINT64_MAX, 0, &ns));
	assert_true(ns == UINT64_MAX);
	assert_true(sl_since(5, 6) == 0);
	assert_true(sl_since(6, 5) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_durations),
		cmocka_unit_test(refuses_what_is_no_duration),
		cmocka_unit_test(parses_windows),
		cmocka_unit_test(refuses_what_is_no_window),
		cmocka_unit_test(rounds_seconds_with_carry),
		cmocka_unit_test(formats_for_people),
		cmocka_unit_test(people_never_see_four_digits),
		cmocka_unit_test(never_wraps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
