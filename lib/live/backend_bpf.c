// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Recording through BPF programs: one ring for all CPUs, one thread that empties it
 * and writes what it finds as pages of events.
 *
 * The thread polls on a timer, which costs nothing to the tasks that are recorded; a
 * ring that fills up faster wakes it.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "live/bpf/consume.h"
#include "live/bpf_formats.h"
#include "live/bpf_hist.h"
#include "live/bpf_spool.h"
#include "live/bpf_writer.h"
#include "live/only.h"
#include "live/session.h"
#include "live/thread.h"

#define PAGE_BYTES 4096u
#define POLL_BUSY_MS 10
#define POLL_IDLE_MS 250
/* Between two looks at whether to stop. */
#define BATCH_RECORDS (1u << 16)
/* Histograms of an observer: those of threads that have ended are given to others. */
#define LIVE_THREADS 2047
/* A program that was interrupted while it recorded may finish after it is detached. */
#define LATE_TRIES 100

struct state {
	struct sl_bpf *bpf;
	struct sl_bpf_writer *writer;
	struct sl_bpf_spool *spool;	/* with a threshold: records on their way to the writer */
	int *spool_fds;
	unsigned int nr_spool_fds;
	pthread_t thread;
	bool started;
	int stop_fd, error_fd;
	int tid;			/* of the thread; set before it says ready */
	pthread_mutex_t lock;
	pthread_cond_t ready;
	int error;			/* of the thread */
	const uint8_t *avoid_cpus;
};

static int no_memory(struct sl_err *err)
{
	return sl_err_set(err, -ENOMEM, "cannot record: out of memory");
}

static int choose_cpus(struct sl_session *s, unsigned int nr_possible, struct sl_err *err)
{
	const uint8_t *wanted = s->params->cpus;
	struct sl_stream *stream = &s->stream;

	if (nr_possible > SL_CPU_MAX)
		nr_possible = SL_CPU_MAX;
	stream->cpus = malloc(nr_possible * sizeof(*stream->cpus));
	if (!stream->cpus)
		return no_memory(err);
	for (unsigned int cpu = 0; cpu < nr_possible; cpu++)
		if (!wanted || wanted[cpu])
			stream->cpus[stream->nr_cpus++] = cpu;
	for (unsigned int cpu = nr_possible; wanted && cpu < SL_CPU_MAX; cpu++)
		if (wanted[cpu])
			return sl_err_set(err, SL_EUSAGE, "cannot record CPU %u: this machine has no such CPU",
					  cpu);
	return 0;
}

static bool probe_on(const struct sl_bpf *bpf, const char *system, const char *name)
{
	for (size_t i = 0; i < sl_bpf_nr_probes(bpf); i++) {
		const struct sl_bpf_probe *probe = sl_bpf_probe(bpf, i);

		if (!strcmp(probe->system, system) && !strcmp(probe->name, name))
			return probe->state == SL_BPF_PROBE_ON;
	}
	return false;
}

/* Is this an event that the programs, as they are attached, can give? */
static bool is_recorded(const struct sl_bpf *bpf, const struct sl_event_desc *desc, bool irq)
{
	const struct sl_bpf_caps *caps = sl_bpf_caps(bpf);

	switch (desc->kind) {
	case SL_EV_QUEUE:
		return caps->has_eevdf && caps->has_queue;
	case SL_EV_ENTITY:
		return caps->has_eevdf;
	case SL_EV_NEED_RESCHED:
		return probe_on(bpf, "sched", "sched_set_need_resched_tp");
	case SL_EV_PICKED_AGAIN:
		return probe_on(bpf, "sched", "sched_exit_tp");
	case SL_EV_TICK:
		return caps->has_eevdf && probe_on(bpf, "irq_vectors", "local_timer_exit");
	default:
		break;
	}
	return (desc->group != SL_EVG_IRQ || irq) && probe_on(bpf, desc->system, desc->name);
}

