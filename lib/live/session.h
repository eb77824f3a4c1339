/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The state of one recording, shared by record.c (the run) and assemble.c (the
 * file). Nothing else includes this.
 */
#ifndef SL_LIVE_SESSION_H
#define SL_LIVE_SESSION_H

#include "live/flight.h"
#include "live/instance.h"
#include "live/record.h"
#include "live/tasks.h"
#include "live/text.h"

struct sl_session {
	const struct sl_record_params *params;
	struct sl_record_result *result;
	struct sl_instance instance;
	int *fds;			/* [instance.nr_cpus] unlinked temporary files */
	uint64_t *bytes;		/* in each */
	int reserve_fd;			/* space that is given back before assembling */
	struct sl_instance_stats *stats; /* [instance.nr_cpus] */
	char **formats;			/* [sl_event_descs_nr] */
	struct sl_kv_list meta, end_meta;
	struct sl_task_list start_tasks, end_tasks;
	struct sl_cgroup_list start_cgroups, end_cgroups;
	uint64_t start_ns, stop_ns, end_ns;	/* instance clock; end: metadata of the end */
	struct sl_flight *flight;	/* NULL: everything is kept */
	struct sl_flight_stats flight_stats;
};

/* Temporary files, in the directory of the output. */
int sl_session_open_files(struct sl_session *s, struct sl_err *err);
/* Write the output. The instance may be gone: formats, cpus and headers are copies. */
int sl_session_assemble(struct sl_session *s, struct sl_err *err);
void sl_session_close_files(struct sl_session *s);

#endif
