// SPDX-License-Identifier: GPL-2.0-only
#include "cmds.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/command.h"
#include "live/slice_change.h"
#include "options.h"
#include "out/fmt.h"
#include "out/slice.h"
#include "tool.h"
#include "util/err.h"
#include "util/time.h"

#define CMD "slice"
#define LOOK_MS 500	/* how often --while looks for new threads */
#define COMMAND_MS 20	/* without a pidfd the end of the command is polled for */

enum { OPT_COMM = 256, OPT_FIELDS, OPT_WHILE };

struct slice_args {
	struct sl_slice_select select;
	int32_t *pids, *tids;
	struct sl_out_view view;
	char separator[16];
	enum sl_options_format format;
	const char *slice;		/* NULL: only show */
	uint64_t asked_ns;
	bool during;			/* --while */
	char **command;
	bool help, quiet, verbose;
};

static const struct option long_options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "tid", required_argument, NULL, 't' },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "all", no_argument, NULL, 'a' },
	{ "while", no_argument, NULL, OPT_WHILE },
	{ "sort", required_argument, NULL, 's' },
	{ "fields", required_argument, NULL, OPT_FIELDS },
	{ "json", no_argument, NULL, 'j' },
	{ "field-separator", required_argument, NULL, 'x' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const char help_text[] =
"usage: schedlat slice [options]                            show slices\n"
"       schedlat slice [options] SLICE                      set them, for good\n"
"       schedlat slice [options] SLICE --while -- command   set them while a command runs\n"
"\n"
"The slice of a thread is how long it asks to run at a time: with a short one it is chosen earlier,\n"
"for a shorter turn; its share of the CPU stays the same. SLICE is 100us to 100ms, or default.\n"
"\n"
"  -p, --pid=PID[,PID]            these processes, all their threads\n"
"  -t, --tid=TID[,TID]            these threads\n"
"      --comm=GLOB                threads whose name matches\n"
"  -a, --all                      kernel threads, too\n"
"      --while                    give back the former slices when the command has ended\n"
"  -s, --sort=KEY[,KEY]           sort the rows: numbers largest first (schedlat list columns)\n"
"      --fields=NAME[,NAME]       choose the columns (schedlat list columns)\n"
"  -j, --json                     JSON, times in ns\n"
"  -x, --field-separator=SEP      a table with this separator (CSV), times in ns\n"
"  -v, --verbose                  after setting, a row per thread\n"
"  -q, --quiet                    errors only\n"
"  -h, --help                     this text\n"
"\n"
"A time needs a unit: ns us ms s m h. Exit status: 0 ok; 1 failed, or a thread could not be set;\n"
"129 usage; with --while that of the command (127 not found, 126 not executable).\n";

static void complain(const char *text)
{
	char line[2048];

	sl_fmt_escape(line, sizeof(line), text, false);
	fprintf(stderr, "schedlat slice: %s\n", line);
}

static int parse_option(struct slice_args *args, int option, struct sl_err *err)
{
	int32_t *ids;
	unsigned int nr;
	int r;

	switch (option) {
	case 'p':
	case 't':
		r = sl_parse_ids(optarg, option == 'p' ? "process" : "thread", &ids, &nr, err);
		if (r < 0)
			return r;
		if (option == 'p') {
			free(args->pids);
			args->select.pids = args->pids = ids;
			args->select.nr_pids = nr;
		} else {
			free(args->tids);
			args->select.tids = args->tids = ids;
			args->select.nr_tids = nr;
		}
		return 0;
	case OPT_COMM:
		args->select.comm_glob = optarg;
		return 0;
	case 'a':
		args->select.kernel = true;
		return 0;
	case OPT_WHILE:
		args->during = true;
		return 0;
	case 's':
		return sl_column_list_parse(SL_SET_THREAD, optarg, &args->view.sort, err);
	case OPT_FIELDS:
		return sl_column_list_parse(SL_SET_THREAD, optarg, &args->view.fields, err);
	case 'j':
	case 'x':
		if (args->format != SL_FORMAT_TEXT)
			return sl_err_set(err, SL_EUSAGE, "one of -j and -x");
		args->format = option == 'j' ? SL_FORMAT_JSON : SL_FORMAT_CSV;
		return option == 'x' ? sl_parse_separator(optarg, args->separator,
							  sizeof(args->separator), err) : 0;
	case 'v':
		args->verbose = true;
		return 0;
	case 'q':
		args->quiet = true;
		return 0;
	default:
		args->help = true;
		return 0;
	}
}

/* What belongs together, once everything is known. */
static int settle(const struct slice_args *args, struct sl_err *err)
{
	const struct sl_slice_select *select = &args->select;

	if (args->format == SL_FORMAT_JSON && args->view.fields.nr)
		return sl_err_set(err, SL_EUSAGE, "--fields is for text and -x: JSON has every key");
	if (args->slice && !select->nr_pids && !select->nr_tids && !select->comm_glob)
		return sl_err_set(err, SL_EUSAGE, "set the slice of which threads? Say -p, -t or --comm");
	if (args->during && (!args->slice || !args->command))
		return sl_err_set(err, SL_EUSAGE, "--while needs a slice and a command: schedlat slice -p PID 8ms --while -- command");
	if (args->command && !args->during)
		return sl_err_set(err, SL_EUSAGE, "a command needs --while");
	if (args->during && args->format != SL_FORMAT_TEXT)
		return sl_err_set(err, SL_EUSAGE, "-j and -x do not go with --while: standard output is the command's");
	return 0;
}

static int parse(int argc, char **argv, struct slice_args *args, struct sl_err *err)
{
	int option, own = 0, r;

	while (own < argc && strcmp(argv[own], "--"))
		own++;
	if (own + 1 < argc)
		args->command = argv + own + 1;
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(own, argv, ":p:t:as:jx:vqh", long_options, NULL)) != -1) {
		if (option == '?')
			return sl_err_set(err, SL_EUSAGE, "unknown option '%s' (schedlat slice -h)",
					  optopt && optopt < 256 ? (char[]){ '-', (char)optopt, 0 } : argv[optind - 1]);
		if (option == ':')
			return sl_err_set(err, SL_EUSAGE, "option '%s' needs a value (schedlat slice -h)",
					  argv[optind - 1]);
		r = parse_option(args, option, err);
		if (r < 0 || args->help)
			return r;
	}
	if (own - optind > 1)
		return sl_err_set(err, SL_EUSAGE, "one slice at a time: '%.32s' or '%.32s'? A command stands behind --",
				  argv[optind], argv[optind + 1]);
	if (optind < own) {
		args->slice = argv[optind];
		r = sl_slice_parse(args->slice, &args->asked_ns, err);
		if (r < 0)
			return r;
	}
	args->view.separator = args->separator;
	return settle(args, err);
}

