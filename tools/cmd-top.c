// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmds.h"
#include "live/only.h"
#include "options.h"
#include "out/fmt.h"
#include "tool.h"
#include "tui/loop.h"
#include "util/err.h"
#include "util/time.h"

#define CMD "top"
#define DEFAULT_INTERVAL_NS 1000000000ull
#define DEFAULT_THRESHOLD_NS 1000000ull
#define INTERVAL_MIN_NS 100000000ull
#define MAX_WAITS 200
#define TRACEFS_SPAN 3		/* intervals that are kept; waits can be longer than one */

enum { OPT_COMM = 256, OPT_BACKEND, OPT_BATCH, OPT_SCREEN };

struct top_args {
	struct sl_top_params params;
	struct sl_only only;
	int32_t *pids, *tids;
	uint8_t cpus[SL_CPU_MAX];
	uint64_t interval_ns, duration_ns;
	unsigned long frames;		/* batch: 0: without end */
	unsigned int screens;
	enum sl_top_sort sort;
	bool all, batch, json, help;
	char *const *argv;
};

static const struct option long_options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "tid", required_argument, NULL, 't' },
	{ "comm", required_argument, NULL, OPT_COMM },
	{ "cpu", required_argument, NULL, 'C' },
	{ "cgroup", required_argument, NULL, 'G' },
	{ "all", no_argument, NULL, 'a' },
	{ "threshold", required_argument, NULL, 'T' },
	{ "interval", required_argument, NULL, 'I' },
	{ "duration", required_argument, NULL, 'd' },
	{ "sort", required_argument, NULL, 's' },
	{ "batch", no_argument, NULL, OPT_BATCH },
	{ "json", no_argument, NULL, 'j' },
	{ "frames", required_argument, NULL, 'n' },
	{ "screen", required_argument, NULL, OPT_SCREEN },
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const char help_text[] =
"usage: schedlat top [options] [-- command [argument ...]]\n"
"\n"
"Who waits to run, how long and why, live. The keys are shown by ?.\n"
"\n"
"  -p, --pid=PID[,PID]            these processes, with all their threads\n"
"  -t, --tid=TID[,TID]            these threads\n"
"      --comm=GLOB                tasks with such a name\n"
"  -C, --cpu=LIST                 waits that end on these CPUs: 0-3,7\n"
"  -G, --cgroup=PATH              tasks in this cgroup or below it\n"
"  -a, --all                      all tasks; without it, or a choice above, or a command: those with a\n"
"                                 slice of their own below the base slice\n"
"  -T, --threshold=TIME           waits of at least that are judged (default 1ms); all are counted\n"
"  -I, --interval=TIME            between two frames (default 1s)\n"
"  -d, --duration=TIME            end after TIME\n"
"  -s, --sort=KEY                 tasks by waited (default), p99, max, p50, waits, now or name\n"
"      --batch                    print frames as text\n"
"  -j, --json                     print frames as JSON, one on each line\n"
"  -n, --frames=N                 end after N frames\n"
"      --screen=NAME[,NAME]       what --batch prints: tasks, causes, cpus, outliers, all\n"
"                                 (default tasks,causes)\n"
"      --backend=NAME             auto (default: bpf where it works, else tracefs), tracefs or bpf\n"
"  -v, --verbose                  why BPF programs were refused, in full\n"
"  -h, --help                     this text\n"
"\n"
"A time needs a unit: ns us ms s m h. Exit status: that of the command, 0 without one; 1 the system\n"
"refused, 3 the backend asked for does not work here, 127 command not found (126: not executable), 129 usage.\n";

static int parse_time(const char *option, const char *text, uint64_t least_ns, uint64_t *ret_ns,
		      struct sl_err *err)
{
	char least[32];
	int r = sl_time_parse(text, ret_ns, err);

	if (r < 0)
		return sl_err_add(err, r, "%s", option);
	if (*ret_ns >= least_ns && *ret_ns <= 3600000000000000ull)
		return 0;
	return sl_err_set(err, SL_EUSAGE, "%s '%s': must be at least %s, and at most 1000 hours", option, text,
			  sl_fmt_duration(least, sizeof(least), least_ns));
}

