// SPDX-License-Identifier: LGPL-2.1-only
/*
 * From per-CPU temporary files to one trace.dat, with the metadata.
 *
 * The temporary files and the output share a file system that may be nearly
 * full. So what has been copied is given back at once (hole punching), and a
 * reserve that is held while recording pays for the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/session.h"
#include "trace/dat_write.h"

#define STEP_BYTES (512u << 10)
#define RESERVE_BYTES (2u << 20)

static int temp_file(const char *path)
{
	char *copy = strdup(path), *name = NULL;
	const char *dir = copy ? dirname(copy) : NULL;
	int fd = -1, saved;

	if (!dir)
		return -1;
	fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL) &&
	    asprintf(&name, "%s/.schedlat-XXXXXX", dir) >= 0) {
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
		free(name);
	}
	saved = errno;
	free(copy);
	errno = saved;
	return fd;
}

int sl_session_temp_file(const struct sl_session *s)
{
	int fd = temp_file(s->params->path);

	return fd < 0 ? -errno : fd;
}

int sl_session_open_files(struct sl_session *s, struct sl_err *err)
{
	const char *path = s->params->path;
	struct stat st;
	int r;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return sl_err_set(err, -EISDIR, "cannot write '%s': it is a directory", path);
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return sl_err_set(err, -EINVAL, "cannot write '%s': it is no regular file: name one with -o",
				  path);
	if (!access(path, F_OK) && access(path, W_OK))
		return sl_err_set(err, -errno, "cannot write '%s': %s", path, strerror(errno));
	s->fds = malloc(s->stream.nr_cpus * sizeof(*s->fds));
	s->bytes = calloc(s->stream.nr_cpus, sizeof(*s->bytes));
	s->stats = calloc(s->stream.nr_cpus, sizeof(*s->stats));
	if (!s->fds || !s->bytes || !s->stats)
		return sl_err_set(err, -ENOMEM, "cannot record: out of memory");
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++)
		s->fds[i] = -1;
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		s->fds[i] = temp_file(path);
		if (s->fds[i] < 0)
			return sl_err_set(err, -errno, "cannot create a temporary file next to '%s': %s; choose another place with -o",
					  path, strerror(errno));
	}
	s->reserve_fd = temp_file(path);
	r = s->reserve_fd < 0 ? errno : posix_fallocate(s->reserve_fd, 0, RESERVE_BYTES);
	if (r)
		return sl_err_set(err, -r, "cannot reserve %u MiB next to '%s': %s; choose another place with -o",
				  RESERVE_BYTES >> 20, path, strerror(r));
	return 0;
}

void sl_session_close_files(struct sl_session *s)
{
	for (unsigned int i = 0; s->fds && i < s->stream.nr_cpus; i++)
		if (s->fds[i] >= 0)
			close(s->fds[i]);
	if (s->reserve_fd >= 0)
		close(s->reserve_fd);
	s->reserve_fd = -1;
	free(s->fds);
	free(s->bytes);
	free(s->stats);
	s->fds = NULL;
	s->bytes = NULL;
	s->stats = NULL;
}

static int put_metas(struct sl_dat_writer *w, uint64_t ts_ns, const struct sl_kv_list *list,
		     struct sl_err *err)
{
	int r = 0;

	if (list->failed)
		return sl_err_set(err, -ENOMEM, "cannot collect the metadata: out of memory");
	for (size_t i = 0; i < list->nr && !r; i++)
		r = sl_dat_writer_meta(w, ts_ns, list->items[i].key, list->items[i].value, err);
	return r;
}

static int put_tasks(struct sl_dat_writer *w, uint64_t ts_ns, const struct sl_task_list *list,
		     int phase, struct sl_err *err)
{
	int r = 0;

	for (size_t i = 0; i < list->nr && !r; i++) {
		const struct sl_task_info *info = &list->items[i];
		const struct sl_dat_task task = {
			.pid = info->pid,
			.tgid = info->tgid,
			.policy = info->policy,
			.nice = info->nice,
			.phase = phase,
			.comm = info->comm,
			.detail = info->detail,
		};

		r = sl_dat_writer_task(w, ts_ns, &task, err);
	}
	return r;
}

static int put_front(struct sl_session *s, struct sl_dat_writer *w, struct sl_err *err)
{
	const struct sl_stream *stream = &s->stream;
	int r = sl_dat_writer_add_headers(w, stream->header_page, stream->header_event, err);

	for (unsigned int i = 0; i < sl_event_descs_nr && !r; i++)
		if (stream->formats[i])
			r = sl_dat_writer_add_format(w, sl_event_descs[i].system, stream->formats[i], err);
	if (!r && stream->own_format)
		r = sl_dat_writer_add_format(w, "schedlat", stream->own_format, err);
	for (unsigned int i = 0; i < stream->nr_cpus && !r; i++)
		if (*s->stats[i].text)
			r = sl_dat_writer_add_cpustat(w, s->stats[i].text, err);
	if (!r)
		r = put_metas(w, s->start_ns, &s->meta, err);
	if (!r)
		r = put_tasks(w, s->start_ns, &s->start_tasks, 0, err);
	/*
	 * What was learned at the end stands at the head, too: a reader that goes through
	 * the file once then knows the tasks that were born while recording.
	 */
	if (!r)
		r = put_metas(w, s->start_ns, &s->end_meta, err);
	if (!r)
		r = put_tasks(w, s->start_ns, &s->end_tasks, 1, err);
	if (!r)
		r = sl_dat_writer_begin_buffer(w, stream->cpus, stream->nr_cpus, err);
	return r;
}

