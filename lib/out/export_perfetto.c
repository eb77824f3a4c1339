// SPDX-License-Identifier: LGPL-2.1-only
/*
 * A trace for Perfetto: a slice per wait on the track of its thread, named by its primary
 * cause, with its segments as slices in it; a flow from who woke it.
 *
 * Protocol buffers and not the JSON that Perfetto reads too: there a time is a number of
 * microseconds, which as a double is no longer exact to the ns after some weeks of uptime,
 * and there is no way to say who ran on a CPU.
 */
#include "out/export_perfetto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "util/time.h"

static const char *const annotation_names[] = {
#define X(id, name) name,
	SL_PERFETTO_ANNOTATIONS(X)
#undef X
};

/* A wait is named by its kind and its primary cause, SL_CAUSE_NONE included. */
static unsigned int name_of_wait(enum sl_wait_kind kind, enum sl_cause primary)
{
	return EVENT_NAME_WAITS + (unsigned int)kind * (SL_CAUSE_NR + 1) + (unsigned int)primary;
}

static unsigned int name_of_segment(enum sl_cause cause)
{
	return name_of_wait(SL_WAIT_NR, (enum sl_cause)0) + (unsigned int)cause;
}

void sl_perfetto_open(struct sl_perfetto *p, unsigned int sequence)
{
	sl_proto_begin(&p->proto, TRACE_PACKET);
	sl_proto_uint(&p->proto, PACKET_SEQUENCE, sequence);
}

int sl_perfetto_close(struct sl_perfetto *p)
{
	sl_proto_end(&p->proto);
	if (p->proto.failed)
		return -ENOMEM;
	fwrite(p->proto.data, 1, p->proto.len, p->out->file);
	p->proto.len = 0;
	return 0;
}

void sl_perfetto_open_event(struct sl_perfetto *p, uint64_t uuid, uint64_t ns, unsigned int type,
			    unsigned int name)
{
	sl_perfetto_open(p, SEQUENCE_WAITS);
	sl_proto_uint(&p->proto, PACKET_SEQUENCE_FLAGS, SEQ_NEEDS_STATE);
	sl_proto_uint(&p->proto, PACKET_TIMESTAMP, ns);
	sl_proto_begin(&p->proto, PACKET_TRACK_EVENT);
	sl_proto_uint(&p->proto, EVENT_TYPE, type);
	sl_proto_uint(&p->proto, EVENT_TRACK, uuid);
	if (name)
		sl_proto_uint(&p->proto, EVENT_NAME_IID, name);
}

int sl_perfetto_close_event(struct sl_perfetto *p)
{
	sl_proto_end(&p->proto);
	return sl_perfetto_close(p);
}

int sl_perfetto_end_slice(struct sl_perfetto *p, uint64_t uuid, uint64_t ns)
{
	sl_perfetto_open_event(p, uuid, ns, TYPE_END, 0);
	return sl_perfetto_close_event(p);
}

int sl_perfetto_track(struct sl_perfetto *p, uint64_t uuid, uint64_t parent, const char *name,
		      bool counter)
{
	char text[64];

	sl_perfetto_open(p, SEQUENCE_WAITS);
	sl_proto_begin(&p->proto, PACKET_TRACK_DESCRIPTOR);
	sl_proto_uint(&p->proto, TRACK_UUID, uuid);
	if (parent)
		sl_proto_uint(&p->proto, TRACK_PARENT, parent);
	sl_proto_text(&p->proto, TRACK_NAME, sl_fmt_escape(text, sizeof(text), name, true));
	if (counter) {
		sl_proto_begin(&p->proto, TRACK_COUNTER);
		sl_proto_uint(&p->proto, COUNTER_UNIT, UNIT_COUNT);
		sl_proto_end(&p->proto);
	}
	sl_proto_end(&p->proto);
	return sl_perfetto_close(p);
}

static void note_begin(struct sl_perfetto *p, unsigned int name)
{
	sl_proto_begin(&p->proto, EVENT_ANNOTATION);
	sl_proto_uint(&p->proto, ANNOTATION_NAME_IID, name);
}

void sl_perfetto_note_text(struct sl_perfetto *p, unsigned int name, const char *text)
{
	char escaped[1024];

	if (!text || !*text)
		return;
	note_begin(p, name);
	sl_proto_text(&p->proto, ANNOTATION_TEXT, sl_fmt_escape(escaped, sizeof(escaped), text, true));
	sl_proto_end(&p->proto);
}

void sl_perfetto_note_uint(struct sl_perfetto *p, unsigned int name, uint64_t value)
{
	note_begin(p, name);
	sl_proto_uint(&p->proto, ANNOTATION_UINT, value);
	sl_proto_end(&p->proto);
}