static int fill_stream(struct sl_session *s, const struct sl_bpf *bpf, struct sl_err *err)
{
	struct sl_stream *stream = &s->stream;
	int r = choose_cpus(s, sl_bpf_caps(bpf)->nr_cpus, err);

	if (r < 0)
		return r;
	snprintf(stream->clock, sizeof(stream->clock), "mono");
	stream->page_bytes = PAGE_BYTES;
	stream->buffer_bytes = sl_bpf_caps(bpf)->ring_bytes / stream->nr_cpus;
	s->result->ring_bytes = sl_bpf_caps(bpf)->ring_bytes;
	stream->header_page = sl_out_header_page(PAGE_BYTES);
	stream->header_event = sl_out_header_event();
	stream->formats = calloc(sl_event_descs_nr, sizeof(*stream->formats));
	if (!stream->header_page || !stream->header_event || !stream->formats)
		return no_memory(err);
	for (unsigned int i = 0; i < sl_event_descs_nr; i++) {
		if (!is_recorded(bpf, &sl_event_descs[i], s->params->irq))
			continue;
		stream->formats[i] = sl_out_format(i);
		if (stream->formats[i])
			stream->nr_kinds++;
		else if (errno)
			return no_memory(err);
	}
	if (s->params->threshold_ns) {
		stream->own_format = sl_out_window_format();
		if (!stream->own_format)
			return no_memory(err);
	}
	return 0;
}

/* -m is per CPU, as it is for tracefs. The loader rounds up to a power of two. */
static uint64_t ring_bytes(const struct sl_record_params *params)
{
	const long nr_online = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int nr = 0;

	for (unsigned int cpu = 0; params->cpus && cpu < SL_CPU_MAX; cpu++)
		nr += params->cpus[cpu] != 0;
	if (!nr)
		nr = nr_online > 0 ? nr_online : 1;
	return params->buffer_bytes * nr;
}

static int backend_open(struct sl_session *s, struct sl_err *err)
{
	struct sl_bpf_params params = {
		.own_tgid = getpid(),
		.ring_bytes = ring_bytes(s->params),
		.irq = s->params->irq,
		.idle = true,
		.verbose = s->params->verbose,
		.threshold_ns = s->params->threshold_ns,
		.live = s->live,
		.nr_threads = s->live ? LIVE_THREADS : 0,
	};
	struct state *state;
	int r;

	if (s->params->flight_ns)
		return sl_err_set(err, SL_EUSAGE, "--flight needs --backend tracefs");
	if (s->params->only)
		params.only = s->params->only->filter;
	s->state = state = calloc(1, sizeof(*state));
	if (!state)
		return no_memory(err);
	state->stop_fd = state->error_fd = -1;
	pthread_mutex_init(&state->lock, NULL);
	pthread_cond_init(&state->ready, NULL);
	r = sl_bpf_open(&params, &state->bpf, err);
	return r < 0 ? r : fill_stream(s, state->bpf, err);
}

static void thread_failed(struct state *state, int error)
{
	const uint64_t one = 1;

	state->error = error;
	if (write(state->error_fd, &one, sizeof(one)) < 0)
		return;	/* the counter is full: it is readable already */
}

/* 1: there was something, 0: nothing, negative: an error, which ends the thread. */
static int take(struct state *state)
{
	int64_t n;

	sl_bpf_writer_tif(state->writer, sl_bpf_tif_resched(state->bpf));
	if (state->spool)
		n = sl_bpf_consume(state->bpf, sl_bpf_spool_record, state->spool, BATCH_RECORDS);
	else
		n = sl_bpf_consume(state->bpf, sl_bpf_writer_record, state->writer, BATCH_RECORDS);
	if (n < 0) {
		thread_failed(state, n);
		return n;
	}
	return n > 0;
}

