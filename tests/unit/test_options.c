// SPDX-License-Identifier: GPL-2.0-only
/* Option parsing of report and timehist: no files, only values and messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tools/options.c"

#define ARGV(...) ((char *const[]){ (char *)"cmd", __VA_ARGS__, NULL })
#define PARSE(cmd, options, err, ...)							\
	sl_options_parse(cmd, (int)(sizeof(ARGV(__VA_ARGS__)) / sizeof(char *)) - 1,	\
			 ARGV(__VA_ARGS__), options, err)

static void assert_refused(enum sl_options_cmd cmd, int argc, char *const *argv, const char *message)
{
	struct sl_options options;
	struct sl_err err = { .msg = "" };

	assert_int_equal(sl_options_parse(cmd, argc, argv, &options, &err), SL_EUSAGE);
	assert_string_equal(err.msg, message);
}

#define REFUSED(cmd, message, ...)							\
	assert_refused(cmd, (int)(sizeof(ARGV(__VA_ARGS__)) / sizeof(char *)) - 1,	\
		       ARGV(__VA_ARGS__), message)

static void test_defaults(void **state)
{
	struct sl_options options;
	struct sl_err err;

	(void)state;
	assert_int_equal(sl_options_parse(REPORT, 1, ARGV(NULL), &options, &err), 0);
	assert_string_equal(options.params.path, "schedlat.dat");
	assert_int_equal(options.params.waits, 1u << SL_WAIT_WAKE);
	assert_int_equal(options.params.from, SL_FROM_WAKING);
	assert_int_equal(options.params.by, SL_BY_TID);
	assert_int_equal(options.params.why.mode, SL_WHY_NONE);
	assert_int_equal(options.params.detail_waits, 0);
	assert_int_equal(options.params.filter.time_stop_ns, 0);
	assert_int_equal(options.view.worst, 10);
	assert_int_equal(options.format, SL_FORMAT_TEXT);
	sl_options_release(&options);
}

static void test_input(void **state)
{
	struct sl_options options;
	struct sl_err err;

	(void)state;
	assert_int_equal(PARSE(REPORT, &options, &err, "-i", "a.dat"), 0);
	assert_string_equal(options.params.path, "a.dat");
	sl_options_release(&options);
	/* A file may stand before options, and behind -- it may look like one. */
	assert_int_equal(PARSE(REPORT, &options, &err, "b.dat", "-j"), 0);
	assert_string_equal(options.params.path, "b.dat");
	assert_int_equal(options.format, SL_FORMAT_JSON);
	sl_options_release(&options);
	assert_int_equal(PARSE(REPORT, &options, &err, "--", "--why-p99"), 0);
	assert_string_equal(options.params.path, "--why-p99");
	assert_int_equal(options.params.why.mode, SL_WHY_NONE);
	sl_options_release(&options);
	REFUSED(REPORT, "more than one file: a and b", "a", "b");
	REFUSED(REPORT, "both -i a and b: one file at a time", "-i", "a", "b");
}

static void test_why(void **state)
{
	static const struct {
		const char *arg;
		double quantile;
		const char *label;
	} cases[] = {
		{ "--why", 0.999, "p99.9" },		{ "--why=p50", 0.5, "p50" },
		{ "--why-p999", 0.999, "p99.9" },	{ "--why-p9999", 0.9999, "p99.99" },
		{ "--why-p99", 0.99, "p99" },		{ "--why-p50", 0.5, "p50" },
		{ "--why-p5", 0.05, "p5" },		{ "--why-p99.5", 0.995, "p99.5" },
	};
	struct sl_options options;
	struct sl_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double error;

		assert_int_equal(PARSE(REPORT, &options, &err, (char *)cases[i].arg), 0);
		assert_int_equal(options.params.why.mode, SL_WHY_QUANTILE);
		error = options.params.why.quantile - cases[i].quantile;
		assert_true(error < 1e-12 && error > -1e-12);
		assert_string_equal(options.params.why.label, cases[i].label);
		assert_int_equal(options.params.detail_waits, 32);
		sl_options_release(&options);
	}
	assert_int_equal(PARSE(REPORT, &options, &err, "-T", "500us", "-j"), 0);
	assert_int_equal(options.params.why.mode, SL_WHY_DURATION);
	assert_int_equal(options.params.why.at_least_ns, 500000);
	assert_int_equal(options.params.detail_waits, UINT_MAX);
	sl_options_release(&options);
	assert_int_equal(PARSE(REPORT, &options, &err, "--why=0ns", "-n", "300"), 0);
	assert_int_equal(options.params.why.mode, SL_WHY_DURATION);
	assert_int_equal(options.params.why.at_least_ns, 0);
	assert_int_equal(options.params.detail_waits, 300);
	sl_options_release(&options);
	REFUSED(REPORT, "'--why-p100' is no percentile: write --why-p999 or --why=p99.9", "--why-p100");
	REFUSED(REPORT, "'--why-p' is no percentile: write --why-p999 or --why=p99.9", "--why-p");
	REFUSED(REPORT, "'--why-p9x' is no percentile: write --why-p999 or --why=p99.9", "--why-p9x");
	REFUSED(REPORT, "'500' needs a unit: one of ns us ms s m h (for example 500ms)", "-T", "500");
}

