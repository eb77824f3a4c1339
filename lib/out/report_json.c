// SPDX-License-Identifier: LGPL-2.1-only
/*
 * schedlat.report/1. The document is one JSON object; each group, cause and
 * wait is on a line of its own, so that grep and line tools work on it too.
 * Keys are only ever added to the schema, never removed or given a new meaning.
 */
#include "event/event.h"
#include "out/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "out/json.h"
#include "stats/stats.h"
#include "util/time.h"

static json_t *checked(json_t *value, int bad)
{
	if (!bad)
		return value;
	json_decref(value);
	return NULL;
}

json_t *sl_json_tool(void)
{
	json_t *tool = json_object(), *libs = json_object();
	const char *name, *version;
	unsigned int i;
	int bad = 0;

	for (i = 0; (name = sl_out_library(i, &version)); i++)
		bad |= sl_json_set(libs, name, sl_json_text(version));
	bad |= sl_json_set(tool, "version", sl_json_text(sl_out_version()));
	bad |= sl_json_set(tool, "libs", libs);
	return checked(tool, bad);
}

/* What the recording can tell: the tracepoints it describes, then what its metadata adds. */
static json_t *json_capabilities(const struct sl_report *report)
{
	const char *extra = NULL;
	json_t *array = json_array();
	unsigned int kind, i;
	int bad = 0;

	for (kind = 0; kind < SL_EV_NR; kind++)
		if (kind != SL_EV_LOST && report->info->has_kind[kind])
			bad |= sl_json_append(array, sl_json_text(sl_event_kind_name(kind)));
	if (report->info->has_irq_flags)
		bad |= sl_json_append(array, sl_json_text("common_flags"));
	for (i = 0; i < report->nr_meta && !extra; i++)
		if (!strcmp(report->meta[i].key, "capabilities"))
			extra = report->meta[i].value;
	while (extra && *extra) {
		size_t len = strcspn(extra, ", ");
		char word[128];

		if (len && len < sizeof(word)) {
			memcpy(word, extra, len);
			word[len] = '\0';
			bad |= sl_json_append(array, sl_json_text(word));
		}
		extra += len + (extra[len] != '\0');
	}
	return checked(array, bad);
}

static json_t *json_meta(const struct sl_report *report)
{
	json_t *object = json_object();
	unsigned int i;
	int bad = 0;

	for (i = 0; i < report->nr_meta; i++) {
		char key[512];

		sl_fmt_escape(key, sizeof(key), report->meta[i].key, true);
		bad |= sl_json_set(object, key, sl_json_text(report->meta[i].value));
	}
	return checked(object, bad);
}

static json_t *json_skipped(const struct sl_source_skips *skips)
{
	json_t *object = json_object();
	int bad = 0;

	bad |= sl_json_set(object, "unknown_events", sl_json_ns(skips->unknown_events));
	bad |= sl_json_set(object, "unbound_events", sl_json_ns(skips->unbound_events));
	bad |= sl_json_set(object, "bad_records", sl_json_ns(skips->bad_records));
	bad |= sl_json_set(object, "bad_pages", sl_json_ns(skips->bad_pages));
	bad |= sl_json_set(object, "bad_cpu", sl_json_ns(skips->bad_cpu));
	bad |= sl_json_set(object, "backwards", sl_json_ns(skips->backwards));
	bad |= sl_json_set(object, "truncated_bytes", sl_json_ns(skips->truncated_bytes));
	return checked(object, bad);
}

static json_t *json_input(const struct sl_report *report)
{
	const struct sl_source_info *info = report->info;
	bool known_clock = info->clock && strcmp(info->clock, "unknown");
	json_t *input = json_object();
	int bad = 0;

	bad |= sl_json_set(input, "file", sl_json_text(info->path));
	bad |= sl_json_set(input, "format", sl_json_text(info->format));
	bad |= sl_json_set(input, "compression", sl_json_text(info->compression));
	bad |= sl_json_set(input, "clock", sl_json_text(known_clock ? info->clock : NULL));
	bad |= sl_json_set(input, "clock_is_per_cpu", json_boolean(info->clock_is_per_cpu));
	bad |= sl_json_set(input, "events", sl_json_ns(info->events));
	bad |= sl_json_set(input, "bytes", sl_json_ns(info->bytes));
	bad |= sl_json_set(input, "t_start_ns", sl_json_ns(report->t_start_ns));
	bad |= sl_json_set(input, "t_end_ns", sl_json_ns(report->t_end_ns));
	bad |= sl_json_set(input, "cpus", json_integer(info->nr_cpus));
	bad |= sl_json_set(input, "kernel", sl_json_text(info->kernel));
	bad |= sl_json_set(input, "backend", sl_json_text(report->backend));
	bad |= sl_json_set(input, "capabilities", json_capabilities(report));
	bad |= sl_json_set(input, "meta", json_meta(report));
	bad |= sl_json_set(input, "skipped", json_skipped(&info->skipped));
	return checked(input, bad);
}

