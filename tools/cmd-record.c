// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds.h"
#include "live/only.h"
#include "live/record.h"
#include "live/slice.h"
#include "options.h"
#include "out/fmt.h"
#include "tool.h"
#include "util/time.h"
#include "util/err.h"

#define CMD "record"
#define DEFAULT_BUFFER_BYTES (8u << 20)

enum { OPT_COMPRESS = 256, OPT_NO_IRQ, OPT_BACKEND, OPT_FLIGHT, OPT_ONLY, OPT_SLICE };

struct record_args {
	struct sl_record_params params;
	uint8_t cpus[SL_CPU_MAX];
	struct sl_only only;
	bool help, quiet, verbose;
};

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "duration", required_argument, NULL, 'd' },
	{ "pid", required_argument, NULL, 'p' },
	{ "tid", required_argument, NULL, 't' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "buffer-size", required_argument, NULL, 'm' },
	{ "no-irq", no_argument, NULL, OPT_NO_IRQ },
	{ "compress", no_argument, NULL, OPT_COMPRESS },
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ "slice", required_argument, NULL, OPT_SLICE },
	{ "flight", required_argument, NULL, OPT_FLIGHT },
	{ "threshold", required_argument, NULL, 'T' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const char help_text[] =
"usage: schedlat record [options] [-- command [argument ...]]\n"
"\n"
"Record what the scheduler does until the command ends, -d is over, or Ctrl-C.\n"
"\n"
"  -o, --output=FILE              write to FILE (default " SL_DEFAULT_FILE "); an old one becomes FILE.old\n"
"  -d, --duration=TIME            stop after TIME\n"
"  -p, --pid=PID[,PID]            these processes and their children; the others are recorded as context\n"
"  -t, --tid=TID[,TID]            these threads and their children\n"
"  -C, --cpu=LIST                 record on these CPUs only: 0-3,7\n"
"  -m, --buffer-size=SIZE         ring buffer per CPU, with a unit: 512k, 8M (default), 1G; bpf: one\n"
"                                 ring of this times the CPUs, up to the next power of two\n"
"      --no-irq                   without interrupt, softirq and IPI events\n"
"      --compress                 compress the file (zstd)\n"
"      --backend=NAME             auto (default: bpf where it works, else tracefs), tracefs or bpf\n"
"      --only=WHAT                bpf: waits of these tasks only: short[:TIME] (a short slice), pid:ID,\n"
"                                 comm:NAME (* at its ends), cgroup:PATH; may be repeated\n"
"      --slice=TIME               all threads of the command ask for so long a slice, 100us to 100ms\n"
"      --flight=TIME              tracefs: keep only the last TIME, and write what surrounds waits above -T\n"
"  -T, --threshold=TIME           the wait that is worth keeping; without --flight it is judged in the\n"
"                                 kernel (bpf), and the file has histograms of all waits\n"
"  -v, --verbose                  say more\n"
"  -q, --quiet                    errors only\n"
"  -h, --help                     this text\n"
"\n"
"A time needs a unit: ns us ms s m h. Exit status: that of the command, 0 without one; 1 the system\n"
"refused, 3 the backend asked for does not work here, 127 command not found (126: not executable), 129 usage.\n";

static int parse_size(const char *text, uint64_t *ret_bytes, struct sl_err *err)
{
	unsigned long long value;
	unsigned int shift;
	char *end;

	errno = 0;
	value = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
	if (!value || errno)
		return sl_err_set(err, SL_EUSAGE, "-m '%s' is not a size: write it like 512k or 8M", text);
	if (!*end)
		return sl_err_set(err, SL_EUSAGE, "-m '%s' has no unit: write it like 512k or 8M", text);
	switch (tolower((unsigned char)*end)) {
	case 'k':
		shift = 10;
		break;
	case 'm':
		shift = 20;
		break;
	case 'g':
		shift = 30;
		break;
	default:
		shift = 64;
	}
	if (shift == 64 || end[1] || value > (1ull << 40) >> shift)
		return sl_err_set(err, SL_EUSAGE, "-m '%s' is not a size up to 1024G: write it like 512k or 8M",
				  text);
	*ret_bytes = value << shift;
	return 0;
}

static int parse_time(const char *option, const char *text, uint64_t *ret_ns, struct sl_err *err)
{
	int r = sl_time_parse(text, ret_ns, err);

	if (r < 0)
		return sl_err_add(err, r, "%s", option);
	return *ret_ns ? 0 : sl_err_set(err, SL_EUSAGE, "%s '%s': must be above 0", option, text);
}

/* The list is stored as it was written, so it must be a plain one. */
static int check_ids(const char *text, const char *what, struct sl_err *err)
{
	unsigned int nr;
	int32_t *ids;
	int r = sl_parse_ids(text, what, &ids, &nr, err);

	if (!r)
		free(ids);
	return r;
}

static int parse_backend(struct record_args *args, const char *name, struct sl_err *err)
{
	if (!strcmp(name, "auto"))
		args->params.backend = SL_BACKEND_AUTO;
	else if (!strcmp(name, "tracefs"))
		args->params.backend = SL_BACKEND_TRACEFS;
	else if (!strcmp(name, "bpf"))
		args->params.backend = SL_BACKEND_BPF;
	else
		return sl_err_set(err, SL_EUSAGE, "--backend '%s' is not one of auto, tracefs, bpf", name);
	return 0;
}

static int parse_option(struct record_args *args, int option, struct sl_err *err)
{
	struct sl_record_params *params = &args->params;

	switch (option) {
	case 'o':
		params->path = optarg;
		return *optarg && strcmp(optarg, "-") ? 0 :
			sl_err_set(err, SL_EUSAGE, "-o '%s': a recording goes to a file with a name", optarg);
	case 'd':
		return parse_time("-d", optarg, &params->duration_ns, err);
	case 'p':
		params->target_pids = optarg;
		return check_ids(optarg, "process", err);
	case 't':
		params->target_tids = optarg;
		return check_ids(optarg, "thread", err);
	case 'C':
		params->cpus = args->cpus;
		return sl_parse_cpus(optarg, args->cpus, err);
	case 'm':
		return parse_size(optarg, &params->buffer_bytes, err);
	case OPT_NO_IRQ:
		params->irq = false;
		return 0;
	case OPT_COMPRESS:
		params->compress = true;
		return 0;
	case OPT_BACKEND:
		return parse_backend(args, optarg, err);
	case OPT_ONLY:
		params->only = &args->only;
		return sl_only_add(&args->only, optarg, err);
	case OPT_SLICE:
		params->keep_slice = true;
		return sl_slice_parse(optarg, &params->slice_ns, err);
	case OPT_FLIGHT:
		return parse_time("--flight", optarg, &params->flight_ns, err);
	case 'T':
		return parse_time("-T", optarg, &params->threshold_ns, err);
	case 'v':
		args->verbose = params->verbose = true;
		return 0;
	case 'q':
		args->quiet = true;
		return 0;
	default:
		args->help = true;
		return 0;
	}
}

static int parse(int argc, char **argv, struct record_args *args, struct sl_err *err)
{
	struct sl_record_params *params = &args->params;
	int option, r;

	optind = 0;	/* "+": options behind the command are the command's */
	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:o:d:p:t:C:m:T:vqh", long_options, NULL)) != -1) {
		if (option == '?')
			return sl_err_set(err, SL_EUSAGE, "unknown option '%s' (schedlat record -h)",
					  optopt && optopt < 256 ? (char[]){ '-', optopt, 0 } : argv[optind - 1]);
		if (option == ':')
			return sl_err_set(err, SL_EUSAGE, "option '%s' needs a value (schedlat record -h)",
					  argv[optind - 1]);
		r = parse_option(args, option, err);
		if (r < 0 || args->help)
			return r;
	}
	if (optind < argc)
		params->argv = argv + optind;
	if (params->keep_slice && !params->argv)
		return sl_err_set(err, SL_EUSAGE, "--slice needs a command; schedlat slice sets it on what runs already");
	if (params->flight_ns && params->backend == SL_BACKEND_BPF)
		return sl_err_set(err, SL_EUSAGE, "--flight needs --backend tracefs");
	if (params->only && params->backend == SL_BACKEND_TRACEFS)
		return sl_err_set(err, SL_EUSAGE, "--only needs --backend bpf");
	if (params->only && params->flight_ns)
		return sl_err_set(err, SL_EUSAGE, "--only needs --backend bpf, and --flight needs --backend tracefs");
	if (params->flight_ns && !params->threshold_ns)
		return sl_err_set(err, SL_EUSAGE, "--flight needs --threshold: the wait that is worth keeping, like 500us");
	if (params->threshold_ns && !params->flight_ns && params->backend == SL_BACKEND_TRACEFS)
		return sl_err_set(err, SL_EUSAGE, "-T needs --flight with --backend tracefs, or --backend bpf");
	return 0;
}