static int parse_backend(const char *name, enum sl_record_backend *ret_backend, struct sl_err *err)
{
	if (!strcmp(name, "auto"))
		*ret_backend = SL_BACKEND_AUTO;
	else if (!strcmp(name, "tracefs"))
		*ret_backend = SL_BACKEND_TRACEFS;
	else if (!strcmp(name, "bpf"))
		*ret_backend = SL_BACKEND_BPF;
	else
		return sl_err_set(err, SL_EUSAGE, "--backend '%s' is not one of auto, tracefs, bpf", name);
	return 0;
}

static int parse_screens(const char *text, unsigned int *ret_screens, struct sl_err *err)
{
	unsigned int screens = 0;

	for (const char *p = text;; p++) {
		const size_t len = strcspn(p, ",");
		unsigned int found = 0;

		for (unsigned int i = 0; i < SL_TOP_DETAIL; i++)
			if ((strlen(sl_top_screen_name(i)) == len && !strncmp(p, sl_top_screen_name(i), len)) ||
			    (len == 3 && !strncmp(p, "all", 3)))
				found |= 1u << i;
		if (!found)
			return sl_err_set(err, SL_EUSAGE, "--screen '%s': valid are tasks, causes, cpus, outliers, all",
					  text);
		screens |= found;
		p += len;
		if (!*p)
			break;
	}
	*ret_screens = screens;
	return 0;
}

static int parse_frames(const char *text, unsigned long *ret_frames, struct sl_err *err)
{
	char *end = NULL;

	errno = 0;
	*ret_frames = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;
	if (!*ret_frames || errno || !end || *end)
		return sl_err_set(err, SL_EUSAGE, "-n '%s' is not a number of frames, from 1 on", text);
	return 0;
}

/* In the kernel, too, where it can tell such tasks apart: what it leaves out costs nothing. */
static int narrow(struct top_args *args, const char *kind, const char *value, struct sl_err *err)
{
	char *spec;
	int r;

	if (asprintf(&spec, "%s:%s", kind, value) < 0)
		return sl_err_set(err, -ENOMEM, "out of memory");
	r = sl_only_add(&args->only, spec, err);
	free(spec);
	return r;
}

static int parse_ids(struct top_args *args, const char *text, bool processes, struct sl_err *err)
{
	struct sl_filter *filter = &args->params.filter;
	int32_t **ids = processes ? &args->pids : &args->tids, *fresh;
	unsigned int nr;
	int r = sl_parse_ids(text, processes ? "process" : "thread", &fresh, &nr, err);

	if (r < 0)
		return r;
	free(*ids);
	*ids = fresh;
	if (processes) {
		filter->pids = fresh;
		filter->nr_pids = nr;
	} else {
		filter->tids = fresh;
		filter->nr_tids = nr;
	}
	return narrow(args, "pid", text, err);
}

static int parse_option(struct top_args *args, int option, struct sl_err *err)
{
	struct sl_top_params *params = &args->params;
	struct sl_err ignored;

	switch (option) {
	case 'p':
	case 't':
		return parse_ids(args, optarg, option == 'p', err);
	case OPT_COMM:
		params->filter.comm_glob = optarg;
		if (!strpbrk(optarg, "?[\\") && narrow(args, "comm", optarg, &ignored) == -ENOMEM)
			return sl_err_set(err, -ENOMEM, "out of memory");
		return 0;
	case 'C':
		params->watch.cpus = params->filter.cpus = args->cpus;
		return sl_parse_cpus(optarg, args->cpus, err);
	case 'G':
		params->filter.cgroup = optarg;
		return narrow(args, "cgroup", optarg, err);
	case 'a':
		args->all = true;
		return 0;
	case 'T':
		return parse_time("-T", optarg, 1, &params->watch.threshold_ns, err);
	case 'I':
		return parse_time("-I", optarg, INTERVAL_MIN_NS, &args->interval_ns, err);
	case 'd':
		return parse_time("-d", optarg, 1, &args->duration_ns, err);
	case 's':
		return sl_top_sort_parse(optarg, &args->sort, err);
	case OPT_BATCH:
		args->batch = true;
		return 0;
	case 'j':
		args->json = true;
		return 0;
	case 'n':
		return parse_frames(optarg, &args->frames, err);
	case OPT_SCREEN:
		return parse_screens(optarg, &args->screens, err);
	case OPT_BACKEND:
		return parse_backend(optarg, &params->watch.backend, err);
	case 'v':
		params->watch.verbose = true;
		return 0;
	default:
		args->help = true;
		return 0;
	}
}

