// SPDX-License-Identifier: LGPL-2.1-only
#include "why/outliers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_MIN 1024		/* candidates kept beyond what the quantile needs */

/*
 * A candidate: delay, place_ns (see total_rest()), then one word of nr | primary | place | taints,
 * then nr words of cause | confidence | ns.
 */
#define HEAD_WORDS 3
#define NS_BITS 56
#define NS_MASK ((1ull << NS_BITS) - 1)
#define PLACE_BITS 8

_Static_assert(SL_CAUSE_NR < 64 && SL_CONF_NR <= 4, "cause and confidence share one byte");

void sl_outliers_init_fixed(struct sl_outliers *o, uint64_t at_least_ns, uint64_t max_count,
			    unsigned int detail_max)
{
	memset(o, 0, sizeof(*o));
	o->at_least_ns = at_least_ns;
	o->max_count = max_count;
	o->detail_max = detail_max;
}

void sl_outliers_init_quantile(struct sl_outliers *o, double quantile, unsigned int detail_max)
{
	sl_outliers_init_fixed(o, 0, UINT64_MAX, detail_max);
	o->running = true;
	o->quantile = quantile;
}

void sl_outliers_release(struct sl_outliers *o)
{
	unsigned int i;

	for (i = 0; i < o->nr_details; i++)
		sl_wait_release(&o->details[i]);
	free(o->details);
	free(o->words);
	memset(o, 0, sizeof(*o));
}

static void total_hold(struct sl_outliers *o, unsigned int *seen, enum sl_cause cause,
		       enum sl_confidence confidence, uint64_t ns)
{
	struct sl_cause_total *t = &o->totals[cause];

	t->ns += ns;
	t->confidence_ns[confidence] += ns;
	if (!(*seen >> cause & 1))
		t->count++;
	*seen |= 1u << cause;
}

_Static_assert(SL_CAUSE_NR - SL_CAUSE_HOLD_NR <= PLACE_BITS, "PLACE causes fit their part of a word");

/* The PLACE causes that apply, and those of them that the kernel states. */
static unsigned int place_of(const struct sl_explained *x)
{
	return x->place_causes | x->place_exact << PLACE_BITS;
}

/* place_ns: the time that the wait could have been spared, whatever PLACE cause applies */
static void total_rest(struct sl_outliers *o, uint64_t delay_ns, uint64_t place_ns,
		       enum sl_cause primary, unsigned int place, unsigned int taints)
{
	unsigned int i, exact = place >> PLACE_BITS;

	place &= (1u << PLACE_BITS) - 1;

	o->count++;
	o->total_ns += delay_ns;
	o->tainted += taints & ~(unsigned int)SL_TAINT_BEFORE_TRACE ? 1 : 0;
	if (primary < SL_CAUSE_NR)
		o->totals[primary].primary++;
	for (i = 0; place; i++, place >>= 1, exact >>= 1)
		if (place & 1) {
			struct sl_cause_total *t = &o->totals[SL_CAUSE_HOLD_NR + i];

			t->count++;
			t->ns += place_ns;
			t->confidence_ns[taints ? SL_CONF_UNKNOWN :
					 exact & 1 ? SL_CONF_EXACT : SL_CONF_DERIVED] += place_ns;
		}
}

static int encode(struct sl_outliers *o, const struct sl_explained *x)
{
	uint64_t need = o->nr_words + HEAD_WORDS + x->nr, *w;
	unsigned int i;

	if (need > o->cap_words) {
		uint64_t cap = o->cap_words ? o->cap_words + o->cap_words / 4 : 32 * 1024;
		uint64_t *grown = realloc(o->words, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		o->words = grown;
		o->cap_words = cap;
	}
	w = o->words + o->nr_words;
	w[0] = x->delay_ns;
	w[1] = x->avoidable_ns ? x->avoidable_ns : x->forbidden_ns;
	w[2] = x->nr | (uint64_t)x->primary << 8 | (uint64_t)place_of(x) << 16 |
	       (uint64_t)x->taints << 32;
	for (i = 0; i < x->nr; i++)
		w[HEAD_WORDS + i] = (uint64_t)x->hold[i].cause << 58 |
				    (uint64_t)x->hold[i].confidence << NS_BITS |
				    (x->hold[i].ns < NS_MASK ? x->hold[i].ns : NS_MASK);
	o->nr_words = need;
	o->nr_candidates++;
	return 0;
}

/* The value that would stand at index k if v were sorted; reorders v. */
static uint64_t select_kth(uint64_t *v, uint64_t n, uint64_t k)
{
	uint64_t lo = 0, hi = n - 1;

	while (lo < hi) {
		uint64_t pivot = v[lo + (hi - lo) / 2], i = lo, j = hi;

		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			uint64_t tmp = v[i];

			v[i++] = v[j];
			v[j--] = tmp;
		}
		/* v[lo..j] <= pivot <= v[j+1..hi]; with i == j that element is the pivot */
		if (k <= j)
			hi = j;
		else
			lo = j + 1;
	}
	return v[k];
}

static void drop_details_below(struct sl_outliers *o, uint64_t at_least_ns)
{
	unsigned int i, kept = 0;

	for (i = 0; i < o->nr_details; i++) {
		if (o->details[i].delay_ns >= at_least_ns)
			o->details[kept++] = o->details[i];
		else
			sl_wait_release(&o->details[i]);
	}
	o->nr_details = kept;
}

static void drop_below(struct sl_outliers *o, uint64_t at_least_ns)
{
	uint64_t from, to = 0, len;

	o->nr_candidates = 0;
	for (from = 0; from < o->nr_words; from += len) {
		len = HEAD_WORDS + (o->words[from + 2] & 0xff);
		if (o->words[from] < at_least_ns)
			continue;
		memmove(o->words + to, o->words + from, len * sizeof(*o->words));
		to += len;
		o->nr_candidates++;
	}
	o->nr_words = to;
	if (o->detail_max == UINT32_MAX)	/* else it is a heap of few */
		drop_details_below(o, at_least_ns);
}

