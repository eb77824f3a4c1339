// SPDX-License-Identifier: LGPL-2.1-only
#include "live/record.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "live/command.h"
#include "live/meta.h"
#include "live/session.h"
#include "live/thread.h"
#include "live/tracefs.h"

/* How often the targets of -p and -t are looked for. */
#define TARGETS_MS 200
/* Without a pidfd the end of the command is polled for. */
#define COMMAND_MS 20

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static uint64_t own_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ull +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ull;
}

void sl_session_note(const struct sl_session *s, const char *text)
{
	if (s->params->on_note)
		s->params->on_note(s->params->arg, text);
}

/* How many of "12,13" exist; *ret_missing is one that does not. */
static unsigned int count_targets(const char *list, long *ret_missing)
{
	unsigned int alive = 0;

	while (list && *list) {
		char path[64], *end;
		long id = strtol(list, &end, 10);

		if (end == list)
			break;
		snprintf(path, sizeof(path), "/proc/%ld", id);
		if (!access(path, F_OK))
			alive++;
		else
			*ret_missing = id;
		list = *end == ',' ? end + 1 : end;
	}
	return alive;
}

static int check_targets(const struct sl_record_params *params, struct sl_err *err)
{
	long missing = 0;

	count_targets(params->target_pids, &missing);
	if (missing)
		return sl_err_set(err, -ESRCH, "cannot record: there is no process %ld (-p)", missing);
	count_targets(params->target_tids, &missing);
	if (missing)
		return sl_err_set(err, -ESRCH, "cannot record: there is no thread %ld (-t)", missing);
	return 0;
}

static bool targets_gone(const struct sl_record_params *params)
{
	long missing;

	if (!params->target_pids && !params->target_tids)
		return false;
	return !count_targets(params->target_pids, &missing) &&
	       !count_targets(params->target_tids, &missing);
}

static void add_events_meta(struct sl_session *s)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (unsigned int i = 0; out && i < sl_event_descs_nr; i++)
		if (s->stream.formats[i])
			fprintf(out, ",%s:%s", sl_event_descs[i].system, sl_event_descs[i].name);
	if (!out || fclose(out) || !len)
		return;
	sl_kv_add(&s->meta, "events_enabled", text + 1);
	free(text);
}

static void add_own_tids(struct sl_session *s)
{
	unsigned int nr;
	const int *tids = s->backend->tids(s, &nr);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	fprintf(out, "%d", getpid());
	for (unsigned int i = 0; i < nr; i++)
		fprintf(out, ",%d", tids[i]);
	if (!fclose(out))
		sl_kv_add(&s->meta, "own_tids", text);
	free(text);
}

static void add_start_meta(struct sl_session *s)
{
	const struct sl_record_params *params = s->params;
	char *cpus;

	sl_kv_add(&s->meta, "schedlat.version", params->version ? params->version : "unknown");
	sl_kv_add(&s->meta, "backend", s->backend->name);
	if (params->command_line)
		sl_kv_add(&s->meta, "command_line", params->command_line);
	sl_kv_add(&s->meta, "clock", s->stream.clock);
	sl_kv_addf(&s->meta, "buffer.asked_bytes", "%" PRIu64, params->buffer_bytes);
	sl_kv_addf(&s->meta, "buffer.bytes", "%" PRIu64, s->stream.buffer_bytes);
	sl_kv_addf(&s->meta, "page_bytes", "%u", s->stream.page_bytes);
	cpus = params->cpus ? sl_cpulist_format(params->cpus) : NULL;
	if (cpus)
		sl_kv_add(&s->meta, "cpus_recorded", cpus);
	free(cpus);
	if (params->target_pids)
		sl_kv_add(&s->meta, "target_pids", params->target_pids);
	if (params->target_tids)
		sl_kv_add(&s->meta, "target_tids", params->target_tids);
	s->backend->start_meta(s);
	add_events_meta(s);
	add_own_tids(s);
	sl_meta_system(&s->meta);
	sl_meta_topology(&s->meta);
}

static void add_end_meta(struct sl_session *s, const struct sl_command *command)
{
	struct sl_record_result *result = s->result;
	struct sl_kv_list *list = &s->end_meta;

	sl_kv_addf(list, "t_start_ns", "%" PRIu64, s->start_ns);
	sl_kv_addf(list, "t_stop_ns", "%" PRIu64, s->stop_ns);
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		const struct sl_cpu_stats *stats = &s->stats[i];
		char key[32];

		if (!*stats->text)
			continue;
		snprintf(key, sizeof(key), "lost.cpu%u", s->stream.cpus[i]);
		sl_kv_addf(list, key, "%" PRIu64, stats->lost);
	}
	sl_kv_addf(list, "overhead.own_cpu_ns", "%" PRIu64, result->own_cpu_ns);
	sl_kv_addf(list, "overhead.events", "%" PRIu64, result->events);
	sl_kv_addf(list, "overhead.data_bytes", "%" PRIu64, result->data_bytes);
	if (result->truncated)
		sl_kv_add(list, "truncated", "1");
	if (s->params->argv && !command->pid) {
		if (WIFEXITED(command->status))
			sl_kv_addf(list, "command_exit_status", "%d", WEXITSTATUS(command->status));
		else if (WIFSIGNALED(command->status))
			sl_kv_addf(list, "command_signal", "%d", WTERMSIG(command->status));
	}
	if (s->slice)
		sl_slice_keep_meta(s->slice, s->start_ns, list);
	sl_cgroups_meta(&s->start_cgroups, &s->end_cgroups, list);
}

