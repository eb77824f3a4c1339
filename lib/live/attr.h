/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The first version of struct sched_attr (48 bytes, since 3.14), and the policies. glibc
 * has no wrapper before 2.41, and its names there would clash. Without the fields behind
 * it the utilisation clamps cannot be touched by accident.
 */
#ifndef SL_LIVE_ATTR_H
#define SL_LIVE_ATTR_H

#include <stdbool.h>
#include <stdint.h>

struct attr_v0 {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

enum { POLICY_OTHER, POLICY_FIFO, POLICY_RR, POLICY_BATCH, POLICY_IDLE = 5, POLICY_DEADLINE,
       POLICY_EXT };

static inline bool sl_policy_is_fair(uint32_t policy)
{
	return policy == POLICY_OTHER || policy == POLICY_BATCH || policy == POLICY_IDLE;
}

#endif
