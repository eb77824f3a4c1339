/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Records out of the ring buffer, and what the program counted.
 *
 * Without a threshold records of one CPU come in ascending time; those of different CPUs are only
 * roughly in order. sl_bpf_header.dropped of a record tells how many records of its
 * CPU were lost right before it.
 */
#ifndef SL_LIVE_BPF_CONSUME_H
#define SL_LIVE_BPF_CONSUME_H

#include "live/bpf/load.h"
#include "live/bpf/record.h"

/*
 * The record is header, payload of its kind, nr_parts parts, and was checked to be
 * that long; it is 8-byte aligned and lives until the function returns. Nonzero ends
 * the consuming: that record counts as consumed.
 */
typedef int (*sl_bpf_record_fn)(void *arg, const struct sl_bpf_header *record, size_t len);

/* What stands behind the header, and where; NULL for an unknown kind. */
static inline const void *sl_bpf_payload(const struct sl_bpf_header *record)
{
	return record + 1;
}
size_t sl_bpf_payload_len(unsigned int kind);	/* SIZE_MAX: unknown kind */
const struct sl_bpf_part *sl_bpf_parts(const struct sl_bpf_header *record);

/*
 * Give at most max records (0: all there are) to fn. Returns how many, or fn's
 * nonzero result when it is negative. Damaged records are skipped and counted.
 */
int64_t sl_bpf_consume(struct sl_bpf *bpf, sl_bpf_record_fn fn, void *arg, size_t max);

/*
 * A descriptor that polls readable when the ring has filled to about a quarter; look
 * at least every 100 ms even so: fewer records wake nobody.
 */
int sl_bpf_fd(const struct sl_bpf *bpf);
/* Bytes of the ring in use now. */
uint64_t sl_bpf_pending(const struct sl_bpf *bpf);

/* Records lost for lack of room, per CPU; those behind the last record of a CPU included. */
uint64_t sl_bpf_dropped(const struct sl_bpf *bpf, unsigned int cpu);
/* Records that do not parse: a fault of ours. */
uint64_t sl_bpf_damaged(const struct sl_bpf *bpf);
/* Records whose time was moved behind that of an interrupt which came in between. */
uint64_t sl_bpf_late(const struct sl_bpf *bpf);

/*
 * The bit that NEED_RESCHED records have in b when the task is asked to stop at once; the
 * next one means lazily. -1 while not known: it is learned from an idle CPU's wakeup.
 */
int sl_bpf_tif_resched(const struct sl_bpf *bpf);

/*
 * With a threshold: the delays of all threads, as they are now; the first entry is that
 * of the threads which found no entry left, those with count 0 are unused. Lives until
 * sl_bpf_close(). NULL and 0 without a threshold.
 */
const struct sl_bpf_hist *sl_bpf_hists(const struct sl_bpf *bpf, size_t *ret_nr);
/* What a bucket counts: from_ns <= delay < to_ns; the last one has no end. */
void sl_bpf_hist_range(unsigned int bucket, uint64_t *ret_from_ns, uint64_t *ret_to_ns);

/* How often a program ran and how long, of those with params->run_stats. */
struct sl_bpf_run_stat {
	const char *name;		/* of the program */
	uint64_t runs, ns;
	uint64_t misses;		/* refused because it was running already on that CPU */
};
/* ret_stat of program i; false: there is no i. */
bool sl_bpf_run_stat(const struct sl_bpf *bpf, size_t i, struct sl_bpf_run_stat *ret_stat);

#endif
