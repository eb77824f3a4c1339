// SPDX-License-Identifier: LGPL-2.1-only
#include "trace/dat_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TYPE_DATA_MAX = 28, TYPE_PADDING = 29, TYPE_TIME_EXTEND = 30, TYPE_TIME_STAMP = 31 };

#define MISSED_EVENTS (1u << 31)
#define MISSED_STORED (1u << 30)
#define COMMIT_MASK ((1u << 27) - 1)
/* A TIME_STAMP record has 59 bits, the rest comes from the stamp before it. */
#define STAMP_BITS 59

/* ns on the recording's clock, from what the records count in. */
static uint64_t to_ns(const struct sl_dat_stream *s, uint64_t now)
{
	const struct sl_dat_meta *m = s->meta;
	unsigned __int128 ns;

	if (!s->is_tsc)
		return now;
	ns = ((unsigned __int128)now * m->tsc_mult) >> m->tsc_shift;
	if (m->ts_offset_ns < 0 && ns < 0 - (uint64_t)m->ts_offset_ns)
		return 0;
	ns += (unsigned __int128)(__int128)m->ts_offset_ns;
	return ns > SL_DAT_TS_MAX ? SL_DAT_TS_MAX : (uint64_t)ns;
}

/* A stamp as stored -> what `now` counts: the offset is added once, not per record. */
static uint64_t add_offset(const struct sl_dat_stream *s, uint64_t stamp)
{
	int64_t offset = s->is_tsc ? 0 : s->meta->ts_offset_ns;

	if (offset < 0 && stamp < 0 - (uint64_t)offset)
		return 0;
	return stamp + (uint64_t)offset;
}

static uint64_t drop_offset(const struct sl_dat_stream *s, uint64_t now)
{
	return now - (s->is_tsc ? 0 : (uint64_t)s->meta->ts_offset_ns);
}

static void lose(struct sl_dat_stream *s, bool counted, uint64_t count)
{
	if (!s->lost) {
		uint64_t last = s->any_record ? to_ns(s, s->now) : 0;

		s->lost = true;
		s->lost_counted = true;
		s->lost_count = 0;
		s->lost_from_ns = last > s->floor_ns ? last : s->floor_ns;
	}
	s->lost_counted = s->lost_counted && counted;
	if (__builtin_add_overflow(s->lost_count, count, &s->lost_count))
		s->lost_counted = false;
}

/* Deliver at `ns`, or at the predecessor's time when the clock went backwards. */
static uint64_t ordered(struct sl_dat_stream *s, uint64_t ns)
{
	if (ns < s->floor_ns) {
		s->shared->skipped->backwards++;
		return s->floor_ns;
	}
	s->floor_ns = ns;
	return ns;
}

static bool read_failed(struct sl_dat_stream *s, int64_t got)
{
	if (got >= 0)
		return false;
	if (!s->shared->error)
		s->shared->error = (int)got;
	s->cut = true;
	s->file_pos = s->file_end;
	s->chunks_left = 0;
	return true;
}

static bool grow(unsigned char **buf, size_t *size, size_t want)
{
	unsigned char *fresh;

	if (want <= *size)
		return true;
	fresh = malloc(want);
	if (!fresh)
		return false;
	free(*buf);
	*buf = fresh;
	*size = want;
	return true;
}

