/* SPDX-License-Identifier: LGPL-2.1-only */
/* Threads with their slices, as /proc and sched_getattr(2) show them. */
#ifndef SL_LIVE_SLICE_SCAN_H
#define SL_LIVE_SLICE_SCAN_H

#include "live/slice.h"

struct sl_slice_thread {
	int32_t tid, tgid, ppid;
	uint32_t uid;			/* effective; UINT32_MAX: unknown */
	char comm[16];
	bool kernel;			/* a thread of the kernel */
	uint64_t start_ticks;		/* with the tid, who it is: ids are used again */
	struct sl_slice_attr attr;
};

struct sl_slice_list {
	struct sl_slice_thread *items;	/* by tgid, then tid */
	size_t nr, room;
};

/* What does not apply is 0 or NULL; all that apply must match. */
struct sl_slice_select {
	const int32_t *pids, *tids;
	unsigned int nr_pids, nr_tids;
	const char *comm_glob;
	bool kernel;	/* kernel threads, too; those named by pids or tids always are */
};

/*
 * The selected threads that exist. -ESRCH when one of pids or tids does not
 * (names it), unless `ended_ok`. Threads of this process are left out unless
 * they are named.
 */
int sl_slice_scan(const struct sl_slice_select *select, bool ended_ok,
		  struct sl_slice_list *ret_list, struct sl_err *err);
void sl_slice_list_clear(struct sl_slice_list *list);
/* Add a copy; 0 or -ENOMEM. */
int sl_slice_list_add(struct sl_slice_list *list, const struct sl_slice_thread *thread);

/*
 * Where nobody tells the base slice: the most common slice of these threads,
 * if at least half of them have it.
 */
void sl_slice_base_of(const struct sl_slice_list *list, struct sl_slice_base *base);

/* The text of a /proc/.../stat; false when it is none. Fills tid, comm, ppid, kernel, start_ticks. */
bool sl_slice_parse_stat(const char *text, struct sl_slice_thread *ret_thread);
/* One thread by its ids: 1, or 0 when it is gone. */
int sl_slice_read_thread(int32_t tgid, int32_t tid, struct sl_slice_thread *ret_thread);
/* Call fn for each thread of a process until it returns non-zero, which is returned. */
int sl_slice_each_tid(int32_t tgid, int (*fn)(void *arg, int32_t tgid, int32_t tid), void *arg);

#endif
