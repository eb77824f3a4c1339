// SPDX-License-Identifier: LGPL-2.1-only
/* trace.dat version 6: one sequence, trace-cmd.dat.v6(5). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/bytes.h"
#include "trace/dat_meta_local.h"

struct v6 {
	struct sl_dat_file *file;
	struct sl_dat_meta *m;
	uint32_t nr_cpus;		/* length of each CPU table */
	bool has_clock;			/* the text of trace_clock follows the CPU table */
	unsigned int nr_instances;
	struct {
		uint64_t offset;
		char name[64];
	} *instances;			/* BUFFER options: where their CPU tables are */
};

static int add_instance(struct v6 *v, const unsigned char *p, size_t len, struct sl_err *err)
{
	void *grown;

	if (len < 9 || v->nr_instances == SL_DAT_BUFFERS_MAX)
		return 0;
	grown = realloc(v->instances, (v->nr_instances + 1) * sizeof(*v->instances));
	if (!grown)
		return sl_err_set(err, -ENOMEM, "cannot read %s: no memory", v->file->path);
	v->instances = grown;
	memset(&v->instances[v->nr_instances], 0, sizeof(*v->instances));
	v->instances[v->nr_instances].offset = sl_load64(p, v->file->swap);
	len -= 8;
	if (len > sizeof(v->instances->name) - 1)
		len = sizeof(v->instances->name) - 1;
	memcpy(v->instances[v->nr_instances++].name, p + 8, len);
	return 0;
}

static int read_options(struct v6 *v, struct sl_dat_cursor *c, struct sl_err *err)
{
	int r;

	for (;;) {
		uint16_t id = sl_dat_u16(c);
		const unsigned char *p;
		uint32_t len;

		if (c->cut || id == SL_DO_DONE)
			return sl_dat_check(v->file, c, err, "options");
		len = sl_dat_u32(c);
		p = sl_dat_take(c, len);
		if (!p)
			return sl_dat_check(v->file, c, err, "options");
		switch (id) {
		case SL_DO_BUFFER:
			r = add_instance(v, p, len, err);
			break;
		case SL_DO_TRACECLOCK:
			v->has_clock = true;
			r = 0;
			break;
		case SL_DO_CPUCOUNT:
			if (len >= 4)
				v->nr_cpus = sl_load32(p, v->file->swap);
			r = 0;
			break;
		default:
			r = sl_dat_read_option(v->file, v->m, id, p, len, err);
			break;
		}
		if (r)
			return r;
	}
}

/* "options  ", "flyrecord" or "latency  ", then what follows it. */
static int read_data(struct v6 *v, struct sl_dat_cursor *c, const char *name, struct sl_err *err)
{
	struct sl_dat_buffer *b;
	const unsigned char *p;
	uint32_t i;
	int r;

	p = sl_dat_take(c, 10);
	if (p && !memcmp(p, "options", 7)) {
		r = read_options(v, c, err);
		if (r)
			return r;
		p = sl_dat_take(c, 10);
	}
	if (!p)
		return sl_dat_check(v->file, c, err, "tables");
	if (!memcmp(p, "latency", 7))
		return sl_err_set(err, SL_EUNSUPP,
				  "cannot read %s: it holds the text of a latency tracer, not events: "
				  "record with `schedlat record`", v->file->path);
	if (memcmp(p, "flyrecord", 9))
		return sl_dat_bad(v->file, err, "its table of CPU data is not where it should be");
	if (sl_dat_left(c) / 16 < v->nr_cpus)
		return sl_dat_bad(v->file, err, "it ends inside its table of CPU data");
	b = sl_dat_add_buffer(v->m);
	if (!b || !(b->cpus = calloc(v->nr_cpus ? v->nr_cpus : 1, sizeof(*b->cpus))))
		return sl_err_set(err, -ENOMEM, "cannot read %s: no memory for %u CPUs",
				  v->file->path, v->nr_cpus);
	memcpy(b->name, name, strnlen(name, sizeof(b->name) - 1));
	b->nr_cpus = v->nr_cpus;
	for (i = 0; i < v->nr_cpus; i++) {
		b->cpus[i].cpu = i;
		b->cpus[i].offset = sl_dat_u64(c);
		b->cpus[i].bytes = sl_dat_u64(c);
	}
	return sl_dat_check(v->file, c, err, "table of CPU data");
}

/* Early trace-cmd could leave this text out or damaged: then the clock is unknown. */
static void read_clock(struct v6 *v, struct sl_dat_cursor *c)
{
	uint64_t len = sl_dat_u64(c);
	const unsigned char *p = len && len < 4096 ? sl_dat_take(c, (size_t)len) : NULL;

	if (p)
		sl_dat_parse_clock((const char *)p, (size_t)len, v->m->clock,
				   sizeof(v->m->clock));
}

static int read_all(struct v6 *v, struct sl_dat_cursor *c, struct sl_err *err)
{
	unsigned int i;
	int r;

	r = sl_dat_read_header_info(v->file, v->m, c, err);
	if (!r)
		r = sl_dat_read_ftrace_formats(v->file, v->m, c, err);
	if (!r)
		r = sl_dat_read_event_formats(v->file, v->m, c, err);
	if (r)
		return r;
	sl_dat_skip(c, sl_dat_u32(c));	/* kallsyms */
	sl_dat_skip(c, sl_dat_u32(c));	/* printk formats */
	sl_dat_skip(c, sl_dat_u64(c));	/* command lines */
	v->nr_cpus = sl_dat_u32(c);
	r = sl_dat_check(v->file, c, err, "symbol tables");
	if (!r)
		r = read_data(v, c, "", err);
	if (r)
		return r;
	if (v->has_clock)
		read_clock(v, c);
	for (i = 0; i < v->nr_instances; i++) {
		struct sl_dat_cursor at;

		sl_dat_cursor_init_file(&at, v->file, v->instances[i].offset, v->file->bytes);
		r = read_data(v, &at, v->instances[i].name, err);
		sl_dat_cursor_release(&at);
		if (r)
			return r;
	}
	return 0;
}

int sl_dat_read_v6(struct sl_dat_file *file, struct sl_dat_meta *m, struct sl_dat_cursor *c,
		   struct sl_err *err)
{
	struct v6 v = { .file = file, .m = m };
	int r = read_all(&v, c, err);

	free(v.instances);
	return r;
}
