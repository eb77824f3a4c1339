// SPDX-License-Identifier: LGPL-2.1-only
/* trace.dat as a source: choose page size and clock, then merge the streams. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/dat_raw.h"
#include "trace/dat_stream.h"
#include "trace/merge.h"
#include "util/time.h"

#define WINDOW_BYTES (128u << 10)	/* per stream: stays in the L2 cache */
#define WINDOWS_BYTES (4u << 20)	/* of all streams */
#define PAGE_BYTES_MIN 256u
#define PAGE_BYTES_MAX (64u << 20)
#define STRINGS_BYTES (1u << 20)	/* a batch ends early when its strings need more */

struct dat {
	struct sl_source source;	/* first */
	struct sl_dat_file file;
	struct sl_dat_meta *meta;
	struct sl_dat_shared shared;
	struct sl_bind_strings strings;
	struct sl_merge merge;
	struct sl_dat_stream *streams;	/* in the order of ties: by CPU, then by buffer */
	unsigned int nr_streams;
	bool started;
	bool raw_given;			/* sl_dat_raw_next(): step before the next one */
	uint64_t total_bytes;		/* of event data in the file */
	uint64_t truncated_bytes, bad_cpu;	/* known at open */
	char format[16];
	char clock[32];
	char *path;
};

/* What a lane of the merge is made of, before the streams exist. */
struct lane {
	uint32_t buffer, index, cpu;
};

static int by_cpu(const void *a, const void *b)
{
	const struct lane *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static const char *clock_of(const struct sl_dat_meta *m, const struct sl_dat_buffer *b)
{
	if (b->clock[0])
		return b->clock;
	return m->clock[0] ? m->clock : "unknown";
}

static bool has_data(const struct sl_dat_buffer *b)
{
	uint32_t i;

	for (i = 0; i < b->nr_cpus; i++)
		if (b->cpus[i].bytes)
			return true;
	return false;
}

static bool clock_is_tsc(const char *clock)
{
	return !strcmp(clock, "x86-tsc") || !strcmp(clock, "tsc2nsec");
}

/*
 * Clocks of trace_clocks[] (kernel/trace/trace.c, 6.18) that count ns; "unknown"
 * is the default of a tracer that nobody told anything, which counts ns too.
 */
static bool clock_is_ns(const char *clock)
{
	static const char *const names[] = {
		"local", "global", "uptime", "perf", "mono", "mono_raw", "boot", "tai", "unknown",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(clock, names[i]))
			return true;
	return false;
}

static int choose_clock(struct dat *d, struct sl_err *err)
{
	const char *chosen = NULL, *first_buffer = "";
	unsigned int i;

	for (i = 0; i < d->meta->nr_buffers; i++) {
		const struct sl_dat_buffer *b = &d->meta->buffers[i];
		const char *clock = clock_of(d->meta, b);

		if (!has_data(b))
			continue;
		if (chosen && strcmp(chosen, clock))
			return sl_err_set(err, SL_EUNSUPP,
					  "cannot read %s: its buffers \"%s\" and \"%s\" use different "
					  "clocks (%s, %s), so their events have no common order: "
					  "record with one clock, for example `trace-cmd record -C mono`",
					  d->path, first_buffer, b->name, chosen, clock);
		if (!chosen) {
			chosen = clock;
			first_buffer = b->name;
		}
	}
	if (!chosen)
		chosen = d->meta->clock[0] ? d->meta->clock : "unknown";
	if (clock_is_tsc(chosen) && !d->meta->has_tsc2nsec)
		return sl_err_set(err, SL_EUNSUPP,
				  "cannot read %s: its clock \"%s\" counts cycles and the file does not "
				  "say how long one is: record with `schedlat record` or `trace-cmd "
				  "record -C mono`", d->path, chosen);
	if (!clock_is_tsc(chosen) && !clock_is_ns(chosen))
		return sl_err_set(err, SL_EUNSUPP,
				  "cannot read %s: its clock \"%s\" does not count nanoseconds: record "
				  "with `schedlat record` or `trace-cmd record -C mono`", d->path, chosen);
	snprintf(d->clock, sizeof(d->clock), "%s", chosen);
	return 0;
}

/* Do the first pages of the buffer's data look like pages of this size? */
static bool plausible(const struct dat *d, const struct sl_dat_buffer *b, uint32_t page_bytes)
{
	const struct sl_dat_meta *m = d->meta;
	unsigned int checked = 0;
	uint32_t i;

	for (i = 0; i < b->nr_cpus && checked < 16; i++) {
		uint64_t at, before = 0;

		for (at = 0; at < b->cpus[i].bytes && checked < 16; at += page_bytes, checked++) {
			unsigned char head[160];
			uint64_t stamp, commit;

			if (sl_dat_pread(&d->file, head, m->data_offset,
					 b->cpus[i].offset + at) < (int64_t)m->data_offset)
				break;
			stamp = sl_load64(head, d->file.swap);
			commit = sl_load_int(head + m->commit_offset, m->commit_bytes, false,
					     d->file.swap) & 0x3fffffff;
			if (commit > page_bytes - m->data_offset || (commit && stamp < before))
				return false;
			if (commit)
				before = stamp;
		}
	}
	return true;
}

/*
 * The size of a sub-buffer. The file can say it three times, and not all writers
 * knew that it need not be the machine's page size (buffer_subbuf_size_kb, 6.8);
 * where they differ, the data decides.
 */
static uint32_t choose_page_bytes(const struct dat *d, const struct sl_dat_buffer *b)
{
	const struct sl_dat_meta *m = d->meta;
	uint32_t from_header = m->data_bytes ? m->data_bytes + m->data_offset : 0;
	uint32_t candidates[3] = { b->page_bytes, from_header, m->head_page_bytes };
	uint32_t chosen = 0;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		uint32_t c = candidates[i];

		if (c < PAGE_BYTES_MIN || c > PAGE_BYTES_MAX || c % 4 || c <= m->data_offset)
			continue;
		if (!chosen)
			chosen = c;
		if (b->compressed)
			break;
		if (plausible(d, b, c))
			return c;
	}
	return chosen;
}

