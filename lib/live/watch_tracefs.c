// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Sub-buffers of a tracefs instance, those of the last seconds, in memory. A thread reads
 * them; what it has read becomes visible at a look.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/instance.h"
#include "live/reader.h"
#include "live/watch_own.h"

/* However long the span: what a machine may spend on this. */
#define KEEP_BYTES_MAX (64u << 20)
#define POLL_MS 200
/* An event may become visible this much after its timestamp was taken. */
#define LATE_NS 2000000ull
/* In a sub-buffer's commit word: events are missing in front of it (ring_buffer.c). */
#define MISSED_EVENTS (1ul << 31)

struct page {
	struct page *next;
	uint64_t first_ns;
	unsigned char data[];
};

struct cpu {
	struct page *oldest, **end;	/* in the order of time */
	struct page *came, **came_end;	/* since the last look */
	bool gap;			/* there was no room for what came in between */
};

struct state {
	struct sl_instance *instance;
	struct sl_readers *readers;
	struct sl_page_sink sink;
	pthread_mutex_t lock;
	struct cpu *cpus;
	uint64_t bytes;			/* of all pages */
	uint64_t round_ns, complete_ns;	/* the last round began; everything before was read */
};

static void mark_gap(unsigned char *data)
{
	unsigned long commit;

	memcpy(&commit, data + 8, sizeof(commit));
	commit |= MISSED_EVENTS;
	memcpy(data + 8, &commit, sizeof(commit));
}

static int take_pages(void *arg, unsigned int index, unsigned char *pages, unsigned int nr_pages)
{
	struct state *state = arg;
	struct cpu *cpu = &state->cpus[index];
	const unsigned int page_bytes = state->instance->page_bytes;

	pthread_mutex_lock(&state->lock);
	for (unsigned int i = 0; i < nr_pages; i++) {
		struct page *page;

		/* Between two looks no more than this: what comes then is a gap, and counted. */
		if (state->bytes >= 2ull * KEEP_BYTES_MAX || !(page = malloc(sizeof(*page) + page_bytes))) {
			cpu->gap = true;
			break;
		}
		memcpy(page->data, pages + (size_t)i * page_bytes, page_bytes);
		if (cpu->gap)
			mark_gap(page->data);
		cpu->gap = false;
		memcpy(&page->first_ns, page->data, sizeof(page->first_ns));
		page->next = NULL;
		*cpu->came_end = page;
		cpu->came_end = &page->next;
		state->bytes += page_bytes;
	}
	pthread_mutex_unlock(&state->lock);
	return 0;
}

static int end_round(void *arg)
{
	struct state *state = arg;
	const uint64_t now_ns = sl_instance_now(state->instance);

	pthread_mutex_lock(&state->lock);
	state->complete_ns = state->round_ns;
	state->round_ns = now_ns;
	pthread_mutex_unlock(&state->lock);
	return 0;
}

static int watch_open(struct sl_watch *w, struct sl_err *err)
{
	struct sl_session *s = &w->session;
	struct state *state = calloc(1, sizeof(*state));
	struct sl_readers_params params = { .avoid_cpus = NULL };

	if (!state)
		return sl_err_set(err, -ENOMEM, "cannot watch: out of memory");
	w->state = state;
	pthread_mutex_init(&state->lock, NULL);
	state->instance = sl_backend_tracefs_instance(s);
	state->cpus = calloc(s->stream.nr_cpus, sizeof(*state->cpus));
	if (!state->cpus)
		return sl_err_set(err, -ENOMEM, "cannot watch: out of memory");
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		state->cpus[i].end = &state->cpus[i].oldest;
		state->cpus[i].came_end = &state->cpus[i].came;
	}
	state->sink = (struct sl_page_sink){ take_pages, end_round, state };
	params.instance = state->instance;
	params.sink = &state->sink;
	return sl_readers_start(&params, &state->readers, err);
}

static int watch_start(struct sl_watch *w, struct sl_err *err)
{
	struct state *state = w->state;

	w->session.start_ns = sl_instance_now(state->instance);
	w->started = true;
	return sl_instance_set_tracing(state->instance, true, err);
}

