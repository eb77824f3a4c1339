// SPDX-License-Identifier: LGPL-2.1-only
/*
 * schedlat.diff/1: one JSON object, a group on a line. Keys are only ever added.
 */
#include "out/diff.h"

#include <errno.h>
#include <math.h>

#include "out/json.h"
#include "util/time.h"

static json_t *checked(json_t *value, int bad)
{
	if (!bad)
		return value;
	json_decref(value);
	return NULL;
}

static json_t *json_side_name(unsigned int side)
{
	char name[2] = { sl_diff_letter(side), '\0' };

	return sl_json_text(name);
}

static json_t *json_p(double p)
{
	return isnan(p) ? json_null() : json_real(p);
}

static json_t *json_change(const struct sl_diff_line *line)
{
	int64_t permille;

	return line->side && sl_diff_line_change(line, &permille) ? json_integer(permille) : json_null();
}

/* ---- the sides ---- */

static json_t *json_file(const struct sl_report *report)
{
	const struct sl_source_info *info = report->info;
	json_t *object = json_object();
	int bad = 0;

	bad |= sl_json_set(object, "file", sl_json_text(info->path));
	bad |= sl_json_set(object, "format", sl_json_text(info->format));
	bad |= sl_json_set(object, "kernel", sl_json_text(info->kernel));
	bad |= sl_json_set(object, "backend", sl_json_text(report->backend));
	bad |= sl_json_set(object, "events", sl_json_ns(info->events));
	bad |= sl_json_set(object, "t_start_ns", sl_json_ns(report->t_start_ns));
	bad |= sl_json_set(object, "t_end_ns", sl_json_ns(report->t_end_ns));
	bad |= sl_json_set(object, "samples", sl_json_ns(report->samples));
	bad |= sl_json_set(object, "lost", sl_json_ns(report->lost_events));
	bad |= sl_json_set(object, "unknown_gaps", sl_json_ns(report->lost_unknown_gaps));
	bad |= sl_json_set(object, "recorded_above_ns",
			   report->recorded_above_ns ? sl_json_ns(report->recorded_above_ns) : json_null());
	bad |= sl_json_set(object, "percentiles_exact", json_boolean(report->percentiles_exact));
	return checked(object, bad);
}

static json_t *json_test(const struct sl_diff_side *side)
{
	json_t *object = json_object();
	int bad = 0;

	bad |= sl_json_set(object, "name", sl_json_text("permutation"));
	bad |= sl_json_set(object, "statistic", sl_json_text("mean of logarithms")) |
	       sl_json_set(object, "correction", sl_json_text("max-t"));
	bad |= sl_json_set(object, "units", sl_json_text(side->units_are_files ? "recordings" : "stretches"));
	bad |= sl_json_set(object, "base_units", json_integer(side->base_units));
	bad |= sl_json_set(object, "side_units", json_integer(side->units));
	bad |= sl_json_set(object, "values", json_integer(side->values_tested));
	bad |= sl_json_set(object, "exact", side->tested ? json_boolean(side->test.exact) : json_null());
	bad |= sl_json_set(object, "relabellings",
			   side->tested ? sl_json_ns(side->test.relabellings) : json_null());
	bad |= sl_json_set(object, "least_p", side->tested ? json_real(side->test.least_p) : json_null());
	bad |= sl_json_set(object, "alpha", json_real(side->alpha));
	bad |= sl_json_set(object, "significant", side->tested ? json_integer(side->significant) : json_null());
	return checked(object, bad);
}

static json_t *json_side(const struct sl_diff *diff, unsigned int s)
{
	const struct sl_diff_side *side = &diff->sides[s];
	json_t *object = json_object(), *files = json_array(), *blind = json_array();
	unsigned int f, c;
	int bad = 0;

	for (f = 0; f < side->nr; f++)
		bad |= sl_json_append(files, json_file(side->reports[f]));
	for (c = 0; c < SL_CAUSE_NR; c++)
		if (side->not_assessable[c])
			bad |= sl_json_append(blind, sl_json_text(sl_cause_descs[c].id));
	bad |= sl_json_set(object, "side", json_side_name(s));
	bad |= sl_json_set(object, "files", files);
	bad |= sl_json_set(object, "not_assessable", blind);
	bad |= sl_json_set(object, "test", s ? json_test(side) : json_null());
	return checked(object, bad);
}

