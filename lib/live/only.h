/* SPDX-License-Identifier: LGPL-2.1-only */
/* What `record --only` says: which wakees the BPF programs let through. */
#ifndef SL_LIVE_ONLY_H
#define SL_LIVE_ONLY_H

#include "live/bpf/load.h"
#include "util/err.h"

/* Zero-initialised: everything is recorded. */
struct sl_only {
	struct sl_bpf_only filter;	/* its arrays are those below */
	char *text;			/* as it was written, several joined by ';'; NULL: no filter */
	int *tgids, *tids;
	char **comms;
	uint64_t *cgroups;
};

/*
 * Add short[:TIME], pid:ID[,ID...], comm:NAME (* at its ends) or cgroup:PATH. Of the
 * same kind several widen, of different kinds they narrow. SL_EUSAGE: malformed;
 * -ESRCH, -ENOENT: there is no such task or group.
 */
int sl_only_add(struct sl_only *only, const char *spec, struct sl_err *err);
void sl_only_clear(struct sl_only *only);

#endif