static int parse(int argc, char **argv, struct top_args *args, struct sl_err *err)
{
	const struct sl_filter *filter = &args->params.filter;
	int option, r;

	optind = 0;	/* "+": options behind the command are the command's */
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:p:t:C:G:aT:I:d:s:jn:vh", long_options, NULL)) != -1) {
		if (option == '?')
			return sl_err_set(err, SL_EUSAGE, "unknown option '%s' (schedlat top -h)",
					  optopt && optopt < 256 ? (char[]){ '-', optopt, 0 } : argv[optind - 1]);
		if (option == ':')
			return sl_err_set(err, SL_EUSAGE, "option '%s' needs a value (schedlat top -h)",
					  argv[optind - 1]);
		r = parse_option(args, option, err);
		if (r < 0 || args->help)
			return r;
	}
	if (optind < argc)
		args->argv = argv + optind;
	if (args->screens && (!args->batch || args->json))
		return sl_err_set(err, SL_EUSAGE, "--screen is for --batch: JSON has all, keys choose in a terminal");
	if (args->frames && !args->batch && !args->json)
		return sl_err_set(err, SL_EUSAGE, "-n is for --batch and --json");
	args->params.watch.only_short = !args->all && !args->argv && !filter->nr_pids && !filter->nr_tids &&
					!filter->comm_glob && !filter->cgroup;
	args->params.watch.span_ns = TRACEFS_SPAN * args->interval_ns;
	if (args->params.watch.span_ns < TRACEFS_SPAN * DEFAULT_INTERVAL_NS)
		args->params.watch.span_ns = TRACEFS_SPAN * DEFAULT_INTERVAL_NS;
	if (args->only.text)
		args->params.watch.only = &args->only;
	if (!args->batch && !args->json && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return sl_err_set(err, SL_EUSAGE, "no terminal here: --batch prints text, --json for programs");
	return 0;
}

static void on_note(void *arg, const char *text)
{
	char line[2048];

	(void)arg;
	sl_fmt_escape(line, sizeof(line), text, false);
	fprintf(stderr, "schedlat top: %s\n", line);
}

/* Columns of a line of text. */
static unsigned int batch_width(void)
{
	const char *columns = getenv("COLUMNS");
	const int width = columns ? atoi(columns) : 0;

	return width >= 60 && width <= 1000 ? (unsigned int)width : SL_OUT_WIDTH;
}

static int print_frame(const struct top_args *args, struct sl_top_loop *loop, struct sl_top_page *page)
{
	const struct sl_top_frame *frame = sl_top_frame(loop->top);
	struct sl_out out = sl_tool_stdout();
	int r = 0;

	if (args->json) {
		r = sl_out_top_json(&out, frame);
	} else {
		for (unsigned int i = 0; i < SL_TOP_DETAIL && !r; i++) {
			if (!(args->screens >> i & 1))
				continue;
			loop->view.screen = i;
			r = sl_top_page_fill(page, frame, &loop->view);
			sl_top_page_print(&out, page);
		}
	}
	fflush(stdout);
	return r;
}

/* Frames as text or JSON. */
static int run_batch(struct top_args *args, struct sl_top_loop *loop, struct sl_err *err)
{
	struct sl_top_page page = { 0 };
	unsigned long frames = 0;
	bool stop = false;
	int r = 0;

	if (!args->screens)
		args->screens = 1u << SL_TOP_TASKS | 1u << SL_TOP_CAUSES;
	loop->view.width = batch_width();
	loop->view.utf8 = sl_tool_stdout().utf8;
	while (!stop && !ferror(stdout)) {
		int event = sl_top_loop_next(loop, err);

		if (event < 0) {
			r = event;
			break;
		}
		stop = event == SL_TOP_STOP || event == SL_TOP_ENDED;
		/* What came since the last frame is one, too. */
		if (stop) {
			r = sl_top_refresh(loop->top, err);
			if (r < 0)
				break;
		}
		if (event != SL_TOP_REFRESH && !stop)
			continue;
		r = print_frame(args, loop, &page);
		if (r < 0) {
			sl_err_set(err, r, "out of memory");
			break;
		}
		stop |= args->frames && ++frames == args->frames;
	}
	sl_top_page_clear(&page);
	return r;
}

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* In a terminal that is ours the command has none: neither its keys nor its lines. */
static int prepare_command(const struct top_args *args, bool own_terminal, const sigset_t *mask,
			   struct sl_command *command, struct sl_err *err)
{
	int saved[3] = { -1, -1, -1 }, null_fd = -1, r;

