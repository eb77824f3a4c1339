// SPDX-License-Identifier: LGPL-2.1-only
#include "sched/cpu.h"

#include <errno.h>
#include <stdlib.h>

int sl_cpus_init(struct sl_cpus *cpus, const struct sl_tasks *tasks, bool keep_history)
{
	memset(cpus, 0, sizeof(*cpus));
	cpus->tasks = tasks;
	cpus->keep_history = keep_history;
	cpus->at = calloc(SL_CPU_MAX, sizeof(*cpus->at));
	cpus->free_mask = calloc(SL_CPUMASK_WORDS, sizeof(*cpus->free_mask));
	if (!cpus->at || !cpus->free_mask) {
		sl_cpus_release(cpus);
		return -ENOMEM;
	}
	return 0;
}

void sl_cpus_release(struct sl_cpus *cpus)
{
	unsigned int i;

	for (i = 0; cpus->at && i < cpus->max; i++) {
		if (cpus->at[i]) {
			free(cpus->at[i]->history);
			sl_cpu_fair_free(cpus->at[i]->fair);
		}
		free(cpus->at[i]);
	}
	free(cpus->at);
	free(cpus->free_mask);
	memset(cpus, 0, sizeof(*cpus));
}

struct sl_cpu *sl_cpus_create(struct sl_cpus *cpus, unsigned int cpu, uint64_t now_ns)
{
	struct sl_cpu *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	if (cpus->keep_history) {
		c->history = malloc(SL_CPU_HISTORY_MIN * sizeof(*c->history));
		if (!c->history) {
			free(c);
			return NULL;
		}
		c->history_mask = SL_CPU_HISTORY_MIN - 1;
	}
	c->cpu = (uint16_t)cpu;
	c->curr_tid = SL_CPU_NOBODY;
	c->last_ns = now_ns;
	c->slot = c->task_slot = SL_SLOT_LOST;
	c->lazy.ns = c->hard.ns = c->free_since_ns = c->first_ns = SL_TIME_NONE;
	cpus->at[cpu] = c;
	cpus->nr++;
	if (cpu >= cpus->max)
		cpus->max = cpu + 1;
	sl_cpu_change(cpus, c, now_ns, SL_SLOT_LOST, SL_EV_LOST);
	return c;
}

/* When the longest waiting task that was queued on this CPU was queued there. */
static uint64_t oldest_queued(const struct sl_tasks *tasks, unsigned int cpu)
{
	uint64_t oldest = SL_TIME_NONE;
	uint32_t i, p;

	for (i = 0; i < tasks->nr; i++) {
		const struct sl_task *t = sl_tasks_at(tasks, i);

		if (t->state != SL_TASK_QUEUED)
			continue;
		for (p = 0; p < t->nr_pieces; p++)
			if (t->pieces[p].cpu == (int)cpu && t->pieces[p].start_ns < oldest)
				oldest = t->pieces[p].start_ns;
		if (!t->nr_pieces && t->cpu == (int)cpu && t->queued_ns < oldest)
			oldest = t->queued_ns;
	}
	return oldest;
}

void sl_cpu_history_make_room(struct sl_cpus *cpus, struct sl_cpu *c)
{
	uint32_t size = c->history_mask + 1, i;
	struct sl_cpu_change *grown;

	/* Whatever is queued from now on begins after what has been accounted. */
	c->oldest_queued_ns = oldest_queued(cpus->tasks, c->cpu);
	if (c->oldest_queued_ns > c->last_ns)
		c->oldest_queued_ns = c->last_ns;
	if (c->history[(c->history_nr + 1) & c->history_mask].ns <= c->oldest_queued_ns)
		return;
	grown = malloc((size_t)size * 2 * sizeof(*grown));
	if (!grown)
		return;		/* then it wraps earlier: less detail, nothing wrong */
	for (i = 0; i < size; i++) {
		uint64_t nr = c->history_nr - size + i;

		grown[nr & (size * 2 - 1)] = c->history[nr & c->history_mask];
	}
	free(c->history);
	c->history = grown;
	c->history_mask = size * 2 - 1;
}

enum sl_slot sl_slot_of_class(enum sl_class sched_class)
{
	switch (sched_class) {
	case SL_CLASS_STOP:
		return SL_SLOT_STOP;
	case SL_CLASS_DL:
		return SL_SLOT_DL;
	case SL_CLASS_RT:
		return SL_SLOT_RT;
	case SL_CLASS_IDLE:
		return SL_SLOT_IDLE;
	case SL_CLASS_FAIR:
	case SL_CLASS_EXT:
		return SL_SLOT_FAIR;
	case SL_CLASS_UNKNOWN:
	case SL_CLASS_NR:
		break;
	}
	return SL_SLOT_LOST;
}

void sl_cpu_doubt(struct sl_cpu *c)
{
	uint64_t oldest = c->history_nr > c->history_mask + 1ull ? c->history_nr - c->history_mask - 1 : 0, nr;

	for (nr = c->history_nr; c->history && nr > oldest; nr--) {
		struct sl_cpu_change *ch = &c->history[(nr - 1) & c->history_mask];

		ch->doubtful = true;
		if (ch->kind == SL_EV_SWITCH || ch->kind == SL_EV_LOST)
			break;
	}
}
