/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Recordings with a threshold in the kernel: only long waits are in the file; how long
 * all the others were is in histograms per thread, which the metadata hold ("hist.TID").
 * Percentiles and counts are made of those.
 */
#ifndef SL_REPORT_HISTS_H
#define SL_REPORT_HISTS_H

#include "report/analysis.h"

/* Does the recording have them, and can they answer what was asked (not by time, CPU or --from=wakeup)? */
bool sl_hists_usable(const struct sl_analysis *a);

/*
 * A wake wait of the file: is it one of those that it was recorded for? Others are cut by
 * the windows of those, and counted by the histograms all the same.
 */
bool sl_hists_take_wait(struct sl_analysis *a, const struct sl_closing *closing);

/*
 * After a pass, in which no wake wait was added to the groups: add all waits of the
 * selected threads, and bring the counters in line. 0 or -ENOMEM. What cannot be read is
 * left out.
 */
int sl_hists_take(struct sl_analysis *a);

/* How much a percentile can be too high, at most: a part of it. */
double sl_hists_error(const struct sl_analysis *a);

#endif
