/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Give the selected threads a slice, and later take it back.
 *
 * New threads inherit the slice of the one that makes them, and a program may
 * make threads faster than they are listed. So the list is read again until
 * nothing new is in it, at most SL_SLICE_ROUNDS times.
 */
#ifndef SL_LIVE_SLICE_CHANGE_H
#define SL_LIVE_SLICE_CHANGE_H

#include "live/slice_scan.h"

#define SL_SLICE_ROUNDS 20

struct sl_slice_done {
	struct sl_slice_thread thread;	/* as it was before */
	struct sl_slice_attr after;
	enum sl_slice_outcome outcome;
	int error;
	bool inherited;		/* had it already when it was first seen, after others got it */
	bool settled;		/* has been given back what it had */
};

struct sl_slice_change {
	struct sl_slice_select select;
	uint64_t asked_ns;	/* 0: the base slice */
	struct sl_slice_base base;
	struct sl_slice_done *items;	/* by tid */
	size_t nr, room;
	bool unsettled;		/* new threads appeared until the rounds were used up */
};

/*
 * Set asked_ns on each selected thread that is not in items yet. Call it again
 * to include threads made since. Errors as of sl_slice_scan(), on the first call.
 */
int sl_slice_change_apply(struct sl_slice_change *change, struct sl_err *err);
unsigned int sl_slice_change_count(const struct sl_slice_change *change,
				   enum sl_slice_outcome outcome);

struct sl_slice_restored {
	unsigned int restored, gone, failed;
	unsigned int changed;	/* somebody else gave them another slice meanwhile: left so */
	struct sl_slice_done first_failed;
};
/*
 * Give each thread what it had, a base slice as "no slice of its own"; threads
 * that inherited the slice get what their process had. -ENOMEM, after all that
 * could be restored was.
 */
int sl_slice_change_restore(struct sl_slice_change *change, struct sl_slice_restored *ret_restored,
			    struct sl_err *err);
void sl_slice_change_clear(struct sl_slice_change *change);

#endif