json_t *sl_json_definition(const struct sl_report *report)
{
	unsigned int waits = report->params.waits ? report->params.waits : 1u << SL_WAIT_WAKE, kind;
	json_t *object = json_object(), *kinds = json_array();
	int bad = 0;

	for (kind = 0; kind < SL_WAIT_NR; kind++)
		if (waits & (1u << kind))
			bad |= sl_json_append(kinds, sl_json_text(sl_wait_kind_name(kind)));
	bad |= sl_json_set(object, "from",
			   sl_json_text(report->params.from == SL_FROM_WAKEUP ? "wakeup" : "waking"));
	bad |= sl_json_set(object, "waits", kinds);
	return checked(object, bad);
}

static json_t *json_gaps(const struct sl_report *report)
{
	json_t *gaps = json_array();
	unsigned int i;
	int bad = 0;

	for (i = 0; i < report->nr_gaps; i++) {
		const struct sl_gap *gap = &report->gaps[i];
		json_t *object = json_object();

		bad |= sl_json_set(object, "cpu", json_integer(gap->cpu));
		bad |= sl_json_set(object, "from_ns", sl_json_ns(gap->from_ns));
		bad |= sl_json_set(object, "until_ns", sl_json_ns(gap->until_ns));
		bad |= sl_json_set(object, "count",
				   gap->count == UINT64_MAX ? json_null() : sl_json_ns(gap->count));
		bad |= sl_json_append(gaps, object);
	}
	return checked(gaps, bad);
}

static json_t *json_loss(const struct sl_report *report)
{
	json_t *loss = json_object(), *per_cpu = json_array();
	unsigned int i;
	int bad = 0;

	for (i = 0; i < report->info->nr_cpus; i++) {
		const struct sl_source_cpu *cpu = &report->info->cpus[i];
		json_t *object = json_object();

		bad |= sl_json_set(object, "cpu", json_integer(cpu->cpu));
		bad |= sl_json_set(object, "lost", sl_json_ns(cpu->lost_events));
		bad |= sl_json_set(object, "gaps", sl_json_ns(cpu->lost_gaps));
		bad |= sl_json_set(object, "unknown_gaps", sl_json_ns(cpu->lost_unknown_gaps));
		bad |= sl_json_append(per_cpu, object);
	}
	bad |= sl_json_set(loss, "total", sl_json_ns(report->lost_events));
	bad |= sl_json_set(loss, "gaps", sl_json_ns(report->lost_gaps));
	bad |= sl_json_set(loss, "unknown_gaps", sl_json_ns(report->lost_unknown_gaps));
	bad |= sl_json_set(loss, "tainted_longest_ns", sl_json_ns(report->tainted_longest_ns));
	bad |= sl_json_set(loss, "recorder_total", sl_json_ns(report->recorder_lost_events));
	bad |= sl_json_set(loss, "per_cpu", per_cpu);
	bad |= sl_json_set(loss, "ranges", json_gaps(report));
	return checked(loss, bad);
}

static json_t *json_counters(const struct sl_report *report)
{
	json_t *counters = json_object(), *discarded = json_object();
	unsigned int i;
	int bad = 0;

	for (i = 0; i < SL_DISCARD_NR; i++)
		bad |= sl_json_set(discarded, sl_discard_name(i), sl_json_ns(report->discarded[i]));
	bad |= sl_json_set(counters, "wakeups", sl_json_ns(report->wakeups));
	bad |= sl_json_set(counters, "samples", sl_json_ns(report->samples));
	bad |= sl_json_set(counters, "discarded", discarded);
	bad |= sl_json_set(counters, "switch_mismatches", sl_json_ns(report->switch_mismatches));
	bad |= sl_json_set(counters, "preempt_discarded",
			   sl_json_ns(report->other_discarded[SL_WAIT_PREEMPT]));
	bad |= sl_json_set(counters, "fork_discarded",
			   sl_json_ns(report->other_discarded[SL_WAIT_FORK]));
	bad |= sl_json_set(counters, "preempt_waits", sl_json_ns(report->preempt_waits));
	bad |= sl_json_set(counters, "fork_waits", sl_json_ns(report->fork_waits));
	return checked(counters, bad);
}