static int print(const struct slice_args *args, const struct sl_out_slices *slices)
{
	struct sl_out out = sl_tool_stdout();

	switch (args->format) {
	case SL_FORMAT_JSON:
		return sl_out_slice_json(&out, slices, &args->view);
	case SL_FORMAT_CSV:
		return sl_out_slice_csv(&out, slices, &args->view);
	case SL_FORMAT_TEXT:
		break;
	}
	return sl_out_slice_text(&out, slices, &args->view);
}

static int none_found(const struct slice_args *args, struct sl_err *err)
{
	if (args->select.comm_glob)
		return sl_err_set(err, -ESRCH, "no thread has a name that matches '%.64s'%s",
				  args->select.comm_glob,
				  args->select.kernel || args->pids || args->tids ? "" :
				  " (kernel threads: add -a)");
	return sl_err_set(err, -ESRCH, "no thread is selected");
}

/* The base slice; where nobody tells it, a guess from all threads that can be seen. */
static void find_base(struct sl_slice_base *base)
{
	const struct sl_slice_select everybody = { 0 };
	struct sl_slice_list list;

	sl_slice_base(base);
	if (base->ns || sl_slice_scan(&everybody, true, &list, NULL) < 0)
		return;
	sl_slice_base_of(&list, base);
	sl_slice_list_clear(&list);
}

