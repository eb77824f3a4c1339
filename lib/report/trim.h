/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A small copy of a recording: what is needed to explain a few waits, and nothing else.
 *
 * Around each wait a window is kept on every CPU. On each CPU it begins where the analysis
 * knows who runs there: at the last switch before, with the snapshots that belong to it. It
 * goes on until the first event behind the wait, so that nothing between is left open. What
 * lies between windows is marked as a gap of 0 events, since nothing was lost; the metadata say
 * that the file is a copy ("trimmed.windows", "trimmed.lost"), and the analysis then shows
 * no wait that a window cuts.
 *
 * Records are copied as they are. Metadata and tasks come along whole.
 */
#ifndef SL_REPORT_TRIM_H
#define SL_REPORT_TRIM_H

#include "report/redact.h"
#include "schedlat/report.h"

#define SL_TRIM_WINDOWS_MAX 64

struct sl_trim_window {
	int32_t tid;
	uint64_t start_ns, end_ns;	/* of the wait */
	uint64_t lead_ns;		/* so much before it, on every CPU */
	bool since_sleep;		/* on the CPU where it went to sleep, since then */
	bool history;			/* its birth, and its latest turn on each CPU (that it may run there) */
};

struct sl_trim_params {
	const char *input, *output;
	const struct sl_trim_window *windows;
	unsigned int nr_windows;
	uint64_t most_bytes;		/* of events before compression: give up above; 0: no limit */
	struct sl_redact *redact;	/* NULL: names stay */
};

struct sl_trim_result {
	uint64_t events;		/* records copied */
	uint64_t bytes;			/* size of the file */
	unsigned int windows;		/* that are apart on some CPU */
};

/*
 * 0; -EFBIG when it becomes larger than allowed (there is no output then); SL_EUNSUPP when
 * this kind of recording cannot be copied (a text trace, another byte order or word size, no
 * header_page); other errors as of reading and writing.
 */
int sl_trim(const struct sl_trim_params *params, struct sl_trim_result *ret, struct sl_err *err);

#endif
