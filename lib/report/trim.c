// SPDX-License-Identifier: LGPL-2.1-only
#include "report/trim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/bytes.h"
#include "trace/compose.h"
#include "trace/dat_raw.h"
#include "trace/dat_write.h"
#include "util/err.h"
#include "util/time.h"

#define NOWHERE UINT64_MAX
#define NAME_FIELDS_MAX 4
#define RECORD_MAX 65536u

/* Where a format has names. */
struct name_field {
	uint16_t offset, bytes;
	bool loc;			/* __data_loc: offset in the record | length << 16 */
};

struct name_fields {
	struct name_field v[NAME_FIELDS_MAX];
	unsigned int nr;
};

/* A part of the records of a CPU, by their numbers in the order of the file. */
struct range {
	uint64_t from, to;		/* both included */
};

struct cpu {
	uint64_t nr;			/* records seen */
	uint64_t run_from;		/* where the snapshots began that stand right before the next record */
	uint64_t switch_from;		/* the last switch, with its snapshots; NOWHERE: none yet */
	struct range ranges[SL_TRIM_WINDOWS_MAX];
	struct range turns[SL_TRIM_WINDOWS_MAX];	/* the window's task was switched in */
	struct range births[SL_TRIM_WINDOWS_MAX];	/* ... or made: both events of it */
	/* second reading */
	struct sl_composer composer;
	unsigned char *pages;
	size_t bytes, room;
	bool any, skipped;
};

struct trim {
	const struct sl_trim_params *params;
	const struct sl_dat_meta *meta;
	struct sl_source *source;
	struct name_fields *names;	/* [formats] */
	struct cpu *cpus;		/* [cpu] */
	unsigned int nr_cpus;
	struct {
		uint64_t begin_ns;
		bool begun;
		int sleep_cpu;		/* -1: not seen */
		uint64_t sleep_from;
	} windows[SL_TRIM_WINDOWS_MAX];
	uint64_t first_ns;		/* of what is kept */
	uint64_t page_bytes_sum;
	uint64_t events, lost;
	bool too_large;
};

/* ---- first reading: which records ---- */

static bool is_snapshot(enum sl_ev_kind kind)
{
	return kind == SL_EV_QUEUE || kind == SL_EV_ENTITY;
}

/* Metadata and tasks are written anew, for all. */
static bool is_meta(enum sl_ev_kind kind)
{
	return kind == SL_EV_META || kind == SL_EV_TASK;
}

static void begin_windows(struct trim *t, uint64_t now_ns)
{
	unsigned int w, c;

	for (w = 0; w < t->params->nr_windows; w++) {
		if (t->windows[w].begun || now_ns < t->windows[w].begin_ns)
			continue;
		t->windows[w].begun = true;
		for (c = 0; c < t->nr_cpus; c++)
			t->cpus[c].ranges[w].from = t->cpus[c].switch_from == NOWHERE ? 0 :
						    t->cpus[c].switch_from;
	}
}

/* Before its wait: where the window's task was last, and how it came to be. */
static void note_history(struct trim *t, struct cpu *c, unsigned int w, const struct sl_dat_raw *raw)
{
	const struct sl_trim_window *window = &t->params->windows[w];

	if (raw->kind == SL_EV_SWITCH && raw->event.switched.prev_pid == window->tid) {
		t->windows[w].sleep_cpu = raw->cpu;
		t->windows[w].sleep_from = c->run_from;
	}
	if (!window->history)
		return;
	if (raw->kind == SL_EV_SWITCH && raw->event.switched.next_pid == window->tid)
		c->turns[w] = (struct range){ c->run_from, c->nr };
	if ((raw->kind == SL_EV_FORK && raw->event.fork.child_pid == window->tid) ||
	    (raw->kind == SL_EV_NEWTASK && raw->event.newtask.pid == window->tid)) {
		if (c->births[w].from == NOWHERE)
			c->births[w].from = c->nr;
		c->births[w].to = c->nr;
	}
}