/* Pass signals on to the command. True: stop recording. */
static bool take_signals(struct sl_session *s, struct sl_command *command, unsigned int *seen)
{
	struct signalfd_siginfo info;
	bool stop = false;

	while (read(s->params->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		/* A terminal's ^C and ^\ reach the command by themselves. */
		if (command->pid && info.ssi_code != SI_KERNEL)
			kill(command->pid, info.ssi_signo);
		/* These say nothing about ending, and may come often. */
		if (command->pid && (info.ssi_signo == SIGUSR1 || info.ssi_signo == SIGUSR2))
			continue;
		if (!command->pid || (*seen)++)
			stop = true;
		s->result->interrupted = true;
	}
	return stop;
}

static int poll_timeout(const struct sl_record_params *params, const struct sl_command *command,
			uint64_t deadline_ns)
{
	int timeout = -1;
	uint64_t now_ns;

	if (params->target_pids || params->target_tids)
		timeout = TARGETS_MS;
	if (command->pid && command->pid_fd < 0)
		timeout = COMMAND_MS;
	if (!deadline_ns)
		return timeout;
	now_ns = monotonic_ns();
	if (now_ns >= deadline_ns)
		return 0;
	if (timeout < 0 || (uint64_t)timeout * 1000000 > deadline_ns - now_ns)
		timeout = (deadline_ns - now_ns + 999999) / 1000000 > 3600000 ? 3600000 :
			(deadline_ns - now_ns + 999999) / 1000000;
	return timeout;
}

/* Until a reason to stop. */
static void wait_for_end(struct sl_session *s, struct sl_command *command)
{
	const struct sl_record_params *params = s->params;
	const uint64_t deadline_ns = params->duration_ns ? monotonic_ns() + params->duration_ns : 0;
	unsigned int signals = 0;

	for (;;) {
		struct pollfd fds[3] = {
			{ .fd = params->signal_fd, .events = POLLIN },
			{ .fd = s->backend->error_fd(s), .events = POLLIN },
			{ .fd = command->pid ? command->pid_fd : -1, .events = POLLIN },
		};

		poll(fds, 3, sl_slice_keep_timeout(s->slice, poll_timeout(params, command, deadline_ns)));
		if (s->slice)
			sl_slice_keep_look(s->slice, s->backend->now_ns(s));
		if (fds[0].revents && take_signals(s, command, &signals))
			return;
		if (fds[1].revents) {
			s->result->truncated = true;
			return;
		}
		if (params->argv && sl_command_ended(command))
			return;
		if (deadline_ns && monotonic_ns() >= deadline_ns)
			return;
		if (!params->argv && targets_gone(params))
			return;
	}
}

/* Recording on, run, recording off, drain. */
static int trace(struct sl_session *s, struct sl_command *command, struct sl_err *err)
{
	struct sl_record_result *result = s->result;
	const bool fair = sched_getscheduler(0) == SCHED_OTHER;
	uint64_t cpu_ns = own_cpu_ns();
	int r, r2;

	r = s->backend->start(s, err);
	if (!r && s->params->argv) {
		r = sl_command_go(command, s->params->argv[0], err);
		result->command_started = !r;
		result->command_failed = r < 0;
		if (!r && s->slice)
			sl_slice_keep_start(s->slice);
	}
	if (!r) {
		if (s->params->on_start)
			s->params->on_start(s->params->arg, result);
		/*
		 * This thread sleeps while it waits, but must stop the recording in time,
		 * also when the load that is recorded starves fair tasks.
		 */
		if (fair)
			sl_thread_raise(0);
		wait_for_end(s, command);
	}
	r2 = s->backend->stop(s, r < 0 ? NULL : err);
	r = r < 0 ? r : r2;
	if (fair)
		sl_thread_lower(0);
	result->own_cpu_ns = own_cpu_ns() - cpu_ns;
	result->duration_ns = s->stop_ns > s->start_ns ? s->stop_ns - s->start_ns : 0;
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		result->events += s->stats[i].events;
		result->lost += s->stats[i].lost;
		result->data_bytes += s->bytes[i];
	}
	return r;
}

static void close_backend(struct sl_session *s)
{
	struct sl_err err;

	if (s->state && s->backend->close(s, &err) < 0)
		sl_session_note(s, err.msg);
}

void sl_session_clear_stream(struct sl_stream *stream)
{
	for (unsigned int i = 0; stream->formats && i < sl_event_descs_nr; i++)
		free(stream->formats[i]);
	free(stream->formats);
	free(stream->own_format);
	free(stream->cpus);
	free(stream->header_page);
	free(stream->header_event);
	*stream = (struct sl_stream){ 0 };
}

