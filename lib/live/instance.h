/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A tracefs instance of our own: set up, stop, statistics, remove.
 *
 * The top buffer is never used. The only thing outside of the instance that is
 * touched is the top option record-cmd, which an instance inherits when it is
 * made: it is cleared around the mkdir and put back, with all signals blocked.
 */
#ifndef SL_LIVE_INSTANCE_H
#define SL_LIVE_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"
#include "util/err.h"

struct tracefs_instance;

struct sl_instance_params {
	uint64_t buffer_bytes;		/* per CPU */
	const uint8_t *cpus;		/* [SL_CPU_MAX] to trace; NULL: all */
	bool irq;			/* with the IRQ group */
};

struct sl_instance {
	struct tracefs_instance *tracefs;
	char name[64];
	char clock[32];
	unsigned int page_bytes;	/* of a sub-buffer */
	uint64_t buffer_bytes;		/* per CPU, read back from the kernel */
	bool has_buffer_percent;	/* poll() on trace_pipe_raw waits for a fill level */
	uint16_t *cpus;			/* ascending: those traced */
	unsigned int nr_cpus;
	uint8_t *enabled;		/* [sl_event_descs_nr] 1: enabled */
	unsigned int nr_enabled;
	char *header_page, *header_event;
};

/* Counters of one CPU since the instance was made. */
struct sl_instance_stats {
	uint64_t overrun;		/* overwritten before they were read */
	uint64_t commit_overrun;
	uint64_t dropped;
	uint64_t read;			/* events read */
	char text[512];			/* the file itself */
};

/*
 * Remove instances of recorders that are dead. on_removed, if not NULL, gets
 * each name. Live ones, and ones in use, are left alone.
 */
void sl_instance_remove_stale(void (*on_removed)(void *arg, const char *name), void *arg);

/*
 * Make "schedlat-PID" with tracing off and everything set. sl_tracefs_use() must
 * have succeeded. On failure nothing is left behind.
 */
int sl_instance_create(const struct sl_instance_params *params, struct sl_instance *ret_instance,
		       struct sl_err *err);
int sl_instance_set_tracing(struct sl_instance *instance, bool on, struct sl_err *err);
/* Open per_cpu/cpuN/trace_pipe_raw, non-blocking. Must be closed before the removal. */
int sl_instance_open_cpu(struct sl_instance *instance, uint16_t cpu, int *ret_fd, struct sl_err *err);
bool sl_instance_stats(struct sl_instance *instance, uint16_t cpu, struct sl_instance_stats *ret_stats);
/* Text of an event's format, malloced; NULL with errno. */
char *sl_instance_format(const struct sl_instance *instance, const struct sl_event_desc *desc);
/* Now, on the instance's clock; only for clocks that count ns. */
uint64_t sl_instance_now(struct sl_instance *instance);
/* Remove the instance and free. Safe on a zeroed or half-made one. */
int sl_instance_remove(struct sl_instance *instance, struct sl_err *err);

#endif
