/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which waits to explain, and the sum of their causes.
 *
 * With a fixed threshold every wait that reaches it is added up at once. For a
 * quantile the threshold is known only at the end, so candidates are kept in a
 * compact form while a running threshold rises under them: it always leaves as
 * many candidates as the quantile needs of the samples that are expected in all, so
 * that a tail that lies in the beginning is not lost. If at the end the true threshold
 * lies below the running one after all (there were more samples than expected), the
 * answer is "read again with the threshold fixed", never an approximation.
 *
 * The worst waits are also kept whole, with their segments, up to a limit.
 */
#ifndef SL_WHY_OUTLIERS_H
#define SL_WHY_OUTLIERS_H

#include "why/explain.h"

struct sl_cause_total {
	uint64_t ns, count, primary;
	uint64_t confidence_ns[SL_CONF_NR];
};

struct sl_outliers {
	bool running;			/* quantile mode */
	double quantile;
	uint64_t at_least_ns;		/* waits below that are no candidates (any more) */
	uint64_t max_count;		/* of waits that reach it, the first so many count */
	uint64_t samples_seen;		/* quantile mode; the caller counts */
	uint64_t samples_expected;	/* of the whole recording, rather too many than too few */

	uint64_t *words;		/* quantile mode: encoded candidates */
	uint64_t nr_words, cap_words, nr_candidates;

	struct sl_cause_total totals[SL_CAUSE_NR];
	uint64_t count, total_ns, tainted;

	unsigned int detail_max;
	struct sl_wait *details;	/* a min-heap when there is a limit; see sl_outliers_finish() */
	unsigned int nr_details, cap_details;
};

void sl_outliers_init_fixed(struct sl_outliers *o, uint64_t at_least_ns, uint64_t max_count,
			    unsigned int detail_max);
void sl_outliers_init_quantile(struct sl_outliers *o, double quantile, unsigned int detail_max);
void sl_outliers_release(struct sl_outliers *o);

static inline bool sl_outliers_wants(const struct sl_outliers *o, uint64_t delay_ns)
{
	return delay_ns >= o->at_least_ns && o->count < o->max_count;
}

/* Would this wait be among the worst that are kept whole? */
bool sl_outliers_wants_detail(const struct sl_outliers *o, uint64_t delay_ns, uint64_t end_ns);

/* 0 or -ENOMEM. A wait with taints is never a sample. */
int sl_outliers_add(struct sl_outliers *o, const struct sl_explained *explained);
/* Takes over *wait (its segments) on success. */
int sl_outliers_add_detail(struct sl_outliers *o, struct sl_wait *wait);

/*
 * Settle on the waits of at least at_least_ns, max_count of them (of equal ones
 * those that ended first): totals are complete and details sorted, longest first.
 * False: candidates were dropped that are needed now.
 */
bool sl_outliers_finish(struct sl_outliers *o, uint64_t at_least_ns, uint64_t max_count);

#endif
