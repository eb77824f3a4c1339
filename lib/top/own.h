/* SPDX-License-Identifier: LGPL-2.1-only */
/* The insides of top, for its own files. */
#ifndef SL_TOP_OWN_H
#define SL_TOP_OWN_H

#include "top/top.h"

/* What is remembered of an entry of sl_watch_threads() from one refresh to the next. */
struct sl_top_entry {
	int32_t tid;			/* 0: free */
	uint64_t count, sum_ns;		/* at the last refresh */
	uint64_t p50_ns, p99_ns;	/* of `count` waits */
	struct sl_top_judged judged;
};

struct sl_top_busy {			/* of /proc/stat */
	uint64_t idle, all;
	bool known;
};

struct sl_top {
	struct sl_top_params params;
	struct sl_watch *watch;
	struct sl_top_frame frame;
	struct sl_report *kept;
	uint64_t start_ns, last_ns, last_cpu_ns;
	uint64_t seen_ns;		/* waits that ended until then were looked at */
	uint64_t seen_now_ns;		/* the same, after this refresh */
	int error;			/* of a callback */

	struct sl_top_entry *entries;
	unsigned int nr_entries;
	uint32_t *by_tid;		/* entry + 1 by tid, open addressing */
	uint32_t by_tid_mask;

	struct sl_top_cause causes[SL_CAUSE_NR];
	uint64_t *cpu_waits, *cpu_ns;	/* [nr cpus] tracefs: of this interval; bpf: at the last refresh */
	struct sl_top_busy *busy;	/* [nr cpus] */
};

uint64_t sl_top_now_ns(void);

/* Entries follow the watch's threads; before waits are judged. 0 or -ENOMEM. */
int sl_top_follow(struct sl_top *top);
struct sl_top_entry *sl_top_entry_of(struct sl_top *top, int32_t tid);
/* The rows of the frame. 0 or -ENOMEM. */
int sl_top_fill_tasks(struct sl_top *top);
int sl_top_fill_cpus(struct sl_top *top);

void sl_top_causes_begin(struct sl_top *top);
/* A wait that ended now, long enough and without taints. */
void sl_top_causes_add(struct sl_top *top, const struct sl_wait *wait);
int sl_top_fill_causes(struct sl_top *top);

#endif
