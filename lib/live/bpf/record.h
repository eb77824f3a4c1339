/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the BPF program puts into its ring buffer: one record per scheduler event,
 * the snapshots taken for it behind it. Shared with the program, so plain C.
 *
 * The consumer writes the parts as schedlat:queue and schedlat:entity events, then
 * the event itself; event/evidence.h says which parts there are.
 */
#ifndef SL_LIVE_BPF_RECORD_H
#define SL_LIVE_BPF_RECORD_H

#include "event/evidence.h"

#define SL_BPF_COMM 16
#define SL_BPF_LEVELS_MAX 8	/* deeper hierarchies: the lower levels are kept */
#define SL_BPF_COMMS_MAX 16	/* patterns of a filter */
#define SL_BPF_CGROUPS_MAX 16

/* What happened; payloads in the order of the enum below. */
enum sl_bpf_kind {
	SL_BPF_SWITCH,
	SL_BPF_WAKING,		/* payload wake; cpu: the task's previous CPU */
	SL_BPF_WAKEUP,		/* payload wake; cpu: where it is queued */
	SL_BPF_WAKEUP_NEW,
	SL_BPF_MIGRATE,
	SL_BPF_FORK,
	SL_BPF_NEWTASK,
	SL_BPF_EXEC,
	SL_BPF_EXIT,		/* payload wake: comm, pid, prio */
	SL_BPF_RENAME,
	SL_BPF_PI_SETPRIO,
	SL_BPF_CPU_IDLE,	/* payload number: a state, b cpu */
	SL_BPF_IRQ_ENTRY,	/* payload number: a irq, softirq vector or vector; also the seven below */
	SL_BPF_IRQ_EXIT,
	SL_BPF_SOFTIRQ_ENTRY,
	SL_BPF_SOFTIRQ_EXIT,
	SL_BPF_VECTOR_ENTRY,	/* b: which one, index into the loader's table of vector events */
	SL_BPF_VECTOR_EXIT,
	SL_BPF_IPI_ENTRY,
	SL_BPF_IPI_EXIT,
	SL_BPF_NEED_RESCHED,	/* payload number: a cpu, b the TIF bit number as the kernel gives it */
	SL_BPF_PICKED_AGAIN,	/* payload number: a pid */
	SL_BPF_TICK,		/* payload number: a pid */
	SL_BPF_NR
};

/* As sl_bpf_header.resched: thread flags of the task in whose context it happened. */
enum sl_bpf_resched { SL_BPF_RESCHED = 1 << 0, SL_BPF_RESCHED_LAZY = 1 << 1 };

/*
 * As sl_bpf_header.flags, with a threshold. A wait that was long enough comes as one
 * series of records: its waking and wakeup with the CPUs and times of their own, then what
 * its CPU recorded from the waking on and has not been sent yet, last its switch. Only the
 * records of that history ascend; series of different CPUs can be mixed, but no CPU ends
 * two at once, so that an end belongs to the beginning of the same task.
 */
enum sl_bpf_record_flags {
	SL_BPF_WAIT_BEGIN = 1 << 0,	/* of a series */
	SL_BPF_WAIT_END = 1 << 1,
	SL_BPF_GAP = 1 << 2,		/* this CPU recorded something before this that was left out */
	SL_BPF_SHORT_HISTORY = 1 << 3,	/* the history does not reach back to the waking */
};

struct sl_bpf_header {
	unsigned long long ts;		/* bpf_ktime_get_ns(): CLOCK_MONOTONIC */
	int common_pid;			/* current; 0: idle */
	unsigned short cpu;
	unsigned char kind;		/* enum sl_bpf_kind */
	unsigned char nr_parts;
	unsigned char resched;		/* enum sl_bpf_resched */
	unsigned char truncated;	/* more levels than SL_BPF_LEVELS_MAX, or no room for a part */
	unsigned short flags;		/* enum sl_bpf_record_flags; 0 without a threshold */
	unsigned int dropped;		/* records of this CPU lost since its last one; saturates */
};

#define SL_BPF_PREEMPTED (1u << 16)	/* above every TASK_* bit: switched out involuntarily */