static int show(const struct slice_args *args, struct sl_err *err)
{
	struct sl_out_slices slices = { 0 };
	struct sl_slice_list list = { 0 };
	struct sl_slice_row *rows = NULL;
	int r = sl_slice_scan(&args->select, false, &list, err);

	if (r < 0)
		return r;
	if (!list.nr)
		return none_found(args, err);
	find_base(&slices.base);
	rows = calloc(list.nr, sizeof(*rows));
	for (size_t i = 0; rows && i < list.nr; i++)
		rows[i] = (struct sl_slice_row){ .thread = &list.items[i], .base_ns = slices.base.ns };
	slices.rows = rows;
	slices.nr = list.nr;
	r = rows ? print(args, &slices) : -ENOMEM;
	if (r < 0)
		sl_err_set(err, r, "cannot show the slices: out of memory");
	if (!r && !slices.base.ns && !args->quiet)
		complain("no slices to show: this kernel keeps none per thread (Linux 6.12 and later do)");
	free(rows);
	sl_slice_list_clear(&list);
	return r;
}

/* A line per kind of trouble: who was first, how many more, why. */
static void explain_left_out(const struct slice_args *args, const struct sl_slice_change *change)
{
	for (enum sl_slice_outcome outcome = SL_SLICE_GONE; outcome < SL_SLICE_OUTCOME_NR; outcome++) {
		unsigned int nr = sl_slice_change_count(change, outcome);
		const struct sl_slice_done *first = change->items;
		char text[512], more[48] = "", why[256];

		/* What ended meanwhile is nobody's concern, unless nothing else was there. */
		if (!nr || (outcome == SL_SLICE_GONE && nr < change->nr) ||
		    (args->quiet && sl_slice_is_left_out(outcome)))
			continue;
		while (first->outcome != outcome)
			first++;
		if (nr > 1)
			snprintf(more, sizeof(more), " and %u more", nr - 1);
		sl_slice_reason(why, sizeof(why), outcome, first->error, first->thread.uid);
		snprintf(text, sizeof(text), "%s[%" PRId32 "]%s not set: %s", first->thread.comm,
			 first->thread.tid, more, why);
		complain(text);
	}
}

/* 0: every thread that can have it has it now; 1: not. */
static int judge(const struct sl_slice_change *change)
{
	if (sl_slice_change_count(change, SL_SLICE_NO_RIGHT) ||
	    sl_slice_change_count(change, SL_SLICE_FAILED) ||
	    sl_slice_change_count(change, SL_SLICE_NO_KERNEL))
		return 1;
	return !sl_slice_change_count(change, SL_SLICE_SET) &&
	       !sl_slice_change_count(change, SL_SLICE_UNCHANGED);
}

static void print_sum(FILE *file, const struct sl_slice_change *change)
{
	const uint64_t asked_ns = change->asked_ns;
	const uint64_t now_ns = asked_ns ? sl_slice_clamp(asked_ns) : change->base.ns;
	unsigned int set = sl_slice_change_count(change, SL_SLICE_SET), left = 0;
	unsigned int same = sl_slice_change_count(change, SL_SLICE_UNCHANGED);
	char text[32];

	for (unsigned int o = SL_SLICE_REALTIME; o < SL_SLICE_OUTCOME_NR; o++)
		left += sl_slice_change_count(change, (enum sl_slice_outcome)o);
	fprintf(file, "slice %s%s: set on %u thread%s", sl_fmt_duration(text, sizeof(text), now_ns),
		asked_ns ? "" : " (the base slice)", set, set == 1 ? "" : "s");
	if (same)
		fprintf(file, ", %u had it already", same);
	if (left)
		fprintf(file, ", %u not set", left);
	putc('\n', file);
}

