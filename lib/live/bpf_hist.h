/* SPDX-License-Identifier: LGPL-2.1-only */
/* Delays per thread, as metadata of a recording: schedlat-events(7), hist.TID. */
#ifndef SL_LIVE_BPF_HIST_H
#define SL_LIVE_BPF_HIST_H

#include "live/bpf/record.h"
#include "live/text.h"

/* How their buckets are made: stands before the first of them. */
void sl_bpf_hists_meta(struct sl_kv_list *list);
/* Those of one thread. */
void sl_bpf_hist_meta(struct sl_kv_list *list, const struct sl_bpf_hist *hist);

#endif
