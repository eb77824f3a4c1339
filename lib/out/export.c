// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The formats of export, and the two that are lines of waits: CSV and JSON lines.
 */
#include "out/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out/csv.h"

static const struct sl_exporter *const exporters[] = {
	&sl_export_perfetto, &sl_export_html, &sl_export_folded, &sl_export_csv, &sl_export_jsonl,
};
#define NR_EXPORTERS (sizeof(exporters) / sizeof(exporters[0]))

const struct sl_exporter *sl_exporter_at(unsigned int i)
{
	return i < NR_EXPORTERS ? exporters[i] : NULL;
}

int sl_exporter_find(const char *name, const struct sl_exporter **ret_exporter, struct sl_err *err)
{
	char valid[128] = "";
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < NR_EXPORTERS; i++) {
		if (!strcmp(name, exporters[i]->name)) {
			*ret_exporter = exporters[i];
			return 0;
		}
		used += (size_t)snprintf(valid + used, sizeof(valid) - used, "%s%s", i ? ", " : "",
					 exporters[i]->name);
	}
	return sl_err_set(err, SL_EUSAGE, "--format='%.64s': valid are %s", name, valid);
}

/* ---- lines ---- */

struct lines {
	struct sl_out *out;
	const struct sl_out_view *view;
	struct sl_column_list columns;
};

static int begin_lines(struct sl_out *out, const struct sl_out_view *view, void **ret_state)
{
	struct lines *lines = malloc(sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	lines->out = out;
	lines->view = view;
	if (view->fields.nr)
		lines->columns = view->fields;
	else
		sl_column_list_all(SL_SET_WAIT, &lines->columns);
	*ret_state = lines;
	return 0;
}

static int begin_csv(struct sl_out *out, const struct sl_out_view *view, void **ret_state)
{
	int ret = begin_lines(out, view, ret_state);

	if (ret)
		return ret;
	sl_csv_head_cells(out, &((struct lines *)*ret_state)->columns, view->separator);
	fprintf(out->file, "%ssegments\n", view->separator);
	return 0;
}

/* A number that is negative when it is not known. */
static void print_id(FILE *file, char before, int id)
{
	if (id < 0)
		fprintf(file, "%c-", before);
	else
		fprintf(file, "%c%d", before, id);
}

/* cause=ns@cpu/tid:confidence, with a blank between: no name that would have to be quoted. */
static void print_segments(FILE *file, const struct sl_wait *wait)
{
	unsigned int i;

	for (i = 0; i < wait->nr_segments; i++) {
		const struct sl_segment *seg = &wait->segments[i];

		fprintf(file, "%s%s=%" PRIu64, i ? " " : "", sl_cause_descs[seg->cause].id, seg->ns);
		print_id(file, '@', seg->cpu);
		print_id(file, '/', seg->occupant_tid);
		fprintf(file, ":%s", sl_confidence_name(seg->confidence));
	}
}

static int csv_wait(void *state, const struct sl_wait *wait)
{
	struct lines *lines = state;
	FILE *file = lines->out->file;

	sl_csv_cells(lines->out, &lines->columns, wait, lines->view->separator);
	fprintf(file, "%s\"", lines->view->separator);
	print_segments(file, wait);
	fputs("\"\n", file);
	return 0;
}

static int jsonl_wait(void *state, const struct sl_wait *wait)
{
	return sl_out_timehist_json_line(((struct lines *)state)->out, wait);
}

static int finish_lines(void *state, const struct sl_report *report, struct sl_err *err)
{
	(void)state;
	(void)report;
	(void)err;
	return 0;
}

const struct sl_exporter sl_export_csv = {
	.name = "csv",
	.doc = "a row per wait",
	.begin = begin_csv,
	.wait = csv_wait,
	.finish = finish_lines,
	.end = free,
};

const struct sl_exporter sl_export_jsonl = {
	.name = "jsonl",
	.doc = "a JSON object per line and wait, as timehist -j prints it",
	.begin = begin_lines,
	.wait = jsonl_wait,
	.finish = finish_lines,
	.end = free,
};
