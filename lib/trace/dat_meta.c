// SPDX-License-Identifier: LGPL-2.1-only
#include "trace/dat_meta.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/bytes.h"
#include "trace/dat_meta_local.h"

static const unsigned char magic[10] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

bool sl_dat_is_magic(const unsigned char *head, unsigned int len)
{
	return len >= sizeof(magic) && !memcmp(head, magic, sizeof(magic));
}

int sl_dat_bad(const struct sl_dat_file *file, struct sl_err *err, const char *what)
{
	return sl_err_set(err, SL_EDATA,
			  "cannot read %s: %s; the file is damaged or cut, record again or get a "
			  "complete copy", file->path, what);
}

int sl_dat_check(const struct sl_dat_file *file, const struct sl_dat_cursor *c,
		 struct sl_err *err, const char *what)
{
	char text[160];

	if (c->error)
		return sl_err_set(err, c->error, "cannot read %s: %s: %s", file->path, what,
				  strerror(-c->error));
	if (!c->cut)
		return 0;
	snprintf(text, sizeof(text), "it ends inside its %s", what);
	return sl_dat_bad(file, err, text);
}

/* offset and size of "field: TYPE NAME; offset:N; size:N;" in the text of header_page */
static bool page_field(const char *text, size_t len, const char *name, unsigned int *ret_offset,
		       unsigned int *ret_bytes)
{
	const char *p = text, *end = text + len;
	size_t name_len = strlen(name);

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p)), *semi;
		char line[160];
		size_t n;

		if (!nl)
			nl = end;
		n = (size_t)(nl - p) < sizeof(line) - 1 ? (size_t)(nl - p) : sizeof(line) - 1;
		memcpy(line, p, n);
		line[n] = '\0';
		p = nl < end ? nl + 1 : end;
		semi = strchr(line, ';');
		if (semi && (size_t)(semi - line) > name_len && semi[-(long)name_len - 1] == ' ' &&
		    !memcmp(semi - name_len, name, name_len)) {
			const char *offset = strstr(semi, "offset:");
			const char *bytes = strstr(semi, "size:");

			return offset && bytes && sscanf(offset, "offset:%8u", ret_offset) == 1 &&
			       sscanf(bytes, "size:%8u", ret_bytes) == 1;
		}
	}
	return false;
}

int sl_dat_read_header_info(const struct sl_dat_file *file, struct sl_dat_meta *m,
			    struct sl_dat_cursor *c, struct sl_err *err)
{
	unsigned int offset = 0, bytes = 8;
	const unsigned char *p;
	char word[16];
	uint64_t len;

	sl_dat_string(c, word, sizeof(word));
	len = sl_dat_u64(c);
	if (!c->cut && (strcmp(word, "header_page") || len > 1u << 20))
		return sl_dat_bad(file, err, "its header_page is not where it should be");
	p = sl_dat_take(c, (size_t)len);
	if (!p)
		return sl_dat_check(file, c, err, "header_page");
	m->commit_offset = 8;
	m->commit_bytes = m->long_bytes;
	m->data_offset = 8 + m->long_bytes;
	m->data_bytes = 0;
	if (len) {
		if (!page_field((const char *)p, (size_t)len, "timestamp", &offset, &bytes) ||
		    offset != 0 || bytes != 8)
			return sl_dat_bad(file, err, "its header_page has no 64-bit timestamp");
		if (!page_field((const char *)p, (size_t)len, "commit", &m->commit_offset,
				&m->commit_bytes) ||
		    (m->commit_bytes != 4 && m->commit_bytes != 8) || m->commit_offset > 64)
			return sl_dat_bad(file, err, "its header_page has no commit field of 4 or 8 bytes");
		if (!page_field((const char *)p, (size_t)len, "data", &m->data_offset,
				&m->data_bytes) ||
		    m->data_offset < m->commit_offset + m->commit_bytes || m->data_offset > 128)
			return sl_dat_bad(file, err, "its header_page has no usable data field");
		free(m->header_page);
		m->header_page = strndup((const char *)p, (size_t)len);
	}
	sl_dat_string(c, word, sizeof(word));
	len = sl_dat_u64(c);
	if (!c->cut && strcmp(word, "header_event"))
		return sl_dat_bad(file, err, "its header_event is not where it should be");
	if (len && len < 1u << 16 && (p = sl_dat_peek(c, (size_t)len))) {
		free(m->header_event);
		m->header_event = strndup((const char *)p, (size_t)len);
	}
	sl_dat_skip(c, len);
	return sl_dat_check(file, c, err, "header_event");
}

