// SPDX-License-Identifier: GPL-2.0-only
/* Outputs of hand-built reports: digits, escapes, shares, widths, keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <locale.h>
#include <cmocka.h>
#include <jansson.h>

#include "out/fmt.h"
#include "out/out.h"
#include "out/table.h"
#include "out/text.h"
#include "stats/stats.h"
#include "util/time.h"
#include "event/event.h"

static void test_scaled(void **state)
{
	static const struct {
		uint64_t ns, scale;
		unsigned int decimals;
		const char *text;
	} cases[] = {
		{ 0, 1000, 3, "0.000" },
		{ 1, 1000, 3, "0.001" },
		{ 1234567, 1000, 1, "1234.6" },
		{ 1234549, 1000, 1, "1234.5" },
		{ 1234550, 1000, 1, "1234.6" },		/* half goes up */
		{ 999950, 1000, 1, "1000.0" },		/* the carry */
		{ 999949, 1000, 1, "999.9" },
		{ 999999, 1000000, 3, "1.000" },
		{ 1499, 1000, 0, "1" },
		{ 1500, 1000, 0, "2" },
		{ UINT64_MAX, 1000000, 3, "18446744073709.552" },
		{ UINT64_MAX, 1000000000, 9, "18446744073.709551615" },
	};
	char buf[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(sl_fmt_scaled(buf, sizeof(buf), cases[i].ns, cases[i].scale,
						  cases[i].decimals), cases[i].text);
}

static void test_duration(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" },		{ 999, "999 ns" },	{ 1000, "1.000 us" },
		{ 9999, "9.999 us" },	{ 10000, "10.00 us" },	{ 99994, "99.99 us" },
		{ 99995, "100.0 us" },	{ 841200, "841.2 us" },	{ 999949, "999.9 us" },
		{ 999950, "1.000 ms" },	{ 31400000, "31.40 ms" },
		{ 999950000, "1.000 s" }, { 1234567890, "1.235 s" },
		{ 59990000000, "59.99 s" }, { 12345678900000, "12346 s" },
	};
	char buf[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(sl_fmt_duration(buf, sizeof(buf), cases[i].ns), cases[i].text);
}

static void test_unit(void **state)
{
	(void)state;
	assert_string_equal(sl_fmt_unit_for(999999).name, "us");
	assert_int_equal(sl_fmt_unit_for(999999).decimals, 3);
	assert_string_equal(sl_fmt_unit_for(1000000).name, "us");
	assert_int_equal(sl_fmt_unit_for(1000000).decimals, 1);
	assert_string_equal(sl_fmt_unit_for(99999999).name, "us");
	assert_string_equal(sl_fmt_unit_for(100000000).name, "ms");
	assert_int_equal(sl_fmt_unit_for(UINT64_MAX).decimals, 1);
}

static void test_escape(void **state)
{
	static const struct {
		const char *text, *utf8, *ascii;
	} cases[] = {
		{ "cyclictest", "cyclictest", "cyclictest" },
		{ "a\nb\033[31m", "a\\x0ab\\x1b[31m", "a\\x0ab\\x1b[31m" },
		{ "del\177", "del\\x7f", "del\\x7f" },
		{ "caf\xc3\xa9", "caf\xc3\xa9", "caf\\xc3\\xa9" },
		{ "cut\xc3", "cut\\xc3", "cut\\xc3" },			/* TASK_COMM_LEN cuts bytes */
		{ "\xc0\xaf", "\\xc0\\xaf", "\\xc0\\xaf" },		/* overlong */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80" },	/* surrogate */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80" },
		{ "\xc2\x9b" "1m", "\\xc2\\x9b1m", "\\xc2\\x9b1m" },	/* C1 control */
		{ "\xe2\x80\xae" "x", "\\xe2\\x80\\xaex", "\\xe2\\x80\\xaex" }, /* right-to-left override */
		{ "dev\\x2ddisk", "dev\\x2ddisk", "dev\\x2ddisk" },
		{ "", "", "" },
	};
	char buf[128], small[6];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(sl_fmt_escape(buf, sizeof(buf), cases[i].text, true), cases[i].utf8);
		assert_string_equal(sl_fmt_escape(buf, sizeof(buf), cases[i].text, false), cases[i].ascii);
	}
	/* Never half an escape, never past the end. */
	assert_string_equal(sl_fmt_escape(small, sizeof(small), "ab\n", true), "ab");
	assert_string_equal(sl_fmt_escape(small, sizeof(small), "abcdefgh", true), "abcde");
}

