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
#include "live/flight.h"
#include "live/meta.h"
#include "live/reader.h"
#include "live/session.h"
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

static void note(const struct sl_record_params *params, const char *text)
{
	if (params->on_note)
		params->on_note(params->arg, text);
}

static void note_stale(void *arg, const char *name)
{
	char text[256];

	snprintf(text, sizeof(text), "removed the tracefs instance '%.100s' that a killed recording left behind",
		 name);
	note(arg, text);
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
		if (s->instance.enabled[i])
			fprintf(out, ",%s:%s", sl_event_descs[i].system, sl_event_descs[i].name);
	if (!out || fclose(out) || !len)
		return;
	sl_kv_add(&s->meta, "events_enabled", text + 1);
	free(text);
}

static void add_own_tids(struct sl_session *s, const struct sl_readers *readers)
{
	unsigned int nr;
	const int *tids = sl_readers_tids(readers, &nr);
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

static void add_start_meta(struct sl_session *s, const struct sl_readers *readers)
{
	const struct sl_record_params *params = s->params;
	char *cpus;

	sl_kv_add(&s->meta, "schedlat.version", params->version ? params->version : "unknown");
	sl_kv_add(&s->meta, "backend", "tracefs");
	if (params->command_line)
		sl_kv_add(&s->meta, "command_line", params->command_line);
	sl_kv_add(&s->meta, "clock", s->instance.clock);
	sl_kv_addf(&s->meta, "buffer.asked_bytes", "%" PRIu64, params->buffer_bytes);
	sl_kv_addf(&s->meta, "buffer.bytes", "%" PRIu64, s->instance.buffer_bytes);
	sl_kv_addf(&s->meta, "page_bytes", "%u", s->instance.page_bytes);
	cpus = params->cpus ? sl_cpulist_format(params->cpus) : NULL;
	if (cpus)
		sl_kv_add(&s->meta, "cpus_recorded", cpus);
	free(cpus);
	if (params->target_pids)
		sl_kv_add(&s->meta, "target_pids", params->target_pids);
	if (params->target_tids)
		sl_kv_add(&s->meta, "target_tids", params->target_tids);
	if (params->flight_ns) {
		sl_kv_add(&s->meta, "flight", "1");
		sl_kv_addf(&s->meta, "flight.ns", "%" PRIu64, params->flight_ns);
		sl_kv_addf(&s->meta, "flight.threshold_ns", "%" PRIu64, params->threshold_ns);
	}
	add_events_meta(s);
	add_own_tids(s, readers);
	sl_meta_system(&s->meta);
	sl_meta_topology(&s->meta);
}

static void add_end_meta(struct sl_session *s, const struct sl_command *command)
{
	struct sl_record_result *result = s->result;
	struct sl_kv_list *list = &s->end_meta;

	sl_kv_addf(list, "t_start_ns", "%" PRIu64, s->start_ns);
	sl_kv_addf(list, "t_stop_ns", "%" PRIu64, s->stop_ns);
	for (unsigned int i = 0; i < s->instance.nr_cpus; i++) {
		const struct sl_instance_stats *stats = &s->stats[i];
		char key[32];

		if (!*stats->text)
			continue;
		snprintf(key, sizeof(key), "lost.cpu%u", s->instance.cpus[i]);
		sl_kv_addf(list, key, "%" PRIu64,
			   stats->overrun + stats->commit_overrun + stats->dropped);
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
	if (s->params->flight_ns) {
		sl_kv_addf(list, "flight.windows", "%" PRIu64, result->windows);
		sl_kv_addf(list, "flight.waits_total", "%" PRIu64, result->waits);
		sl_kv_addf(list, "flight.waits_above", "%" PRIu64, result->waits_above);
		sl_kv_addf(list, "flight.events_kept", "%" PRIu64, result->events_kept);
		sl_kv_addf(list, "flight.events_dropped", "%" PRIu64, s->flight_stats.events_dropped);
		sl_kv_addf(list, "flight.kept_pages", "%" PRIu64, s->flight_stats.pages_kept);
		sl_kv_addf(list, "flight.dropped_pages", "%" PRIu64, result->pages_dropped);
		sl_kv_addf(list, "flight.dropped_bytes", "%" PRIu64,
			   result->pages_dropped * s->instance.page_bytes);
		sl_kv_addf(list, "flight.early_pages", "%" PRIu64, s->flight_stats.pages_early);
		sl_kv_addf(list, "flight.margin_ns", "%" PRIu64, s->flight_stats.margin_ns);
	}
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

/*
 * This thread sleeps while it waits, but must stop the trace in time, also when
 * the load that is recorded starves fair tasks. The lowest realtime priority is
 * enough; without the right to it, it stays as it is.
 */
static void raise_self(bool raise)
{
	static const struct sched_param none = { 0 }, lowest = { .sched_priority = 1 };

	if (raise)
		sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest);
	else
		sched_setscheduler(0, SCHED_OTHER, &none);
}

/* Until a reason to stop. */
static void wait_for_end(struct sl_session *s, struct sl_command *command,
			 const struct sl_readers *readers)
{
	const struct sl_record_params *params = s->params;
	const uint64_t deadline_ns = params->duration_ns ? monotonic_ns() + params->duration_ns : 0;
	unsigned int signals = 0;

	for (;;) {
		struct pollfd fds[3] = {
			{ .fd = params->signal_fd, .events = POLLIN },
			{ .fd = sl_readers_error_fd(readers), .events = POLLIN },
			{ .fd = command->pid ? command->pid_fd : -1, .events = POLLIN },
		};

		poll(fds, 3, poll_timeout(params, command, deadline_ns));
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

static int copy_formats(struct sl_session *s, struct sl_err *err)
{
	s->formats = calloc(sl_event_descs_nr, sizeof(*s->formats));
	if (!s->formats)
		return sl_err_set(err, -ENOMEM, "cannot record: out of memory");
	for (unsigned int i = 0; i < sl_event_descs_nr; i++) {
		if (!s->instance.enabled[i])
			continue;
		s->formats[i] = sl_instance_format(&s->instance, &sl_event_descs[i]);
		if (!s->formats[i])
			return sl_err_set(err, -EIO, "cannot read the format of event %s:%s",
					  sl_event_descs[i].system, sl_event_descs[i].name);
	}
	return 0;
}

static int finish_flight(struct sl_session *s, struct sl_err *err)
{
	struct sl_record_result *result = s->result;
	int r = sl_flight_finish(s->flight, s->bytes, &s->flight_stats, err);

	result->waits = s->flight_stats.waits;
	result->waits_above = s->flight_stats.waits_above;
	result->windows = s->flight_stats.windows;
	result->events_kept = s->flight_stats.events_kept;
	result->pages_dropped = s->flight_stats.pages_dropped;
	if (r < 0)
		result->truncated = true;
	return r;
}

/* Tracing on, run, tracing off, drain. The readers are started, and ended here. */
static int trace(struct sl_session *s, struct sl_command *command, struct sl_readers *readers,
		 struct sl_err *err)
{
	struct sl_record_result *result = s->result;
	const bool fair = sched_getscheduler(0) == SCHED_OTHER;
	uint64_t cpu_ns = own_cpu_ns();
	struct sl_err reader_err;
	int r, r2;

	s->start_ns = sl_instance_now(&s->instance);
	r = sl_instance_set_tracing(&s->instance, true, err);
	if (!r && s->params->argv) {
		r = sl_command_go(command, s->params->argv[0], err);
		result->command_started = !r;
		result->command_failed = r < 0;
	}
	if (!r) {
		if (s->params->on_start)
			s->params->on_start(s->params->arg, result);
		if (fair)
			raise_self(true);
		wait_for_end(s, command, readers);
	}
	/* The producers stop first, so that the readers can come to an end. */
	r2 = sl_instance_set_tracing(&s->instance, false, r < 0 ? NULL : err);
	r = r < 0 ? r : r2;
	s->stop_ns = sl_instance_now(&s->instance);
	r2 = sl_readers_stop(readers, s->bytes, &reader_err);
	if (fair)
		raise_self(false);
	if (r2 < 0) {
		result->truncated = true;
		if (!r)
			r = sl_err_set(err, r2, "%s; '%s' holds what was recorded until then",
				       reader_err.msg, s->params->path);
	}
	if (s->flight) {
		r2 = finish_flight(s, r < 0 ? NULL : err);
		r = r < 0 ? r : r2;
	}
	result->own_cpu_ns = own_cpu_ns() - cpu_ns;
	result->duration_ns = s->stop_ns > s->start_ns ? s->stop_ns - s->start_ns : 0;
	for (unsigned int i = 0; i < s->instance.nr_cpus; i++) {
		struct sl_instance_stats *stats = &s->stats[i];

		if (!sl_instance_stats(&s->instance, s->instance.cpus[i], stats))
			continue;
		result->events += stats->read;
		result->lost += stats->overrun + stats->commit_overrun + stats->dropped;
		result->data_bytes += s->bytes[i];
	}
	return r;
}

/* The instance goes, what describes the data stays. */
static int drop_instance(struct sl_session *s, struct sl_err *err)
{
	struct sl_instance gone = s->instance;

	s->instance.tracefs = NULL;
	gone.cpus = NULL;
	gone.enabled = NULL;
	gone.header_page = gone.header_event = NULL;
	return sl_instance_remove(&gone, err);
}

static int set_up(struct sl_session *s, struct sl_readers **ret_readers, struct sl_err *err)
{
	const struct sl_record_params *params = s->params;
	const struct sl_instance_params instance_params = {
		.buffer_bytes = params->buffer_bytes,
		.cpus = params->cpus,
		.irq = params->irq,
	};
	struct sl_readers_params readers_params = {
		.instance = &s->instance,
		.avoid_cpus = params->cpus,
	};
	unsigned int nr_tids;
	const int *tids;
	int r;

	r = sl_instance_create(&instance_params, &s->instance, err);
	if (!r)
		r = copy_formats(s, err);
	if (!r)
		r = sl_session_open_files(s, err);
	if (r < 0)
		return r;
	s->result->buffer_bytes = s->instance.buffer_bytes;
	s->result->nr_cpus = s->instance.nr_cpus;
	s->result->nr_event_kinds = s->instance.nr_enabled;
	snprintf(s->result->clock, sizeof(s->result->clock), "%s", s->instance.clock);
	if (params->flight_ns) {
		const struct sl_flight_params flight_params = {
			.instance = &s->instance,
			.fds = s->fds,
			.formats = s->formats,
			.flight_ns = params->flight_ns,
			.threshold_ns = params->threshold_ns,
		};

		r = sl_flight_new(&flight_params, &s->flight, err);
		if (r < 0)
			return r;
		readers_params.sink = sl_flight_sink(s->flight);
	} else {
		readers_params.fds = s->fds;
	}
	r = sl_readers_start(&readers_params, ret_readers, err);
	if (r < 0)
		return r;
	if (s->flight) {
		tids = sl_readers_tids(*ret_readers, &nr_tids);
		r = sl_flight_ignore(s->flight, tids, nr_tids, err);
		if (r < 0)
			return r;
	}
	add_start_meta(s, *ret_readers);
	r = sl_tasks_scan(&s->start_tasks, err);
	if (!r)
		r = sl_cgroups_scan(&s->start_tasks, &s->start_cgroups, err);
	return r;
}

/* After the trace: instance away, second look at the tasks, file. */
static int wind_up(struct sl_session *s, struct sl_command *command, int traced, struct sl_err *err)
{
	struct sl_err later;
	int r;

	s->end_ns = sl_instance_now(&s->instance);
	r = drop_instance(s, &later);
	if (r < 0)
		note(s->params, later.msg);
	if (sl_tasks_scan(&s->end_tasks, NULL) || sl_cgroups_scan(&s->end_tasks, &s->end_cgroups, NULL))
		note(s->params, "no memory to look at the tasks a second time");
	sl_command_end(command);
	s->result->command_status = command->status;
	add_end_meta(s, command);
	r = sl_session_assemble(s, traced < 0 ? &later : err);
	return traced < 0 ? traced : r;
}

static void session_clear(struct sl_session *s)
{
	sl_flight_free(s->flight);
	sl_session_close_files(s);
	for (unsigned int i = 0; s->formats && i < sl_event_descs_nr; i++)
		free(s->formats[i]);
	free(s->formats);
	sl_instance_remove(&s->instance, NULL);
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
	struct sl_readers *readers = NULL;
	struct sl_tracefs tracefs;
	int r;

	*ret_result = (struct sl_record_result){ 0 };
	r = sl_tracefs_use(&tracefs, err);
	if (!r)
		r = check_targets(params, err);
	if (r < 0)
		return r;
	sl_instance_remove_stale(note_stale, (void *)params);
	if (params->argv) {
		r = sl_command_prepare(params->argv, params->command_mask, &command, err);
		if (r < 0)
			return r;
	}
	r = set_up(&s, &readers, err);
	if (!r) {
		r = trace(&s, &command, readers, err);
		/* Without a command there is nothing to keep; a full disk leaves what fitted. */
		if (!r || ret_result->truncated)
			r = wind_up(&s, &command, r, err);
	}
	if (command.pid)
		sl_command_end(&command);
	sl_readers_free(readers);
	session_clear(&s);
	sl_command_clear(&command);
	return r;
}
