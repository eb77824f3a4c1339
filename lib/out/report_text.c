// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The text report: at most SL_OUT_WIDTH columns, the definition first, then
 * what was lost, then numbers, then causes.
 */
#include "out/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "out/table.h"
#include "stats/stats.h"
#include "util/time.h"

/* Above the causes, so many groups are enough; the rest is one line. */
#define GROUPS_WITH_WHY 15

static void add_column(struct sl_column_list *list, const char *name)
{
	if (list->nr < SL_COLUMNS_MAX)
		list->columns[list->nr++] = sl_column_find(SL_SET_GROUP, name);
}

static void default_columns(const struct sl_report *report, struct sl_column_list *ret_list)
{
	static const char *const numbers[] = { "count", "avg", "p50", "p90", "p99", "p999", "max" };
	static const char *const labels[SL_BY_NR][2] = {
		[SL_BY_TID] = { "comm", "tid" },
		[SL_BY_COMM] = { "comm" },
		[SL_BY_TGID] = { "comm", "tgid" },
		[SL_BY_CGROUP] = { "cgroup" },
		[SL_BY_CLASS] = { "class" },
	};
	bool slices = false, kinds = false;
	unsigned int i;

	for (i = 0; i < report->nr_groups; i++) {
		slices |= report->groups[i].slice_ns != 0;
		kinds |= report->groups[i].kind != SL_WAIT_WAKE;
	}
	ret_list->nr = 0;
	for (i = 0; i < 2; i++)
		if (report->params.by < SL_BY_NR && labels[report->params.by][i])
			add_column(ret_list, labels[report->params.by][i]);
	if (kinds)
		add_column(ret_list, "kind");
	if (slices)
		add_column(ret_list, "slice");
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		add_column(ret_list, numbers[i]);
}

/* Several groups in one row: what can be added up is, percentiles cannot be. */
struct sum_row {
	struct sl_group group;
	uint64_t sum_ns;
	unsigned int nr;
};

static void sum_add(struct sum_row *sum, const struct sl_group *group)
{
	struct sl_group *all = &sum->group;

	if (!sum->nr++) {
		*all = (struct sl_group){
			.kind = group->kind, .tid = -1, .tgid = -1, .min_ns = UINT64_MAX,
			.p50_ns = SL_TIME_NONE, .p90_ns = SL_TIME_NONE,
			.p99_ns = SL_TIME_NONE, .p999_ns = SL_TIME_NONE,
		};
	}
	all->count += group->count;
	sum->sum_ns += group->stats ? sl_stats_sum(group->stats) : group->avg_ns * group->count;
	if (group->count && group->min_ns < all->min_ns)
		all->min_ns = group->min_ns;
	if (group->max_ns > all->max_ns)
		all->max_ns = group->max_ns;
	all->avg_ns = all->count ? (sum->sum_ns + all->count / 2) / all->count : 0;
}

static void group_row(struct sl_table *table, struct sl_out *out,
		      const struct sl_column_list *columns, const struct sl_group *group,
		      const struct sl_fmt_unit *unit, const char *label, uint64_t sum_ns)
{
	unsigned int i;
	char text[512];

	sl_table_row(table);
	for (i = 0; i < columns->nr; i++) {
		struct sl_cell cell;

		columns->columns[i]->get(group, &cell);
		if (label && !strcmp(columns->columns[i]->name, "sum"))
			cell.value = sum_ns;
		if (label && i == 0 && cell.type == SL_CELL_TEXT)
			sl_table_cell(table, "%s", label);
		else if (label && !cell.known)
			sl_table_cell(table, "%s", "");
		else
			sl_table_cell(table, "%s",
				      sl_table_value(text, sizeof(text), &cell, unit, out->utf8));
	}
}

static bool has_unit(const struct sl_column_list *columns)
{
	unsigned int i;

	for (i = 0; i < columns->nr; i++)
		if (columns->columns[i]->type == SL_CELL_NS)
			return true;
	return false;
}

