// SPDX-License-Identifier: LGPL-2.1-only
/*
 * File layout, in the order it is written:
 *
 *	initial format, with the offset of the options section
 *	sections HEADER INFO, FTRACE EVENTS (none), EVENT FORMATS, KALLSYMS and
 *	PRINTK (empty), CMDLINES
 *	section OPTIONS, which ends with the BUFFER option: the table of CPUs
 *	section BUFFER: the data, CPU after CPU
 *
 * The table lies in front of the data and is filled in behind it, by writing
 * over bytes that exist: a disk that fills up while the data is written still
 * leaves a file that readers accept.
 */
#include "trace/dat_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/dat_write_own.h"

/* Options and sections share numbers (trace-cmd.dat.v7(5)). */
enum {
	ID_DONE = 0,
	ID_CPUSTAT = 2,
	ID_BUFFER = 3,
	ID_CLOCK = 4,
	ID_UNAME = 5,
	ID_CPUCOUNT = 8,
	ID_VERSION = 9,
	ID_HEADER_INFO = 16,
	ID_FTRACE_EVENTS = 17,
	ID_EVENT_FORMATS = 18,
	ID_KALLSYMS = 19,
	ID_PRINTK = 20,
	ID_CMDLINES = 21,
};
#define SECTION_COMPRESSED 1
#define SECTION_HEAD_BYTES 16

/*
 * Sub-buffers per compressed chunk: what trace-cmd itself uses, and so what its
 * readers are tested with. Larger chunks compress little better and cost every
 * reader memory per CPU.
 */
#define CHUNK_PAGES 10
#define COPY_BYTES (1u << 20)
/*
 * Level 1 is the fastest that compresses scheduler events to a seventh; level 3
 * takes twice the time for a few percent.
 */
#define ZSTD_LEVEL 1

struct format {
	char *system, *text;
};

struct comm {
	int32_t pid;
	uint32_t seq;
	char comm[16];
};

struct cpu_table {
	uint16_t cpu;
	uint64_t offset, bytes;
};

struct sl_dat_writer {
	char *path, *clock, *uname;
	int fd;
	unsigned int page_bytes;
	enum sl_dat_compress compress;

	char *header_page, *header_event;
	struct format *formats;
	size_t nr_formats;
	char **cpustats;
	size_t nr_cpustats;
	struct comm *comms;
	size_t nr_comms, room_comms;
	struct sl_dat_own own;

	bool begun, leading_done;
	int failed;			/* the first write error; nothing is appended after it */
	uint64_t pos;			/* append here */
	uint64_t section_pos, table_pos;
	struct cpu_table *cpus;
	unsigned int nr_cpus, cur;	/* cur: index of the CPU being written */

	ZSTD_CCtx *zstd;
	unsigned char *chunk, *packed;	/* chunk: uncompressed, packed: compressed */
	size_t chunk_bytes, chunk_len, packed_bytes;
	uint32_t nr_chunks;
	unsigned char *copy;
};

static int no_memory(const struct sl_dat_writer *w, struct sl_err *err)
{
	return sl_err_set(err, -ENOMEM, "cannot write '%s': out of memory", w->path);
}

static int write_at(struct sl_dat_writer *w, const void *data, size_t len, uint64_t pos,
		    struct sl_err *err)
{
	const unsigned char *from = data;

	while (len) {
		ssize_t n = pwrite(w->fd, from, len, pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int code = n < 0 ? -errno : -EIO;

			return sl_err_set(err, code, "cannot write '%s': %s%s", w->path, strerror(-code),
					  code == -ENOSPC || code == -EDQUOT ?
					  "; free some space or choose another place with -o" : "");
		}
		from += n;
		len -= n;
		pos += n;
	}
	return 0;
}

static int append(struct sl_dat_writer *w, const void *data, size_t len, struct sl_err *err)
{
	int r = write_at(w, data, len, w->pos, err);

	if (r < 0)
		w->failed = r;
	else
		w->pos += len;
	return r;
}

