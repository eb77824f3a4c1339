/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The kernel types that schedlat.bpf.c reads, with only the fields it uses. Offsets
 * and widths come from the running kernel's BTF when the program is loaded, so the
 * order here means nothing, and no BTF is needed to build. A name behind ___ is
 * cut off for the lookup: it tells generations of one structure apart.
 */
#ifndef SL_VMLINUX_H
#define SL_VMLINUX_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s16 __s16;
typedef s32 __s32;
typedef s64 __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;
typedef int pid_t;
typedef _Bool bool;
enum { false, true };

/* Values of the BPF interface, from its UAPI. */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_QUEUE = 22, BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29
};
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_F_NO_PREALLOC = 1 << 0, BPF_F_RDONLY_PROG = 1 << 7, BPF_F_MMAPABLE = 1 << 10 };
enum { BPF_RB_NO_WAKEUP = 1 << 0, BPF_RB_FORCE_WAKEUP = 1 << 1 };
enum { BPF_RB_AVAIL_DATA, BPF_RB_RING_SIZE };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rb_node {
	struct rb_node *rb_right, *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct rb_root_cached {
	struct rb_root rb_root;
	struct rb_node *rb_leftmost;
};

struct load_weight {
	unsigned long weight;
};

struct cfs_rq;

struct sched_entity {
	struct load_weight load;
	struct load_weight h_load;	/* flat runqueue: the weight of a task in rq->cfs */
	struct rb_node run_node;
	u64 deadline;
	u64 min_vruntime;
	u64 min_slice;
	u8 on_rq;
	u8 sched_delayed;
	u8 rel_deadline;
	u8 custom_slice;
	u64 exec_start;
	u64 vruntime;
	s64 vlag;
	u64 vprot;
	u64 slice;
	int depth;
	struct sched_entity *parent;
	struct cfs_rq *cfs_rq, *my_q;
};

struct kernfs_node {
	u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct autogroup {
	unsigned long id;
};

struct task_group {
	struct cgroup_subsys_state css;
	struct task_group *parent;
	struct autogroup *autogroup;
};

struct rq;

struct cfs_rq {
	unsigned int nr_queued, h_nr_queued;
	s64 sum_w_vruntime;
	u64 sum_weight;
	u64 zero_vruntime;
	struct rb_root_cached tasks_timeline;
	struct sched_entity *curr, *next;
	struct rq *rq;
	struct task_group *tg;
	int idle;
	int runtime_enabled;
	bool throttled : 1;
	int throttle_count;
};

/* Names until 6.18; some stable kernels have the new ones. */
struct cfs_rq___old {
	unsigned int nr_running;
	s64 avg_vruntime;
	u64 avg_load;
	u64 min_vruntime;
};

struct task_struct;

struct rq {
	struct cfs_rq cfs;
	unsigned int nr_running;
	struct task_struct *curr, *donor;
};

struct thread_info {
	unsigned long flags;
	u32 cpu;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	int exit_state;
	int on_rq;
	int prio, normal_prio;
	struct sched_entity se;
	const void *sched_class;
	struct task_group *sched_task_group;
	bool throttled;
	unsigned int policy;
	pid_t pid, tgid;
	char comm[16];
	struct css_set *cgroups;
};

struct task_struct___old {
	unsigned int cpu;	/* with thread_info on the stack, before 5.16 on x86 */
	long state;		/* before 5.14 */
};

#pragma clang attribute pop

struct irqaction;
struct linux_binprm;

#endif
