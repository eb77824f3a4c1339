// SPDX-License-Identifier: GPL-2.0-only
/* Slices: what is asked for, what the kernel makes of it, what is concluded from reading it back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "live/slice_scan.h"

#define MS 1000000ull
#define BASE (14 * MS / 10)

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "8ms", 8 * MS }, { "100us", 100000 }, { "1.5ms", 1500000 }, { "0", 0 }, { "0ms", 0 },
		{ "default", 0 }, { "250ns", 250 }, { "1s", 1000 * MS },
	};
	static const char *const bad[] = { "", "8", "ms", "-8ms", "8 ms", "Default", "8ms,", "1e3us" };
	struct sl_err err;
	uint64_t ns;

	(void)state;
	for (unsigned int i = 0; i < sizeof(good) / sizeof(*good); i++) {
		ns = 77;
		assert_int_equal(sl_slice_parse(good[i].text, &ns, &err), 0);
		assert_int_equal(ns, good[i].ns);
	}
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ns = 77;
		assert_int_equal(sl_slice_parse(bad[i], &ns, &err), SL_EUSAGE);
		assert_int_equal(ns, 77);
	}
	sl_slice_parse("8", &ns, &err);
	assert_string_equal(err.msg, "'8' is not a slice: write it like 8ms or 500us, or default");
}

static void test_clamp(void **state)
{
	(void)state;
	assert_int_equal(sl_slice_clamp(0), 0);
	assert_int_equal(sl_slice_clamp(1), 100000);
	assert_int_equal(sl_slice_clamp(99999), 100000);
	assert_int_equal(sl_slice_clamp(100000), 100000);
	assert_int_equal(sl_slice_clamp(100001), 100001);
	assert_int_equal(sl_slice_clamp(100 * MS), 100 * MS);
	assert_int_equal(sl_slice_clamp(100 * MS + 1), 100 * MS);
	assert_int_equal(sl_slice_clamp(UINT64_MAX), 100 * MS);
}

static enum sl_slice_outcome judge(uint32_t policy, uint64_t before_ns, uint64_t asked_ns,
				   uint64_t base_ns, int error, uint64_t after_ns)
{
	const struct sl_slice_attr before = { .policy = policy, .slice_ns = before_ns };
	const struct sl_slice_attr after = { .policy = policy, .slice_ns = after_ns };

	return sl_slice_judge(&before, asked_ns, base_ns, error, &after);
}

enum { OTHER, FIFO, RR, BATCH, IDLE = 5, DEADLINE, EXT };

static void test_judge(void **state)
{
	(void)state;
	assert_int_equal(judge(OTHER, BASE, 8 * MS, BASE, 0, 8 * MS), SL_SLICE_SET);
	assert_int_equal(judge(BATCH, BASE, 8 * MS, BASE, 0, 8 * MS), SL_SLICE_SET);
	assert_int_equal(judge(OTHER, 8 * MS, 8 * MS, BASE, 0, 8 * MS), SL_SLICE_UNCHANGED);
	/* The kernel's limits are no failure. */
	assert_int_equal(judge(OTHER, BASE, 1, BASE, 0, 100000), SL_SLICE_SET);
	assert_int_equal(judge(OTHER, BASE, 1000 * MS, BASE, 0, 100 * MS), SL_SLICE_SET);
	/* Back to the base slice, known or not. */
	assert_int_equal(judge(OTHER, 8 * MS, 0, BASE, 0, BASE), SL_SLICE_SET);
	assert_int_equal(judge(OTHER, 8 * MS, 0, 0, 0, BASE), SL_SLICE_SET);
	assert_int_equal(judge(OTHER, BASE, 0, BASE, 0, BASE), SL_SLICE_UNCHANGED);
	/* Before 6.12 nothing is reported, and nothing refused. */
	assert_int_equal(judge(OTHER, 0, 8 * MS, 0, 0, 0), SL_SLICE_NO_KERNEL);
	assert_int_equal(judge(OTHER, 0, 0, 0, 0, 0), SL_SLICE_NO_KERNEL);
	/* Accepted and ignored: by nature for SCHED_IDLE, otherwise for no reason we know. */
	assert_int_equal(judge(IDLE, BASE, 8 * MS, BASE, 0, BASE), SL_SLICE_IDLE);
	assert_int_equal(judge(IDLE, 8 * MS, 8 * MS, BASE, 0, 8 * MS), SL_SLICE_UNCHANGED);
	assert_int_equal(judge(OTHER, BASE, 8 * MS, BASE, 0, BASE), SL_SLICE_FAILED);
	assert_int_equal(judge(OTHER, BASE, 8 * MS, BASE, 0, 7 * MS), SL_SLICE_FAILED);
	assert_int_equal(judge(OTHER, BASE, 8 * MS, BASE, EINVAL, BASE), SL_SLICE_FAILED);
	assert_int_equal(judge(OTHER, BASE, 8 * MS, BASE, EPERM, BASE), SL_SLICE_NO_RIGHT);
	assert_int_equal(judge(OTHER, BASE, 8 * MS, BASE, ESRCH, BASE), SL_SLICE_GONE);
	/* EINVAL because it turned realtime between reading and setting. */
	assert_int_equal(judge(FIFO, BASE, 8 * MS, BASE, EINVAL, 0), SL_SLICE_REALTIME);
	assert_int_equal(judge(RR, 0, 8 * MS, BASE, 0, 0), SL_SLICE_REALTIME);
	assert_int_equal(judge(DEADLINE, 0, 8 * MS, BASE, EINVAL, 0), SL_SLICE_DEADLINE);
	assert_int_equal(judge(EXT, 0, 8 * MS, BASE, 0, 0), SL_SLICE_EXT);
}

