/* SPDX-License-Identifier: LGPL-2.1-only */
/* Shared by dat_meta.c, dat_v6.c and dat_v7.c only. */
#ifndef SL_TRACE_DAT_META_LOCAL_H
#define SL_TRACE_DAT_META_LOCAL_H

#include "trace/dat_meta.h"

/* Option ids of both versions (trace-cmd.dat.v7(5)). Ids from 16 on are sections of version 7. */
enum sl_dat_option {
	SL_DO_DONE = 0,
	SL_DO_DATE = 1,
	SL_DO_BUFFER = 3,		/* also the id of the section with the data */
	SL_DO_TRACECLOCK = 4,
	SL_DO_UNAME = 5,
	SL_DO_OFFSET = 7,
	SL_DO_CPUCOUNT = 8,
	SL_DO_TSC2NSEC = 14,
	SL_DO_HEADER_INFO = 16,
	SL_DO_FTRACE_EVENTS = 17,
	SL_DO_EVENT_FORMATS = 18,
	SL_DO_BUFFER_TEXT = 22,
};

#define SL_DAT_BUFFERS_MAX 4096

/* SL_EDATA: "cannot read FILE: WHAT; the file is damaged or cut, ..." */
int sl_dat_bad(const struct sl_dat_file *file, struct sl_err *err, const char *what);
/* 0, or the error that a cursor ran into while reading `what`. */
int sl_dat_check(const struct sl_dat_file *file, const struct sl_dat_cursor *c,
		 struct sl_err *err, const char *what);

int sl_dat_read_header_info(const struct sl_dat_file *file, struct sl_dat_meta *m,
			    struct sl_dat_cursor *c, struct sl_err *err);
int sl_dat_read_ftrace_formats(const struct sl_dat_file *file, struct sl_dat_meta *m,
			       struct sl_dat_cursor *c, struct sl_err *err);
int sl_dat_read_event_formats(const struct sl_dat_file *file, struct sl_dat_meta *m,
			      struct sl_dat_cursor *c, struct sl_err *err);
/* An option that means the same in both versions; others are ignored. */
int sl_dat_read_option(const struct sl_dat_file *file, struct sl_dat_meta *m, unsigned int id,
		       const unsigned char *p, size_t len, struct sl_err *err);
/* "local [mono] tai" or "mono" -> "mono" */
void sl_dat_parse_clock(const char *text, size_t len, char *clock, size_t size);
/* A zeroed buffer at the end of m->buffers, or NULL. */
struct sl_dat_buffer *sl_dat_add_buffer(struct sl_dat_meta *m);

/* Everything behind the common head. */
int sl_dat_read_v6(struct sl_dat_file *file, struct sl_dat_meta *m, struct sl_dat_cursor *c,
		   struct sl_err *err);
int sl_dat_read_v7(struct sl_dat_file *file, struct sl_dat_meta *m, struct sl_dat_cursor *c,
		   struct sl_err *err);

#endif