/* ---- the groups ---- */

static json_t *json_row(const struct sl_diff_line *line)
{
	struct sl_diff_value value = sl_diff_line_value(line, line->side);
	json_t *object = json_object();
	int bad = 0;

	bad |= sl_json_set(object, "median", sl_json_ns(value.median));
	bad |= sl_json_set(object, "min", sl_json_ns(value.min));
	bad |= sl_json_set(object, "max", sl_json_ns(value.max));
	bad |= sl_json_set(object, "change_permille", json_change(line));
	bad |= sl_json_set(object, "p", line->side ? json_p(sl_diff_line_p(line)) : json_null());
	bad |= sl_json_set(object, "significant", line->side && !isnan(sl_diff_line_p(line)) ?
			   json_boolean(sl_diff_line_is_significant(line)) : json_null());
	return checked(object, bad);
}

static json_t *json_cause(const struct sl_diff_line *line)
{
	const struct sl_diff_cell *cell = &line->group->cells[line->side];
	bool known = cell->files && !line->diff->sides[line->side].not_assessable[line->cause];
	uint64_t milli = sl_diff_per_1000_milli(line->diff, line->group, line->side, line->cause);
	json_t *object = json_object();
	int bad = 0;

	bad |= sl_json_set(object, "id", sl_json_text(sl_cause_descs[line->cause].id));
	bad |= sl_json_set(object, "ns", known ? sl_json_ns(cell->all.ns[line->cause]) : json_null());
	bad |= sl_json_set(object, "count", known ? sl_json_ns(cell->all.count[line->cause]) : json_null());
	bad |= sl_json_set(object, "ns_per_1000",
			   sl_json_ns(sl_diff_per_1000_ns(line->diff, line->group, line->side, line->cause)));
	bad |= sl_json_set(object, "count_per_1000",
			   milli == SL_TIME_NONE ? json_null() : json_real((double)milli / 1000));
	bad |= sl_json_set(object, "tail_ns", known ? sl_json_ns(cell->tail.ns[line->cause]) : json_null());
	bad |= sl_json_set(object, "tail_count",
			   known ? sl_json_ns(cell->tail.count[line->cause]) : json_null());
	bad |= sl_json_set(object, "change_permille", json_change(line));
	bad |= sl_json_set(object, "p", line->side ? json_p(sl_diff_line_p(line)) : json_null());
	bad |= sl_json_set(object, "significant", line->side && !isnan(sl_diff_line_p(line)) ?
			   json_boolean(sl_diff_line_is_significant(line)) : json_null());
	return checked(object, bad);
}

/* All sides name the same causes of a group: those that any of them has. */
static bool any_side_has(const struct sl_diff *diff, const struct sl_diff_group *group, enum sl_cause cause)
{
	unsigned int s;

	for (s = 0; s < diff->params.nr_sides; s++)
		if (group->cells[s].all.count[cause])
			return true;
	return false;
}

