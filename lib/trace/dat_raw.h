/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A trace.dat record by record, as the bytes lie in the file: for who copies parts of it.
 * In the order of sl_source_next(), on the same source, in place of it.
 */
#ifndef SL_TRACE_DAT_RAW_H
#define SL_TRACE_DAT_RAW_H

#include "trace/dat_meta.h"
#include "trace/source.h"

struct sl_dat_raw {
	uint64_t ts_ns;
	uint16_t cpu;
	enum sl_ev_kind kind;		/* SL_EV_LOST: no record, only `event` */
	unsigned int format;		/* index into sl_dat_meta.formats */
	const unsigned char *rec;	/* lives until the next call */
	uint32_t bytes;
	struct sl_event event;		/* decoded: of LOST, SWITCH, FORK, NEWTASK, META, TASK; else not set */
};

/* 1; 0 at the end; a negative code on an I/O error. Records that do not fit their format are skipped. */
int sl_dat_raw_next(struct sl_source *source, struct sl_dat_raw *ret_raw, struct sl_err *err);

/* The tables of the file; NULL: the source is no trace.dat. */
const struct sl_dat_meta *sl_dat_raw_meta(const struct sl_source *source);

#endif