static int collect_lanes(struct dat *d, struct lane **ret_lanes, unsigned int *ret_nr,
			 struct sl_err *err)
{
	unsigned int i, nr = 0;
	struct lane *lanes;
	uint32_t c;

	for (i = 0; i < d->meta->nr_buffers; i++)
		nr += d->meta->buffers[i].nr_cpus;
	lanes = calloc(nr ? nr : 1, sizeof(*lanes));
	if (!lanes)
		return sl_err_set(err, -ENOMEM, "cannot read %s: no memory for its CPUs", d->path);
	nr = 0;
	for (i = 0; i < d->meta->nr_buffers; i++) {
		const struct sl_dat_buffer *b = &d->meta->buffers[i];

		for (c = 0; c < b->nr_cpus; c++) {
			if (!b->cpus[c].bytes)
				continue;
			if (b->cpus[c].cpu >= SL_CPU_MAX) {
				d->bad_cpu++;
				continue;
			}
			lanes[nr].buffer = i;
			lanes[nr].index = c;
			lanes[nr++].cpu = b->cpus[c].cpu;
		}
	}
	qsort(lanes, nr, sizeof(*lanes), by_cpu);
	*ret_lanes = lanes;
	*ret_nr = nr;
	return 0;
}

static int make_streams(struct dat *d, const struct lane *lanes, unsigned int nr,
			struct sl_err *err)
{
	struct sl_source_info *info = &d->source.info;
	uint64_t size = d->file.bytes;
	uint32_t *page_bytes;
	unsigned int i;
	size_t window;
	int r = -ENOMEM;

