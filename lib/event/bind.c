// SPDX-License-Identifier: LGPL-2.1-only
#include "event/bind.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "event/bind_fast.h"
#include "event/bind_state.h"
#include "event/bytes.h"

/* One field line: "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;" */
struct line_field {
	const char *name;
	size_t name_len;
	const char *decl;	/* everything before the name */
	size_t decl_len;
	uint32_t offset, bytes;
	bool is_array;		/* a [N] or [] in the declaration */
	bool is_signed;
};

struct text {
	const char *p, *end;
};

/* Cut off the next line (without its newline). */
static bool next_line(struct text *t, struct text *ret_line)
{
	const char *nl;

	if (t->p >= t->end)
		return false;
	nl = memchr(t->p, '\n', (size_t)(t->end - t->p));
	ret_line->p = t->p;
	ret_line->end = nl ? nl : t->end;
	t->p = nl ? nl + 1 : t->end;
	return true;
}

static bool starts_with(const struct text *t, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(t->end - t->p) >= len && !memcmp(t->p, word, len);
}

static void skip_blanks(struct text *t)
{
	while (t->p < t->end && (*t->p == ' ' || *t->p == '\t'))
		t->p++;
}

/* A decimal number at the front of t; false when there is none or it is absurd. */
static bool take_u32(struct text *t, uint32_t *ret)
{
	uint64_t v = 0;
	const char *start;

	skip_blanks(t);
	for (start = t->p; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++) {
		v = v * 10 + (uint64_t)(*t->p - '0');
		if (v > UINT32_MAX)
			return false;
	}
	if (t->p == start)
		return false;
	*ret = (uint32_t)v;
	return true;
}

