/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a recording says about itself: schedlat:meta (key=value) and
 * schedlat:task (threads at start and end), applied to the engine's tasks.
 */
#ifndef SL_REPORT_META_H
#define SL_REPORT_META_H

#include "sched/topology.h"
#include "schedlat/report.h"
#include "wait/engine.h"

struct sl_meta {
	struct sl_report_meta *v;
	unsigned int nr, cap;
	char **cgroups;			/* interned paths of tasks */
	unsigned int nr_cgroups;
	struct { char *path; bool throttled; } *throttle;
	unsigned int nr_throttle;
	int32_t *target_pids, *target_tids;
	unsigned int nr_target_pids, nr_target_tids;
	struct sl_topology topology;
	bool has_tasks, has_slices;
};

/* Take in an event of kind META or TASK. 0 or -ENOMEM. */
int sl_meta_apply(struct sl_meta *meta, struct sl_engine *e, const struct sl_event *event);
void sl_meta_release(struct sl_meta *meta);

const char *sl_meta_get(const struct sl_meta *meta, const char *key);	/* NULL: none */
/* An unsigned decimal value; false when there is none. */
bool sl_meta_get_u64(const struct sl_meta *meta, const char *key, uint64_t *ret);
/* Of this cgroup and those above it, the nearest that was throttled while recording; NULL: none. */
const char *sl_meta_throttled_group(void *meta, const char *cgroup);
/* The bandwidth period of that group; 0: unknown. */
uint64_t sl_meta_throttle_period_ns(void *meta, const char *cgroup);
int sl_meta_group_above(void *arg, uint64_t ino, const char *cgroup, const char **ret_path);
bool sl_meta_is_target(const struct sl_meta *meta, const struct sl_task *t);

#endif