static void note(struct trim *t, const struct sl_dat_raw *raw)
{
	struct cpu *c = &t->cpus[raw->cpu];
	unsigned int w;

	begin_windows(t, raw->ts_ns);
	for (w = 0; w < t->params->nr_windows; w++) {
		const struct sl_trim_window *window = &t->params->windows[w];

		if (raw->ts_ns > window->end_ns && c->ranges[w].to == NOWHERE)
			c->ranges[w].to = c->nr;
		if (raw->ts_ns < window->start_ns)
			note_history(t, c, w, raw);
	}
	if (raw->kind == SL_EV_SWITCH)
		c->switch_from = c->run_from;
	c->nr++;
	if (!is_snapshot(raw->kind))
		c->run_from = c->nr;
	if (raw->kind == SL_EV_LOST && raw->event.lost.count != UINT64_MAX)
		t->lost += raw->event.lost.count;
}

static int find_ranges(struct trim *t, struct sl_err *err)
{
	struct sl_dat_raw raw;
	unsigned int w, c;
	int r;

	for (w = 0; w < t->params->nr_windows; w++) {
		const struct sl_trim_window *window = &t->params->windows[w];

		t->windows[w].begin_ns = sl_since(window->start_ns, window->lead_ns);
		t->windows[w].sleep_cpu = -1;
	}
	for (c = 0; c < t->nr_cpus; c++) {
		t->cpus[c].switch_from = NOWHERE;
		for (w = 0; w < t->params->nr_windows; w++)
			t->cpus[c].ranges[w] = t->cpus[c].turns[w] = t->cpus[c].births[w] =
				(struct range){ NOWHERE, NOWHERE };
	}
	while ((r = sl_dat_raw_next(t->source, &raw, err)) > 0)
		if (!is_meta(raw.kind))
			note(t, &raw);
	begin_windows(t, UINT64_MAX);
	for (w = 0; w < t->params->nr_windows; w++)
		if (t->params->windows[w].since_sleep && t->windows[w].sleep_cpu >= 0) {
			struct range *range = &t->cpus[t->windows[w].sleep_cpu].ranges[w];

			if (t->windows[w].sleep_from < range->from)
				range->from = t->windows[w].sleep_from;
		}
	return r;
}

static bool in_range(const struct range *range, uint64_t nr)
{
	return nr >= range->from && nr <= range->to;
}

static bool is_kept(const struct trim *t, const struct cpu *c)
{
	unsigned int w;

	for (w = 0; w < t->params->nr_windows; w++)
		if (in_range(&c->ranges[w], c->nr) || in_range(&c->turns[w], c->nr) ||
		    in_range(&c->births[w], c->nr))
			return true;
	return false;
}

/* ---- names in records ---- */

static bool ends_in(const char *text, const char *end, const char *what)
{
	size_t len = strlen(what);

	return (size_t)(end - text) >= len && !memcmp(end - len, what, len);
}

/* "\tfield:char prev_comm[16];\toffset:8;\tsize:16;" */
static void find_name_fields(const char *format, struct name_fields *ret)
{
	const char *line;

	for (line = strstr(format, "field:"); line; line = strstr(line + 1, "field:")) {
		const char *semicolon = strchr(line, ';'), *end = semicolon;
		unsigned int offset, bytes;

		if (!semicolon || sscanf(semicolon, "; offset:%u; size:%u;", &offset, &bytes) != 2)
			continue;
		if (end[-1] == ']')
			while (end > line && *--end != '[')
				;
		if (!ends_in(line, end, "comm") && !ends_in(line, end, "filename"))
			continue;
		if (ret->nr < NAME_FIELDS_MAX && offset < RECORD_MAX && bytes <= 4096)
			ret->v[ret->nr++] = (struct name_field){ (uint16_t)offset, (uint16_t)bytes,
								 memmem(line, (size_t)(end - line), "__data_loc", 10) != NULL };
	}
}

