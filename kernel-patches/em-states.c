// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two functions that map utilization to performance states, as the patched
 * include/linux/energy_model.h has them (check.py takes them out into em-functions.h), over
 * random tables: each utilization belongs to a state exactly if it lies between the performance of
 * the state below, by em_pd_get_previous_state(), and that of the state itself.
 */
#include <stdio.h>
#include <stdlib.h>

#define BIT(n)	(1UL << (n))
#define EM_PERF_STATE_INEFFICIENT		BIT(0)
#define EM_PERF_DOMAIN_SKIP_INEFFICIENCIES	BIT(1)
#define MAX_STATES	16
#define TABLES		20000
#define MAX_UTIL	1100

struct em_perf_state {
	unsigned long performance, frequency, power, cost, flags;
};

struct em_perf_domain {
	int nr_perf_states, min_perf_state, max_perf_state;
	unsigned long flags;
};

#include "em-functions.h"

static unsigned long below(struct em_perf_state *table, struct em_perf_domain *pd, int state)
{
	int previous = em_pd_get_previous_state(table, pd, state);

	return previous < 0 ? 0 : table[previous].performance;
}

/* Utilization 0 is mapped like 1: a range begins above its lower end. */
static int belongs(struct em_perf_state *table, struct em_perf_domain *pd, int state, unsigned long util)
{
	util = util ? util : 1;
	return util > below(table, pd, state) &&
	       (state == pd->max_perf_state || util <= table[state].performance);
}

static int check_table(struct em_perf_state *table, struct em_perf_domain *pd)
{
	for (unsigned long util = 0; util <= MAX_UTIL; util++) {
		int state = em_pd_get_efficient_state(table, pd, util);

		if (state < pd->min_perf_state || state > pd->max_perf_state || !belongs(table, pd, state, util))
			return -1;
		/* No other state that can be the answer claims it. */
		for (int i = pd->min_perf_state; i <= pd->max_perf_state; i++) {
			if (i == state || em_pd_get_efficient_state(table, pd, table[i].performance) != i)
				continue;
			if (belongs(table, pd, i, util))
				return -1;
		}
	}
	return 0;
}

int main(void)
{
	struct em_perf_state table[MAX_STATES] = { 0 };

	srand(1);
	for (int n = 0; n < TABLES; n++) {
		struct em_perf_domain pd = { .nr_perf_states = 1 + rand() % MAX_STATES };
		unsigned long performance = 0;

		for (int i = 0; i < pd.nr_perf_states; i++) {
			performance += 1 + (unsigned long)rand() % 64;
			table[i].performance = performance;
			table[i].flags = rand() % 3 ? 0 : EM_PERF_STATE_INEFFICIENT;
		}
		pd.flags = rand() % 2 ? EM_PERF_DOMAIN_SKIP_INEFFICIENCIES : 0;
		pd.min_perf_state = rand() % pd.nr_perf_states;
		pd.max_perf_state = pd.min_perf_state + rand() % (pd.nr_perf_states - pd.min_perf_state);
		if (check_table(table, &pd)) {
			printf("table %d: states %d to %d of %d, flags %lu\n", n, pd.min_perf_state,
			       pd.max_perf_state, pd.nr_perf_states, pd.flags);
			return 1;
		}
	}
	printf("%d tables\n", TABLES);
	return 0;
}
