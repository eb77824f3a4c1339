// SPDX-License-Identifier: LGPL-2.1-only
#include "out/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "util/time.h"

json_t *sl_json_text(const char *text)
{
	char small[256], *buf = small;
	json_t *value;
	size_t size;

	if (!text || !*text)
		return json_null();
	size = strlen(text) * 4 + 5;
	if (size > sizeof(small))
		buf = malloc(size);
	else
		size = sizeof(small);
	value = buf ? json_string(sl_fmt_escape(buf, size, text, true)) : NULL;
	if (buf != small)
		free(buf);
	return value;
}

json_t *sl_json_ns(uint64_t ns)
{
	return ns == SL_TIME_NONE ? json_null() : json_integer((json_int_t)ns);
}

json_t *sl_json_id(int64_t id)
{
	return id < 0 ? json_null() : json_integer(id);
}

json_t *sl_json_cell(const struct sl_cell *cell)
{
	if (!cell->known)
		return json_null();
	if (cell->type == SL_CELL_TEXT)
		return sl_json_text(cell->text);
	return json_integer((json_int_t)cell->value);
}

int sl_json_set(json_t *object, const char *key, json_t *value)
{
	if (!object) {
		json_decref(value);
		return -1;
	}
	return json_object_set_new(object, key, value);
}

int sl_json_append(json_t *array, json_t *value)
{
	if (!array) {
		json_decref(value);
		return -1;
	}
	return json_array_append_new(array, value);
}

