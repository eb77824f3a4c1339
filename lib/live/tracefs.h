/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Where tracefs is, and whether this process may use it. Never mounts anything.
 */
#ifndef SL_LIVE_TRACEFS_H
#define SL_LIVE_TRACEFS_H

#include <stdbool.h>

#include "util/err.h"

enum sl_tracefs_state {
	SL_TRACEFS_USABLE,
	SL_TRACEFS_NOT_MOUNTED,
	SL_TRACEFS_NO_ACCESS,		/* EACCES or EPERM */
	SL_TRACEFS_EMPTY,		/* mounted, but without content */
	SL_TRACEFS_READ_ONLY,
	SL_TRACEFS_NO_INSTANCES,	/* the kernel has no instances directory */
	SL_TRACEFS_NR
};

struct sl_tracefs {
	enum sl_tracefs_state state;
	char dir[256];			/* "" when not mounted */
	char why[900];			/* one line: what is missing and what to do; "" when usable */
};

/* Fill *ret_tracefs from /proc/self/mountinfo and the directory's rights. */
void sl_tracefs_probe(struct sl_tracefs *ret_tracefs);
/*
 * Probe, and tell libtracefs the place. An error has the text of `why` and the
 * code that fits: -EACCES, -ENOENT, -EROFS, -EOPNOTSUPP.
 */
int sl_tracefs_use(struct sl_tracefs *ret_tracefs, struct sl_err *err);

/* Recording through tracefs is possible, and the kernel has the events of kernel-patches/tracepoints. */
bool sl_tracefs_tells_decisions(void);

#endif
