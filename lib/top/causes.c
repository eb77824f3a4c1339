// SPDX-License-Identifier: LGPL-2.1-only
/* What held the waits that were judged, added up as they end. */
#include <stdlib.h>
#include <string.h>

#include "top/own.h"

void sl_top_causes_begin(struct sl_top *top)
{
	for (unsigned int c = 0; c < SL_CAUSE_NR; c++) {
		struct sl_top_cause *cause = &top->causes[c];

		cause->cause = (enum sl_cause)c;
		cause->now_ns = cause->now_waits = 0;
	}
	top->frame.now_judged_waits = top->frame.now_judged_ns = 0;
}

void sl_top_causes_add(struct sl_top *top, const struct sl_wait *wait)
{
	struct sl_top_entry *entry = sl_top_entry_of(top, wait->tid);
	struct sl_top_frame *f = &top->frame;

	for (unsigned int c = 0; c < SL_CAUSE_HOLD_NR; c++) {
		struct sl_top_cause *cause = &top->causes[c];

		if (!wait->cause_ns[c])
			continue;
		cause->now_ns += wait->cause_ns[c];
		cause->total_ns += wait->cause_ns[c];
		cause->now_waits++;
		cause->total_waits++;
		for (unsigned int i = 0; i < SL_CONF_NR; i++)
			cause->confidence_ns[i] += wait->confidence_ns[c][i];
		if (entry) {
			entry->judged.cause_ns[c] += wait->cause_ns[c];
			entry->judged.exact_ns[c] += wait->confidence_ns[c][SL_CONF_EXACT];
		}
	}
	for (unsigned int c = SL_CAUSE_HOLD_NR; c < SL_CAUSE_NR; c++) {
		struct sl_top_cause *cause = &top->causes[c];

		if (!(wait->place_causes >> (c - SL_CAUSE_HOLD_NR) & 1))
			continue;
		cause->now_ns += wait->avoidable_ns;
		cause->total_ns += wait->avoidable_ns;
		cause->now_waits++;
		cause->total_waits++;
		cause->confidence_ns[wait->place_confidence] += wait->avoidable_ns;
	}
	if (entry) {
		entry->judged.waits++;
		entry->judged.ns += wait->delay_ns;
	}
	f->judged_waits++;
	f->judged_ns += wait->delay_ns;
	f->now_judged_waits++;
	f->now_judged_ns += wait->delay_ns;
}

static int by_total(const void *a, const void *b)
{
	const struct sl_top_cause *x = a, *y = b;
	const bool place_x = x->cause >= SL_CAUSE_HOLD_NR, place_y = y->cause >= SL_CAUSE_HOLD_NR;

	if (place_x != place_y)
		return place_x - place_y;
	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return (int)x->cause - (int)y->cause;
}

int sl_top_fill_causes(struct sl_top *top)
{
	struct sl_top_frame *f = &top->frame;

	f->nr_causes = 0;
	for (unsigned int c = 0; c < SL_CAUSE_NR; c++) {
		struct sl_top_cause *cause = &top->causes[c];

		memmove(cause->trend, cause->trend + 1, sizeof(cause->trend) - sizeof(*cause->trend));
		cause->trend[SL_TOP_TREND - 1] = !f->now_judged_ns ? 0 :
			cause->now_ns >= f->now_judged_ns ? 1000 : cause->now_ns * 1000 / f->now_judged_ns;
		if (cause->total_waits)
			f->causes[f->nr_causes++] = *cause;
	}
	qsort(f->causes, f->nr_causes, sizeof(*f->causes), by_total);
	return 0;
}
