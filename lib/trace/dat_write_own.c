// SPDX-License-Identifier: LGPL-2.1-only
#include "trace/dat_write_own.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/compose.h"

/* A record has a length word, and the composer keeps room for a count of lost events. */
#define REC_HEAD_BYTES (8u + sizeof(long))
#define STR_MAX_BYTES 60000u	/* a __data_loc has 16 bits of length */

void sl_dat_buf_add(struct sl_dat_buf *buf, const void *data, size_t len)
{
	if (buf->failed || !len)
		return;
	if (len > buf->room - buf->len) {
		size_t room = buf->room ? buf->room : 4096;
		unsigned char *grown;

		while (room - buf->len < len)
			room *= 2;
		grown = realloc(buf->data, room);
		if (!grown) {
			buf->failed = true;
			return;
		}
		buf->data = grown;
		buf->room = room;
	}
	if (data)
		memcpy(buf->data + buf->len, data, len);
	else
		memset(buf->data + buf->len, 0, len);
	buf->len += len;
}

void sl_dat_buf_str(struct sl_dat_buf *buf, const char *text)
{
	sl_dat_buf_add(buf, text, strlen(text) + 1);
}

void sl_dat_buf_zero(struct sl_dat_buf *buf, size_t len)
{
	sl_dat_buf_add(buf, NULL, len);
}

void sl_dat_buf_u16(struct sl_dat_buf *buf, uint16_t value)
{
	sl_dat_buf_add(buf, &value, sizeof(value));
}

void sl_dat_buf_u32(struct sl_dat_buf *buf, uint32_t value)
{
	sl_dat_buf_add(buf, &value, sizeof(value));
}

void sl_dat_buf_u64(struct sl_dat_buf *buf, uint64_t value)
{
	sl_dat_buf_add(buf, &value, sizeof(value));
}

void sl_dat_buf_free(struct sl_dat_buf *buf)
{
	free(buf->data);
	*buf = (struct sl_dat_buf){ 0 };
}

static int no_memory(struct sl_err *err)
{
	return sl_err_set(err, -ENOMEM, "cannot compose the recording's metadata: out of memory");
}

/* The "name;" that ends the declaration of a format line. */
static bool line_is_field(const char *line, size_t len, const char *name)
{
	const char *semicolon = memchr(line, ';', len);
	size_t name_len = strlen(name);

	return semicolon && (size_t)(semicolon - line) > name_len &&
	       !memcmp(semicolon - name_len, name, name_len) &&
	       (semicolon[-(long)name_len - 1] == ' ' || semicolon[-(long)name_len - 1] == '\t');
}

static int learn_common(struct sl_dat_common *common, const char *format, struct sl_err *err)
{
	struct sl_dat_buf lines = { 0 };
	bool has_type = false, has_pid = false;
	const char *line = strstr(format, "format:\n");

	for (line = line ? line + strlen("format:\n") : format; *line == '\t';) {
		const char *end = strchrnul(line, '\n');
		const char *where = strstr(line, "offset:");
		unsigned int offset, size;

		if (!where || where > end || sscanf(where, "offset:%u; size:%u", &offset, &size) != 2 ||
		    offset > 256 || size > 256)
			break;
		sl_dat_buf_add(&lines, line, end - line);
		sl_dat_buf_add(&lines, "\n", 1);
		if (offset + size > common->bytes)
			common->bytes = offset + size;
		if (line_is_field(line, end - line, "common_type")) {
			common->type_offset = offset;
			has_type = size == 2;
		} else if (line_is_field(line, end - line, "common_pid")) {
			common->pid_offset = offset;
			has_pid = size == 4;
		}
		line = *end ? end + 1 : end;
	}
	sl_dat_buf_zero(&lines, 1);
	if (lines.failed) {
		sl_dat_buf_free(&lines);
		return no_memory(err);
	}
	if (!has_type || !has_pid) {
		sl_dat_buf_free(&lines);
		common->bytes = 0;
		return sl_err_set(err, SL_EUNSUPP,
				  "cannot describe our own events: the kernel's event format has no 16-bit common_type and 32-bit common_pid");
	}
	common->bytes = (common->bytes + 3) & ~3u;
	common->lines = (char *)lines.data;
	return 0;
}

int sl_dat_own_learn(struct sl_dat_own *own, const char *format, struct sl_err *err)
{
	const char *id_line = strstr(format, "ID:");
	unsigned int id;

	if (id_line && sscanf(id_line, "ID: %u", &id) == 1 && id < 65536)
		own->used_ids[id / 64] |= 1ull << (id % 64);
	return own->common.lines ? 0 : learn_common(&own->common, format, err);
}

static int free_id(struct sl_dat_own *own, uint16_t *ret_id)
{
	/* From the top: the kernel hands out ids from below. */
	for (unsigned int id = 65520; id; id--) {
		if (own->used_ids[id / 64] & (1ull << (id % 64)))
			continue;
		own->used_ids[id / 64] |= 1ull << (id % 64);
		*ret_id = id;
		return 0;
	}
	return -ENOSPC;
}