int sl_dat_writer_create(const char *path, const struct sl_dat_writer_opts *opts,
			 struct sl_dat_writer **ret_writer, struct sl_err *err)
{
	struct sl_dat_writer *w;

	if (opts->page_bytes < 1024 || opts->page_bytes > (1u << 26) || opts->page_bytes % 8)
		return sl_err_set(err, SL_EUSAGE, "cannot write '%s': sub-buffers of %u bytes are not supported",
				  path, opts->page_bytes);
	w = calloc(1, sizeof(*w));
	if (!w)
		return sl_err_set(err, -ENOMEM, "cannot write '%s': out of memory", path);
	w->fd = -1;
	w->page_bytes = opts->page_bytes;
	w->compress = opts->compress;
	w->chunk_bytes = (size_t)CHUNK_PAGES * opts->page_bytes;
	w->path = strdup(path);
	w->clock = strdup(opts->clock);
	w->uname = opts->uname ? strdup(opts->uname) : NULL;
	if (!w->path || !w->clock || (opts->uname && !w->uname))
		goto out_memory;
	if (w->compress == SL_DAT_ZSTD) {
		w->packed_bytes = ZSTD_compressBound(w->chunk_bytes);
		w->chunk = malloc(w->chunk_bytes);
		w->packed = malloc(w->packed_bytes + 8);
		w->zstd = ZSTD_createCCtx();
		if (!w->chunk || !w->packed || !w->zstd)
			goto out_memory;
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	}
	w->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (w->fd < 0) {
		int code = -errno;

		sl_err_set(err, code, "cannot create '%s': %s", path, strerror(-code));
		sl_dat_writer_abort(w);
		return code;
	}
	*ret_writer = w;
	return 0;

out_memory:
	sl_dat_writer_abort(w);
	return sl_err_set(err, -ENOMEM, "cannot write '%s': out of memory", path);
}

int sl_dat_writer_add_headers(struct sl_dat_writer *w, const char *header_page,
			      const char *header_event, struct sl_err *err)
{
	char *page = strdup(header_page), *event = strdup(header_event);

	if (!page || !event) {
		free(page);
		free(event);
		return no_memory(w, err);
	}
	free(w->header_page);
	free(w->header_event);
	w->header_page = page;
	w->header_event = event;
	return 0;
}

/* Append a format, kept together with the others of its system. */
static int keep_format(struct sl_dat_writer *w, const char *system, const char *text,
		       struct sl_err *err)
{
	struct format *grown = realloc(w->formats, (w->nr_formats + 1) * sizeof(*grown));
	struct format format;
	size_t at;

	if (!grown)
		return no_memory(w, err);
	w->formats = grown;
	format.system = strdup(system);
	format.text = strdup(text);
	if (!format.system || !format.text) {
		free(format.system);
		free(format.text);
		return no_memory(w, err);
	}
	for (at = w->nr_formats; at; at--)
		if (!strcmp(w->formats[at - 1].system, system))
			break;
	if (!at)
		at = w->nr_formats;
	memmove(&w->formats[at + 1], &w->formats[at], (w->nr_formats - at) * sizeof(*w->formats));
	w->formats[at] = format;
	w->nr_formats++;
	return 0;
}

int sl_dat_writer_add_format(struct sl_dat_writer *w, const char *system, const char *format,
			     struct sl_err *err)
{
	int r;

	if (w->begun)
		return sl_err_set(err, SL_EUSAGE, "cannot add a format to '%s': the buffer has begun", w->path);
	r = sl_dat_own_learn(&w->own, format, err);
	return r < 0 ? r : keep_format(w, system, format, err);
}

int sl_dat_writer_add_cpustat(struct sl_dat_writer *w, const char *text, struct sl_err *err)
{
	char **grown = realloc(w->cpustats, (w->nr_cpustats + 1) * sizeof(*grown));
	char *copy = strdup(text);

	if (grown)
		w->cpustats = grown;
	if (!grown || !copy) {
		free(copy);
		return no_memory(w, err);
	}
	w->cpustats[w->nr_cpustats++] = copy;
	return 0;
}

