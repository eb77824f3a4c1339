// SPDX-License-Identifier: LGPL-2.1-only
#include "live/slice.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/attr.h"
#include "live/text.h"
#include "util/time.h"

#define FLAG_RESET_ON_FORK 0x01
#define FLAG_KEEP_POLICY 0x08

bool sl_slice_is_fair(uint32_t policy)
{
	return sl_policy_is_fair(policy);
}

const char *sl_slice_policy_name(uint32_t policy)
{
	switch (policy) {
	case POLICY_OTHER: return "other";
	case POLICY_FIFO: return "fifo";
	case POLICY_RR: return "rr";
	case POLICY_BATCH: return "batch";
	case POLICY_IDLE: return "idle";
	case POLICY_DEADLINE: return "deadline";
	case POLICY_EXT: return "ext";
	}
	return "?";
}

int sl_slice_parse(const char *text, uint64_t *ret_ns, struct sl_err *err)
{
	if (!strcmp(text, "default")) {
		*ret_ns = 0;
		return 0;
	}
	if (sl_time_parse(text, ret_ns, NULL) < 0)
		return sl_err_set(err, SL_EUSAGE, "'%.64s' is not a slice: write it like 8ms or 500us, or default",
				  text);
	return 0;
}

uint64_t sl_slice_clamp(uint64_t ns)
{
	if (!ns)
		return 0;
	return ns < SL_SLICE_MIN_NS ? SL_SLICE_MIN_NS : ns > SL_SLICE_MAX_NS ? SL_SLICE_MAX_NS : ns;
}

int sl_slice_get(int32_t tid, struct sl_slice_attr *ret_attr)
{
	struct attr_v0 attr = { 0 };

	if (syscall(SYS_sched_getattr, tid, &attr, sizeof(attr), 0) < 0)
		return -errno;
	*ret_attr = (struct sl_slice_attr){
		.policy = attr.policy,
		.priority = attr.priority,
		.nice = attr.nice,
		.reset_on_fork = attr.flags & FLAG_RESET_ON_FORK,
		/* get_params(), 6.12: the slice of what is neither deadline nor realtime. */
		.slice_ns = sl_slice_is_fair(attr.policy) ? attr.runtime_ns : 0,
	};
	return 0;
}

/* 0 or an errno. */
static int set_attr(int32_t tid, const struct attr_v0 *attr)
{
	return syscall(SYS_sched_setattr, tid, attr, 0) < 0 ? errno : 0;
}

/*
 * A thread of its own that goes back to the base slice and looks what that is:
 * it may have inherited another one. Under a realtime policy or SCHED_IDLE it
 * first becomes an ordinary thread.
 */
static void *ask_base(void *arg)
{
	uint64_t *ret_ns = arg;
	struct attr_v0 attr = { .size = sizeof(attr), .flags = FLAG_KEEP_POLICY };
	struct sl_slice_attr own;

	if (sl_slice_get(0, &own))
		return NULL;
	attr.nice = own.nice;
	if (own.policy != POLICY_OTHER && own.policy != POLICY_BATCH) {
		attr.policy = POLICY_OTHER;
		attr.flags = own.reset_on_fork ? FLAG_RESET_ON_FORK : 0;
	}
	if (!set_attr(0, &attr) && !sl_slice_get(0, &own) &&
	    (own.policy == POLICY_OTHER || own.policy == POLICY_BATCH))
		*ret_ns = own.slice_ns;
	return NULL;
}

void sl_slice_base(struct sl_slice_base *ret_base)
{
	struct sl_slice_base base = { 0 };
	uint64_t ns = 0;
	pthread_t thread;

	if (!pthread_create(&thread, NULL, ask_base, &ns)) {
		pthread_join(thread, NULL);
		if (ns)
			base = (struct sl_slice_base){ ns, SL_SLICE_FROM_THREAD };
	}
	/* The same number, but where it can be read there is nothing to conclude. */
	if (sl_text_read_u64(&ns, "/sys/kernel/debug/sched/base_slice_ns") && ns && base.ns)
		base = (struct sl_slice_base){ ns, SL_SLICE_FROM_DEBUGFS };
	*ret_base = base;
}

const char *sl_slice_from_name(enum sl_slice_from from)
{
	switch (from) {
	case SL_SLICE_FROM_NOBODY: break;
	case SL_SLICE_FROM_DEBUGFS: return "debugfs";
	case SL_SLICE_FROM_THREAD: return "fresh-thread";
	case SL_SLICE_FROM_MOST: return "most-common";
	}
	return NULL;
}

const char *sl_slice_outcome_name(enum sl_slice_outcome outcome)
{
	static const char *const names[] = {
		[SL_SLICE_NOT_TRIED] = "not-tried",	[SL_SLICE_SET] = "set",
		[SL_SLICE_UNCHANGED] = "unchanged",	[SL_SLICE_GONE] = "gone",
		[SL_SLICE_REALTIME] = "realtime",	[SL_SLICE_DEADLINE] = "deadline",
		[SL_SLICE_IDLE] = "idle-policy",	[SL_SLICE_EXT] = "sched-ext",
		[SL_SLICE_NO_KERNEL] = "no-kernel-support", [SL_SLICE_NO_RIGHT] = "no-right",
		[SL_SLICE_FAILED] = "failed",
	};

	return outcome < SL_SLICE_OUTCOME_NR ? names[outcome] : "?";
}

