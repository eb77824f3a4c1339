// SPDX-License-Identifier: LGPL-2.1-only
#include "report/groups.h"

#include <errno.h>
#include <stdlib.h>

int sl_groups_init(struct sl_groups *g, enum sl_by by, bool exact)
{
	memset(g, 0, sizeof(*g));
	g->by = by;
	g->pool = sl_stats_pool_new(exact);
	g->hash = calloc(256, sizeof(*g->hash));
	g->hash_mask = 255;
	if (!g->pool || !g->hash) {
		sl_groups_release(g);
		return -ENOMEM;
	}
	return 0;
}

void sl_groups_release(struct sl_groups *g)
{
	unsigned int i;

	for (i = 0; i < g->nr; i++)
		free(g->v[i]);
	free(g->v);
	free(g->hash);
	sl_stats_pool_free(g->pool);
	memset(g, 0, sizeof(*g));
}

static struct sl_group_key key_of(enum sl_by by, const struct sl_task *t, enum sl_wait_kind kind)
{
	struct sl_group_key k = { .kind = kind };

	switch (by) {
	case SL_BY_TID:
		k.a = t->index;
		break;
	case SL_BY_COMM:
		memcpy(&k.a, t->comm, 8);
		memcpy(&k.b, t->comm + 8, 8);
		break;
	case SL_BY_TGID:
		k.a = (uint32_t)t->tgid;
		break;
	case SL_BY_CGROUP:
		k.a = (uintptr_t)t->cgroup;
		break;
	case SL_BY_CLASS:
		k.a = t->sched_class;
		break;
	case SL_BY_ALL:
	case SL_BY_NR:
		break;
	}
	return k;
}

static uint32_t hash_of(struct sl_group_key k)
{
	uint64_t h = k.a * 0x9e3779b97f4a7c15ull ^ k.b * 0xc2b2ae3d27d4eb4full ^ (uint64_t)k.kind;

	return (uint32_t)((h ^ h >> 29) * 0x9e3779b97f4a7c15ull >> 32);
}

static bool same_key(struct sl_group_key a, struct sl_group_key b)
{
	return a.a == b.a && a.b == b.b && a.kind == b.kind;
}

static void rehash(struct sl_groups *g, uint32_t *hash, uint32_t mask)
{
	unsigned int i;

	for (i = 0; i < g->nr; i++) {
		uint32_t at = hash_of(g->v[i]->key) & mask;

		while (hash[at])
			at = (at + 1) & mask;
		hash[at] = i + 1;
	}
	free(g->hash);
	g->hash = hash;
	g->hash_mask = mask;
}

static struct sl_group_entry *add(struct sl_groups *g, const struct sl_task *t,
				  struct sl_group_key key)
{
	struct sl_group_entry *entry;

	if (g->nr == g->cap) {
		unsigned int cap = g->cap ? g->cap * 2 : 64;
		struct sl_group_entry **grown = realloc(g->v, cap * sizeof(*grown));

		if (!grown)
			return NULL;
		g->v = grown;
		g->cap = cap;
	}
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->stats = sl_stats_new(g->pool);
	if (!entry->stats) {
		free(entry);
		return NULL;
	}
	entry->task = t;
	entry->key = key;
	memcpy(entry->comm, t->comm, sizeof(entry->comm));
	entry->slice_ns = t->slice_ns;
	g->v[g->nr++] = entry;
	return entry;
}

struct sl_stats *sl_groups_find(struct sl_groups *g, struct sl_task *t, enum sl_wait_kind kind)
{
	struct sl_group_key k = key_of(g->by, t, kind);
	uint32_t at = hash_of(k) & g->hash_mask;
	struct sl_group_entry *entry;

	for (; g->hash[at]; at = (at + 1) & g->hash_mask) {
		entry = g->v[g->hash[at] - 1];
		if (same_key(entry->key, k))
			goto found;
	}
	entry = add(g, t, k);
	if (!entry)
		return NULL;
	g->hash[at] = g->nr;
	if (g->nr * 2 > g->hash_mask) {
		uint32_t mask = g->hash_mask * 2 + 1, *grown = calloc(mask + 1ull, sizeof(*grown));

		if (grown)
			rehash(g, grown, mask);
		else if (g->nr >= g->hash_mask)
			return NULL;
	}
found:
	if (entry->slice_ns != t->slice_ns)
		entry->slices_differ = true;
	t->group[kind] = entry->stats;
	return entry->stats;
}

uint64_t sl_groups_quantile(const struct sl_groups *g, enum sl_wait_kind kind, double q)
{
	struct sl_stats **stats = malloc((g->nr ? g->nr : 1) * sizeof(*stats));
	unsigned int i, nr = 0;
	uint64_t value;

	if (!stats)
		return 0;
	for (i = 0; i < g->nr; i++)
		if (g->v[i]->key.kind == kind)
			stats[nr++] = g->v[i]->stats;
	sl_stats_quantiles_of(stats, nr, &q, 1, &value);
	free(stats);
	return value;
}

static int by_count(const void *a, const void *b)
{
	const struct sl_group *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

int sl_groups_finish(struct sl_groups *g, struct sl_group **ret, unsigned int *ret_nr)
{
	static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999 };
	struct sl_group *out = calloc(g->nr ? g->nr : 1, sizeof(*out));
	uint64_t values[4];
	unsigned int i, nr = 0;

	if (!out)
		return -ENOMEM;
	for (i = 0; i < g->nr; i++) {
		const struct sl_group_entry *entry = g->v[i];
		const struct sl_task *t = entry->task;
		struct sl_group *o = &out[nr];

		if (!sl_stats_count(entry->stats))
			continue;
		nr++;
		o->kind = entry->key.kind;
		o->tid = o->tgid = -1;
		switch (g->by) {
		case SL_BY_TID:
			o->tid = t->tid;
			o->tgid = t->tgid;
			memcpy(o->comm, t->comm, sizeof(o->comm));
			o->sched_class = (enum sl_class)t->sched_class;
			break;
		case SL_BY_COMM:
			memcpy(o->comm, entry->comm, sizeof(o->comm));
			break;
		case SL_BY_TGID:
			o->tgid = (int32_t)entry->key.a;
			memcpy(o->comm, entry->comm, sizeof(o->comm));
			break;
		case SL_BY_CGROUP:
			o->cgroup = (const char *)(uintptr_t)entry->key.a;
			break;
		case SL_BY_CLASS:
			o->sched_class = (enum sl_class)entry->key.a;
			break;
		case SL_BY_ALL:
		case SL_BY_NR:
			break;
		}
		o->slice_ns = entry->slices_differ ? 0 : entry->slice_ns;
		o->count = sl_stats_count(entry->stats);
		o->min_ns = sl_stats_min(entry->stats);
		o->avg_ns = sl_stats_sum(entry->stats) / o->count;
		sl_stats_quantiles_of(&entry->stats, 1, quantiles, 4, values);
		o->p50_ns = values[0];
		o->p90_ns = values[1];
		o->p99_ns = values[2];
		o->p999_ns = values[3];
		o->max_ns = sl_stats_max(entry->stats);
		o->stats = entry->stats;
	}
	qsort(out, nr, sizeof(*out), by_count);
	*ret = out;
	*ret_nr = nr;
	return 0;
}