static void explain_set(const struct slice_args *args, const struct sl_slice_change *change)
{
	char text[160], asked[32], now[32];

	explain_left_out(args, change);
	if (args->quiet)
		return;
	if (args->asked_ns != sl_slice_clamp(args->asked_ns)) {
		snprintf(text, sizeof(text), "asked for %s, the kernel made it %s: it keeps slices between 0.1 and 100 ms",
			 sl_fmt_duration(asked, sizeof(asked), args->asked_ns),
			 sl_fmt_duration(now, sizeof(now), sl_slice_clamp(args->asked_ns)));
		complain(text);
	}
	if (change->unsettled)
		complain("new threads kept appearing: some may be without it, run it again");
}

static int print_rows(const struct slice_args *args, const struct sl_slice_change *change,
		      struct sl_err *err)
{
	struct sl_slice_row *rows = calloc(change->nr + 1, sizeof(*rows));
	struct sl_slice_thread *threads = calloc(change->nr + 1, sizeof(*threads));
	char (*reasons)[256] = calloc(change->nr + 1, sizeof(*reasons));
	int r = -ENOMEM;

	for (size_t i = 0; rows && threads && reasons && i < change->nr; i++) {
		const struct sl_slice_done *done = &change->items[i];

		threads[i] = done->thread;
		threads[i].attr = done->after;
		rows[i] = (struct sl_slice_row){
			.thread = &threads[i],
			.base_ns = change->base.ns,
			.former_ns = done->thread.attr.slice_ns,
			.outcome = sl_slice_outcome_name(done->outcome),
			.reason = sl_slice_reason(reasons[i], sizeof(reasons[i]), done->outcome,
						  done->error, done->thread.uid),
		};
	}
	if (rows && threads && reasons)
		r = print(args, &(struct sl_out_slices){
			.rows = rows, .nr = change->nr, .base = change->base,
			.setting = true, .asked_ns = change->asked_ns,
		});
	free(rows);
	free(threads);
	free(reasons);
	return r < 0 ? sl_err_set(err, r, "cannot print the threads: out of memory") : 0;
}

/* Set it on everything that is selected. ret_status: 1 when a thread could not be set. */
static int apply(const struct slice_args *args, struct sl_slice_change *change, int *ret_status,
		 struct sl_err *err)
{
	int r;

	*change = (struct sl_slice_change){ .select = args->select, .asked_ns = args->asked_ns };
	find_base(&change->base);
	r = sl_slice_change_apply(change, err);
	if (!r && !change->nr)
		r = none_found(args, err);
	if (r < 0)
		return r;
	explain_set(args, change);
	*ret_status = judge(change);
	return 0;
}

static int set(const struct slice_args *args, int *ret_status, struct sl_err *err)
{
	struct sl_slice_change change;
	int r = apply(args, &change, ret_status, err);

	if (!r && args->format == SL_FORMAT_TEXT && !args->quiet)
		print_sum(*ret_status ? stderr : stdout, &change);
	if (!r && (args->format != SL_FORMAT_TEXT || args->verbose))
		r = print_rows(args, &change, err);
	sl_slice_change_clear(&change);
	return r;
}

/* Signals go on to the command; at the second it is ended. */
static void wait_for_command(struct sl_command *command, int signal_fd, struct sl_slice_change *change)
{
	unsigned int seen = 0;

	while (!sl_command_ended(command)) {
		struct signalfd_siginfo info;
		struct pollfd fds[2] = {
			{ .fd = signal_fd, .events = POLLIN },
			{ .fd = command->pid_fd, .events = POLLIN },
		};

		if (!poll(fds, 2, command->pid_fd < 0 ? COMMAND_MS : LOOK_MS))
			sl_slice_change_apply(change, NULL);
		while (fds[0].revents && read(signal_fd, &info, sizeof(info)) == sizeof(info)) {
			/* A terminal's ^C and ^\ reach the command by themselves. */
			if (command->pid && info.ssi_code != SI_KERNEL)
				kill(command->pid, (int)info.ssi_signo);
			if (info.ssi_signo == SIGUSR1 || info.ssi_signo == SIGUSR2)
				continue;
			if (seen++)
				sl_command_end(command);
		}
	}
}

