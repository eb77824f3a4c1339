/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Records of a recording with a threshold, put in order.
 *
 * They come wait by wait: of each, its waking and wakeup, from whatever CPU, and then
 * what the CPU on which it ran has recorded since. So a CPU's history ascends, and in
 * between stand single records of waits that ran elsewhere. All of it goes to a file
 * per CPU as it comes; in memory is a place and a time of the single ones only. At the
 * end the two are merged, with a gap wherever something was left out.
 *
 * A wait's own CPU is known from the wakeup request on, if its history reaches so far
 * back. An event schedlat:window says so in its place: the gap before it ends there.
 */
#ifndef SL_LIVE_BPF_SPOOL_H
#define SL_LIVE_BPF_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/bpf_writer.h"

struct sl_bpf_spool;

struct sl_bpf_spool_params {
	const uint16_t *cpus;
	unsigned int nr_cpus;
	const int *fds;			/* [nr_cpus] empty files to write and read */
	bool cut;			/* earlier records than the first to come are gone */
};

int sl_bpf_spool_new(const struct sl_bpf_spool_params *params, struct sl_bpf_spool **ret_spool,
		     struct sl_err *err);
/* A record as sl_bpf_consume() gives it (sl_bpf_record_fn). Negative: it cannot be kept. */
int sl_bpf_spool_record(void *spool, const struct sl_bpf_header *record, size_t len);
/* Everything in order to the writer. */
int sl_bpf_spool_replay(struct sl_bpf_spool *spool, struct sl_bpf_writer *writer);
/* Waits whose records have come. */
uint64_t sl_bpf_spool_waits(const struct sl_bpf_spool *spool);
void sl_bpf_spool_free(struct sl_bpf_spool *spool);	/* NULL is fine */

#endif
