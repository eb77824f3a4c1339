// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Records of the waits that leave the kernel, as they came. Each look puts all that are
 * kept in order anew: a wait can reach far back, and its records share their CPU's history
 * with those of waits that were sent before.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "live/bpf/consume.h"
#include "live/bpf/live.h"
#include "live/bpf_spool.h"
#include "live/bpf_writer.h"
#include "live/watch_own.h"

/* Kept at a look; in between more can come, up to ROOM_BYTES. */
#define KEEP_BYTES (2u << 20)
#define ROOM_BYTES (16u << 20)
#define POLL_MS 100
#define POLL_BUSY_MS 10
/* A series that another CPU is about to send may end later than it was looked for. */
#define LATE_NS 5000000ull

struct frame {
	uint32_t len, bytes;		/* bytes: len rounded up to 8 */
};

struct state {
	struct sl_bpf *bpf;
	struct sl_watch *watch;
	unsigned char *data;		/* frame, record, frame, record ... */
	size_t used, room;
	size_t looked;			/* of used: what the last look saw */
	bool cut;			/* earlier records are gone */
	uint64_t overflow;		/* records for which there was no room here */
	uint32_t *missing;		/* [possible CPUs] of those, since the last that was kept */
	int *spool_fds;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int watch_open(struct sl_watch *w, struct sl_err *err)
{
	const struct sl_session *s = &w->session;
	struct state *state = calloc(1, sizeof(*state));

	if (!state)
		return sl_err_set(err, -ENOMEM, "cannot watch: out of memory");
	w->state = state;
	state->watch = w;
	state->bpf = sl_backend_bpf_programs(s);
	state->spool_fds = malloc(s->stream.nr_cpus * sizeof(*state->spool_fds));
	state->missing = calloc(sl_bpf_caps(state->bpf)->nr_cpus, sizeof(*state->missing));
	if (!state->spool_fds || !state->missing)
		return sl_err_set(err, -ENOMEM, "cannot watch: out of memory");
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++)
		state->spool_fds[i] = -1;
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		state->spool_fds[i] = memfd_create("schedlat-spool", MFD_CLOEXEC);
		if (state->spool_fds[i] < 0)
			return sl_err_set(err, -errno, "cannot watch: a file in memory: %s", strerror(errno));
		if (w->params.cpus && !w->params.cpus[s->stream.cpus[i]])
			sl_bpf_live_leave_out(state->bpf, s->stream.cpus[i]);
	}
	sl_bpf_live_send(state->bpf, w->params.threshold_ns, w->params.only_short);
	return 0;
}

static int watch_start(struct sl_watch *w, struct sl_err *err)
{
	struct state *state = w->state;
	int r = sl_bpf_start(state->bpf, err);

	w->session.start_ns = sl_bpf_start_ns(state->bpf);
	return r;
}

static int keep(void *arg, const struct sl_bpf_header *record, size_t len)
{
	struct state *state = arg;
	const struct frame frame = { len, (len + 7) & ~7u };
	const size_t need = state->used + sizeof(frame) + frame.bytes;

	struct sl_bpf_header *kept;

	if (need > state->room) {
		size_t room = state->room ? state->room * 2 : KEEP_BYTES;
		unsigned char *grown = room > ROOM_BYTES ? NULL : realloc(state->data, room);

		if (!grown) {
			state->overflow++;
			state->missing[record->cpu]++;
			return 0;
		}
		state->data = grown;
		state->room = room;
	}
	memcpy(state->data + state->used, &frame, sizeof(frame));
	kept = (void *)(state->data + state->used + sizeof(frame));
	memcpy(kept, record, len);
	kept->dropped += state->missing[record->cpu];
	state->missing[record->cpu] = 0;
	state->used = need;
	if (record->flags & SL_BPF_WAIT_BEGIN)
		sl_watch_saw(state->watch, ((const struct sl_bpf_wake *)sl_bpf_payload(record))->pid);
	return 0;
}

static int watch_take(struct sl_watch *w, int *ret_ms, struct sl_err *err)
{
	struct state *state = w->state;
	const bool busy = sl_bpf_pending(state->bpf) > sl_bpf_caps(state->bpf)->ring_bytes / 8;

	(void)err;
	sl_bpf_consume(state->bpf, keep, state, 0);
	*ret_ms = busy ? POLL_BUSY_MS : POLL_MS;
	return 0;
}

