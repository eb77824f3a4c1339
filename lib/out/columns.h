/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Columns: each defined once, in columns.def.
 */
#ifndef SL_OUT_COLUMNS_H
#define SL_OUT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedlat/report.h"
#include "util/err.h"

enum sl_column_set { SL_SET_GROUP, SL_SET_CAUSE, SL_SET_WAIT, SL_SET_BUCKET, SL_SET_THREAD, SL_SET_DIFF,
		     SL_SET_NR };

enum sl_cell_type { SL_CELL_TEXT, SL_CELL_COUNT, SL_CELL_ID, SL_CELL_INT, SL_CELL_NS, SL_CELL_SEC,
		    SL_CELL_SHARE };

/* One value of one row. */
struct sl_cell {
	enum sl_cell_type type;
	bool known;			/* false: null in JSON, empty in CSV, "-" in text */
	const char *text;		/* TEXT, not escaped yet */
	uint64_t value;			/* all others; an ID is not negative when known, an INT may be */
	char buf[96];			/* room for a text that is composed */
};

struct sl_column {
	const char *name, *key, *head;
	enum sl_column_set set;
	enum sl_cell_type type;
	const char *doc;
	void (*get)(const void *row, struct sl_cell *ret_cell);
};

/* Row types: GROUP struct sl_group, WAIT struct sl_wait, and these. */
struct sl_cause_row {
	const struct sl_why_cause *cause;
	uint64_t permille;
};
struct sl_bucket_row {
	const struct sl_group *group;
	uint64_t lo_ns, hi_ns, count;
};

struct sl_slice_thread;
struct sl_slice_row {
	const struct sl_slice_thread *thread;
	uint64_t base_ns;		/* slice of threads that never set one; 0: unknown */
	uint64_t former_ns;		/* before it was set now; 0: it was not, or had none */
	const char *outcome;		/* of setting it; NULL: only shown */
	const char *reason;		/* why it was not set; NULL or "": it was */
};

/* Threads have a slice of their own, or that of everybody; NULL: not known. */
const char *sl_out_slice_set(const struct sl_slice_row *row);
const char *sl_out_slice_mark(const struct sl_slice_row *row);	/* "short", "long" or NULL */

extern const struct sl_column sl_columns[];	/* in the order of columns.def */
extern const unsigned int sl_columns_nr;

const char *sl_column_set_name(enum sl_column_set set);	/* "group" ... */
const char *sl_cell_type_unit(enum sl_cell_type type);	/* "ns", "" */

/* By name or key; NULL when the set has no such column. */
const struct sl_column *sl_column_find(enum sl_column_set set, const char *name);

#define SL_COLUMNS_MAX 32

struct sl_column_list {
	const struct sl_column *columns[SL_COLUMNS_MAX];
	unsigned int nr;
};

/* "p50,max" -> columns of a set. SL_EUSAGE, naming the valid ones, for an unknown name. */
int sl_column_list_parse(enum sl_column_set set, const char *text,
			 struct sl_column_list *ret_list, struct sl_err *err);
/* All columns of a set. */
void sl_column_list_all(enum sl_column_set set, struct sl_column_list *ret_list);

/*
 * Sort row pointers by keys: numbers largest first, text ascending, unknown
 * last; equal rows keep their order.
 */
void sl_rows_sort(const void **rows, unsigned int nr, const struct sl_column_list *keys);

/* What several outputs say about a wait. */
const char *sl_out_family_name(enum sl_cause_family family);
/* Time of a cause that nobody explained: unknown confidence, lost data, an undetermined choice. */
uint64_t sl_out_unexplained(const struct sl_why_cause *cause);
uint64_t sl_out_wait_path(const struct sl_wait *wait);		/* SL_TIME_NONE: unknown */
uint64_t sl_out_wait_queue(const struct sl_wait *wait);
enum sl_cause sl_out_held_cause(const struct sl_wait *wait);	/* most ns; NONE: no time at all */
const char *sl_out_held_by(const struct sl_wait *wait);		/* its id or NULL */
uint64_t sl_out_held_ns(const struct sl_wait *wait);
/* Who ran longest during the cause that held it most; NULL when nobody is known. */
const char *sl_out_occupant(const struct sl_wait *wait, char *buf, size_t size, int32_t *ret_tid);
int32_t sl_out_occupant_tid(const struct sl_wait *wait);
/* "lost-events|open-at-end"; NULL when none. */
const char *sl_out_taints(unsigned int taints, char *buf, size_t size, const char *separator);

#endif
