// SPDX-License-Identifier: LGPL-2.1-only
#include "trace/compose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_TIME_EXTEND 30u
/* What a time extend can hold: 27 bits in its first word, 32 in the second. */
#define EXTEND_MAX ((1ull << 59) - 1)
/* Flags in the commit word (RB_MISSED_*, kernel/trace/ring_buffer.c, 6.18). */
#define MISSED_EVENTS (1ul << 31)
#define MISSED_STORED (1ul << 30)

int sl_composer_init(struct sl_composer *c, unsigned int page_bytes, unsigned int nr_pages,
		     sl_compose_flush *flush, void *arg)
{
	*c = (struct sl_composer){
		.page_bytes = page_bytes,
		.nr_pages = nr_pages,
		.flush = flush,
		.arg = arg,
	};
	c->buf = malloc((size_t)page_bytes * nr_pages);
	c->page = c->buf;
	return c->buf ? 0 : -ENOMEM;
}

void sl_composer_release(struct sl_composer *c)
{
	free(c->buf);
	*c = (struct sl_composer){ 0 };
}

void sl_composer_lost(struct sl_composer *c, uint64_t count)
{
	c->gap = true;
	if (count == UINT64_MAX || __builtin_add_overflow(c->gap_count, count, &c->gap_count))
		c->gap_unknown = true;
}

static int flush(struct sl_composer *c)
{
	int r = 0;

	if (c->nr_full && !c->error) {
		r = c->flush(c->arg, c->buf, (size_t)c->nr_full * c->page_bytes);
		if (r < 0)
			c->error = r;
	}
	c->nr_full = 0;
	c->page = c->buf;
	return c->error;
}

/* The page's length goes into its commit word; the flags of a gap are there already. */
static void close_page(struct sl_composer *c)
{
	unsigned long commit, missed;

	if (!c->used)
		return;
	memcpy(&commit, c->page + sizeof(uint64_t), sizeof(commit));
	/* the count that begin_page() left behind the head belongs behind the records */
	if (commit & MISSED_STORED) {
		memcpy(&missed, c->page + c->limit, sizeof(missed));
		memcpy(c->page + c->used, &missed, sizeof(missed));
		memset(c->page + c->used + sizeof(missed), 0,
		       c->page_bytes - c->used - sizeof(missed));
	} else {
		memset(c->page + c->used, 0, c->page_bytes - c->used);
	}
	commit |= c->used - SL_COMPOSE_HEAD_BYTES;
	memcpy(c->page + sizeof(uint64_t), &commit, sizeof(commit));
	c->used = 0;
	c->nr_full++;
	c->page += c->page_bytes;
}

static int begin_page(struct sl_composer *c, uint64_t ts_ns)
{
	unsigned long commit = 0, missed = c->gap_count;

	if (c->nr_full == c->nr_pages && flush(c) < 0)
		return c->error;
	c->limit = c->page_bytes;
	if (c->gap) {
		commit = MISSED_EVENTS;
		if (!c->gap_unknown) {
			/* Room at the end, where the count waits until the page is closed. */
			commit |= MISSED_STORED;
			c->limit -= sizeof(missed);
			memcpy(c->page + c->limit, &missed, sizeof(missed));
		}
		c->gap = c->gap_unknown = false;
		c->gap_count = 0;
	}
	memcpy(c->page, &ts_ns, sizeof(ts_ns));
	memcpy(c->page + sizeof(ts_ns), &commit, sizeof(commit));
	c->used = SL_COMPOSE_HEAD_BYTES;
	c->last_ns = ts_ns;
	return 0;
}

static void put_word(struct sl_composer *c, uint32_t word)
{
	memcpy(c->page + c->used, &word, sizeof(word));
	c->used += sizeof(word);
}

void *sl_composer_add_slow(struct sl_composer *c, uint64_t ts_ns, unsigned int bytes)
{
	const bool is_long = bytes > SL_COMPOSE_SHORT_MAX;
	unsigned int need = bytes + (is_long ? 8 : 4);
	uint64_t delta;
	bool extend;
	void *data;

	if (c->error || bytes < 4 || bytes % 4 ||
	    need > c->page_bytes - SL_COMPOSE_HEAD_BYTES - sizeof(long))
		return NULL;
	if (ts_ns < c->last_ns) {
		ts_ns = c->last_ns;
		c->clamped++;
	}
	delta = ts_ns - c->last_ns;
	extend = delta > SL_COMPOSE_DELTA_MAX;
	if (c->used && (c->gap || delta > EXTEND_MAX || c->used + need + (extend ? 8 : 0) > c->limit))
		close_page(c);
	if (!c->used) {
		if (begin_page(c, ts_ns) < 0)
			return NULL;
		delta = 0;
		extend = false;
	}
	if (extend) {
		put_word(c, sl_compose_word(TYPE_TIME_EXTEND, delta & SL_COMPOSE_DELTA_MAX));
		put_word(c, delta >> SL_COMPOSE_DELTA_BITS);
		delta = 0;
	}
	put_word(c, sl_compose_word(is_long ? 0 : bytes / 4, delta));
	if (is_long)
		put_word(c, bytes + 4);
	data = c->page + c->used;
	c->used += bytes;
	c->last_ns = ts_ns;
	c->events++;
	return data;
}

int sl_composer_finish(struct sl_composer *c)
{
	close_page(c);
	/* A page without records carries the mark for what is missing at the end. */
	if (c->gap && !begin_page(c, c->last_ns))
		close_page(c);
	return flush(c);
}
