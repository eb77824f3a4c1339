// SPDX-License-Identifier: GPL-2.0-only
/* top's pages, made without a kernel and without a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "out/top.h"
#include "util/time.h"

static struct sl_bpf_hist hist;
static struct sl_top_judged judged;
static struct sl_top_task tasks[2];
static struct sl_top_cause cause;
static struct sl_top_cpu cpu;
static struct sl_top_page page;

static struct sl_top_frame make_frame(void)
{
	struct sl_top_frame f = {
		.nr = 1, .run_ns = 12340000000, .interval_ns = 1000000000, .backend = "bpf", .why = "",
		.threshold_ns = 1000000, .tasks = tasks, .nr_tasks = 2, .nr_threads = 3,
		.causes = &cause, .nr_causes = 1, .cpus = &cpu, .nr_cpus = 1,
		.judged_waits = 4, .judged_ns = 10000000, .now_judged_waits = 2, .now_judged_ns = 5000000,
		.own_cpu_permille = 7, .own_rss_bytes = 9 << 20, .lost = 3,
	};

	memset(&hist, 0, sizeof(hist));
	memset(&judged, 0, sizeof(judged));
	hist.buckets[SL_BPF_HIST_SUB] = 3;	/* 1.02 us */
	hist.buckets[2 * SL_BPF_HIST_SUB] = 1;
	judged.waits = 4;
	judged.ns = 10000000;
	judged.cause_ns[SL_CAUSE_RT_CLASS] = 7500000;
	judged.exact_ns[SL_CAUSE_RT_CLASS] = 7500000;
	judged.cause_ns[SL_CAUSE_IRQ] = 2500000;
	for (int i = 0; i < 2; i++)
		tasks[i] = (struct sl_top_task){
			.tid = 12 + i, .tgid = 12, .sched_class = SL_CLASS_FAIR, .slice_ns = 500000,
			.waits = 100, .sum_ns = 5000000, .p50_ns = 12345, .p99_ns = 999600, .max_ns = 31400000,
			.now_waits = 10 + i, .now_ns = 2000000, .hist = &hist, .judged = &judged,
			.cause = sl_top_judged_cause(&judged, 0), .behind_tid = -1, .protected_ns = SL_NO_VALUE,
		};
	memcpy(tasks[0].comm, "a\x1b[2J\xff", 6);
	memcpy(tasks[1].comm, "waiter", 6);
	tasks[1].waiting = true;
	tasks[1].waiting_ns = 1800000;
	tasks[1].wait_cpu = 3;
	tasks[1].behind_tid = 1234;
	tasks[1].protected_ns = 400000;
	memcpy(tasks[1].behind_comm, "hackbench", 9);
	cause = (struct sl_top_cause){ .cause = SL_CAUSE_RT_CLASS, .now_ns = 2500000, .total_ns = 7500000,
				       .total_waits = 4, .confidence_ns = { 6000000, 1500000, 0 } };
	cause.trend[SL_TOP_TREND - 2] = 1;
	cause.trend[SL_TOP_TREND - 1] = 1000;
	cpu = (struct sl_top_cpu){ .cpu = 3, .tid = -1, .nr_running = -1, .idle_permille = -1 };
	return f;
}

static const char *line_with(const char *text)
{
	for (unsigned int i = 0; i < page.nr; i++)
		if (strstr(page.lines[i].text, text))
			return page.lines[i].text;
	return NULL;
}

static void fill(const struct sl_top_frame *f, struct sl_top_view view)
{
	view.width = view.width ?: 80;
	assert_int_equal(sl_top_page_fill(&page, f, &view), 0);
}

static void test_short(void **state)
{
	static const struct { uint64_t ns; const char *text; } cases[] = {
		{ 0, "0n" }, { 999, "999n" }, { 1000, "1.00u" }, { 9994, "9.99u" }, { 9996, "10.0u" },
		{ 99960, "100u" }, { 999499, "999u" }, { 999500, "1.00m" }, { 1234567, "1.23m" },
		{ 31400000, "31.4m" }, { 999500000, "1.00s" }, { 12345000000, "12.3s" }, { SL_TIME_NONE, "-" },
	};
	char buf[24];

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(sl_top_short(buf, sizeof(buf), cases[i].ns), cases[i].text);
}

