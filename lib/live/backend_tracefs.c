// SPDX-License-Identifier: LGPL-2.1-only
/* Recording through a tracefs instance of our own. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/flight.h"
#include "live/instance.h"
#include "live/reader.h"
#include "live/session.h"
#include "live/tracefs.h"

struct state {
	struct sl_instance instance;
	struct sl_readers *readers;
	struct sl_flight *flight;	/* NULL: everything is kept */
	struct sl_flight_stats flight_stats;
};

static void note_stale(void *arg, const char *name)
{
	char text[256];

	snprintf(text, sizeof(text), "removed the tracefs instance '%.100s' that a killed recording left behind",
		 name);
	sl_session_note(arg, text);
}

static int fill_stream(struct sl_session *s, const struct sl_instance *instance, struct sl_err *err)
{
	struct sl_stream *stream = &s->stream;

	snprintf(stream->clock, sizeof(stream->clock), "%s", instance->clock);
	stream->page_bytes = instance->page_bytes;
	stream->buffer_bytes = instance->buffer_bytes;
	stream->nr_cpus = instance->nr_cpus;
	stream->nr_kinds = instance->nr_enabled;
	stream->cpus = malloc(instance->nr_cpus * sizeof(*stream->cpus));
	stream->formats = calloc(sl_event_descs_nr, sizeof(*stream->formats));
	stream->header_page = strdup(instance->header_page);
	stream->header_event = strdup(instance->header_event);
	if (!stream->cpus || !stream->formats || !stream->header_page || !stream->header_event)
		return sl_err_set(err, -ENOMEM, "cannot record: out of memory");
	memcpy(stream->cpus, instance->cpus, instance->nr_cpus * sizeof(*stream->cpus));
	for (unsigned int i = 0; i < sl_event_descs_nr; i++) {
		if (!instance->enabled[i])
			continue;
		stream->formats[i] = sl_instance_format(instance, &sl_event_descs[i]);
		if (!stream->formats[i])
			return sl_err_set(err, -EIO, "cannot read the format of event %s:%s",
					  sl_event_descs[i].system, sl_event_descs[i].name);
	}
	return 0;
}

static int backend_open(struct sl_session *s, struct sl_err *err)
{
	const struct sl_instance_params params = {
		.buffer_bytes = s->params->buffer_bytes,
		.cpus = s->params->cpus,
		.irq = s->params->irq,
	};
	struct sl_tracefs tracefs;
	struct state *state;
	int r;

	r = sl_tracefs_use(&tracefs, err);
	if (r < 0)
		return r;
	sl_instance_remove_stale(note_stale, s);
	s->state = state = calloc(1, sizeof(*state));
	if (!state)
		return sl_err_set(err, -ENOMEM, "cannot record: out of memory");
	r = sl_instance_create(&params, &state->instance, err);
	return r < 0 ? r : fill_stream(s, &state->instance, err);
}

static int start_flight(struct sl_session *s, struct sl_err *err)
{
	struct state *state = s->state;
	const struct sl_flight_params params = {
		.instance = &state->instance,
		.fds = s->fds,
		.formats = s->stream.formats,
		.flight_ns = s->params->flight_ns,
		.threshold_ns = s->params->threshold_ns,
	};

	return sl_flight_new(&params, &state->flight, err);
}

static int backend_prepare(struct sl_session *s, struct sl_err *err)
{
	struct state *state = s->state;
	struct sl_readers_params params = {
		.instance = &state->instance,
		.avoid_cpus = s->params->cpus,
	};
	unsigned int nr_tids;
	const int *tids;
	int r;

	if (s->params->flight_ns) {
		r = start_flight(s, err);
		if (r < 0)
			return r;
		params.sink = sl_flight_sink(state->flight);
	} else {
		params.fds = s->fds;
	}
	r = sl_readers_start(&params, &state->readers, err);
	if (r < 0 || !state->flight)
		return r;
	tids = sl_readers_tids(state->readers, &nr_tids);
	return sl_flight_ignore(state->flight, tids, nr_tids, err);
}

static void backend_start_meta(struct sl_session *s)
{
	if (!s->params->flight_ns)
		return;
	sl_kv_add(&s->meta, "flight", "1");
	sl_kv_addf(&s->meta, "flight.ns", "%" PRIu64, s->params->flight_ns);
	sl_kv_addf(&s->meta, "flight.threshold_ns", "%" PRIu64, s->params->threshold_ns);
}

static const int *backend_tids(struct sl_session *s, unsigned int *ret_nr)
{
	const struct state *state = s->state;

	return sl_readers_tids(state->readers, ret_nr);
}

