/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Tasks as the trace shows them, and the table that finds them by tid.
 *
 * A tid can be reused: the table maps a tid to its latest task, older ones stay
 * alive (their waits and groups do). Task pointers are stable until the table is
 * freed; a task also has an index, used where 4 bytes must do.
 */
#ifndef SL_SCHED_TASK_H
#define SL_SCHED_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "event/event.h"
#include "schedlat/wait.h"

enum sl_task_state {
	SL_TASK_UNKNOWN,	/* not seen yet, or a gap hid what it did */
	SL_TASK_SLEEPING,
	SL_TASK_WAKING,		/* sched_waking seen, not queued yet */
	SL_TASK_QUEUED,		/* runnable, waits for a CPU */
	SL_TASK_RUNNING,
	SL_TASK_DEAD,
};

enum sl_task_flags {
	SL_TASK_WAKING_PENDING = 1 << 0, /* sched_waking seen while it was running or queued */
	SL_TASK_OWN = 1 << 1,		/* a thread of the recorder */
	SL_TASK_TARGET = 1 << 2,	/* of record -p/-t, or a child of one */
	SL_TASK_FRESH = 1 << 3,		/* created by a fork event, not seen since */
	SL_TASK_MASK_VALID = 1 << 4,	/* allowed mask known and the same at start and end */
	SL_TASK_AT_END = 1 << 5,	/* the metadata of the end of the recording names it */
	SL_TASK_STACKED = 1 << 6,	/* this wait: queued behind a recently woken short-slice task */
	SL_TASK_TARGET_BUSY = 1 << 7,	/* this wait: the CPU it was sent to was not free */
};

struct sl_task_fair;

#define SL_CPUMASK_WORDS (SL_CPU_MAX / 64)

/* Set of CPUs, grown to what is needed. */
struct sl_cpumask {
	uint64_t *words;
	unsigned int nr_words;
};

bool sl_cpumask_test(const struct sl_cpumask *mask, unsigned int bit);
int sl_cpumask_set(struct sl_cpumask *mask, unsigned int bit);	/* 0 or -ENOMEM */
unsigned int sl_cpumask_weight(const struct sl_cpumask *mask);
bool sl_cpumask_equal(const struct sl_cpumask *a, const struct sl_cpumask *b);
/* "0-3,7"; 0, -ENOMEM, or -EINVAL when it is not a list of CPUs below SL_CPU_MAX */
int sl_cpumask_parse(struct sl_cpumask *mask, const char *list);
void sl_cpumask_release(struct sl_cpumask *mask);

/* Per-CPU time is kept in slots: what a waiting task sees its CPU do. */
enum sl_slot {
	SL_SLOT_IRQ, SL_SLOT_SOFTIRQ, SL_SLOT_STOP, SL_SLOT_DL, SL_SLOT_RT, SL_SLOT_IDLE,
	SL_SLOT_FAIR, SL_SLOT_LOST, SL_SLOT_NR
};

#define SL_TASK_IDLE_CPUS 8

/* A stretch of a wait on one CPU; it ends where the next begins or the wait ends. */
struct sl_piece {
	uint64_t start_ns;
	int cpu;
};

/* Laid out by use: the first line serves every event, the next two every wait. */
struct sl_task {
	int32_t tid, tgid;		/* tgid -1: unknown */
	char comm[SL_COMM_LEN];
	int16_t prio;
	int16_t cpu;			/* runs there, is queued there, or ran there last; -1 */
	int16_t ran_cpu;		/* ran there last; -1 */
	uint8_t state;			/* enum sl_task_state */
	uint8_t wait_kind;		/* enum sl_wait_kind, while WAKING or QUEUED */
	uint8_t sched_class;		/* enum sl_class */
	uint8_t flags;
	int8_t verdict;			/* consumer's cache: 0 not asked, 1 selected, -1 not */
	int8_t policy;			/* from the metadata; -1: unknown */
	uint32_t index;
	/* the wait that is open, or the wakeup that is pending */
	uint64_t waking_ns;		/* SL_TIME_NONE: no sched_waking */
	uint64_t queued_ns;		/* when it became runnable on a queue; SL_TIME_NONE: not yet */
	uint8_t waker_context;
	uint8_t nr_idle;		/* entries of idle[] */
	uint16_t migrations;
	uint16_t nr_pieces;

