/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Outputs: the analysis of report/ as text, JSON and CSV.
 *
 * Everything is written to the caller's FILE. The functions return 0 or
 * -ENOMEM; whether the writing itself worked is the caller's to ask, once, with
 * ferror() and fclose(). Nothing is concluded here: attribution is data, and
 * these functions only print it.
 */
#ifndef SL_OUT_OUT_H
#define SL_OUT_OUT_H

#include <stdbool.h>
#include <stdio.h>

#include "out/columns.h"
#include "schedlat/report.h"

#define SL_OUT_WIDTH 100	/* no line of a text report is longer */

struct sl_out {
	FILE *file;
	bool utf8;		/* the terminal takes UTF-8: bars, and names as they are */
	bool colour;
	unsigned int width;	/* no line is longer; 0: SL_OUT_WIDTH */
};

static inline unsigned int sl_out_width(const struct sl_out *out)
{
	return out->width ? out->width : SL_OUT_WIDTH;
}

/* How the numbers of one report are shown; all zero is a valid choice but for `worst`. */
struct sl_out_view {
	struct sl_column_list fields;	/* nr 0: the usual ones */
	struct sl_column_list sort;	/* nr 0: as the report has them */
	unsigned int worst;		/* text: so many of the worst waits in full */
	bool histogram;			/* draw the distribution */
	bool verbose;			/* text: metadata and skipped records in full */
	const char *separator;		/* CSV */
};

int sl_out_report_text(struct sl_out *out, const struct sl_report *report,
		       const struct sl_out_view *view);
/* Schema schedlat.report/1: every key always present, null for unknown. */
int sl_out_report_json(struct sl_out *out, const struct sl_report *report,
		       const struct sl_out_view *view);
/* One table with a heading line: the groups; with why the causes; with histogram its ranges. */
int sl_out_report_csv(struct sl_out *out, const struct sl_report *report,
		      const struct sl_out_view *view);

/* timehist: a heading (text, CSV), then a line per wait. */
int sl_out_timehist_head(struct sl_out *out, enum sl_from from, unsigned int waits);
int sl_out_timehist_line(struct sl_out *out, const struct sl_wait *wait);
int sl_out_timehist_csv_head(struct sl_out *out, const struct sl_out_view *view);
int sl_out_timehist_csv_line(struct sl_out *out, const struct sl_wait *wait,
			     const struct sl_out_view *view);
int sl_out_timehist_json_line(struct sl_out *out, const struct sl_wait *wait);

/* The lists that `schedlat list` prints. */
int sl_out_list_causes(struct sl_out *out, bool json);
int sl_out_list_events(struct sl_out *out, bool json);
int sl_out_list_columns(struct sl_out *out, bool json);

const char *sl_out_version(void);	/* "0.1.0" */
/* The i-th library in use and its version; NULL behind the last. */
const char *sl_out_library(unsigned int i, const char **ret_version);

#endif
