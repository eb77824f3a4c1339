// SPDX-License-Identifier: LGPL-2.1-only
/* trace.dat version 7: sections, found through chained option sections, trace-cmd.dat.v7(5). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/dat_meta_local.h"

#define SECTION_COMPRESSED 1u
#define OPTION_SECTIONS_MAX 1024

struct v7 {
	struct sl_dat_file *file;
	struct sl_dat_meta *m;
	uint64_t header_info, ftrace_events, event_formats;	/* offsets; 0: none */
	bool has_text_buffer;
	unsigned int nr_data;		/* BUFFER options: offset of the section per buffer */
	uint64_t *data;
};

struct section {
	uint16_t id, flags;
	uint64_t start, bytes;		/* of the content */
};

static int read_section_head(struct v7 *v, uint64_t offset, struct section *s, const char *what,
			     struct sl_err *err)
{
	struct sl_dat_cursor c;
	int r;

	sl_dat_cursor_init_file(&c, v->file, offset, v->file->bytes);
	s->id = sl_dat_u16(&c);
	s->flags = sl_dat_u16(&c);
	sl_dat_u32(&c);			/* description */
	s->bytes = sl_dat_u64(&c);
	s->start = offset + 16;
	r = sl_dat_check(v->file, &c, err, what);
	sl_dat_cursor_release(&c);
	return r;
}

/* A cursor over the content of a section, decompressed if need be. */
static int open_section(struct v7 *v, uint64_t offset, unsigned int id, const char *what,
			struct sl_dat_cursor *ret_c, struct sl_err *err)
{
	struct sl_dat_cursor c;
	uint32_t packed, plain;
	const unsigned char *p;
	struct section s;
	char text[128];
	void *mem;
	int r;

	r = read_section_head(v, offset, &s, what, err);
	if (r)
		return r;
	if (s.id != id) {
		snprintf(text, sizeof(text), "its %s are not where they should be", what);
		return sl_dat_bad(v->file, err, text);
	}
	sl_dat_cursor_init_file(&c, v->file, s.start,
				s.bytes < UINT64_MAX - s.start ? s.start + s.bytes : UINT64_MAX);
	if (!(s.flags & SECTION_COMPRESSED)) {
		*ret_c = c;
		return 0;
	}
	packed = sl_dat_u32(&c);
	plain = sl_dat_u32(&c);
	if (!c.cut && plain > SL_DAT_BLOCK_MAX) {
		snprintf(text, sizeof(text), "its %s claim to be %u bytes", what, plain);
		r = sl_dat_bad(v->file, err, text);
		goto out;
	}
	p = sl_dat_take(&c, packed);
	if (!p) {
		r = sl_dat_check(v->file, &c, err, what);
		goto out;
	}
	mem = malloc(plain ? plain : 1);
	if (!mem) {
		r = sl_err_set(err, -ENOMEM, "cannot read %s: no memory for its %s",
			       v->file->path, what);
		goto out;
	}
	if (!sl_dat_decompress(&v->m->codec, mem, plain, p, packed)) {
		free(mem);
		snprintf(text, sizeof(text), "its %s do not decompress (%s)", what,
			 v->m->codec_name);
		r = sl_dat_bad(v->file, err, text);
		goto out;
	}
	sl_dat_cursor_init_mem(ret_c, v->file, mem, plain);
out:
	sl_dat_cursor_release(&c);
	return r;
}

static int read_buffer_option(struct v7 *v, const unsigned char *p, size_t len,
			      struct sl_err *err)
{
	struct sl_dat_buffer *b;
	struct sl_dat_cursor c;
	uint64_t offset, *data;
	uint32_t i;
	void *copy;
	int r = 0;

