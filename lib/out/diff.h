/* SPDX-License-Identifier: LGPL-2.1-only */
/* A comparison (report/diff.h) as text, JSON and CSV. As in out.h: 0 or -ENOMEM. */
#ifndef SL_OUT_DIFF_H
#define SL_OUT_DIFF_H

#include "out/out.h"
#include "report/diff.h"

/* At most SL_OUT_WIDTH columns; of each pair of sides at most view->worst groups in full. */
int sl_out_diff_text(struct sl_out *out, const struct sl_diff *diff, const struct sl_out_view *view);
/* Schema schedlat.diff/1: every key always present, null for unknown. */
int sl_out_diff_json(struct sl_out *out, const struct sl_diff *diff);
/* A line per group, side but the first, and row or cause: the columns of the set "diff". */
int sl_out_diff_csv(struct sl_out *out, const struct sl_diff *diff, const struct sl_out_view *view);

/* ---- what these share ---- */

/* A row of the CSV. */
struct sl_diff_line {
	const struct sl_diff *diff;
	const struct sl_diff_group *group;
	unsigned int side;
	enum sl_diff_row row;		/* SL_DIFF_ROWS: the cause */
	enum sl_cause cause;
};

static inline char sl_diff_letter(unsigned int side)
{
	return (char)('A' + side);
}

/* ns, or waits, of a cause per 1000 waits; SL_TIME_NONE: that side cannot tell. */
uint64_t sl_diff_per_1000_ns(const struct sl_diff *diff, const struct sl_diff_group *group,
			     unsigned int side, enum sl_cause cause);
/* In thousandths of a wait: 1234 is 1.234 waits per 1000. */
uint64_t sl_diff_per_1000_milli(const struct sl_diff *diff, const struct sl_diff_group *group,
				unsigned int side, enum sl_cause cause);

/* The value that a line has for a side, in ns or a count; SL_TIME_NONE: unknown. */
struct sl_diff_value sl_diff_line_value(const struct sl_diff_line *line, unsigned int side);
double sl_diff_line_p(const struct sl_diff_line *line);	/* NAN: not tested */
bool sl_diff_line_is_significant(const struct sl_diff_line *line);
/* As sl_diff_change(); false for what is neither better nor worse. */
bool sl_diff_line_change(const struct sl_diff_line *line, int64_t *ret_permille);

/* Does the first side or this one have waits with any of it? */
bool sl_diff_cause_shown(const struct sl_diff_group *group, unsigned int side, enum sl_cause cause);

/* "cyclictest", "tid 12 (cyclictest)": what the group is of. Escaped. */
char *sl_diff_group_name(char *buf, size_t size, const struct sl_diff *diff,
			 const struct sl_diff_group *group, bool utf8);

/* Why nothing was tested, or how: one sentence. */
void sl_diff_say_test(const struct sl_diff *diff, unsigned int side, char *buf, size_t size);

#endif