static void test_cut(void **state)
{
	char a[] = "0123456789", b[] = "0123456789", c[] = "0123456789", d[] = "caf\xc3\xa9 caf\xc3\xa9";

	(void)state;
	assert_string_equal(sl_fmt_cut(a, 10), "0123456789");
	assert_string_equal(sl_fmt_cut(b, 9), "012345...");
	assert_string_equal(sl_fmt_cut(c, 4), "012~");
	assert_string_equal(sl_fmt_cut(d, 5), "caf\xc3\xa9~");
}

static void test_shares(void **state)
{
	uint64_t thirds[] = { 1, 1, 1 }, one[] = { 7 }, zero[] = { 0, 0 };
	uint64_t uneven[] = { 666, 333, 1 }, huge[] = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
	uint64_t tiny[] = { 1, 100000, 0 };
	unsigned int shares[3];

	(void)state;
	sl_fmt_shares(thirds, 3, shares);
	assert_int_equal(shares[0], 334);
	assert_int_equal(shares[1], 333);
	assert_int_equal(shares[2], 333);
	sl_fmt_shares(one, 1, shares);
	assert_int_equal(shares[0], 1000);
	sl_fmt_shares(zero, 2, shares);
	assert_int_equal(shares[0], 0);
	sl_fmt_shares(uneven, 3, shares);
	assert_int_equal(shares[0] + shares[1] + shares[2], 1000);
	assert_int_equal(shares[2], 1);
	sl_fmt_shares(huge, 3, shares);
	assert_int_equal(shares[0] + shares[1] + shares[2], 1000);
	sl_fmt_shares(tiny, 3, shares);
	assert_int_equal(shares[0], 0);
	assert_int_equal(shares[1], 1000);
	assert_int_equal(shares[2], 0);
	assert_int_equal(sl_fmt_permille(1, 3), 333);
	assert_int_equal(sl_fmt_permille(2, 3), 667);
	assert_int_equal(sl_fmt_permille(5, 0), 0);
	assert_int_equal(sl_fmt_permille(UINT64_MAX, UINT64_MAX), 1000);
}

/* A report with everything in it. */
struct fixture {
	struct sl_report report;
	struct sl_source_info info;
	struct sl_source_cpu cpus[2];
	struct sl_group groups[3];
	struct sl_why_cause causes[4];
	struct sl_occupant occupants[2];
	struct sl_wait waits[2];
	struct sl_segment segments[40];
	struct sl_report_meta meta[5];
	struct sl_stats_pool *pool;
};

static void fill_wait(struct sl_wait *wait, struct sl_segment *segments, unsigned int nr)
{
	unsigned int i;

	*wait = (struct sl_wait){
		.tid = 4242, .tgid = 4200, .comm = "cyclictest", .sched_class = SL_CLASS_FAIR,
		.kind = SL_WAIT_WAKE, .waking_ns = 1000000000, .wakeup_ns = 1000001200,
		.start_ns = 1000000000, .run_ns = 1000001200 + 1000 * (nr - 1),
		.waker_tid = 17, .waker_comm = "ksoftirqd/0", .waker_context = SL_WAKER_SOFTIRQ,
		.waker_cpu = 0, .prev_cpu = 0, .wake_cpu = 1, .run_cpu = 1, .migrations = 1,
		.avoidable_ns = 900, .avoidable_cpu = 3,
		.place_causes = 1u << (SL_CAUSE_IDLE_CPU_MISSED - SL_CAUSE_HOLD_NR),
		.place_confidence = SL_CONF_DERIVED,
		.primary = SL_CAUSE_FAIR_UNDETERMINED, .primary_ns = 1000 * (nr - 1),
		.primary_confidence = SL_CONF_UNKNOWN,
		.segments = segments, .nr_segments = nr,
	};
	wait->delay_ns = wait->run_ns - wait->start_ns;
	wait->cause_ns[SL_CAUSE_WAKE_PATH] = 1200;
	wait->cause_ns[SL_CAUSE_FAIR_UNDETERMINED] = wait->primary_ns;
	segments[0] = (struct sl_segment){
		.times = 1, .start_ns = 1000000000, .ns = 1200, .cause = SL_CAUSE_WAKE_PATH, .cpu = -1,
		.occupant_tid = -1, .evidence_event = "sched_waking", .evidence_ns = 1000000000,
		.evidence_cpu = 0,
	};
	for (i = 1; i < nr; i++)
		segments[i] = (struct sl_segment){
			.times = 1, .start_ns = 1000001200 + 1000 * (i - 1), .ns = 1000,
			.cause = SL_CAUSE_FAIR_UNDETERMINED, .confidence = SL_CONF_UNKNOWN, .cpu = 1,
			.occupant_tid = i > 5 ? 998 : 999, .occupant_comm = "hackbench",
			.evidence_event = "sched_switch", .evidence_ns = 1000001200, .evidence_cpu = 1,
		};
}