	page_bytes = calloc(d->meta->nr_buffers + 1, sizeof(*page_bytes));
	d->streams = calloc(nr ? nr : 1, sizeof(*d->streams));
	info->cpus = calloc(nr ? nr : 1, sizeof(*info->cpus));
	if (!page_bytes || !d->streams || !info->cpus || sl_merge_init(&d->merge, nr ? nr : 1)) {
		sl_err_set(err, r, "cannot read %s: no memory for %u CPUs", d->path, nr);
		goto out;
	}
	window = WINDOWS_BYTES / (nr ? nr : 1);
	if (window > WINDOW_BYTES)
		window = WINDOW_BYTES;
	for (i = 0; i < nr; i++) {
		const struct sl_dat_buffer *b = &d->meta->buffers[lanes[i].buffer];
		const struct sl_dat_cpu *cpu = &b->cpus[lanes[i].index];
		uint32_t *page = &page_bytes[lanes[i].buffer];
		struct sl_source_cpu *ic;
		uint64_t there;

		if (!*page)
			*page = choose_page_bytes(d, b);
		if (!*page) {
			r = sl_err_set(err, SL_EDATA, "cannot read %s: its page size (%u bytes) is "
				       "impossible; the file is damaged", d->path, b->page_bytes);
			goto out;
		}
		if (!info->nr_cpus || info->cpus[info->nr_cpus - 1].cpu != cpu->cpu)
			info->cpus[info->nr_cpus++].cpu = (uint16_t)cpu->cpu;
		ic = &info->cpus[info->nr_cpus - 1];
		there = cpu->offset >= size ? 0 :
			cpu->bytes < size - cpu->offset ? cpu->bytes : size - cpu->offset;
		ic->bytes += there;
		d->total_bytes += there;
		if (__builtin_add_overflow(d->truncated_bytes, cpu->bytes - there,
					   &d->truncated_bytes))
			d->truncated_bytes = UINT64_MAX;
		if (*page > info->page_bytes)
			info->page_bytes = *page;
		sl_dat_stream_init(&d->streams[i], &d->shared, b, cpu, *page, window,
				   clock_is_tsc(d->clock), ic);
		d->nr_streams++;
	}
	r = 0;
out:
	free(page_bytes);
	return r;
}

/* What the file describes; SL_EDATA when there is nothing about scheduling in it. */
static int check_kinds(struct dat *d, struct sl_err *err)
{
	const struct sl_dat_meta *m = d->meta;
	bool any_sched = false;
	unsigned int i;

	for (i = 0; i < m->nr_binds; i++) {
		enum sl_ev_kind kind = m->binds[i].kind;

		d->source.info.has_kind[kind] = true;
		d->source.info.has_irq_flags |= m->binds[i].common.flags_bytes > 0;
		any_sched |= !strcmp(sl_event_desc_of(kind)->system, "sched");
	}
	if (any_sched)
		return 0;
	if (m->bind_problem[0])
		return sl_err_set(err, SL_EDATA,
				  "cannot read %s: no usable sched events in it (%s): record with "
				  "`schedlat record`", d->path, m->bind_problem);
	return sl_err_set(err, SL_EDATA,
			  "cannot read %s: no sched events in it: record with `schedlat record`",
			  d->path);
}

static void reset(struct dat *d)
{
	struct sl_source_info *info = &d->source.info;
	unsigned int i;

	memset(&info->skipped, 0, sizeof(info->skipped));
	info->skipped.truncated_bytes = d->truncated_bytes;
	info->skipped.bad_cpu = d->bad_cpu;
	info->events = 0;
	for (i = 0; i < info->nr_cpus; i++) {
		info->cpus[i].lost_events = info->cpus[i].lost_gaps = 0;
		info->cpus[i].lost_unknown_gaps = 0;
		info->cpus[i].first_ns = info->cpus[i].last_ns = SL_TIME_NONE;
	}
	d->shared.read_bytes = 0;
	d->shared.error = 0;
	d->started = d->raw_given = false;
}

