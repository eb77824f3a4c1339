/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the programs know while they go on, of an object opened with sl_bpf_params.live.
 * Beside this the histograms of consume.h are kept up to date with their live part.
 */
#ifndef SL_LIVE_BPF_LIVE_H
#define SL_LIVE_BPF_LIVE_H

#include "live/bpf/load.h"
#include "live/bpf/shared.h"

/* From now on waits of at least that leave the kernel; with `only_short` those of short slices. */
void sl_bpf_live_send(struct sl_bpf *bpf, uint64_t threshold_ns, bool only_short);
/* Waits that end on this CPU are neither counted nor sent. */
void sl_bpf_live_leave_out(struct sl_bpf *bpf, unsigned int cpu);
/* Slice of tasks that set none; 0: no such task was seen yet. */
uint64_t sl_bpf_live_base_slice(const struct sl_bpf *bpf);
/* A CPU as it is now; false: it was not seen yet, or changes too fast to be read. */
bool sl_bpf_live_now(const struct sl_bpf *bpf, unsigned int cpu, struct sl_bpf_now *ret_now);
/* Waits that ended on a CPU, and their time; false: there is no such CPU. */
bool sl_bpf_live_waits(const struct sl_bpf *bpf, unsigned int cpu, uint64_t *ret_waits, uint64_t *ret_ns);
/* Give the histogram of a thread that has ended (dead) to another. Its counts are gone. */
void sl_bpf_live_recycle(struct sl_bpf *bpf, unsigned int slot);
/* All counts of all threads are 0 again; waits that go on are counted when they end. */
void sl_bpf_live_reset(struct sl_bpf *bpf);

#endif
