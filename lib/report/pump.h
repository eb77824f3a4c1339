/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Move a source's events into a consumer, in batches; with two threads, reading
 * and decoding run ahead of the analysis. The order of the events, and with it
 * every result, is the same either way.
 */
#ifndef SL_REPORT_PUMP_H
#define SL_REPORT_PUMP_H

#include "trace/source.h"

#define SL_PUMP_BATCH 128	/* events: 8 KiB, leaves room for tasks in the first-level cache */

struct sl_pump {
	struct sl_source *source;
	unsigned int threads;		/* 0 or 1: all in the caller's thread */
	/* 0 to go on, a negative code to stop with it. */
	int (*consume)(void *arg, const struct sl_event *events, unsigned int nr);
	void (*progress)(void *arg, unsigned int permille);	/* NULL: none */
	void *arg;
};

/* Until the end: 0, or the first negative code of the source or the consumer. */
int sl_pump_run(struct sl_pump *pump, struct sl_err *err);

#endif