/* The value behind "key:" anywhere in the line. */
static bool find_u32(const struct text *line, const char *key, uint32_t *ret)
{
	const char *hit = memmem(line->p, (size_t)(line->end - line->p), key, strlen(key));
	struct text t;

	if (!hit)
		return false;
	t.p = hit + strlen(key);
	t.end = line->end;
	return take_u32(&t, ret);
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool contains(const char *p, size_t len, const char *word)
{
	return memmem(p, len, word, strlen(word)) != NULL;
}

static bool parse_field(struct text line, struct line_field *f)
{
	const char *semi, *p;
	struct text tail;
	uint32_t sign;

	skip_blanks(&line);
	if (!starts_with(&line, "field:"))
		return false;
	line.p += strlen("field:");
	skip_blanks(&line);
	semi = memchr(line.p, ';', (size_t)(line.end - line.p));
	if (!semi)
		return false;
	f->decl = line.p;
	p = semi;
	f->is_array = false;
	/* "char prev_comm[16]": the bounds follow the name ... */
	if (p > line.p && p[-1] == ']') {
		while (p > line.p && *p != '[')
			p--;
		f->is_array = true;
	}
	f->name_len = 0;
	while (p > line.p && is_word(p[-1])) {
		p--;
		f->name_len++;
	}
	if (!f->name_len)
		return false;
	f->name = p;
	f->decl_len = (size_t)(p - f->decl);
	/* ... "__data_loc char[] comm": they belong to the type. */
	if (memchr(f->decl, '[', f->decl_len))
		f->is_array = true;
	tail.p = semi;
	tail.end = line.end;
	if (!find_u32(&tail, "offset:", &f->offset) || !find_u32(&tail, "size:", &f->bytes))
		return false;
	if (find_u32(&tail, "signed:", &sign))
		f->is_signed = sign != 0;
	else	/* kernels before 2.6.32 do not say */
		f->is_signed = !contains(f->decl, f->decl_len, "unsigned") &&
			       !contains(f->decl, f->decl_len, "u8") &&
			       !contains(f->decl, f->decl_len, "u16") &&
			       !contains(f->decl, f->decl_len, "u32") &&
			       !contains(f->decl, f->decl_len, "u64");
	return true;
}

static bool is_int_size(uint32_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static bool name_is(const struct line_field *f, const char *name)
{
	return f->name_len == strlen(name) && !memcmp(f->name, name, f->name_len);
}

bool sl_bind_peek(const char *text, size_t len, struct sl_bind_name *ret_name)
{
	struct text t = { text, text + len }, line;
	bool have_name = false, have_id = false;
	uint32_t id = 0;
	unsigned int lines;

	for (lines = 0; lines < 8 && !(have_name && have_id) && next_line(&t, &line); lines++) {
		if (starts_with(&line, "name:")) {
			size_t n;

			line.p += strlen("name:");
			skip_blanks(&line);
			n = (size_t)(line.end - line.p);
			if (n >= sizeof(ret_name->name))
				n = sizeof(ret_name->name) - 1;
			memcpy(ret_name->name, line.p, n);
			ret_name->name[n] = '\0';
			have_name = true;
		} else if (starts_with(&line, "ID:")) {
			line.p += strlen("ID:");
			have_id = take_u32(&line, &id);
		}
	}
	ret_name->id = id;
	return have_name && have_id && id <= UINT16_MAX;
}

/* Fill in how a field of the text gives member `desc`; false when it cannot. */
static bool bind_field(const struct line_field *f, const struct sl_field_desc *desc,
		       struct sl_bind_field *b)
{
	bool string = desc->type == SL_FT_COMM || desc->type == SL_FT_STR;

	if (f->offset > UINT16_MAX || f->bytes > UINT16_MAX ||
	    f->offset + f->bytes > UINT16_MAX)
		return false;
	b->src = (uint16_t)f->offset;
	b->bytes = (uint16_t)f->bytes;
	b->dst = desc->offset;
	b->is_signed = f->is_signed;
	b->where = SL_BW_INLINE;
	if (contains(f->decl, f->decl_len, "__data_loc"))
		b->where = SL_BW_DATA_LOC;
	else if (contains(f->decl, f->decl_len, "__rel_loc"))
		b->where = SL_BW_REL_LOC;
	if (string) {
		b->how = desc->type == SL_FT_COMM ? SL_BH_COMM : SL_BH_STR;
		return b->where == SL_BW_INLINE ? f->is_array && f->bytes > 0 : f->bytes == 4;
	}
	switch (desc->type) {
	case SL_FT_U64:
		b->how = SL_BH_U64;
		break;
	case SL_FT_PRIO:
	case SL_FT_I16:
		b->how = SL_BH_I16;
		break;
	case SL_FT_STATE:
		b->how = SL_BH_STATE;
		break;
	case SL_FT_I32:
	case SL_FT_COMM:
	case SL_FT_STR:
		b->how = SL_BH_I32;
		break;
	}
	return b->where == SL_BW_INLINE && !f->is_array && is_int_size(f->bytes);
}

static const struct sl_bind_field *field_to(const struct sl_bind *b, const char *name,
					    const struct sl_field_desc *descs)
{
	unsigned int i, d;

	for (d = 0; descs[d].name; d++)
		if (!strcmp(descs[d].name, name))
			for (i = 0; i < b->nr_fields; i++)
				if (b->fields[i].dst == descs[d].offset)
					return &b->fields[i];
	return NULL;
}

/* Offset of a field that a fast decoder reads as int; clears *ok when it is not one. */
static uint16_t fast_int(const struct sl_bind *b, const struct sl_field_desc *descs,
			 const char *name, bool *ok)
{
	const struct sl_bind_field *f = field_to(b, name, descs);

	if (!f || f->how == SL_BH_FALLBACK || f->bytes != 4 || !f->is_signed) {
		*ok = false;
		return 0;
	}
	return f->src;
}

static uint16_t fast_comm(const struct sl_bind *b, const struct sl_field_desc *descs,
			  const char *name, bool *ok)
{
	const struct sl_bind_field *f = field_to(b, name, descs);

	if (!f || f->where != SL_BW_INLINE || f->bytes != SL_COMM_LEN) {
		*ok = false;
		return 0;
	}
	return f->src;
}

/* Numbers only, all as wide as their members and as far apart: schedlat's own events. */
static bool is_copy(struct sl_bind *b)
{
	unsigned int low = UINT_MAX, high = 0, i;

	for (i = 0; i < b->nr_fields; i++) {
		const struct sl_bind_field *f = &b->fields[i];
		unsigned int bytes = f->how == SL_BH_U64 ? 8 : f->how == SL_BH_I32 ? 4 : f->how == SL_BH_I16 ? 2 : 0;

		if (!bytes || f->bytes != bytes || (bytes < 8 && !f->is_signed) ||
		    f->src - f->dst != b->fields[0].src - b->fields[0].dst)
			return false;
		low = f->dst < low ? f->dst : low;
		high = f->dst + bytes > high ? f->dst + bytes : high;
	}
	if (high <= low)
		return false;
	b->copy.dst = (uint16_t)low;
	b->copy.src = (uint16_t)(low + b->fields[0].src - b->fields[0].dst);
	b->copy.bytes = (uint16_t)(high - low);
	return true;
}

static void choose_fast(struct sl_bind *b, const struct sl_field_desc *descs)
{
	const struct sl_bind_field *f;
	bool ok = !b->swap && b->common.flags_bytes == 1 && b->common.pid_bytes == 4;

	b->fast = SL_BF_NONE;
	switch (b->kind) {
	case SL_EV_SWITCH:
		b->sw.prev_comm = fast_comm(b, descs, "prev_comm", &ok);
		b->sw.next_comm = fast_comm(b, descs, "next_comm", &ok);
		b->sw.prev_pid = fast_int(b, descs, "prev_pid", &ok);
		b->sw.next_pid = fast_int(b, descs, "next_pid", &ok);
		b->sw.prev_prio = fast_int(b, descs, "prev_prio", &ok);
		b->sw.next_prio = fast_int(b, descs, "next_prio", &ok);
		f = field_to(b, "prev_state", descs);
		if (!f || (f->bytes != 4 && f->bytes != 8)) {
			ok = false;
		} else {
			b->sw.prev_state = f->src;
			b->sw.state_is_64 = f->bytes == 8;
		}
		if (ok)
			b->fast = SL_BF_SWITCH;
		break;
	case SL_EV_WAKING:
	case SL_EV_WAKEUP:
	case SL_EV_WAKEUP_NEW:
		b->wake.comm = fast_comm(b, descs, "comm", &ok);
		b->wake.pid = fast_int(b, descs, "pid", &ok);
		b->wake.prio = fast_int(b, descs, "prio", &ok);
		b->wake.target_cpu = fast_int(b, descs, "target_cpu", &ok);
		/* Recordings with a `success` field (before 4.14) take the general decoder. */
		f = field_to(b, "success", descs);
		if (ok && f && f->how == SL_BH_FALLBACK && f->fallback == 1)
			b->fast = SL_BF_WAKE;
		break;
	case SL_EV_MIGRATE:
		b->migrate.comm = fast_comm(b, descs, "comm", &ok);
		b->migrate.pid = fast_int(b, descs, "pid", &ok);
		b->migrate.prio = fast_int(b, descs, "prio", &ok);
		b->migrate.orig_cpu = fast_int(b, descs, "orig_cpu", &ok);
		b->migrate.dest_cpu = fast_int(b, descs, "dest_cpu", &ok);
		if (ok)
			b->fast = SL_BF_MIGRATE;
		break;
	case SL_EV_QUEUE:
	case SL_EV_ENTITY:
		if (ok && is_copy(b))
			b->fast = SL_BF_COPY;
		break;
	default:	/* rare events: the general decoder */
		break;
	}
}

static void need(struct sl_bind *b, unsigned int bytes)
{
	if (bytes > b->min_bytes)
		b->min_bytes = (uint16_t)bytes;
}

static bool bind_common(struct sl_bind *b, const struct line_field *f)
{
	bool usable = f->offset < 256 && is_int_size(f->bytes);

	if (name_is(f, "common_type"))	/* the reader finds the event by it */
		return f->offset == 0 && f->bytes == 2;
	if (name_is(f, "common_flags") && usable) {
		b->common.flags = (uint16_t)f->offset;
		b->common.flags_bytes = (uint8_t)f->bytes;
	} else if (name_is(f, "common_pid") && usable) {
		b->common.pid = (uint16_t)f->offset;
		b->common.pid_bytes = (uint8_t)f->bytes;
	} else {
		return true;
	}
	need(b, f->offset + f->bytes);
	return true;
}

int sl_bind_format(const char *text, size_t len, const struct sl_event_desc *desc,
		   bool big_endian, struct sl_bind *ret_bind, struct sl_err *err)
{
	const struct sl_field_desc *descs = desc->fields();
	struct text t = { text, text + len }, line;
	bool seen[SL_BIND_FIELDS_MAX] = { false };
	struct sl_bind b = { .kind = desc->kind };
	struct sl_bind_name name;
	unsigned int i;

	if (!sl_bind_peek(text, len, &name))
		return sl_err_set(err, SL_EDATA, "format of %s/%s has no name or ID", desc->system,
				  desc->name);
	b.id = (uint16_t)name.id;
	b.swap = big_endian != SL_HOST_BIG_ENDIAN;
	b.min_bytes = 2;
	for (i = 0; descs[i].name && i < SL_BIND_FIELDS_MAX; i++) {
		b.fields[i].dst = descs[i].offset;
		b.fields[i].how = SL_BH_FALLBACK;
		b.fields[i].fallback = descs[i].fallback;
		b.fields[i].wide = descs[i].wide;
	}
	b.nr_fields = i;

	while (next_line(&t, &line)) {
		struct line_field f;

		if (starts_with(&line, "print fmt:")) {
			if (b.kind == SL_EV_SWITCH)
				sl_bind_state_parse(&b, line.p, (size_t)(t.end - line.p));
			break;
		}
		if (!parse_field(line, &f))
			continue;
		if (!bind_common(&b, &f))
			return sl_err_set(err, SL_EDATA,
					  "format of %s/%s: common_type is not 2 bytes at offset 0",
					  desc->system, desc->name);
		for (i = 0; i < b.nr_fields; i++) {
			if (seen[i] || !name_is(&f, descs[i].name))
				continue;
			if (!bind_field(&f, &descs[i], &b.fields[i]))
				return sl_err_set(err, SL_EDATA,
						  "format of %s/%s: cannot read field %s (offset "
						  "%u, %u bytes)", desc->system, desc->name,
						  descs[i].name, f.offset, f.bytes);
			seen[i] = true;
			need(&b, b.fields[i].src + b.fields[i].bytes);
			break;
		}
	}
	for (i = 0; i < b.nr_fields; i++)
		if (!seen[i] && !descs[i].optional)
			return sl_err_set(err, SL_EDATA, "format of %s/%s has no field %s",
					  desc->system, desc->name, descs[i].name);
	sl_bind_state_finish(&b);
	choose_fast(&b, descs);
	*ret_bind = b;
	return 0;
}

void sl_bind_copy_comm(char dst[SL_COMM_LEN], const unsigned char *src, unsigned int len)
{
	unsigned int i = 0;

	while (i < len && i < SL_COMM_LEN - 1 && src[i]) {
		dst[i] = (char)src[i];
		i++;
	}
	memset(dst + i, 0, SL_COMM_LEN - i);
}

/* Where a string of this record is; false when it points outside the record. */
static bool locate(const struct sl_bind *b, const struct sl_bind_field *f,
		   const unsigned char *rec, unsigned int len, const unsigned char **ret_p,
		   unsigned int *ret_len)
{
	uint32_t loc, offset, bytes;

	if (f->where == SL_BW_INLINE) {
		*ret_p = rec + f->src;
		*ret_len = f->bytes;
		return true;
	}
	loc = sl_load32(rec + f->src, b->swap);
	offset = loc & 0xffff;
	bytes = loc >> 16;
	if (f->where == SL_BW_REL_LOC)
		offset += (uint32_t)f->src + f->bytes;
	if (offset > len || bytes > len - offset)
		return false;
	*ret_p = rec + offset;
	*ret_len = bytes;
	return true;
}

struct sl_bind_strings_block {
	struct sl_bind_strings_block *next;
	size_t size, used;
	char bytes[];
};

static char *strings_alloc(struct sl_bind_strings *s, size_t bytes)
{
	struct sl_bind_strings_block *b = s->current, *fresh;
	size_t size = bytes > 16384 ? bytes : 16384;
	char *p;

	while (b && b->size - b->used < bytes && b->next) {
		b = b->next;
		b->used = 0;
	}
	if (!b || b->size - b->used < bytes) {
		fresh = malloc(sizeof(*fresh) + size);
		if (!fresh)
			return NULL;
		fresh->next = NULL;
		fresh->size = size;
		fresh->used = 0;
		if (b)
			b->next = fresh;
		else
			s->first = fresh;
		b = fresh;
	}
	s->current = b;
	p = b->bytes + b->used;
	b->used += bytes;
	s->used += bytes;
	return p;
}

/* A struct of 64-bit members: with room to begin at one of their multiples. */
static void *wide_alloc(struct sl_bind_strings *s, size_t bytes)
{
	char *p = strings_alloc(s, bytes + 7);

	return p ? (void *)(((uintptr_t)p + 7) & ~(uintptr_t)7) : NULL;
}

void sl_bind_strings_reset(struct sl_bind_strings *s)
{
	s->current = s->first;
	if (s->first)
		s->first->used = 0;
	s->used = 0;
}

void sl_bind_strings_release(struct sl_bind_strings *s)
{
	struct sl_bind_strings_block *b = s->first, *next;

	for (; b; b = next) {
		next = b->next;
		free(b);
	}
	memset(s, 0, sizeof(*s));
}

static int32_t clamp32(uint64_t v, const struct sl_bind_field *f)
{
	if (!f->is_signed)
		return v > INT32_MAX ? INT32_MAX : (int32_t)v;
	if ((int64_t)v > INT32_MAX)
		return INT32_MAX;
	return (int64_t)v < INT32_MIN ? INT32_MIN : (int32_t)(int64_t)v;
}

bool sl_bind_decode(const struct sl_bind *b, const unsigned char *rec, unsigned int len,
		    struct sl_bind_strings *strings, struct sl_event *ev)
{
	size_t wide_bytes = sl_event_wide_bytes(b->kind);
	const unsigned char *str;
	char *copy, *wide = NULL;
	unsigned int i, n;

	if (len < b->min_bytes)
		return false;
	if (wide_bytes) {
		wide = wide_alloc(strings, wide_bytes);
		if (!wide)
			return false;
		*sl_event_wide(ev) = wide;
	}
	ev->kind = (uint8_t)b->kind;
	ev->ctx = (uint8_t)sl_load_int(rec + b->common.flags, b->common.flags_bytes, false,
				       b->swap);
	ev->common_pid = (int32_t)sl_load_int(rec + b->common.pid, b->common.pid_bytes, true,
					      b->swap);
	for (i = 0; i < b->nr_fields; i++) {
		const struct sl_bind_field *f = &b->fields[i];
		char *dst = (f->wide ? wide : (char *)ev) + f->dst;
		uint64_t v = 0;

		if (f->how < SL_BH_COMM && f->how != SL_BH_FALLBACK)
			v = sl_load_int(rec + f->src, f->bytes, f->is_signed, b->swap);
		switch ((enum sl_bind_how)f->how) {
		case SL_BH_FALLBACK:
			memcpy(dst, &f->fallback, sizeof(f->fallback));
			break;
		case SL_BH_I32:
			memcpy(dst, &(int32_t){ clamp32(v, f) }, sizeof(int32_t));
			break;
		case SL_BH_U64:
			memcpy(dst, &v, sizeof(v));
			break;
		case SL_BH_I16:
			memcpy(dst, &(int16_t){ sl_bind_i16(clamp32(v, f)) }, sizeof(int16_t));
			break;
		case SL_BH_STATE:
			/* STATE(f) declares the letter and, right behind it, the flag. */
			if (f->bytes < 8)
				v &= (1ull << (f->bytes * 8)) - 1;
			*dst = sl_bind_state(b, v, (uint8_t *)dst + 1);
			break;
		case SL_BH_COMM:
			if (!locate(b, f, rec, len, &str, &n))
				return false;
			sl_bind_copy_comm(dst, str, n);
			break;
		case SL_BH_STR:
			if (!locate(b, f, rec, len, &str, &n))
				return false;
			n = (unsigned int)strnlen((const char *)str, n);
			copy = strings_alloc(strings, (size_t)n + 1);
			if (!copy)
				return false;
			memcpy(copy, str, n);
			copy[n] = '\0';
			memcpy(dst, &(const char *){ copy }, sizeof(const char *));
			break;
		}
	}
	return true;
}