void sl_perfetto_note_int(struct sl_perfetto *p, unsigned int name, int64_t value)
{
	if (value == SL_NO_VALUE)
		return;
	note_begin(p, name);
	sl_proto_int(&p->proto, ANNOTATION_INT, value);
	sl_proto_end(&p->proto);
}

/* ---- names ---- */

static void intern(struct sl_perfetto *p, unsigned int field, unsigned int iid, const char *name)
{
	sl_proto_begin(&p->proto, field);
	sl_proto_uint(&p->proto, NAME_IID, iid);
	sl_proto_text(&p->proto, NAME_NAME, name);
	sl_proto_end(&p->proto);
}

static void intern_waits(struct sl_perfetto *p)
{
	unsigned int kind, cause;
	char name[96];

	for (kind = 0; kind < SL_WAIT_NR; kind++)
		for (cause = 0; cause <= SL_CAUSE_NR; cause++) {
			snprintf(name, sizeof(name), "%s wait%s%s", sl_wait_kind_name(kind),
				 cause < SL_CAUSE_NR ? ": " : "",
				 cause < SL_CAUSE_NR ? sl_cause_descs[cause].id : "");
			intern(p, INTERNED_EVENT_NAMES, name_of_wait(kind, cause), name);
		}
	for (cause = 0; cause < SL_CAUSE_HOLD_NR; cause++)
		intern(p, INTERNED_EVENT_NAMES, name_of_segment(cause), sl_cause_descs[cause].id);
}

/* All names, once, in the first packet: the others refer to them by number. */
static int write_names(struct sl_perfetto *p)
{
	unsigned int i;

	sl_perfetto_open(p, SEQUENCE_WAITS);
	sl_proto_uint(&p->proto, PACKET_SEQUENCE_FLAGS, SEQ_STATE_CLEARED);
	sl_proto_begin(&p->proto, PACKET_INTERNED);
	intern(p, INTERNED_EVENT_NAMES, EVENT_NAME_WAKES, "wakes");
	intern(p, INTERNED_EVENT_NAMES, EVENT_NAME_LOST, "events lost");
	intern(p, INTERNED_EVENT_NAMES, EVENT_NAME_RECORDING, "recording");
	intern_waits(p);
	for (i = 1; i < ANNOTATION_COLUMNS; i++)
		intern(p, INTERNED_ANNOTATION_NAMES, i, annotation_names[i]);
	for (i = 0; i < sl_columns_nr; i++)
		if (sl_columns[i].set == SL_SET_WAIT)
			intern(p, INTERNED_ANNOTATION_NAMES, ANNOTATION_COLUMNS + i, sl_columns[i].key);
	sl_proto_end(&p->proto);
	return sl_perfetto_close(p);
}

/* ---- tracks ---- */

/* The track of a thread. One whose process is not known has no place in a process. */
static int thread_track(struct sl_perfetto *p, int32_t tid, int32_t tgid, const char *comm,
			uint64_t *ret_uuid)
{
	uint64_t uuid = sl_perfetto_uuid(TRACK_OF_THREAD, (uint32_t)tid);
	uint64_t unknown = sl_perfetto_uuid(TRACK_OF_UNKNOWN_PROCESS, 0);
	struct sl_task *t = sl_tasks_get(&p->threads, tid);
	char name[64], text[96];
	int ret = 0;

	if (!t)
		return -ENOMEM;
	*ret_uuid = uuid;
	if (t->verdict)
		return 0;
	t->verdict = 1;
	if (tgid < 0) {
		if (!p->unknown_process)
			ret = sl_perfetto_track(p, unknown, 0, "unknown process", false);
		p->unknown_process = true;
		snprintf(text, sizeof(text), "%.16s %" PRId32, comm, tid);
		return ret ? ret : sl_perfetto_track(p, uuid, unknown, text, false);
	}
	sl_perfetto_open(p, SEQUENCE_WAITS);
	sl_proto_begin(&p->proto, PACKET_TRACK_DESCRIPTOR);
	sl_proto_uint(&p->proto, TRACK_UUID, uuid);
	sl_proto_begin(&p->proto, TRACK_THREAD);
	sl_proto_int(&p->proto, THREAD_PID, tgid);
	sl_proto_int(&p->proto, THREAD_TID, tid);
	sl_proto_text(&p->proto, THREAD_NAME, sl_fmt_escape(name, sizeof(name), comm, true));
	sl_proto_end(&p->proto);
	sl_proto_end(&p->proto);
	return sl_perfetto_close(p);
}

