// SPDX-License-Identifier: LGPL-2.1-only
#include "schedlat/wait.h"

const struct sl_cause_desc sl_cause_descs[SL_CAUSE_NR] = {
#define SL_CAUSE(ID, id, family, doc, needs) [SL_CAUSE_##ID] = { id, SL_FAMILY_##family, doc, needs },
#include "schedlat/causes.def"
};

const char *sl_wait_kind_name(enum sl_wait_kind kind)
{
	static const char *const names[SL_WAIT_NR] = {
		[SL_WAIT_WAKE] = "wake", [SL_WAIT_PREEMPT] = "preempt", [SL_WAIT_FORK] = "fork",
	};

	return names[kind];
}

const char *sl_class_name(enum sl_class sched_class)
{
	static const char *const names[SL_CLASS_NR] = {
		[SL_CLASS_UNKNOWN] = "unknown", [SL_CLASS_STOP] = "stop", [SL_CLASS_DL] = "dl",
		[SL_CLASS_RT] = "rt", [SL_CLASS_FAIR] = "fair", [SL_CLASS_IDLE] = "idle",
		[SL_CLASS_EXT] = "ext",
	};

	return names[sched_class];
}

const char *sl_confidence_name(enum sl_confidence confidence)
{
	static const char *const names[SL_CONF_NR] = {
		[SL_CONF_EXACT] = "exact", [SL_CONF_DERIVED] = "derived", [SL_CONF_UNKNOWN] = "unknown",
	};

	return names[confidence];
}

const char *sl_taint_name(enum sl_taint taint)
{
	switch (taint) {
	case SL_TAINT_LOST_EVENTS:
		return "lost-events";
	case SL_TAINT_BEFORE_TRACE:
		return "starts-before-trace";
	case SL_TAINT_INCONSISTENT:
		return "inconsistent";
	case SL_TAINT_CLOCK_SKEW:
		return "clock-skew";
	case SL_TAINT_OPEN_AT_END:
		return "open-at-end";
	}
	return "unknown";
}

const char *sl_waker_context_name(enum sl_waker_context context)
{
	static const char *const names[SL_WAKER_NR] = {
		[SL_WAKER_UNKNOWN] = "unknown", [SL_WAKER_TASK] = "task",
		[SL_WAKER_SOFTIRQ] = "softirq", [SL_WAKER_HARDIRQ] = "hardirq", [SL_WAKER_NMI] = "nmi",
	};

	return names[context];
}

const char *sl_cpu_relation_name(enum sl_cpu_relation relation)
{
	static const char *const names[SL_CPUS_NR] = {
		[SL_CPUS_SMT] = "smt", [SL_CPUS_CLUSTER] = "cluster", [SL_CPUS_LLC] = "llc",
		[SL_CPUS_PACKAGE] = "package", [SL_CPUS_APART] = "apart",
	};

	return names[relation];
}

const char *sl_decided_at_name(enum sl_decided_at at)
{
	static const char *const names[SL_DECIDED_NR] = {
		[SL_DECIDED_AT_WAKEUP] = "wakeup", [SL_DECIDED_AT_PICK] = "pick",
		[SL_DECIDED_AT_PICK_AGAIN] = "pick-again", [SL_DECIDED_AT_TICK] = "tick",
	};

	return names[at];
}

const char *sl_segment_kind_name(const struct sl_segment *segment)
{
	const struct sl_cause_desc *d = &sl_cause_descs[segment->cause];

	return d->family == SL_FAMILY_FAIR ? "fair" : d->id;
}
