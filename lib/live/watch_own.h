/* SPDX-License-Identifier: LGPL-2.1-only */
/* The insides of a watch, for its own files. */
#ifndef SL_LIVE_WATCH_OWN_H
#define SL_LIVE_WATCH_OWN_H

#include "live/session.h"
#include "live/watch.h"

/* How a backend keeps the latest part. */
struct sl_watch_ops {
	int (*open)(struct sl_watch *w, struct sl_err *err);
	int (*start)(struct sl_watch *w, struct sl_err *err);
	int (*take)(struct sl_watch *w, int *ret_ms, struct sl_err *err);
	/* 1: something came. What is kept now stays until the next look. */
	int (*look)(struct sl_watch *w, struct sl_watch_counts *counts, struct sl_err *err);
	/* What is kept to session.fds, which are empty; sets session.bytes. */
	int (*compose)(struct sl_watch *w, struct sl_err *err);
	void (*close)(struct sl_watch *w);
};

extern const struct sl_watch_ops sl_watch_bpf, sl_watch_tracefs;

struct sl_watch {
	struct sl_watch_params params;
	struct sl_record_params record;	/* what the session sees of it */
	struct sl_record_result result;
	struct sl_session session;
	const struct sl_watch_ops *ops;
	void *state;			/* of ops; NULL: not open */
	char why[1024];
	char path[64];			/* of the file in memory */
	int file_fd;
	bool started;

	struct sl_bpf_hist *counted;	/* tracefs: [nr_counted], the first is unused */
	unsigned int nr_counted, room_counted;

	uint64_t scanned_ns;		/* when the tasks were scanned last */
	uint8_t known[65536 / 8];	/* tids that were there, by their low 16 bits */
	bool strangers;			/* a tid that was not came up since */
};

/* A wait of this thread is about to be kept. */
static inline void sl_watch_saw(struct sl_watch *w, int tid)
{
	const unsigned int bit = tid & 0xffff;

	if (!(w->known[bit / 8] >> bit % 8 & 1))
		w->strangers = true;
}

#endif
