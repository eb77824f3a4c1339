/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The writer's own events (schedlat:meta, schedlat:task): their format texts,
 * a queue of records, and ring-buffer sub-buffers composed of them.
 * Only dat_write.c includes this.
 */
#ifndef SL_TRACE_DAT_WRITE_OWN_H
#define SL_TRACE_DAT_WRITE_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/dat_write.h"

/* Bytes that grow. `failed` is sticky, so that callers test once at the end. */
struct sl_dat_buf {
	unsigned char *data;
	size_t len, room;
	bool failed;		/* an allocation failed: data is incomplete */
};

void sl_dat_buf_add(struct sl_dat_buf *buf, const void *data, size_t len);
void sl_dat_buf_str(struct sl_dat_buf *buf, const char *text);	/* with its NUL */
void sl_dat_buf_zero(struct sl_dat_buf *buf, size_t len);
void sl_dat_buf_u16(struct sl_dat_buf *buf, uint16_t value);
void sl_dat_buf_u32(struct sl_dat_buf *buf, uint32_t value);
void sl_dat_buf_u64(struct sl_dat_buf *buf, uint64_t value);
void sl_dat_buf_free(struct sl_dat_buf *buf);

/* How every event of the traced kernel begins, taken from one of its formats. */
struct sl_dat_common {
	char *lines;			/* the "field:... common_..." lines */
	unsigned int bytes;		/* the common part ends here */
	unsigned int type_offset, pid_offset;
};

struct sl_dat_own {
	struct sl_dat_common common;
	uint16_t meta_id, task_id;
	uint64_t used_ids[65536 / 64];	/* bit set: an event of the kernel has it */
	struct sl_dat_own_rec {
		uint64_t ts_ns;
		size_t offset;		/* of the payload in `payload` */
		uint32_t bytes, seq;
	} *recs;
	size_t nr, room;
	size_t next;			/* the first record not composed yet */
	bool sorted;
	struct sl_dat_buf payload;
};

/* Learn ids and the common fields from a kernel event format. */
int sl_dat_own_learn(struct sl_dat_own *own, const char *format, struct sl_err *err);
/* Texts of the formats of meta and task; they end the learning. Malloced. */
int sl_dat_own_formats(struct sl_dat_own *own, char **ret_meta, char **ret_task,
		       struct sl_err *err);
/* Queue a record; only after sl_dat_own_learn() has seen at least one format. */
int sl_dat_own_meta(struct sl_dat_own *own, uint64_t ts_ns, const char *key, const char *value,
		    unsigned int page_bytes, struct sl_err *err);
int sl_dat_own_task(struct sl_dat_own *own, uint64_t ts_ns, const struct sl_dat_task *task,
		    unsigned int page_bytes, struct sl_err *err);
/*
 * Compose whole sub-buffers from the queued records with ts_ns <= until_ns, in
 * time order. Appends to ret_pages (possibly nothing).
 */
int sl_dat_own_compose(struct sl_dat_own *own, uint64_t until_ns, unsigned int page_bytes,
		       struct sl_dat_buf *ret_pages, struct sl_err *err);
void sl_dat_own_clear(struct sl_dat_own *own);

#endif