/* Where a wakeup is shown: on the thread that did it, or on the CPU that was interrupted or idle. */
static int waker_track(struct sl_perfetto *p, const struct sl_wait *wait, uint64_t *ret_uuid)
{
	uint32_t cpu = (uint32_t)wait->waker_cpu;
	char name[64];

	if (wait->waker_context == SL_WAKER_TASK && wait->waker_tid > 0)
		return thread_track(p, wait->waker_tid, wait->waker_tgid, wait->waker_comm, ret_uuid);
	*ret_uuid = sl_perfetto_uuid(TRACK_OF_WAKEUPS, cpu);
	if (p->wakeup_tracks[cpu / 64] >> cpu % 64 & 1)
		return 0;
	p->wakeup_tracks[cpu / 64] |= 1ull << cpu % 64;
	snprintf(name, sizeof(name), "wakeups by interrupts and idle, CPU %" PRIu32, cpu);
	return sl_perfetto_track(p, *ret_uuid, 0, name, false);
}

/* ---- waits ---- */

static int write_waker(struct sl_perfetto *p, const struct sl_wait *wait, uint64_t flow)
{
	uint64_t uuid;
	int ret;

	ret = waker_track(p, wait, &uuid);
	if (ret)
		return ret;
	sl_perfetto_open_event(p, uuid, wait->waking_ns, TYPE_INSTANT, EVENT_NAME_WAKES);
	sl_proto_fixed64(&p->proto, EVENT_FLOW, flow);
	sl_perfetto_note_text(p, ANNOTATION_WAKEE, wait->comm);
	sl_perfetto_note_int(p, ANNOTATION_WAKEE_TID, wait->tid);
	return sl_perfetto_close_event(p);
}

static void note_column(struct sl_perfetto *p, unsigned int i, const struct sl_wait *wait)
{
	struct sl_cell cell;

	sl_columns[i].get(wait, &cell);
	if (!cell.known)
		return;
	if (cell.type == SL_CELL_TEXT)
		sl_perfetto_note_text(p, ANNOTATION_COLUMNS + i, cell.text);
	else if (cell.type == SL_CELL_INT)
		sl_perfetto_note_int(p, ANNOTATION_COLUMNS + i, (int64_t)cell.value);
	else
		sl_perfetto_note_uint(p, ANNOTATION_COLUMNS + i, cell.value);
}

static void note_decision(struct sl_perfetto *p, const struct sl_fair_decision *d)
{
	if (d->at == SL_DECIDED_NOWHERE)
		return;
	sl_perfetto_note_text(p, ANNOTATION_AT, sl_decided_at_name(d->at));
	sl_perfetto_note_int(p, ANNOTATION_BY, d->by_ns);
	sl_perfetto_note_int(p, ANNOTATION_LAG, d->lag_ns);
	sl_perfetto_note_int(p, ANNOTATION_BEHIND, d->deadline_behind_ns);
	sl_perfetto_note_int(p, ANNOTATION_PROTECTED, d->protected_ns);
	sl_perfetto_note_int(p, ANNOTATION_SLICE, d->slice_ns);
	sl_perfetto_note_text(p, ANNOTATION_RIVAL, d->rival_comm);
	sl_perfetto_note_int(p, ANNOTATION_RIVAL_TID, d->rival_tid < 0 ? SL_NO_VALUE : d->rival_tid);
	sl_perfetto_note_int(p, ANNOTATION_RIVAL_SLICE, d->rival_slice_ns);
	sl_perfetto_note_int(p, ANNOTATION_OVERRUN, d->overrun_ns);
}

static int write_segment(struct sl_perfetto *p, uint64_t uuid, const struct sl_segment *seg)
{
	int ret;

	sl_perfetto_open_event(p, uuid, seg->start_ns, TYPE_BEGIN, name_of_segment(seg->cause));
	sl_perfetto_note_text(p, ANNOTATION_CONFIDENCE, sl_confidence_name(seg->confidence));
	sl_perfetto_note_int(p, ANNOTATION_CPU, seg->cpu < 0 ? SL_NO_VALUE : seg->cpu);
	if (seg->occupant_tid >= 0) {
		sl_perfetto_note_text(p, ANNOTATION_OCCUPANT, seg->occupant_comm);
		sl_perfetto_note_int(p, ANNOTATION_OCCUPANT_TID, seg->occupant_tid);
	}
	sl_perfetto_note_text(p, ANNOTATION_EVIDENCE, seg->evidence_event);
	if (seg->evidence_event && seg->evidence_ns != SL_TIME_NONE)
		sl_perfetto_note_uint(p, ANNOTATION_EVIDENCE_NS, seg->evidence_ns);
	note_decision(p, &seg->decision);
	ret = sl_perfetto_close_event(p);
	return ret ? ret : sl_perfetto_end_slice(p, uuid, seg->start_ns + seg->ns);
}

