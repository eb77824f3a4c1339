/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The slice of a thread: how long it asks to run at a time (EEVDF's request).
 * A short one brings the virtual deadline closer, so the thread is chosen
 * earlier; its share of the CPU stays the same.
 *
 * Since 6.12 sched_getattr(2) reports it in sched_runtime for the policies
 * SCHED_OTHER, SCHED_BATCH and SCHED_IDLE, and sched_setattr(2) sets it for the
 * first two (__setparam_fair(); before that __setscheduler_params()); 0 goes back
 * to the base slice. Earlier kernels report 0 and ignore what is set, without an
 * error, so what was set is always read back. The kernel does not tell whether a
 * slice was set or is the base slice; here one that differs from the base slice
 * was set.
 */
#ifndef SL_LIVE_SLICE_H
#define SL_LIVE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/* __setparam_fair(), 6.12 to 7.3: slices are kept between these. */
#define SL_SLICE_MIN_NS 100000ull
#define SL_SLICE_MAX_NS 100000000ull

struct sl_slice_attr {
	uint32_t policy;	/* SCHED_* of <linux/sched.h> */
	uint32_t priority;	/* 1..99 for SCHED_FIFO and SCHED_RR, else 0 */
	int32_t nice;
	bool reset_on_fork;
	uint64_t slice_ns;	/* 0: it has none, or the kernel does not tell */
};

/* Do threads of this policy have a slice (other, batch, idle)? */
bool sl_slice_is_fair(uint32_t policy);
const char *sl_slice_policy_name(uint32_t policy);	/* "other", "fifo", ...; "?" */

/* "8ms", "default" or "0" (both: 0 ns, the base slice). SL_EUSAGE says what is wrong. */
int sl_slice_parse(const char *text, uint64_t *ret_ns, struct sl_err *err);
/* What the kernel makes of it; 0 stays 0. */
uint64_t sl_slice_clamp(uint64_t ns);

/* 0 or -errno: -ESRCH when the thread is gone. tid 0: the calling thread. */
int sl_slice_get(int32_t tid, struct sl_slice_attr *ret_attr);

/*
 * The slice of threads that never set one. `from` says who told: debugfs, or a
 * thread of our own that went back to it. ns 0: unknown (or no slices at all).
 */
enum sl_slice_from { SL_SLICE_FROM_NOBODY, SL_SLICE_FROM_DEBUGFS, SL_SLICE_FROM_THREAD,
		     SL_SLICE_FROM_MOST };
struct sl_slice_base {
	uint64_t ns;
	enum sl_slice_from from;
};
void sl_slice_base(struct sl_slice_base *ret_base);
const char *sl_slice_from_name(enum sl_slice_from from);	/* for JSON */

/* What became of an attempt to set a slice. */
enum sl_slice_outcome {
	SL_SLICE_NOT_TRIED,
	SL_SLICE_SET,
	SL_SLICE_UNCHANGED,	/* it had this slice before */
	SL_SLICE_GONE,		/* the thread ended */
	SL_SLICE_REALTIME,	/* SCHED_FIFO, SCHED_RR: no slice */
	SL_SLICE_DEADLINE,	/* SCHED_DEADLINE: its runtime is a bandwidth */
	SL_SLICE_IDLE,		/* SCHED_IDLE has a slice, but setting it is ignored */
	SL_SLICE_EXT,		/* SCHED_EXT: a BPF scheduler decides */
	SL_SLICE_NO_KERNEL,	/* no slices per thread: before 6.12 */
	SL_SLICE_NO_RIGHT,
	SL_SLICE_FAILED,	/* refused or ignored for another reason */
	SL_SLICE_OUTCOME_NR
};
const char *sl_slice_outcome_name(enum sl_slice_outcome outcome);	/* "set", "no-right" ... */
/* Was it left out by its nature (not by a lack of rights or an error)? */
bool sl_slice_is_left_out(enum sl_slice_outcome outcome);

/*
 * Conclude from what was read before and after sched_setattr() returned `error`
 * (0 or an errno). base_ns 0: unknown.
 */
enum sl_slice_outcome sl_slice_judge(const struct sl_slice_attr *before, uint64_t asked_ns,
				     uint64_t base_ns, int error, const struct sl_slice_attr *after);

/*
 * Give a thread this slice (0: the base slice) and read it back. Policy, nice,
 * reset-on-fork and utilisation clamps stay as they are. ret_error gets the
 * errno behind NO_RIGHT and FAILED, 0 otherwise.
 */
enum sl_slice_outcome sl_slice_set(int32_t tid, uint64_t ns, uint64_t base_ns,
				   struct sl_slice_attr *ret_before, struct sl_slice_attr *ret_after,
				   int *ret_error);

/*
 * Why, and what to do: a line without the thread's name. `uid` is the owner of
 * the thread, UINT32_MAX when unknown. "" for SET and UNCHANGED.
 */
char *sl_slice_reason(char *buf, size_t size, enum sl_slice_outcome outcome, int error, uint32_t uid);

#endif
