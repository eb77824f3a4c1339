// SPDX-License-Identifier: GPL-2.0-only
#include "cmds.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "out/bugreport.h"
#include "out/json.h"
#include "report/trim.h"
#include "tool.h"
#include "util/time.h"

#define CMD "bugreport"
#define TRACE_FILE "schedlat-trimmed.dat"
#define TRACE_BYTES (1000u * 1000)
#define PACKED_TIMES 20		/* events shrink to no less than a 20th: larger windows cannot fit */
#define OCCUPANTS_OF 32		/* so many of the worst waits are kept, as report does */

enum { OPT_REDACT = 256, OPT_SIZE, OPT_TRACE, OPT_WHY, OPT_FROM, OPT_COMM, OPT_NO_IRQ, OPT_BACKEND, OPT_ONLY,
       OPT_SLICE };

struct args {
	struct sl_report_params params;
	const char *mail, *trace;
	uint64_t trace_bytes;
	bool redact, quiet, help;
	int32_t *pids, *tids;
	char **record;		/* for record: its options, "--", the command */
	int nr_record;
};

static const struct option long_options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "trace", required_argument, NULL, OPT_TRACE },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "redact", no_argument, NULL, OPT_REDACT },
	{ "why", required_argument, NULL, OPT_WHY },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "pid", required_argument, NULL, 'p' },
	{ "tid", required_argument, NULL, 't' },
	{ "duration", required_argument, NULL, 'd' },
	{ "buffer-size", required_argument, NULL, 'm' },
	{ "no-irq", no_argument, NULL, OPT_NO_IRQ },
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ "slice", required_argument, NULL, OPT_SLICE },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const char help_text[] =
"usage: schedlat bugreport [options]\n"
"       schedlat bugreport [options] -- command [argument ...]\n"
"\n"
"A mail for the maintainers of the scheduler, and a small trace that explains its waits.\n"
"With a command, record it first.\n"
"\n"
"  -i, --input=FILE               recording to read (default " SL_DEFAULT_FILE "); with a command: to write\n"
"  -o, --output=FILE              write the mail to FILE; default standard output\n"
"      --trace=FILE               write the trace to FILE (default " TRACE_FILE ")\n"
"      --size=SIZE                the trace may be so large, with a unit: 500k, 1M (default)\n"
"      --redact                   replace the names of tasks, cgroups and the host, and command lines\n"
"      --why=SPEC                 the causes of the waits above p99.9 (default), another pNN, or of at least 500us\n"
"      --from=EVENT               a wait starts at waking (default: asked to wake) or wakeup (queued)\n"
"      --comm=GLOB                only waits of tasks whose name matches\n"
"  -p, --pid=PID[,PID]            only waits of these processes\n"
"  -t, --tid=TID[,TID]            only waits of these threads\n"
"  -d, --duration=TIME            while recording: stop after TIME\n"
"  -m, --buffer-size=SIZE         while recording: ring buffer per CPU\n"
"      --no-irq                   while recording: without interrupt, softirq and IPI events\n"
"      --backend=NAME             while recording: auto, tracefs or bpf\n"
"      --only=WHAT                while recording: waits of these tasks only\n"
"      --slice=TIME               while recording: the command's threads ask for so long a slice\n"
"  -q, --quiet                    errors only\n"
"  -h, --help                     this text\n"
"\n"
"A time needs a unit: ns us ms s m h.\n"
"Exit status: 0 ok, 1 failed, 2 the data is not usable, 129 usage; of a recording that failed: as record.\n";

/* ---- options ---- */

static int parse_size(const char *text, uint64_t *ret_bytes, struct sl_err *err)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
	if (!value || errno || !*end || end[1] || !strchr("kKmM", *end) || value > 1u << 20)
		return sl_err_set(err, SL_EUSAGE, "--size '%s' is not a size: write it like 500k or 1M", text);
	*ret_bytes = value * (tolower((unsigned char)*end) == 'k' ? 1000 : 1000 * 1000);
	return 0;
}

/* An option that record understands goes there as it is. */
static void pass_on(struct args *args, int option, const char *value)
{
	unsigned int i;

	for (i = 0; long_options[i].name; i++)
		if (long_options[i].val == option)
			break;
	if (asprintf(&args->record[args->nr_record], value ? "--%s=%s" : "--%s", long_options[i].name, value) >= 0)
		args->nr_record++;
}