struct sl_bpf_switch {
	char prev_comm[SL_BPF_COMM], next_comm[SL_BPF_COMM];
	int prev_pid, next_pid;
	short prev_prio, next_prio;
	unsigned int prev_state;	/* the kernel's state | exit_state; SL_BPF_PREEMPTED */
};

struct sl_bpf_wake {
	char comm[SL_BPF_COMM];
	int pid, cpu;
	short prio;
	short reserved[3];
};

struct sl_bpf_migrate {
	char comm[SL_BPF_COMM];
	int pid, orig_cpu, dest_cpu;
	short prio;
	short reserved;
};

struct sl_bpf_fork {
	char child_comm[SL_BPF_COMM];
	int parent_pid, child_pid;
	unsigned long long clone_flags;	/* NEWTASK */
};

struct sl_bpf_rename {
	char newcomm[SL_BPF_COMM];
	int pid, old_pid;		/* EXEC: both; RENAME: pid */
};

struct sl_bpf_pi {
	char comm[SL_BPF_COMM];
	int pid, oldprio, newprio, reserved;
};

struct sl_bpf_number {
	int a, b;
};

#define SL_BPF_PART_QUEUE (-1)		/* sl_bpf_part.role of a queue; else enum sl_entity_role */

/*
 * A queue or an entity, of the same size, so that a record is a header, a payload and an
 * array. Every payload is a multiple of 8 bytes long: all of it is aligned.
 */
struct sl_bpf_part {
	short role;			/* SL_BPF_PART_QUEUE: the queue member is meant */
	short level;
	unsigned short flags;
	unsigned short qcpu;		/* the CPU of a queue */
	union {
		int group;		/* of both */
		struct {
			int group, pid, weight, slice;
			unsigned long long vruntime, deadline, lag_or_vprot;
		} entity;
		struct {
			int group, nr_queued, min_slice;
			int buddy;	/* pid of the next buddy, -1: a group's; 0: none */
			long long sum_w_vruntime;
			unsigned long long sum_weight, zero_vruntime;
		} queue;
	};
};

/* Who runs on a CPU, as far as its priority tells. */
enum sl_bpf_ran { SL_BPF_RAN_IDLE, SL_BPF_RAN_FAIR, SL_BPF_RAN_RT, SL_BPF_RAN_DL, SL_BPF_RAN_NR };

/*
 * Delays from the request to wake to the switch, per thread: SUB buckets for each power of
 * two from FIRST ns on, so that a bucket's upper edge is at most 1/SUB too high; SUB equal
 * ones below FIRST. The last bucket also has all that is longer.
 */
#define SL_BPF_HIST_SUB 16
#define SL_BPF_HIST_FIRST_SHIFT 10	/* 1024 ns */
#define SL_BPF_HIST_OCTAVES 27		/* up to 2^37 ns: two minutes */
#define SL_BPF_HIST_BUCKETS (SL_BPF_HIST_SUB * (SL_BPF_HIST_OCTAVES + 1))

struct sl_bpf_hist {
	char comm[SL_BPF_COMM];
	int tid, tgid;			/* 0: of all threads that came when the others were taken */
	unsigned long long count, sum_ns, max_ns;
	/* what follows is kept with sl_bpf_params.live only */
	unsigned long long since;	/* it waits since then; 0: it does not */
	unsigned long long slice_ns;	/* of a fair task; 0: it has none */
	unsigned long long path_ns;	/* of sum_ns: woken, but not queued yet */
	unsigned long long moved_ns;	/* queued, in waits during which it moved to another CPU */
	unsigned long long ran_ns[SL_BPF_RAN_NR]; /* queued on one CPU, by who ran there */
	int wait_cpu, group;		/* where it was queued last: a CPU, and a group's queue there */
	short prio;
	unsigned char policy, custom_slice;
	int dead;			/* the thread has ended: the entry can be given to another */
	unsigned int buckets[SL_BPF_HIST_BUCKETS];
} __attribute__((aligned(64)));

#define SL_BPF_PARTS_MAX (SL_BPF_LEVELS_MAX * 5)

#endif
