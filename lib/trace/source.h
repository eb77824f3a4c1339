/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A source: a recording, read as one stream of events in time order.
 *
 * Life cycle: sl_source_open() -> sl_source_info() -> sl_source_next() until 0
 * -> sl_source_free(). sl_source_rewind() starts over. A source is used by one
 * thread at a time and keeps memory bounded by CPUs, not by file size.
 *
 * Order: ts_ns over all CPUs and all buffers of the file; ties go to the lower
 * CPU, then to the order in the buffer. A CPU whose own timestamps go backwards
 * is delivered with the timestamp clamped to its predecessor and counted in
 * skipped.backwards.
 */
#ifndef SL_TRACE_SOURCE_H
#define SL_TRACE_SOURCE_H

#include <stdint.h>

#include "event/event.h"
#include "util/err.h"
#include "schedlat/input.h"

_Static_assert(SL_EV_NR <= SL_INPUT_KINDS_MAX, "one flag per kind");

struct sl_source;

/*
 * Open a recording; the format is found by its magic, never by its name.
 *
 * Errors: -errno (cannot open or read), SL_EDATA (empty, a directory, not a
 * trace, no sched events in it), SL_EUNSUPP (perf.data, another trace.dat
 * version, an unknown compression, a clock that does not count time). The
 * message names file, reason and what to do.
 */
int sl_source_open(const char *path, struct sl_source **ret_source, struct sl_err *err);

/* Valid until sl_source_free(); counters inside grow while reading. */
const struct sl_source_info *sl_source_info(const struct sl_source *source);

/*
 * Fill up to max events. Returns the number filled, 0 at the end, a negative
 * code on an I/O error. Strings (SL_FT_STR) live until the next call.
 */
int sl_source_next(struct sl_source *source, struct sl_event *ret_events, unsigned int max,
		   struct sl_err *err);

/* Start over; counters are reset. */
int sl_source_rewind(struct sl_source *source, struct sl_err *err);

void sl_source_free(struct sl_source *source);	/* NULL is fine */

/* Share of the input consumed so far, 0..1000, for a progress line. */
unsigned int sl_source_progress(const struct sl_source *source);

/*
 * What a format implements. One file per format, one line in source.c; `probe`
 * sees the first bytes (at least 16 unless the file is shorter).
 */
struct sl_source_ops {
	const char *name;
	bool (*probe)(const unsigned char *head, unsigned int len);
	int (*open)(const char *path, int fd, struct sl_source **ret_source, struct sl_err *err);
	int (*next)(struct sl_source *source, struct sl_event *ret_events, unsigned int max,
		    struct sl_err *err);
	int (*rewind)(struct sl_source *source, struct sl_err *err);
	unsigned int (*progress)(const struct sl_source *source);
	void (*free)(struct sl_source *source);
};

struct sl_source {		/* first member of each format's own struct */
	const struct sl_source_ops *ops;
	struct sl_source_info info;
};

extern const struct sl_source_ops sl_source_dat_ops;	/* trace.dat v6, v7 */
extern const struct sl_source_ops sl_source_text_ops;	/* hand-written golden traces */

#endif