	if (own_terminal) {
		null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (null_fd < 0)
			return sl_err_set(err, -errno, "/dev/null: %s", strerror(errno));
		for (int fd = 0; fd < 3; fd++) {
			if (!isatty(fd))
				continue;
			saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
			dup2(null_fd, fd);
		}
	}
	r = sl_command_prepare(args->argv, mask, command, err);
	for (int fd = 0; fd < 3; fd++) {
		if (saved[fd] < 0)
			continue;
		dup2(saved[fd], fd);
		close(saved[fd]);
	}
	if (null_fd >= 0)
		close(null_fd);
	return r;
}

static int run(struct top_args *args, struct sl_top_loop *loop, struct sl_err *err)
{
	bool started = false;
	int r = sl_top_open(&args->params, &loop->top, err);

	if (r < 0)
		return r;
	if (*sl_top_frame(loop->top)->why && args->params.watch.backend == SL_BACKEND_AUTO) {
		char line[1200];

		snprintf(line, sizeof(line), "watching through tracefs; %s", sl_top_frame(loop->top)->why);
		on_note(NULL, line);
	}
	r = sl_top_start(loop->top, err);
	if (!r && args->argv) {
		r = sl_command_go(loop->command, args->argv[0], err);
		started = !r;
	}
	if (!r) {
		loop->next_ns = monotonic_ns() + loop->interval_ns;
		loop->deadline_ns = args->duration_ns ? monotonic_ns() + args->duration_ns : 0;
		r = args->batch || args->json ? run_batch(args, loop, err) : sl_tui_run(loop, err);
	}
	sl_top_close(loop->top);
	if (args->argv && !started && (r == -ENOENT || r == -EACCES || r == -ENOEXEC))
		loop->command->status = r == -ENOENT ? 127 << 8 : 126 << 8;
	return r;
}

static int top(struct top_args *args)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH };
	struct sl_command command = { .pid_fd = -1, .go_fd = -1, .result_fd = -1 };
	const bool own_terminal = !args->batch && !args->json;
	struct sl_top_loop loop = {
		.command = &command,
		.key_fd = -1,
		.interval_ns = args->interval_ns,
		.view = { .sort = args->sort },
	};
	struct sl_err err = { "" };
	sigset_t blocked, before;
	int r = 0, status = 0;

	sigemptyset(&blocked);
	for (unsigned int i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&blocked, signals[i]);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	signal(SIGPIPE, SIG_IGN);
	loop.signal_fd = signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK);
	if (args->argv)
		r = prepare_command(args, own_terminal, &before, &command, &err);
	if (!r)
		r = run(args, &loop, &err);
	if (command.pid)
		sl_command_end(&command);
	if (args->argv)
		status = WIFSIGNALED(command.status) ? 128 + WTERMSIG(command.status) : WEXITSTATUS(command.status);
	sl_command_clear(&command);
	if (loop.signal_fd >= 0)
		close(loop.signal_fd);
	if (r < 0) {
		r = sl_tool_fail(CMD, r, &err);
		return status == 126 || status == 127 ? status : r;
	}
	return own_terminal ? 0 : sl_tool_finish(CMD, status);
}

int cmd_top(int argc, char **argv)
{
	struct top_args args = {
		.params = {
			.watch = {
				.threshold_ns = DEFAULT_THRESHOLD_NS,
				.version = sl_out_version(),
				.command_line = "schedlat top",
				.on_note = on_note,
			},
			.max_waits = MAX_WAITS,
		},
		.interval_ns = DEFAULT_INTERVAL_NS,
	};
	struct sl_err err = { "" };
	int r = parse(argc, argv, &args, &err);

	/*
	 * Each frame's analysis frees what it took. glibc would raise the threshold with every large
	 * block that is freed, and then keep these on a heap that long-lived pieces hold open.
	 */
	mallopt(M_MMAP_THRESHOLD, 64 << 10);
	mallopt(M_TRIM_THRESHOLD, 256 << 10);

	if (r < 0) {
		r = sl_tool_fail(CMD, r, &err);
	} else if (args.help) {
		fputs(help_text, stdout);
		r = sl_tool_finish(CMD, 0);
	} else {
		r = top(&args);
	}
	sl_only_clear(&args.only);
	free(args.pids);
	free(args.tids);
	return r;
}