	if (v->nr_data == SL_DAT_BUFFERS_MAX)
		return sl_dat_bad(v->file, err, "it claims to hold thousands of trace buffers");
	copy = malloc(len ? len : 1);
	data = realloc(v->data, (v->nr_data + 1) * sizeof(*data));
	if (data)
		v->data = data;
	b = data && copy ? sl_dat_add_buffer(v->m) : NULL;
	if (!b) {
		free(copy);
		return sl_err_set(err, -ENOMEM, "cannot read %s: no memory", v->file->path);
	}
	memcpy(copy, p, len);
	sl_dat_cursor_init_mem(&c, v->file, copy, len);
	offset = sl_dat_u64(&c);
	v->data[v->nr_data++] = offset;
	sl_dat_string(&c, b->name, sizeof(b->name));
	sl_dat_string(&c, b->clock, sizeof(b->clock));
	b->page_bytes = sl_dat_u32(&c);
	b->nr_cpus = sl_dat_u32(&c);
	if (c.cut || sl_dat_left(&c) / 20 < b->nr_cpus) {
		b->nr_cpus = 0;
		r = sl_dat_bad(v->file, err, "the description of a trace buffer is too short");
		goto out;
	}
	b->cpus = calloc(b->nr_cpus ? b->nr_cpus : 1, sizeof(*b->cpus));
	if (!b->cpus) {
		b->nr_cpus = 0;
		r = sl_err_set(err, -ENOMEM, "cannot read %s: no memory", v->file->path);
		goto out;
	}
	for (i = 0; i < b->nr_cpus; i++) {
		b->cpus[i].cpu = sl_dat_u32(&c);
		b->cpus[i].offset = sl_dat_u64(&c);
		b->cpus[i].bytes = sl_dat_u64(&c);
	}
out:
	sl_dat_cursor_release(&c);
	return r;
}

static uint64_t offset_option(const struct sl_dat_file *file, const unsigned char *p, size_t len,
			      uint64_t before)
{
	struct sl_dat_cursor c;

	if (len < 8)
		return before;
	sl_dat_cursor_init_mem(&c, file, (void *)p, len);	/* borrowed, not released */
	return sl_dat_u64(&c);
}

/* One options section. *ret_next: where the next one is, 0 at the end of the chain. */
static int read_options(struct v7 *v, uint64_t offset, uint64_t *ret_next, struct sl_err *err)
{
	struct sl_dat_cursor c;
	int r;

	*ret_next = 0;
	r = open_section(v, offset, SL_DO_DONE, "options", &c, err);
	if (r)
		return r;
	while (!r) {
		unsigned int id = sl_dat_u16(&c);
		uint32_t len = sl_dat_u32(&c);
		const unsigned char *p = sl_dat_take(&c, len);

		if (!p) {
			r = sl_dat_check(v->file, &c, err, "options");
			break;
		}
		if (id == SL_DO_DONE) {
			*ret_next = offset_option(v->file, p, len, 0);
			break;
		}
		switch (id) {
		case SL_DO_BUFFER:
			r = read_buffer_option(v, p, len, err);
			break;
		case SL_DO_BUFFER_TEXT:
			v->has_text_buffer = true;
			break;
		case SL_DO_HEADER_INFO:
			v->header_info = offset_option(v->file, p, len, v->header_info);
			break;
		case SL_DO_FTRACE_EVENTS:
			v->ftrace_events = offset_option(v->file, p, len, v->ftrace_events);
			break;
		case SL_DO_EVENT_FORMATS:
			v->event_formats = offset_option(v->file, p, len, v->event_formats);
			break;
		default:
			r = sl_dat_read_option(v->file, v->m, id, p, len, err);
			break;
		}
	}
	sl_dat_cursor_release(&c);
	return r;
}

static int read_option_chain(struct v7 *v, uint64_t offset, struct sl_err *err)
{
	uint64_t *seen;
	unsigned int n, i;
	int r = 0;

	seen = calloc(OPTION_SECTIONS_MAX, sizeof(*seen));
	if (!seen)
		return sl_err_set(err, -ENOMEM, "cannot read %s: no memory", v->file->path);
	for (n = 0; offset && !r; n++) {
		for (i = 0; i < n && seen[i] != offset; i++)
			;
		if (i < n || n == OPTION_SECTIONS_MAX) {
			r = sl_dat_bad(v->file, err, "its option sections form a loop");
			break;
		}
		seen[n] = offset;
		r = read_options(v, offset, &offset, err);
	}
	free(seen);
	return r;
}

