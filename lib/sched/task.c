// SPDX-License-Identifier: LGPL-2.1-only
#include "sched/task.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#define PRIO_NONE INT16_MIN
#define POLICY_EXT 7	/* SCHED_EXT */

bool sl_cpumask_test(const struct sl_cpumask *mask, unsigned int bit)
{
	return bit / 64 < mask->nr_words && mask->words[bit / 64] >> bit % 64 & 1;
}

int sl_cpumask_set(struct sl_cpumask *mask, unsigned int bit)
{
	unsigned int need = bit / 64 + 1;

	if (need > mask->nr_words) {
		uint64_t *grown = realloc(mask->words, need * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + mask->nr_words, 0, (need - mask->nr_words) * sizeof(*grown));
		mask->words = grown;
		mask->nr_words = need;
	}
	mask->words[bit / 64] |= 1ull << bit % 64;
	return 0;
}

unsigned int sl_cpumask_weight(const struct sl_cpumask *mask)
{
	unsigned int i, weight = 0;

	for (i = 0; i < mask->nr_words; i++)
		weight += (unsigned int)__builtin_popcountll(mask->words[i]);
	return weight;
}

bool sl_cpumask_equal(const struct sl_cpumask *a, const struct sl_cpumask *b)
{
	unsigned int i, n = a->nr_words > b->nr_words ? a->nr_words : b->nr_words;

	for (i = 0; i < n; i++)
		if ((i < a->nr_words ? a->words[i] : 0) != (i < b->nr_words ? b->words[i] : 0))
			return false;
	return true;
}

int sl_cpumask_parse(struct sl_cpumask *mask, const char *list)
{
	const char *p = list;

	while (*p) {
		unsigned long first, last;
		char *end;
		int ret;

		if (!isdigit((unsigned char)*p))
			return -EINVAL;
		first = last = strtoul(p, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				return -EINVAL;
			last = strtoul(end + 1, &end, 10);
		}
		if (first > last || last >= SL_CPU_MAX || (*end && *end != ','))
			return -EINVAL;
		for (; first <= last; first++) {
			ret = sl_cpumask_set(mask, (unsigned int)first);
			if (ret)
				return ret;
		}
		p = *end ? end + 1 : end;
	}
	return 0;
}

void sl_cpumask_release(struct sl_cpumask *mask)
{
	free(mask->words);
	memset(mask, 0, sizeof(*mask));
}

int sl_tasks_init(struct sl_tasks *tasks)
{
	memset(tasks, 0, sizeof(*tasks));
	tasks->hash = calloc(256, sizeof(*tasks->hash));
	if (!tasks->hash)
		return -ENOMEM;
	tasks->hash_mask = 255;
	return 0;
}

void sl_tasks_release(struct sl_tasks *tasks)
{
	uint32_t i;

	for (i = 0; i < tasks->nr; i++) {
		struct sl_task *t = sl_tasks_at(tasks, i);

		free(t->pieces);
		free(t->fair);
		sl_cpumask_release(&t->allowed);
		sl_cpumask_release(&t->seen);
	}
	for (i = 0; i < tasks->nr_slabs; i++)
		free(tasks->slabs[i]);
	free(tasks->slabs);
	free(tasks->hash);
	memset(tasks, 0, sizeof(*tasks));
}

static void hash_put(struct sl_tasks *tasks, struct sl_task *t)
{
	uint32_t i = sl_tid_hash(t->tid) >> 7 & tasks->hash_mask;

	while (tasks->hash[i].task && tasks->hash[i].tid != t->tid)
		i = (i + 1) & tasks->hash_mask;
	if (!tasks->hash[i].task)
		tasks->hash_used++;
	tasks->hash[i].tid = t->tid;
	tasks->hash[i].task = t;
}

static int hash_grow(struct sl_tasks *tasks)
{
	uint32_t old_size = tasks->hash_mask + 1, i;
	struct sl_tid_slot *old = tasks->hash, *grown;

	grown = calloc((size_t)old_size * 2, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	tasks->hash = grown;
	tasks->hash_mask = old_size * 2 - 1;
	tasks->hash_used = 0;
	for (i = 0; i < old_size; i++)
		if (old[i].task)
			hash_put(tasks, old[i].task);
	free(old);
	return 0;
}

struct sl_task *sl_tasks_create(struct sl_tasks *tasks, int32_t tid)
{
	struct sl_task *t;

	if (tasks->nr == tasks->nr_slabs * SL_TASK_SLAB) {
		struct sl_task **grown, *slab;

		grown = realloc(tasks->slabs, (tasks->nr_slabs + 1) * sizeof(*grown));
		if (!grown)
			return NULL;
		tasks->slabs = grown;
		slab = aligned_alloc(_Alignof(struct sl_task), SL_TASK_SLAB * sizeof(*slab));
		if (!slab)
			return NULL;
		memset(slab, 0, SL_TASK_SLAB * sizeof(*slab));
		tasks->slabs[tasks->nr_slabs++] = slab;
	}
	if (tasks->hash_used * 2 > tasks->hash_mask && hash_grow(tasks))
		return NULL;
	t = sl_tasks_at(tasks, tasks->nr);
	t->tid = tid;
	t->tgid = tid == 0 ? 0 : -1;
	t->index = tasks->nr++;
	t->cpu = t->ran_cpu = t->waker_cpu = t->prev_cpu = t->wake_cpu = -1;
	t->policy = -1;
	t->prio = PRIO_NONE;
	t->waking_ns = t->queued_ns = UINT64_MAX;
	t->sched_class = tid == 0 ? SL_CLASS_IDLE : SL_CLASS_UNKNOWN;
	hash_put(tasks, t);
	return t;
}

void sl_task_set_prio_slow(struct sl_task *t, int prio)
{
	enum sl_class sched_class;

	t->prio = (int16_t)prio;
	if (t->tid == 0)
		sched_class = SL_CLASS_IDLE;
	else if (prio < 0)
		sched_class = SL_CLASS_DL;
	else if (prio == 0 && !strncmp(t->comm, "migration/", 10))
		/*
		 * The stopper shows the priority of RT 99 (sched_set_stop_task(), 6.18); its
		 * name is all that tells it apart. Wrong for a user's RT 99 thread of that name.
		 */
		sched_class = SL_CLASS_STOP;
	else if (prio < 100)
		sched_class = SL_CLASS_RT;
	else if (prio < 140)
		sched_class = t->policy == POLICY_EXT ? SL_CLASS_EXT : SL_CLASS_FAIR;
	else
		sched_class = SL_CLASS_UNKNOWN;
	if (sched_class != t->sched_class) {
		t->sched_class = sched_class;
		sl_task_identity_changed(t);
	}
}

bool sl_task_allows(const struct sl_task *t, unsigned int cpu)
{
	return sl_cpumask_test(t->flags & SL_TASK_MASK_VALID ? &t->allowed : &t->seen, cpu);
}

bool sl_task_is_pinned(const struct sl_task *t)
{
	return t->flags & SL_TASK_MASK_VALID && sl_cpumask_weight(&t->allowed) == 1;
}