bool sl_slice_is_left_out(enum sl_slice_outcome outcome)
{
	return outcome == SL_SLICE_REALTIME || outcome == SL_SLICE_DEADLINE ||
	       outcome == SL_SLICE_IDLE || outcome == SL_SLICE_EXT;
}

/* Policies that have no slice to set; NOT_TRIED for the others. */
static enum sl_slice_outcome by_policy(uint32_t policy)
{
	switch (policy) {
	case POLICY_FIFO:
	case POLICY_RR:
		return SL_SLICE_REALTIME;
	case POLICY_DEADLINE:
		return SL_SLICE_DEADLINE;
	case POLICY_EXT:
		return SL_SLICE_EXT;
	}
	return SL_SLICE_NOT_TRIED;
}

enum sl_slice_outcome sl_slice_judge(const struct sl_slice_attr *before, uint64_t asked_ns,
				     uint64_t base_ns, int error, const struct sl_slice_attr *after)
{
	const uint64_t want_ns = asked_ns ? sl_slice_clamp(asked_ns) : base_ns;
	enum sl_slice_outcome outcome = by_policy(after->policy);

	if (error == ESRCH)
		return SL_SLICE_GONE;
	if (error == EPERM || error == EACCES)
		return SL_SLICE_NO_RIGHT;
	/* It may have changed its policy meanwhile, which is what EINVAL then means. */
	if (outcome != SL_SLICE_NOT_TRIED)
		return outcome;
	if (error)
		return SL_SLICE_FAILED;
	if (!after->slice_ns)
		return SL_SLICE_NO_KERNEL;
	if (after->slice_ns == want_ns || (!want_ns && !asked_ns))
		return before->slice_ns == after->slice_ns ? SL_SLICE_UNCHANGED : SL_SLICE_SET;
	return after->policy == POLICY_IDLE ? SL_SLICE_IDLE : SL_SLICE_FAILED;
}

/*
 * KEEP_POLICY, and nice as it was: with KEEP_PARAMS the kernel overwrites the
 * slice that we ask for with the present one (sched_setattr(), 6.12 to 7.3), and
 * a policy named here could undo a change made since it was read. A thread that
 * turns realtime in between makes it EINVAL, not an ordinary thread.
 */
enum sl_slice_outcome sl_slice_set(int32_t tid, uint64_t ns, uint64_t base_ns,
				   struct sl_slice_attr *ret_before, struct sl_slice_attr *ret_after,
				   int *ret_error)
{
	struct attr_v0 attr = { .size = sizeof(attr), .flags = FLAG_KEEP_POLICY, .runtime_ns = ns };
	struct sl_slice_attr before, after;
	enum sl_slice_outcome outcome;
	int error = sl_slice_get(tid, &before);

	*ret_error = 0;
	if (error) {
		*ret_error = error == -ESRCH ? 0 : -error;
		*ret_before = *ret_after = (struct sl_slice_attr){ 0 };
		return error == -ESRCH ? SL_SLICE_GONE :
		       error == -EPERM || error == -EACCES ? SL_SLICE_NO_RIGHT : SL_SLICE_FAILED;
	}
	*ret_before = after = before;
	outcome = by_policy(before.policy);
	if (outcome == SL_SLICE_NOT_TRIED) {
		attr.nice = before.nice;
		error = set_attr(tid, &attr);
		if (sl_slice_get(tid, &after) == -ESRCH)
			error = ESRCH;
		outcome = sl_slice_judge(&before, ns, base_ns, error, &after);
		if (outcome == SL_SLICE_NO_RIGHT || outcome == SL_SLICE_FAILED)
			*ret_error = error;
	}
	*ret_after = after;
	return outcome;
}

char *sl_slice_reason(char *buf, size_t size, enum sl_slice_outcome outcome, int error, uint32_t uid)
{
	const char *text = "";

	switch (outcome) {
	case SL_SLICE_REALTIME:
		text = "a realtime thread (SCHED_FIFO, SCHED_RR) has no slice";
		break;
	case SL_SLICE_DEADLINE:
		text = "the runtime of SCHED_DEADLINE is a bandwidth, not a slice";
		break;
	case SL_SLICE_IDLE:
		text = "the kernel sets no slice for SCHED_IDLE: set it before the thread gets that policy";
		break;
	case SL_SLICE_EXT:
		text = "a BPF scheduler decides for SCHED_EXT";
		break;
	case SL_SLICE_NO_KERNEL:
		text = "this kernel keeps no slice per thread: Linux 6.12 and later do";
		break;
	case SL_SLICE_GONE:
		text = "it has ended";
		break;
	case SL_SLICE_NO_RIGHT:
		if (uid != UINT32_MAX && uid != geteuid())
			snprintf(buf, size, "no right to change a thread of user %u: be that user, or have CAP_SYS_NICE (root)",
				 uid);
		else
			snprintf(buf, size, "sched_setattr: %s, although it is a thread of this user: a container or a security module forbids it",
				 strerror(error));
		return buf;
	case SL_SLICE_FAILED:
		if (error)
			snprintf(buf, size, "sched_setattr: %s", strerror(error));
		else
			snprintf(buf, size, "the kernel accepted it and did not change the slice");
		return buf;
	case SL_SLICE_NOT_TRIED:
	case SL_SLICE_SET:
	case SL_SLICE_UNCHANGED:
	case SL_SLICE_OUTCOME_NR:
		break;
	}
	snprintf(buf, size, "%s", text);
	return buf;
}