static void fill(struct fixture *f)
{
	unsigned int i;

	memset(f, 0, sizeof(*f));
	f->cpus[0] = (struct sl_source_cpu){ .cpu = 0 };
	f->cpus[1] = (struct sl_source_cpu){ .cpu = 7, .lost_events = 12, .lost_gaps = 2,
					     .lost_unknown_gaps = 1 };
	f->info = (struct sl_source_info){
		.path = "bad\nname.dat", .format = "trace.dat v7", .compression = "zstd",
		.clock = "mono", .kernel = "6.18.0", .bytes = 4096, .nr_cpus = 2, .cpus = f->cpus,
		.events = 56071,
	};
	f->info.has_kind[SL_EV_SWITCH] = f->info.has_kind[SL_EV_WAKING] = true;
	f->info.skipped.unknown_events = 5;
	f->pool = sl_stats_pool_new(false);
	f->groups[0] = (struct sl_group){
		.kind = SL_WAIT_WAKE, .comm = "a\xff\"b", .tid = 4242, .tgid = -1,
		.sched_class = SL_CLASS_FAIR, .slice_ns = 2800000, .count = 3, .min_ns = 1000,
		.avg_ns = 2000, .p50_ns = 2000, .p90_ns = 3000, .p99_ns = 3000, .p999_ns = 3000,
		.max_ns = 3000, .stats = sl_stats_new(f->pool),
	};
	for (i = 1; i <= 3; i++)
		sl_stats_add((struct sl_stats *)f->groups[0].stats, i * 1000);
	f->groups[1] = (struct sl_group){
		.kind = SL_WAIT_WAKE, .comm = "with,comma", .tid = 5, .tgid = 5,
		.sched_class = SL_CLASS_UNKNOWN, .count = 1, .min_ns = 999950, .avg_ns = 999950,
		.p50_ns = 999950, .p90_ns = 999950, .p99_ns = 999950, .p999_ns = 999950,
		.max_ns = 999950,
	};
	f->groups[2] = (struct sl_group){
		.kind = SL_WAIT_WAKE, .comm = "empty", .tid = 6, .tgid = 6, .cgroup = "/a/b",
		.sched_class = SL_CLASS_RT,
	};
	fill_wait(&f->waits[0], f->segments, 21);
	fill_wait(&f->waits[1], f->segments + 21, 2);
	f->waits[1].run_ns = SL_WAIT_NO_TIME;
	f->waits[1].taints = SL_TAINT_OPEN_AT_END;
	f->waits[1].waker_tid = -1;
	f->waits[1].waker_context = SL_WAKER_UNKNOWN;
	f->waits[1].wake_cpu = f->waits[1].run_cpu = -1;
	f->causes[0] = (struct sl_why_cause){ SL_CAUSE_FAIR_UNDETERMINED, 21000, 2, 2, { 0, 0, 21000 } };
	f->causes[1] = (struct sl_why_cause){ SL_CAUSE_WAKE_PATH, 2400, 2, 0, { 2400, 0, 0 } };
	f->causes[2] = (struct sl_why_cause){ SL_CAUSE_IDLE_CPU_MISSED, 1800, 2, 0, { 0, 1800, 0 } };
	f->occupants[0] = (struct sl_occupant){ "hackbench", 21000, 2 };
	f->meta[0] = (struct sl_report_meta){ "capabilities", "tracefs,slices" };
	f->meta[1] = (struct sl_report_meta){ "hz", "250" };
	f->meta[2] = (struct sl_report_meta){ "overhead.own_cpu_ns", "6703000" };
	f->meta[3] = (struct sl_report_meta){ "t_start_ns", "1000000000" };
	f->meta[4] = (struct sl_report_meta){ "t_stop_ns", "2000000000" };
	f->report = (struct sl_report){
		.params = { .waits = 1u << SL_WAIT_WAKE, .by = SL_BY_TID,
			    .why = { .mode = SL_WHY_QUANTILE, .quantile = 0.999, .label = "p99.9" } },
		.info = &f->info, .t_start_ns = 1000000000, .t_end_ns = 4000000000,
		.meta = f->meta, .nr_meta = 5, .backend = "tracefs", .lost_events = 12,
		.lost_gaps = 2, .lost_unknown_gaps = 1, .wakeups = 10, .samples = 4,
		.percentiles_exact = true, .groups = f->groups, .nr_groups = 3,
		.why = { .selected = 4, .threshold_ns = 841200, .fell_back = true, .count = 2,
			 .total_ns = 23400, .tainted = 1, .causes = f->causes, .nr_causes = 3,
			 .occupants = f->occupants, .nr_occupants = 1, .waits = f->waits,
			 .nr_waits = 2 },
	};
	f->report.discarded[SL_DISCARD_ALREADY_RUNNING] = 5;
	f->report.discarded[SL_DISCARD_OPEN_AT_END] = 1;
	f->report.not_assessable[SL_CAUSE_SLICE_PROTECTION] = true;
	f->report.not_assessable[SL_CAUSE_INELIGIBLE] = true;
	f->report.not_assessable[SL_CAUSE_STOLEN] = true;
}

