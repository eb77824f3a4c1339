/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Merge of n ordered lanes by time: a tournament ("loser") tree.
 *
 * The caller gives each lane's key when it changes; the tree says which lane is
 * first. Equal keys go to the lower lane number, so lanes are numbered in the
 * order that ties must have. A step costs log2(n) comparisons without branches
 * that depend on the data. sl_merge_limit() lets the caller stay with a lane as
 * long as it stays first, which in scheduler traces is often some events.
 */
#ifndef SL_TRACE_MERGE_H
#define SL_TRACE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#define SL_MERGE_END UINT64_MAX	/* key of a lane that has ended; others are below */

struct sl_merge {
	uint32_t leaves;	/* a power of two */
	uint32_t first;		/* the lane with the lowest key */
	uint32_t *loser;	/* [1 .. leaves - 1]: who lost at this node */
	uint64_t *key;		/* by lane */
};

/* -ENOMEM or 0. All lanes start ended; set key[lane], then sl_merge_build(). */
int sl_merge_init(struct sl_merge *m, unsigned int lanes);
void sl_merge_build(struct sl_merge *m);
void sl_merge_release(struct sl_merge *m);

/* The first lane has a new key: find the new first lane. */
static inline void sl_merge_replay(struct sl_merge *m, uint64_t key)
{
	uint32_t lane = m->first, node;

	m->key[lane] = key;
	for (node = (m->leaves + lane) >> 1; node; node >>= 1) {
		uint32_t other = m->loser[node];
		uint64_t other_key = m->key[other];
		bool wins = other_key < key || (other_key == key && other < lane);
		uint32_t lost = wins ? lane : other;

		lane = wins ? other : lane;
		key = wins ? other_key : key;
		m->loser[node] = lost;
	}
	m->first = lane;
}

/* The first lane stays first while its key is below this. */
static inline uint64_t sl_merge_limit(const struct sl_merge *m)
{
	uint64_t limit = SL_MERGE_END;
	uint32_t node;

	/* The runner-up lost to the first lane itself, so it is on its path. */
	for (node = (m->leaves + m->first) >> 1; node; node >>= 1) {
		uint32_t other = m->loser[node];
		uint64_t key = m->key[other];

		key += key != SL_MERGE_END && other > m->first;
		limit = key < limit ? key : limit;
	}
	return limit;
}

#endif
