/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Groups of samples: which group a wait belongs to, cached in the task.
 */
#ifndef SL_REPORT_GROUPS_H
#define SL_REPORT_GROUPS_H

#include "schedlat/report.h"
#include "sched/task.h"
#include "stats/stats.h"

struct sl_group_key {
	uint64_t a, b;			/* what they are depends on sl_by */
	enum sl_wait_kind kind;
};

struct sl_groups {
	enum sl_by by;
	struct sl_stats_pool *pool;
	struct sl_group_entry {
		struct sl_stats *stats;
		struct sl_group_key key;
		const struct sl_task *task;	/* its first */
		char comm[SL_COMM_LEN];		/* of that task, at its first sample */
		bool slices_differ;
		uint64_t slice_ns;
	} **v;
	unsigned int nr, cap;
	uint32_t *hash;				/* index + 1 */
	uint32_t hash_mask;
};

int sl_groups_init(struct sl_groups *g, enum sl_by by, bool exact);	/* 0 or -ENOMEM */
void sl_groups_release(struct sl_groups *g);

/* Find or make the group of (task, kind) and cache it in the task. NULL: out of memory. */
struct sl_stats *sl_groups_find(struct sl_groups *g, struct sl_task *t, enum sl_wait_kind kind);

static inline struct sl_stats *sl_groups_of(struct sl_groups *g, struct sl_task *t,
					    enum sl_wait_kind kind)
{
	return t->group[kind] ? t->group[kind] : sl_groups_find(g, t, kind);
}

/* A quantile over all samples of a kind, whatever their group. 0 when there are none. */
uint64_t sl_groups_quantile(const struct sl_groups *g, enum sl_wait_kind kind, double q);

/* The finished table, largest count first, *ret malloc'ed. 0 or -ENOMEM. */
int sl_groups_finish(struct sl_groups *g, struct sl_group **ret, unsigned int *ret_nr);

#endif