static void drain(struct state *state)
{
	for (int late = 0; late < LATE_TRIES; late++) {
		int r;

		while ((r = take(state)) > 0)
			late = 0;
		if (r < 0 || !sl_bpf_pending(state->bpf))
			return;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

static void *thread_main(void *arg)
{
	struct state *state = arg;
	const uint64_t busy_bytes = sl_bpf_caps(state->bpf)->ring_bytes / 32;
	struct pollfd fds[2] = {
		{ .fd = sl_bpf_fd(state->bpf), .events = POLLIN },
		{ .fd = state->stop_fd, .events = POLLIN },
	};
	int timeout_ms = POLL_IDLE_MS;

	prctl(PR_SET_NAME, "schedlat-read");
	sl_thread_avoid_cpus(state->avoid_cpus);
	pthread_mutex_lock(&state->lock);
	state->tid = syscall(SYS_gettid);
	pthread_cond_signal(&state->ready);
	pthread_mutex_unlock(&state->lock);
	for (;;) {
		poll(fds, 2, timeout_ms);
		if (fds[1].revents)
			break;
		timeout_ms = sl_bpf_pending(state->bpf) > busy_bytes ? POLL_BUSY_MS : POLL_IDLE_MS;
		if (take(state) < 0)
			return NULL;
	}
	drain(state);
	return NULL;
}

static int open_spool(struct sl_session *s, struct state *state, struct sl_err *err)
{
	struct sl_bpf_spool_params params = {
		.cpus = s->stream.cpus,
		.nr_cpus = s->stream.nr_cpus,
	};

	state->spool_fds = malloc(params.nr_cpus * sizeof(*state->spool_fds));
	if (!state->spool_fds)
		return no_memory(err);
	for (; state->nr_spool_fds < params.nr_cpus; state->nr_spool_fds++) {
		int fd = sl_session_temp_file(s);

		if (fd < 0)
			return sl_err_set(err, fd, "cannot create a temporary file next to '%s': %s; choose another place with -o",
					  s->params->path, strerror(-fd));
		state->spool_fds[state->nr_spool_fds] = fd;
	}
	params.fds = state->spool_fds;
	return sl_bpf_spool_new(&params, &state->spool, err);
}

static int backend_prepare(struct sl_session *s, struct sl_err *err)
{
	const struct sl_bpf_writer_params params = {
		.cpus = s->stream.cpus,
		.nr_cpus = s->stream.nr_cpus,
		.fds = s->fds,
		.page_bytes = s->stream.page_bytes,
	};
	struct state *state = s->state;
	int r;

	state->avoid_cpus = s->params->cpus;
	state->stop_fd = eventfd(0, EFD_CLOEXEC);
	state->error_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (state->stop_fd < 0 || state->error_fd < 0)
		return sl_err_set(err, -errno, "cannot start a reader: eventfd: %s", strerror(errno));
	r = sl_bpf_writer_new(&params, &state->writer, err);
	if (!r && s->params->threshold_ns)
		r = open_spool(s, state, err);
	if (!r)
		r = sl_thread_start(&state->thread, thread_main, state, err);
	if (r < 0)
		return r;
	state->started = true;
	pthread_mutex_lock(&state->lock);
	while (!state->tid)
		pthread_cond_wait(&state->ready, &state->lock);
	pthread_mutex_unlock(&state->lock);
	return 0;
}

static const char *state_name(enum sl_bpf_probe_state state)
{
	switch (state) {
	case SL_BPF_PROBE_ABSENT:
		return "absent";
	case SL_BPF_PROBE_UNKNOWN:
		return "unknown";
	case SL_BPF_PROBE_REFUSED:
		return "refused";
	case SL_BPF_PROBE_ON:
	case SL_BPF_PROBE_OFF:
		break;
	}
	return "off";
}

static void add_probes(struct sl_kv_list *list, const struct sl_bpf *bpf)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < sl_bpf_nr_probes(bpf); i++) {
		const struct sl_bpf_probe *probe = sl_bpf_probe(bpf, i);
		char key[128];

		if (probe->state == SL_BPF_PROBE_ON) {
			if (out)
				fprintf(out, ",%s:%s", probe->system, probe->name);
			continue;
		}
		snprintf(key, sizeof(key), "bpf.missing.%s:%s", probe->system, probe->name);
		sl_kv_addf(list, key, "%s: %s", state_name(probe->state), probe->reason);
	}
	if (!out || fclose(out))
		list->failed = true;
	else if (len)
		sl_kv_add(list, "bpf.probes", text + 1);
	free(text);
}