/* Decompress the next chunk that can be; false at the end of the data. */
static bool next_chunk(struct sl_dat_stream *s)
{
	struct sl_dat_shared *sh = s->shared;

	while (s->chunks_left) {
		unsigned char head[8];
		uint32_t packed, plain;
		int64_t got;

		got = sl_dat_pread(sh->file, head, sizeof(head), s->file_pos);
		if (read_failed(s, got))
			return false;
		s->chunks_left--;
		if (got < 8 || s->file_end - s->file_pos < 8) {
			s->cut = true;
			s->chunks_left = 0;
			return false;
		}
		s->file_pos += 8;
		packed = sl_load32(head, s->swap);
		plain = sl_load32(head + 4, s->swap);
		if (packed > s->file_end - s->file_pos) {
			s->cut = true;
			s->chunks_left = 0;
			return false;
		}
		if (plain > SL_DAT_BLOCK_MAX || !grow(&sh->packed, &sh->packed_size, packed) ||
		    !grow(&s->window, &s->window_size, plain)) {
			s->file_pos += packed;
			sh->skipped->bad_pages++;
			lose(s, false, 0);
			continue;
		}
		got = sl_dat_pread(sh->file, sh->packed, packed, s->file_pos);
		if (read_failed(s, got))
			return false;
		if (got < (int64_t)packed) {
			s->cut = true;
			s->chunks_left = 0;
			return false;
		}
		s->file_pos += packed;
		sh->read_bytes += packed + 8;
		if (!sl_dat_decompress(&sh->meta->codec, s->window, plain, sh->packed, packed)) {
			sh->skipped->bad_pages += plain / s->page_bytes + 1;
			lose(s, false, 0);
			continue;
		}
		s->next_page = s->window;
		s->window_end = s->window + plain;
		return true;
	}
	return false;
}

static bool next_window(struct sl_dat_stream *s)
{
	uint64_t left = s->file_end - s->file_pos;
	size_t want;
	int64_t got;

	if (s->compressed)
		return next_chunk(s);
	if (!left)
		return false;
	want = left < s->window_size ? (size_t)left : s->window_size;
	got = sl_dat_pread(s->shared->file, s->window, want, s->file_pos);
	if (read_failed(s, got))
		return false;
	if ((size_t)got < want) {	/* it shrank since we opened it */
		s->cut = true;
		s->file_end = s->file_pos + (uint64_t)got;
	}
	s->file_pos += (uint64_t)got;
	s->shared->read_bytes += (uint64_t)got;
	s->next_page = s->window;
	s->window_end = s->window + got;
	return got > 0;
}

/* Take the next page with records; false at the end of the data. */
static bool next_page(struct sl_dat_stream *s)
{
	const struct sl_dat_meta *m = s->meta;

	for (;;) {
		const unsigned char *page;
		uint64_t stamp, commit, missed = 0;
		uint32_t there, bytes, room;

		if (s->next_page == s->window_end && !next_window(s))
			return false;
		page = s->next_page;
		there = s->window_end - page < (ptrdiff_t)s->page_bytes ?
			(uint32_t)(s->window_end - page) : s->page_bytes;
		s->next_page = page + there;
		if (there < m->data_offset) {
			s->cut = true;
			continue;
		}
		stamp = sl_load64(page, s->swap);
		commit = sl_load_int(page + m->commit_offset, m->commit_bytes, false, s->swap);
		bytes = (uint32_t)commit & COMMIT_MASK;
		room = s->page_bytes - m->data_offset;
		if (bytes > room || stamp > SL_DAT_TS_MAX || add_offset(s, stamp) > SL_DAT_TS_MAX) {
			s->shared->skipped->bad_pages++;
			lose(s, false, 0);
			continue;
		}
		/* bytes may be more than `there`: only the last page of a cut file. */
		room = there - m->data_offset;
		if (commit & MISSED_EVENTS) {
			bool stored = commit & MISSED_STORED && bytes <= room &&
				      room - bytes >= m->commit_bytes;

			if (stored)
				missed = sl_load_int(page + m->data_offset + bytes,
						     m->commit_bytes, false, s->swap);
			lose(s, stored, missed);
		}
		if (bytes > room) {
			s->cut = true;
			bytes = room;
		}
		s->ptr = page + m->data_offset;
		s->end = s->ptr + bytes;
		s->now = add_offset(s, stamp);
		if (bytes)
			return true;
	}
}

/* A record that makes no sense: what follows it in the page cannot be found. */
static void bad_record(struct sl_dat_stream *s)
{
	bool last_of_cut = s->cut && s->next_page == s->window_end &&
			   s->file_pos == s->file_end;

	s->ptr = s->end;
	if (last_of_cut)	/* the file ends inside the record: told by the end item */
		return;
	s->shared->skipped->bad_records++;
	lose(s, false, 0);
}

enum step { STEP_DATA, STEP_OTHER, STEP_PAGE_END };

/*
 * Step over one ring-buffer record; STEP_DATA leaves it in rec/rec_bytes.
 * s->now advances as the writer's clock did, discarded records included.
 */
