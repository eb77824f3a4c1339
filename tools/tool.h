/* SPDX-License-Identifier: GPL-2.0-only */
/* What the commands share: one error line, a progress line, and an honest end of stdout. */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include "out/out.h"
#include "util/err.h"

/* "schedlat CMD: message" on stderr; returns the exit status of code. */
int sl_tool_fail(const char *cmd, int code, const struct sl_err *err);

/* Standard output as this terminal and locale take it. */
struct sl_out sl_tool_stdout(void);

/*
 * Flush and close stdout. A write that failed (disk full) is an error even if
 * everything else went well: the reader would take half a report for a whole
 * one. A pipe that the reader closed is not worth a message.
 */
int sl_tool_finish(const char *cmd, int status);

/* A line on stderr, only on a terminal and only once the work has taken two seconds. */
struct sl_progress {
	bool wanted, shown;
	double start_s;
	unsigned int last_permille;
};
void sl_progress_start(struct sl_progress *progress, bool quiet);
void sl_progress_update(struct sl_progress *progress, unsigned int permille);
void sl_progress_end(struct sl_progress *progress);	/* erases the line */

#endif