/* What an output writes, as a string to be freed. */
static char *printed(int (*print)(struct sl_out *, const struct sl_report *, const struct sl_out_view *),
		     const struct sl_report *report, const struct sl_out_view *view, bool utf8)
{
	char *text = NULL;
	size_t size = 0;
	struct sl_out out = { .file = open_memstream(&text, &size), .utf8 = utf8 };

	assert_non_null(out.file);
	assert_int_equal(print(&out, report, view), 0);
	fclose(out.file);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part)) {
		fprintf(stderr, "missing: %s\nin:\n%s\n", part, text);
		fail();
	}
}

static void assert_no_long_line(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		char *line = strndup(text, len);

		if (sl_fmt_width(line) > SL_OUT_WIDTH) {
			fprintf(stderr, "%u columns: %s\n", sl_fmt_width(line), line);
			fail();
		}
		assert_true(!len || line[len - 1] != ' ');
		free(line);
		text += len + (text[len] == '\n');
	}
}

static void test_text(void **state)
{
	struct sl_out_view view = { .worst = 10 };
	struct fixture f;
	char *text;

	(void)state;
	fill(&f);
	text = printed(sl_out_report_text, &f.report, &view, true);
	assert_no_long_line(text);
	assert_int_equal(strncmp(text, "Wait:", 5), 0);
	assert_has(text, "\nLost:    12 events on 2 CPUs, in 2 gaps, and an unknown number in 1 of them; "
		   "CPU 7: 12 or more in 2\n");
	assert_has(text, "bad\\x0aname.dat, trace.dat v7 zstd, 56071 events in 3.000 s");
	assert_has(text, "\nOwn:     recording took 6.703 ms of CPU time, 0.34 % of 2 CPUs\n");
	assert_has(text, "Skipped: 5 records of other tracepoints\n");
	assert_has(text, "10 wakeups = 4 samples + 5 already running + 1 open at end\n");
	assert_has(text, "  task         tid     slice  waits      avg      P50      P90      P99    P99.9      max\n"
		   "  a\\xff\"b     4242  2800.000      3    2.000    2.000    3.000    3.000    3.000    3.000\n"
		   "  with,comma     5         -      1  999.950  999.950  999.950  999.950  999.950  999.950\n"
		   "  empty          6         -      0        -        -        -        -        -        -\n");
	assert_has(text, "  all                             4  251.488                                      999.950\n");
	assert_has(text, "The worst 1 of 4 waits (P99.9 needs 1000 samples), and 1 that is no sample, "
		   "23.40 us in all\n");
	assert_has(text, "  No sample, but shown: open at the end, or touched by a gap in the data.\n");
	assert_has(text, "  held by            time (us)    share  waits  primary    exact  derived  unknown\n"
		   "  fair-undetermined     21.000   89.7 %      2        2        -        -  100.0 %\n"
		   "  wake-path              2.400   10.3 %      2        0  100.0 %        -        -\n");
	assert_has(text, "  all                   23.400  100.0 %      2            10.3 %        -   89.7 %\n"
		   "  of it unexplained     21.000   89.7 %\n");
	assert_has(text, "  idle-cpu-missed      1.800  7.7 %      2        0      -  100.0 %        -\n");
	assert_has(text, "  1. cyclictest 4242: 21.20 us, ran at 1.000021, woken by ksoftirqd/0 17 in softirq on CPU 0\n");
	assert_has(text, "CPU 0 before, 1 queued, 1 ran, moved 1 time while queued; primary fair-undetermined 20.00 us");
	assert_has(text, "     21 segments, added up by cause, CPU and name:\n"
		   "            times   length us    share  held by            CPU  by whom                  "
		   "confidence\n"
		   "               20      20.000   94.3 %  fair-undetermined    1  hackbench, 2 threads     "
		   "unknown\n"
		   "                1       1.200    5.7 %  wake-path            -  -                        "
		   "exact\n");
	assert_has(text, "            at us   length us    share  held by            CPU  by whom                  "
		   "confidence\n"
		   "            0.000       1.200   54.5 %  wake-path            -  -                        "
		   "exact\n"
		   "            1.200       1.000   45.5 %  fair-undetermined    1  hackbench 999            "
		   "unknown\n");
	assert_has(text, "  2. cyclictest 4242: at least ");
	assert_has(text, "tainted: open-at-end\n");
	assert_has(text, "  slice-protection, ineligible: needs EEVDF state at the decision: record --backend "
		   "bpf, or a kernel\n    with sched_wakeup_preempt and sched_pick_fair\n");
	free(text);

	f.report.flight = true;
	text = printed(sl_out_report_text, &f.report, &view, true);
	assert_no_long_line(text);
	assert_has(text, "what was not kept between the windows");
	free(text);

	/* Nothing lost and nothing unexplained is said as well. */
	f.report.lost_events = f.report.lost_gaps = f.report.lost_unknown_gaps = 0;
	f.cpus[1] = (struct sl_source_cpu){ .cpu = 7 };
	f.report.why.causes = &f.causes[1];
	f.report.why.nr_causes = 1;
	f.report.percentiles_exact = false;
	f.report.histogram_error = 1.0 / 256;
	f.report.why.fell_back = false;
	text = printed(sl_out_report_text, &f.report, &view, false);
	assert_no_long_line(text);
	assert_has(text, "\nLost:    0 events on 2 CPUs\n");
	assert_has(text, "  of it unexplained      0.000    0.0 %\n");
	assert_has(text, "of the kept windows only");
	assert_has(text, "at most 0.39 % too high, never too low");
	assert_has(text, "1 of 4 waits above P99.9 = 841.2 us, and 1 that is no sample, 23.40 us in all\n");
	free(text);
	f.report.params.waits = 1u << SL_WAIT_WAKE | 1u << SL_WAIT_PREEMPT;
	text = printed(sl_out_report_text, &f.report, &view, false);
	assert_no_long_line(text);
	assert_has(text, "1 of 4 waits above P99.9 of their kind (wake: 841.2 us), and 1 that is");
	assert_has(text, "\n  A kind with too few samples for that gives its longest waits.\n");
	free(text);
	f.report.params.waits = 0;
	f.report.params.why.quantile = 1;
	strcpy(f.report.params.why.label, "max");
	text = printed(sl_out_report_text, &f.report, &view, false);
	assert_has(text, "The longest of 4 waits, and 1 that is no sample, 23.40 us in all\n");
	free(text);
	f.report.why.selected = f.report.why.count = f.report.why.tainted = 0;
	f.report.why.total_ns = 0;
	text = printed(sl_out_report_text, &f.report, &view, false);
	assert_has(text, "\nNo wait to explain\n");
	free(text);
	sl_stats_pool_free(f.pool);
}