int sl_json_print(struct sl_out *out, json_t *value)
{
	int ret;

	if (!value)
		return -ENOMEM;
	/* A failed write also lands here; ferror() tells the caller which it was. */
	ret = json_dumpf(value, out->file, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
	json_decref(value);
	return ret && !ferror(out->file) ? -ENOMEM : 0;
}

static json_t *json_waker(const struct sl_wait *wait)
{
	json_t *waker = json_object();
	int bad = 0;

	bad |= sl_json_set(waker, "tid", sl_json_id(wait->waker_tid));
	bad |= sl_json_set(waker, "comm", sl_json_text(wait->waker_tid < 0 ? NULL : wait->waker_comm));
	bad |= sl_json_set(waker, "context",
			   sl_json_text(wait->waker_context == SL_WAKER_UNKNOWN ? NULL :
					sl_waker_context_name(wait->waker_context)));
	bad |= sl_json_set(waker, "cpu", sl_json_id(wait->waker_cpu));
	if (!bad)
		return waker;
	json_decref(waker);
	return NULL;
}

static json_t *json_primary(const struct sl_wait *wait)
{
	bool known = wait->primary < SL_CAUSE_NR;
	json_t *primary = json_object();
	int bad = 0;

	bad |= sl_json_set(primary, "id", sl_json_text(known ? sl_cause_descs[wait->primary].id : NULL));
	bad |= sl_json_set(primary, "ns", sl_json_ns(known ? wait->primary_ns : SL_TIME_NONE));
	bad |= sl_json_set(primary, "confidence",
			   sl_json_text(known ? sl_confidence_name(wait->primary_confidence) : NULL));
	if (!bad)
		return primary;
	json_decref(primary);
	return NULL;
}

/* A name as a JSON string: what sl_fmt_escape() leaves still has quotes and backslashes. */
static void print_name(FILE *file, const char *name)
{
	char text[4 * SL_COMM_LEN + 1];
	const char *p;

	if (!*name) {
		fputs("null", file);
		return;
	}
	putc('"', file);
	for (p = sl_fmt_escape(text, sizeof(text), name, true); *p; p++) {
		if (*p == '"' || *p == '\\')
			putc('\\', file);
		putc(*p, file);
	}
	putc('"', file);
}

static void print_id(FILE *file, const char *before, int64_t id)
{
	if (id < 0)
		fprintf(file, "%snull", before);
	else
		fprintf(file, "%s%" PRId64, before, id);
}

static void print_value(FILE *file, const char *before, int64_t value)
{
	if (value == SL_NO_VALUE)
		fprintf(file, "%snull", before);
	else
		fprintf(file, "%s%" PRId64, before, value);
}

/* What the scheduler compared; null where no snapshot tells. */
static void print_decision(FILE *file, const struct sl_fair_decision *d)
{
	if (d->at == SL_DECIDED_NOWHERE) {
		fputs("null", file);
		return;
	}
	fprintf(file, "{\"at\": \"%s\", \"ts_ns\": %" PRIu64, sl_decided_at_name(d->at), d->ns);
	print_id(file, ", \"level\": ", d->level);
	print_value(file, ", \"group\": ", d->group ? d->group : SL_NO_VALUE);
	if (d->below == SL_CAUSE_NONE)
		fputs(", \"below\": null", file);
	else
		fprintf(file, ", \"below\": \"%s\"", sl_cause_descs[d->below].id);
	print_id(file, ", \"rival\": {\"tid\": ", d->rival_tid);
	fputs(", \"comm\": ", file);
	print_name(file, d->rival_comm);
	print_value(file, "}, \"by_ns\": ", d->by_ns);
	print_value(file, ", \"lag_ns\": ", d->lag_ns);
	print_value(file, ", \"deadline_behind_ns\": ", d->deadline_behind_ns);
	print_value(file, ", \"protected_ns\": ", d->protected_ns);
	print_value(file, ", \"slice_ns\": ", d->slice_ns);
	print_value(file, ", \"rival_slice_ns\": ", d->rival_slice_ns);
	print_value(file, ", \"overrun_ns\": ", d->overrun_ns);
	putc('}', file);
}

/*
 * By hand: a recording has many more segments than anything else, and building
 * objects for each took most of the time of a report with every wait in it.
 */
static void print_segment(FILE *file, const struct sl_segment *seg)
{
	const struct sl_cause_desc *desc = &sl_cause_descs[seg->cause];

	fprintf(file, "{\"kind\": \"%s\"", sl_segment_kind_name(seg));
	print_id(file, ", \"cpu\": ", seg->cpu);
	fprintf(file, ", \"start_ns\": %" PRIu64 ", \"ns\": %" PRIu64, seg->start_ns, seg->ns);
	print_id(file, ", \"occupant\": {\"tid\": ", seg->occupant_tid);
	fputs(", \"comm\": ", file);
	print_name(file, seg->occupant_comm);
	if (desc->family == SL_FAMILY_FAIR)
		fprintf(file, "}, \"reason\": \"%s\"", desc->id);
	else
		fputs("}, \"reason\": null", file);
	fprintf(file, ", \"confidence\": \"%s\", \"evidence\": [", sl_confidence_name(seg->confidence));
	if (seg->evidence_event) {
		fprintf(file, "{\"event\": \"%s\", \"ts_ns\": ", seg->evidence_event);
		if (seg->evidence_ns == SL_TIME_NONE)
			fputs("null", file);
		else
			fprintf(file, "%" PRIu64, seg->evidence_ns);
		print_id(file, ", \"cpu\": ", seg->evidence_cpu);
		putc('}', file);
	}
	fputs("], \"decision\": ", file);
	print_decision(file, &seg->decision);
	putc('}', file);
}

static json_t *json_taints(unsigned int taints)
{
	json_t *array = json_array();
	unsigned int i;
	int bad = 0;

	for (i = 0; i < SL_TAINT_NR; i++)
		if (taints & (1u << i))
			bad |= sl_json_append(array, sl_json_text(sl_taint_name(1u << i)));
	if (!bad)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *json_place_causes(const struct sl_wait *wait)
{
	json_t *array = json_array();
	unsigned int i;
	int bad = 0;

	for (i = SL_CAUSE_HOLD_NR; i < SL_CAUSE_NR; i++)
		if (wait->place_causes & (1u << (i - SL_CAUSE_HOLD_NR)))
			bad |= sl_json_append(array, sl_json_text(sl_cause_descs[i].id));
	if (!bad)
		return array;
	json_decref(array);
	return NULL;
}

/* null when segments were not asked for, an empty list when there is no time to split. */
static void print_segments(FILE *file, const struct sl_wait *wait)
{
	unsigned int i;

	if (!wait->segments && wait->delay_ns) {
		fputs("null", file);
		return;
	}
	putc('[', file);
	for (i = 0; i < wait->nr_segments; i++) {
		if (i)
			fputs(", ", file);
		print_segment(file, &wait->segments[i]);
	}
	putc(']', file);
}

static json_t *json_cost(uint64_t cost)
{
	return cost > INT64_MAX ? json_null() : json_integer((json_int_t)cost);
}

/* null where the kernel does not tell. */
static json_t *json_selection(const struct sl_selection *s)
{
	json_t *object;
	int bad = 0;

	if (!s->told)
		return json_null();
	object = json_object();
	bad |= sl_json_set(object, "path", sl_json_text(s->path));
	bad |= sl_json_set(object, "why", sl_json_text(s->why));
	bad |= sl_json_set(object, "cpu", sl_json_id(s->cpu));
	bad |= sl_json_set(object, "target_cpu", sl_json_id(s->target_cpu));
	bad |= sl_json_set(object, "affine", s->affine < 0 ? json_null() : json_boolean(s->affine));
	bad |= sl_json_set(object, "scanned", sl_json_id(s->scanned));
	bad |= sl_json_set(object, "scan_limit", sl_json_id(s->scan_limit));
	if (!bad)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *json_energy(const struct sl_energy *en)
{
	json_t *object;
	int bad = 0;

	if (!en->told)
		return json_null();
	object = json_object();
	bad |= sl_json_set(object, "why", sl_json_text(en->why));
	bad |= sl_json_set(object, "cpu", sl_json_id(en->cpu));
	bad |= sl_json_set(object, "cost", json_cost(en->cost));
	bad |= sl_json_set(object, "next_cpu", sl_json_id(en->next_cpu));
	bad |= sl_json_set(object, "next_cost", json_cost(en->next_cost));
	bad |= sl_json_set(object, "prev_cpu", sl_json_id(en->prev_cpu));
	bad |= sl_json_set(object, "prev_cost", json_cost(en->prev_cost));
	if (!bad)
		return object;
	json_decref(object);
	return NULL;
}

/* Signed ns that may be unknown. */
static json_t *json_value(int64_t value)
{
	return value == SL_NO_VALUE ? json_null() : json_integer(value);
}

static json_t *json_slices(const struct sl_slices *s)
{
	json_t *object;
	int bad = 0;

	if (!s->told)
		return json_null();
	object = json_object();
	bad |= sl_json_set(object, "site", sl_json_text(s->site));
	bad |= sl_json_set(object, "target_cpu", sl_json_id(s->target_cpu));
	bad |= sl_json_set(object, "cpu", sl_json_id(s->cpu));
	bad |= sl_json_set(object, "other_cpu", sl_json_id(s->other_cpu));
	bad |= sl_json_set(object, "candidates", json_integer(s->candidates));
	bad |= sl_json_set(object, "slice_ns", json_value(s->slice_ns));
	bad |= sl_json_set(object, "min_slice_ns", json_value(s->min_slice_ns));
	bad |= sl_json_set(object, "other_min_slice_ns", json_value(s->other_min_slice_ns));
	if (!bad)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *json_push(const struct sl_push *p)
{
	json_t *object;
	int bad = 0;

	if (!p->told)
		return json_null();
	object = json_object();
	bad |= sl_json_set(object, "tries", json_integer(p->tries));
	bad |= sl_json_set(object, "trigger", sl_json_text(p->trigger));
	bad |= sl_json_set(object, "result", sl_json_text(p->result));
	bad |= sl_json_set(object, "cpu", sl_json_id(p->cpu));
	bad |= sl_json_set(object, "dest_cpu", sl_json_id(p->dest_cpu));
	if (!bad)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *json_wait(const struct sl_wait *wait)
{
	json_t *object = json_object();
	int bad = 0;

	bad |= sl_json_set(object, "tid", sl_json_id(wait->tid));
	bad |= sl_json_set(object, "tgid", sl_json_id(wait->tgid));
	bad |= sl_json_set(object, "comm", sl_json_text(wait->comm));
	bad |= sl_json_set(object, "class",
			   sl_json_text(wait->sched_class == SL_CLASS_UNKNOWN ? NULL :
					sl_class_name(wait->sched_class)));
	bad |= sl_json_set(object, "kind", sl_json_text(sl_wait_kind_name(wait->kind)));
	bad |= sl_json_set(object, "waking_ns", sl_json_ns(wait->waking_ns));
	bad |= sl_json_set(object, "wakeup_ns", sl_json_ns(wait->wakeup_ns));
	bad |= sl_json_set(object, "start_ns", sl_json_ns(wait->start_ns));
	bad |= sl_json_set(object, "run_ns", sl_json_ns(wait->run_ns));
	bad |= sl_json_set(object, "delay_ns", sl_json_ns(wait->delay_ns));
	bad |= sl_json_set(object, "waker", json_waker(wait));
	bad |= sl_json_set(object, "prev_cpu", sl_json_id(wait->prev_cpu));
	bad |= sl_json_set(object, "wake_cpu", sl_json_id(wait->wake_cpu));
	bad |= sl_json_set(object, "run_cpu", sl_json_id(wait->run_cpu));
	bad |= sl_json_set(object, "migrations", json_integer(wait->migrations));
	bad |= sl_json_set(object, "primary", json_primary(wait));
	bad |= sl_json_set(object, "avoidable_ns", sl_json_ns(wait->avoidable_ns));
	bad |= sl_json_set(object, "avoidable_cpu", sl_json_id(wait->avoidable_cpu));
	bad |= sl_json_set(object, "avoidable_relation",
			   sl_json_text(sl_cpu_relation_name(wait->avoidable_relation)));
	bad |= sl_json_set(object, "avoidable_capacity", sl_json_id(wait->avoidable_capacity));
	bad |= sl_json_set(object, "wake_capacity", sl_json_id(wait->wake_capacity));
	bad |= sl_json_set(object, "forbidden_ns", sl_json_ns(wait->forbidden_ns));
	bad |= sl_json_set(object, "forbidden_cpu", sl_json_id(wait->forbidden_cpu));
	bad |= sl_json_set(object, "selection", json_selection(&wait->selection));
	bad |= sl_json_set(object, "energy", json_energy(&wait->energy));
	bad |= sl_json_set(object, "slices", json_slices(&wait->slices));
	bad |= sl_json_set(object, "push", json_push(&wait->push));
	bad |= sl_json_set(object, "place_causes", json_place_causes(wait));
	bad |= sl_json_set(object, "place_confidence",
			   sl_json_text(wait->place_causes ?
					sl_confidence_name(wait->place_confidence) : NULL));
	bad |= sl_json_set(object, "sleep_lag_ns", json_value(wait->sleep_lag_ns));
	bad |= sl_json_set(object, "wake_lag_ns", json_value(wait->wake_lag_ns));
	bad |= sl_json_set(object, "was_delayed",
			   wait->was_delayed < 0 ? json_null() : json_boolean(wait->was_delayed));
	bad |= sl_json_set(object, "lag_origin", sl_json_text(wait->lag_origin));
	bad |= sl_json_set(object, "decayed_lag_ns", json_value(wait->decayed_lag_ns));
	bad |= sl_json_set(object, "throttled_group", sl_json_text(wait->throttled_group));
	bad |= sl_json_set(object, "taints", json_taints(wait->taints));
	if (!bad)
		return object;
	json_decref(object);
	return NULL;
}

int sl_json_print_wait(struct sl_out *out, const struct sl_wait *wait)
{
	json_t *object = json_wait(wait);
	int ret;

	if (!object)
		return -ENOMEM;
	putc('{', out->file);
	ret = json_dumpf(object, out->file, JSON_EMBED);
	json_decref(object);
	fputs(", \"segments\": ", out->file);
	print_segments(out->file, wait);
	putc('}', out->file);
	return ret && !ferror(out->file) ? -ENOMEM : 0;
}

int sl_out_timehist_json_line(struct sl_out *out, const struct sl_wait *wait)
{
	int ret = sl_json_print_wait(out, wait);

	putc('\n', out->file);
	return ret;
}