static json_t *json_percentiles(const struct sl_report *report)
{
	json_t *object = json_object();
	int bad = 0;

	bad |= sl_json_set(object, "exact", json_boolean(report->percentiles_exact));
	bad |= sl_json_set(object, "max_relative_error",
			   json_real(report->percentiles_exact ? 0.0 : report->histogram_error));
	return checked(object, bad);
}

static void add_range(void *arg, uint64_t lo_ns, uint64_t hi_ns, uint64_t count)
{
	json_t *range = json_object();
	int bad = 0;

	bad |= sl_json_set(range, "lo_ns", sl_json_ns(lo_ns));
	bad |= sl_json_set(range, "hi_ns", sl_json_ns(hi_ns));
	bad |= sl_json_set(range, "count", sl_json_ns(count));
	if (bad)
		json_decref(range);
	else
		sl_json_append(arg, range);
}

/* null unless asked for: it would be most of the document. */
static json_t *json_histogram(const struct sl_group *group, bool wanted)
{
	json_t *array;

	if (!wanted || !group->stats)
		return json_null();
	array = json_array();
	if (array)
		sl_stats_each_octave(group->stats, add_range, array);
	return array;
}

static json_t *json_group(const struct sl_group *group, bool histogram)
{
	json_t *object = json_object();
	unsigned int i;
	int bad = 0;

	for (i = 0; i < sl_columns_nr; i++) {
		struct sl_cell cell;

		if (sl_columns[i].set != SL_SET_GROUP)
			continue;
		sl_columns[i].get(group, &cell);
		bad |= sl_json_set(object, sl_columns[i].key, sl_json_cell(&cell));
	}
	bad |= sl_json_set(object, "histogram", json_histogram(group, histogram));
	return checked(object, bad);
}

static json_t *json_cause(const struct sl_why_cause *cause, uint64_t total_ns)
{
	const struct sl_cause_desc *desc = &sl_cause_descs[cause->cause];
	json_t *object = json_object(), *confidence = json_object();
	unsigned int i;
	int bad = 0;

	for (i = 0; i < SL_CONF_NR; i++)
		bad |= sl_json_set(confidence, sl_confidence_name(i),
				   sl_json_ns(cause->confidence_ns[i]));
	bad |= sl_json_set(object, "id", sl_json_text(desc->id));
	bad |= sl_json_set(object, "family", sl_json_text(sl_out_family_name(desc->family)));
	bad |= sl_json_set(object, "ns", sl_json_ns(cause->ns));
	bad |= sl_json_set(object, "share",
			   json_real(total_ns ? (double)cause->ns / (double)total_ns : 0.0));
	bad |= sl_json_set(object, "count", sl_json_ns(cause->count));
	bad |= sl_json_set(object, "primary", sl_json_ns(cause->primary));
	bad |= sl_json_set(object, "confidence", confidence);
	return checked(object, bad);
}

static json_t *json_occupant(const struct sl_occupant *occupant)
{
	json_t *object = json_object();
	int bad = 0;

	bad |= sl_json_set(object, "comm", sl_json_text(occupant->comm));
	bad |= sl_json_set(object, "ns", sl_json_ns(occupant->ns));
	bad |= sl_json_set(object, "count", sl_json_ns(occupant->count));
	return checked(object, bad);
}

static json_t *json_not_assessable(unsigned int cause)
{
	json_t *object = json_object();
	int bad = 0;

	bad |= sl_json_set(object, "id", sl_json_text(sl_cause_descs[cause].id));
	bad |= sl_json_set(object, "needs", sl_json_text(sl_cause_descs[cause].needs));
	return checked(object, bad);
}

/* `"key": value`, behind a comma unless it is the first of its object. */
static int member(struct sl_out *out, const char *before, const char *key, json_t *value)
{
	fprintf(out->file, "%s\"%s\": ", before, key);
	return sl_json_print(out, value);
}

struct list {
	struct sl_out *out;
	const char *indent;
	bool any;
};

static void list_open(struct list *list, struct sl_out *out, const char *before, const char *key,
		      const char *indent)
{
	*list = (struct list){ out, indent, false };
	fprintf(out->file, "%s\"%s\": [", before, key);
}

static void list_next(struct list *list)
{
	fprintf(list->out->file, "%s\n%s", list->any ? "," : "", list->indent);
	list->any = true;
}

static int list_item(struct list *list, json_t *value)
{
	list_next(list);
	return sl_json_print(list->out, value);
}

static int list_wait(struct list *list, const struct sl_wait *wait)
{
	list_next(list);
	return sl_json_print_wait(list->out, wait);
}