/* The longest values that fit the types still give lines of 100 columns. */
static void test_text_extremes(void **state)
{
	struct sl_out_view view = { .worst = 10 };
	struct fixture f;
	unsigned int i;
	char *text;

	(void)state;
	fill(&f);
	for (i = 0; i < 3; i++) {
		struct sl_group *group = &f.groups[i];

		memset(group->comm, '\001', sizeof(group->comm) - 1);
		group->tid = group->tgid = INT32_MAX;
		group->count = 4000000000;
		group->stats = NULL;
		group->min_ns = group->avg_ns = group->p50_ns = group->p90_ns = group->p99_ns =
			group->p999_ns = group->max_ns = 999999999999;
	}
	for (i = 0; i < 2; i++) {
		memset(f.waits[i].comm, '\377', 15);
		memset(f.waits[i].waker_comm, '\377', 15);
		f.waits[i].tid = f.waits[i].waker_tid = INT32_MAX;
		f.waits[i].taints = (1u << SL_TAINT_NR) - 1;
		f.waits[i].place_causes = (1u << (SL_CAUSE_NR - SL_CAUSE_HOLD_NR)) - 1;
	}
	memset(f.segments[3].occupant_comm, '\033', 15);
	f.segments[3].occupant_tid = INT32_MAX;
	f.info.path = "a/very/long/path/without/any/blank/in/it/that/is/longer/than/one/line/of/the/report/"
		      "can/be/so/that/it/has/to/be/whole.dat";
	text = printed(sl_out_report_text, &f.report, &view, true);
	assert_no_long_line(text);
	/* A long name is broken, not cut: it must stay usable. */
	assert_has(text, "Input:   a/very/long/path/without/any/blank/in/it/that/is/longer/than/one/line/of/the/"
		   "report/can/be/\n         so/that/it/has/to/be/whole.dat, trace.dat v7");
	assert_null(strchr(text, '\001'));
	assert_null(strchr(text, '\033'));
	free(text);
	sl_stats_pool_free(f.pool);
}

