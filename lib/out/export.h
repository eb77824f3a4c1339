/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The waits of a recording for other programs: a viewer, a browser, a flame graph, a
 * spreadsheet, a script. A format takes the waits one by one, in the order they end,
 * and is finished by the report that they came with; one without `wait` only takes the
 * report, and of the waits those that it lists.
 *
 * Life cycle: begin -> wait, ... -> finish -> end. Memory is bounded by what the output
 * names (tasks, CPUs), not by the number of waits. Whether writing worked is the
 * caller's to ask of out->file.
 */
#ifndef SL_OUT_EXPORT_H
#define SL_OUT_EXPORT_H

#include "out/out.h"
#include "util/err.h"

struct sl_exporter {
	const char *name;		/* what --format takes */
	const char *doc;
	bool binary;			/* nothing for a terminal */
	/* State of the export in *ret_state, the caller's to end. 0 or -ENOMEM. */
	int (*begin)(struct sl_out *out, const struct sl_out_view *view, void **ret_state);
	/* A wait with its segments, not folded. 0 or -ENOMEM. NULL: the format takes none. */
	int (*wait)(void *state, const struct sl_wait *wait);
	/* 0, or the code of what failed (err says what). */
	int (*finish)(void *state, const struct sl_report *report, struct sl_err *err);
	void (*end)(void *state);	/* NULL is fine */
};

extern const struct sl_exporter sl_export_perfetto, sl_export_html, sl_export_folded, sl_export_csv,
	sl_export_jsonl;

/* The i-th format; NULL behind the last. */
const struct sl_exporter *sl_exporter_at(unsigned int i);
/* By name; SL_EUSAGE, naming the valid ones. */
int sl_exporter_find(const char *name, const struct sl_exporter **ret_exporter, struct sl_err *err);

#endif