	struct sl_task *waker __attribute__((aligned(64)));
	int16_t waker_cpu, prev_cpu, wake_cpu;
	int16_t better_cpu;		/* SL_TASK_STACKED: where a task with a longer slice ran; -1 */
	void *group[SL_WAIT_NR];	/* consumer's cache; see sl_task_identity_changed() */
	uint64_t slice_ns;		/* from the metadata; 0: unknown */
	const char *cgroup;		/* from the metadata, which owns it; NULL: unknown */

	/* sums of its CPU when it was queued there */
	uint64_t since[SL_SLOT_NR] __attribute__((aligned(64)));

	/* what earlier CPUs of the wait contributed */
	uint64_t moved[SL_SLOT_NR];
	struct sl_piece *pieces;	/* nr_pieces of them, capacity cap_pieces */
	uint32_t cap_pieces;
	/* CPUs that were free when it was queued, and their free time until then */
	struct { uint64_t free_ns; int16_t cpu; bool allowed; } idle[SL_TASK_IDLE_CPUS];

	struct sl_task_fair *fair;	/* from snapshots; NULL: there were none. sched/decision.h */
	struct sl_cpumask allowed;	/* metadata */
	struct sl_cpumask seen;		/* CPUs it was seen on */
};

struct sl_tasks {
	struct sl_task **slabs;
	uint32_t nr, nr_slabs;
	struct sl_tid_slot { int32_t tid; struct sl_task *task; } *hash;	/* task NULL: free */
	uint32_t hash_mask, hash_used;
};

#define SL_TASK_SLAB 64

int sl_tasks_init(struct sl_tasks *tasks);	/* 0 or -ENOMEM */
void sl_tasks_release(struct sl_tasks *tasks);

static inline struct sl_task *sl_tasks_at(const struct sl_tasks *tasks, uint32_t index)
{
	return &tasks->slabs[index / SL_TASK_SLAB][index % SL_TASK_SLAB];
}

/* A new task for tid, which from now on is what tid means. NULL: out of memory. */
struct sl_task *sl_tasks_create(struct sl_tasks *tasks, int32_t tid);

static inline uint32_t sl_tid_hash(int32_t tid)
{
	return (uint32_t)tid * 2654435769u;
}

/* The task of a tid, NULL when never seen. */
static inline struct sl_task *sl_tasks_find(const struct sl_tasks *tasks, int32_t tid)
{
	uint32_t i = sl_tid_hash(tid) >> 7 & tasks->hash_mask;

	for (; tasks->hash[i].task; i = (i + 1) & tasks->hash_mask)
		if (tasks->hash[i].tid == tid)
			return tasks->hash[i].task;
	return NULL;
}

static inline struct sl_task *sl_tasks_get(struct sl_tasks *tasks, int32_t tid)
{
	struct sl_task *t = sl_tasks_find(tasks, tid);

	return t ? t : sl_tasks_create(tasks, tid);
}

/* Forget what consumers cached about the task's identity. */
static inline void sl_task_identity_changed(struct sl_task *t)
{
	memset(t->group, 0, sizeof(t->group));
	t->verdict = 0;
}

static inline void sl_task_set_comm(struct sl_task *t, const char comm[SL_COMM_LEN])
{
	if (memcmp(t->comm, comm, SL_COMM_LEN)) {
		memcpy(t->comm, comm, SL_COMM_LEN);
		sl_task_identity_changed(t);
	}
}

/* Set priority and, from it, the class. */
void sl_task_set_prio_slow(struct sl_task *t, int prio);

static inline void sl_task_set_prio(struct sl_task *t, int prio)
{
	if (t->prio != prio)
		sl_task_set_prio_slow(t, prio);
}

/* May the task run there, as far as the recording tells? */
bool sl_task_allows(const struct sl_task *t, unsigned int cpu);
/* Known to be allowed on exactly one CPU. */
bool sl_task_is_pinned(const struct sl_task *t);

static inline void sl_task_saw_cpu(struct sl_task *t, unsigned int cpu)
{
	if (cpu / 64 >= t->seen.nr_words || !(t->seen.words[cpu / 64] >> cpu % 64 & 1))
		sl_cpumask_set(&t->seen, cpu);
}

#endif