static void groups_title(struct sl_out *out, const struct sl_report *report,
			 const struct sl_column_list *columns, const struct sl_fmt_unit *unit)
{
	static const char *const by[SL_BY_NR] = {
		[SL_BY_TID] = " by thread", [SL_BY_COMM] = " by name", [SL_BY_TGID] = " by process",
		[SL_BY_CGROUP] = " by cgroup", [SL_BY_CLASS] = " by class", [SL_BY_ALL] = "",
	};

	sl_out_title(out, "Wait times%s%s%s", report->params.by < SL_BY_NR ? by[report->params.by] : "",
		     has_unit(columns) ? ", in " : "", has_unit(columns) ? unit->name : "");
	if (report->flight)
		fputs("  A flight recording: these are numbers of the kept windows only, not of the "
		      "whole run.\n", out->file);
	if (!report->percentiles_exact)
		fprintf(out->file, "  Percentiles are from a histogram: at most %.2f %% too high, "
			"never too low%s.\n", report->histogram_error * 100,
			report->recorded_above_ns ? "" : " (--exact)");
}

int sl_text_groups(struct sl_out *out, const struct sl_report *report,
		   const struct sl_out_view *view)
{
	bool why = report->params.why.mode != SL_WHY_NONE, one_kind = true;
	const void **rows = calloc(report->nr_groups + 1, sizeof(*rows));
	struct sl_table *table = sl_table_new();
	struct sum_row total = { .nr = 0 }, rest = { .nr = 0 };
	struct sl_column_list columns = view->fields;
	unsigned int i, shown = report->nr_groups;
	struct sl_fmt_unit unit;
	char label[64];
	int ret = -ENOMEM;

	if (!rows || !table)
		goto out;
	if (!columns.nr)
		default_columns(report, &columns);
	for (i = 0; i < report->nr_groups; i++) {
		rows[i] = &report->groups[i];
		one_kind &= report->groups[i].kind == report->groups[0].kind;
		sum_add(&total, &report->groups[i]);
	}
	sl_rows_sort(rows, report->nr_groups, &view->sort);
	if (why && shown > GROUPS_WITH_WHY + 1)
		shown = GROUPS_WITH_WHY;
	unit = sl_fmt_unit_of_waits(total.group.max_ns);
	groups_title(out, report, &columns, &unit);
	for (i = 0; i < columns.nr; i++)
		sl_table_column(table, columns.columns[i]->type == SL_CELL_TEXT ? SL_LEFT : SL_RIGHT,
				columns.columns[i]->head);
	for (i = 0; i < shown; i++)
		group_row(table, out, &columns, rows[i], &unit, NULL, 0);
	for (; i < report->nr_groups; i++)
		sum_add(&rest, rows[i]);
	if (rest.nr && one_kind) {
		snprintf(label, sizeof(label), "(%u more)", rest.nr);
		group_row(table, out, &columns, &rest.group, &unit, label, rest.sum_ns);
	}
	if (report->nr_groups > 1 && one_kind) {
		sl_table_rule(table);
		group_row(table, out, &columns, &total.group, &unit, "all", total.sum_ns);
	}
	ret = sl_table_print(table, out, 2);
	if (rest.nr)
		fprintf(out->file, "  (%u more): listed without --why, and by --json and -x\n", rest.nr);
out:
	sl_table_free(table);
	free(rows);
	return ret;
}

int sl_out_report_text(struct sl_out *out, const struct sl_report *report,
		       const struct sl_out_view *view)
{
	int ret;

	sl_text_head(out, report, view);
	putc('\n', out->file);
	ret = sl_text_groups(out, report, view);
	if (ret)
		return ret;
	sl_text_counters(out, report);
	if (view->histogram) {
		ret = sl_text_histograms(out, report);
		if (ret)
			return ret;
	}
	if (report->params.why.mode == SL_WHY_NONE)
		return 0;
	putc('\n', out->file);
	return sl_text_why(out, report, view);
}