static int own_allowed(const struct sl_dat_writer *w, struct sl_err *err)
{
	if (!w->begun || !w->cur)
		return 0;
	return sl_err_set(err, SL_EUSAGE, "cannot add metadata to '%s': the first CPU is complete", w->path);
}

int sl_dat_writer_meta(struct sl_dat_writer *w, uint64_t ts_ns, const char *key, const char *value,
		       struct sl_err *err)
{
	int r = own_allowed(w, err);

	return r < 0 ? r : sl_dat_own_meta(&w->own, ts_ns, key, value, w->page_bytes, err);
}

int sl_dat_writer_task(struct sl_dat_writer *w, uint64_t ts_ns, const struct sl_dat_task *task,
		       struct sl_err *err)
{
	int r = own_allowed(w, err);

	if (r < 0)
		return r;
	if (!w->begun && task->comm && *task->comm) {
		if (w->nr_comms == w->room_comms) {
			size_t room = w->room_comms ? w->room_comms * 2 : 256;
			struct comm *grown = realloc(w->comms, room * sizeof(*grown));

			if (!grown)
				return no_memory(w, err);
			w->comms = grown;
			w->room_comms = room;
		}
		w->comms[w->nr_comms] = (struct comm){ .pid = task->pid, .seq = w->nr_comms };
		memcpy(w->comms[w->nr_comms].comm, task->comm, strnlen(task->comm, 15));
		w->nr_comms++;
	}
	return sl_dat_own_task(&w->own, ts_ns, task, w->page_bytes, err);
}