int sl_dat_own_formats(struct sl_dat_own *own, char **ret_meta, char **ret_task, struct sl_err *err)
{
	const unsigned int at = own->common.bytes;
	char *meta, *task;

	if (!own->common.lines)
		return sl_err_set(err, SL_EUSAGE, "cannot describe our own events: no kernel event format was added");
	if (free_id(own, &own->meta_id) || free_id(own, &own->task_id))
		return sl_err_set(err, SL_EUNSUPP, "cannot describe our own events: no event id is free");
	if (asprintf(&meta,
		     "name: meta\nID: %u\nformat:\n%s\n"
		     "\tfield:__data_loc char[] key;\toffset:%u;\tsize:4;\tsigned:0;\n"
		     "\tfield:__data_loc char[] value;\toffset:%u;\tsize:4;\tsigned:0;\n"
		     "\nprint fmt: \"%%s=%%s\", __get_str(key), __get_str(value)\n",
		     own->meta_id, own->common.lines, at, at + 4) < 0)
		return no_memory(err);
	if (asprintf(&task,
		     "name: task\nID: %u\nformat:\n%s\n"
		     "\tfield:char comm[16];\toffset:%u;\tsize:16;\tsigned:0;\n"
		     "\tfield:int pid;\toffset:%u;\tsize:4;\tsigned:1;\n"
		     "\tfield:int tgid;\toffset:%u;\tsize:4;\tsigned:1;\n"
		     "\tfield:int policy;\toffset:%u;\tsize:4;\tsigned:1;\n"
		     "\tfield:int nice;\toffset:%u;\tsize:4;\tsigned:1;\n"
		     "\tfield:int phase;\toffset:%u;\tsize:4;\tsigned:1;\n"
		     "\tfield:__data_loc char[] detail;\toffset:%u;\tsize:4;\tsigned:0;\n"
		     "\nprint fmt: \"comm=%%s pid=%%d tgid=%%d policy=%%d nice=%%d phase=%%d %%s\", "
		     "REC->comm, REC->pid, REC->tgid, REC->policy, REC->nice, REC->phase, "
		     "__get_str(detail)\n",
		     own->task_id, own->common.lines, at, at + 16, at + 20, at + 24, at + 28,
		     at + 32, at + 36) < 0) {
		free(meta);
		return no_memory(err);
	}
	*ret_meta = meta;
	*ret_task = task;
	return 0;
}

static struct sl_dat_own_rec *new_rec(struct sl_dat_own *own, uint64_t ts_ns)
{
	struct sl_dat_own_rec *rec;

	if (own->nr == own->room) {
		size_t room = own->room ? own->room * 2 : 256;
		struct sl_dat_own_rec *grown = realloc(own->recs, room * sizeof(*grown));

		if (!grown)
			return NULL;
		own->recs = grown;
		own->room = room;
	}
	rec = &own->recs[own->nr];
	*rec = (struct sl_dat_own_rec){
		.ts_ns = ts_ns,
		.offset = own->payload.len,
		.seq = own->nr,
	};
	own->sorted = false;
	return rec;
}

/* The common part. The type is filled in when composing: ids are chosen last. */
static void put_common(struct sl_dat_own *own, uint16_t kind)
{
	const struct sl_dat_common *common = &own->common;
	const size_t at = own->payload.len;
	const int32_t pid = getpid();

	sl_dat_buf_zero(&own->payload, common->bytes);
	if (own->payload.failed)
		return;
	memcpy(own->payload.data + at + common->type_offset, &kind, sizeof(kind));
	memcpy(own->payload.data + at + common->pid_offset, &pid, sizeof(pid));
}

/* A __data_loc word: the string lies at `offset` of the record. */
static uint32_t data_loc(size_t offset, size_t len)
{
	return (uint32_t)(len << 16 | offset);
}

static int commit_rec(struct sl_dat_own *own, struct sl_dat_own_rec *rec, struct sl_err *err)
{
	while ((own->payload.len - rec->offset) % 4 && !own->payload.failed)
		sl_dat_buf_zero(&own->payload, 1);
	if (own->payload.failed)
		return no_memory(err);
	rec->bytes = own->payload.len - rec->offset;
	own->nr++;
	return 0;
}

/* Room for strings in one record whose fixed part is `fixed` bytes. */
static size_t string_room(unsigned int page_bytes, size_t fixed)
{
	size_t room = page_bytes - SL_COMPOSE_HEAD_BYTES - REC_HEAD_BYTES - fixed - 4;

	return room < STR_MAX_BYTES ? room : STR_MAX_BYTES;
}

enum own_kind { OWN_META, OWN_TASK };

