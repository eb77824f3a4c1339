// SPDX-License-Identifier: LGPL-2.1-only
#include "out/diff.h"

#include "out/csv.h"

int sl_out_diff_csv(struct sl_out *out, const struct sl_diff *diff, const struct sl_out_view *view)
{
	struct sl_diff_line line = { .diff = diff };
	struct sl_column_list columns = view->fields;
	unsigned int g, s, i;

	if (!columns.nr)
		sl_column_list_all(SL_SET_DIFF, &columns);
	sl_csv_head(out, &columns, view->separator);
	for (s = 1; s < diff->params.nr_sides; s++) {
		line.side = s;
		for (g = 0; g < diff->nr_groups; g++) {
			line.group = &diff->groups[g];
			for (i = 0; i < SL_DIFF_ROWS + SL_CAUSE_NR; i++) {
				bool cause = i >= SL_DIFF_ROWS;

				line.row = cause ? SL_DIFF_ROWS : i;
				line.cause = cause ? i - SL_DIFF_ROWS : 0;
				if (!cause || sl_diff_cause_shown(line.group, s, line.cause))
					sl_csv_row(out, &columns, &line, view->separator);
			}
		}
	}
	return 0;
}
