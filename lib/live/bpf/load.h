/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The BPF program: from open to close.
 *
 *	sl_bpf_open()	checks rights, builds, verifies and attaches; nothing is recorded yet
 *	sl_bpf_start()	recording begins on all CPUs at one instant
 *	consume.h	while it records, and after sl_bpf_stop() until the ring is empty
 *	sl_bpf_stop()	recording ends at one instant; the programs are detached
 *	sl_bpf_close()	everything is freed
 *
 * Nothing is pinned: programs and maps live as long as this process, whatever
 * ends it. Only a tracepoint for sched_switch and one for a wakeup are mandatory;
 * every other probe that this kernel lacks or refuses is left out and listed with
 * its reason. All decisions about fields are taken from the kernel's BTF.
 *
 * One thread at a time may use an object, but sl_bpf_stop() may be called by
 * another than the one that consumes.
 */
#ifndef SL_LIVE_BPF_LOAD_H
#define SL_LIVE_BPF_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/bpf/record.h"
#include "util/err.h"

struct sl_bpf;

/*
 * Which wakees are recorded. Kinds that are given must all match; of several
 * values of a kind, one. Switches and interrupts are always recorded.
 */
struct sl_bpf_only {
	bool short_slice;		/* a custom slice below the base slice; with short_ns: */
	uint64_t short_ns;		/* any slice below this; 0: not given */
	const int *tgids, *tids;	/* "pid": one of these processes or threads */
	size_t nr_tgids, nr_tids;
	const char *const *comms;	/* at most SL_BPF_COMMS_MAX; * at either end or both */
	size_t nr_comms;
	const uint64_t *cgroups;	/* inode numbers of cgroup directories; with what is below */
	size_t nr_cgroups;		/* at most SL_BPF_CGROUPS_MAX */
};

struct sl_bpf_params {
	int own_tgid;			/* wakeups of this process are not recorded; 0: none */
	uint64_t ring_bytes;		/* 0: the default; rounded up to what the kernel takes */
	bool irq;			/* with interrupt, softirq and vector events */
	bool idle;			/* with cpu_idle */
	bool no_evidence;		/* only the events, no snapshots */
	bool run_stats;			/* measure the programs themselves: costs about 20 ns a run */
	bool verbose;			/* messages carry the last lines of the verifier's log */
	struct sl_bpf_only only;
	/*
	 * Not 0: only waits from a waking to a switch that took at least this long leave the
	 * kernel, as record.h says under enum sl_bpf_record_flags; all are counted per thread.
	 */
	uint64_t threshold_ns;
	unsigned int nr_threads;	/* histograms, with a threshold; 0: the default, 4096 */
	bool live;			/* with a threshold: what live.h reads while it goes on */
};

enum sl_bpf_probe_state {
	SL_BPF_PROBE_ON,
	SL_BPF_PROBE_ABSENT,		/* this kernel has no such tracepoint */
	SL_BPF_PROBE_UNKNOWN,		/* its arguments are not those we know */
	SL_BPF_PROBE_REFUSED,		/* the kernel did not load or attach it */
	SL_BPF_PROBE_OFF,		/* not asked for */
};

struct sl_bpf_probe {
	const char *system, *name;	/* of the tracepoint: "sched", "sched_switch" */
	enum sl_bpf_probe_state state;
	char reason[160];		/* "" when on */
};

/* What this kernel lets us see; valid after sl_bpf_open(). */
struct sl_bpf_caps {
	bool has_eevdf;			/* vlag and deadline; else no snapshots at all */
	bool has_queue;			/* runqueues can be reached: CURR and BEST are known */
	bool has_vprot;			/* protection is a field of its own (or a union with vlag) */
	bool has_delayed;		/* delayed dequeue */
	bool has_custom_slice;
	bool has_min_slice;
	bool has_buddy;			/* a next buddy */
	bool has_task_throttle;		/* throttling takes tasks off the queue, not queues */
	bool has_groups;		/* FAIR_GROUP_SCHED: nested queues */
	bool has_flat;			/* one flat queue: level 0 only */
	char why_no_queue[160];		/* "" with has_queue */
	char fields[256];		/* which generation of names: "sum_w_vruntime nr_queued vprot ..." */
	uint64_t ring_bytes;		/* effective */
	unsigned int nr_cpus;		/* possible CPUs: counters are [0, nr_cpus) */
};

/* The table that sl_bpf_number.b of a vector event points into: "local_timer", "reschedule", ... */
extern const char *const sl_bpf_vectors[];
extern const size_t sl_bpf_nr_vectors;

/*
 * Errors: SL_ENOBACKEND when this kernel or these rights do not allow it (the
 * message is the one-line reason: no BTF, lockdown, a missing capability, an old
 * kernel, the verifier); SL_EUSAGE for the parameters; -errno otherwise.
 */
int sl_bpf_open(const struct sl_bpf_params *params, struct sl_bpf **ret_bpf, struct sl_err *err);
int sl_bpf_start(struct sl_bpf *bpf, struct sl_err *err);
void sl_bpf_stop(struct sl_bpf *bpf);
void sl_bpf_close(struct sl_bpf *bpf);	/* NULL is fine */

const struct sl_bpf_caps *sl_bpf_caps(const struct sl_bpf *bpf);
size_t sl_bpf_nr_probes(const struct sl_bpf *bpf);
const struct sl_bpf_probe *sl_bpf_probe(const struct sl_bpf *bpf, size_t i);

/* Times of start and stop, CLOCK_MONOTONIC; no record lies outside. 0: not yet. */
uint64_t sl_bpf_start_ns(const struct sl_bpf *bpf);
uint64_t sl_bpf_stop_ns(const struct sl_bpf *bpf);

#endif
