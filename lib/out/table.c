// SPDX-License-Identifier: LGPL-2.1-only
#include "out/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "util/time.h"

#define NAME_MIN 8	/* a name is not cut below this */

struct table_row {
	char *cells[SL_COLUMNS_MAX];
	unsigned int nr;
	bool rule;		/* a rule comes before it */
};

struct sl_table {
	struct {
		enum sl_align align;
		char *head;
		unsigned int width;
	} columns[SL_COLUMNS_MAX];
	unsigned int nr_columns;
	struct table_row *rows;
	size_t nr_rows, cap_rows;
	bool rule_next;
	unsigned int gap;	/* blanks between columns: 2, or 1 where it must be tight */
	bool no_memory;
	bool wide;
};

struct sl_table *sl_table_new(void)
{
	return calloc(1, sizeof(struct sl_table));
}

void sl_table_wide(struct sl_table *table)
{
	table->wide = true;
}

void sl_table_free(struct sl_table *table)
{
	unsigned int i;
	size_t r;

	if (!table)
		return;
	for (r = 0; r < table->nr_rows; r++)
		for (i = 0; i < table->rows[r].nr; i++)
			free(table->rows[r].cells[i]);
	for (i = 0; i < table->nr_columns; i++)
		free(table->columns[i].head);
	free(table->rows);
	free(table);
}

void sl_table_column(struct sl_table *table, enum sl_align align, const char *head)
{
	if (table->nr_columns == SL_COLUMNS_MAX)
		return;
	table->columns[table->nr_columns].align = align;
	table->columns[table->nr_columns].head = strdup(head);
	if (!table->columns[table->nr_columns].head)
		table->no_memory = true;
	table->nr_columns++;
}

void sl_table_row(struct sl_table *table)
{
	if (table->nr_rows == table->cap_rows) {
		size_t cap = table->cap_rows ? table->cap_rows * 2 : 16;
		struct table_row *rows = realloc(table->rows, cap * sizeof(*rows));

		if (!rows) {
			table->no_memory = true;
			return;
		}
		table->rows = rows;
		table->cap_rows = cap;
	}
	table->rows[table->nr_rows++] = (struct table_row){ .rule = table->rule_next };
	table->rule_next = false;
}

void sl_table_cell(struct sl_table *table, const char *fmt, ...)
{
	struct table_row *row = table->nr_rows ? &table->rows[table->nr_rows - 1] : NULL;
	va_list ap;

	if (!row || table->no_memory || row->nr == table->nr_columns)
		return;
	va_start(ap, fmt);
	if (vasprintf(&row->cells[row->nr], fmt, ap) < 0)
		table->no_memory = true;
	else
		row->nr++;
	va_end(ap);
}

void sl_table_rule(struct sl_table *table)
{
	table->rule_next = true;
}

static unsigned int line_width(const struct sl_table *table)
{
	unsigned int total = 0, i;

	for (i = 0; i < table->nr_columns; i++)
		total += table->columns[i].width + (i ? table->gap : 0);
	return total;
}

static void fit(struct sl_table *table, unsigned int indent, unsigned int room_all)
{
	for (;;) {
		unsigned int total = indent + line_width(table), widest = NAME_MIN, widest_i = 0;
		unsigned int excess, room, i;

		if (total <= room_all)
			return;
		for (i = 0; i < table->nr_columns; i++) {
			if (table->columns[i].align == SL_LEFT && table->columns[i].width > widest) {
				widest = table->columns[i].width;
				widest_i = i;
			}
		}
		if (widest == NAME_MIN) {
			table->gap = 1;
			return;
		}
		excess = total - room_all;
		room = widest - NAME_MIN;
		table->columns[widest_i].width -= excess < room ? excess : room;
	}
}

static void measure(struct sl_table *table, unsigned int indent, unsigned int width_max)
{
	unsigned int i;
	size_t r;

	table->gap = 2;
	for (i = 0; i < table->nr_columns; i++) {
		table->columns[i].width = sl_fmt_width(table->columns[i].head);
		for (r = 0; r < table->nr_rows; r++) {
			unsigned int width = i < table->rows[r].nr ?
					     sl_fmt_width(table->rows[r].cells[i]) : 0;

			if (width > table->columns[i].width)
				table->columns[i].width = width;
		}
	}
	if (!table->wide)
		fit(table, indent, width_max);
}