static int by_pid(const void *a, const void *b)
{
	const struct comm *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static size_t section_begin(struct sl_dat_buf *buf, uint16_t id)
{
	sl_dat_buf_u16(buf, id);
	sl_dat_buf_u16(buf, 0);
	sl_dat_buf_u32(buf, 0);		/* no description */
	sl_dat_buf_u64(buf, 0);		/* size, filled in by section_end() */
	return buf->len - SECTION_HEAD_BYTES;
}

static void section_end(struct sl_dat_buf *buf, size_t start)
{
	const uint64_t bytes = buf->len - start - SECTION_HEAD_BYTES;

	if (!buf->failed)
		memcpy(buf->data + start + 8, &bytes, sizeof(bytes));
}

static void put_text(struct sl_dat_buf *buf, const char *text)
{
	sl_dat_buf_u64(buf, strlen(text));
	sl_dat_buf_add(buf, text, strlen(text));
}

static void put_formats(const struct sl_dat_writer *w, struct sl_dat_buf *buf)
{
	uint32_t systems = 0;

	for (size_t i = 0; i < w->nr_formats; i++)
		systems += !i || strcmp(w->formats[i].system, w->formats[i - 1].system);
	sl_dat_buf_u32(buf, systems);
	for (size_t i = 0, end; i < w->nr_formats; i = end) {
		for (end = i; end < w->nr_formats; end++)
			if (strcmp(w->formats[i].system, w->formats[end].system))
				break;
		sl_dat_buf_str(buf, w->formats[i].system);
		sl_dat_buf_u32(buf, end - i);
		for (size_t j = i; j < end; j++)
			put_text(buf, w->formats[j].text);
	}
}

/* Names of tasks for tools that print common_pid: the last name that we saw of each. */
static void put_cmdlines(struct sl_dat_writer *w, struct sl_dat_buf *buf)
{
	const size_t start = buf->len;
	uint64_t bytes;

	sl_dat_buf_u64(buf, 0);
	if (w->nr_comms)
		qsort(w->comms, w->nr_comms, sizeof(*w->comms), by_pid);
	for (size_t i = 0; i < w->nr_comms; i++) {
		char line[64];

		if (i + 1 < w->nr_comms && w->comms[i].pid == w->comms[i + 1].pid)
			continue;
		snprintf(line, sizeof(line), "%d %s\n", w->comms[i].pid, w->comms[i].comm);
		/* a newline inside of a name would begin another entry */
		for (char *c = line; c[0] && c[1]; c++)
			if (*c == '\n')
				*c = ' ';
		sl_dat_buf_add(buf, line, strlen(line));
	}
	bytes = buf->len - start - 8;
	if (!buf->failed)
		memcpy(buf->data + start, &bytes, sizeof(bytes));
}

static void put_option(struct sl_dat_buf *buf, uint16_t id, const void *data, uint32_t bytes)
{
	sl_dat_buf_u16(buf, id);
	sl_dat_buf_u32(buf, bytes);
	sl_dat_buf_add(buf, data, bytes);
}

static void put_options(struct sl_dat_writer *w, struct sl_dat_buf *buf, const uint64_t *sections)
{
	const uint32_t nr_cpus = w->nr_cpus;
	struct utsname names;
	char text[sizeof(names) + 8];
	const uint64_t none = 0;

	for (uint16_t id = ID_HEADER_INFO; id <= ID_CMDLINES; id++)
		put_option(buf, id, &sections[id - ID_HEADER_INFO], sizeof(*sections));
	put_option(buf, ID_CPUCOUNT, &nr_cpus, sizeof(nr_cpus));
	put_option(buf, ID_CLOCK, w->clock, strlen(w->clock) + 1);
	put_option(buf, ID_VERSION, "schedlat", sizeof("schedlat"));
	if (w->uname) {
		put_option(buf, ID_UNAME, w->uname, strlen(w->uname) + 1);
	} else if (!uname(&names)) {
		snprintf(text, sizeof(text), "%s %s %s %s", names.sysname, names.nodename,
			 names.release, names.machine);
		put_option(buf, ID_UNAME, text, strlen(text) + 1);
	}
	for (size_t i = 0; i < w->nr_cpustats; i++)
		put_option(buf, ID_CPUSTAT, w->cpustats[i], strlen(w->cpustats[i]) + 1);

	/* "" names the top buffer, whose events are printed without a prefix. */
	sl_dat_buf_u16(buf, ID_BUFFER);
	sl_dat_buf_u32(buf, 8 + 1 + strlen(w->clock) + 1 + 4 + 4 + nr_cpus * 20);
	sl_dat_buf_u64(buf, 0);		/* offset of the BUFFER section: begin_buffer() */
	sl_dat_buf_str(buf, "");
	sl_dat_buf_str(buf, w->clock);
	sl_dat_buf_u32(buf, w->page_bytes);
	sl_dat_buf_u32(buf, nr_cpus);
	w->table_pos = buf->len;
	for (unsigned int i = 0; i < nr_cpus; i++) {
		sl_dat_buf_u32(buf, w->cpus[i].cpu);
		sl_dat_buf_u64(buf, 0);
		sl_dat_buf_u64(buf, 0);
	}
	put_option(buf, ID_DONE, &none, sizeof(none));
}

static void put_initial(const struct sl_dat_writer *w, struct sl_dat_buf *buf)
{
	const uint16_t one = 1;
	const unsigned char big_endian = *(const unsigned char *)&one == 0;
	const unsigned char long_bytes = sizeof(long);

	sl_dat_buf_add(buf, "\x17\x08\x44tracing", 10);
	sl_dat_buf_str(buf, "7");
	sl_dat_buf_add(buf, &big_endian, 1);
	sl_dat_buf_add(buf, &long_bytes, 1);
	sl_dat_buf_u32(buf, w->page_bytes);
	sl_dat_buf_str(buf, w->compress == SL_DAT_ZSTD ? "zstd" : "none");
	sl_dat_buf_str(buf, w->compress == SL_DAT_ZSTD ? ZSTD_versionString() : "");
}

/* Everything in front of the BUFFER section, and the head of that. */
static void put_front(struct sl_dat_writer *w, struct sl_dat_buf *buf)
{
	uint64_t sections[ID_CMDLINES - ID_HEADER_INFO + 1], options_pos;
	size_t offset_pos, start, buffer_pos;

	put_initial(w, buf);
	offset_pos = buf->len;
	sl_dat_buf_u64(buf, 0);
	for (uint16_t id = ID_HEADER_INFO; id <= ID_CMDLINES; id++) {
		start = section_begin(buf, id);
		sections[id - ID_HEADER_INFO] = start;
		switch (id) {
		case ID_HEADER_INFO:
			sl_dat_buf_str(buf, "header_page");
			put_text(buf, w->header_page);
			sl_dat_buf_str(buf, "header_event");
			put_text(buf, w->header_event);
			break;
		case ID_EVENT_FORMATS:
			put_formats(w, buf);
			break;
		case ID_CMDLINES:
			put_cmdlines(w, buf);
			break;
		default:	/* an empty one: a count or a size of 0 */
			sl_dat_buf_u32(buf, 0);
		}
		section_end(buf, start);
	}
	options_pos = start = section_begin(buf, ID_DONE);
	put_options(w, buf, sections);
	section_end(buf, start);
	buffer_pos = section_begin(buf, ID_BUFFER);
	/* The data lies on a sub-buffer boundary, so that readers can map it. */
	if (buf->len % w->page_bytes)
		sl_dat_buf_zero(buf, w->page_bytes - buf->len % w->page_bytes);
	if (buf->failed)
		return;
	if (w->compress == SL_DAT_ZSTD)
		buf->data[buffer_pos + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 3 : 2)] =
			SECTION_COMPRESSED;
	w->section_pos = buffer_pos;
	memcpy(buf->data + offset_pos, &options_pos, sizeof(options_pos));
	memcpy(buf->data + w->table_pos - 4 - 4 - (strlen(w->clock) + 1) - 1 - 8,
	       &w->section_pos, sizeof(w->section_pos));
}