static void test_sort_and_fields(void **state)
{
	struct sl_out_view view = { .worst = 0 };
	struct sl_err err;
	struct fixture f;
	char *text;

	(void)state;
	fill(&f);
	f.report.params.why.mode = SL_WHY_NONE;
	assert_int_equal(sl_column_list_parse(SL_SET_GROUP, "comm,max_ns", &view.fields, &err), 0);
	assert_int_equal(sl_column_list_parse(SL_SET_GROUP, "max", &view.sort, &err), 0);
	text = printed(sl_out_report_text, &f.report, &view, true);
	assert_has(text, "  task            max\n  with,comma  999.950\n  a\\xff\"b       3.000\n"
		   "  empty             -\n  -------------------\n  all         999.950\n");
	free(text);
	assert_int_equal(sl_column_list_parse(SL_SET_GROUP, "comm,nonsense", &view.fields, &err), SL_EUSAGE);
	assert_string_equal(err.msg, "'nonsense' is no column here; valid: kind comm tid tgid cgroup class "
			    "slice count sum min avg p50 p90 p99 p999 max");
	assert_int_equal(sl_column_list_parse(SL_SET_GROUP, "", &view.fields, &err), SL_EUSAGE);
	assert_int_equal(view.fields.nr, 2);
	sl_stats_pool_free(f.pool);
}

static void test_csv(void **state)
{
	struct sl_out_view view = { .separator = "," };
	struct fixture f;
	char *text;

	(void)state;
	fill(&f);
	text = printed(sl_out_report_csv, &f.report, &view, true);
	assert_string_equal(text,
		"id,family,ns,share_permille,count,primary,exact_ns,derived_ns,unknown_ns\n"
		"fair-undetermined,fair,21000,897,2,2,0,0,21000\n"
		"wake-path,hold,2400,103,2,0,2400,0,0\n"
		"idle-cpu-missed,place,1800,77,2,0,0,1800,0\n");
	free(text);
	f.report.params.why.mode = SL_WHY_NONE;
	text = printed(sl_out_report_csv, &f.report, &view, true);
	assert_string_equal(text,
		"kind,comm,tid,tgid,cgroup,class,slice_ns,count,sum_ns,min_ns,avg_ns,p50_ns,p90_ns,p99_ns,"
		"p999_ns,max_ns\n"
		"wake,\"a\\xff\"\"b\",4242,,,fair,2800000,3,6000,1000,2000,2000,3000,3000,3000,3000\n"
		"wake,\"with,comma\",5,5,,,,1,999950,999950,999950,999950,999950,999950,999950,999950\n"
		"wake,empty,6,6,/a/b,rt,,0,0,,,,,,,\n");
	free(text);
	view.separator = ";";
	view.histogram = true;
	text = printed(sl_out_report_csv, &f.report, &view, true);
	assert_string_equal(text, "kind;comm;tid;lo_ns;hi_ns;count\n"
			    "wake;\"a\\xff\"\"b\";4242;512;1024;1\n"
			    "wake;\"a\\xff\"\"b\";4242;1024;2048;1\n"
			    "wake;\"a\\xff\"\"b\";4242;2048;4096;1\n");
	free(text);
	sl_stats_pool_free(f.pool);
}

static void assert_keys(const json_t *object, const char *keys)
{
	char buf[1024], *p = buf, *key;

	assert_true(json_is_object(object));
	snprintf(buf, sizeof(buf), "%s", keys);
	while ((key = strsep(&p, " "))) {
		if (!json_object_get(object, key)) {
			fprintf(stderr, "no key %s\n", key);
			fail();
		}
	}
}