static enum step step_record(struct sl_dat_stream *s)
{
	const unsigned char *p = s->ptr;
	size_t left = (size_t)(s->end - p);
	uint32_t head, type, delta, bytes;
	uint64_t stamp, before;

	if (left < 4) {
		if (left)
			bad_record(s);
		return STEP_PAGE_END;
	}
	head = sl_load32(p, s->swap);
	/* A bit field of 5 and 27 bits: the order of the bits follows that of the bytes. */
	type = s->shared->file->big_endian ? head >> 27 : head & 31;
	delta = s->shared->file->big_endian ? head & 0x7ffffff : head >> 5;
	left -= 4;
	if (type == TYPE_PADDING && !delta) {
		s->ptr = s->end;	/* the rest of the page is unused */
		return STEP_PAGE_END;
	}
	if (type >= 1 && type <= TYPE_DATA_MAX) {
		bytes = type * 4;
		if (bytes > left) {
			bad_record(s);
			return STEP_PAGE_END;
		}
		s->now += delta;
		s->rec = p + 4;
		s->rec_bytes = bytes;
		s->ptr = p + 4 + bytes;
		return STEP_DATA;
	}
	if (left < 4) {
		bad_record(s);
		return STEP_PAGE_END;
	}
	bytes = sl_load32(p + 4, s->swap);
	switch (type) {
	case 0:		/* long data: the length counts itself */
		if (bytes < 4 || bytes > left) {
			bad_record(s);
			return STEP_PAGE_END;
		}
		s->now += delta;
		s->rec = p + 8;
		s->rec_bytes = bytes - 4;
		/* The kernel rounds up to 4, or 8 (RB_FORCE_8BYTE_ALIGNMENT) before it stores. */
		bytes = (bytes + 3) & ~3u;
		s->ptr = p + 4 + (bytes < left ? bytes : left);
		return STEP_DATA;
	case TYPE_PADDING:
		if (bytes > left) {
			bad_record(s);
			return STEP_PAGE_END;
		}
		s->now += delta;
		s->ptr = p + 4 + (bytes < 4 ? 4 : bytes);
		return STEP_OTHER;
	case TYPE_TIME_EXTEND:
		s->now += (uint64_t)bytes << 27 | delta;
		break;
	case TYPE_TIME_STAMP:
		stamp = (uint64_t)bytes << 27 | delta;
		before = drop_offset(s, s->now);
		/*
		 * Bits 59.. are those of the stamp before, one more when the low bits
		 * wrapped since (rb_fix_abs_ts(), 6.18).
		 */
		stamp |= before >> STAMP_BITS << STAMP_BITS;
		if (stamp < before && before - stamp > 1ull << (STAMP_BITS - 1))
			stamp += 1ull << STAMP_BITS;
		s->now = stamp > SL_DAT_TS_MAX ? UINT64_MAX : add_offset(s, stamp);
		break;
	}
	s->ptr = p + 8;
	if (s->now > SL_DAT_TS_MAX) {
		s->now = SL_DAT_TS_MAX;
		bad_record(s);
		return STEP_PAGE_END;
	}
	return STEP_OTHER;
}

/* The stamp of the first data record of the page at s->ptr; false: it has none. */
static bool first_stamp(struct sl_dat_stream *s, uint64_t *ret_now)
{
	struct sl_source_skips skipped = *s->shared->skipped;
	struct sl_dat_stream probe = *s;
	enum step step;

	while ((step = step_record(&probe)) == STEP_OTHER)
		;
	*s->shared->skipped = skipped;	/* what is bad is counted when it is reached */
	*ret_now = probe.now;
	return step == STEP_DATA;
}

static void end_item(struct sl_dat_stream *s)
{
	s->bind = NULL;
	if (s->item == SL_DI_END || (!s->cut && !s->lost)) {
		s->item = SL_DI_END;
		s->ts_ns = UINT64_MAX;
		return;
	}
	if (!s->lost)
		lose(s, false, 0);
	s->lost_counted = false;
	s->cut = false;
	s->item = SL_DI_LOST_TO_END;
	s->ts_ns = ordered(s, s->lost_from_ns);
}