int sl_dat_writer_begin_buffer(struct sl_dat_writer *w, const uint16_t *cpus, unsigned int nr_cpus,
			       struct sl_err *err)
{
	struct sl_dat_buf front = { 0 };
	char *meta = NULL, *task = NULL;
	int r;

	if (w->begun || !w->header_page || !w->header_event || !nr_cpus)
		return sl_err_set(err, SL_EUSAGE, "cannot begin the data of '%s': no headers, no CPUs, or begun before",
				  w->path);
	for (unsigned int i = 1; i < nr_cpus; i++)
		if (cpus[i] <= cpus[i - 1])
			return sl_err_set(err, SL_EUSAGE, "cannot begin the data of '%s': CPUs are not ascending",
					  w->path);
	r = sl_dat_own_formats(&w->own, &meta, &task, err);
	if (!r)
		r = keep_format(w, "schedlat", meta, err);
	if (!r)
		r = keep_format(w, "schedlat", task, err);
	free(meta);
	free(task);
	if (r < 0)
		return r;
	w->cpus = calloc(nr_cpus, sizeof(*w->cpus));
	if (!w->cpus)
		return no_memory(w, err);
	w->nr_cpus = nr_cpus;
	for (unsigned int i = 0; i < nr_cpus; i++)
		w->cpus[i].cpu = cpus[i];

	put_front(w, &front);
	if (front.failed) {
		sl_dat_buf_free(&front);
		return no_memory(w, err);
	}
	w->begun = true;
	r = append(w, front.data, front.len, err);
	sl_dat_buf_free(&front);
	if (r < 0)
		return r;
	for (unsigned int i = 0; i < nr_cpus; i++)
		w->cpus[i].offset = w->pos;
	return 0;
}

static int flush_chunk(struct sl_dat_writer *w, struct sl_err *err)
{
	struct cpu_table *cpu = &w->cpus[w->cur];
	uint32_t sizes[2];
	size_t n;
	int r;

	if (!w->chunk_len || w->failed)
		return w->failed;
	n = ZSTD_compress2(w->zstd, w->packed + 8, w->packed_bytes, w->chunk, w->chunk_len);
	if (ZSTD_isError(n)) {
		w->failed = -EIO;
		return sl_err_set(err, -EIO, "cannot compress data for '%s': %s", w->path,
				  ZSTD_getErrorName(n));
	}
	sizes[0] = n;
	sizes[1] = w->chunk_len;
	memcpy(w->packed, sizes, sizeof(sizes));
	if (!w->nr_chunks) {	/* the number of chunks, counted in end_cpu() */
		const uint32_t none = 0;

		r = append(w, &none, sizeof(none), err);
		if (r < 0)
			return r;
	}
	r = append(w, w->packed, n + 8, err);
	if (r < 0)
		return r;
	w->nr_chunks++;
	w->chunk_len = 0;
	cpu->bytes = w->pos - cpu->offset;
	return 0;
}