static int watch_take(struct sl_watch *w, int *ret_ms, struct sl_err *err)
{
	(void)w;
	(void)err;
	*ret_ms = POLL_MS;
	return 0;
}

static void drop_oldest(struct state *state, struct cpu *cpu)
{
	struct page *page = cpu->oldest;

	cpu->oldest = page->next;
	if (!cpu->oldest)
		cpu->end = &cpu->oldest;
	state->bytes -= state->instance->page_bytes;
	free(page);
}

/* What is older than the span goes, and what is too much. */
static void trim(struct state *state, unsigned int nr_cpus, uint64_t from_ns)
{
	for (unsigned int i = 0; i < nr_cpus; i++) {
		struct cpu *cpu = &state->cpus[i];

		/* A page may go when the next one begins early enough. */
		while (cpu->oldest && cpu->oldest->next && cpu->oldest->next->first_ns < from_ns)
			drop_oldest(state, cpu);
	}
	while (state->bytes > KEEP_BYTES_MAX) {
		struct cpu *longest = NULL;

		for (unsigned int i = 0; i < nr_cpus; i++)
			if (state->cpus[i].oldest &&
			    (!longest || state->cpus[i].oldest->first_ns < longest->oldest->first_ns))
				longest = &state->cpus[i];
		if (!longest)
			break;
		drop_oldest(state, longest);
	}
}

static int watch_look(struct sl_watch *w, struct sl_watch_counts *counts, struct sl_err *err)
{
	struct sl_session *s = &w->session;
	struct state *state = w->state;
	bool came = false;

	(void)err;
	pthread_mutex_lock(&state->lock);
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		struct cpu *cpu = &state->cpus[i];

		if (!cpu->came)
			continue;
		came = true;
		*cpu->end = cpu->came;
		cpu->end = cpu->came_end;
		cpu->came = NULL;
		cpu->came_end = &cpu->came;
	}
	counts->seen_ns = state->complete_ns > LATE_NS ? state->complete_ns - LATE_NS : 0;
	if (counts->seen_ns > w->params.span_ns)
		trim(state, s->stream.nr_cpus, counts->seen_ns - w->params.span_ns);
	counts->kept_bytes = state->bytes;
	pthread_mutex_unlock(&state->lock);
	counts->lost = 0;
	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		struct sl_instance_stats stats;

		if (sl_instance_stats(state->instance, s->stream.cpus[i], &stats))
			s->stats[i].lost = stats.overrun + stats.commit_overrun + stats.dropped;
		counts->lost += s->stats[i].lost;
	}
	return came;
}

static int watch_compose(struct sl_watch *w, struct sl_err *err)
{
	struct sl_session *s = &w->session;
	struct state *state = w->state;
	const unsigned int page_bytes = s->stream.page_bytes;

	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		s->bytes[i] = 0;
		/* Pages up to the one behind which others come in: these stay as they are. */
		for (struct page *page = state->cpus[i].oldest; page; page = page->next) {
			if (write(s->fds[i], page->data, page_bytes) != (ssize_t)page_bytes)
				return sl_err_set(err, -errno, "cannot watch: a file in memory: %s",
						  strerror(errno));
			s->bytes[i] += page_bytes;
		}
	}
	return 0;
}

static void watch_close(struct sl_watch *w)
{
	struct state *state = w->state;
	struct sl_err err;
	uint64_t *bytes = w->session.bytes;

	if (w->started)
		sl_instance_set_tracing(state->instance, false, &err);
	if (state->readers)
		sl_readers_stop(state->readers, bytes, &err);
	sl_readers_free(state->readers);
	for (unsigned int i = 0; state->cpus && i < w->session.stream.nr_cpus; i++) {
		struct cpu *cpu = &state->cpus[i];

		*cpu->end = cpu->came;
		while (cpu->oldest)
			drop_oldest(state, cpu);
	}
	pthread_mutex_destroy(&state->lock);
	free(state->cpus);
	free(state);
	w->state = NULL;
}

const struct sl_watch_ops sl_watch_tracefs = {
	.open = watch_open,
	.start = watch_start,
	.take = watch_take,
	.look = watch_look,
	.compose = watch_compose,
	.close = watch_close,
};