static void pad(FILE *file, unsigned int n)
{
	while (n--)
		putc(' ', file);
}

/* Trailing blanks are not printed: they only get in the way of quoting a report in a mail. */
static void print_line(struct sl_table *table, struct sl_out *out, unsigned int indent,
		       char *const *cells, unsigned int nr)
{
	unsigned int i, owed = indent;

	for (i = 0; i < nr; i++) {
		unsigned int column = table->columns[i].width, width;

		if (i)
			owed += table->gap;
		if (table->columns[i].align == SL_LEFT)
			sl_fmt_cut(cells[i], column);
		width = sl_fmt_width(cells[i]);
		if (table->columns[i].align == SL_RIGHT && width < column)
			owed += column - width;
		if (width) {
			pad(out->file, owed);
			fputs(cells[i], out->file);
			owed = 0;
		}
		if (table->columns[i].align == SL_LEFT && width < column)
			owed += column - width;
	}
	putc('\n', out->file);
}

int sl_table_print(struct sl_table *table, struct sl_out *out, unsigned int indent)
{
	char *heads[SL_COLUMNS_MAX];
	unsigned int i;
	bool have_head = false;
	size_t r;

	if (table->no_memory)
		return -ENOMEM;
	measure(table, indent, sl_out_width(out));
	for (i = 0; i < table->nr_columns; i++) {
		heads[i] = table->columns[i].head;
		have_head |= *heads[i] != '\0';
	}
	if (have_head)
		print_line(table, out, indent, heads, table->nr_columns);
	for (r = 0; r < table->nr_rows; r++) {
		if (table->rows[r].rule) {
			pad(out->file, indent);
			for (i = 0; i < line_width(table); i++)
				putc('-', out->file);
			putc('\n', out->file);
		}
		print_line(table, out, indent, table->rows[r].cells, table->rows[r].nr);
	}
	return 0;
}

char *sl_table_value(char *buf, size_t size, const struct sl_cell *cell,
		     const struct sl_fmt_unit *unit, bool utf8)
{
	if (!cell->known) {
		snprintf(buf, size, "-");
		return buf;
	}
	switch (cell->type) {
	case SL_CELL_TEXT:
		return sl_fmt_escape(buf, size, cell->text, utf8);
	case SL_CELL_COUNT:
	case SL_CELL_ID:
		snprintf(buf, size, "%" PRIu64, cell->value);
		return buf;
	case SL_CELL_INT:
		snprintf(buf, size, "%" PRId64, (int64_t)cell->value);
		return buf;
	case SL_CELL_NS:
		return sl_fmt_scaled(buf, size, cell->value, unit->scale, unit->decimals);
	case SL_CELL_SEC:
		return sl_time_fmt_sec(buf, size, cell->value, 6);
	case SL_CELL_SHARE:
		return sl_fmt_percent(buf, size, (unsigned int)cell->value);
	}
	return buf;
}

void sl_out_wrap(struct sl_out *out, unsigned int indent, unsigned int hang, const char *text)
{
	unsigned int at = indent, most = sl_out_width(out);
	bool line_start = true;

	pad(out->file, indent);
	while (*text) {
		unsigned int blanks = (unsigned int)strspn(text, " "), width;
		size_t len;
		char *word;

		text += blanks;
		len = strcspn(text, " ");
		word = strndup(text, len);
		if (!word)
			return;
		width = sl_fmt_width(word);
		if (!line_start && at + blanks + width > most &&
		    (hang + width <= most || at + blanks >= most)) {
			putc('\n', out->file);
			pad(out->file, hang);
			at = hang;
			blanks = 0;
		}
		/* Longer than a whole line: what does not fit becomes the next word, on the next one. */
		if (at + blanks + width > most) {
			len = sl_fmt_prefix(word, most - at - blanks);
			word[len] = '\0';
			width = sl_fmt_width(word);
		}
		pad(out->file, blanks);
		fputs(word, out->file);
		free(word);
		text += len;
		at += blanks + width;
		line_start = false;
	}
	putc('\n', out->file);
}

void sl_out_title(struct sl_out *out, const char *fmt, ...)
{
	va_list ap;

	if (out->colour)
		fputs("\033[1m", out->file);
	va_start(ap, fmt);
	vfprintf(out->file, fmt, ap);
	va_end(ap);
	fputs(out->colour ? "\033[0m\n" : "\n", out->file);
}
