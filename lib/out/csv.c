// SPDX-License-Identifier: LGPL-2.1-only
/*
 * CSV: a heading line of keys, then a line per row; times are integer ns,
 * unknown is empty. Quoted as RFC 4180 says, with the caller's separator.
 */
#include "out/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "stats/stats.h"

void sl_csv_text(struct sl_out *out, const char *text, const char *separator)
{
	const char *p;

	if (!strstr(text, separator) && !strpbrk(text, "\"\r\n") && *text != ' ' &&
	    (!*text || text[strlen(text) - 1] != ' ')) {
		fputs(text, out->file);
		return;
	}
	putc('"', out->file);
	for (p = text; *p; p++) {
		if (*p == '"')
			putc('"', out->file);
		putc(*p, out->file);
	}
	putc('"', out->file);
}

void sl_csv_head_cells(struct sl_out *out, const struct sl_column_list *columns,
		       const char *separator)
{
	unsigned int i;

	for (i = 0; i < columns->nr; i++)
		fprintf(out->file, "%s%s", i ? separator : "", columns->columns[i]->key);
}

void sl_csv_head(struct sl_out *out, const struct sl_column_list *columns, const char *separator)
{
	sl_csv_head_cells(out, columns, separator);
	putc('\n', out->file);
}

void sl_csv_cells(struct sl_out *out, const struct sl_column_list *columns, const void *row,
		  const char *separator)
{
	char text[512];
	unsigned int i;

	for (i = 0; i < columns->nr; i++) {
		struct sl_cell cell;

		columns->columns[i]->get(row, &cell);
		if (i)
			fputs(separator, out->file);
		if (!cell.known)
			continue;
		if (cell.type == SL_CELL_TEXT)
			sl_csv_text(out, sl_fmt_escape(text, sizeof(text), cell.text, true), separator);
		else if (cell.type == SL_CELL_INT)
			fprintf(out->file, "%" PRId64, (int64_t)cell.value);
		else
			fprintf(out->file, "%" PRIu64, cell.value);
	}
}

void sl_csv_row(struct sl_out *out, const struct sl_column_list *columns, const void *row,
		const char *separator)
{
	sl_csv_cells(out, columns, row, separator);
	putc('\n', out->file);
}

static void columns_of(enum sl_column_set set, const struct sl_out_view *view,
		       struct sl_column_list *ret_columns)
{
	if (view->fields.nr)
		*ret_columns = view->fields;
	else
		sl_column_list_all(set, ret_columns);
}

static int sorted_groups(const struct sl_report *report, const struct sl_out_view *view,
			 const void ***ret_rows)
{
	const void **rows = calloc(report->nr_groups + 1, sizeof(*rows));
	unsigned int i;

	if (!rows)
		return -ENOMEM;
	for (i = 0; i < report->nr_groups; i++)
		rows[i] = &report->groups[i];
	sl_rows_sort(rows, report->nr_groups, &view->sort);
	*ret_rows = rows;
	return 0;
}

struct bucket_arg {
	struct sl_out *out;
	const struct sl_column_list *columns;
	const struct sl_group *group;
	const char *separator;
};

static void print_bucket(void *data, uint64_t lo_ns, uint64_t hi_ns, uint64_t count)
{
	struct bucket_arg *arg = data;
	struct sl_bucket_row row = { arg->group, lo_ns, hi_ns, count };

	sl_csv_row(arg->out, arg->columns, &row, arg->separator);
}

static int csv_groups(struct sl_out *out, const struct sl_report *report,
		      const struct sl_out_view *view)
{
	struct sl_column_list columns;
	const void **rows;
	unsigned int i;
	int ret;

	ret = sorted_groups(report, view, &rows);
	if (ret)
		return ret;
	columns_of(view->histogram ? SL_SET_BUCKET : SL_SET_GROUP, view, &columns);
	sl_csv_head(out, &columns, view->separator);
	for (i = 0; i < report->nr_groups; i++) {
		const struct sl_group *group = rows[i];
		struct bucket_arg arg = { out, &columns, group, view->separator };

		if (!view->histogram)
			sl_csv_row(out, &columns, group, view->separator);
		else if (group->stats)
			sl_stats_each_octave(group->stats, print_bucket, &arg);
	}
	free(rows);
	return 0;
}

static int csv_causes(struct sl_out *out, const struct sl_report *report,
		      const struct sl_out_view *view)
{
	const struct sl_why *why = &report->why;
	struct sl_cause_row *causes = calloc(why->nr_causes + 1, sizeof(*causes));
	const void **rows = calloc(why->nr_causes + 1, sizeof(*rows));
	struct sl_column_list columns;
	unsigned int i;
	int ret = -ENOMEM;

	if (!causes || !rows)
		goto out;
	for (i = 0; i < why->nr_causes; i++) {
		causes[i].cause = &why->causes[i];
		causes[i].permille = sl_fmt_permille(why->causes[i].ns, why->total_ns);
		rows[i] = &causes[i];
	}
	sl_rows_sort(rows, why->nr_causes, &view->sort);
	columns_of(SL_SET_CAUSE, view, &columns);
	sl_csv_head(out, &columns, view->separator);
	for (i = 0; i < why->nr_causes; i++)
		sl_csv_row(out, &columns, rows[i], view->separator);
	ret = 0;
out:
	free(rows);
	free(causes);
	return ret;
}

int sl_out_report_csv(struct sl_out *out, const struct sl_report *report,
		      const struct sl_out_view *view)
{
	if (report->params.why.mode != SL_WHY_NONE && !view->histogram)
		return csv_causes(out, report, view);
	return csv_groups(out, report, view);
}

int sl_out_timehist_csv_head(struct sl_out *out, const struct sl_out_view *view)
{
	struct sl_column_list columns;

	columns_of(SL_SET_WAIT, view, &columns);
	sl_csv_head(out, &columns, view->separator);
	return 0;
}

int sl_out_timehist_csv_line(struct sl_out *out, const struct sl_wait *wait,
			     const struct sl_out_view *view)
{
	struct sl_column_list columns;

	columns_of(SL_SET_WAIT, view, &columns);
	sl_csv_row(out, &columns, wait, view->separator);
	return 0;
}
