/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Events: what every source delivers, whatever file or kernel it came from.
 *
 * struct sl_event is one cache line, plain data, generated from events.def.
 * A source delivers events ordered by ts_ns over all CPUs (ties: lower CPU
 * first, then recording order), so that consumers never sort.
 */
#ifndef SL_EVENT_EVENT_H
#define SL_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedlat/input.h"

enum sl_ev_kind {
#define SL_EVENT(KIND, kind, system, name, group, doc, fields) SL_EV_##KIND,
#define SL_EVENT_ALSO(...)
#define COMM(f)
#define I32(f)
#define I32_OPT(f, d)
#define U64(f)
#define PRIO(f)
#define I16(f)
#define STATE(f)
#define STR(f)
#define WIDE(kind)
#define W64(f)
#include "event/events.def"
	/*
	 * Not a tracepoint: events of this CPU between lost.from_ns and ts_ns are
	 * missing. ts_ns is the first instant known again; SL_TIME_NONE in
	 * lost.until_ns says that nothing of this CPU is known after from_ns.
	 */
	SL_EV_LOST,
	SL_EV_NR
};

enum sl_ev_group { SL_EVG_CORE, SL_EVG_BASE, SL_EVG_IRQ, SL_EVG_DECISION, SL_EVG_META, SL_EVG_NR };

/* Bits of sl_event.ctx: common_flags of the ring buffer (trace_flag_type, 6.18). */
enum sl_ctx {
	SL_CTX_IRQS_OFF = 0x01,
	SL_CTX_NEED_RESCHED_LAZY = 0x02, /* since PREEMPT_LAZY (6.13); older: irq state unsupported */
	SL_CTX_NEED_RESCHED = 0x04,
	SL_CTX_HARDIRQ = 0x08,
	SL_CTX_SOFTIRQ = 0x10,
	SL_CTX_PREEMPT_RESCHED = 0x20,
	SL_CTX_NMI = 0x40,
	SL_CTX_BH_OFF = 0x80,
};

/* What does not fit a payload: struct sl_wide_pick, ... (empty for most kinds). */
#define SL_EVENT(KIND, kind, system, name, group, doc, fields) struct sl_wide_##kind { fields };
#define SL_EVENT_ALSO(...)
#define COMM(f)
#define I32(f)
#define I32_OPT(f, d)
#define U64(f)
#define PRIO(f)
#define I16(f)
#define STATE(f)
#define STR(f)
#define WIDE(kind)
#define W64(f) uint64_t f;
#include "event/events.def"

/* Payloads: struct sl_ev_switch, struct sl_ev_waking, ... */
#define SL_EVENT(KIND, kind, system, name, group, doc, fields) struct sl_ev_##kind { fields };
#define SL_EVENT_ALSO(...)
#define COMM(f) char f[SL_COMM_LEN];
#define I32(f) int32_t f;
#define I32_OPT(f, d) int32_t f;
#define U64(f) uint64_t f;
#define PRIO(f) int16_t f;
#define I16(f) int16_t f;
#define STATE(f) char f; uint8_t f##_preempted;
#define STR(f) const char *f;
#define WIDE(kind) const struct sl_wide_##kind *wide;
#define W64(f)
#include "event/events.def"

struct sl_ev_lost {
	uint64_t from_ns;	/* last instant at which this CPU's events are known */
	uint64_t until_ns;	/* == ts_ns, or SL_TIME_NONE: unknown to the end */
	uint64_t count;		/* events missing; UINT64_MAX: an unknown number */
};

struct sl_event {
	uint64_t ts_ns;
	int32_t common_pid;	/* the task in whose context it was recorded */
	uint16_t cpu;		/* the CPU that recorded it */
	uint8_t kind;		/* enum sl_ev_kind */
	uint8_t ctx;		/* enum sl_ctx bits */
	union {
#define SL_EVENT(KIND, kind, system, name, group, doc, fields) struct sl_ev_##kind kind;
#define SL_EVENT_ALSO(...)
#define COMM(f)
#define I32(f)
#define I32_OPT(f, d)
#define U64(f)
#define PRIO(f)
#define I16(f)
#define STATE(f)
#define STR(f)
#define WIDE(kind)
#define W64(f)
#include "event/events.def"
		struct sl_ev_lost lost;
	};
};

_Static_assert(sizeof(struct sl_event) == 64, "an event is one cache line");

/* What events.def says about a field of a payload. */
enum sl_field_type { SL_FT_COMM, SL_FT_I32, SL_FT_U64, SL_FT_PRIO, SL_FT_I16, SL_FT_STATE, SL_FT_STR };

struct sl_field_desc {
	const char *name;
	enum sl_field_type type;
	uint16_t offset;	/* in struct sl_event; wide: in what its member `wide` points to */
	bool optional;
	int32_t fallback;	/* value when optional and absent */
	bool wide;
};

struct sl_event_desc {
	enum sl_ev_kind kind;
	const char *system;	/* "sched" */
	const char *name;	/* "sched_switch" */
	enum sl_ev_group group;
	const char *doc;
	const struct sl_field_desc *(*fields)(void); /* ends with a NULL name */
};

/* All tracepoints of events.def in file order (the ALSO entries included). */
extern const struct sl_event_desc sl_event_descs[];
extern const unsigned int sl_event_descs_nr;

/* By system and name; NULL when we have no use for it. */
const struct sl_event_desc *sl_event_desc_find(const char *system, const char *name);
/* The first entry of a kind (never NULL for a kind below SL_EV_LOST). */
const struct sl_event_desc *sl_event_desc_of(enum sl_ev_kind kind);
/* The tracepoint's name ("sched_switch", ...), or "lost"; of several, the first. */
const char *sl_event_kind_name(enum sl_ev_kind kind);
/* Bytes of the struct sl_wide_<kind> that events of this kind point to; 0: none. */
size_t sl_event_wide_bytes(enum sl_ev_kind kind);
/* Where an event of such a kind keeps the pointer. */
static inline const void **sl_event_wide(struct sl_event *ev)
{
	return (const void **)((char *)ev + offsetof(struct sl_event, lost));
}
/* "core", "base", "irq", "decision", "meta" */
const char *sl_event_group_name(enum sl_ev_group group);

#endif
