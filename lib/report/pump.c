// SPDX-License-Identifier: LGPL-2.1-only
#include "report/pump.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/time.h"
#include "event/event.h"
#include "util/err.h"

#define NR_SLOTS 8		/* batches in flight between the threads */
#define PAIR_BATCH 2048		/* events in each: handing over costs little per event then */
#define SPINS 2000		/* looks at the other side before sleeping: some us */
#define PROGRESS_EVERY 256	/* batches between looks at the clock */

struct slot {
	struct sl_event *events;
	char *strings;		/* copies: the source's own live only until its next batch */
	size_t strings_size;
	int nr;			/* 0: end, negative: error */
	unsigned int permille;
};

/*
 * A ring of batches between one producer and one consumer. head and tail are only
 * ever moved forward by their own side; the lock is for sleeping.
 */
struct pipe {
	struct sl_pump *pump;
	struct sl_err err;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* each on a line of its own: the other side looks at it all the time */
	_Atomic unsigned int head __attribute__((aligned(128)));	/* filled batches */
	_Atomic unsigned int tail __attribute__((aligned(128)));	/* consumed batches */
	_Atomic bool stop __attribute__((aligned(128)));
	_Atomic unsigned int sleepers;
	struct slot slot[NR_SLOTS] __attribute__((aligned(128)));
};

static bool can_fill(struct pipe *p)
{
	return p->head - p->tail < NR_SLOTS || p->stop;
}

static bool can_consume(struct pipe *p)
{
	return p->head != p->tail;
}

/* Until ready(p): look for a while, then sleep. */
static void wait_for(struct pipe *p, bool (*ready)(struct pipe *p))
{
	unsigned int i;

	for (i = 0; i < SPINS; i++) {
		if (ready(p))
			return;
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#endif
	}
	pthread_mutex_lock(&p->lock);
	p->sleepers++;
	while (!ready(p))
		pthread_cond_wait(&p->changed, &p->lock);
	p->sleepers--;
	pthread_mutex_unlock(&p->lock);
}

/* Tell the other side that head, tail or stop has moved. */
static void wake_other(struct pipe *p)
{
	if (!p->sleepers)
		return;
	pthread_mutex_lock(&p->lock);
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

static bool due(struct timespec *last)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((now.tv_sec - last->tv_sec) * 1000 + (now.tv_nsec - last->tv_nsec) / 1000000 < 100)
		return false;
	*last = now;
	return true;
}

static int run_single(struct sl_pump *pump, struct sl_err *err)
{
	struct sl_event *events = aligned_alloc(64, SL_PUMP_BATCH * sizeof(*events));
	struct timespec last = { 0 };
	unsigned int batches = 0;
	int nr = -ENOMEM, ret = 0;

	if (!events)
		return sl_err_set(err, -ENOMEM, "out of memory");
	while (!ret && (nr = sl_source_next(pump->source, events, SL_PUMP_BATCH, err)) > 0) {
		ret = pump->consume(pump->arg, events, (unsigned int)nr);
		if (pump->progress && !(++batches % PROGRESS_EVERY) && due(&last))
			pump->progress(pump->arg, sl_source_progress(pump->source));
	}
	free(events);
	return ret ? ret : nr;
}

/* Give the batch strings and wide payloads of its own: the source reuses its memory for the next one. */
static int keep_strings(struct slot *s)
{
	size_t need = 0, at = 0;
	int i, pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < s->nr; i++) {
			struct sl_event *ev = &s->events[i];
			const char **str[2] = { NULL, NULL };
			size_t wide = sl_event_wide_bytes((enum sl_ev_kind)ev->kind);
			unsigned int k;

			if (wide) {
				need += pass ? 0 : wide + 7;
				at = (at + 7) & ~(size_t)7;
				if (pass) {
					memcpy(s->strings + at, *sl_event_wide(ev), wide);
					*sl_event_wide(ev) = s->strings + at;
					at += wide;
				}
			}
			if (ev->kind == SL_EV_META) {
				str[0] = &ev->meta.key;
				str[1] = &ev->meta.value;
			} else if (ev->kind == SL_EV_TASK) {
				str[0] = &ev->task.detail;
			}
			for (k = 0; k < 2; k++) {
				size_t len;

				if (!str[k] || !*str[k])
					continue;
				len = strlen(*str[k]) + 1;
				if (pass) {
					memcpy(s->strings + at, *str[k], len);
					*str[k] = s->strings + at;
					at += len;
				}
				need += pass ? 0 : len;
			}
		}
		if (!pass && need > s->strings_size) {
			char *grown = realloc(s->strings, need);

			if (!grown)
				return -ENOMEM;
			s->strings = grown;
			s->strings_size = need;
		}
	}
	return 0;
}

static void *read_ahead(void *arg)
{
	struct pipe *p = arg;
	bool going = true;

	while (going) {
		struct slot *s = &p->slot[p->head % NR_SLOTS];

		wait_for(p, can_fill);
		if (p->stop)
			break;
		s->nr = sl_source_next(p->pump->source, s->events, PAIR_BATCH, &p->err);
		if (s->nr > 0 && keep_strings(s))
			s->nr = -ENOMEM;
		if (p->pump->progress)
			s->permille = sl_source_progress(p->pump->source);
		going = s->nr > 0;
		p->head++;
		wake_other(p);
	}
	return NULL;
}

static int consume_all(struct pipe *p, struct sl_err *err)
{
	struct timespec last = { 0 };
	unsigned int batches = 0;

	for (;;) {
		struct slot *s = &p->slot[p->tail % NR_SLOTS];
		int ret;

		wait_for(p, can_consume);
		if (s->nr <= 0) {
			if (s->nr < 0 && err)
				*err = p->err;
			return s->nr;
		}
		ret = p->pump->consume(p->pump->arg, s->events, (unsigned int)s->nr);
		if (ret)
			return ret;
		if (p->pump->progress && !(++batches % (PROGRESS_EVERY / 16)) && due(&last))
			p->pump->progress(p->pump->arg, s->permille);
		p->tail++;
		wake_other(p);
	}
}

static int run_pair(struct sl_pump *pump, struct sl_err *err)
{
	struct pipe p = { .pump = pump };
	pthread_t reader;
	unsigned int i;
	int ret = -ENOMEM;

	pthread_mutex_init(&p.lock, NULL);
	pthread_cond_init(&p.changed, NULL);
	for (i = 0; i < NR_SLOTS; i++) {
		p.slot[i].events = aligned_alloc(64, PAIR_BATCH * sizeof(*p.slot[i].events));
		if (!p.slot[i].events)
			goto out;
	}
	if (pthread_create(&reader, NULL, read_ahead, &p)) {
		ret = run_single(pump, err);
		goto out;
	}
	ret = consume_all(&p, err);
	p.stop = true;
	wake_other(&p);
	pthread_join(reader, NULL);
out:
	for (i = 0; i < NR_SLOTS; i++) {
		free(p.slot[i].events);
		free(p.slot[i].strings);
	}
	pthread_cond_destroy(&p.changed);
	pthread_mutex_destroy(&p.lock);
	return ret;
}

int sl_pump_run(struct sl_pump *pump, struct sl_err *err)
{
	return pump->threads > 1 ? run_pair(pump, err) : run_single(pump, err);
}