static int add_format(const struct sl_dat_file *file, struct sl_dat_meta *m, const char *system,
		      const struct sl_bind_name *name, const char *text, size_t len,
		      struct sl_err *err)
{
	const struct sl_event_desc *desc = sl_event_desc_find(system, name->name);
	struct sl_err why = { "" };
	struct sl_dat_format *formats;
	struct sl_bind *binds;

	if (!desc || m->ids[name->id] >= SL_DAT_ID_BIND ||
	    m->nr_binds >= UINT8_MAX - SL_DAT_ID_BIND)
		return 0;
	formats = realloc(m->formats, (m->nr_binds + 1) * sizeof(*formats));
	if (formats)
		m->formats = formats;
	binds = realloc(m->binds, (m->nr_binds + 1) * sizeof(*binds));
	if (binds)
		m->binds = binds;
	if (!binds || !formats)
		return sl_err_set(err, -ENOMEM, "cannot read %s: no memory for its event formats",
				  file->path);
	if (sl_bind_format(text, len, desc, file->big_endian, &binds[m->nr_binds], &why)) {
		snprintf(m->bind_problem, sizeof(m->bind_problem), "%.255s", why.msg);
		return 0;	/* this event is not used; the rest of the file is as good as before */
	}
	formats[m->nr_binds].system = strdup(system);
	formats[m->nr_binds].text = strndup(text, len);
	m->ids[name->id] = (uint8_t)(SL_DAT_ID_BIND + m->nr_binds++);
	if (!formats[m->nr_binds - 1].system || !formats[m->nr_binds - 1].text)
		return sl_err_set(err, -ENOMEM, "cannot read %s: no memory for its event formats",
				  file->path);
	return 0;
}

/* Formats of one system; system NULL: known ids without use (the ftrace ones). */
static int read_formats(const struct sl_dat_file *file, struct sl_dat_meta *m,
			struct sl_dat_cursor *c, const char *system, uint32_t count,
			struct sl_err *err)
{
	uint32_t i;
	int r;

	for (i = 0; i < count && !c->cut; i++) {
		uint64_t len = sl_dat_u64(c);
		struct sl_bind_name name;
		const unsigned char *p;
		size_t n;

		if (len > sl_dat_left(c)) {
			sl_dat_skip(c, len);
			break;
		}
		n = sl_dat_ahead(c, len < 256 ? (size_t)len : 256, &p);
		if (n && sl_bind_peek((const char *)p, n, &name)) {
			if (m->ids[name.id] == SL_DAT_ID_NO_FORMAT)
				m->ids[name.id] = SL_DAT_ID_UNUSED;
			if (system && len < 1u << 20 && sl_event_desc_find(system, name.name)) {
				p = sl_dat_peek(c, (size_t)len);
				if (!p)
					break;
				r = add_format(file, m, system, &name, (const char *)p,
					       (size_t)len, err);
				if (r)
					return r;
			}
		}
		sl_dat_skip(c, len);
	}
	return 0;
}

int sl_dat_read_ftrace_formats(const struct sl_dat_file *file, struct sl_dat_meta *m,
			       struct sl_dat_cursor *c, struct sl_err *err)
{
	int r = read_formats(file, m, c, NULL, sl_dat_u32(c), err);

	return r ? r : sl_dat_check(file, c, err, "ftrace event formats");
}

int sl_dat_read_event_formats(const struct sl_dat_file *file, struct sl_dat_meta *m,
			      struct sl_dat_cursor *c, struct sl_err *err)
{
	uint32_t i, systems = sl_dat_u32(c);
	char system[64];
	int r;

	for (i = 0; i < systems && !c->cut; i++) {
		sl_dat_string(c, system, sizeof(system));
		r = read_formats(file, m, c, system, sl_dat_u32(c), err);
		if (r)
			return r;
	}
	return sl_dat_check(file, c, err, "event formats");
}

void sl_dat_parse_clock(const char *text, size_t len, char *clock, size_t size)
{
	const char *open = memchr(text, '[', len), *end = text + len, *p;
	size_t n = 0;

	/* The content of trace_clock: all names, the chosen one in brackets; or one name. */
	for (p = open ? open + 1 : text; p < end && *p && !strchr("] \t\n", *p); p++)
		if (n + 1 < size)
			clock[n++] = *p;
	clock[n] = '\0';
}

static int64_t parse_offset(const unsigned char *p, size_t len)
{
	char text[64];
	size_t n = len < sizeof(text) - 1 ? len : sizeof(text) - 1;

	memcpy(text, p, n);
	text[n] = '\0';
	return strtoll(text, NULL, 0);
}

