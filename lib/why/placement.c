// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Was the task sent to the wrong CPU? The evidence is taken when it is queued:
 * which CPUs were free then (sched/cpu.h says what free means). What they did
 * during the wait says how much of it was avoidable.
 */
#include "why/explain.h"

static unsigned int place_bit(enum sl_cause cause)
{
	return 1u << (cause - SL_CAUSE_HOLD_NR);
}

void sl_placement_of(const struct sl_engine *e, const struct sl_closing *closing,
		     struct sl_explained *ret)
{
	const struct sl_task *t = closing->task;
	unsigned int i;

	ret->place_causes = 0;
	ret->avoidable_ns = ret->forbidden_ns = 0;
	ret->avoidable_cpu = ret->forbidden_cpu = -1;
	ret->pull_hurt = false;
	if (t->wait_kind == SL_WAIT_PREEMPT || !(t->flags & SL_TASK_TARGET_BUSY))
		return;
	for (i = 0; i < t->nr_idle; i++) {
		const struct sl_cpu *c = e->cpus.at[t->idle[i].cpu];
		uint64_t free_ns = sl_cpu_free_ns(c, closing->end_ns) - t->idle[i].free_ns;

		if (!t->idle[i].allowed) {
			ret->forbidden_ns = free_ns;
			ret->forbidden_cpu = t->idle[i].cpu;
		} else if (free_ns > ret->avoidable_ns) {
			ret->avoidable_ns = free_ns;
			ret->avoidable_cpu = t->idle[i].cpu;
		}
	}
	if (ret->avoidable_ns)
		ret->place_causes |= place_bit(SL_CAUSE_IDLE_CPU_MISSED);
	if (t->flags & SL_TASK_STACKED) {
		ret->place_causes |= place_bit(SL_CAUSE_STACKED_WAKEUP);
		/* Where a task with a longer slice ran, those in front would not have been in front. */
		if (t->better_cpu >= 0 && ret->stacked_ns > ret->avoidable_ns) {
			ret->avoidable_ns = ret->stacked_ns;
			ret->avoidable_cpu = t->better_cpu;
		}
	}
	if (t->wait_kind == SL_WAIT_WAKE && t->waker_cpu >= 0 && t->prev_cpu >= 0 &&
	    t->wake_cpu == t->waker_cpu && t->prev_cpu != t->waker_cpu) {
		ret->place_causes |= place_bit(SL_CAUSE_WAKE_AFFINE);
		ret->pull_hurt = ret->avoidable_cpu == t->prev_cpu;
	}
	if (ret->forbidden_ns && sl_task_is_pinned(t)) {
		ret->place_causes |= place_bit(SL_CAUSE_AFFINITY);
	} else {
		ret->forbidden_ns = 0;
		ret->forbidden_cpu = -1;
	}
}