static int put_pages(struct sl_dat_writer *w, const unsigned char *data, uint64_t bytes,
		     struct sl_err *err)
{
	if (w->compress == SL_DAT_PLAIN) {
		const uint64_t before = w->pos;
		int r = append(w, data, bytes, err);
		struct stat st;

		/* A full disk takes part of the data: keep the whole sub-buffers of it. */
		if (r < 0 && !fstat(w->fd, &st) && (uint64_t)st.st_size > before) {
			uint64_t kept = (uint64_t)st.st_size - before;

			w->pos = before + kept - kept % w->page_bytes;
		}
		w->cpus[w->cur].bytes = w->pos - w->cpus[w->cur].offset;
		return r;
	}
	while (bytes) {
		size_t n = w->chunk_bytes - w->chunk_len;
		int r;

		if (n > bytes)
			n = bytes;
		memcpy(w->chunk + w->chunk_len, data, n);
		w->chunk_len += n;
		data += n;
		bytes -= n;
		if (w->chunk_len < w->chunk_bytes)
			continue;
		r = flush_chunk(w, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Our own events up to until_ns, on the first CPU. */
static int put_own(struct sl_dat_writer *w, uint64_t until_ns, struct sl_err *err)
{
	struct sl_dat_buf pages = { 0 };
	int r = sl_dat_own_compose(&w->own, until_ns, w->page_bytes, &pages, err);

	if (!r)
		r = put_pages(w, pages.data, pages.len, err);
	sl_dat_buf_free(&pages);
	return r;
}

/* The table entry of w->cur is complete; go to the next CPU. */
static int end_cpu(struct sl_dat_writer *w, struct sl_err *err)
{
	int r = 0;

	if (!w->cur && !w->failed)
		r = put_own(w, UINT64_MAX, err);
	if (w->compress == SL_DAT_ZSTD) {
		int r2 = flush_chunk(w, err);

		r = r < 0 ? r : r2;
		if (w->nr_chunks) {
			r2 = write_at(w, &w->nr_chunks, sizeof(w->nr_chunks),
				      w->cpus[w->cur].offset, err);
			r = r < 0 ? r : r2;
		}
		w->nr_chunks = 0;
		w->chunk_len = 0;
	}
	if (++w->cur < w->nr_cpus)
		w->cpus[w->cur].offset = w->pos;
	return r;
}

/* Make `cpu` the current one; first_ns is the timestamp of the data that follows. */
static int goto_cpu(struct sl_dat_writer *w, uint16_t cpu, uint64_t first_ns, struct sl_err *err)
{
	int r;

	if (!w->begun)
		return sl_err_set(err, SL_EUSAGE, "cannot add data to '%s': the buffer has not begun", w->path);
	if (w->failed)
		return sl_err_set(err, w->failed, "cannot write '%s': %s (an earlier write failed)", w->path,
				  strerror(-w->failed));
	while (w->cur < w->nr_cpus && w->cpus[w->cur].cpu < cpu) {
		r = end_cpu(w, err);
		if (r < 0)
			return r;
	}
	if (w->cur == w->nr_cpus || w->cpus[w->cur].cpu != cpu)
		return sl_err_set(err, SL_EUSAGE, "cannot add data of CPU %u to '%s': not announced, or not in ascending order",
				  cpu, w->path);
	if (!w->cur && !w->leading_done) {
		w->leading_done = true;
		return put_own(w, first_ns, err);
	}
	return 0;
}

static int check_bytes(const struct sl_dat_writer *w, uint64_t bytes, struct sl_err *err)
{
	if (bytes % w->page_bytes == 0)
		return 0;
	return sl_err_set(err, SL_EUSAGE, "cannot add %llu bytes to '%s': not a multiple of %u",
			  (unsigned long long)bytes, w->path, w->page_bytes);
}

int sl_dat_writer_cpu_data(struct sl_dat_writer *w, uint16_t cpu, const void *data, uint64_t bytes,
			   struct sl_err *err)
{
	uint64_t first_ns;
	int r = check_bytes(w, bytes, err);

	if (r < 0 || !bytes)
		return r;
	memcpy(&first_ns, data, sizeof(first_ns));
	r = goto_cpu(w, cpu, first_ns, err);
	return r < 0 ? r : put_pages(w, data, bytes, err);
}

int sl_dat_writer_cpu_from_fd(struct sl_dat_writer *w, uint16_t cpu, int fd, uint64_t bytes,
			      struct sl_err *err)
{
	const size_t copy_bytes = COPY_BYTES - COPY_BYTES % w->page_bytes ?: w->page_bytes;
	int r = check_bytes(w, bytes, err);

	if (r < 0)
		return r;
	if (!w->copy)
		w->copy = malloc(copy_bytes);
	if (!w->copy)
		return no_memory(w, err);
	while (bytes) {
		const size_t want = bytes < copy_bytes ? bytes : copy_bytes;
		size_t have = 0;

		while (have < want) {
			ssize_t n = read(fd, w->copy + have, want - have);

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0) {
				r = n < 0 ? -errno : -EIO;
				return sl_err_set(err, r, "cannot read back data of CPU %u for '%s': %s", cpu,
						  w->path, n < 0 ? strerror(-r) : "it ends too early");
			}
			have += n;
		}
		r = sl_dat_writer_cpu_data(w, cpu, w->copy, want, err);
		if (r < 0)
			return r;
		bytes -= want;
	}
	return 0;
}

static void writer_free(struct sl_dat_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	for (size_t i = 0; i < w->nr_formats; i++) {
		free(w->formats[i].system);
		free(w->formats[i].text);
	}
	for (size_t i = 0; i < w->nr_cpustats; i++)
		free(w->cpustats[i]);
	free(w->formats);
	free(w->cpustats);
	free(w->comms);
	free(w->cpus);
	free(w->header_page);
	free(w->header_event);
	free(w->chunk);
	free(w->packed);
	free(w->copy);
	free(w->path);
	free(w->clock);
	free(w->uname);
	ZSTD_freeCCtx(w->zstd);
	sl_dat_own_clear(&w->own);
	free(w);
}

int sl_dat_writer_finish(struct sl_dat_writer *w, uint64_t *ret_bytes, struct sl_err *err)
{
	uint64_t section_bytes;
	int r = w->failed, r2;

	if (!w->begun) {
		r = sl_err_set(err, SL_EUSAGE, "cannot finish '%s': the buffer has not begun", w->path);
		writer_free(w);
		return r;
	}
	if (r < 0)
		sl_err_set(err, r, "cannot write '%s': %s; it holds what was written before", w->path,
			   strerror(-r));
	while (w->cur < w->nr_cpus) {
		r2 = end_cpu(w, r < 0 ? NULL : err);
		r = r < 0 ? r : r2;
	}
	section_bytes = w->pos - w->section_pos - SECTION_HEAD_BYTES;
	r2 = write_at(w, &section_bytes, sizeof(section_bytes), w->section_pos + 8,
		      r < 0 ? NULL : err);
	r = r < 0 ? r : r2;
	for (unsigned int i = 0; i < w->nr_cpus; i++) {
		const uint64_t place[2] = { w->cpus[i].offset, w->cpus[i].bytes };

		r2 = write_at(w, place, sizeof(place), w->table_pos + i * 20 + 4,
			      r < 0 ? NULL : err);
		r = r < 0 ? r : r2;
	}
	if (ftruncate(w->fd, w->pos) < 0 && !r)
		r = sl_err_set(err, -errno, "cannot finish '%s': %s", w->path, strerror(errno));
	if (!r)
		*ret_bytes = w->pos;
	writer_free(w);
	return r;
}

void sl_dat_writer_abort(struct sl_dat_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		unlink(w->path);
	writer_free(w);
}