static int give_back(const struct slice_args *args, struct sl_slice_change *change)
{
	struct sl_slice_restored sum;
	struct sl_err err = { .msg = "" };
	char text[512], why[256];
	int status = 0;

	if (sl_slice_change_restore(change, &sum, &err) < 0) {
		complain(err.msg);
		status = 1;
	}
	if (sum.failed) {
		const struct sl_slice_done *done = &sum.first_failed;

		snprintf(text, sizeof(text), "%u threads keep the slice, %s[%" PRId32 "] is the first: %s",
			 sum.failed, done->thread.comm, done->thread.tid,
			 sl_slice_reason(why, sizeof(why), done->outcome, done->error, done->thread.uid));
		complain(text);
		status = 1;
	}
	if (!args->quiet && sum.restored + sum.gone + sum.changed) {
		size_t used = (size_t)snprintf(text, sizeof(text), "gave back the former slice to %u thread%s",
					       sum.restored, sum.restored == 1 ? "" : "s");

		if (sum.gone)
			used += (size_t)snprintf(text + used, sizeof(text) - used, ", %u ended", sum.gone);
		if (sum.changed)
			snprintf(text + used, sizeof(text) - used, ", %u got another one meanwhile and keep it",
				 sum.changed);
		complain(text);
	}
	return status;
}

/* The exit status is the command's, as a shell tells it. */
static int set_during(const struct slice_args *args, int *ret_status, struct sl_err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	struct sl_command command = { .pid_fd = -1, .go_fd = -1, .result_fd = -1 };
	struct sl_slice_change change = { 0 };
	int signal_fd, r, status = 0;
	sigset_t blocked, before;

	/* From here on no signal ends us before the slices are given back. */
	sigemptyset(&blocked);
	for (unsigned int i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&blocked, signals[i]);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	signal(SIGPIPE, SIG_IGN);
	signal_fd = signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_fd < 0)
		return sl_err_set(err, -errno, "cannot take signals: %s", strerror(errno));
	/* Before the fork: until its exec the command has our name, which --comm could match. */
	r = apply(args, &change, &status, err);
	if (!r && status)
		r = sl_err_set(err, -EPERM, "'%s' was not started, for not every thread could be set",
			       args->command[0]);
	if (!r)
		r = sl_command_prepare(args->command, &before, &command, err);
	if (!r) {
		if (!args->quiet)
			print_sum(stderr, &change);
		r = sl_command_go(&command, args->command[0], err);
		if (r < 0)
			status = r == -ENOENT ? 127 : 126;
	}
	if (!r)
		wait_for_command(&command, signal_fd, &change);
	if (command.pid)
		sl_command_end(&command);
	if (change.nr && give_back(args, &change))
		*ret_status = 1;
	if (r < 0 && status > 1)
		*ret_status = status;
	else if (!r)
		*ret_status = WIFSIGNALED(command.status) ? 128 + WTERMSIG(command.status) :
							    WEXITSTATUS(command.status);
	sl_slice_change_clear(&change);
	sl_command_clear(&command);
	close(signal_fd);
	return r;
}

int cmd_slice(int argc, char **argv)
{
	struct slice_args args = { 0 };
	struct sl_err err = { .msg = "" };
	int r, status = 0, failed;

	r = parse(argc, argv, &args, &err);
	if (!r && args.help)
		fputs(help_text, stdout);
	else if (!r && args.during)
		r = set_during(&args, &status, &err);
	else if (!r && args.slice)
		r = set(&args, &status, &err);
	else if (!r)
		r = show(&args, &err);
	free(args.pids);
	free(args.tids);
	if (r < 0) {
		failed = sl_tool_fail(CMD, r, &err);
		return status ? status : failed;
	}
	return sl_tool_finish(CMD, status);
}
