/* SPDX-License-Identifier: LGPL-2.1-only */
/* The state of one analysis; private to this room. */
#ifndef SL_REPORT_ANALYSIS_H
#define SL_REPORT_ANALYSIS_H

#include "report/filter.h"
#include "report/groups.h"
#include "report/meta.h"
#include "schedlat/report.h"
#include "trace/source.h"
#include "wait/engine.h"
#include "why/explain.h"
#include "why/outliers.h"

struct sl_analysis {
	struct sl_report *report;		/* what is being filled */
	struct sl_source *source;
	struct sl_engine engine;
	struct sl_explainer explainer;
	struct sl_meta meta;
	struct sl_groups groups;
	struct sl_outliers outliers[SL_WAIT_NR];
	uint64_t samples[SL_WAIT_NR];
	uint64_t data_bytes;			/* of event data in the file */
	unsigned int waits;			/* bit per enum sl_wait_kind that is reported */
	uint64_t replaced;			/* wake waits of the file that histograms count as well */
	bool trimmed;				/* a copy of parts: waits that its windows cut are not shown */
	bool hists;				/* wake waits are counted by histograms: report/hists.h */
	bool why_active;			/* this pass selects outliers */
	bool explain_waits;
	bool second_pass;
	bool paired;				/* some wait ended with a switch, sample or not */
};

/* Read and analyse; a->report and a->source are set. */
int sl_analysis_run(struct sl_analysis *a, struct sl_err *err);
void sl_analysis_release(struct sl_analysis *a);

#endif