static void list_close(struct list *list)
{
	if (list->any)
		fprintf(list->out->file, "\n%.*s", (int)strlen(list->indent) - 1, list->indent);
	putc(']', list->out->file);
}

static int print_groups(struct sl_out *out, const struct sl_report *report,
			const struct sl_out_view *view)
{
	const void **rows = calloc(report->nr_groups + 1, sizeof(*rows));
	struct list list;
	unsigned int i;
	int ret = 0;

	if (!rows)
		return -ENOMEM;
	for (i = 0; i < report->nr_groups; i++)
		rows[i] = &report->groups[i];
	sl_rows_sort(rows, report->nr_groups, &view->sort);
	list_open(&list, out, ",\n ", "groups", "  ");
	for (i = 0; i < report->nr_groups && !ret; i++)
		ret = list_item(&list, json_group(rows[i], view->histogram));
	list_close(&list);
	free(rows);
	return ret;
}

static uint64_t unexplained_ns(const struct sl_why *why)
{
	uint64_t ns = 0;
	unsigned int i;

	for (i = 0; i < why->nr_causes; i++)
		ns += sl_out_unexplained(&why->causes[i]);
	return ns;
}

static int print_why(struct sl_out *out, const struct sl_report *report)
{
	const struct sl_why_spec *spec = &report->params.why;
	const struct sl_why *why = &report->why;
	struct list list;
	unsigned int i;
	int ret;

	if (spec->mode == SL_WHY_NONE)
		return member(out, ",\n ", "why", json_null());
	fputs(",\n \"why\": {", out->file);
	ret = member(out, "", "quantile",
		     spec->mode == SL_WHY_QUANTILE ? json_real(spec->quantile) : json_null());
	ret = ret ? ret : member(out, ", ", "label", sl_json_text(spec->label));
	ret = ret ? ret : member(out, ", ", "threshold_ns", sl_json_ns(why->threshold_ns));
	ret = ret ? ret : member(out, ", ", "selected", sl_json_ns(why->selected));
	ret = ret ? ret : member(out, ", ", "fell_back", json_boolean(why->fell_back));
	ret = ret ? ret : member(out, ",\n  ", "count", sl_json_ns(why->count));
	ret = ret ? ret : member(out, ", ", "total_ns", sl_json_ns(why->total_ns));
	ret = ret ? ret : member(out, ", ", "unexplained_ns", sl_json_ns(unexplained_ns(why)));
	ret = ret ? ret : member(out, ", ", "tainted", sl_json_ns(why->tainted));

	list_open(&list, out, ",\n  ", "causes", "   ");
	for (i = 0; i < why->nr_causes && !ret; i++)
		ret = list_item(&list, json_cause(&why->causes[i], why->total_ns));
	list_close(&list);
	list_open(&list, out, ",\n  ", "occupants", "   ");
	for (i = 0; i < why->nr_occupants && !ret; i++)
		ret = list_item(&list, json_occupant(&why->occupants[i]));
	list_close(&list);
	list_open(&list, out, ",\n  ", "waits", "   ");
	for (i = 0; i < why->nr_waits && !ret && !ferror(out->file); i++)
		ret = list_wait(&list, &why->waits[i]);
	list_close(&list);
	list_open(&list, out, ",\n  ", "not_assessable", "   ");
	for (i = 0; i < SL_CAUSE_NR && !ret; i++)
		if (report->not_assessable[i])
			ret = list_item(&list, json_not_assessable(i));
	list_close(&list);
	putc('}', out->file);
	return ret;
}

int sl_out_report_json(struct sl_out *out, const struct sl_report *report,
		       const struct sl_out_view *view)
{
	int ret;

	ret = member(out, "{", "schema", sl_json_text("schedlat.report/1"));
	ret = ret ? ret : member(out, ",\n ", "tool", sl_json_tool());
	ret = ret ? ret : member(out, ",\n ", "input", json_input(report));
	ret = ret ? ret : member(out, ",\n ", "flight", json_boolean(report->flight));
	ret = ret ? ret : member(out, ",\n ", "recorded_above_ns",
				 report->recorded_above_ns ? sl_json_ns(report->recorded_above_ns) : json_null());
	ret = ret ? ret : member(out, ",\n ", "definition", sl_json_definition(report));
	ret = ret ? ret : member(out, ",\n ", "loss", json_loss(report));
	ret = ret ? ret : member(out, ",\n ", "counters", json_counters(report));
	ret = ret ? ret : member(out, ",\n ", "percentiles", json_percentiles(report));
	ret = ret ? ret : print_groups(out, report, view);
	ret = ret ? ret : print_why(out, report);
	fputs("}\n", out->file);
	return ret;
}
