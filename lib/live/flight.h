/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Flight mode: of a stream of sub-buffers keep those around long waits.
 *
 * Sub-buffers stay in memory for the flight time. Meanwhile wakeups are paired
 * with switches, over all CPUs in time order; a wait above the threshold marks
 * every sub-buffer that overlaps it, with a margin on both sides. A sub-buffer
 * that gets too old goes to its CPU's file when it is marked, and away when it
 * is not: then the next one that is kept carries the kernel's own mark for
 * missed events. Memory is bounded by the flight time and by
 * SL_FLIGHT_MAX_BYTES, whichever is reached first.
 *
 * The pairing here only chooses what to keep. It leaves out nothing that is
 * above the threshold while no events are lost; what a wait is, and why it was
 * long, is for the analysis of the file.
 */
#ifndef SL_LIVE_FLIGHT_H
#define SL_LIVE_FLIGHT_H

#include <stdint.h>

#include "live/instance.h"
#include "live/reader.h"
#include "util/err.h"

#define SL_FLIGHT_MAX_BYTES (256u << 20)

struct sl_flight;

struct sl_flight_params {
	struct sl_instance *instance;
	const int *fds;			/* [instance->nr_cpus] */
	char *const *formats;		/* [sl_event_descs_nr], NULL: not enabled */
	uint64_t flight_ns, threshold_ns;
};

struct sl_flight_stats {
	uint64_t waits, waits_above, windows;
	uint64_t events_kept, events_dropped;
	uint64_t pages_kept, pages_dropped;
	uint64_t pages_early;		/* left before the flight time was over: memory limit */
	uint64_t margin_ns;
};

int sl_flight_new(const struct sl_flight_params *params, struct sl_flight **ret_flight,
		  struct sl_err *err);
/* Waits of these threads, our own, keep nothing. Before tracing is on. */
int sl_flight_ignore(struct sl_flight *flight, const int *tids, unsigned int nr_tids,
		     struct sl_err *err);
/* What sl_readers_start() takes as sink. */
const struct sl_page_sink *sl_flight_sink(struct sl_flight *flight);
/*
 * After the readers have stopped: judge and write what is left.
 * ret_bytes[nr_cpus]: whole sub-buffers in each file. Both are set on an error, too.
 */
int sl_flight_finish(struct sl_flight *flight, uint64_t *ret_bytes,
		     struct sl_flight_stats *ret_stats, struct sl_err *err);
void sl_flight_free(struct sl_flight *flight);	/* NULL is fine */

#endif