/* A string that lies elsewhere in the record: its substitute goes to the end. */
static bool redact_loc(struct sl_redact *redact, unsigned char *rec, uint32_t *bytes, uint32_t at)
{
	uint32_t loc, from, len, size;
	char name[64] = "";
	const char *safe;

	memcpy(&loc, rec + at, sizeof(loc));
	from = loc & 0xffff;
	len = loc >> 16;
	if (!len || from + len > *bytes)
		return !len;
	memcpy(name, rec + from, len < sizeof(name) ? len : sizeof(name) - 1);
	memset(rec + from, 0, len);
	safe = sl_redact_comm(redact, name);
	size = (uint32_t)strlen(safe) + 1;
	if (*bytes + size + 3 > RECORD_MAX - 4096)
		return false;
	memcpy(rec + *bytes, safe, size);
	loc = *bytes | size << 16;
	memcpy(rec + at, &loc, sizeof(loc));
	while (size % 4)
		rec[*bytes + size++] = 0;
	*bytes += size;
	return true;
}

static bool redact_record(const struct trim *t, unsigned int format, unsigned char *rec, uint32_t *bytes)
{
	const struct name_fields *names = &t->names[format];
	unsigned int i;

	for (i = 0; i < names->nr; i++) {
		const struct name_field *field = &names->v[i];
		char name[64] = "";

		if ((uint32_t)field->offset + field->bytes > *bytes)
			return false;
		if (field->loc) {
			if (!redact_loc(t->params->redact, rec, bytes, field->offset))
				return false;
			continue;
		}
		memcpy(name, rec + field->offset, field->bytes < 63 ? field->bytes : 63);
		memset(rec + field->offset, 0, field->bytes);
		snprintf((char *)rec + field->offset, field->bytes, "%s",
			 sl_redact_comm(t->params->redact, name));
	}
	return true;
}

/* ---- second reading: copy ---- */

static int take_pages(void *arg, const unsigned char *pages, size_t bytes)
{
	struct cpu *c = arg;

	if (bytes > c->room - c->bytes) {
		size_t room = c->room ? c->room * 2 : 1u << 16;
		unsigned char *grown;

		while (room - c->bytes < bytes)
			room *= 2;
		grown = realloc(c->pages, room);
		if (!grown)
			return -ENOMEM;
		c->pages = grown;
		c->room = room;
	}
	memcpy(c->pages + c->bytes, pages, bytes);
	c->bytes += bytes;
	return 0;
}

static int copy_record(struct trim *t, struct cpu *c, const struct sl_dat_raw *raw)
{
	unsigned char rec[RECORD_MAX];
	uint32_t bytes = raw->bytes;
	unsigned char *to;

	if (bytes > RECORD_MAX - 8192)
		return 0;		/* no event that we read is so long */
	memcpy(rec, raw->rec, bytes);
	while (bytes % 4)
		rec[bytes++] = 0;
	if (t->params->redact && !redact_record(t, raw->format, rec, &bytes))
		return 0;		/* its names are not where they should be: leave it out */
	to = sl_composer_add(&c->composer, raw->ts_ns, bytes);
	if (!to)
		return c->composer.error;
	memcpy(to, rec, bytes);
	t->page_bytes_sum += bytes + 4;
	t->events++;
	return 0;
}

static int copy_item(struct trim *t, const struct sl_dat_raw *raw)
{
	struct cpu *c = &t->cpus[raw->cpu];
	bool kept = is_kept(t, c);
	int r = 0;

	c->nr++;
	if (!kept) {
		c->skipped = true;
		return 0;
	}
	/* Left out, not lost. What was lost in between does not matter either. */
	if (c->skipped && c->any)
		sl_composer_lost(&c->composer, 0);
	c->skipped = false;
	if (raw->kind == SL_EV_LOST)
		sl_composer_lost(&c->composer, raw->event.lost.count);
	else
		r = copy_record(t, c, raw);
	c->any = true;
	if (raw->ts_ns < t->first_ns)
		t->first_ns = raw->ts_ns;
	if (t->params->most_bytes && t->page_bytes_sum > t->params->most_bytes)
		return -EFBIG;
	return r;
}

/* ---- the file ---- */

static int put_meta(struct trim *t, struct sl_dat_writer *w, const char *key, const char *value,
		    struct sl_err *err)
{
	struct sl_redact *redact = t->params->redact;

	if (redact)
		value = sl_redact_meta_value(redact, key, value);
	return sl_dat_writer_meta(w, t->first_ns, redact ? sl_redact_meta_key(redact, key) : key, value, err);
}