/* Raise the running threshold when there are clearly more candidates than have to be kept. */
static void raise_threshold(struct sl_outliers *o)
{
	uint64_t expected = o->samples_expected > o->samples_seen ? o->samples_expected : o->samples_seen;
	uint64_t keep = (uint64_t)((1 - o->quantile) * (double)expected) + KEEP_MIN, at, n = 0, *delays;

	if (o->nr_candidates < keep + keep / 4)
		return;
	delays = malloc(o->nr_candidates * sizeof(*delays));
	if (!delays)
		return;		/* keeps more than it must: no harm */
	for (at = 0; at < o->nr_words; at += HEAD_WORDS + (o->words[at + 2] & 0xff))
		if (!(o->words[at + 2] >> 32))
			delays[n++] = o->words[at];
	if (n > keep) {
		o->at_least_ns = select_kth(delays, n, n - keep);
		drop_below(o, o->at_least_ns);
	}
	free(delays);
}

int sl_outliers_add(struct sl_outliers *o, const struct sl_explained *x)
{
	unsigned int i, seen = 0;
	int ret;

	if (o->running) {
		ret = encode(o, x);
		if (!ret && !(o->nr_candidates & 1023))
			raise_threshold(o);
		return ret;
	}
	for (i = 0; i < x->nr; i++)
		total_hold(o, &seen, (enum sl_cause)x->hold[i].cause,
			   (enum sl_confidence)x->hold[i].confidence, x->hold[i].ns);
	total_rest(o, x->delay_ns, x->avoidable_ns ? x->avoidable_ns : x->forbidden_ns, x->primary,
		   place_of(x), x->taints);
	return 0;
}

/* Order of the details: longer is worse; of equals the one that ended first. */
static bool is_worse(uint64_t delay_a, uint64_t end_a, const struct sl_wait *b)
{
	uint64_t end_b = b->start_ns + b->delay_ns;

	return delay_a != b->delay_ns ? delay_a > b->delay_ns : end_a < end_b;
}

bool sl_outliers_wants_detail(const struct sl_outliers *o, uint64_t delay_ns, uint64_t end_ns)
{
	return o->nr_details < o->detail_max ||
	       (o->detail_max && is_worse(delay_ns, end_ns, &o->details[0]));
}

static bool heap_above(const struct sl_wait *a, const struct sl_wait *b)
{
	return is_worse(b->delay_ns, b->start_ns + b->delay_ns, a);
}

static void swap(struct sl_wait *a, struct sl_wait *b)
{
	struct sl_wait tmp = *a;

	*a = *b;
	*b = tmp;
}

static void sift_down(struct sl_wait *v, unsigned int nr)
{
	unsigned int i = 0;

	for (;;) {
		unsigned int best = i, left = 2 * i + 1, right = left + 1;

		if (left < nr && heap_above(&v[left], &v[best]))
			best = left;
		if (right < nr && heap_above(&v[right], &v[best]))
			best = right;
		if (best == i)
			return;
		swap(&v[i], &v[best]);
		i = best;
	}
}

int sl_outliers_add_detail(struct sl_outliers *o, struct sl_wait *wait)
{
	unsigned int i;

	if (o->nr_details == o->detail_max) {
		sl_wait_release(&o->details[0]);
		o->details[0] = *wait;
		sift_down(o->details, o->nr_details);
		return 0;
	}
	if (o->nr_details == o->cap_details) {
		unsigned int cap = o->cap_details ? o->cap_details * 2 : 16;
		struct sl_wait *grown = realloc(o->details, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		o->details = grown;
		o->cap_details = cap;
	}
	i = o->nr_details++;
	o->details[i] = *wait;
	for (; i && heap_above(&o->details[i], &o->details[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&o->details[i], &o->details[(i - 1) / 2]);
	return 0;
}

static int by_badness(const void *a, const void *b)
{
	const struct sl_wait *x = a, *y = b;

	if (is_worse(x->delay_ns, x->start_ns + x->delay_ns, y))
		return -1;
	if (is_worse(y->delay_ns, y->start_ns + y->delay_ns, x))
		return 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

bool sl_outliers_finish(struct sl_outliers *o, uint64_t at_least_ns, uint64_t max_count)
{
	unsigned int i;
	uint64_t at;

	if (o->running) {
		if (at_least_ns < o->at_least_ns)
			return false;
		for (at = 0; at < o->nr_words; at += HEAD_WORDS + (o->words[at + 2] & 0xff)) {
			const uint64_t *w = o->words + at;
			unsigned int seen = 0;

			if (w[0] < at_least_ns || o->count >= max_count)
				continue;
			for (i = 0; i < (w[2] & 0xff); i++)
				total_hold(o, &seen, (enum sl_cause)(w[HEAD_WORDS + i] >> 58),
					   (enum sl_confidence)(w[HEAD_WORDS + i] >> NS_BITS & 3),
					   w[HEAD_WORDS + i] & NS_MASK);
			total_rest(o, w[0], w[1], (enum sl_cause)(w[2] >> 8 & 0xff),
				   (unsigned int)(w[2] >> 16 & 0xffff), (unsigned int)(w[2] >> 32));
		}
		o->nr_words = o->nr_candidates = 0;
	}
	drop_details_below(o, at_least_ns);
	if (o->nr_details)
		qsort(o->details, o->nr_details, sizeof(*o->details), by_badness);
	while (o->nr_details > max_count)
		sl_wait_release(&o->details[--o->nr_details]);
	return true;
}