static int read_codec(struct v7 *v, struct sl_dat_cursor *c, struct sl_err *err)
{
	struct sl_dat_meta *m = v->m;
	char version[32];
	int r;

	sl_dat_string(c, m->codec_name, sizeof(m->codec_name));
	sl_dat_string(c, version, sizeof(version));
	r = sl_dat_check(v->file, c, err, "first bytes");
	if (r)
		return r;
	if (!strcmp(m->codec_name, "none"))
		m->codec.id = SL_DC_NONE;
	else if (!strcmp(m->codec_name, "zlib"))
		m->codec.id = SL_DC_ZLIB;
	else if (!strcmp(m->codec_name, "zstd"))
		m->codec.id = SL_DC_ZSTD;
	else
		return sl_err_set(err, SL_EUNSUPP,
				  "cannot read %s: compressed with \"%s\", only zlib and zstd are known: "
				  "convert it with `trace-cmd convert --compression none`",
				  v->file->path, m->codec_name);
	return 0;
}

static int read_sections(struct v7 *v, struct sl_err *err)
{
	struct sl_dat_cursor c;
	int r;

	if (!v->header_info)
		return sl_dat_bad(v->file, err, "it has no header_page");
	r = open_section(v, v->header_info, SL_DO_HEADER_INFO, "page headers", &c, err);
	if (r)
		return r;
	r = sl_dat_read_header_info(v->file, v->m, &c, err);
	sl_dat_cursor_release(&c);
	if (!r && v->ftrace_events) {
		r = open_section(v, v->ftrace_events, SL_DO_FTRACE_EVENTS, "ftrace event formats",
				 &c, err);
		if (r)
			return r;
		r = sl_dat_read_ftrace_formats(v->file, v->m, &c, err);
		sl_dat_cursor_release(&c);
	}
	if (!r && v->event_formats) {
		r = open_section(v, v->event_formats, SL_DO_EVENT_FORMATS, "event formats", &c,
				 err);
		if (r)
			return r;
		r = sl_dat_read_event_formats(v->file, v->m, &c, err);
		sl_dat_cursor_release(&c);
	}
	return r;
}

static int read_buffers(struct v7 *v, struct sl_err *err)
{
	struct section s;
	unsigned int i;
	int r;

	if (!v->nr_data && v->has_text_buffer)
		return sl_err_set(err, SL_EUNSUPP,
				  "cannot read %s: it holds the text of a latency tracer, not events: "
				  "record with `schedlat record`", v->file->path);
	if (!v->nr_data)
		return sl_dat_bad(v->file, err, "it has no table of CPU data");
	for (i = 0; i < v->nr_data; i++) {
		struct sl_dat_buffer *b = &v->m->buffers[i];

		/* Cut before its data: the CPUs are then delivered as lost from the start. */
		if (v->data[i] >= v->file->bytes || v->file->bytes - v->data[i] < 16)
			continue;
		r = read_section_head(v, v->data[i], &s, "trace data", err);
		if (r)
			return r;
		if (s.id != SL_DO_BUFFER)
			return sl_dat_bad(v->file, err, "its trace data is not where it should be");
		b->compressed = s.flags & SECTION_COMPRESSED;
		if (b->compressed && v->m->codec.id == SL_DC_NONE)
			return sl_dat_bad(v->file, err,
					  "its data is compressed but its head names no compression");
	}
	return 0;
}

static int read_all(struct v7 *v, struct sl_dat_cursor *c, struct sl_err *err)
{
	uint64_t options;
	int r;

	r = read_codec(v, c, err);
	if (r)
		return r;
	options = sl_dat_u64(c);
	r = sl_dat_check(v->file, c, err, "first bytes");
	if (!r && !options)
		r = sl_dat_bad(v->file, err, "it was not completed: it has no options");
	if (!r)
		r = read_option_chain(v, options, err);
	if (!r)
		r = read_sections(v, err);
	if (!r)
		r = read_buffers(v, err);
	return r;
}

int sl_dat_read_v7(struct sl_dat_file *file, struct sl_dat_meta *m, struct sl_dat_cursor *c,
		   struct sl_err *err)
{
	struct v7 v = { .file = file, .m = m };
	int r = read_all(&v, c, err);

	free(v.data);
	return r;
}