int sl_dat_own_meta(struct sl_dat_own *own, uint64_t ts_ns, const char *key, const char *value,
		    unsigned int page_bytes, struct sl_err *err)
{
	const size_t fixed = own->common.bytes + 8;
	const size_t room = string_room(page_bytes, fixed);
	size_t left = strlen(value);

	if (!own->common.lines)
		return sl_err_set(err, SL_EUSAGE, "cannot store metadata: no kernel event format was added");
	if (strlen(key) + 32 > room / 2)
		return sl_err_set(err, SL_EUSAGE, "cannot store metadata: the key of %zu bytes is too long",
				  strlen(key));
	for (unsigned int part = 0; !part || left; part++) {
		struct sl_dat_own_rec *rec = new_rec(own, ts_ns);
		const char zero = 0;
		char suffix[16] = "";
		size_t key_len, take;
		int r;

		if (!rec)
			return no_memory(err);
		if (part)
			snprintf(suffix, sizeof(suffix), ".%u", part);
		key_len = strlen(key) + strlen(suffix) + 1;
		take = left < room - key_len - 1 ? left : room - key_len - 1;
		put_common(own, OWN_META);
		sl_dat_buf_u32(&own->payload, data_loc(fixed, key_len));
		sl_dat_buf_u32(&own->payload, data_loc(fixed + key_len, take + 1));
		sl_dat_buf_add(&own->payload, key, strlen(key));
		sl_dat_buf_str(&own->payload, suffix);
		sl_dat_buf_add(&own->payload, value, take);
		sl_dat_buf_add(&own->payload, &zero, 1);
		r = commit_rec(own, rec, err);
		if (r < 0)
			return r;
		value += take;
		left -= take;
	}
	return 0;
}

int sl_dat_own_task(struct sl_dat_own *own, uint64_t ts_ns, const struct sl_dat_task *task,
		    unsigned int page_bytes, struct sl_err *err)
{
	const size_t fixed = own->common.bytes + 40;
	const size_t room = string_room(page_bytes, fixed);
	const char *detail = task->detail ? task->detail : "";
	const size_t len = strlen(detail) < room ? strlen(detail) : room - 1;
	struct sl_dat_own_rec *rec;
	const char zero = 0;
	char comm[16] = "";

	if (!own->common.lines)
		return sl_err_set(err, SL_EUSAGE, "cannot store metadata: no kernel event format was added");
	rec = new_rec(own, ts_ns);
	if (!rec)
		return no_memory(err);
	if (task->comm)
		memcpy(comm, task->comm, strnlen(task->comm, sizeof(comm) - 1));
	put_common(own, OWN_TASK);
	sl_dat_buf_add(&own->payload, comm, sizeof(comm));
	sl_dat_buf_u32(&own->payload, task->pid);
	sl_dat_buf_u32(&own->payload, task->tgid);
	sl_dat_buf_u32(&own->payload, task->policy);
	sl_dat_buf_u32(&own->payload, task->nice);
	sl_dat_buf_u32(&own->payload, task->phase);
	sl_dat_buf_u32(&own->payload, data_loc(fixed, len + 1));
	sl_dat_buf_add(&own->payload, detail, len);
	sl_dat_buf_add(&own->payload, &zero, 1);
	return commit_rec(own, rec, err);
}

static int by_time(const void *a, const void *b)
{
	const struct sl_dat_own_rec *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int add_pages(void *arg, const unsigned char *pages, size_t bytes)
{
	struct sl_dat_buf *buf = arg;

	sl_dat_buf_add(buf, pages, bytes);
	return buf->failed ? -ENOMEM : 0;
}

int sl_dat_own_compose(struct sl_dat_own *own, uint64_t until_ns, unsigned int page_bytes,
		       struct sl_dat_buf *ret_pages, struct sl_err *err)
{
	struct sl_composer composer;
	int r;

	if (own->next == own->nr)
		return 0;
	if (!own->sorted) {
		qsort(own->recs + own->next, own->nr - own->next, sizeof(*own->recs), by_time);
		own->sorted = true;
	}
	r = sl_composer_init(&composer, page_bytes, 1, add_pages, ret_pages);
	for (; !r && own->next < own->nr && own->recs[own->next].ts_ns <= until_ns; own->next++) {
		const struct sl_dat_own_rec *rec = &own->recs[own->next];
		unsigned char *data = sl_composer_add(&composer, rec->ts_ns, rec->bytes);
		uint16_t kind;

		if (!data) {
			r = composer.error ?: -EMSGSIZE;
			break;
		}
		memcpy(data, own->payload.data + rec->offset, rec->bytes);
		memcpy(&kind, data + own->common.type_offset, sizeof(kind));
		kind = kind == OWN_META ? own->meta_id : own->task_id;
		memcpy(data + own->common.type_offset, &kind, sizeof(kind));
	}
	if (!r)
		r = sl_composer_finish(&composer);
	sl_composer_release(&composer);
	return r == -EMSGSIZE ? sl_err_set(err, r, "cannot store metadata: a record is longer than a sub-buffer") :
		r < 0 ? no_memory(err) : 0;
}

void sl_dat_own_clear(struct sl_dat_own *own)
{
	free(own->common.lines);
	free(own->recs);
	sl_dat_buf_free(&own->payload);
	*own = (struct sl_dat_own){ 0 };
}