static void test_filters(void **state)
{
	struct sl_options options;
	struct sl_err err;

	(void)state;
	assert_int_equal(PARSE(REPORT, &options, &err, "-p", "1,22", "-t", "333", "-C", "0-3,7",
			       "--comm", "cyc*", "-G", "/a/b", "--time", "1.5,2", "--all"), 0);
	assert_int_equal(options.params.filter.nr_pids, 2);
	assert_int_equal(options.params.filter.pids[1], 22);
	assert_int_equal(options.params.filter.nr_tids, 1);
	assert_int_equal(options.params.filter.tids[0], 333);
	assert_int_equal(options.params.filter.cpus[0], 1);
	assert_int_equal(options.params.filter.cpus[3], 1);
	assert_int_equal(options.params.filter.cpus[4], 0);
	assert_int_equal(options.params.filter.cpus[7], 1);
	assert_int_equal(options.params.filter.cpus[SL_CPU_MAX - 1], 0);
	assert_string_equal(options.params.filter.comm_glob, "cyc*");
	assert_string_equal(options.params.filter.cgroup, "/a/b");
	assert_int_equal(options.params.filter.time_start_ns, 1500000000);
	assert_int_equal(options.params.filter.time_stop_ns, 2000000000);
	assert_true(options.params.filter.ignore_recorded_targets);
	sl_options_release(&options);
	/* The last one counts, and an open end is no limit. */
	assert_int_equal(PARSE(TIMEHIST, &options, &err, "-t", "1,2,3", "-t", "4", "--time", "5,"), 0);
	assert_int_equal(options.params.filter.nr_tids, 1);
	assert_int_equal(options.params.filter.tids[0], 4);
	assert_int_equal(options.params.filter.time_start_ns, 5000000000);
	assert_int_equal(options.params.filter.time_stop_ns, 0);
	sl_options_release(&options);
	REFUSED(REPORT, "'1,,2' is not a list of process ids: write it like 12,34", "-p", "1,,2");
	REFUSED(REPORT, "'0' is not a list of thread ids: write it like 12,34", "-t", "0");
	REFUSED(REPORT, "'99999999999' is not a list of thread ids: write it like 12,34", "-t", "99999999999");
	REFUSED(REPORT, "'3-1' is not a list of CPUs: write it like 0-3,7", "-C", "3-1");
	REFUSED(REPORT, "'-1' is not a list of CPUs: write it like 0-3,7", "-C", "-1");
	REFUSED(REPORT, "CPU list '4096': CPUs are 0 to 4095", "-C", "4096");
	REFUSED(REPORT, "CPU list '0-99999999999999999999': CPUs are 0 to 4095", "-C",
		"0-99999999999999999999");
	REFUSED(REPORT, "time window '2,2' is empty", "--time", "2,2");
	REFUSED(REPORT, "time window '3,2' stops before it starts", "--time", "3,2");
}