static json_t *json_cell(const struct sl_diff *diff, const struct sl_diff_group *group, unsigned int s)
{
	struct sl_diff_line line = { .diff = diff, .group = group, .side = s };
	const struct sl_diff_cell *cell = &group->cells[s];
	json_t *object = json_object(), *rows = json_object(), *causes = json_array();
	unsigned int i;
	int bad = 0;

	for (i = 0; i < SL_DIFF_ROWS; i++) {
		line.row = i;
		bad |= sl_json_set(rows, sl_diff_row_key(i), json_row(&line));
	}
	line.row = SL_DIFF_ROWS;
	for (i = 0; i < SL_CAUSE_NR; i++) {
		line.cause = i;
		if (any_side_has(diff, group, i))
			bad |= sl_json_append(causes, json_cause(&line));
	}
	bad |= sl_json_set(object, "side", json_side_name(s));
	bad |= sl_json_set(object, "files", json_integer(cell->files));
	bad |= sl_json_set(object, "samples", sl_json_ns(cell->samples));
	bad |= sl_json_set(object, "slice_ns", cell->slice_ns ? sl_json_ns(cell->slice_ns) : json_null());
	bad |= sl_json_set(object, "rows", rows);
	bad |= sl_json_set(object, "cause_waits", cell->files ? sl_json_ns(cell->all.waits) : json_null());
	bad |= sl_json_set(object, "cause_total_ns", cell->files ? sl_json_ns(cell->all.total_ns) : json_null());
	bad |= sl_json_set(object, "tail_waits", cell->files ? sl_json_ns(cell->tail.waits) : json_null());
	bad |= sl_json_set(object, "tail_total_ns", cell->files ? sl_json_ns(cell->tail.total_ns) : json_null());
	bad |= sl_json_set(object, "causes", causes);
	return checked(object, bad);
}

static json_t *json_group(const struct sl_diff *diff, const struct sl_diff_group *group)
{
	const struct sl_group *key = &group->key;
	json_t *object = json_object(), *sides = json_array();
	unsigned int s;
	int bad = 0;

	for (s = 0; s < diff->params.nr_sides; s++)
		bad |= sl_json_append(sides, json_cell(diff, group, s));
	bad |= sl_json_set(object, "kind", sl_json_text(sl_wait_kind_name(key->kind)));
	bad |= sl_json_set(object, "comm", sl_json_text(key->comm));
	bad |= sl_json_set(object, "tid", sl_json_id(key->tid));
	bad |= sl_json_set(object, "tgid", sl_json_id(key->tgid));
	bad |= sl_json_set(object, "cgroup", sl_json_text(key->cgroup));
	bad |= sl_json_set(object, "class", sl_json_text(key->sched_class == SL_CLASS_UNKNOWN ? NULL :
							sl_class_name(key->sched_class)));
	bad |= sl_json_set(object, "sides", sides);
	return checked(object, bad);
}

static const char *by_name(enum sl_by by)
{
	static const char *const names[SL_BY_NR] = {
		[SL_BY_TID] = "tid", [SL_BY_COMM] = "comm", [SL_BY_TGID] = "tgid",
		[SL_BY_CGROUP] = "cgroup", [SL_BY_CLASS] = "class", [SL_BY_ALL] = "all",
	};

	return names[by];
}

static int member(struct sl_out *out, const char *before, const char *key, json_t *value)
{
	fprintf(out->file, "%s\"%s\": ", before, key);
	return sl_json_print(out, value);
}

int sl_out_diff_json(struct sl_out *out, const struct sl_diff *diff)
{
	unsigned int i;
	int ret;

	ret = member(out, "{", "schema", sl_json_text("schedlat.diff/1"));
	ret = ret ? ret : member(out, ",\n ", "tool", sl_json_tool());
	ret = ret ? ret : member(out, ",\n ", "definition", sl_json_definition(diff->sides[0].reports[0]));
	ret = ret ? ret : member(out, ",\n ", "by", sl_json_text(by_name(diff->params.report.by)));
	ret = ret ? ret : member(out, ",\n ", "tail", json_real(diff->params.tail));
	fputs(",\n \"sides\": [", out->file);
	for (i = 0; i < diff->params.nr_sides && !ret; i++) {
		fputs(i ? ",\n  " : "\n  ", out->file);
		ret = sl_json_print(out, json_side(diff, i));
	}
	fputs("\n ],\n \"groups\": [", out->file);
	for (i = 0; i < diff->nr_groups && !ret; i++) {
		fputs(i ? ",\n  " : "\n  ", out->file);
		ret = sl_json_print(out, json_group(diff, &diff->groups[i]));
	}
	fputs("\n ]}\n", out->file);
	return ret;
}