static int parse_option(struct args *args, int option, bool has_command, struct sl_err *err)
{
	struct sl_filter *filter = &args->params.filter;

	switch (option) {
	case 'i':
		args->params.path = optarg;
		return 0;
	case 'o':
		args->mail = optarg;
		return 0;
	case OPT_TRACE:
		args->trace = optarg;
		return 0;
	case OPT_SIZE:
		return parse_size(optarg, &args->trace_bytes, err);
	case OPT_REDACT:
		args->redact = true;
		return 0;
	case OPT_WHY:
		return sl_why_parse(optarg, &args->params.why, err);
	case OPT_FROM:
		if (strcmp(optarg, "waking") && strcmp(optarg, "wakeup"))
			return sl_err_set(err, SL_EUSAGE, "--from='%s': valid are waking and wakeup", optarg);
		args->params.from = strcmp(optarg, "waking") ? SL_FROM_WAKEUP : SL_FROM_WAKING;
		return 0;
	case OPT_COMM:
		filter->comm_glob = optarg;
		return 0;
	case 'p':
		free(args->pids);
		args->pids = NULL;
		return sl_parse_ids(optarg, "process", &args->pids, &filter->nr_pids, err);
	case 't':
		free(args->tids);
		args->tids = NULL;
		return sl_parse_ids(optarg, "thread", &args->tids, &filter->nr_tids, err);
	case 'q':
		args->quiet = true;
		return 0;
	case 'h':
		args->help = true;
		return 0;
	}
	if (!has_command)
		return sl_err_set(err, SL_EUSAGE, "an option for recording needs a command behind -- (schedlat "
				  CMD " -h)");
	pass_on(args, option, optarg);
	return 0;
}

