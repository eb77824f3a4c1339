/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What this machine lets a recorder see. Makes an instance and loads the BPF
 * programs for a moment where it may, to know that it can; changes nothing else.
 */
#ifndef SL_LIVE_PROBE_H
#define SL_LIVE_PROBE_H

#include "event/event.h"
#include "live/bpf/load.h"
#include "live/tracefs.h"

enum sl_probe_answer { SL_PROBE_UNKNOWN, SL_PROBE_NO, SL_PROBE_YES };

/* Files of /proc, /sys and debugfs that only add to what a recording can tell. */
struct sl_probe_extra {
	const char *name;		/* "sched_features" */
	const char *path;
	const char *use;		/* what it is good for */
	int error;			/* 0: readable; else the errno */
};
#define SL_PROBE_EXTRAS 7

/* The bpf backend. */
struct sl_probe_bpf {
	bool can_record;
	char why[1024];			/* why not; "" when it can */
	struct sl_bpf_caps caps;	/* with can_record */
	struct sl_bpf_probe *probes;	/* [nr_probes] */
	size_t nr_probes;
};

struct sl_probe {
	struct sl_tracefs tracefs;
	bool can_record;
	char why[1024];			/* why not; "" when it can */
	char clock[32];			/* the one that record would use; "" unknown */
	enum sl_probe_answer *events;	/* [sl_event_descs_nr] */
	bool has_cpu_cgroups;		/* the cpu controller is mounted: throttling can be told */
	bool sched_ext;			/* a BPF scheduler is loaded */
	struct sl_probe_extra extras[SL_PROBE_EXTRAS];
	struct sl_probe_bpf bpf;
};

int sl_probe_run(struct sl_probe *ret_probe, struct sl_err *err);
void sl_probe_clear(struct sl_probe *probe);

#endif
