/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The state of one recording, shared by record.c (the run), the backends and
 * assemble.c (the file). Nothing else includes this.
 */
#ifndef SL_LIVE_SESSION_H
#define SL_LIVE_SESSION_H

#include "event/event.h"
#include "live/record.h"
#include "live/slice_keep.h"
#include "live/tasks.h"
#include "live/text.h"

struct sl_session;

/* What a backend delivers. Filled in by its open(), freed with the session. */
struct sl_stream {
	char clock[32];
	unsigned int page_bytes;	/* of a sub-buffer */
	uint64_t buffer_bytes;		/* in effect, per CPU */
	uint16_t *cpus;			/* ascending: those recorded */
	unsigned int nr_cpus;
	char **formats;			/* [sl_event_descs_nr]; NULL: not recorded */
	char *own_format;		/* of one more event of system schedlat; NULL: none */
	unsigned int nr_kinds;		/* formats that are there */
	char *header_page, *header_event;
};

struct sl_cpu_stats {
	uint64_t events, lost;
	char text[512];			/* as trace-cmd stores it; "": not known */
};

/*
 * How events get from the kernel into s->fds. Called in this order; close() also
 * after a failure of the others, and then only once.
 */
struct sl_backend {
	const char *name;
	/* Take hold of the kernel's side; fill in s->stream. Nothing is recorded yet. */
	int (*open)(struct sl_session *s, struct sl_err *err);
	/* s->fds are there: get ready to move data, start threads. */
	int (*prepare)(struct sl_session *s, struct sl_err *err);
	/* Keys that only this backend has, into s->meta. */
	void (*start_meta)(struct sl_session *s);
	/* Tids of the threads that prepare() started; *ret_nr of them. */
	const int *(*tids)(struct sl_session *s, unsigned int *ret_nr);
	/* Readable when a thread has met an error. */
	int (*error_fd)(struct sl_session *s);
	uint64_t (*now_ns)(struct sl_session *s);
	/* Recording begins; sets s->start_ns. */
	int (*start)(struct sl_session *s, struct sl_err *err);
	/*
	 * It ends, sets s->stop_ns; everything that is there goes to s->fds, s->bytes and
	 * s->stats are set, on an error, too; so are keys that only this backend has, in
	 * s->end_meta. Also after a start() that failed.
	 */
	int (*stop)(struct sl_session *s, struct sl_err *err);
	/* The kernel is as before, s->state is gone. What describes the data stays. */
	int (*close)(struct sl_session *s, struct sl_err *err);
};

extern const struct sl_backend sl_backend_tracefs, sl_backend_bpf;

struct sl_bpf;
struct sl_instance;
/* What an open session of these has hold of. */
struct sl_bpf *sl_backend_bpf_programs(const struct sl_session *s);
struct sl_instance *sl_backend_tracefs_instance(const struct sl_session *s);

struct sl_session {
	const struct sl_record_params *params;
	struct sl_record_result *result;
	const struct sl_backend *backend;
	void *state;			/* the backend's; NULL: not open */
	struct sl_stream stream;
	int *fds;			/* [stream.nr_cpus] unlinked temporary files */
	uint64_t *bytes;		/* in each */
	int reserve_fd;			/* space that is given back before assembling */
	struct sl_cpu_stats *stats;	/* [stream.nr_cpus] */
	struct sl_slice_keep *slice;	/* of the command's threads; NULL: as it is */
	bool live;			/* an observer's (live/watch.h): opened and started, nothing else */
	struct sl_kv_list meta, end_meta;
	struct sl_task_list start_tasks, end_tasks;
	struct sl_cgroup_list start_cgroups, end_cgroups;
	uint64_t start_ns, stop_ns, end_ns;	/* the stream's clock; end: metadata of the end */
};

/* One line of information for the user. */
void sl_session_note(const struct sl_session *s, const char *text);
/* Temporary files, in the directory of the output. */
int sl_session_open_files(struct sl_session *s, struct sl_err *err);
/* Write the output. The backend may be closed. */
int sl_session_assemble(struct sl_session *s, struct sl_err *err);
void sl_session_close_files(struct sl_session *s);
void sl_session_clear_stream(struct sl_stream *stream);
/* Frees all that a session holds; its backend is closed by then. */
void sl_session_clear(struct sl_session *s);
/* One more temporary file there: a descriptor, or -errno. */
int sl_session_temp_file(const struct sl_session *s);

#endif
