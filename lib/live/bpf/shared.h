/* SPDX-License-Identifier: LGPL-2.1-only */
/* What the program and its loader share beside the records. Plain C. */
#ifndef SL_LIVE_BPF_SHARED_H
#define SL_LIVE_BPF_SHARED_H

#include "live/bpf/record.h"

/* Index into sl_bpf_vectors. */
enum sl_bpf_vector {
	SL_BPF_VECTOR_LOCAL_TIMER,
	SL_BPF_VECTOR_RESCHEDULE,
	SL_BPF_VECTOR_CALL_FUNCTION,
	SL_BPF_VECTOR_CALL_FUNCTION_SINGLE,
	SL_BPF_VECTOR_IRQ_WORK,
	SL_BPF_VECTOR_NR
};

/* What a key of the map only_pids holds. */
enum sl_bpf_only_id { SL_BPF_ONLY_TID, SL_BPF_ONLY_TGID };

/* A pattern for names: equal where mask has ones, at the start or anywhere. */
struct sl_bpf_comm {
	unsigned long long text[2], mask[2];
	unsigned long long anywhere;
};

/* Constants of the program: what they switch off is not even verified. */
struct sl_bpf_config {
	unsigned long long wake_bytes;	/* in the ring before the consumer is woken */
	int own_tgid;
	unsigned char evidence;
	unsigned char irq;
	unsigned char has_prev_state;	/* sched_switch has a fourth argument */
	unsigned char only_short, only_pid;
	unsigned char live;		/* with what an observer reads while it goes on: live.bpf.h */
	unsigned long long threshold_ns; /* 0: everything is sent */
	unsigned int nr_cpus, nr_hists;
	unsigned int nr_comms, nr_cgroups;
	unsigned long long short_ns;	/* 0: custom and below the base slice */
	struct sl_bpf_comm comms[SL_BPF_COMMS_MAX];
	unsigned long long cgroups[SL_BPF_CGROUPS_MAX];
};

/* Shared while it runs. */
struct sl_bpf_control {
	unsigned long long start_ns, stop_ns;	/* what lies outside is not recorded */
	unsigned long long fair_class;	/* sched_class of fair tasks, learned from one; 0: not yet */
	unsigned long long base_slice;	/* learned likewise, for the filter */
	unsigned int on;
	unsigned int woken;		/* set by the program, cleared by the consumer */
	int tif_resched;		/* bit number of TIF_NEED_RESCHED; 0: not learned yet */
	unsigned int tif_mask;		/* enum sl_bpf_resched: those that exist */
	int learn_tid;			/* a thread that will be woken by a signal; 0: none */
	unsigned int learn_flags;	/* its flags when it was; 0: not yet */
	unsigned int sent_short;	/* live: only waits of tasks with a short slice are sent */
	unsigned long long threshold_ns; /* live: instead of that in the configuration */
};

#define SL_BPF_BUFFER (24 + 48 + SL_BPF_PARTS_MAX * 48)

/* What a task that waits has to show for it. */
struct sl_bpf_task {
	unsigned long long since;	/* time of the waking, else of the wakeup; 0: does not wait */
	unsigned int hist;		/* of its delays; 0: none yet */
	unsigned int waking_len, wakeup_len;
	unsigned int is_new;		/* its first wait is of another kind: neither counted nor sent */
	unsigned long long inside;	/* an interrupt or softirq ran there when it was queued: since then */
	int wait_cpu;			/* where it was queued */
	unsigned long long queued;	/* live: when */
	unsigned long long ran_ns[SL_BPF_RAN_NR]; /* live: what that CPU had run until then */
	unsigned char waking[24 + 32 + 48];
	unsigned char wakeup[24 + 32 + SL_BPF_PARTS_MAX * 48];
};

/* The latest records of a CPU, in the order of time. */
#define SL_BPF_HISTORY 1024
#define SL_BPF_HISTORY_BYTES 262144
struct sl_bpf_history {
	unsigned long long nr, sent;	/* counted from the start */
	unsigned long long head;	/* bytes written, counted likewise */
	struct {
		unsigned long long ts, pos, len;
	} index[SL_BPF_HISTORY];	/* record n: n % SL_BPF_HISTORY */
	unsigned char data[SL_BPF_HISTORY_BYTES + SL_BPF_BUFFER];
};

/* A CPU now, for an observer. seq is odd while it changes. */
struct sl_bpf_now {
	unsigned int seq;
	int pid;
	char comm[SL_BPF_COMM];
	unsigned long long since;
	unsigned long long seen;	/* when queue and entity were; 0: never since it runs */
	struct sl_bpf_part queue, entity; /* of the running fair task, its own level */
	unsigned int nr_running;
	int prio;
};

struct sl_bpf_cpu {
	unsigned long long dropped;
	unsigned long long sent;
	unsigned long long exec_start;	/* of the running task when its timer interrupt began */
	unsigned int lost;		/* since the last record that got through */
	unsigned int depth;		/* buffers in use */
	unsigned int hists;		/* given out by this CPU */
	unsigned long long irq_since, softirq_since; /* runs since then; 0: none does */
	unsigned int left_out;		/* live: waits that end here are not counted */
	unsigned int ran;		/* live: enum sl_bpf_ran */
	unsigned long long ran_since, ran_ns[SL_BPF_RAN_NR];
	unsigned long long waits, waited_ns; /* live: that ended here */
	struct sl_bpf_now now;		/* live */
	unsigned long long buffer[2][SL_BPF_BUFFER / 8];
} __attribute__((aligned(64)));

#endif