static int on_wait(void *state, const struct sl_wait *wait)
{
	struct sl_perfetto *p = state;
	uint64_t uuid, end_ns = wait->start_ns + wait->delay_ns, flow = 0;
	enum sl_cause primary = wait->primary < SL_CAUSE_NR ? wait->primary : SL_CAUSE_NONE;
	unsigned int i;
	int ret = 0;

	if (wait->waking_ns != SL_WAIT_NO_TIME && wait->waker_tid >= 0 && wait->waker_cpu >= 0)
		flow = ++p->flows;
	if (flow)
		ret = write_waker(p, wait, flow);
	if (!ret)
		ret = thread_track(p, wait->tid, wait->tgid, wait->comm, &uuid);
	if (ret)
		return ret;
	sl_perfetto_open_event(p, uuid, wait->start_ns, TYPE_BEGIN, name_of_wait(wait->kind, primary));
	if (flow)
		sl_proto_fixed64(&p->proto, EVENT_FLOW_END, flow);
	for (i = 0; i < sl_columns_nr; i++)
		if (sl_columns[i].set == SL_SET_WAIT)
			note_column(p, i, wait);
	ret = sl_perfetto_close_event(p);
	for (i = 0; i < wait->nr_segments && !ret; i++)
		ret = write_segment(p, uuid, &wait->segments[i]);
	p->waits++;
	if (wait->start_ns < p->first_ns)
		p->first_ns = wait->start_ns;
	if (flow && wait->waking_ns < p->first_ns)
		p->first_ns = wait->waking_ns;
	if (end_ns > p->last_ns)
		p->last_ns = end_ns;
	return ret ? ret : sl_perfetto_end_slice(p, uuid, end_ns);
}

/* ---- begin and end ---- */

/* What was measured, of what, and what was lost: on a track of its own. */
static int write_recording(struct sl_perfetto *p, const struct sl_report *report)
{
	uint64_t uuid = sl_perfetto_uuid(TRACK_OF_RECORDING, 0);
	unsigned int kind, waits = report->params.waits;
	char kinds[64] = "";
	int ret;

	for (kind = 0; kind < SL_WAIT_NR; kind++)
		if (waits >> kind & 1)
			snprintf(kinds + strlen(kinds), sizeof(kinds) - strlen(kinds), "%s%s",
				 kinds[0] ? "," : "", sl_wait_kind_name(kind));
	ret = sl_perfetto_track(p, uuid, 0, "schedlat", false);
	if (ret)
		return ret;
	sl_perfetto_open_event(p, uuid, report->t_start_ns, TYPE_BEGIN, EVENT_NAME_RECORDING);
	sl_perfetto_note_text(p, ANNOTATION_TOOL, sl_out_version());
	sl_perfetto_note_text(p, ANNOTATION_FILE, report->info->path);
	sl_perfetto_note_text(p, ANNOTATION_KERNEL, report->info->kernel);
	sl_perfetto_note_text(p, ANNOTATION_CLOCK, report->info->clock);
	sl_perfetto_note_text(p, ANNOTATION_BACKEND, report->backend);
	sl_perfetto_note_text(p, ANNOTATION_FROM, report->params.from == SL_FROM_WAKEUP ? "wakeup" : "waking");
	sl_perfetto_note_text(p, ANNOTATION_KINDS, kinds);
	sl_perfetto_note_uint(p, ANNOTATION_NR_WAITS, p->waits);
	sl_perfetto_note_uint(p, ANNOTATION_NR_LOST, report->lost_events);
	sl_perfetto_note_uint(p, ANNOTATION_NR_GAPS, report->lost_gaps);
	ret = sl_perfetto_close_event(p);
	return ret ? ret : sl_perfetto_end_slice(p, uuid, report->t_end_ns);
}

static void end(void *state)
{
	struct sl_perfetto *p = state;

	if (!p)
		return;
	sl_proto_release(&p->proto);
	sl_tasks_release(&p->threads);
	free(p);
}

static int begin(struct sl_out *out, const struct sl_out_view *view, void **ret_state)
{
	struct sl_perfetto *p = calloc(1, sizeof(*p));

	(void)view;
	if (!p)
		return -ENOMEM;
	p->out = out;
	p->first_ns = UINT64_MAX;
	if (sl_tasks_init(&p->threads) || write_names(p)) {
		end(p);
		return -ENOMEM;
	}
	*ret_state = p;
	return 0;
}

static int finish(void *state, const struct sl_report *report, struct sl_err *err)
{
	int ret = write_recording(state, report);

	if (!ret)
		return sl_perfetto_events(state, report, err);
	return sl_err_set(err, ret, "out of memory");
}

const struct sl_exporter sl_export_perfetto = {
	.name = "perfetto",
	.doc = "a trace for Perfetto's viewer",
	.binary = true,
	.begin = begin,
	.wait = on_wait,
	.finish = finish,
	.end = end,
};
