/* SPDX-License-Identifier: LGPL-2.1-only */
/* The insides of struct sl_bpf, for load.c and consume.c only. */
#ifndef SL_LIVE_BPF_OBJECT_H
#define SL_LIVE_BPF_OBJECT_H

#include "live/bpf/load.h"
#include "live/bpf/shared.h"
#include "live/bpf/schedlat.skel.h"

struct bpf_link;

struct sl_bpf {
	struct sl_bpf_params params;
	struct sl_bpf_caps caps;
	struct sl_bpf_config only;	/* the filter, nothing else */
	struct schedlat_bpf *skel;
	struct sl_bpf_probe *probes;	/* as sl_bpf_probe_descs */
	struct bpf_link **links;	/* the same; NULL: not attached */
	bool has_prev_state;
	uint64_t start_ns, stop_ns;
	int stats_fd;			/* statistics are on while it is open; -1 */

	/* The ring buffer and the per-CPU counters as the kernel shares them. */
	int epoll_fd;
	uint64_t *consumer_pos;
	const uint64_t *producer_pos;
	const uint8_t *data;		/* ring_bytes twice in a row */
	const uint8_t *cpus;		/* struct sl_bpf_cpu of each CPU */
	const struct sl_bpf_hist *hists; /* [nr_hists]; NULL without a threshold */
	unsigned int nr_hists;
	size_t page_bytes, cpus_bytes, hists_bytes;
	uint64_t *last_ts;		/* [nr_cpus] of the last record given out */
	uint64_t damaged, late;
	union {
		struct sl_bpf_header header;
		uint8_t bytes[SL_BPF_BUFFER];
	} late_record;
};

int sl_bpf_map_memory(struct sl_bpf *b, struct sl_err *err);
void sl_bpf_unmap_memory(struct sl_bpf *b);

#endif
