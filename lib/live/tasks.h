/* SPDX-License-Identifier: LGPL-2.1-only */
/* Every thread of the system as /proc shows it, and the cgroups they are in. */
#ifndef SL_LIVE_TASKS_H
#define SL_LIVE_TASKS_H

#include <stddef.h>
#include <stdint.h>

#include "live/text.h"
#include "util/err.h"

struct sl_task_info {
	int32_t pid, tgid, policy, nice;
	char comm[16];
	char *detail;		/* "slice_ns=... cpus=... own=1 cgroup=..." */
};

struct sl_task_list {
	struct sl_task_info *items;
	size_t nr, room;
};

/* Scan /proc. Threads that end meanwhile are left out. */
int sl_tasks_scan(struct sl_task_list *ret_list, struct sl_err *err);
void sl_tasks_clear(struct sl_task_list *list);

/* Bandwidth of the cpu controller's cgroups, to tell from two scans what was throttled. */
struct sl_cgroup_list {
	struct sl_cgroup_info {
		char *path;		/* "/a/b", as in /proc/PID/cgroup */
		bool has_stat, has_quota, has_ino;
		uint64_t nr_throttled, throttled_us;
		uint64_t quota_us, period_us;
		uint64_t weight;	/* cpu.weight; of version 1 cpu.shares; 0: not known */
		bool is_shares;
		char uclamp_min[16], uclamp_max[16];	/* as the kernel prints them; "": not known */
		uint64_t ino;		/* of its directory: the kernel's id of the group */
	} *items;
	size_t nr, room;
};

/* The cgroups of these tasks and all their ancestors. Empty without a cpu controller. */
int sl_cgroups_scan(const struct sl_task_list *tasks, struct sl_cgroup_list *ret_list,
		    struct sl_err *err);
/*
 * Keys cgroup.PATH.ino, .weight or .shares, .uclamp_min and .uclamp_max of all, where known;
 * for those that have a quota or were ever throttled also
 * cgroup.PATH.{nr_throttled,throttled_us}.{start,end}, .quota_us and .period_us.
 */
void sl_cgroups_meta(const struct sl_cgroup_list *start, const struct sl_cgroup_list *end,
		     struct sl_kv_list *list);
void sl_cgroups_clear(struct sl_cgroup_list *list);
/* Inode number of a group's directory. -EOPNOTSUPP: there is no cpu controller; -ENOENT, ... */
int sl_cgroup_ino(const char *path, uint64_t *ret_ino);

#endif
