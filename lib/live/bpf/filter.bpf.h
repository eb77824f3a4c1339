/* SPDX-License-Identifier: LGPL-2.1-only OR GPL-2.0-only */
/* Which wakees are recorded: struct sl_bpf_only, as config has it. */
#ifndef SL_FILTER_BPF_H
#define SL_FILTER_BPF_H

#define CGROUP_DEPTH 24

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);	/* SL_BPF_ONLY_TID or _TGID << 32 | id */
	__type(value, u8);
} only_pids SEC(".maps");

/*
 * The base slice is not readable, but every task without a slice of its own has it. 0:
 * none was seen yet.
 */
static __always_inline bool only_short(const struct task_struct *p)
{
	u64 slice, base = control.base_slice;

	if (!has_eevdf() || !is_fair(p))
		return false;
	slice = p->se.slice;
	if (config.short_ns)
		return slice < config.short_ns;
	if (!bpf_core_field_exists(struct sched_entity, custom_slice))
		return false;
	if (p->se.custom_slice)
		return !base || slice < base;
	if (slice != base)
		control.base_slice = slice;
	return false;
}

static __always_inline bool only_pid(const struct task_struct *p)
{
	u64 key = (u64)SL_BPF_ONLY_TID << 32 | (u32)p->pid;

	if (bpf_map_lookup_elem(&only_pids, &key))
		return true;
	key = (u64)SL_BPF_ONLY_TGID << 32 | (u32)p->tgid;
	return bpf_map_lookup_elem(&only_pids, &key);
}

/* The name at every offset a pattern may begin at, 16 bytes at once. */
static __always_inline bool only_comm(const struct task_struct *p)
{
	u64 low = ((const u64 *)p->comm)[0], high = ((const u64 *)p->comm)[1];
	u32 offset, i;

	for (offset = 0; offset < SL_BPF_COMM; offset++) {
		for (i = 0; i < SL_BPF_COMMS_MAX; i++) {
			const volatile struct sl_bpf_comm *comm = &config.comms[i];

			if (i >= config.nr_comms)
				break;
			if (offset && !comm->anywhere)
				continue;
			if (!((low ^ comm->text[0]) & comm->mask[0]) &&
			    !((high ^ comm->text[1]) & comm->mask[1]))
				return true;
		}
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		low = low >> 8 | high << 56;
		high >>= 8;
#else
		low = low << 8 | high >> 56;
		high <<= 8;
#endif
	}
	return false;
}

static __always_inline bool is_only_cgroup(u64 id)
{
	u32 i;

	for (i = 0; i < SL_BPF_CGROUPS_MAX; i++) {
		if (i >= config.nr_cgroups)
			break;
		if (config.cgroups[i] == id)
			return true;
	}
	return false;
}

/*
 * By the cpu controller's hierarchy and, where that is another, by the unified one: the
 * ids of both are given by the file system, so that they can only be confused where a
 * version 1 cpu controller is mounted.
 */
static __always_inline bool only_cgroup(const struct task_struct *p)
{
	struct cgroup_subsys_state *css;
	struct cgroup *cgroup;
	int i;

	if (bpf_core_field_exists(struct css_set, dfl_cgrp)) {
		cgroup = p->cgroups->dfl_cgrp;
		css = cgroup ? &cgroup->self : NULL;
		for (i = 0; css && i < CGROUP_DEPTH; i++) {
			if (is_only_cgroup(css->cgroup->kn->id))
				return true;
			css = css->parent;
		}
	}
	if (!bpf_core_field_exists(struct task_struct, sched_task_group))
		return false;
	css = &p->sched_task_group->css;
	for (i = 0; css && i < CGROUP_DEPTH; i++) {
		if (css->cgroup && is_only_cgroup(css->cgroup->kn->id))
			return true;
		css = css->parent;
	}
	return false;
}

static __always_inline bool is_wanted(const struct task_struct *p)
{
	if (config.only_short && !only_short(p))
		return false;
	if (config.only_pid && !only_pid(p))
		return false;
	if (config.nr_comms && !only_comm(p))
		return false;
	return !config.nr_cgroups || only_cgroup(p);
}

#endif