static int put_task(struct trim *t, struct sl_dat_writer *w, const struct sl_ev_task *task,
		    struct sl_err *err)
{
	struct sl_redact *redact = t->params->redact;
	char comm[SL_COMM_LEN + 1] = "";
	struct sl_dat_task out = {
		.pid = task->pid, .tgid = task->tgid, .policy = task->policy, .nice = task->nice,
		.phase = task->phase, .comm = comm, .detail = task->detail ? task->detail : "",
	};

	memcpy(comm, task->comm, SL_COMM_LEN);
	if (redact) {
		out.comm = sl_redact_comm(redact, comm);
		out.detail = sl_redact_detail(redact, out.detail);
	}
	return sl_dat_writer_task(w, t->first_ns, &out, err);
}

/* What the recording says of itself, of the whole file; a third reading, of little. */
static int put_all_meta(struct trim *t, struct sl_dat_writer *w, struct sl_err *err)
{
	struct sl_dat_raw raw;
	char number[32];
	int r;

	r = sl_source_rewind(t->source, err);
	while (!r && (r = sl_dat_raw_next(t->source, &raw, err)) > 0) {
		r = 0;
		if (raw.kind == SL_EV_META && raw.event.meta.key && raw.event.meta.value)
			r = put_meta(t, w, raw.event.meta.key, raw.event.meta.value, err);
		else if (raw.kind == SL_EV_TASK)
			r = put_task(t, w, &raw.event.task, err);
	}
	if (r < 0)
		return r;
	snprintf(number, sizeof(number), "%u", t->params->nr_windows);
	r = put_meta(t, w, "trimmed.windows", number, err);
	snprintf(number, sizeof(number), "%" PRIu64, t->lost);
	return r ? r : put_meta(t, w, "trimmed.lost", number, err);
}

static int put_front(struct trim *t, struct sl_dat_writer *w, struct sl_err *err)
{
	unsigned int i;
	int r = sl_dat_writer_add_headers(w, t->meta->header_page, t->meta->header_event, err);

	for (i = 0; i < t->meta->nr_binds && !r; i++)
		if (!is_meta(t->meta->binds[i].kind))
			r = sl_dat_writer_add_format(w, t->meta->formats[i].system, t->meta->formats[i].text, err);
	return r ? r : put_all_meta(t, w, err);
}

static int put_data(struct trim *t, struct sl_dat_writer *w, struct sl_err *err)
{
	const struct sl_source_info *info = sl_source_info(t->source);
	uint16_t *cpus = malloc((info->nr_cpus + 1) * sizeof(*cpus));
	unsigned int i;
	int r;

	if (!cpus)
		return sl_err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < info->nr_cpus; i++)
		cpus[i] = info->cpus[i].cpu;
	r = sl_dat_writer_begin_buffer(w, cpus, info->nr_cpus, err);
	for (i = 0; i < info->nr_cpus && !r; i++)
		r = sl_dat_writer_cpu_data(w, cpus[i], t->cpus[cpus[i]].pages, t->cpus[cpus[i]].bytes, err);
	free(cpus);
	return r;
}

static int write_file(struct trim *t, struct sl_trim_result *ret, struct sl_err *err)
{
	const struct sl_source_info *info = sl_source_info(t->source);
	const struct sl_dat_writer_opts opts = {
		.page_bytes = info->page_bytes, .clock = info->clock, .compress = SL_DAT_ZSTD,
		.uname = info->kernel && t->params->redact ?
			 sl_redact_uname(t->params->redact, info->kernel) : info->kernel ? info->kernel : "",
	};
	struct sl_dat_writer *w;
	int r = sl_dat_writer_create(t->params->output, &opts, &w, err);

	if (r < 0)
		return r;
	r = put_front(t, w, err);
	if (!r)
		r = put_data(t, w, err);
	if (r < 0) {
		sl_dat_writer_abort(w);
		return r;
	}
	return sl_dat_writer_finish(w, &ret->bytes, err);
}

