/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A CPU as the trace shows it: who runs, in which slot its time goes, whether it
 * is free to take a task, and the recent history that waits are explained from.
 *
 * Time is accounted lazily: sums[] are true up to last_ns, and sl_cpu_advance()
 * moves that forward. A waiting task copies sums[] when it is queued and
 * subtracts them when it runs, so a wait costs the same however long it is.
 *
 * The history is a ring of the last changes (who ran, irq, softirq, gaps), which
 * grows while something waits that began before its oldest entry, up to
 * SL_CPU_HISTORY_MAX entries; what is older than that is explained by sums only.
 */
#ifndef SL_SCHED_CPU_H
#define SL_SCHED_CPU_H

#include "sched/decision.h"
#include "sched/task.h"
#include "util/time.h"

#define SL_CPU_NOBODY INT32_MIN
#define SL_CPU_HISTORY_MIN 1024
#define SL_CPU_HISTORY_MAX (64 * 1024)

struct sl_cpu_change {
	uint64_t ns;		/* from here on, until the next change */
	uint32_t task;		/* index of the task that runs; UINT32_MAX unknown */
	uint8_t slot;		/* enum sl_slot */
	uint8_t kind;		/* enum sl_ev_kind that told it */
	bool doubtful;		/* a switch after this was missed: who ran is not sure */
};

struct sl_resched {
	uint64_t ns;		/* first event that showed it; SL_TIME_NONE: not set */
	uint64_t irq_ns;	/* irq + softirq time of the CPU until then */
	uint8_t kind;		/* enum sl_ev_kind of that event */
};

struct sl_cpu {
	uint64_t last_ns;
	uint64_t read_ns;	/* when sums[] were last read; what was said then stays said */
	uint8_t slot;		/* where time goes now */
	uint8_t task_slot;	/* where it goes outside of interrupts */
	uint8_t irq_depth, softirq_depth;
	bool lost_open;		/* its data ends before the recording does */
	bool asked;		/* lazy or hard may be set */
	uint16_t cpu;
	int32_t curr_tid;	/* of curr; SL_CPU_NOBODY when not known */
	struct sl_task *curr;	/* NULL when not known */
	uint64_t sums[SL_SLOT_NR];

	uint64_t curr_since_ns;	/* curr runs since then, as far as we know */
	uint64_t went_idle_ns;	/* last switch to the idle task; 0: none seen */
	struct sl_resched lazy, hard;	/* need_resched seen set for curr */

	uint32_t nr_queued;	/* tasks believed to wait here */
	struct sl_task *woken;	/* the latest one that a wakeup queued here; NULL: none */
	uint64_t oldest_queued_ns;	/* no task that waits here began before this */
	uint64_t free_since_ns;	/* idle with nothing queued since; SL_TIME_NONE: not free */
	uint64_t free_ns;	/* total of earlier such times */
	uint64_t first_ns;	/* first event of this CPU; SL_TIME_NONE: none yet */
	uint64_t gap_end_ns;	/* end of its last gap; 0: none */
	uint64_t unsure_ns;	/* a missed switch was noticed then; 0: never */

	struct sl_cpu_fair *fair;	/* snapshots and decisions; NULL: there were none */
	struct sl_cpu_change *history;	/* capacity history_mask + 1 */
	uint32_t history_mask;
	uint64_t history_nr;	/* changes ever; the last min(nr, capacity) are there */
};

struct sl_cpus {
	struct sl_cpu **at;		/* [SL_CPU_MAX], NULL: not seen */
	uint64_t *free_mask;		/* [SL_CPUMASK_WORDS]: CPUs that are free now */
	unsigned int nr, max;		/* seen CPUs; highest number + 1 */
	unsigned int nr_free;
	bool keep_history;
	const struct sl_tasks *tasks;
};

int sl_cpus_init(struct sl_cpus *cpus, const struct sl_tasks *tasks, bool keep_history);
void sl_cpus_release(struct sl_cpus *cpus);
/* Start to know a CPU at now_ns. NULL: out of memory. cpu < SL_CPU_MAX. */
struct sl_cpu *sl_cpus_create(struct sl_cpus *cpus, unsigned int cpu, uint64_t now_ns);

