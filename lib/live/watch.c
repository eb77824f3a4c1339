// SPDX-License-Identifier: LGPL-2.1-only
#include "live/watch_own.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "live/bpf/live.h"
#include "live/bpf/consume.h"
#include "live/bpf_hist.h"
#include "live/meta.h"
#include "live/only.h"
#include "live/slice.h"
#include "schedlat/wait.h"

/* Per CPU: room for what 100 ms of the busiest machines bring, in the kernel. */
#define BPF_BUFFER_BYTES (1u << 20)
#define TRACEFS_BUFFER_BYTES (8u << 20)
/* Tasks are looked at again when new ones came up, and now and then. */
#define SCAN_NEW_NS 1000000000ull
#define SCAN_NS 10000000000ull

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int no_memory(struct sl_err *err)
{
	return sl_err_set(err, -ENOMEM, "cannot watch: out of memory");
}

/* ---- open, close ---------------------------------------------------------------------- */

static int open_backend(struct sl_watch *w, const struct sl_backend *backend,
			const struct sl_watch_ops *ops, struct sl_err *err)
{
	struct sl_session *s = &w->session;
	struct sl_err ignored;
	int r;

	w->record.buffer_bytes = backend == &sl_backend_bpf ? BPF_BUFFER_BYTES : TRACEFS_BUFFER_BYTES;
	s->backend = backend;
	w->ops = ops;
	r = backend->open(s, err);
	if (r < 0) {
		if (s->state)
			backend->close(s, &ignored);
		sl_session_clear_stream(&s->stream);
	}
	return r;
}

static int choose_backend(struct sl_watch *w, struct sl_err *err)
{
	struct sl_err why, why_tracefs;
	int r;

	if (w->params.backend == SL_BACKEND_BPF)
		return open_backend(w, &sl_backend_bpf, &sl_watch_bpf, err);
	if (w->params.backend == SL_BACKEND_TRACEFS) {
		snprintf(w->why, sizeof(w->why), "--backend tracefs was asked for");
		return open_backend(w, &sl_backend_tracefs, &sl_watch_tracefs, err);
	}
	r = open_backend(w, &sl_backend_bpf, &sl_watch_bpf, &why);
	if (r != SL_ENOBACKEND)
		return r < 0 ? sl_err_set(err, r, "%s", why.msg) : r;
	snprintf(w->why, sizeof(w->why), "%s", why.msg);
	r = open_backend(w, &sl_backend_tracefs, &sl_watch_tracefs, &why_tracefs);
	return r < 0 ? sl_err_set(err, r, "%s; %s", why_tracefs.msg, why.msg) : r;
}

static int memory_file(const char *name, struct sl_err *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	return fd < 0 ? sl_err_set(err, -errno, "cannot watch: a file in memory: %s", strerror(errno)) : fd;
}

static int open_files(struct sl_watch *w, struct sl_err *err)
{
	struct sl_session *s = &w->session;

	s->fds = malloc(s->stream.nr_cpus * sizeof(*s->fds));
	s->bytes = calloc(s->stream.nr_cpus, sizeof(*s->bytes));
	s->stats = calloc(s->stream.nr_cpus, sizeof(*s->stats));
	if (!s->fds || !s->bytes || !s->stats)
		return no_memory(err);
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++)
		s->fds[i] = -1;
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		s->fds[i] = memory_file("schedlat-cpu", err);
		if (s->fds[i] < 0)
			return s->fds[i];
	}
	w->file_fd = memory_file("schedlat-watch", err);
	if (w->file_fd < 0)
		return w->file_fd;
	snprintf(w->path, sizeof(w->path), "/proc/self/fd/%d", w->file_fd);
	return 0;
}

