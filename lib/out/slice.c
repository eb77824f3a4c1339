// SPDX-License-Identifier: LGPL-2.1-only
/* slice: a row per thread. */
#include "out/slice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out/csv.h"
#include "out/fmt.h"
#include "out/json.h"
#include "out/table.h"
#include "out/text.h"
#include "util/time.h"

static const char *const shown[] = { "comm", "tid", "tgid", "policy", "priority", "nice", "slice",
				     "set", "mark" };
static const char *const changed[] = { "comm", "tid", "tgid", "policy", "nice", "former", "slice",
				       "outcome" };

static void columns_for(const struct sl_out_slices *slices, const struct sl_out_view *view,
			struct sl_column_list *ret_columns)
{
	const char *const *names = slices->setting ? changed : shown;
	size_t nr = slices->setting ? sizeof(changed) / sizeof(*changed) : sizeof(shown) / sizeof(*shown);

	*ret_columns = view->fields;
	for (size_t i = 0; !view->fields.nr && i < nr; i++)
		ret_columns->columns[ret_columns->nr++] = sl_column_find(SL_SET_THREAD, names[i]);
}

/* Pointers to the rows, sorted as the view says; malloced. */
static const void **sorted(const struct sl_out_slices *slices, const struct sl_out_view *view)
{
	const void **rows = malloc((slices->nr + 1) * sizeof(*rows));

	for (size_t i = 0; rows && i < slices->nr; i++)
		rows[i] = &slices->rows[i];
	if (rows)
		sl_rows_sort(rows, (unsigned int)slices->nr, &view->sort);
	return rows;
}

static void base_line(struct sl_out *out, const struct sl_out_slices *slices)
{
	struct sl_line line = { .used = 0 };

	sl_line_add(&line, "base slice ");
	if (slices->base.ns)
		sl_line_add_duration(&line, slices->base.ns);
	switch (slices->base.from) {
	case SL_SLICE_FROM_NOBODY:
		sl_line_add(&line, "n/a: whether a slice was set cannot be told");
		break;
	case SL_SLICE_FROM_DEBUGFS:
		sl_line_add(&line, " (debugfs)");
		break;
	case SL_SLICE_FROM_THREAD:
		sl_line_add(&line, " (what a thread without a slice of its own got just now)");
		break;
	case SL_SLICE_FROM_MOST:
		sl_line_add(&line, " (a guess: most threads have it)");
		break;
	}
	sl_out_wrap(out, 0, 2, line.text);
}

/* Unknown is n/a; what does not apply to this thread is a dash, and a mark is there or not. */
static const char *missing(const struct sl_column *column, const struct sl_slice_row *row)
{
	if (!strcmp(column->name, "mark"))
		return "";
	if (sl_slice_is_fair(row->thread->attr.policy) &&
	    (!strcmp(column->name, "slice") || !strcmp(column->name, "set")))
		return "n/a";
	return "-";
}

int sl_out_slice_text(struct sl_out *out, const struct sl_out_slices *slices,
		      const struct sl_out_view *view)
{
	const struct sl_fmt_unit unit = { "ms", SL_NSEC_PER_MSEC, 3 };
	struct sl_table *table = sl_table_new();
	const void **rows = sorted(slices, view);
	struct sl_column_list columns = { .nr = 0 };
	int ret = -ENOMEM;

	if (!table || !rows)
		goto out;
	columns_for(slices, view, &columns);
	for (unsigned int i = 0; i < columns.nr; i++) {
		const struct sl_column *column = columns.columns[i];
		char head[64];

		snprintf(head, sizeof(head), "%s%s", column->head,
			 column->type == SL_CELL_NS ? " (ms)" : "");
		sl_table_column(table, column->type == SL_CELL_TEXT ? SL_LEFT : SL_RIGHT, head);
	}
	for (size_t r = 0; r < slices->nr; r++) {
		sl_table_row(table);
		for (unsigned int i = 0; i < columns.nr; i++) {
			struct sl_cell cell;
			char text[512];

			columns.columns[i]->get(rows[r], &cell);
			if (cell.known)
				sl_table_value(text, sizeof(text), &cell, &unit, out->utf8);
			sl_table_cell(table, "%s", cell.known ? text : missing(columns.columns[i], rows[r]));
		}
	}
	base_line(out, slices);
	ret = sl_table_print(table, out, 0);
out:
	sl_table_free(table);
	free(rows);
	return ret;
}

int sl_out_slice_csv(struct sl_out *out, const struct sl_out_slices *slices,
		     const struct sl_out_view *view)
{
	struct sl_column_list columns = view->fields;
	const void **rows = sorted(slices, view);

	if (!rows)
		return -ENOMEM;
	if (!columns.nr)
		sl_column_list_all(SL_SET_THREAD, &columns);
	sl_csv_head(out, &columns, view->separator);
	for (size_t r = 0; r < slices->nr; r++)
		sl_csv_row(out, &columns, rows[r], view->separator);
	free(rows);
	return 0;
}

static json_t *json_row(const struct sl_column_list *columns, const void *row)
{
	json_t *object = json_object();
	int bad = 0;

	for (unsigned int i = 0; i < columns->nr; i++) {
		struct sl_cell cell;

		columns->columns[i]->get(row, &cell);
		bad |= sl_json_set(object, columns->columns[i]->key, sl_json_cell(&cell));
	}
	if (!bad)
		return object;
	json_decref(object);
	return NULL;
}

int sl_out_slice_json(struct sl_out *out, const struct sl_out_slices *slices,
		      const struct sl_out_view *view)
{
	const void **rows = sorted(slices, view);
	struct sl_column_list columns;
	int ret = 0;

	if (!rows)
		return -ENOMEM;
	sl_column_list_all(SL_SET_THREAD, &columns);
	fputs("{\"schema\": \"schedlat.slice/1\",\n \"base_slice_ns\": ", out->file);
	ret |= sl_json_print(out, sl_json_ns(slices->base.ns ? slices->base.ns : SL_TIME_NONE));
	fputs(", \"base_slice_from\": ", out->file);
	ret |= sl_json_print(out, sl_json_text(sl_slice_from_name(slices->base.from)));
	fputs(", \"asked_ns\": ", out->file);
	ret |= sl_json_print(out, sl_json_ns(slices->setting ? slices->asked_ns : SL_TIME_NONE));
	fputs(",\n \"threads\": [", out->file);
	for (size_t r = 0; r < slices->nr && !ret; r++) {
		fputs(r ? ",\n  " : "\n  ", out->file);
		ret = sl_json_print(out, json_row(&columns, rows[r]));
	}
	fputs("\n ]}\n", out->file);
	free(rows);
	return ret ? -ENOMEM : 0;
}
