// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums and segments are two ways to one answer: for every golden trace the causes
 * added up at a fixed cost per wait must equal those read from the segments, ns by
 * ns and confidence by confidence, and the segments of every wait must fill it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedlat/report.h"

struct totals {
	const char *path;
	uint64_t ns[SL_CAUSE_HOLD_NR][SL_CONF_NR];
	uint64_t waits;
};

static void add_wait(void *arg, const struct sl_wait *w)
{
	struct totals *t = arg;
	uint64_t sum = 0, by_cause = 0, at = w->start_ns;
	unsigned int i, c;

	t->waits++;
	for (i = 0; i < w->nr_segments; i++) {
		const struct sl_segment *s = &w->segments[i];

		if (s->start_ns != at)
			fail_msg("%s: tid %d: segment %u starts at %llu, the one before ends at %llu",
				 t->path, w->tid, i, (unsigned long long)s->start_ns,
				 (unsigned long long)at);
		assert_true(s->ns > 0);
		at += s->ns;
		sum += s->ns;
	}
	for (i = 0; i < SL_CAUSE_HOLD_NR; i++)
		for (c = 0; c < SL_CONF_NR; c++) {
			t->ns[i][c] += w->confidence_ns[i][c];
			by_cause += w->confidence_ns[i][c];
		}
	if (sum != w->delay_ns || by_cause != w->delay_ns)
		fail_msg("%s: tid %d: delay %llu, segments %llu, causes %llu", t->path, w->tid,
			 (unsigned long long)w->delay_ns, (unsigned long long)sum,
			 (unsigned long long)by_cause);
}

/* Returns the number of waits compared. */
static uint64_t compare(const char *path)
{
	struct totals totals = { .path = path };
	struct sl_report_params params = {
		.path = path,
		.waits = 1u << SL_WAIT_WAKE | 1u << SL_WAIT_PREEMPT | 1u << SL_WAIT_FORK,
		.why = { .mode = SL_WHY_DURATION },
		.on_wait = add_wait,
		.arg = &totals,
		.filter = { .ignore_recorded_targets = true },
	};
	struct sl_report *report;
	struct sl_err err = { "" };
	unsigned int i, c, k;
	int ret = sl_report_run(&params, &report, &err);

	if (ret)	/* traces that are errors on purpose have their own tests */
		return 0;
	assert_int_equal(report->why.count, totals.waits);
	for (i = 0; i < SL_CAUSE_HOLD_NR; i++) {
		uint64_t sums[SL_CONF_NR] = { 0 };

		for (k = 0; k < report->why.nr_causes; k++)
			if (report->why.causes[k].cause == (enum sl_cause)i)
				memcpy(sums, report->why.causes[k].confidence_ns, sizeof(sums));
		for (c = 0; c < SL_CONF_NR; c++)
			if (sums[c] != totals.ns[i][c])
				fail_msg("%s: %s (%s): %llu ns by sums, %llu by segments", path,
					 sl_cause_descs[i].id, sl_confidence_name((enum sl_confidence)c),
					 (unsigned long long)sums[c],
					 (unsigned long long)totals.ns[i][c]);
	}
	sl_report_free(report);
	return totals.waits;
}

static void sums_equal_segments(void **state)
{
	const char *one = getenv("SL_TEST_TRACE");
	uint64_t waits = 0, files = 0;
	glob_t found;
	size_t i;

	(void)state;
	if (one) {
		assert_true(compare(one) > 0);
		return;
	}
	assert_int_equal(glob("tests/golden/*.txt", 0, NULL, &found), 0);
	for (i = 0; i < found.gl_pathc; i++) {
		uint64_t n = compare(found.gl_pathv[i]);

		waits += n;
		files += n > 0;
	}
	globfree(&found);
	assert_true(files >= 40);
	assert_true(waits >= 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sums_equal_segments) };

	return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