/* Every key of schema schedlat.report/1, whatever is known. */
static void check_json_keys(const json_t *root)
{
	json_t *why, *wait, *group, *segment;

	assert_keys(root, "schema tool input definition loss counters groups why percentiles flight");
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "schedlat.report/1");
	assert_keys(json_object_get(root, "tool"), "version libs");
	assert_keys(json_object_get(root, "input"), "file format clock events bytes t_start_ns t_end_ns "
		    "cpus kernel backend capabilities");
	assert_keys(json_object_get(root, "definition"), "from waits");
	assert_keys(json_object_get(root, "loss"), "total per_cpu");
	assert_keys(json_object_get(root, "counters"), "wakeups samples discarded");
	assert_keys(json_object_get(json_object_get(root, "counters"), "discarded"),
		    "already_running already_queued idle_task not_successful never_queued open_at_loss "
		    "inconsistent clock_skew open_at_end exited own_thread filtered");
	assert_keys(json_object_get(root, "percentiles"), "exact max_relative_error");
	group = json_array_get(json_object_get(root, "groups"), 0);
	assert_keys(group, "kind comm tid tgid class slice_ns count min_ns avg_ns p50_ns p90_ns p99_ns "
		    "p999_ns max_ns sum_ns cgroup histogram");
	why = json_object_get(root, "why");
	if (json_is_null(why))
		return;
	assert_keys(why, "quantile threshold_ns count total_ns causes waits not_assessable occupants "
		    "fell_back selected tainted");
	assert_keys(json_array_get(json_object_get(why, "causes"), 0),
		    "id ns share count confidence family primary");
	assert_keys(json_object_get(json_array_get(json_object_get(why, "causes"), 0), "confidence"),
		    "exact derived unknown");
	wait = json_array_get(json_object_get(why, "waits"), 0);
	assert_keys(wait, "tid comm kind waking_ns wakeup_ns run_ns delay_ns waker prev_cpu wake_cpu "
		    "run_cpu primary avoidable_ns taints segments");
	assert_keys(json_object_get(wait, "waker"), "tid comm context");
	assert_keys(json_object_get(wait, "primary"), "id ns confidence");
	segment = json_array_get(json_object_get(wait, "segments"), 0);
	assert_keys(segment, "kind cpu start_ns ns occupant reason confidence evidence");
	assert_keys(json_object_get(segment, "occupant"), "tid comm");
	assert_keys(json_array_get(json_object_get(why, "not_assessable"), 0), "id needs");
}

static json_t *report_json(struct fixture *f)
{
	struct sl_out_view view = { .worst = 0 };
	char *text = printed(sl_out_report_json, &f->report, &view, true);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		fprintf(stderr, "%s at line %d\n%s\n", error.text, error.line, text);
	assert_non_null(root);
	free(text);
	return root;
}

static json_int_t number(const json_t *object, const char *key)
{
	assert_true(json_is_integer(json_object_get(object, key)));
	return json_integer_value(json_object_get(object, key));
}

