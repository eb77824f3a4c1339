/* SPDX-License-Identifier: LGPL-2.1-only */
/* Which waits the user asked for. The task's part of the answer is cached in the task. */
#ifndef SL_REPORT_FILTER_H
#define SL_REPORT_FILTER_H

#include "report/meta.h"
#include "schedlat/report.h"

/* Does the task pass -p -t --comm -G and the recorded targets? */
bool sl_filter_task(const struct sl_filter *f, const struct sl_meta *meta, struct sl_task *t);

/* Does this wait pass -C and --time? run_cpu -1 (never ran) passes no -C. */
static inline bool sl_filter_wait(const struct sl_filter *f, int run_cpu, uint64_t end_ns)
{
	if (f->cpus && (run_cpu < 0 || !f->cpus[run_cpu]))
		return false;
	return end_ns >= f->time_start_ns && (!f->time_stop_ns || end_ns < f->time_stop_ns);
}

#endif