static void dat_free(struct sl_source *source)
{
	struct dat *d = (struct dat *)source;
	unsigned int i;

	for (i = 0; i < d->nr_streams; i++)
		sl_dat_stream_release(&d->streams[i]);
	free(d->streams);
	free(d->source.info.cpus);
	sl_merge_release(&d->merge);
	sl_bind_strings_release(&d->strings);
	free(d->shared.packed);
	sl_dat_meta_free(d->meta);
	free(d->path);
	if (d->file.fd >= 0)
		close(d->file.fd);
	free(d);
}

static int dat_open(const char *path, int fd, struct sl_source **ret_source, struct sl_err *err)
{
	unsigned int nr_lanes = 0;
	struct lane *lanes = NULL;
	struct sl_source_info *info;
	struct stat st;
	struct dat *d;
	int r;

	d = calloc(1, sizeof(*d));
	if (!d || !(d->path = strdup(path))) {
		free(d);
		return sl_err_set(err, -ENOMEM, "cannot read %s: no memory", path);
	}
	d->source.ops = &sl_source_dat_ops;
	d->file.fd = -1;		/* the caller's until we succeed */
	if (fstat(fd, &st) < 0) {
		r = sl_err_set(err, -errno, "cannot read %s: %s", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode)) {
		r = sl_err_set(err, SL_EUNSUPP,
			       "cannot read %s: a trace.dat is read at many places, which a pipe does "
			       "not allow: save it to a file first", path);
		goto out;
	}
	d->file.fd = fd;
	d->file.path = d->path;
	d->file.bytes = (uint64_t)st.st_size;
	r = sl_dat_meta_read(&d->file, &d->meta, err);
	if (r)
		goto out;
	d->shared.file = &d->file;
	d->shared.meta = d->meta;
	d->shared.skipped = &d->source.info.skipped;
	r = check_kinds(d, err);
	if (!r)
		r = choose_clock(d, err);
	if (!r)
		r = collect_lanes(d, &lanes, &nr_lanes, err);
	if (!r)
		r = make_streams(d, lanes, nr_lanes, err);
	free(lanes);
	if (r)
		goto out;

	info = &d->source.info;
	snprintf(d->format, sizeof(d->format), "trace.dat v%u", d->meta->version);
	info->path = d->path;
	info->format = d->format;
	info->compression = d->meta->codec_name;
	info->clock = d->clock;
	info->kernel = d->meta->uname;
	info->bytes = d->file.bytes;
	info->big_endian = d->file.big_endian;
	/* "unknown": the tracer's default is local. */
	info->clock_is_per_cpu = !strcmp(d->clock, "local") || !strcmp(d->clock, "unknown");
	info->long_bytes = d->meta->commit_bytes;
	if (!info->page_bytes)
		info->page_bytes = d->meta->head_page_bytes;
	reset(d);
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	*ret_source = &d->source;
	return 0;
out:
	d->file.fd = -1;
	dat_free(&d->source);
	return r;
}

static void start(struct dat *d)
{
	unsigned int i;

	for (i = 0; i < d->nr_streams; i++) {
		sl_dat_stream_start(&d->streams[i]);
		d->merge.key[i] = d->streams[i].ts_ns;
	}
	sl_merge_build(&d->merge);
	d->started = true;
}

static void put_lost(struct sl_dat_stream *s, struct sl_event *ev)
{
	ev->ts_ns = s->ts_ns;
	ev->kind = SL_EV_LOST;
	ev->cpu = s->cpu;
	ev->ctx = 0;
	ev->common_pid = 0;
	ev->lost.from_ns = s->lost_from_ns < s->ts_ns ? s->lost_from_ns : s->ts_ns;
	ev->lost.until_ns = s->item == SL_DI_LOST_TO_END ? SL_TIME_NONE : s->ts_ns;
	ev->lost.count = s->lost_counted ? s->lost_count : UINT64_MAX;
	s->info->lost_gaps++;
	if (s->lost_counted)
		s->info->lost_events += s->lost_count;
	else
		s->info->lost_unknown_gaps++;
	s->lost = false;
}