static inline struct sl_cpu *sl_cpus_get(struct sl_cpus *cpus, unsigned int cpu, uint64_t now_ns)
{
	struct sl_cpu *c = cpus->at[cpu];

	return c ? c : sl_cpus_create(cpus, cpu, now_ns);
}

static inline void sl_cpu_advance(struct sl_cpu *c, uint64_t now_ns)
{
	c->sums[c->slot] += sl_since(now_ns, c->last_ns);
	c->last_ns = now_ns;
}

/*
 * sums[] as they are at now_ns, without moving last_ns. Storing one of them right
 * before all are read, as advancing would, stalls the processor.
 */
static inline void sl_cpu_sums_at(struct sl_cpu *c, uint64_t now_ns, uint64_t ret_ns[SL_SLOT_NR])
{
	c->read_ns = now_ns;
	memcpy(ret_ns, c->sums, sizeof(c->sums));
	ret_ns[c->slot] += sl_since(now_ns, c->last_ns);
}

/*
 * We learn now what the CPU has been doing: that holds from the last time its sums
 * were read on, which this returns, and which time is accounted up to.
 */
static inline uint64_t sl_cpu_advance_to_read(struct sl_cpu *c)
{
	if (c->read_ns > c->last_ns)
		sl_cpu_advance(c, c->read_ns);
	return c->last_ns;
}

/* Double the ring if a task still waits that began before its second oldest entry. */
void sl_cpu_history_make_room(struct sl_cpus *cpus, struct sl_cpu *c);

/* Time until now_ns has been accounted; from now on it goes to slot. */
static inline void sl_cpu_change(struct sl_cpus *cpus, struct sl_cpu *c, uint64_t now_ns,
				 enum sl_slot slot, enum sl_ev_kind kind)
{
	struct sl_cpu_change *ch;

	c->slot = slot;
	if (!cpus->keep_history)
		return;
	if (c->history_nr > c->history_mask && c->history_mask + 1 < SL_CPU_HISTORY_MAX &&
	    c->history[(c->history_nr + 1) & c->history_mask].ns > c->oldest_queued_ns)
		sl_cpu_history_make_room(cpus, c);
	ch = &c->history[c->history_nr++ & c->history_mask];
	ch->ns = now_ns;
	ch->task = c->curr ? c->curr->index : UINT32_MAX;
	ch->slot = slot;
	ch->kind = kind;
	ch->doubtful = false;
}

static inline enum sl_slot sl_cpu_slot_now(const struct sl_cpu *c)
{
	return c->irq_depth ? SL_SLOT_IRQ : c->softirq_depth ? SL_SLOT_SOFTIRQ
							      : (enum sl_slot)c->task_slot;
}

/* A switch was missed since the last one: what the history says of the time in between is in doubt. */
void sl_cpu_doubt(struct sl_cpu *c);

enum sl_slot sl_slot_of_class(enum sl_class sched_class);

/* The CPU went idle, or got or lost a queued task: is it free to take one? */
static inline void sl_cpu_update_free(struct sl_cpus *cpus, struct sl_cpu *c, uint64_t now_ns)
{
	bool is_free = c->task_slot == SL_SLOT_IDLE && !c->nr_queued && !c->lost_open;

	if (is_free == (c->free_since_ns != SL_TIME_NONE))
		return;
	if (is_free) {
		c->free_since_ns = now_ns;
		cpus->free_mask[c->cpu / 64] |= 1ull << c->cpu % 64;
		cpus->nr_free++;
	} else {
		c->free_ns += sl_since(now_ns, c->free_since_ns);
		c->free_since_ns = SL_TIME_NONE;
		cpus->free_mask[c->cpu / 64] &= ~(1ull << c->cpu % 64);
		cpus->nr_free--;
	}
}

/* All the time so far that the CPU was free. */
static inline uint64_t sl_cpu_free_ns(const struct sl_cpu *c, uint64_t now_ns)
{
	return c->free_ns + (c->free_since_ns != SL_TIME_NONE ? sl_since(now_ns, c->free_since_ns) : 0);
}

#endif