static void test_tasks(void **state)
{
	const struct sl_top_frame f = make_frame();

	(void)state;
	fill(&f, (struct sl_top_view){ .screen = SL_TOP_TASKS, .sort = SL_TOP_BY_WAITS });
	assert_string_equal(page.lines[0].text, "schedlat top (bpf) 12.3 s, the last 1.0 s; 2 of 3 threads");
	assert_string_equal(page.lines[1].text,
			    "judged: waits >= 1.000 ms; own cost 0.7 % of a CPU, 9.0 MiB; 3 lost");
	assert_string_equal(page.lines[2].text,
			    "now: 1 wait; waiter/13 1.800 ms on CPU 3 behind hackbench/1234, protected 400...");
	assert_int_equal(page.fixed, 4);
	/* waiter has waited more often; the other's name cannot reach the terminal */
	assert_int_equal(page.lines[4].tid, 13);
	assert_string_equal(page.lines[4].text,
			    "waiter             13 fair  500u  11.0 12.3u 1.00m 31.4m 2.00m rt-class 75%");
	assert_non_null(strstr(page.lines[5].text, "a\\x1b[2J\\xff"));
	fill(&f, (struct sl_top_view){ .screen = SL_TOP_TASKS, .sort = SL_TOP_BY_WAITS, .reverse = true });
	assert_int_equal(page.lines[4].tid, 12);
	fill(&f, (struct sl_top_view){ .screen = SL_TOP_TASKS, .search = "13" });
	assert_int_equal(page.nr, 5);
	fill(&f, (struct sl_top_view){ .screen = SL_TOP_TASKS, .search = "nobody" });
	assert_non_null(line_with("nothing is like 'nobody'"));
	fill(&f, (struct sl_top_view){ .screen = SL_TOP_TASKS, .width = 160 });
	assert_non_null(line_with("75%           1.800 ms on CPU 3 behind hackbench/1234, protected 400.0 us more"));
}

static void test_causes(void **state)
{
	const struct sl_top_frame f = make_frame();
	const char *line;

	(void)state;
	fill(&f, (struct sl_top_view){ .screen = SL_TOP_CAUSES });
	line = line_with("rt-class");
	assert_non_null(line);
	assert_non_null(strstr(line, "50.0 %   75.0 %  7.50m      4   80%     20%       -"));
	/* the smallest share is seen, the largest is a full column; ASCII without UTF-8 */
	assert_string_equal(line + strlen(line) - 2, ".@");
	fill(&f, (struct sl_top_view){ .screen = SL_TOP_CAUSES, .utf8 = true });
	assert_non_null(strstr(line_with("rt-class"), "\u2581\u2588"));
}

static void test_unknown(void **state)
{
	const struct sl_top_frame f = make_frame();
	struct sl_top_frame fallback = f;

	(void)state;
	fill(&f, (struct sl_top_view){ .screen = SL_TOP_CPUS });
	/* what is not known is no number */
	assert_string_equal(page.lines[3].text,
			    "   3        - -                             -        -         -       0       0     0n");
	fill(&f, (struct sl_top_view){ .screen = SL_TOP_OUTLIERS });
	assert_non_null(line_with("no wait has reached the threshold yet"));
	fill(&f, (struct sl_top_view){ .screen = SL_TOP_DETAIL, .tid = 99 });
	assert_non_null(line_with("thread 99 is gone"));
	fallback.why = "no BTF";
	fill(&fallback, (struct sl_top_view){ .screen = SL_TOP_TASKS });
	assert_non_null(line_with("missing without bpf"));
	assert_non_null(line_with("now: not known"));
}

static void test_detail(void **state)
{
	const struct sl_top_frame f = make_frame();

	(void)state;
	fill(&f, (struct sl_top_view){ .screen = SL_TOP_DETAIL, .tid = 13 });
	assert_non_null(line_with(" 1.02u -  2.05u        3 |########################################"));
	assert_non_null(line_with("rt-class            75.0 %  7.50m   exact 100.0 %"));
	assert_int_equal(sl_top_judged_cause(&judged, 0), SL_CAUSE_RT_CLASS);
	assert_int_equal(sl_top_judged_cause(&judged, 1), SL_CAUSE_IRQ);
	assert_int_equal(sl_top_judged_cause(&judged, 2), SL_CAUSE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short), cmocka_unit_test(test_tasks), cmocka_unit_test(test_causes),
		cmocka_unit_test(test_unknown), cmocka_unit_test(test_detail),
	};
	int bad = cmocka_run_group_tests(tests, NULL, NULL);

	sl_top_page_clear(&page);
	return bad;
}