/* Writing the trace would destroy the recording that it is read from. */
static bool is_one_file(const char *a, const char *b)
{
	struct stat x, y;

	return !strcmp(a, b) || (!stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}

static int parse(int argc, char **argv, struct args *args, struct sl_err *err)
{
	bool has_command = false;
	int option, i, r = 0;

	for (i = 1; i < argc; i++)
		has_command |= !strcmp(argv[i], "--") && i + 1 < argc;
	args->record = calloc((size_t)argc + 8, sizeof(*args->record));
	if (!args->record)
		return sl_err_set(err, -ENOMEM, "out of memory");
	optind = 0;	/* "+": options behind the command are the command's */
	opterr = 0;
	while (!r && !args->help &&
	       (option = getopt_long(argc, argv, "+:i:o:p:t:d:m:qh", long_options, NULL)) != -1) {
		if (option == '?')
			return sl_err_set(err, SL_EUSAGE, "unknown option '%s' (schedlat " CMD " -h)",
					  optopt && optopt < 256 ? (char[]){ '-', (char)optopt, 0 } : argv[optind - 1]);
		if (option == ':')
			return sl_err_set(err, SL_EUSAGE, "option '%s' needs a value (schedlat " CMD " -h)",
					  argv[optind - 1]);
		r = parse_option(args, option, has_command, err);
	}
	if (r < 0 || args->help)
		return r;
	if (!has_command && optind < argc && argc - optind > 1)
		return sl_err_set(err, SL_EUSAGE, "one recording at a time, not '%s' and '%s'; a command stands behind --",
				  argv[optind], argv[optind + 1]);
	if (!has_command && optind < argc)
		args->params.path = argv[optind];
	if (is_one_file(args->params.path, args->trace))
		return sl_err_set(err, SL_EUSAGE, "--trace '%s' is the recording itself: choose another name", args->trace);
	args->params.filter.pids = args->pids;
	args->params.filter.tids = args->tids;
	if (!has_command) {
		args->nr_record = 0;
		return 0;
	}
	args->record[args->nr_record++] = strdup("--");
	for (; optind < argc; optind++)
		args->record[args->nr_record++] = strdup(argv[optind]);
	return 0;
}

/* ---- recording ---- */

static bool is_written(const char *path, const struct stat *before)
{
	struct stat now;

	return !stat(path, &now) && (now.st_ino != before->st_ino || now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
				     now.st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

/* 0: there is a recording; else the exit status. */
static int record(const struct args *args)
{
	char **argv = calloc((size_t)args->nr_record + 5, sizeof(*argv));
	struct stat before = { 0 };
	int argc = 0, status, i;

	if (!argv)
		return 1;
	argv[argc++] = (char *)"record";
	argv[argc++] = (char *)"-o";
	argv[argc++] = (char *)args->params.path;
	if (args->quiet)
		argv[argc++] = (char *)"-q";
	for (i = 0; i < args->nr_record; i++)
		argv[argc++] = args->record[i];
	stat(args->params.path, &before);
	status = cmd_record(argc, argv);
	free(argv);
	/* The command's own status says nothing about the recording. */
	return is_written(args->params.path, &before) ? 0 : status ? status : 1;
}

/* ---- the trace ---- */

/* How much comes before a wait; the next one when the analysis still lacks something. */
static const struct {
	uint64_t lead_ns;
	bool since_sleep, history;
} levels[] = {
	{ 1000000, false, false }, { 1000000, false, true }, { 1000000, true, true }, { 10000000, true, true },
	{ 100000000, true, true }, { 500000000, true, true }, { 3000000000, true, true },
};
#define NR_LEVELS (sizeof(levels) / sizeof(*levels))

struct attempt {
	unsigned int level[SL_MAIL_WAITS];
	bool same[SL_MAIL_WAITS];
	unsigned int nr_same;
	struct sl_trim_result result;
};

static char *wait_text(const struct sl_wait *wait)
{
	char *text = NULL;
	size_t len;
	struct sl_out out = { .file = open_memstream(&text, &len) };

	if (!out.file)
		return NULL;
	if (sl_json_print_wait(&out, wait) < 0) {
		fclose(out.file);
		free(text);
		return NULL;
	}
	return fclose(out.file) ? NULL : text;
}

static bool is_same(const struct sl_wait *a, const struct sl_wait *b)
{
	char *x = wait_text(a), *y = wait_text(b);
	bool same = x && y && !strcmp(x, y);

	free(x);
	free(y);
	return same;
}

/* Which of the waits does the trace explain as the recording does? */
static int compare(const struct args *args, const struct sl_wait *const *shown, unsigned int nr,
		   struct attempt *attempt, struct sl_err *err)
{
	struct sl_report_params params = args->params;
	struct sl_report *report;
	unsigned int i, w;
	int r;

	params.path = args->trace;
	params.filter = (struct sl_filter){ .ignore_recorded_targets = true };
	params.on_progress = NULL;
	params.detail_waits = UINT32_MAX;
	params.why = (struct sl_why_spec){ .mode = SL_WHY_DURATION, .at_least_ns = shown[nr - 1]->delay_ns };
	r = sl_report_run(&params, &report, err);
	if (r < 0)
		return r;
	attempt->nr_same = 0;
	for (i = 0; i < nr; i++) {
		attempt->same[i] = false;
		for (w = 0; w < report->why.nr_waits; w++)
			if (report->why.waits[w].tid == shown[i]->tid &&
			    report->why.waits[w].run_ns == shown[i]->run_ns)
				attempt->same[i] = is_same(&report->why.waits[w], shown[i]);
		attempt->nr_same += attempt->same[i];
	}
	sl_report_free(report);
	return 0;
}

static int write_trace(const struct args *args, const struct sl_wait *const *shown, unsigned int nr,
		       struct sl_redact *redact, struct attempt *attempt, struct sl_err *err)
{
	struct sl_trim_window windows[SL_MAIL_WAITS];
	const struct sl_trim_params params = {
		.input = args->params.path, .output = args->trace, .windows = windows, .nr_windows = nr,
		.most_bytes = args->trace_bytes * PACKED_TIMES, .redact = redact,
	};
	unsigned int i;
	int r;

	for (i = 0; i < nr; i++) {
		const struct sl_wait *wait = shown[i];

		windows[i] = (struct sl_trim_window){
			.tid = wait->tid, .end_ns = wait->run_ns,
			.start_ns = wait->waking_ns < wait->start_ns ? wait->waking_ns : wait->start_ns,
			.lead_ns = levels[attempt->level[i]].lead_ns,
			.since_sleep = levels[attempt->level[i]].since_sleep,
			.history = levels[attempt->level[i]].history,
		};
	}
	r = sl_trim(&params, &attempt->result, err);
	if (!r && attempt->result.bytes > args->trace_bytes)
		r = sl_err_set(err, -EFBIG, "%s: %llu bytes", args->trace, (unsigned long long)attempt->result.bytes);
	return r ? r : compare(args, shown, nr, attempt, err);
}

/*
 * The smallest windows with which the waits come out the same, as far as the size allows. 0 with the
 * file in place and *ret_best; -EFBIG when not even the smallest fit.
 */
static int fit_trace(const struct args *args, const struct sl_wait *const *shown, unsigned int nr,
		     struct sl_redact *redact, struct attempt *ret_best, struct sl_err *err)
{
	struct attempt now = { .nr_same = 0 }, best = now;
	bool any = false, last_is_best = false;
	unsigned int i;
	int r;

	for (;;) {
		bool more = false;

		r = write_trace(args, shown, nr, redact, &now, err);
		last_is_best = false;
		if (r)
			break;
		if (!any || now.nr_same > best.nr_same) {
			best = now;
			any = last_is_best = true;
		}
		for (i = 0; i < nr; i++)
			if (!now.same[i] && now.level[i] + 1 < NR_LEVELS) {
				now.level[i]++;
				more = true;
			}
		if (!more)
			break;
	}
	if (r && r != -EFBIG)
		return r;
	if (!any)
		return r;
	if (!last_is_best)
		r = write_trace(args, shown, nr, redact, &best, err);
	*ret_best = best;
	return r == -EFBIG ? 0 : r;
}

/* ---- the whole ---- */

static unsigned int choose_waits(const struct sl_report *report, const struct sl_wait **ret)
{
	unsigned int i, nr = 0;

	for (i = 0; i < report->why.nr_waits && nr < SL_MAIL_WAITS; i++)
		if (!report->why.waits[i].taints && report->why.waits[i].run_ns != SL_WAIT_NO_TIME)
			ret[nr++] = &report->why.waits[i];
	return nr;
}

static int make_trace(const struct args *args, const struct sl_report *report, const struct sl_wait *const *shown,
		      unsigned int nr, struct sl_redact *redact, struct sl_bugreport_trace *trace,
		      struct sl_err *why_not)
{
	struct attempt best;
	int r = -ENOENT;

	*trace = (struct sl_bugreport_trace){ .whole_bytes = report->info->bytes, .redacted = redact != NULL };
	if (!nr)
		sl_err_set(why_not, r, "no wait was long enough to need one");
	/* Where three windows do not fit, fewer do. */
	for (; nr && (r == -ENOENT || r == -EFBIG); nr--) {
		r = fit_trace(args, shown, nr, redact, &best, why_not);
		if (!r) {
			trace->file = args->trace;
			trace->bytes = best.result.bytes;
			trace->events = best.result.events;
			trace->windows = best.result.windows;
			trace->why_ns = shown[nr - 1]->delay_ns;
			memcpy(trace->same, best.same, nr * sizeof(*best.same));
			return 0;
		}
	}
	if (r == -EFBIG)
		unlink(args->trace);
	trace->why_not = why_not->msg;
	return r == -EFBIG || r == -ENOENT || r == SL_EUNSUPP ? 0 : r;
}

static void on_progress(void *arg, unsigned int permille)
{
	sl_progress_update(arg, permille);
}

static int report(struct args *args, struct sl_err *err)
{
	struct sl_redact *redact = args->redact ? sl_redact_new() : NULL;
	const struct sl_wait *shown[SL_MAIL_WAITS];
	struct sl_out out = { .file = stdout };
	struct sl_report *found = NULL;
	struct sl_bugreport_trace trace;
	struct sl_err why_not = { "" };
	struct sl_progress progress;
	unsigned int nr;
	int r;

	if (args->redact && !redact)
		return sl_err_set(err, -ENOMEM, "out of memory");
	sl_progress_start(&progress, args->quiet);
	args->params.on_progress = on_progress;
	args->params.arg = &progress;
	r = sl_report_run(&args->params, &found, err);
	sl_progress_end(&progress);
	if (r < 0)
		goto out;
	if (redact)
		sl_redact_report(redact, found);
	nr = choose_waits(found, shown);
	r = make_trace(args, found, shown, nr, redact, &trace, &why_not);
	if (r < 0) {
		*err = why_not;
		goto out;
	}
	if (args->mail && strcmp(args->mail, "-")) {
		out.file = fopen(args->mail, "we");
		if (!out.file) {
			r = sl_err_set(err, -errno, "cannot write '%s': %s", args->mail, strerror(errno));
			goto out;
		}
	}
	r = sl_out_bugreport(&out, found, shown, nr, &trace);
	if (!r && redact && sl_redact_failed(redact))
		r = sl_err_set(err, -ENOMEM, "out of memory");
	if (out.file != stdout && (fclose(out.file) && !r))
		r = sl_err_set(err, -errno, "cannot write '%s': %s", args->mail, strerror(errno));
	if (!r && !args->quiet && trace.file)
		fprintf(stderr, "schedlat " CMD ": wrote %s, %llu bytes of a recording of %llu\n", trace.file,
			(unsigned long long)trace.bytes, (unsigned long long)trace.whole_bytes);
out:
	sl_report_free(found);
	sl_redact_free(redact);
	return r;
}

static void release(struct args *args)
{
	char **p;

	for (p = args->record; p && *p; p++)
		free(*p);
	free(args->record);
	free(args->pids);
	free(args->tids);
}

int cmd_bugreport(int argc, char **argv)
{
	struct args args = {
		.params = {
			.path = SL_DEFAULT_FILE, .waits = 1u << SL_WAIT_WAKE, .by = SL_BY_COMM,
			.why = { .mode = SL_WHY_QUANTILE, .quantile = 0.999, .label = "p99.9" },
			.detail_waits = OCCUPANTS_OF,
		},
		.trace = TRACE_FILE, .trace_bytes = TRACE_BYTES,
	};
	struct sl_err err = { "" };
	int r, status = 0;

	r = parse(argc, argv, &args, &err);
	if (!r && args.help) {
		fputs(help_text, stdout);
		release(&args);
		return sl_tool_finish(CMD, 0);
	}
	if (!r && args.nr_record)
		status = record(&args);
	if (!r && !status)
		r = report(&args, &err);
	release(&args);
	if (r < 0)
		return sl_tool_fail(CMD, r, &err);
	return sl_tool_finish(CMD, status);
}