static void test_reasons(void **state)
{
	char text[256];

	(void)state;
	assert_string_equal(sl_slice_reason(text, sizeof(text), SL_SLICE_NO_RIGHT, EPERM, geteuid() + 1) ?
			    strstr(text, ": be that user") : NULL,
			    ": be that user, or have CAP_SYS_NICE (root)");
	assert_non_null(strstr(sl_slice_reason(text, sizeof(text), SL_SLICE_NO_RIGHT, EPERM, geteuid()),
			       "container or a security module"));
	assert_string_equal(sl_slice_reason(text, sizeof(text), SL_SLICE_NO_KERNEL, 0, 0),
			    "this kernel keeps no slice per thread: Linux 6.12 and later do");
	assert_string_equal(sl_slice_reason(text, sizeof(text), SL_SLICE_SET, 0, 0), "");
	for (unsigned int o = 0; o < SL_SLICE_OUTCOME_NR; o++)
		assert_non_null(sl_slice_outcome_name(o));
}

static void test_stat(void **state)
{
	static const char rest[] = " 5 5 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4711 99 100\n";
	static const char kernel[] = "14 (ksoftirqd/0) S 2 0 0 0 -1 69238848 0 0 0 0 0 9 0 0 20 0 1 0 7 0";
	struct sl_slice_thread thread;
	char text[256];

	(void)state;
	snprintf(text, sizeof(text), "123 (a) b (c) S 77%s", rest);
	assert_true(sl_slice_parse_stat(text, &thread));
	assert_int_equal(thread.tid, 123);
	assert_string_equal(thread.comm, "a) b (c");
	assert_int_equal(thread.ppid, 77);
	assert_int_equal(thread.start_ticks, 4711);
	assert_false(thread.kernel);
	assert_true(sl_slice_parse_stat(kernel, &thread));
	assert_true(thread.kernel);
	assert_int_equal(thread.start_ticks, 7);
	/* The names of workers are longer here than anywhere else. */
	snprintf(text, sizeof(text), "1 (kworker/u8:2-events_unbound) I 2%s", rest);
	assert_true(sl_slice_parse_stat(text, &thread));
	assert_string_equal(thread.comm, "kworker/u8:2-ev");
	assert_false(sl_slice_parse_stat("", &thread));
	assert_false(sl_slice_parse_stat("1 (x", &thread));
	assert_false(sl_slice_parse_stat("1 )x( S 1", &thread));
	assert_false(sl_slice_parse_stat("1 (x) S 1 2 3", &thread));
}

static void test_most_common(void **state)
{
	static const uint64_t slices[] = { 3, 8, 3, 0, 3, 5, 0, 0 };
	struct sl_slice_base base = { 0 };
	struct sl_slice_list list = { 0 };

	(void)state;
	sl_slice_base_of(&list, &base);
	assert_int_equal(base.ns, 0);
	for (unsigned int i = 0; i < sizeof(slices) / sizeof(*slices); i++)
		assert_int_equal(sl_slice_list_add(&list, &(struct sl_slice_thread){
					 .tid = (int32_t)i, .attr.slice_ns = slices[i] }), 0);
	sl_slice_base_of(&list, &base);
	assert_int_equal(base.ns, 3);
	assert_int_equal(base.from, SL_SLICE_FROM_MOST);
	/* Not half of them: no guess. */
	list.items[0].attr.slice_ns = 9;
	base = (struct sl_slice_base){ 0 };
	sl_slice_base_of(&list, &base);
	assert_int_equal(base.ns, 0);
	sl_slice_list_clear(&list);
}

/* The real thing, on this thread; a kernel without slices says so. */
static void test_own_thread(void **state)
{
	struct sl_slice_attr before, after, now;
	struct sl_slice_base base;
	int error;

	(void)state;
	assert_int_equal(sl_slice_get(0, &now), 0);
	sl_slice_base(&base);
	if (!sl_slice_is_fair(now.policy) || now.policy == IDLE || !base.ns)
		skip();
	assert_int_equal(sl_slice_set(0, 7 * MS, base.ns, &before, &after, &error), SL_SLICE_SET);
	assert_int_equal(before.slice_ns, now.slice_ns);
	assert_int_equal(after.slice_ns, 7 * MS);
	assert_int_equal(after.nice, now.nice);
	/* A slice of our own does not hide the base slice. */
	sl_slice_base(&base);
	assert_int_not_equal(base.ns, 7 * MS);
	assert_int_equal(sl_slice_set(0, 0, base.ns, &before, &after, &error), SL_SLICE_SET);
	assert_int_equal(after.slice_ns, base.ns);
	assert_int_equal(sl_slice_set(INT32_MAX, 7 * MS, base.ns, &before, &after, &error), SL_SLICE_GONE);
	assert_int_equal(error, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_clamp),
		cmocka_unit_test(test_judge),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_most_common),
		cmocka_unit_test(test_own_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