static int backend_error_fd(struct sl_session *s)
{
	const struct state *state = s->state;

	return sl_readers_error_fd(state->readers);
}

static uint64_t backend_now_ns(struct sl_session *s)
{
	struct state *state = s->state;

	return sl_instance_now(&state->instance);
}

static int backend_start(struct sl_session *s, struct sl_err *err)
{
	struct state *state = s->state;

	s->start_ns = sl_instance_now(&state->instance);
	return sl_instance_set_tracing(&state->instance, true, err);
}

static int finish_flight(struct sl_session *s, struct sl_err *err)
{
	struct state *state = s->state;
	struct sl_record_result *result = s->result;
	int r = sl_flight_finish(state->flight, s->bytes, &state->flight_stats, err);

	result->waits = state->flight_stats.waits;
	result->waits_above = state->flight_stats.waits_above;
	result->windows = state->flight_stats.windows;
	result->events_kept = state->flight_stats.events_kept;
	result->pages_dropped = state->flight_stats.pages_dropped;
	if (r < 0)
		result->truncated = true;
	return r;
}

static void take_stats(struct sl_session *s)
{
	struct state *state = s->state;

	for (unsigned int i = 0; i < s->stream.nr_cpus; i++) {
		struct sl_instance_stats stats;

		if (!sl_instance_stats(&state->instance, s->stream.cpus[i], &stats))
			continue;
		s->stats[i].events = stats.read;
		s->stats[i].lost = stats.overrun + stats.commit_overrun + stats.dropped;
		snprintf(s->stats[i].text, sizeof(s->stats[i].text), "%s", stats.text);
	}
}

static void add_flight_meta(struct sl_session *s)
{
	const struct state *state = s->state;
	const struct sl_flight_stats *stats = &state->flight_stats;
	struct sl_kv_list *list = &s->end_meta;

	sl_kv_addf(list, "flight.windows", "%" PRIu64, stats->windows);
	sl_kv_addf(list, "flight.waits_total", "%" PRIu64, stats->waits);
	sl_kv_addf(list, "flight.waits_above", "%" PRIu64, stats->waits_above);
	sl_kv_addf(list, "flight.events_kept", "%" PRIu64, stats->events_kept);
	sl_kv_addf(list, "flight.events_dropped", "%" PRIu64, stats->events_dropped);
	sl_kv_addf(list, "flight.kept_pages", "%" PRIu64, stats->pages_kept);
	sl_kv_addf(list, "flight.dropped_pages", "%" PRIu64, stats->pages_dropped);
	sl_kv_addf(list, "flight.dropped_bytes", "%" PRIu64,
		   stats->pages_dropped * s->stream.page_bytes);
	sl_kv_addf(list, "flight.early_pages", "%" PRIu64, stats->pages_early);
	sl_kv_addf(list, "flight.margin_ns", "%" PRIu64, stats->margin_ns);
}

static int backend_stop(struct sl_session *s, struct sl_err *err)
{
	struct state *state = s->state;
	struct sl_err reader_err;
	int r, r2;

	/* The producers stop first, so that the readers can come to an end. */
	r = sl_instance_set_tracing(&state->instance, false, err);
	s->stop_ns = sl_instance_now(&state->instance);
	r2 = sl_readers_stop(state->readers, s->bytes, &reader_err);
	if (r2 < 0) {
		s->result->truncated = true;
		if (!r)
			r = sl_err_set(err, r2, "%s; '%s' holds what was recorded until then",
				       reader_err.msg, s->params->path);
	}
	if (state->flight) {
		r2 = finish_flight(s, r < 0 ? NULL : err);
		r = r < 0 ? r : r2;
		add_flight_meta(s);
	}
	take_stats(s);
	return r;
}

struct sl_instance *sl_backend_tracefs_instance(const struct sl_session *s)
{
	struct state *state = s->state;

	return &state->instance;
}

static int backend_close(struct sl_session *s, struct sl_err *err)
{
	struct state *state = s->state;
	int r;

	sl_readers_free(state->readers);
	sl_flight_free(state->flight);
	r = sl_instance_remove(&state->instance, err);
	free(state);
	s->state = NULL;
	return r;
}

const struct sl_backend sl_backend_tracefs = {
	.name = "tracefs",
	.open = backend_open,
	.prepare = backend_prepare,
	.start_meta = backend_start_meta,
	.tids = backend_tids,
	.error_fd = backend_error_fd,
	.now_ns = backend_now_ns,
	.start = backend_start,
	.stop = backend_stop,
	.close = backend_close,
};
