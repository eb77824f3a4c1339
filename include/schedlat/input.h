/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What a recording file says of itself, and what was skipped while reading it.
 * Counters grow while it is read. Strings live as long as what owns the struct.
 */
#ifndef SCHEDLAT_INPUT_H
#define SCHEDLAT_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#define SL_COMM_LEN 16		/* TASK_COMM_LEN: 15 bytes and a NUL; longer names are cut */
#define SL_CPU_MAX 4096		/* CPU numbers are 0..4095; others are counted and skipped */
#define SL_INPUT_KINDS_MAX 64	/* room for kinds of events */

/* Why a record was not delivered, or not as it stood. Every one is printed when not 0. */
struct sl_source_skips {
	uint64_t unknown_events;	/* records of tracepoints that we do not read: normal */
	uint64_t unbound_events;	/* event id without a format description in the file */
	uint64_t bad_records;		/* record does not fit its page or its format */
	uint64_t bad_pages;		/* page header is impossible; the page was skipped */
	uint64_t bad_cpu;		/* CPU number outside 0..4095 */
	uint64_t backwards;		/* timestamp before its predecessor on the same CPU: clamped */
	uint64_t truncated_bytes;	/* promised by the file's tables but not in the file */
};

struct sl_source_cpu {
	uint16_t cpu;
	uint64_t bytes;			/* of event data in the file (compressed size if compressed) */
	uint64_t lost_events;		/* sum of the counts of its gaps; filled while reading */
	uint64_t lost_gaps;		/* number of gaps */
	uint64_t lost_unknown_gaps;	/* gaps without a count */
	uint64_t first_ns, last_ns;	/* of the events read so far; SL_TIME_NONE: none yet */
};

struct sl_source_info {
	const char *path;
	const char *format;		/* "trace.dat v6", "trace.dat v7", "text" */
	const char *compression;	/* "none", "zlib", "zstd" */
	const char *clock;		/* "mono", "local", ...; "unknown" */
	const char *kernel;		/* uname of the traced machine, NULL: the file does not say */
	uint64_t bytes;			/* file size */
	bool big_endian;
	bool clock_is_per_cpu;		/* "local": cross-CPU order is only approximate */
	unsigned int long_bytes;	/* 4 or 8 */
	unsigned int page_bytes;	/* sub-buffer size */
	unsigned int nr_cpus;		/* entries in cpus */
	struct sl_source_cpu *cpus;	/* ascending cpu */
	/* It describes such an event, which may never occur; in the order of `schedlat list events`. */
	bool has_kind[SL_INPUT_KINDS_MAX];
	bool has_irq_flags;		/* common_flags present */
	uint64_t events;		/* records delivered so far */
	struct sl_source_skips skipped;	/* so far */
};

#endif