static void add_meta(struct sl_watch *w)
{
	struct sl_session *s = &w->session;
	char *text = NULL;
	size_t len;
	FILE *out;

	sl_kv_add(&s->meta, "schedlat.version", w->params.version ?: "unknown");
	sl_kv_add(&s->meta, "backend", s->backend->name);
	if (w->params.command_line)
		sl_kv_add(&s->meta, "command_line", w->params.command_line);
	sl_kv_add(&s->meta, "clock", s->stream.clock);
	sl_kv_addf(&s->meta, "page_bytes", "%u", s->stream.page_bytes);
	s->backend->start_meta(s);
	out = open_memstream(&text, &len);
	for (unsigned int i = 0; out && i < sl_event_descs_nr; i++)
		if (s->stream.formats[i])
			fprintf(out, ",%s:%s", sl_event_descs[i].system, sl_event_descs[i].name);
	if (out && !fclose(out) && len)
		sl_kv_add(&s->meta, "events_enabled", text + 1);
	free(text);
	sl_kv_addf(&s->meta, "own_tids", "%d", getpid());
	sl_meta_system(&s->meta);
	sl_meta_topology(&s->meta);
}

static void know(struct sl_watch *w, const struct sl_task_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		const unsigned int bit = list->items[i].pid & 0xffff;

		w->known[bit / 8] |= 1u << bit % 8;
	}
	w->strangers = false;
	w->scanned_ns = monotonic_ns();
}

int sl_watch_open(const struct sl_watch_params *params, struct sl_watch **ret_watch, struct sl_err *err)
{
	struct sl_watch *w = calloc(1, sizeof(*w));
	struct sl_session *s;
	int r;

	if (!w)
		return no_memory(err);
	w->params = *params;
	w->file_fd = -1;
	w->record = (struct sl_record_params){
		.irq = true,
		.only = params->only && params->only->text ? params->only : NULL,
		.threshold_ns = params->threshold_ns,
		.verbose = params->verbose,
		.signal_fd = -1,
		.on_note = params->on_note,
		.arg = params->arg,
	};
	s = &w->session;
	s->params = &w->record;
	s->result = &w->result;
	s->reserve_fd = -1;
	s->live = true;
	r = choose_backend(w, err);
	if (!r)
		r = open_files(w, err);
	if (!r)
		r = w->ops->open(w, err);
	if (!r) {
		add_meta(w);
		r = sl_tasks_scan(&s->start_tasks, err);
	}
	if (!r)
		r = sl_cgroups_scan(&s->start_tasks, &s->start_cgroups, err);
	if (r < 0) {
		sl_watch_close(w);
		return r;
	}
	know(w, &s->start_tasks);
	*ret_watch = w;
	return 0;
}

int sl_watch_start(struct sl_watch *w, struct sl_err *err)
{
	return w->ops->start(w, err);
}

void sl_watch_close(struct sl_watch *w)
{
	struct sl_session *s;
	struct sl_err err;

	if (!w)
		return;
	s = &w->session;
	if (w->state)
		w->ops->close(w);
	if (s->state && s->backend->close(s, &err) < 0)
		sl_session_note(s, err.msg);
	sl_session_clear(s);
	if (w->file_fd >= 0)
		close(w->file_fd);
	free(w->counted);
	free(w);
}

const char *sl_watch_backend(const struct sl_watch *w)
{
	return w->session.backend->name;
}

const char *sl_watch_why(const struct sl_watch *w)
{
	return w->why;
}

const uint16_t *sl_watch_cpus(const struct sl_watch *w, unsigned int *ret_nr)
{
	*ret_nr = w->session.stream.nr_cpus;
	return w->session.stream.cpus;
}

const char *sl_watch_path(const struct sl_watch *w)
{
	return w->path;
}

/* ---- the file ------------------------------------------------------------------------- */

static void scan_tasks(struct sl_watch *w)
{
	struct sl_session *s = &w->session;
	const uint64_t since_ns = monotonic_ns() - w->scanned_ns;

	if (since_ns < (w->strangers ? SCAN_NEW_NS : SCAN_NS))
		return;
	sl_tasks_clear(&s->end_tasks);
	sl_cgroups_clear(&s->end_cgroups);
	if (sl_tasks_scan(&s->end_tasks, NULL) || sl_cgroups_scan(&s->end_tasks, &s->end_cgroups, NULL))
		sl_tasks_clear(&s->end_tasks);
	know(w, &s->end_tasks);
}

