/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Threads that move a tracefs instance's sub-buffers to files, without looking
 * at them: splice(2) from trace_pipe_raw, whole sub-buffers only. What is left
 * in a partial one is read when the readers stop.
 */
#ifndef SL_LIVE_READER_H
#define SL_LIVE_READER_H

#include <stdint.h>

#include "live/instance.h"
#include "util/err.h"

struct sl_readers;

/* Takes sub-buffers instead of a file. `pages` may be changed until it returns. */
struct sl_page_sink {
	/* Negative: stop; the code becomes the readers' error. */
	int (*pages)(void *arg, unsigned int index, unsigned char *pages, unsigned int nr_pages);
	/* Called after a round over all CPUs of the thread; NULL: not wanted. */
	int (*round)(void *arg);
	void *arg;
};

struct sl_readers_params {
	struct sl_instance *instance;
	const int *fds;			/* [instance->nr_cpus] files to append to */
	const struct sl_page_sink *sink; /* instead of fds; then one thread reads all */
	const uint8_t *avoid_cpus;	/* [SL_CPU_MAX]: run elsewhere if possible; NULL; stays valid */
};

/* Opens every trace_pipe_raw and starts the threads. Tracing may still be off. */
int sl_readers_start(const struct sl_readers_params *params, struct sl_readers **ret_readers,
		     struct sl_err *err);
/* Becomes readable when a thread has met an error: stop then. */
int sl_readers_error_fd(const struct sl_readers *readers);
/* Tids of the threads; *ret_nr of them. */
const int *sl_readers_tids(const struct sl_readers *readers, unsigned int *ret_nr);
/*
 * Tracing must be off. Empties the buffers, ends the threads, closes the files
 * of tracefs. ret_bytes[nr_cpus] gets the whole sub-buffers in each file.
 * Returns the first error of a thread; the bytes are valid then, too.
 */
int sl_readers_stop(struct sl_readers *readers, uint64_t *ret_bytes, struct sl_err *err);
void sl_readers_free(struct sl_readers *readers);	/* NULL is fine */

#endif
