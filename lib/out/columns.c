// SPDX-License-Identifier: LGPL-2.1-only
#include "out/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/slice_scan.h"
#include "out/diff.h"
#include "stats/stats.h"
#include "util/time.h"

/* A group without samples has no shortest or median wait. */
static uint64_t value_of(const struct sl_group *group, uint64_t ns)
{
	return group->count ? ns : SL_TIME_NONE;
}

static int64_t change_of(const struct sl_diff_line *line)
{
	int64_t permille;

	return sl_diff_line_change(line, &permille) ? permille : INT64_MIN;
}

static uint64_t cause_waits(const struct sl_diff_line *line, unsigned int side)
{
	return line->row < SL_DIFF_ROWS ? SL_TIME_NONE :
	       sl_diff_per_1000_milli(line->diff, line->group, side, line->cause);
}

static const char *p_of(const struct sl_diff_line *line, char *buf, size_t size)
{
	double p = sl_diff_line_p(line);

	if (isnan(p))
		return NULL;
	snprintf(buf, size, "%.6f", p);
	return buf;
}

/* Setters: one per type, so that columns.def needs only the value. */
static void set_TEXT(struct sl_cell *cell, const char *text)
{
	cell->known = text && *text;
	cell->text = cell->known ? text : "";
}

static void set_NS(struct sl_cell *cell, uint64_t value)
{
	cell->known = value != SL_TIME_NONE;
	cell->value = value;
}

static void set_COUNT(struct sl_cell *cell, uint64_t value)
{
	set_NS(cell, value);
}

static void set_SEC(struct sl_cell *cell, uint64_t value)
{
	set_NS(cell, value);
}

static void set_SHARE(struct sl_cell *cell, uint64_t value)
{
	set_NS(cell, value);
}

static void set_ID(struct sl_cell *cell, int64_t value)
{
	cell->known = value >= 0;
	cell->value = cell->known ? (uint64_t)value : 0;
}

static void set_INT(struct sl_cell *cell, int64_t value)
{
	cell->known = value != INT64_MIN;
	cell->value = (uint64_t)value;
}

#define ROW_GROUP struct sl_group
#define ROW_CAUSE struct sl_cause_row
#define ROW_WAIT struct sl_wait
#define ROW_BUCKET struct sl_bucket_row
#define ROW_THREAD struct sl_slice_row
#define ROW_DIFF struct sl_diff_line

#define SL_COLUMN(SET, id, name, key, head, TYPE, doc, expr)				\
	static void get_##SET##_##id(const void *data, struct sl_cell *cell)		\
	{										\
		const ROW_##SET *row = data;						\
											\
		cell->type = SL_CELL_##TYPE;						\
		set_##TYPE(cell, expr);							\
	}
#include "out/columns.def"

#define SL_COLUMN(SET, id, name, key, head, TYPE, doc, expr)				\
	{ name, key, head, SL_SET_##SET, SL_CELL_##TYPE, doc, get_##SET##_##id },
const struct sl_column sl_columns[] = {
#include "out/columns.def"
#include "util/err.h"
};
const unsigned int sl_columns_nr = sizeof(sl_columns) / sizeof(sl_columns[0]);

const char *sl_column_set_name(enum sl_column_set set)
{
	switch (set) {
	case SL_SET_GROUP: return "group";
	case SL_SET_CAUSE: return "cause";
	case SL_SET_WAIT: return "wait";
	case SL_SET_BUCKET: return "bucket";
	case SL_SET_THREAD: return "thread";
	case SL_SET_DIFF: return "diff";
	case SL_SET_NR: break;
	}
	return "?";
}

const char *sl_cell_type_unit(enum sl_cell_type type)
{
	switch (type) {
	case SL_CELL_NS:
	case SL_CELL_SEC: return "ns";
	case SL_CELL_SHARE: return "0.1 %";
	case SL_CELL_TEXT:
	case SL_CELL_COUNT:
	case SL_CELL_ID:
	case SL_CELL_INT: break;
	}
	return "";
}

const struct sl_column *sl_column_find(enum sl_column_set set, const char *name)
{
	unsigned int i;

	for (i = 0; i < sl_columns_nr; i++)
		if (sl_columns[i].set == set &&
		    (!strcmp(sl_columns[i].name, name) || !strcmp(sl_columns[i].key, name)))
			return &sl_columns[i];
	return NULL;
}

static int unknown_column(enum sl_column_set set, const char *name, struct sl_err *err)
{
	char valid[512] = "";
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < sl_columns_nr; i++)
		if (sl_columns[i].set == set && used < sizeof(valid))
			used += (size_t)snprintf(valid + used, sizeof(valid) - used, " %s",
						 sl_columns[i].name);
	return sl_err_set(err, SL_EUSAGE, "'%.64s' is no column here; valid:%s", name, valid);
}