static int open_backend(struct sl_session *s, const struct sl_backend *backend, struct sl_err *err)
{
	int r;

	s->backend = backend;
	r = backend->open(s, err);
	if (r < 0) {
		close_backend(s);
		sl_session_clear_stream(&s->stream);
	}
	return r;
}

/*
 * bpf tells more, unless the kernel tells its decisions itself; tracefs needs fewer rights, and
 * older kernels do.
 */
static int choose_backend(struct sl_session *s, struct sl_err *err)
{
	const struct sl_record_params *params = s->params;
	struct sl_err why, why_tracefs;
	char text[sizeof(why.msg) + 64];
	int r;

	/* Only the programs can filter, and judge waits in the kernel. */
	if (params->backend == SL_BACKEND_BPF || params->only ||
	    (params->threshold_ns && !params->flight_ns))
		return open_backend(s, &sl_backend_bpf, err);
	if (params->backend == SL_BACKEND_TRACEFS || params->flight_ns || sl_tracefs_tells_decisions())
		return open_backend(s, &sl_backend_tracefs, err);
	r = open_backend(s, &sl_backend_bpf, &why);
	if (r != SL_ENOBACKEND)
		return r < 0 ? sl_err_set(err, r, "%s", why.msg) : r;
	r = open_backend(s, &sl_backend_tracefs, &why_tracefs);
	if (r < 0)
		return sl_err_set(err, r, "%s; %s", why_tracefs.msg, why.msg);
	snprintf(text, sizeof(text), "recording through tracefs; %s", why.msg);
	sl_session_note(s, text);
	return 0;
}

static int set_up(struct sl_session *s, struct sl_err *err)
{
	int r;

	r = choose_backend(s, err);
	if (!r)
		r = sl_session_open_files(s, err);
	if (r < 0)
		return r;
	s->result->backend = s->backend->name;
	s->result->buffer_bytes = s->stream.buffer_bytes;
	s->result->nr_cpus = s->stream.nr_cpus;
	s->result->nr_event_kinds = s->stream.nr_kinds;
	snprintf(s->result->clock, sizeof(s->result->clock), "%s", s->stream.clock);
	r = s->backend->prepare(s, err);
	if (r < 0)
		return r;
	add_start_meta(s);
	r = sl_tasks_scan(&s->start_tasks, err);
	if (!r)
		r = sl_cgroups_scan(&s->start_tasks, &s->start_cgroups, err);
	return r;
}

/* After the trace: kernel as before, second look at the tasks, file. */
static int wind_up(struct sl_session *s, struct sl_command *command, int traced, struct sl_err *err)
{
	struct sl_err later;
	char text[512];
	int r;

	s->end_ns = s->backend->now_ns(s);
	r = s->backend->close(s, &later);
	if (r < 0)
		sl_session_note(s, later.msg);
	if (sl_tasks_scan(&s->end_tasks, NULL) || sl_cgroups_scan(&s->end_tasks, &s->end_cgroups, NULL))
		sl_session_note(s, "no memory to look at the tasks a second time");
	sl_command_end(command);
	s->result->command_status = command->status;
	add_end_meta(s, command);
	if (s->slice)
		sl_session_note(s, sl_slice_keep_note(s->slice, s->start_ns, text, sizeof(text)));
	r = sl_session_assemble(s, traced < 0 ? &later : err);
	return traced < 0 ? traced : r;
}

void sl_session_clear(struct sl_session *s)
{
	sl_session_close_files(s);
	sl_session_clear_stream(&s->stream);
	sl_slice_keep_free(s->slice);
	sl_kv_clear(&s->meta);
	sl_kv_clear(&s->end_meta);
	sl_tasks_clear(&s->start_tasks);
	sl_tasks_clear(&s->end_tasks);
	sl_cgroups_clear(&s->start_cgroups);
	sl_cgroups_clear(&s->end_cgroups);
}

int sl_record_run(const struct sl_record_params *params, struct sl_record_result *ret_result,
		  struct sl_err *err)
{
	struct sl_session s = { .params = params, .result = ret_result, .reserve_fd = -1 };
	struct sl_command command = { .pid_fd = -1, .go_fd = -1, .result_fd = -1 };
	int r;

	*ret_result = (struct sl_record_result){ 0 };
	r = check_targets(params, err);
	if (r < 0)
		return r;
	if (params->argv) {
		r = sl_command_prepare(params->argv, params->command_mask, &command, err);
		if (r < 0)
			return r;
	}
	if (params->argv && params->keep_slice)
		r = sl_slice_keep_new(params->slice_ns, command.pid, &s.slice, err);
	if (!r)
		r = set_up(&s, err);
	if (!r) {
		r = trace(&s, &command, err);
		/* Without a command there is nothing to keep; a full disk leaves what fitted. */
		if (!r || ret_result->truncated)
			r = wind_up(&s, &command, r, err);
	}
	if (command.pid)
		sl_command_end(&command);
	close_backend(&s);
	sl_session_clear(&s);
	sl_command_clear(&command);
	return r;
}