static void backend_start_meta(struct sl_session *s)
{
	const struct state *state = s->state;
	const struct sl_bpf_caps *caps = sl_bpf_caps(state->bpf);
	const struct {
		const char *key;
		bool value;
	} flags[] = {
		{ "bpf.has_eevdf", caps->has_eevdf },
		{ "bpf.has_queue", caps->has_queue },
		{ "bpf.has_vprot", caps->has_vprot },
		{ "bpf.has_delayed", caps->has_delayed },
		{ "bpf.has_custom_slice", caps->has_custom_slice },
		{ "bpf.has_min_slice", caps->has_min_slice },
		{ "bpf.has_buddy", caps->has_buddy },
		{ "bpf.has_task_throttle", caps->has_task_throttle },
		{ "bpf.has_groups", caps->has_groups },
		{ "bpf.has_flat", caps->has_flat },
	};

	sl_kv_addf(&s->meta, "buffer.ring_bytes", "%" PRIu64, caps->ring_bytes);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		sl_kv_add(&s->meta, flags[i].key, flags[i].value ? "1" : "0");
	if (*caps->why_no_queue)
		sl_kv_add(&s->meta, "bpf.why_no_queue", caps->why_no_queue);
	sl_kv_add(&s->meta, "bpf.fields", caps->fields);
	add_probes(&s->meta, state->bpf);
	if (s->params->only)
		sl_kv_add(&s->meta, "only", s->params->only->text);
	if (s->params->threshold_ns) {
		/* What a reader must know of it is the same: it has windows, not the whole run. */
		sl_kv_add(&s->meta, "flight", "1");
		sl_kv_addf(&s->meta, "threshold.ns", "%" PRIu64, s->params->threshold_ns);
	}
}

static const int *backend_tids(struct sl_session *s, unsigned int *ret_nr)
{
	const struct state *state = s->state;

	*ret_nr = 1;
	return &state->tid;
}

static int backend_error_fd(struct sl_session *s)
{
	const struct state *state = s->state;

	return state->error_fd;
}