int sl_column_list_parse(enum sl_column_set set, const char *text,
			 struct sl_column_list *ret_list, struct sl_err *err)
{
	struct sl_column_list list = { .nr = 0 };
	const char *p = text;

	for (;;) {
		size_t len = strcspn(p, ",");
		char name[128];
		const struct sl_column *column;

		snprintf(name, sizeof(name), "%.*s", len < 127 ? (int)len : 127, p);
		column = sl_column_find(set, name);
		if (!column)
			return unknown_column(set, name, err);
		if (list.nr == SL_COLUMNS_MAX)
			return sl_err_set(err, SL_EUSAGE, "more than %d columns", SL_COLUMNS_MAX);
		list.columns[list.nr++] = column;
		if (!p[len])
			break;
		p += len + 1;
	}
	*ret_list = list;
	return 0;
}

void sl_column_list_all(enum sl_column_set set, struct sl_column_list *ret_list)
{
	unsigned int i;

	ret_list->nr = 0;
	for (i = 0; i < sl_columns_nr && ret_list->nr < SL_COLUMNS_MAX; i++)
		if (sl_columns[i].set == set)
			ret_list->columns[ret_list->nr++] = &sl_columns[i];
}

static int compare_cells(const struct sl_cell *a, const struct sl_cell *b)
{
	if (a->known != b->known)
		return a->known ? -1 : 1;
	if (!a->known)
		return 0;
	if (a->type == SL_CELL_TEXT)
		return strcmp(a->text, b->text);
	/* Ids and nice values read best ascending; everything else largest first. */
	if (a->type == SL_CELL_ID)
		return (a->value > b->value) - (a->value < b->value);
	if (a->type == SL_CELL_INT)
		return ((int64_t)a->value > (int64_t)b->value) - ((int64_t)a->value < (int64_t)b->value);
	return (a->value < b->value) - (a->value > b->value);
}

struct sort_entry {
	const void *row;
	unsigned int index;
};

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct sort_entry *left = a, *right = b;
	const struct sl_column_list *keys = arg;
	unsigned int i;

	for (i = 0; i < keys->nr; i++) {
		struct sl_cell x, y;
		int order;

		keys->columns[i]->get(left->row, &x);
		keys->columns[i]->get(right->row, &y);
		order = compare_cells(&x, &y);
		if (order)
			return order;
	}
	return (left->index > right->index) - (left->index < right->index);
}

void sl_rows_sort(const void **rows, unsigned int nr, const struct sl_column_list *keys)
{
	struct sort_entry *entries = nr && keys->nr ? malloc(nr * sizeof(*entries)) : NULL;
	unsigned int i;

	/* Out of memory: the rows stay in their own order, which is a valid one. */
	if (!entries)
		return;
	for (i = 0; i < nr; i++)
		entries[i] = (struct sort_entry){ rows[i], i };
	qsort_r(entries, nr, sizeof(*entries), compare_rows, (void *)keys);
	for (i = 0; i < nr; i++)
		rows[i] = entries[i].row;
	free(entries);
}

const char *sl_out_family_name(enum sl_cause_family family)
{
	switch (family) {
	case SL_FAMILY_HOLD: return "hold";
	case SL_FAMILY_FAIR: return "fair";
	case SL_FAMILY_PLACE: return "place";
	}
	return "?";
}

const char *sl_out_slice_set(const struct sl_slice_row *row)
{
	const struct sl_slice_thread *thread = row->thread;

	if (!thread->attr.slice_ns || !row->base_ns)
		return NULL;
	if (thread->attr.slice_ns == row->base_ns)
		return "default";
	/*
	 * Threads of the kernel made before the base slice was scaled by the number of CPUs
	 * (sched_init_granularity(), 6.18), and not queued since, still show the earlier value.
	 */
	return thread->kernel ? NULL : "custom";
}

const char *sl_out_slice_mark(const struct sl_slice_row *row)
{
	uint64_t slice_ns = row->thread->attr.slice_ns;

	if (!slice_ns || !row->base_ns || slice_ns == row->base_ns)
		return NULL;
	return slice_ns < row->base_ns ? "short" : "long";
}

