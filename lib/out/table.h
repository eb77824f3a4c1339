/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A text table: cells are collected, then printed in columns that fit.
 *
 * Columns are as wide as their content. When a line would be too long, the
 * left-aligned columns (names) are cut, widest first, down to 8. Running out of
 * memory is remembered and reported by sl_table_print().
 */
#ifndef SL_OUT_TABLE_H
#define SL_OUT_TABLE_H

#include "out/out.h"

struct sl_table;

enum sl_align { SL_LEFT, SL_RIGHT };

struct sl_table *sl_table_new(void);		/* NULL: out of memory */
void sl_table_wide(struct sl_table *table);	/* cut nothing, however long a line gets */
void sl_table_free(struct sl_table *table);	/* NULL is fine */

/* Before the first row. An empty heading is fine. */
void sl_table_column(struct sl_table *table, enum sl_align align, const char *head);
void sl_table_row(struct sl_table *table);
/* The next cell of the row; the text is escaped already. */
void sl_table_cell(struct sl_table *table, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A rule before the next row. */
void sl_table_rule(struct sl_table *table);

/* Headings (unless all are empty) and rows, each line indented. 0 or -ENOMEM. */
int sl_table_print(struct sl_table *table, struct sl_out *out, unsigned int indent);

/* One value as the text outputs show it; NS in `unit`. Returns buf. */
struct sl_fmt_unit;
char *sl_table_value(char *buf, size_t size, const struct sl_cell *cell,
		     const struct sl_fmt_unit *unit, bool utf8);

/* Words of `text` on lines of at most the output's width, continued with `hang` blanks. */
void sl_out_wrap(struct sl_out *out, unsigned int indent, unsigned int hang, const char *text);

/* A heading line of a section, bold where colour is allowed. */
void sl_out_title(struct sl_out *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
