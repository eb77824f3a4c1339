/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * From records of the BPF ring to ring-buffer pages in per-CPU files: of a record,
 * the snapshots first, then the event, all with the record's time.
 *
 * Belongs to the thread that consumes the ring; nothing is allocated per record.
 */
#ifndef SL_LIVE_BPF_WRITER_H
#define SL_LIVE_BPF_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "live/bpf/record.h"
#include "util/err.h"

struct sl_bpf_writer;

struct sl_bpf_writer_params {
	const uint16_t *cpus;		/* the CPUs to write; records of others are left out */
	unsigned int nr_cpus;
	const int *fds;			/* [nr_cpus] files to append to */
	unsigned int page_bytes;
};

struct sl_bpf_writer_stats {
	uint64_t records;		/* taken */
	uint64_t other_cpus;		/* of CPUs that are not written */
	uint64_t clamped;		/* events whose time went back */
	uint64_t truncated;		/* records whose program had no room for all snapshots */
	uint64_t unknown_tif;		/* need_resched requests of a kind that we do not know */
	uint64_t unknown_kind;		/* records that say what we do not know; not written */
	uint64_t wakeups;		/* sched_waking, sched_wakeup and sched_wakeup_new records */
};

int sl_bpf_writer_new(const struct sl_bpf_writer_params *params, struct sl_bpf_writer **ret_writer,
		      struct sl_err *err);
/* A record as sl_bpf_consume() gives it (sl_bpf_record_fn). Negative: a file cannot be written. */
int sl_bpf_writer_record(void *writer, const struct sl_bpf_header *record, size_t len);
/* What sl_bpf_tif_resched() has learned; negative: nothing yet. */
void sl_bpf_writer_tif(struct sl_bpf_writer *w, int tif_resched);
/* Records of the CPU at `index` are lost behind its last one. */
void sl_bpf_writer_lost(struct sl_bpf_writer *w, unsigned int index, uint64_t count);
/* The same, but how many is not known: what a recording with a threshold leaves out. */
void sl_bpf_writer_gap(struct sl_bpf_writer *w, unsigned int index);
/* From here on the CPU at `index` is known, for the sake of a wait of this task. */
int sl_bpf_writer_window(struct sl_bpf_writer *w, unsigned int index, uint64_t ts_ns, int32_t pid);
/* Write what is left. ret_bytes[nr_cpus]: whole pages in each file. Set on an error, too. */
int sl_bpf_writer_finish(struct sl_bpf_writer *w, uint64_t *ret_bytes);
void sl_bpf_writer_free(struct sl_bpf_writer *w);	/* NULL is fine */

void sl_bpf_writer_stats(const struct sl_bpf_writer *w, struct sl_bpf_writer_stats *ret_stats);
/* Events written, and records that were reported lost, of the CPU at `index`. */
uint64_t sl_bpf_writer_events(const struct sl_bpf_writer *w, unsigned int index);
uint64_t sl_bpf_writer_dropped(const struct sl_bpf_writer *w, unsigned int index);
/* The first error, and the index of its CPU. 0: none. */
int sl_bpf_writer_error(const struct sl_bpf_writer *w, unsigned int *ret_index);

#endif
