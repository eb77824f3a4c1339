/* SPDX-License-Identifier: LGPL-2.1-only */
/* The parts of the text report; report_text.c puts them in order. */
#ifndef SL_OUT_TEXT_H
#define SL_OUT_TEXT_H

#include "out/out.h"

/* What was measured, what was lost, what was read: the lines every report starts with. */
void sl_text_head(struct sl_out *out, const struct sl_report *report,
		  const struct sl_out_view *view);
/* Its first lines: what a wait is here, and of which tasks. */
void sl_text_definition(struct sl_out *out, const struct sl_report *report);
/* wakeups = samples + every reason why one is none. */
void sl_text_counters(struct sl_out *out, const struct sl_report *report);
int sl_text_groups(struct sl_out *out, const struct sl_report *report,
		   const struct sl_out_view *view);
int sl_text_histograms(struct sl_out *out, const struct sl_report *report);
int sl_text_why(struct sl_out *out, const struct sl_report *report,
		const struct sl_out_view *view);
/* One wait in full, as number `rank` of the list. */
void sl_text_wait(struct sl_out *out, const struct sl_wait *wait, unsigned int rank);

/* What the recording cannot tell, and what would. */
void sl_text_not_assessable(struct sl_out *out, const struct sl_report *report);

/* A line under construction: appending never overflows, what does not fit is cut. */
struct sl_line {
	char text[2048];
	size_t used;
};
void sl_line_add(struct sl_line *line, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void sl_line_add_name(struct sl_line *line, const char *name, bool utf8);
void sl_line_add_duration(struct sl_line *line, uint64_t ns);
void sl_line_add_cpu(struct sl_line *line, int cpu);	/* "?" below 0 */

#endif
