/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * trace.dat, data: the records of one CPU of one buffer, in recording order.
 *
 * The data is a row of sub-buffers ("pages"), each with a timestamp, a commit
 * word (length of its records, loss flags) and records (include/linux/
 * ring_buffer.h, enum ring_buffer_type, 6.18). A stream holds a window of some
 * pages, or one decompressed chunk, and stands before one item: a record of an
 * event that we read, or a loss. The merge compares the `ts_ns` of the items.
 *
 * Two kinds of loss become items: pages that the kernel marked (RB_MISSED_EVENTS,
 * ring_buffer_read_page(), 6.18) or that cannot be read, and data that the tables
 * promise but the file lacks.
 */
#ifndef SL_TRACE_DAT_STREAM_H
#define SL_TRACE_DAT_STREAM_H

#include "event/bind_fast.h"
#include "event/bytes.h"
#include "trace/dat_meta.h"
#include "trace/source.h"

/* A stamp above this is damage: no clock has counted 292 years of ns. */
#define SL_DAT_TS_MAX ((uint64_t)INT64_MAX)

/* Same for all streams of a file. */
struct sl_dat_shared {
	struct sl_dat_file *file;
	struct sl_dat_meta *meta;
	struct sl_source_skips *skipped;
	uint64_t read_bytes;		/* of event data, for the progress line */
	unsigned char *packed;		/* a compressed chunk */
	size_t packed_size;
	int error;			/* -errno of a failed read: ends the reading */
};

enum sl_dat_item {
	SL_DI_RECORD,
	SL_DI_LOST,		/* known again from ts_ns */
	SL_DI_LOST_TO_END,	/* nothing known from ts_ns on */
	SL_DI_END,
};

struct sl_dat_stream {
	/* the item */
	uint64_t ts_ns;			/* of the item, after all corrections */
	const struct sl_bind *bind;	/* of the record; NULL: not a record, see item */
	const unsigned char *rec;
	uint32_t rec_bytes;
	uint16_t cpu;
	uint8_t item;
	bool swap;
	bool is_tsc;			/* stamps are TSC cycles: convert each */

	/* the rest of the page */
	const unsigned char *ptr, *end;
	uint64_t now;			/* stamp of the last record (ns + offset, or cycles) */
	uint64_t floor_ns;		/* ts_ns of the last item delivered */

	const struct sl_dat_meta *meta;
	struct sl_dat_shared *shared;
	struct sl_source_cpu *info;
	uint32_t page_bytes;

	/* loss that has no item yet: it ends at the next record */
	bool lost, lost_counted;
	uint64_t lost_count;
	uint64_t lost_from_ns;
	bool any_record;		/* a record was seen, of whatever event */

	/* the window: pages from `next_page` to `window_end` */
	unsigned char *window;
	size_t window_size;
	const unsigned char *next_page, *window_end;
	bool compressed;
	bool is_short;			/* the file lacks some of the data */
	bool cut;			/* ... and the end item has not said so yet */
	uint64_t file_start, file_pos, file_end;
	uint32_t chunks_left;		/* compressed: chunks not read yet */
};

/*
 * The data of `cpu` of `buffer`, in pages of page_bytes. window_bytes is what the
 * stream may hold (at least a page); is_tsc: stamps are cycles, to be converted
 * with the file's TSC2NSEC option.
 */
void sl_dat_stream_init(struct sl_dat_stream *s, struct sl_dat_shared *shared,
			const struct sl_dat_buffer *buffer, const struct sl_dat_cpu *cpu,
			uint32_t page_bytes, size_t window_bytes, bool is_tsc,
			struct sl_source_cpu *info);
/* Stand before the first item. */
void sl_dat_stream_start(struct sl_dat_stream *s);
void sl_dat_stream_release(struct sl_dat_stream *s);

/* Stand before the next item. */
void sl_dat_stream_step(struct sl_dat_stream *s);

#endif