/* Sum as trace-cmd does, but never overflow. */
static void add_offset(struct sl_dat_meta *m, int64_t value, int64_t unit)
{
	int64_t ns;

	if (!__builtin_mul_overflow(value, unit, &ns) &&
	    !__builtin_add_overflow(m->ts_offset_ns, ns, &ns))
		m->ts_offset_ns = ns;
}

int sl_dat_read_option(const struct sl_dat_file *file, struct sl_dat_meta *m, unsigned int id,
		       const unsigned char *p, size_t len, struct sl_err *err)
{
	switch (id) {
	case SL_DO_DATE:
		/* Microseconds to the time of day, as trace-cmd report adds them. */
		add_offset(m, parse_offset(p, len), 1000);
		break;
	case SL_DO_OFFSET:
		add_offset(m, parse_offset(p, len), 1);
		break;
	case SL_DO_TRACECLOCK:
		if (len)
			sl_dat_parse_clock((const char *)p, len, m->clock, sizeof(m->clock));
		break;
	case SL_DO_UNAME:
		if (m->uname || !len)
			break;
		m->uname = strndup((const char *)p, len < 512 ? len : 512);
		if (!m->uname)
			return sl_err_set(err, -ENOMEM, "cannot read %s: no memory", file->path);
		break;
	case SL_DO_TSC2NSEC:
		if (len < 16)
			break;
		m->tsc_mult = sl_load32(p, file->swap);
		m->tsc_shift = sl_load32(p + 4, file->swap);
		m->has_tsc2nsec = m->tsc_mult && m->tsc_shift < 64;
		break;
	}
	return 0;
}

struct sl_dat_buffer *sl_dat_add_buffer(struct sl_dat_meta *m)
{
	struct sl_dat_buffer *buffers, *b;

	buffers = realloc(m->buffers, (m->nr_buffers + 1) * sizeof(*buffers));
	if (!buffers)
		return NULL;
	m->buffers = buffers;
	b = &buffers[m->nr_buffers++];
	memset(b, 0, sizeof(*b));
	return b;
}

/* "trace.dat of version 8": say which ones we read. */
static int read_head(struct sl_dat_file *file, struct sl_dat_meta *m, struct sl_dat_cursor *c,
		     struct sl_err *err)
{
	const unsigned char *p;
	char version[16];

	sl_dat_skip(c, sizeof(magic));
	sl_dat_string(c, version, sizeof(version));
	p = sl_dat_take(c, 2);
	if (!p)
		return sl_dat_check(file, c, err, "first bytes");
	if (strcmp(version, "6") && strcmp(version, "7"))
		return sl_err_set(err, SL_EUNSUPP,
				  "cannot read %s: trace.dat version \"%s\", not 6 or 7: convert it "
				  "with `trace-cmd convert --file-version 7`", file->path, version);
	m->version = version[0] == '6' ? 6 : 7;
	if (p[0] > 1 || (p[1] != 4 && p[1] != 8))
		return sl_dat_bad(file, err, "its head has an impossible byte order or word size");
	file->big_endian = p[0] == 1;
	file->swap = file->big_endian != SL_HOST_BIG_ENDIAN;
	m->long_bytes = p[1];
	m->head_page_bytes = sl_dat_u32(c);
	snprintf(m->codec_name, sizeof(m->codec_name), "none");
	return sl_dat_check(file, c, err, "first bytes");
}

int sl_dat_meta_read(struct sl_dat_file *file, struct sl_dat_meta **ret_meta, struct sl_err *err)
{
	struct sl_dat_meta *m = calloc(1, sizeof(*m));
	struct sl_dat_cursor c;
	int r;

	if (!m)
		return sl_err_set(err, -ENOMEM, "cannot read %s: no memory", file->path);
	sl_dat_cursor_init_file(&c, file, 0, file->bytes);
	r = read_head(file, m, &c, err);
	if (!r && m->version == 6)
		r = sl_dat_read_v6(file, m, &c, err);
	else if (!r)
		r = sl_dat_read_v7(file, m, &c, err);
	sl_dat_cursor_release(&c);
	if (r < 0) {
		sl_dat_meta_free(m);
		return r;
	}
	*ret_meta = m;
	return 0;
}

void sl_dat_meta_free(struct sl_dat_meta *m)
{
	unsigned int i;

	if (!m)
		return;
	for (i = 0; i < m->nr_buffers; i++)
		free(m->buffers[i].cpus);
	free(m->buffers);
	for (i = 0; i < m->nr_binds; i++) {
		free(m->formats[i].system);
		free(m->formats[i].text);
	}
	free(m->formats);
	free(m->header_page);
	free(m->header_event);
	free(m->binds);
	free(m->uname);
	sl_dat_codec_release(&m->codec);
	free(m);
}