static int copy(struct trim *t, struct sl_err *err)
{
	struct sl_dat_raw raw;
	unsigned int c;
	int r;

	r = sl_source_rewind(t->source, err);
	for (c = 0; c < t->nr_cpus && !r; c++) {
		t->cpus[c].nr = 0;
		r = sl_composer_init(&t->cpus[c].composer, sl_source_info(t->source)->page_bytes, 1, take_pages,
				     &t->cpus[c]);
	}
	while (!r && (r = sl_dat_raw_next(t->source, &raw, err)) > 0)
		r = is_meta(raw.kind) ? 0 : copy_item(t, &raw);
	for (c = 0; c < t->nr_cpus && !r; c++)
		r = sl_composer_finish(&t->cpus[c].composer);
	if (r == -EFBIG)
		return sl_err_set(err, r, "%s: the windows hold more than the size that is allowed",
				  t->params->output);
	return r < 0 && r == -ENOMEM ? sl_err_set(err, r, "out of memory") : r;
}

static int check(struct trim *t, struct sl_err *err)
{
	const struct sl_source_info *info = sl_source_info(t->source);
	const char *what = NULL;

	t->meta = sl_dat_raw_meta(t->source);
	if (!t->meta)
		what = "it is a text trace";
	else if (info->big_endian != SL_HOST_BIG_ENDIAN || info->long_bytes != sizeof(long))
		what = "it comes from a machine with another byte order or word size";
	else if (!t->meta->header_page || !t->meta->header_event)
		what = "it has no header_page";
	else if (t->meta->has_tsc2nsec)
		what = "its clock counts cycles";
	if (what)
		return sl_err_set(err, SL_EUNSUPP, "%s cannot be copied in part: %s", t->params->input, what);
	return 0;
}

static int prepare(struct trim *t, struct sl_err *err)
{
	const struct sl_source_info *info = sl_source_info(t->source);
	unsigned int i;

	for (i = 0; i < info->nr_cpus; i++)
		if (info->cpus[i].cpu >= t->nr_cpus)
			t->nr_cpus = info->cpus[i].cpu + 1u;
	t->cpus = calloc(t->nr_cpus + 1ull, sizeof(*t->cpus));
	t->names = calloc(t->meta->nr_binds + 1ull, sizeof(*t->names));
	if (!t->cpus || !t->names)
		return sl_err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < t->meta->nr_binds; i++)
		find_name_fields(t->meta->formats[i].text, &t->names[i]);
	t->first_ns = UINT64_MAX;
	return 0;
}

/* Windows that do not overlap on the CPU where they are most apart. */
static unsigned int count_windows(const struct trim *t)
{
	unsigned int most = 0, c, w, v;

	for (c = 0; c < t->nr_cpus; c++) {
		unsigned int nr = 0;

		for (w = 0; w < t->params->nr_windows; w++) {
			const struct range *a = &t->cpus[c].ranges[w];
			bool alone = true;

			for (v = 0; v < w; v++) {
				const struct range *b = &t->cpus[c].ranges[v];

				alone &= a->from > b->to || b->from > a->to;
			}
			nr += alone;
		}
		most = nr > most ? nr : most;
	}
	return most;
}

int sl_trim(const struct sl_trim_params *params, struct sl_trim_result *ret, struct sl_err *err)
{
	struct trim t = { .params = params };
	struct sl_trim_result result = { 0 };
	unsigned int c;
	int r;

	if (params->nr_windows > SL_TRIM_WINDOWS_MAX)
		return sl_err_set(err, SL_EUSAGE, "%u windows: at most %d", params->nr_windows, SL_TRIM_WINDOWS_MAX);
	r = sl_source_open(params->input, &t.source, err);
	if (r < 0)
		return r;
	r = check(&t, err);
	r = r ? r : prepare(&t, err);
	r = r ? r : find_ranges(&t, err);
	r = r ? r : copy(&t, err);
	r = r ? r : write_file(&t, &result, err);
	if (!r) {
		result.events = t.events;
		result.windows = count_windows(&t);
		*ret = result;
	}
	for (c = 0; t.cpus && c < t.nr_cpus; c++) {
		sl_composer_release(&t.cpus[c].composer);
		free(t.cpus[c].pages);
	}
	free(t.cpus);
	free(t.names);
	sl_source_free(t.source);
	return r;
}