static void test_choices(void **state)
{
	struct sl_options options;
	struct sl_err err;

	(void)state;
	assert_int_equal(PARSE(TIMEHIST, &options, &err, "--waits=preempt,wake", "--from=wakeup",
			       "--above", "1.5ms"), 0);
	assert_int_equal(options.params.waits, 1u << SL_WAIT_WAKE | 1u << SL_WAIT_PREEMPT);
	assert_int_equal(options.params.from, SL_FROM_WAKEUP);
	assert_int_equal(options.params.on_wait_min_ns, 1500000);
	sl_options_release(&options);
	assert_int_equal(PARSE(REPORT, &options, &err, "--waits=all", "-H"), 0);
	assert_int_equal(options.params.waits, (1u << SL_WAIT_NR) - 1);
	assert_int_equal(options.params.by, SL_BY_ALL);
	sl_options_release(&options);
	assert_int_equal(PARSE(REPORT, &options, &err, "--by=tid", "-H"), 0);
	assert_int_equal(options.params.by, SL_BY_TID);
	sl_options_release(&options);
	REFUSED(REPORT, "--waits='wak': valid are wake, preempt, fork and all", "--waits=wak");
	REFUSED(REPORT, "--by='pid': valid are tid, comm, tgid, cgroup, class and all", "--by", "pid");
	REFUSED(REPORT, "--from='timer': valid are waking and wakeup", "--from=timer");
	REFUSED(REPORT, "-n '-1' is not a number from 0 to 1000000", "-n", "-1");
}

static void test_formats(void **state)
{
	struct sl_options options;
	struct sl_err err;

	(void)state;
	assert_int_equal(PARSE(REPORT, &options, &err, "-x\\t", "--fields=comm,p99_ns", "-s", "max"), 0);
	assert_int_equal(options.format, SL_FORMAT_CSV);
	assert_string_equal(options.view.separator, "\t");
	assert_int_equal(options.view.fields.nr, 2);
	assert_string_equal(options.view.fields.columns[1]->name, "p99");
	assert_string_equal(options.view.sort.columns[0]->key, "max_ns");
	sl_options_release(&options);
	/* What --fields names depends on the table. */
	assert_int_equal(PARSE(REPORT, &options, &err, "-x,", "--why", "--fields=share"), 0);
	assert_int_equal(options.view.fields.columns[0]->set, SL_SET_CAUSE);
	sl_options_release(&options);
	assert_int_equal(PARSE(TIMEHIST, &options, &err, "-x,", "--fields=held-by"), 0);
	assert_int_equal(options.view.fields.columns[0]->set, SL_SET_WAIT);
	sl_options_release(&options);
	REFUSED(REPORT, "-j and -x exclude each other", "-j", "-x,");
	REFUSED(REPORT, "--fields is for text and -x: JSON has every key", "-j", "--fields=comm");
	REFUSED(TIMEHIST, "--fields of timehist needs -x", "--fields=comm");
	REFUSED(REPORT, "-x needs a separator of 1 to 15 bytes without quotes or line ends", "-x", "");
	REFUSED(REPORT, "'share' is no column here; valid: kind comm tid tgid cgroup class slice count sum "
		"min avg p50 p90 p99 p999 max", "--fields=share");
}

static void test_mistakes(void **state)
{
	(void)state;
	REFUSED(REPORT, "unknown or ambiguous option --nonsense (schedlat report -h lists them)", "--nonsense");
	REFUSED(REPORT, "unknown option -Z (schedlat report -h lists them)", "-Z");
	REFUSED(REPORT, "option -i needs an argument: FILE", "-i");
	REFUSED(REPORT, "option --comm needs an argument: GLOB", "--comm");
	REFUSED(REPORT, "option --json=x takes no argument", "--json=x");
	REFUSED(REPORT, "unknown or ambiguous option --above=1ms (schedlat report -h lists them)", "--above=1ms");
	REFUSED(TIMEHIST, "unknown or ambiguous option --why-p999 (schedlat timehist -h lists them)",
		"--why-p999");
}

/* Help wins over whatever else is on the line, and no line of it is wide. */
static void test_help(void **state)
{
	static const enum sl_options_cmd cmds[] = { REPORT, TIMEHIST };
	struct sl_options options;
	struct sl_err err;
	size_t i;

	(void)state;
	assert_int_equal(PARSE(REPORT, &options, &err, "-h", "--nonsense"), 0);
	assert_true(options.help);
	sl_options_release(&options);
	for (i = 0; i < 2; i++) {
		char *text = NULL, *p;
		size_t size;
		FILE *file = open_memstream(&text, &size);

		sl_options_help(cmds[i], file);
		fclose(file);
		for (p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
			assert_true(strcspn(p, "\n") <= SL_OUT_WIDTH);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_input),
		cmocka_unit_test(test_why),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_help),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
