/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Record what the scheduler does, through BPF programs or tracefs, into a trace.dat.
 *
 * sl_record_run() does all of it: choose a backend and set it up, start the
 * command, move the data, stop, restore, collect metadata, assemble the file. The
 * kernel is as it was on return, whatever happened. Runs in the calling thread;
 * starts reader threads of its own and joins them.
 */
#ifndef SL_LIVE_RECORD_H
#define SL_LIVE_RECORD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/err.h"

struct sl_record_result;
struct sl_only;

enum sl_record_backend {
	SL_BACKEND_AUTO,		/* bpf where it works and does what is asked for, else tracefs */
	SL_BACKEND_TRACEFS,
	SL_BACKEND_BPF,
};

struct sl_record_params {
	const char *path;		/* output; an existing regular file becomes PATH.old */
	uint64_t buffer_bytes;		/* per CPU */
	uint64_t duration_ns;		/* 0: no limit */
	const uint8_t *cpus;		/* [SL_CPU_MAX]; NULL: all */
	const char *target_pids, *target_tids;	/* "12,13": stored, and must exist; NULL: none */
	bool irq;			/* with interrupt events */
	bool compress;
	enum sl_record_backend backend;
	const struct sl_only *only;	/* bpf: wakees to record; NULL: all */
	uint64_t flight_ns;		/* tracefs: 0: keep everything */
	uint64_t threshold_ns;		/* waits above this are kept; without flight_ns: bpf */
	bool verbose;			/* messages of the bpf backend carry the verifier's lines */
	char *const *argv;		/* command, NULL: none */
	bool keep_slice;		/* its threads get slice_ns (0: the base slice), and keep it */
	uint64_t slice_ns;
	const sigset_t *command_mask;	/* signal mask of the command */
	const char *command_line;	/* of schedlat itself, for the metadata */
	const char *version;
	/*
	 * A signalfd of the signals that stop the recording; they are blocked. With
	 * a command they are passed on to it, and the second one stops, SIGUSR1 and
	 * SIGUSR2 aside. -1: none.
	 */
	int signal_fd;
	/* One line of information; NULL: not wanted. */
	void (*on_note)(void *arg, const char *text);
	/* Tracing is on; what is known of the result so far. NULL: not wanted. */
	void (*on_start)(void *arg, const struct sl_record_result *so_far);
	void *arg;
};

struct sl_record_result {
	const char *backend;		/* "tracefs", "bpf"; NULL: it did not come to that */
	uint64_t buffer_bytes;		/* effective, per CPU */
	uint64_t ring_bytes;		/* bpf: of the one ring that all CPUs share */
	char clock[32];
	unsigned int nr_cpus, nr_event_kinds;
	uint64_t duration_ns;
	uint64_t events;		/* read from the kernel; bpf: with the snapshots */
	uint64_t lost;			/* overwritten or dropped by the kernel */
	uint64_t data_bytes, file_bytes;
	uint64_t own_cpu_ns;		/* of this process while tracing was on */
	bool truncated;			/* ended early: the disk is full or a reader failed */
	bool file_written;		/* on an error, too, there can be a valid file */
	bool kept_old;			/* a file of that name is now PATH.old */
	bool interrupted;		/* a signal ended it */
	bool command_started;
	bool command_failed;		/* it could not be run: not found, not executable */
	int command_status;		/* as of waitpid() */
	/* with threshold_ns; windows and pages_dropped only with flight_ns */
	uint64_t waits, waits_above, windows, events_kept, pages_dropped;
};

/*
 * Errors: SL_ENOBACKEND: the backend asked for by name does not work here, or only
 * one that does not work here can do what is asked for; SL_EUSAGE: what is asked for
 * is not for this backend; -EACCES, -ENOENT, ... with what to do; -ENOSPC with file_written: the
 * file holds what fitted. When the command cannot be run: the errno of exec,
 * and ret_result->command_failed; nothing is written then.
 * ret_result is filled in on failure, too.
 */
int sl_record_run(const struct sl_record_params *params, struct sl_record_result *ret_result,
		  struct sl_err *err);

#endif