static int write_file(struct sl_watch *w, const char *path, bool whole, uint64_t *ret_bytes,
		      struct sl_err *err)
{
	struct sl_session *s = &w->session;
	const struct sl_bpf_hist *threads;
	unsigned int nr;
	int r;

	for (unsigned int i = 0; i < s->stream.nr_cpus; i++)
		if (ftruncate(s->fds[i], 0) || lseek(s->fds[i], 0, SEEK_SET) < 0)
			return sl_err_set(err, -errno, "cannot watch: a file in memory: %s", strerror(errno));
	sl_kv_clear(&s->end_meta);
	r = w->ops->compose(w, err);
	if (r < 0)
		return r;
	sl_kv_addf(&s->end_meta, "t_start_ns", "%" PRIu64, s->start_ns);
	sl_kv_addf(&s->end_meta, "t_stop_ns", "%" PRIu64, s->stop_ns);
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		char key[32];

		snprintf(key, sizeof(key), "lost.cpu%u", s->stream.cpus[i]);
		sl_kv_addf(&s->end_meta, key, "%" PRIu64, s->stats[i].lost);
	}
	sl_cgroups_meta(&s->start_cgroups, &s->end_cgroups, &s->end_meta);
	if (w->ops == &sl_watch_bpf) {
		threads = sl_watch_threads(w, &nr);
		sl_bpf_hists_meta(&s->end_meta);
		for (unsigned int i = 0; whole && i < nr; i++)
			if (threads[i].count)
				sl_bpf_hist_meta(&s->end_meta, &threads[i]);
	}
	w->record.path = path;
	w->result.file_bytes = 0;
	r = sl_session_assemble(s, err);
	*ret_bytes = w->result.file_bytes;
	return r;
}

int sl_watch_take(struct sl_watch *w, int *ret_ms, struct sl_err *err)
{
	return w->ops->take(w, ret_ms, err);
}

int sl_watch_look(struct sl_watch *w, struct sl_watch_counts *ret_counts, struct sl_err *err)
{
	uint64_t bytes;
	int r = w->ops->look(w, ret_counts, err);

	if (r <= 0)
		return r;
	scan_tasks(w);
	w->session.stop_ns = ret_counts->seen_ns;
	r = write_file(w, w->path, false, &bytes, err);
	return r < 0 ? r : 1;
}

int sl_watch_save(struct sl_watch *w, const char *path, uint64_t *ret_bytes, struct sl_err *err)
{
	return write_file(w, path, true, ret_bytes, err);
}

/* ---- counts --------------------------------------------------------------------------- */

static bool is_bpf(const struct sl_watch *w)
{
	return w->ops == &sl_watch_bpf;
}

void sl_watch_send(struct sl_watch *w, uint64_t threshold_ns, bool only_short)
{
	struct sl_kv_list *meta = &w->session.meta;
	char text[24];

	w->params.threshold_ns = w->record.threshold_ns = threshold_ns;
	if (!is_bpf(w))
		return;
	sl_bpf_live_send(sl_backend_bpf_programs(&w->session), threshold_ns, only_short);
	snprintf(text, sizeof(text), "%" PRIu64, threshold_ns);
	for (size_t i = 0; i < meta->nr; i++) {
		char *value = strcmp(meta->items[i].key, "threshold.ns") ? NULL : strdup(text);

		if (!value)
			continue;
		free(meta->items[i].value);
		meta->items[i].value = value;
	}
}

const struct sl_bpf_hist *sl_watch_threads(const struct sl_watch *w, unsigned int *ret_nr)
{
	const struct sl_bpf_hist *threads = w->counted;
	size_t nr = w->nr_counted;

	if (is_bpf(w))
		threads = sl_bpf_hists(sl_backend_bpf_programs(&w->session), &nr);
	*ret_nr = nr;
	return threads;
}