uint64_t sl_out_unexplained(const struct sl_why_cause *cause)
{
	if (sl_cause_descs[cause->cause].family == SL_FAMILY_PLACE)
		return 0;	/* lies across the time of the others */
	if (cause->cause == SL_CAUSE_FAIR_UNDETERMINED || cause->cause == SL_CAUSE_LOST_DATA)
		return cause->ns;
	return cause->confidence_ns[SL_CONF_UNKNOWN];
}

uint64_t sl_out_wait_path(const struct sl_wait *wait)
{
	uint64_t ns;

	if (wait->waking_ns == SL_WAIT_NO_TIME || wait->wakeup_ns == SL_WAIT_NO_TIME ||
	    !sl_delta(wait->wakeup_ns, wait->waking_ns, &ns))
		return SL_TIME_NONE;
	return ns;
}

uint64_t sl_out_wait_queue(const struct sl_wait *wait)
{
	/* A preempted task has been queued since it was switched out. */
	uint64_t from = wait->kind == SL_WAIT_PREEMPT ? wait->start_ns : wait->wakeup_ns;
	uint64_t ns;

	if (from == SL_WAIT_NO_TIME || wait->run_ns == SL_WAIT_NO_TIME ||
	    !sl_delta(wait->run_ns, from, &ns))
		return SL_TIME_NONE;
	return ns;
}

enum sl_cause sl_out_held_cause(const struct sl_wait *wait)
{
	enum sl_cause best = SL_CAUSE_NONE;
	uint64_t best_ns = 0;
	unsigned int i;

	for (i = 0; i < SL_CAUSE_HOLD_NR; i++) {
		if (wait->cause_ns[i] > best_ns) {
			best_ns = wait->cause_ns[i];
			best = i;
		}
	}
	return best;
}

const char *sl_out_held_by(const struct sl_wait *wait)
{
	enum sl_cause cause = sl_out_held_cause(wait);

	return cause == SL_CAUSE_NONE ? NULL : sl_cause_descs[cause].id;
}

uint64_t sl_out_held_ns(const struct sl_wait *wait)
{
	enum sl_cause cause = sl_out_held_cause(wait);

	return cause == SL_CAUSE_NONE ? SL_TIME_NONE : wait->cause_ns[cause];
}

#define OCCUPANTS 64	/* distinct threads that are told apart; those met later do not count */

const char *sl_out_occupant(const struct sl_wait *wait, char *buf, size_t size, int32_t *ret_tid)
{
	struct { const struct sl_segment *seg; uint64_t ns; } slots[OCCUPANTS] = { { NULL, 0 } };
	enum sl_cause cause = sl_out_held_cause(wait);
	unsigned int i, best = OCCUPANTS;

	for (i = 0; i < wait->nr_segments; i++) {
		const struct sl_segment *seg = &wait->segments[i];
		unsigned int at, probes;

		if (seg->cause != cause || seg->occupant_tid < 0)
			continue;
		at = (unsigned int)seg->occupant_tid % OCCUPANTS;
		for (probes = 0; probes < OCCUPANTS; probes++, at = (at + 1) % OCCUPANTS)
			if (!slots[at].seg || slots[at].seg->occupant_tid == seg->occupant_tid)
				break;
		if (probes == OCCUPANTS)
			continue;
		if (!slots[at].seg)
			slots[at].seg = seg;
		slots[at].ns += seg->ns;
	}
	for (i = 0; i < OCCUPANTS; i++) {
		if (!slots[i].ns || (best < OCCUPANTS && (slots[i].ns < slots[best].ns ||
		    (slots[i].ns == slots[best].ns && slots[i].seg > slots[best].seg))))
			continue;
		best = i;
	}
	if (best == OCCUPANTS)
		return NULL;
	if (ret_tid)
		*ret_tid = slots[best].seg->occupant_tid;
	snprintf(buf, size, "%s", slots[best].seg->occupant_comm);
	return buf;
}

int32_t sl_out_occupant_tid(const struct sl_wait *wait)
{
	char buf[SL_COMM_LEN];
	int32_t tid = -1;

	sl_out_occupant(wait, buf, sizeof(buf), &tid);
	return tid;
}

const char *sl_out_taints(unsigned int taints, char *buf, size_t size, const char *separator)
{
	size_t used = 0;
	unsigned int i;

	buf[0] = '\0';
	for (i = 0; i < SL_TAINT_NR; i++)
		if (taints & (1u << i) && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s",
						 used ? separator : "", sl_taint_name(1u << i));
	return used ? buf : NULL;
}
