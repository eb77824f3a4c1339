/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A writer of protocol buffer messages: fields as varint, fixed64 or bytes, and messages
 * in messages. Calls cannot fail; a lack of memory is remembered in `failed`, and what is
 * in the buffer is then of no use.
 */
#ifndef SL_OUT_PROTO_H
#define SL_OUT_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_PROTO_DEPTH 8

struct sl_proto {
	unsigned char *data;
	size_t len, cap;
	size_t open[SL_PROTO_DEPTH];	/* where the messages under construction begin */
	unsigned int depth;
	bool failed;
};

void sl_proto_release(struct sl_proto *p);

void sl_proto_uint(struct sl_proto *p, unsigned int field, uint64_t value);
/* int32, int64: below 0 these take ten bytes, as the encoding has it. */
void sl_proto_int(struct sl_proto *p, unsigned int field, int64_t value);
void sl_proto_fixed64(struct sl_proto *p, unsigned int field, uint64_t value);
void sl_proto_text(struct sl_proto *p, unsigned int field, const char *text);

/* Fields between these two belong to a message of their own; at most SL_PROTO_DEPTH deep. */
void sl_proto_begin(struct sl_proto *p, unsigned int field);
void sl_proto_end(struct sl_proto *p);

#endif