void sl_watch_forget(struct sl_watch *w, unsigned int entry)
{
	if (is_bpf(w))
		sl_bpf_live_recycle(sl_backend_bpf_programs(&w->session), entry);
}

void sl_watch_reset(struct sl_watch *w)
{
	if (is_bpf(w))
		sl_bpf_live_reset(sl_backend_bpf_programs(&w->session));
	else
		w->nr_counted = 0;
}

static struct sl_bpf_hist *counted(struct sl_watch *w, int tid)
{
	struct sl_bpf_hist *grown;

	for (unsigned int i = 1; i < w->nr_counted; i++)
		if (w->counted[i].tid == tid)
			return &w->counted[i];
	if (w->nr_counted + 2 > w->room_counted) {
		const unsigned int room = w->room_counted ? w->room_counted * 2 : 64;

		grown = aligned_alloc(64, room * sizeof(*grown));
		if (!grown)
			return NULL;
		if (w->nr_counted)
			memcpy(grown, w->counted, w->nr_counted * sizeof(*grown));
		free(w->counted);
		w->counted = grown;
		w->room_counted = room;
	}
	if (!w->nr_counted)
		memset(&w->counted[w->nr_counted++], 0, sizeof(*w->counted));
	grown = &w->counted[w->nr_counted++];
	memset(grown, 0, sizeof(*grown));
	grown->tid = tid;
	return grown;
}

/* The bucket that holds ns; the kernel's own bucket_of() finds the same. */
static unsigned int bucket_of(uint64_t ns)
{
	unsigned int low = 0, high = SL_BPF_HIST_BUCKETS - 1;

	while (low < high) {
		const unsigned int middle = (low + high + 1) / 2;
		uint64_t from_ns, to_ns;

		sl_bpf_hist_range(middle, &from_ns, &to_ns);
		if (from_ns <= ns)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

int sl_watch_count(struct sl_watch *w, const struct sl_wait *wait)
{
	struct sl_bpf_hist *hist = counted(w, wait->tid);

	if (!hist)
		return -ENOMEM;
	memcpy(hist->comm, wait->comm, sizeof(hist->comm));
	if (!hist->count) {
		struct sl_slice_attr attr;

		hist->tgid = wait->tgid;
		if (!sl_slice_get(wait->tid, &attr)) {
			hist->policy = attr.policy;
			hist->slice_ns = sl_slice_is_fair(attr.policy) ? attr.slice_ns : 0;
			hist->custom_slice = hist->slice_ns && sl_watch_base_slice(w) &&
					     hist->slice_ns != sl_watch_base_slice(w);
		}
	}
	hist->prio = wait->sched_class == SL_CLASS_DL ? -1 : wait->sched_class == SL_CLASS_RT ? 1 : 120;
	hist->count++;
	hist->sum_ns += wait->delay_ns;
	hist->max_ns = wait->delay_ns > hist->max_ns ? wait->delay_ns : hist->max_ns;
	hist->buckets[bucket_of(wait->delay_ns)]++;
	return 0;
}

bool sl_watch_cpu(const struct sl_watch *w, unsigned int cpu, uint64_t *ret_waits, uint64_t *ret_ns)
{
	return is_bpf(w) && sl_bpf_live_waits(sl_backend_bpf_programs(&w->session), cpu, ret_waits, ret_ns);
}

bool sl_watch_now(const struct sl_watch *w, unsigned int cpu, struct sl_bpf_now *ret_now)
{
	return is_bpf(w) && sl_bpf_live_now(sl_backend_bpf_programs(&w->session), cpu, ret_now);
}

uint64_t sl_watch_base_slice(const struct sl_watch *w)
{
	struct sl_slice_base base;
	uint64_t ns = is_bpf(w) ? sl_bpf_live_base_slice(sl_backend_bpf_programs(&w->session)) : 0;

	if (ns)
		return ns;
	sl_slice_base(&base);
	return base.ns;
}