static int put_cpu(struct sl_session *s, struct sl_dat_writer *w, unsigned int index,
		   struct sl_err *err)
{
	const unsigned int page_bytes = s->stream.page_bytes;
	const uint64_t step = STEP_BYTES - STEP_BYTES % page_bytes ?: page_bytes;
	uint64_t done = 0;

	if (lseek(s->fds[index], 0, SEEK_SET) < 0)
		return sl_err_set(err, -errno, "cannot read back the data of CPU %u: %s",
				  s->stream.cpus[index], strerror(errno));
	while (done < s->bytes[index]) {
		uint64_t n = s->bytes[index] - done < step ? s->bytes[index] - done : step;
		int r = sl_dat_writer_cpu_from_fd(w, s->stream.cpus[index], s->fds[index], n, err);

		if (r < 0)
			return r;
		/* Where the file system cannot punch, the space comes back at the end. */
		fallocate(s->fds[index], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, done, n);
		done += n;
	}
	return 0;
}

/* PATH -> PATH.old, as perf record does it. */
static int keep_old(struct sl_session *s, char **ret_old, struct sl_err *err)
{
	const char *path = s->params->path;
	struct stat st;
	char *old;
	int r = 0;

	if (lstat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	if (asprintf(&old, "%s.old", path) < 0)
		return sl_err_set(err, -ENOMEM, "cannot keep '%s': out of memory", path);
	if (rename(path, old) < 0) {
		r = sl_err_set(err, -errno, "cannot keep '%s' as '%s': %s", path, old, strerror(errno));
		free(old);
		return r;
	}
	*ret_old = old;
	return 0;
}

int sl_session_assemble(struct sl_session *s, struct sl_err *err)
{
	const struct sl_dat_writer_opts opts = {
		.page_bytes = s->stream.page_bytes,
		.clock = s->stream.clock,
		.compress = s->params->compress ? SL_DAT_ZSTD : SL_DAT_PLAIN,
	};
	struct sl_dat_writer *w;
	struct sl_err ignored;
	char *old = NULL;
	int r, r2;

	r = keep_old(s, &old, err);
	if (r < 0)
		return r;
	if (s->reserve_fd >= 0)
		close(s->reserve_fd);
	s->reserve_fd = -1;
	r = sl_dat_writer_create(s->params->path, &opts, &w, err);
	if (r < 0)
		goto out_old;
	r = put_front(s, w, err);
	if (r < 0) {
		sl_dat_writer_abort(w);
		goto out_old;
	}
	for (unsigned int i = 0; i < s->stream.nr_cpus && !r; i++)
		r = put_cpu(s, w, i, err);
	r2 = sl_dat_writer_finish(w, &s->result->file_bytes, r < 0 ? &ignored : err);
	s->result->file_written = true;
	s->result->kept_old = old;
	free(old);
	return r < 0 ? r : r2;

out_old:
	if (old)
		rename(old, s->params->path);
	free(old);
	return r;
}
