/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A recording without an end, to be looked at while it goes on. Of each look the latest
 * part, bounded in size, is a trace.dat in memory, which is analysed as any other.
 *
 *	bpf	all waits are counted in the kernel, per thread; records of those above the
 *		threshold leave it and are kept here, until newer ones need the room
 *	tracefs	every event is read, those of the last seconds are kept; waits are counted
 *		by whoever analyses them (sl_watch_count()); nothing is known of this moment
 *
 * The kernel is as before after sl_watch_close(), and after the process has ended
 * without it as far as BPF goes; an instance of tracefs that was left behind is removed
 * by the next recorder. One thread uses a watch.
 */
#ifndef SL_LIVE_WATCH_H
#define SL_LIVE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "live/bpf/record.h"
#include "live/record.h"
#include "util/err.h"

struct sl_bpf_now;
struct sl_wait;
struct sl_watch;

struct sl_watch_params {
	enum sl_record_backend backend;
	const struct sl_only *only;	/* bpf: wakees that are counted and kept; NULL: all */
	const uint8_t *cpus;		/* [SL_CPU_MAX] waits that end on these; NULL: on all */
	uint64_t threshold_ns;
	bool only_short;		/* bpf: of tasks with a short slice only are records kept */
	uint64_t span_ns;		/* tracefs: so much is kept */
	bool verbose;
	const char *command_line, *version;
	void (*on_note)(void *arg, const char *text);
	void *arg;
};

struct sl_watch_counts {
	uint64_t lost;			/* records or events, since the start */
	uint64_t kept_bytes;
	uint64_t seen_ns;		/* waits that ended before are in the file, if they are kept */
};

int sl_watch_open(const struct sl_watch_params *params, struct sl_watch **ret_watch, struct sl_err *err);
int sl_watch_start(struct sl_watch *w, struct sl_err *err);
void sl_watch_close(struct sl_watch *w);	/* NULL is fine */

const char *sl_watch_backend(const struct sl_watch *w);	/* "bpf", "tracefs" */
/* Why it is not bpf, with what would help; "" with bpf. */
const char *sl_watch_why(const struct sl_watch *w);
/* CPUs that are watched, ascending. */
const uint16_t *sl_watch_cpus(const struct sl_watch *w, unsigned int *ret_nr);

/* Move what has come. Often: at least every 100 ms; the ms until it is needed again. */
int sl_watch_take(struct sl_watch *w, int *ret_ms, struct sl_err *err);
/*
 * What has come until now becomes the file at sl_watch_path(). 1: it did; 0: nothing came
 * since the last time, the file is the same.
 */
int sl_watch_look(struct sl_watch *w, struct sl_watch_counts *ret_counts, struct sl_err *err);
const char *sl_watch_path(const struct sl_watch *w);
/* That file, and the counts of all waits, to a path; what was there becomes PATH.old. */
int sl_watch_save(struct sl_watch *w, const char *path, uint64_t *ret_bytes, struct sl_err *err);

/* The waits that are kept from now on. */
void sl_watch_send(struct sl_watch *w, uint64_t threshold_ns, bool only_short);
/* Counts of all threads since the start or the last reset; of entry 0: those without one. */
const struct sl_bpf_hist *sl_watch_threads(const struct sl_watch *w, unsigned int *ret_nr);
/* An entry that is dead was looked at for the last time. */
void sl_watch_forget(struct sl_watch *w, unsigned int entry);
void sl_watch_reset(struct sl_watch *w);
/* tracefs: a wait of a thread, to be counted. 0 or -ENOMEM. */
int sl_watch_count(struct sl_watch *w, const struct sl_wait *wait);
/* bpf: waits that ended on a CPU, and their time. Both since the start. */
bool sl_watch_cpu(const struct sl_watch *w, unsigned int cpu, uint64_t *ret_waits, uint64_t *ret_ns);
/* bpf: a CPU at this moment. False: not known. */
bool sl_watch_now(const struct sl_watch *w, unsigned int cpu, struct sl_bpf_now *ret_now);
/* Slice of threads that set none; 0: not known. */
uint64_t sl_watch_base_slice(const struct sl_watch *w);

#endif