static void test_json(void **state)
{
	json_t *root, *why, *groups, *wait, *segment;
	struct fixture f;

	(void)state;
	fill(&f);
	strcpy(f.segments[2].occupant_comm, "q\"\\\xfe\t");
	root = report_json(&f);
	check_json_keys(root);
	segment = json_array_get(json_object_get(json_object_get(root, "why"), "waits"), 0);
	segment = json_array_get(json_object_get(segment, "segments"), 2);
	assert_string_equal(json_string_value(json_object_get(json_object_get(segment, "occupant"), "comm")),
			    "q\"\\\\xfe\\x09");
	assert_string_equal(json_string_value(json_object_get(json_object_get(root, "input"), "file")),
			    "bad\\x0aname.dat");
	assert_int_equal(json_array_size(json_object_get(json_object_get(root, "input"), "capabilities")), 4);
	groups = json_object_get(root, "groups");
	assert_int_equal(json_array_size(groups), 3);
	assert_string_equal(json_string_value(json_object_get(json_array_get(groups, 0), "comm")),
			    "a\\xff\"b");
	assert_int_equal(number(json_array_get(groups, 0), "slice_ns"), 2800000);
	assert_true(json_is_null(json_object_get(json_array_get(groups, 0), "tgid")));
	assert_true(json_is_null(json_object_get(json_array_get(groups, 1), "slice_ns")));
	assert_true(json_is_null(json_object_get(json_array_get(groups, 1), "class")));
	assert_true(json_is_null(json_object_get(json_array_get(groups, 2), "p50_ns")));
	why = json_object_get(root, "why");
	assert_int_equal(number(why, "total_ns"), 23400);
	assert_int_equal(number(why, "unexplained_ns"), 21000);
	assert_true(json_real_value(json_object_get(why, "quantile")) == 0.999);
	wait = json_array_get(json_object_get(why, "waits"), 0);
	assert_int_equal(number(wait, "run_ns"), 1000021200);
	assert_int_equal(json_array_size(json_object_get(wait, "segments")), 21);
	segment = json_array_get(json_object_get(wait, "segments"), 0);
	assert_string_equal(json_string_value(json_object_get(segment, "kind")), "wake-path");
	assert_true(json_is_null(json_object_get(segment, "reason")));
	assert_true(json_is_null(json_object_get(segment, "cpu")));
	segment = json_array_get(json_object_get(wait, "segments"), 1);
	assert_string_equal(json_string_value(json_object_get(segment, "kind")), "fair");
	assert_string_equal(json_string_value(json_object_get(segment, "reason")), "fair-undetermined");
	wait = json_array_get(json_object_get(why, "waits"), 1);
	assert_true(json_is_null(json_object_get(wait, "run_ns")));
	assert_true(json_is_null(json_object_get(wait, "wake_cpu")));
	assert_true(json_is_null(json_object_get(json_object_get(wait, "waker"), "comm")));
	assert_string_equal(json_string_value(json_array_get(json_object_get(wait, "taints"), 0)),
			    "open-at-end");
	json_decref(root);

	/* Without --why, and with nothing known about the input. */
	f.report.params.why.mode = SL_WHY_NONE;
	f.info.clock = f.info.kernel = NULL;
	f.report.backend = NULL;
	root = report_json(&f);
	check_json_keys(root);
	assert_true(json_is_null(json_object_get(root, "why")));
	assert_true(json_is_null(json_object_get(json_object_get(root, "input"), "clock")));
	assert_true(json_is_null(json_object_get(json_object_get(root, "input"), "kernel")));
	json_decref(root);
	sl_stats_pool_free(f.pool);
}

static void test_histogram(void **state)
{
	struct sl_out_view view = { .histogram = true };
	struct fixture f;
	char *text;

	(void)state;
	fill(&f);
	f.report.params.why.mode = SL_WHY_NONE;
	sl_stats_add((struct sl_stats *)f.groups[0].stats, 20000);
	text = printed(sl_out_report_text, &f.report, &view, false);
	assert_no_long_line(text);
	assert_has(text, "     512 ns -  1.024 us         1   25.0 %  ##############################################\n"
		   "   1.024 us -  2.048 us         1   25.0 %  ##############################################\n"
		   "   2.048 us -  4.096 us         1   25.0 %  ##############################################\n"
		   "   4.096 us -  8.192 us         0    0.0 %\n"
		   "   8.192 us -  16.38 us         0    0.0 %\n"
		   "   16.38 us -  32.77 us         1   25.0 %  ##############################################\n");
	free(text);
	text = printed(sl_out_report_json, &f.report, &view, true);
	assert_has(text, "\"histogram\": [{\"lo_ns\": 512, \"hi_ns\": 1024, \"count\": 1}, ");
	free(text);
	text = printed(sl_out_report_text, &f.report, &view, true);
	assert_no_long_line(text);
	assert_has(text, "25.0 %  \u2588\u2588\u2588");
	free(text);
	sl_stats_pool_free(f.pool);
}

static void test_timehist(void **state)
{
	char *text = NULL;
	size_t size = 0;
	struct fixture f;
	struct sl_out out;

	(void)state;
	fill(&f);
	out = (struct sl_out){ .file = open_memstream(&text, &size), .utf8 = true };
	sl_out_timehist_line(&out, &f.waits[0]);
	sl_out_timehist_line(&out, &f.waits[1]);
	fclose(out.file);
	assert_string_equal(text,
		"       1.000021 [0001]  cyclictest[4242/4200]       wake        0.021    0.001     0.020"
		"     0.001  ksoftirqd/0[17]        fair-undetermined 0.020 hackbench[998] moved:1->1\n"
		"       1.000000 [----]  cyclictest[4242/4200]       wake        0.002    0.001         -"
		"     0.001  -                      wake-path 0.001 moved:?->? [open-at-end]\n");
	free(text);
	sl_stats_pool_free(f.pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scaled),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_unit),
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_extremes),
		cmocka_unit_test(test_sort_and_fields),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_timehist),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
