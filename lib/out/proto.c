// SPDX-License-Identifier: LGPL-2.1-only
#include "out/proto.h"

#include <stdlib.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

#define VARINT_MAX 10	/* bytes of a 64-bit varint */

void sl_proto_release(struct sl_proto *p)
{
	free(p->data);
	memset(p, 0, sizeof(*p));
}

/* Room for that many bytes more, NULL: there is none. */
static unsigned char *room(struct sl_proto *p, size_t bytes)
{
	if (p->failed)
		return NULL;
	if (p->len + bytes > p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 1024;
		unsigned char *grown;

		while (cap < p->len + bytes)
			cap *= 2;
		grown = realloc(p->data, cap);
		if (!grown) {
			p->failed = true;
			return NULL;
		}
		p->data = grown;
		p->cap = cap;
	}
	return p->data + p->len;
}

static size_t put_varint(unsigned char *at, uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		at[n++] = (unsigned char)(value | 0x80);
	at[n++] = (unsigned char)value;
	return n;
}

static void varint(struct sl_proto *p, uint64_t value)
{
	unsigned char *at = room(p, VARINT_MAX);

	if (at)
		p->len += put_varint(at, value);
}

static void tag(struct sl_proto *p, unsigned int field, unsigned int wire)
{
	varint(p, (uint64_t)field << 3 | wire);
}

void sl_proto_uint(struct sl_proto *p, unsigned int field, uint64_t value)
{
	tag(p, field, WIRE_VARINT);
	varint(p, value);
}

void sl_proto_int(struct sl_proto *p, unsigned int field, int64_t value)
{
	sl_proto_uint(p, field, (uint64_t)value);
}

void sl_proto_fixed64(struct sl_proto *p, unsigned int field, uint64_t value)
{
	unsigned char *at;
	unsigned int i;

	tag(p, field, WIRE_FIXED64);
	at = room(p, 8);
	if (!at)
		return;
	for (i = 0; i < 8; i++)
		at[i] = (unsigned char)(value >> 8 * i);
	p->len += 8;
}

void sl_proto_text(struct sl_proto *p, unsigned int field, const char *text)
{
	size_t len = strlen(text);
	unsigned char *at;

	tag(p, field, WIRE_BYTES);
	varint(p, len);
	at = room(p, len);
	if (!at)
		return;
	memcpy(at, text, len);
	p->len += len;
}

void sl_proto_begin(struct sl_proto *p, unsigned int field)
{
	tag(p, field, WIRE_BYTES);
	p->open[p->depth++] = p->len;
}

/* The length stands in front, and its own length depends on it: messages are small, so they move. */
void sl_proto_end(struct sl_proto *p)
{
	size_t from = p->open[--p->depth], len = p->len - from, n;
	unsigned char bytes[VARINT_MAX];

	n = put_varint(bytes, len);
	if (!room(p, n))
		return;
	memmove(p->data + from + n, p->data + from, len);
	memcpy(p->data + from, bytes, n);
	p->len += n;
}
