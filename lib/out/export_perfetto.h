/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * A Perfetto trace under construction; private to its two files. The numbers are those of
 * the fields in Perfetto's protos (trace_packet.proto and what it includes, v56).
 */
#ifndef SL_OUT_EXPORT_PERFETTO_H
#define SL_OUT_EXPORT_PERFETTO_H

#include "out/export.h"
#include "out/proto.h"
#include "sched/task.h"

enum { TRACE_PACKET = 1 };
enum { PACKET_FTRACE = 1, PACKET_PROCESS_TREE = 2, PACKET_TIMESTAMP = 8, PACKET_SEQUENCE = 10,
       PACKET_TRACK_EVENT = 11, PACKET_INTERNED = 12, PACKET_SEQUENCE_FLAGS = 13,
       PACKET_SYSTEM_INFO = 45, PACKET_TRACK_DESCRIPTOR = 60 };
enum { SEQ_STATE_CLEARED = 1, SEQ_NEEDS_STATE = 2 };
enum { INTERNED_EVENT_NAMES = 2, INTERNED_ANNOTATION_NAMES = 3 };
enum { NAME_IID = 1, NAME_NAME = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, UNIT_COUNT = 2 };
enum { EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_NAME_IID = 10, EVENT_TRACK = 11,
       EVENT_COUNTER_VALUE = 30, EVENT_FLOW = 47, EVENT_FLOW_END = 48 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { ANNOTATION_NAME_IID = 1, ANNOTATION_UINT = 3, ANNOTATION_INT = 4, ANNOTATION_TEXT = 6 };

/* One sequence for what we say, one for what the kernel's tracepoints said. */
enum { SEQUENCE_WAITS = 1, SEQUENCE_FTRACE = 2 };

/* A track's uuid: what it is in the upper half, a thread or a CPU in the lower. */
enum sl_perfetto_track { TRACK_OF_RECORDING = 1, TRACK_OF_THREAD, TRACK_OF_UNKNOWN_PROCESS,
			 TRACK_OF_WAKEUPS, TRACK_OF_QUEUE, TRACK_OF_LOSS };

/* Names of events; behind them those of waits (kind and primary cause) and of segments (cause). */
enum { EVENT_NAME_WAKES = 1, EVENT_NAME_LOST, EVENT_NAME_RECORDING, EVENT_NAME_WAITS };

/* Names of annotations; behind them the columns of a wait. */
#define SL_PERFETTO_ANNOTATIONS(X)								\
	X(NONE, "") X(WAKEE, "wakee") X(WAKEE_TID, "wakee_tid") X(CONFIDENCE, "confidence")	\
	X(CPU, "cpu") X(OCCUPANT, "occupant_comm") X(OCCUPANT_TID, "occupant_tid")		\
	X(EVIDENCE, "evidence") X(EVIDENCE_NS, "evidence_ns") X(AT, "decided_at")		\
	X(BY, "by_ns") X(LAG, "lag_ns") X(BEHIND, "deadline_behind_ns")				\
	X(PROTECTED, "protected_ns") X(SLICE, "slice_ns") X(RIVAL, "rival_comm")		\
	X(RIVAL_TID, "rival_tid") X(RIVAL_SLICE, "rival_slice_ns") X(OVERRUN, "overrun_ns")	\
	X(LOST, "lost_events") X(TOOL, "schedlat") X(FILE, "file") X(KERNEL, "kernel")		\
	X(CLOCK, "clock") X(BACKEND, "backend") X(FROM, "from") X(KINDS, "waits")		\
	X(NR_WAITS, "exported_waits") X(NR_LOST, "lost_events_in_all") X(NR_GAPS, "gaps")
enum {
#define X(id, name) ANNOTATION_##id,
	SL_PERFETTO_ANNOTATIONS(X)
#undef X
	ANNOTATION_COLUMNS
};

struct sl_perfetto {
	struct sl_out *out;
	struct sl_proto proto;
	struct sl_tasks threads;	/* those that have a track: verdict is set */
	uint64_t wakeup_tracks[SL_CPUMASK_WORDS];	/* CPUs that have one */
	bool unknown_process;		/* the track above threads of unknown processes is there */
	uint64_t flows, waits;
	uint64_t first_ns, last_ns;	/* of all waits; first > last: there was none */
};

static inline uint64_t sl_perfetto_uuid(enum sl_perfetto_track what, uint32_t which)
{
	return (uint64_t)what << 32 | which;
}

/* A packet: open, fields, close. Closing writes it. 0 or -ENOMEM. */
void sl_perfetto_open(struct sl_perfetto *p, unsigned int sequence);
int sl_perfetto_close(struct sl_perfetto *p);
/* The same for an event on a track at a time; fields of the event come between. */
void sl_perfetto_open_event(struct sl_perfetto *p, uint64_t uuid, uint64_t ns, unsigned int type,
			    unsigned int name);
int sl_perfetto_close_event(struct sl_perfetto *p);
int sl_perfetto_end_slice(struct sl_perfetto *p, uint64_t uuid, uint64_t ns);
/* A track with a name; counts if it is a counter. 0 or -ENOMEM. */
int sl_perfetto_track(struct sl_perfetto *p, uint64_t uuid, uint64_t parent, const char *name,
		      bool counter);

/* Annotations of an open event. What is not known is left out. */
void sl_perfetto_note_text(struct sl_perfetto *p, unsigned int name, const char *text);
void sl_perfetto_note_uint(struct sl_perfetto *p, unsigned int name, uint64_t value);
void sl_perfetto_note_int(struct sl_perfetto *p, unsigned int name, int64_t value);

/*
 * Read the recording again: who ran and who was woken, how many were queued on each CPU,
 * what was lost, and which thread belongs to which process.
 */
int sl_perfetto_events(struct sl_perfetto *p, const struct sl_report *report, struct sl_err *err);

#endif