static uint64_t backend_now_ns(struct sl_session *s)
{
	struct timespec ts;

	(void)s;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int backend_start(struct sl_session *s, struct sl_err *err)
{
	struct state *state = s->state;
	int r = sl_bpf_start(state->bpf, err);

	s->start_ns = r < 0 ? backend_now_ns(s) : sl_bpf_start_ns(state->bpf);
	return r;
}

static void end_thread(struct state *state)
{
	const uint64_t one = 1;

	if (!state->started)
		return;
	while (write(state->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(state->thread, NULL);
	state->started = false;
}

/* Counters of a CPU in the words that tracefs has for them: other tools show them. */
static void take_stats(struct sl_session *s, const struct state *state)
{
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		struct sl_cpu_stats *stats = &s->stats[i];

		stats->events = sl_bpf_writer_events(state->writer, i);
		stats->lost = sl_bpf_writer_dropped(state->writer, i);
		snprintf(stats->text, sizeof(stats->text),
			 "CPU: %u\nentries: 0\noverrun: 0\ncommit overrun: 0\nbytes: %" PRIu64
			 "\ndropped events: %" PRIu64 "\nread events: %" PRIu64 "\n",
			 s->stream.cpus[i], s->bytes[i], stats->lost, stats->events);
	}
}

static void add_counters(struct sl_session *s, const struct state *state)
{
	struct sl_kv_list *list = &s->end_meta;
	struct sl_bpf_run_stat run;
	struct sl_bpf_writer_stats stats;

	sl_bpf_writer_stats(state->writer, &stats);
	sl_kv_addf(list, "bpf.records", "%" PRIu64, stats.records);
	sl_kv_addf(list, "bpf.reordered", "%" PRIu64, sl_bpf_late(state->bpf) + stats.clamped);
	sl_kv_addf(list, "bpf.damaged", "%" PRIu64, sl_bpf_damaged(state->bpf));
	sl_kv_addf(list, "bpf.truncated", "%" PRIu64, stats.truncated);
	sl_kv_addf(list, "bpf.unknown_resched", "%" PRIu64, stats.unknown_tif);
	sl_kv_addf(list, "bpf.unknown_records", "%" PRIu64, stats.unknown_kind);
	/* The kernel measures programs only where sysctl kernel.bpf_stats_enabled is set. */
	for (size_t i = 0; sl_bpf_run_stat(state->bpf, i, &run); i++) {
		char key[96];

		if (!run.runs)
			continue;
		snprintf(key, sizeof(key), "bpf.run.%s", run.name);
		sl_kv_addf(list, key, "runs=%" PRIu64 " ns=%" PRIu64 " misses=%" PRIu64, run.runs,
			   run.ns, run.misses);
	}
}

static void add_threshold(struct sl_session *s, const struct state *state)
{
	struct sl_record_result *result = s->result;
	struct sl_kv_list *list = &s->end_meta;
	const struct sl_bpf_hist *hists;
	size_t nr;

	hists = sl_bpf_hists(state->bpf, &nr);
	sl_bpf_hists_meta(list);
	for (size_t i = 0; i < nr; i++) {
		if (!hists[i].count)
			continue;
		result->waits += hists[i].count;
		sl_bpf_hist_meta(list, &hists[i]);
	}
	result->waits_above = sl_bpf_spool_waits(state->spool);
	sl_kv_addf(list, "threshold.waits", "%" PRIu64, result->waits);
	sl_kv_addf(list, "threshold.waits_above", "%" PRIu64, result->waits_above);
}

/* With a threshold the histograms tell, else the wakeups in the file. */
static void note_no_match(struct sl_session *s, const struct state *state)
{
	struct sl_bpf_writer_stats stats;

	sl_bpf_writer_stats(state->writer, &stats);
	if (s->params->only && !(state->spool ? s->result->waits : stats.wakeups))
		sl_session_note(s, "no wakeup matched --only: the recording has no waits");
}

static int backend_stop(struct sl_session *s, struct sl_err *err)
{
	struct state *state = s->state;
	unsigned int index = 0;
	int r = 0;

	sl_bpf_stop(state->bpf);
	s->stop_ns = sl_bpf_stop_ns(state->bpf) ?: backend_now_ns(s);
	/* Nothing is recorded any more: a raised reader disturbs no measurement. */
	sl_thread_raise(state->tid);
	end_thread(state);
	if (state->spool)
		r = sl_bpf_spool_replay(state->spool, state->writer);
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		const uint64_t dropped = sl_bpf_dropped(state->bpf, s->stream.cpus[i]);
		const uint64_t told = sl_bpf_writer_dropped(state->writer, i);

		if (dropped > told)
			sl_bpf_writer_lost(state->writer, i, dropped - told);
	}
	sl_bpf_writer_finish(state->writer, s->bytes);
	take_stats(s, state);
	add_counters(s, state);
	if (state->spool)
		add_threshold(s, state);
	note_no_match(s, state);
	r = sl_bpf_writer_error(state->writer, &index) ?: state->error ?: r;
	if (r >= 0)
		return 0;
	s->result->truncated = true;
	return sl_err_set(err, r, "cannot store events of CPU %u: %s; '%s' holds what was recorded until then",
			  s->stream.cpus[index], strerror(-r), s->params->path);
}

struct sl_bpf *sl_backend_bpf_programs(const struct sl_session *s)
{
	const struct state *state = s->state;

	return state->bpf;
}

static int backend_close(struct sl_session *s, struct sl_err *err)
{
	struct state *state = s->state;

	(void)err;
	end_thread(state);
	sl_bpf_close(state->bpf);
	sl_bpf_writer_free(state->writer);
	sl_bpf_spool_free(state->spool);
	for (unsigned int i = 0; i < state->nr_spool_fds; i++)
		close(state->spool_fds[i]);
	free(state->spool_fds);
	if (state->stop_fd >= 0)
		close(state->stop_fd);
	if (state->error_fd >= 0)
		close(state->error_fd);
	pthread_mutex_destroy(&state->lock);
	pthread_cond_destroy(&state->ready);
	free(state);
	s->state = NULL;
	return 0;
}

const struct sl_backend sl_backend_bpf = {
	.name = "bpf",
	.open = backend_open,
	.prepare = backend_prepare,
	.start_meta = backend_start_meta,
	.tids = backend_tids,
	.error_fd = backend_error_fd,
	.now_ns = backend_now_ns,
	.start = backend_start,
	.stop = backend_stop,
	.close = backend_close,
};