static void say(const char *text)
{
	char line[2048];

	sl_fmt_escape(line, sizeof(line), text, false);
	fprintf(stderr, "schedlat record: %s\n", line);
}

static void on_note(void *arg, const char *text)
{
	const struct record_args *args = arg;

	if (!args->quiet)
		say(text);
}

static void on_start(void *arg, const struct sl_record_result *so_far)
{
	const struct record_args *args = arg;

	if (args->quiet || (!args->verbose && !isatty(STDERR_FILENO)))
		return;
	fprintf(stderr, "schedlat record: recording through %s on %u CPUs, %u kinds of events, clock %s%s\n",
		so_far->backend, so_far->nr_cpus, so_far->nr_event_kinds, so_far->clock,
		args->params.argv || args->params.duration_ns ? "" : "; Ctrl-C ends it");
}

static char *join(int argc, char **argv)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fputs("schedlat", out);
	for (int i = 0; i < argc; i++)
		fprintf(out, " %s", argv[i]);
	return fclose(out) ? NULL : text;
}

static void print_result(const struct record_args *args, const struct sl_record_result *result)
{
	const struct sl_record_params *params = &args->params;
	char duration[32], own[32], buffer[96];

	if (result->ring_bytes)
		snprintf(buffer, sizeof(buffer), "ring %" PRIu64 " KiB for all CPUs (asked for %" PRIu64 " per CPU)",
			 result->ring_bytes >> 10, (params->buffer_bytes + 1023) >> 10);
	else
		snprintf(buffer, sizeof(buffer), "buffer %" PRIu64 " KiB per CPU (asked for %" PRIu64 ")",
			 result->buffer_bytes >> 10, (params->buffer_bytes + 1023) >> 10);
	sl_time_fmt_human(duration, sizeof(duration), result->duration_ns);
	sl_time_fmt_human(own, sizeof(own), result->own_cpu_ns);
	fprintf(stderr, "schedlat record: %s: %" PRIu64 " events in %s, %" PRIu64 " lost; %s; own CPU time %s\n",
		result->backend, result->events, duration, result->lost, buffer, own);
	if (result->lost)
		fprintf(stderr, "schedlat record: events were lost: use a larger -m, or -C, or --no-irq\n");
	if (params->flight_ns)
		fprintf(stderr, "schedlat record: flight: %" PRIu64 " of %" PRIu64
			" waits above the threshold, %" PRIu64 " windows, %" PRIu64 " events kept\n",
			result->waits_above, result->waits, result->windows, result->events_kept);
	else if (params->threshold_ns)
		fprintf(stderr, "schedlat record: threshold: %" PRIu64 " of %" PRIu64
			" waits were above it%s; all are in histograms\n",
			result->waits_above, result->waits,
			result->truncated ? ", of which the file holds what fitted" :
			result->lost ? " and are in the file as far as nothing was lost" :
				       " and are in the file");
	if (params->argv && WIFSIGNALED(result->command_status))
		fprintf(stderr, "schedlat record: '%s' was ended by signal %d (%s)\n", params->argv[0],
			WTERMSIG(result->command_status), strsignal(WTERMSIG(result->command_status)));
	else if (params->argv && (WEXITSTATUS(result->command_status) || args->verbose))
		fprintf(stderr, "schedlat record: '%s' exited with status %d\n", params->argv[0],
			WEXITSTATUS(result->command_status));
	fprintf(stderr, "schedlat record: wrote %s, %" PRIu64 " bytes%s\n", params->path,
		result->file_bytes, result->kept_old ? "; the file before it has .old" : "");
}

