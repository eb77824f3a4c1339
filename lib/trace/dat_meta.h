/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * trace.dat, tables: what a file of version 6 or 7 says about itself.
 *
 * Version 6 is a sequence (headers, formats, kallsyms, ..., options, CPU table);
 * version 7 is sections found through options. Both end up in the same struct.
 * kallsyms, printk formats and command lines are stepped over unread.
 */
#ifndef SL_TRACE_DAT_META_H
#define SL_TRACE_DAT_META_H

#include <stdbool.h>
#include <stdint.h>

#include "event/bind.h"
#include "trace/dat_file.h"

/* Data of one CPU in one buffer. */
struct sl_dat_cpu {
	uint32_t cpu;
	uint64_t offset, bytes;
};

/* A trace buffer: the top one or an instance. */
struct sl_dat_buffer {
	char name[64];
	char clock[32];		/* "" when the file does not say */
	uint32_t page_bytes;	/* 0 when the file does not say */
	bool compressed;
	uint32_t nr_cpus;
	struct sl_dat_cpu *cpus;
};

/* What an event id means in this file: index into binds + SL_DAT_ID_BIND, or one of these. */
enum { SL_DAT_ID_NO_FORMAT, SL_DAT_ID_UNUSED, SL_DAT_ID_BIND };

struct sl_dat_meta {
	unsigned int version;
	unsigned int long_bytes;	/* of user space, as the file head says */
	uint32_t head_page_bytes;	/* page size of the file head */
	struct sl_dat_codec codec;
	char codec_name[16];

	/* header_page: the layout of a sub-buffer */
	unsigned int commit_offset, commit_bytes;
	unsigned int data_offset;
	uint32_t data_bytes;		/* 0 when the file does not say */

	unsigned int nr_buffers;
	struct sl_dat_buffer *buffers;

	char clock[32];			/* TRACECLOCK option */
	char *uname;			/* NULL: the file does not say */
	int64_t ts_offset_ns;		/* DATE and OFFSET options */
	bool has_tsc2nsec;
	uint32_t tsc_mult, tsc_shift;

	unsigned int nr_binds;
	struct sl_bind *binds;
	/* The texts, for who copies parts of the file; NULL where it has none. */
	char *header_page, *header_event;
	struct sl_dat_format {
		char *system, *text;
	} *formats;			/* [nr_binds] */
	uint8_t ids[65536];
	char bind_problem[256];		/* why the last event could not be bound; "" if none */
};

/* True when the first bytes are those of a trace.dat of any version. */
bool sl_dat_is_magic(const unsigned char *head, unsigned int len);

/* Read all tables. file->swap and file->big_endian are set on the way. */
int sl_dat_meta_read(struct sl_dat_file *file, struct sl_dat_meta **ret_meta,
		     struct sl_err *err);
void sl_dat_meta_free(struct sl_dat_meta *meta);

#endif
