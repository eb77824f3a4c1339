/* SPDX-License-Identifier: LGPL-2.1-only */
/* Lines of CSV over any column set; see csv.c for the dialect. */
#ifndef SL_OUT_CSV_H
#define SL_OUT_CSV_H

#include "out/out.h"

/* One field, quoted where it must be; the text is escaped already. */
void sl_csv_text(struct sl_out *out, const char *text, const char *separator);
/* The cells alone, and with the end of the line. */
void sl_csv_head_cells(struct sl_out *out, const struct sl_column_list *columns,
		       const char *separator);
void sl_csv_cells(struct sl_out *out, const struct sl_column_list *columns, const void *row,
		  const char *separator);
void sl_csv_head(struct sl_out *out, const struct sl_column_list *columns, const char *separator);
void sl_csv_row(struct sl_out *out, const struct sl_column_list *columns, const void *row,
		const char *separator);

#endif
