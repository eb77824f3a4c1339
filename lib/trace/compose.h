/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Ring-buffer sub-buffers ("pages") made by ourselves, as the kernel's ring buffer
 * makes them (include/linux/ring_buffer.h, 6.18): what trace-cmd, KernelShark and
 * our own reader read. Byte order and size of long are those of this machine.
 *
 * One composer per CPU. Events are added in time order; one that goes back gets
 * the time of the one before and is counted. Full pages go to the flush function,
 * several at a time. Nothing is allocated after sl_composer_init().
 */
#ifndef SL_TRACE_COMPOSE_H
#define SL_TRACE_COMPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

#define SL_COMPOSE_DELTA_BITS 27
#define SL_COMPOSE_DELTA_MAX ((1u << SL_COMPOSE_DELTA_BITS) - 1)
#define SL_COMPOSE_SHORT_MAX 112u	/* a record up to here has its length in its first word */
/* Timestamp and commit word in front of the records. */
#define SL_COMPOSE_HEAD_BYTES (sizeof(uint64_t) + sizeof(long))

/* Takes whole pages. Negative: an errno that stops the composer. */
typedef int sl_compose_flush(void *arg, const unsigned char *pages, size_t bytes);

struct sl_composer {
	unsigned char *page;		/* the one being filled */
	unsigned int used, limit;	/* bytes of it; used 0: nothing begun */
	uint64_t last_ns;		/* of the last event, of whatever page */
	bool gap, gap_unknown;		/* events are missing in front of the next one */
	uint64_t gap_count;
	int error;			/* sticky */

	uint64_t events, clamped;	/* added; of those, given the time of their predecessor */

	unsigned char *buf;
	unsigned int page_bytes, nr_pages, nr_full;
	sl_compose_flush *flush;
	void *arg;
};

/* nr_pages: how many pages go to `flush` at once. -ENOMEM, or 0. */
int sl_composer_init(struct sl_composer *c, unsigned int page_bytes, unsigned int nr_pages,
		     sl_compose_flush *flush, void *arg);
/* `count` events are missing here; UINT64_MAX: an unknown number. Adds up until the next event. */
void sl_composer_lost(struct sl_composer *c, uint64_t count);
/* Close the page being filled and flush all, loss behind the last event included. */
int sl_composer_finish(struct sl_composer *c);
void sl_composer_release(struct sl_composer *c);

/* The first word of a record. */
static inline uint32_t sl_compose_word(unsigned int type_len, uint32_t delta)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return (type_len << SL_COMPOSE_DELTA_BITS) | delta;
#else
	return (delta << 5) | type_len;
#endif
}

/* Whatever the short way does not do: new pages, gaps, long deltas, long records. */
void *sl_composer_add_slow(struct sl_composer *c, uint64_t ts_ns, unsigned int bytes);

/*
 * Room for one event's data of `bytes`, a multiple of 4 and at least 4; to be
 * filled before the next call. Aligned to 4. NULL: c->error, or it is longer than
 * a page can be.
 */
static inline void *sl_composer_add(struct sl_composer *c, uint64_t ts_ns, unsigned int bytes)
{
	const uint64_t delta = ts_ns - c->last_ns;
	unsigned char *at;
	uint32_t word;

	if (__builtin_expect(delta > SL_COMPOSE_DELTA_MAX || bytes > SL_COMPOSE_SHORT_MAX ||
			     !c->used || c->used + 4 + bytes > c->limit || c->gap, 0))
		return sl_composer_add_slow(c, ts_ns, bytes);
	at = c->page + c->used;
	word = sl_compose_word(bytes / 4, (uint32_t)delta);
	__builtin_memcpy(at, &word, 4);
	c->used += 4 + bytes;
	c->last_ns = ts_ns;
	c->events++;
	return at + 4;
}

#endif