/* One item, whatever it is. Returns how many events it makes: 0 or 1. */
static unsigned int put_item(struct dat *d, struct sl_dat_stream *s, struct sl_event *ev)
{
	unsigned int n = 1;

	if (!s->bind) {
		put_lost(s, ev);
	} else {
		ev->ts_ns = s->ts_ns;
		ev->cpu = s->cpu;
		if (!sl_bind_decode(s->bind, s->rec, s->rec_bytes, &d->strings, ev)) {
			d->source.info.skipped.bad_records++;
			n = 0;
		}
	}
	sl_dat_stream_step(s);
	return n;
}

/*
 * The hot loop: records below `limit` of one stream, as long as they are small
 * data records of one page. Everything lives in registers; whatever else comes
 * up is left to sl_dat_stream_step(), with the stream standing right before it.
 */
static unsigned int put_run(struct dat *d, struct sl_dat_stream *s, struct sl_event *ev,
			    unsigned int max, uint64_t limit)
{
	const struct sl_bind *binds = d->meta->binds, *bind = s->bind;
	const unsigned char *ptr = s->ptr, *end = s->end, *rec = s->rec;
	uint32_t rec_bytes = s->rec_bytes;
	const uint8_t *ids = d->meta->ids;
	uint64_t now = s->now, ts_ns = s->ts_ns, last_ns = s->ts_ns;
	uint16_t cpu = s->cpu;
	unsigned int n = 0;
	bool step = true;

	for (;;) {
		ev[n].ts_ns = last_ns = ts_ns;
		ev[n].cpu = cpu;
		if (__builtin_expect(sl_bind_decode_fast(bind, rec, rec_bytes, &d->strings,
							 &ev[n]), 1))
			n++;
		else
			d->source.info.skipped.bad_records++;
		for (;;) {
			uint32_t head, type, use;

			if (__builtin_expect(end - ptr < 8, 0))
				goto out;
			head = sl_load32(ptr, false);
			type = SL_HOST_BIG_ENDIAN ? head >> 27 : head & 31;
			rec_bytes = type * 4;
			if (__builtin_expect(type - 1 >= 28 || rec_bytes > end - ptr - 4, 0))
				goto out;
			now += SL_HOST_BIG_ENDIAN ? head & 0x7ffffff : head >> 5;
			use = ids[sl_load16(ptr + 4, false)];
			rec = ptr + 4;
			ptr = rec + rec_bytes;
			if (__builtin_expect(use >= SL_DAT_ID_BIND, 1)) {
				bind = &binds[use - SL_DAT_ID_BIND];
				break;
			}
			if (use == SL_DAT_ID_UNUSED)
				d->source.info.skipped.unknown_events++;
			else
				d->source.info.skipped.unbound_events++;
		}
		ts_ns = now;
		/* Strings need no look here: those of a page are no more than a page. */
		if (ts_ns >= limit || n >= max) {
			step = false;
			break;
		}
	}
out:
	s->ptr = ptr;
	s->now = now;
	s->rec = rec;
	s->rec_bytes = rec_bytes;
	s->bind = bind;
	s->ts_ns = ts_ns;
	s->floor_ns = step ? last_ns : ts_ns;
	if (step)
		sl_dat_stream_step(s);
	return n;
}

static int dat_next(struct sl_source *source, struct sl_event *ret_events, unsigned int max,
		    struct sl_err *err)
{
	struct dat *d = (struct dat *)source;
	unsigned int n = 0;