/* The oldest go, where there is too much. */
static void trim(struct state *state)
{
	size_t at = 0;

	while (state->used - at > KEEP_BYTES)
		at += sizeof(struct frame) + ((const struct frame *)(state->data + at))->bytes;
	if (!at)
		return;
	state->cut = true;
	state->used -= at;
	memmove(state->data, state->data + at, state->used);
	if (state->room > 2 * KEEP_BYTES) {
		unsigned char *less = realloc(state->data, 2 * KEEP_BYTES);

		state->data = less ?: state->data;
		state->room = less ? 2 * KEEP_BYTES : state->room;
	}
}

static int watch_look(struct sl_watch *w, struct sl_watch_counts *counts, struct sl_err *err)
{
	struct state *state = w->state;
	const uint64_t seen_ns = now_ns() - LATE_NS;
	struct sl_session *s = &w->session;
	size_t before = state->looked;
	int ms, r = watch_take(w, &ms, err);

	if (r < 0)
		return r;
	r = state->used != before;
	trim(state);
	state->looked = state->used;
	counts->lost = state->overflow;
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		s->stats[i].lost = sl_bpf_dropped(state->bpf, s->stream.cpus[i]);
		counts->lost += s->stats[i].lost;
	}
	counts->kept_bytes = state->used;
	counts->seen_ns = seen_ns;
	return r;
}

static int feed(struct state *state, struct sl_bpf_spool *spool)
{
	size_t at = 0;
	int r = 0;

	while (at < state->looked && !r) {
		const struct frame *frame = (const void *)(state->data + at);

		r = sl_bpf_spool_record(spool, (const void *)(frame + 1), frame->len);
		at += sizeof(*frame) + frame->bytes;
	}
	return r;
}

static int watch_compose(struct sl_watch *w, struct sl_err *err)
{
	struct state *state = w->state;
	struct sl_session *s = &w->session;
	const struct sl_bpf_writer_params writer_params = {
		.cpus = s->stream.cpus,
		.nr_cpus = s->stream.nr_cpus,
		.fds = s->fds,
		.page_bytes = s->stream.page_bytes,
	};
	const struct sl_bpf_spool_params spool_params = {
		.cpus = s->stream.cpus,
		.nr_cpus = s->stream.nr_cpus,
		.fds = state->spool_fds,
		.cut = state->cut,
	};
	struct sl_bpf_writer *writer = NULL;
	struct sl_bpf_spool *spool = NULL;
	int r;

	for (unsigned int i = 0; i < s->stream.nr_cpus; i++)
		if (ftruncate(state->spool_fds[i], 0) || lseek(state->spool_fds[i], 0, SEEK_SET) < 0)
			return sl_err_set(err, -errno, "cannot watch: a file in memory: %s", strerror(errno));
	r = sl_bpf_spool_new(&spool_params, &spool, err);
	if (!r)
		r = sl_bpf_writer_new(&writer_params, &writer, err);
	if (!r) {
		sl_bpf_writer_tif(writer, sl_bpf_tif_resched(state->bpf));
		r = feed(state, spool);
		if (!r)
			r = sl_bpf_spool_replay(spool, writer);
		sl_bpf_writer_finish(writer, s->bytes);
		if (r < 0)
			sl_err_set(err, r, "cannot watch: a file in memory: %s", strerror(-r));
	}
	sl_bpf_writer_free(writer);
	sl_bpf_spool_free(spool);
	return r;
}

static void watch_close(struct sl_watch *w)
{
	struct state *state = w->state;

	for (unsigned int i = 0; state->spool_fds && i < w->session.stream.nr_cpus; i++)
		if (state->spool_fds[i] >= 0)
			close(state->spool_fds[i]);
	free(state->spool_fds);
	free(state->missing);
	free(state->data);
	free(state);
	w->state = NULL;
}

const struct sl_watch_ops sl_watch_bpf = {
	.open = watch_open,
	.start = watch_start,
	.take = watch_take,
	.look = watch_look,
	.compose = watch_compose,
	.close = watch_close,
};
