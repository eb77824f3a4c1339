// SPDX-License-Identifier: LGPL-2.1-only
#include "trace/merge.h"

#include <errno.h>
#include <stdlib.h>

int sl_merge_init(struct sl_merge *m, unsigned int lanes)
{
	uint32_t i;

	m->leaves = 1;
	while (m->leaves < lanes)
		m->leaves *= 2;
	m->first = 0;
	m->loser = calloc(m->leaves, sizeof(*m->loser));
	m->key = malloc(m->leaves * sizeof(*m->key));
	if (!m->loser || !m->key) {
		sl_merge_release(m);
		return -ENOMEM;
	}
	for (i = 0; i < m->leaves; i++)
		m->key[i] = SL_MERGE_END;
	return 0;
}

/* The winner of the subtree at node; losers are left in the nodes. */
static uint32_t play(struct sl_merge *m, uint32_t node)
{
	uint32_t a, b;

	if (node >= m->leaves)
		return node - m->leaves;
	a = play(m, 2 * node);		/* lanes of a are below those of b */
	b = play(m, 2 * node + 1);
	if (m->key[b] < m->key[a]) {
		m->loser[node] = a;
		return b;
	}
	m->loser[node] = b;
	return a;
}

void sl_merge_build(struct sl_merge *m)
{
	m->first = play(m, 1);
}

void sl_merge_release(struct sl_merge *m)
{
	free(m->loser);
	free(m->key);
	m->loser = NULL;
	m->key = NULL;
}
