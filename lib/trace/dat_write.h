/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Write a trace.dat (version 7) that trace-cmd report, trace-cmd convert and
 * KernelShark open.
 *
 * The writer takes the kernel's own text (header_page, header_event, event
 * formats) and per-CPU data made of whole ring-buffer sub-buffers, and adds
 * events of its own system "schedlat" (meta, task) in sub-buffers that it
 * composes. Call order: create -> add_* -> begin_buffer -> cpu data in ascending
 * CPU order -> finish. After any error the file is still a valid trace.dat of
 * what was written up to then if finish() is called.
 */
#ifndef SL_TRACE_DAT_WRITE_H
#define SL_TRACE_DAT_WRITE_H

#include <stdint.h>

#include "util/err.h"

struct sl_dat_writer;

enum sl_dat_compress { SL_DAT_PLAIN, SL_DAT_ZSTD };

struct sl_dat_writer_opts {
	unsigned int page_bytes;	/* sub-buffer size of the data */
	const char *clock;		/* as in trace_clock: "mono" */
	enum sl_dat_compress compress;
	const char *uname;		/* of the traced machine; NULL: this one */
};

int sl_dat_writer_create(const char *path, const struct sl_dat_writer_opts *opts,
			 struct sl_dat_writer **ret_writer, struct sl_err *err);

/* Texts of events/header_page and events/header_event. Mandatory, once. */
int sl_dat_writer_add_headers(struct sl_dat_writer *w, const char *header_page,
			      const char *header_event, struct sl_err *err);
/* Text of one events/SYSTEM/NAME/format. The schedlat formats are added by the writer. */
int sl_dat_writer_add_format(struct sl_dat_writer *w, const char *system, const char *format,
			     struct sl_err *err);
/* One line of the stats of a CPU, stored as trace-cmd does (option CPUSTAT). */
int sl_dat_writer_add_cpustat(struct sl_dat_writer *w, const char *text, struct sl_err *err);

/*
 * Queue an event of our own. ts_ns orders it: events queued before
 * begin_buffer() with ts_ns not above the first kernel event come first on the
 * first CPU; the rest is appended behind that CPU's data. Strings are copied;
 * a value that does not fit a sub-buffer is split into key, key.1, key.2 ...
 */
int sl_dat_writer_meta(struct sl_dat_writer *w, uint64_t ts_ns, const char *key, const char *value,
		       struct sl_err *err);
struct sl_dat_task {
	int32_t pid, tgid, policy, nice;
	int32_t phase;			/* 0 at start, 1 at end */
	const char *comm;
	const char *detail;		/* "slice_ns=2800000 cpus=0-1 own=1 cgroup=/a" */
};
int sl_dat_writer_task(struct sl_dat_writer *w, uint64_t ts_ns, const struct sl_dat_task *task,
		       struct sl_err *err);

/* Start the (only) buffer with these CPUs, ascending. */
int sl_dat_writer_begin_buffer(struct sl_dat_writer *w, const uint16_t *cpus, unsigned int nr_cpus,
			       struct sl_err *err);
/* Append `bytes` (a multiple of page_bytes) from fd at its current offset to that CPU's data. */
int sl_dat_writer_cpu_from_fd(struct sl_dat_writer *w, uint16_t cpu, int fd, uint64_t bytes,
			      struct sl_err *err);
/* The same from memory. */
int sl_dat_writer_cpu_data(struct sl_dat_writer *w, uint16_t cpu, const void *data, uint64_t bytes,
			   struct sl_err *err);

/* Write tables, close. Returns the file size in *ret_bytes. Frees the writer, on error too. */
int sl_dat_writer_finish(struct sl_dat_writer *w, uint64_t *ret_bytes, struct sl_err *err);
/* Give up: close and remove the file. NULL is fine. */
void sl_dat_writer_abort(struct sl_dat_writer *w);

#endif