void sl_dat_stream_step(struct sl_dat_stream *s)
{
	const struct sl_dat_meta *meta = s->meta;

	if (s->item == SL_DI_END) {
		s->bind = NULL;
		s->ts_ns = UINT64_MAX;
		return;
	}
	for (;;) {
		enum step step = s->ptr < s->end ? step_record(s) : STEP_PAGE_END;
		uint8_t use;

		if (step == STEP_OTHER)
			continue;
		if (step == STEP_PAGE_END) {
			uint64_t now;

			if (s->shared->error || !next_page(s)) {
				end_item(s);
				return;
			}
			if (!s->lost || !first_stamp(s, &now))
				continue;
			s->any_record = true;
			s->item = SL_DI_LOST;
			s->bind = NULL;
			s->ts_ns = ordered(s, to_ns(s, now));
			return;
		}
		s->any_record = true;
		if (s->rec_bytes < 2) {
			s->shared->skipped->bad_records++;
			continue;
		}
		use = meta->ids[sl_load16(s->rec, s->swap)];
		if (use == SL_DAT_ID_UNUSED) {
			s->shared->skipped->unknown_events++;
		} else if (use == SL_DAT_ID_NO_FORMAT) {
			s->shared->skipped->unbound_events++;
		} else {
			s->item = SL_DI_RECORD;
			s->bind = &meta->binds[use - SL_DAT_ID_BIND];
			s->ts_ns = ordered(s, to_ns(s, s->now));
			return;
		}
	}
}

void sl_dat_stream_init(struct sl_dat_stream *s, struct sl_dat_shared *shared,
			const struct sl_dat_buffer *buffer, const struct sl_dat_cpu *cpu,
			uint32_t page_bytes, size_t window_bytes, bool is_tsc,
			struct sl_source_cpu *info)
{
	uint64_t size = shared->file->bytes, bytes = cpu->bytes;

	memset(s, 0, sizeof(*s));
	s->shared = shared;
	s->meta = shared->meta;
	s->info = info;
	s->cpu = (uint16_t)cpu->cpu;
	s->swap = shared->file->swap;
	s->is_tsc = is_tsc;
	s->page_bytes = page_bytes;
	s->compressed = buffer->compressed;
	s->file_start = cpu->offset < size ? cpu->offset : size;
	if (bytes > size - s->file_start)
		bytes = size - s->file_start;
	s->file_end = s->file_start + bytes;
	s->is_short = bytes < cpu->bytes;
	/* The size that trace-cmd writes leaves out the count in front of the chunks. */
	if (s->compressed)
		s->file_end = size - s->file_end > 4 ? s->file_end + 4 : size;
	/* Whole pages, no more than there is data. */
	window_bytes -= window_bytes % page_bytes;
	if (window_bytes < page_bytes)
		window_bytes = page_bytes;
	if (window_bytes > bytes)
		window_bytes = (size_t)bytes;
	s->window_size = buffer->compressed ? 0 : window_bytes;
}

void sl_dat_stream_start(struct sl_dat_stream *s)
{
	struct sl_dat_shared *sh = s->shared;

	s->ptr = s->end = s->next_page = s->window_end = NULL;
	s->now = s->floor_ns = 0;
	s->lost = s->any_record = false;
	s->item = SL_DI_RECORD;
	s->file_pos = s->file_start;
	s->cut = s->is_short;
	s->chunks_left = 0;
	if (s->compressed) {
		unsigned char head[4];

		if (s->file_end - s->file_pos >= 4 &&
		    sl_dat_pread(sh->file, head, 4, s->file_pos) == 4) {
			s->chunks_left = sl_load32(head, s->swap);
			s->file_pos += 4;
			sh->read_bytes += 4;
		}
	} else if (!s->window && s->window_size) {
		s->window = malloc(s->window_size);
		if (!s->window) {
			sh->error = -ENOMEM;
			s->file_pos = s->file_end;
		}
	}
	sl_dat_stream_step(s);
}

void sl_dat_stream_release(struct sl_dat_stream *s)
{
	free(s->window);
	s->window = NULL;
}
