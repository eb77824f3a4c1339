/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A mail to those who maintain the scheduler: one recording in plain ASCII, at most
 * SL_MAIL_WIDTH columns. What it says of the machine is what the recording says, never
 * what this machine is; what is not recorded is n/a.
 */
#ifndef SL_OUT_BUGREPORT_H
#define SL_OUT_BUGREPORT_H

#include "out/out.h"

#define SL_MAIL_WIDTH 76
#define SL_MAIL_WAITS 3		/* told instant by instant */

/* The trace that goes with the mail. */
struct sl_bugreport_trace {
	const char *file;		/* NULL: there is none, see why_not */
	const char *why_not;
	uint64_t bytes, events, whole_bytes;
	unsigned int windows;
	bool redacted;
	uint64_t why_ns;		/* `report --why=` this shows the waits of the mail */
	bool same[SL_MAIL_WAITS];	/* it explains that wait exactly as the whole recording does */
};

/*
 * The first nr_waits of report->why.waits that `shown` points to are told in full, with `trace` what
 * goes with them. The report is by comm, and has --why. 0 or -ENOMEM.
 */
int sl_out_bugreport(struct sl_out *out, const struct sl_report *report, const struct sl_wait *const *shown,
		     unsigned int nr_waits, const struct sl_bugreport_trace *trace);

#endif