/* As a shell tells it. */
static int command_exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int cmd_record(int argc, char **argv)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	struct record_args args = {
		.params = {
			.path = SL_DEFAULT_FILE,
			.buffer_bytes = DEFAULT_BUFFER_BYTES,
			.irq = true,
			.version = sl_out_version(),
			.on_note = on_note,
			.on_start = on_start,
			.signal_fd = -1,
		},
	};
	struct sl_record_result result = { 0 };
	sigset_t blocked, before;
	struct sl_err err = { "" };
	char *command_line;
	int r, status;

	r = parse(argc, argv, &args, &err);
	if (r < 0) {
		sl_only_clear(&args.only);
		return sl_tool_fail(CMD, r, &err);
	}
	if (args.help) {
		sl_only_clear(&args.only);
		fputs(help_text, stdout);
		return sl_tool_finish(CMD, 0);
	}
	sigemptyset(&blocked);
	for (unsigned int i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&blocked, signals[i]);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	signal(SIGPIPE, SIG_IGN);
	args.params.arg = &args;
	args.params.command_mask = &before;
	args.params.signal_fd = signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK);
	args.params.command_line = command_line = join(argc, argv);

	r = sl_record_run(&args.params, &result, &err);
	if (args.params.signal_fd >= 0)
		close(args.params.signal_fd);
	free(command_line);
	sl_only_clear(&args.only);
	status = r < 0 ? sl_tool_fail(CMD, r, &err) : 0;
	if (result.file_written && !args.quiet)
		print_result(&args, &result);
	if (result.command_failed)
		return r == -ENOENT ? 127 : 126;
	if (status)
		return status;
	return args.params.argv ? command_exit_status(result.command_status) : 0;
}