	sl_bind_strings_reset(&d->strings);
	if (!d->started)
		start(d);
	if (max > INT32_MAX)
		max = INT32_MAX;
	while (n < max && d->strings.used < STRINGS_BYTES) {
		struct sl_dat_stream *s = &d->streams[d->merge.first];
		uint64_t limit = sl_merge_limit(&d->merge);
		unsigned int before = n;

		if (d->merge.key[d->merge.first] == SL_MERGE_END)
			break;
		if (s->info->first_ns == SL_TIME_NONE)
			s->info->first_ns = s->ts_ns;
		/* In a page that began before its predecessor's end, stamps must be clamped. */
		if (__builtin_expect(s->bind && !s->swap && !s->is_tsc && s->now == s->ts_ns, 1))
			n += put_run(d, s, &ret_events[n], max - n, limit);
		else
			n += put_item(d, s, &ret_events[n]);
		if (n > before)
			s->info->last_ns = ret_events[n - 1].ts_ns;
		sl_merge_replay(&d->merge, s->ts_ns);
	}
	if (d->shared.error)
		return sl_err_set(err, d->shared.error, "cannot read %s: %s", d->path,
				  strerror(-d->shared.error));
	source->info.events += n;
	return (int)n;
}

static bool raw_is_decoded(enum sl_ev_kind kind)
{
	return kind == SL_EV_SWITCH || kind == SL_EV_FORK || kind == SL_EV_NEWTASK || kind == SL_EV_META ||
	       kind == SL_EV_TASK;
}

/* The item that the stream stands before; false: it does not fit its format. */
static bool put_raw(struct dat *d, struct sl_dat_stream *s, struct sl_dat_raw *raw)
{
	raw->ts_ns = raw->event.ts_ns = s->ts_ns;
	raw->cpu = raw->event.cpu = s->cpu;
	if (!s->bind) {
		raw->kind = SL_EV_LOST;
		put_lost(s, &raw->event);
		return true;
	}
	raw->kind = s->bind->kind;
	raw->format = (unsigned int)(s->bind - d->meta->binds);
	raw->rec = s->rec;
	raw->bytes = s->rec_bytes;
	return !raw_is_decoded(raw->kind) ||
	       sl_bind_decode(s->bind, s->rec, s->rec_bytes, &d->strings, &raw->event);
}

int sl_dat_raw_next(struct sl_source *source, struct sl_dat_raw *ret_raw, struct sl_err *err)
{
	struct dat *d = (struct dat *)source;
	bool good = false;

	sl_bind_strings_reset(&d->strings);
	if (!d->started)
		start(d);
	while (!good) {
		struct sl_dat_stream *s = &d->streams[d->merge.first];

		if (d->raw_given) {	/* the record given out last lay in the stream's window until now */
			d->raw_given = false;
			sl_dat_stream_step(s);
			sl_merge_replay(&d->merge, s->ts_ns);
			continue;
		}
		if (d->shared.error)
			return sl_err_set(err, d->shared.error, "cannot read %s: %s", d->path,
					  strerror(-d->shared.error));
		if (d->merge.key[d->merge.first] == SL_MERGE_END)
			return 0;
		good = put_raw(d, s, ret_raw);
		d->raw_given = true;
	}
	return 1;
}

const struct sl_dat_meta *sl_dat_raw_meta(const struct sl_source *source)
{
	return source->ops == &sl_source_dat_ops ? ((const struct dat *)source)->meta : NULL;
}

static int dat_rewind(struct sl_source *source, struct sl_err *err)
{
	struct dat *d = (struct dat *)source;

	(void)err;
	reset(d);
	return 0;
}

static unsigned int dat_progress(const struct sl_source *source)
{
	const struct dat *d = (const struct dat *)source;

	if (!d->total_bytes)
		return 1000;
	return (unsigned int)((unsigned __int128)d->shared.read_bytes * 1000 / d->total_bytes);
}

static bool dat_probe(const unsigned char *head, unsigned int len)
{
	return sl_dat_is_magic(head, len);
}

const struct sl_source_ops sl_source_dat_ops = {
	.name = "trace.dat",
	.probe = dat_probe,
	.open = dat_open,
	.next = dat_next,
	.rewind = dat_rewind,
	.progress = dat_progress,
	.free = dat_free,
};
