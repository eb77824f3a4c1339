// SPDX-License-Identifier: LGPL-2.1-only
#include "event/event.h"

#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * One field table per kind. They sit in functions so that each can name its own
 * payload struct `self`, which a macro argument in events.def cannot.
 */
#define SL_EVENT(KIND, kind, system, name, group, doc, ...)                       \
	static const struct sl_field_desc *fields_##KIND(void)                    \
	{                                                                         \
		typedef struct sl_ev_##kind self __attribute__((unused));         \
		typedef struct sl_wide_##kind wide_self __attribute__((unused));  \
		static const struct sl_field_desc table[] = {                     \
			__VA_ARGS__ { NULL, SL_FT_I32, 0, false, 0, false }       \
		};                                                                \
		return table;                                                     \
	}
#define SL_EVENT_ALSO(...)
#define FIELD(f, type, opt, fallback)                                             \
	{ #f, type, offsetof(struct sl_event, lost) + offsetof(self, f), opt, fallback, false },
#define COMM(f)	      FIELD(f, SL_FT_COMM, false, 0)
#define I32(f)	      FIELD(f, SL_FT_I32, false, 0)
#define I32_OPT(f, d) FIELD(f, SL_FT_I32, true, d)
#define U64(f)	      FIELD(f, SL_FT_U64, false, 0)
#define PRIO(f)	      FIELD(f, SL_FT_PRIO, false, 0)
#define I16(f)	      FIELD(f, SL_FT_I16, false, 0)
#define STATE(f)      FIELD(f, SL_FT_STATE, false, 0)
#define STR(f)	      FIELD(f, SL_FT_STR, false, 0)
#define WIDE(kind)
#define W64(f)	      { #f, SL_FT_U64, offsetof(wide_self, f), false, 0, true },
#include "event/events.def"
#undef FIELD

static const char *const kind_name[] = {
#define SL_EVENT(KIND, kind, system, name, group, doc, ...) [SL_EV_##KIND] = name,
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
};

/* An empty struct has no bytes in GNU C. */
static const size_t wide_bytes[SL_EV_NR] = {
#define SL_EVENT(KIND, kind, system, name, group, doc, ...) [SL_EV_##KIND] = sizeof(struct sl_wide_##kind),
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
};

size_t sl_event_wide_bytes(enum sl_ev_kind kind)
{
	return kind < SL_EV_NR ? wide_bytes[kind] : 0;
}

const struct sl_event_desc sl_event_descs[] = {
#define SL_EVENT(KIND, kind, system, name, group, doc, ...)                       \
	{ SL_EV_##KIND, system, name, SL_EVG_##group, doc, fields_##KIND },
#define SL_EVENT_ALSO(KIND, system, name, group, doc)                             \
	{ SL_EV_##KIND, system, name, SL_EVG_##group, doc, fields_##KIND },
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
};

const unsigned int sl_event_descs_nr = ARRAY_SIZE(sl_event_descs);

const struct sl_event_desc *sl_event_desc_find(const char *system, const char *name)
{
	unsigned int i;

	for (i = 0; i < sl_event_descs_nr; i++)
		if (!strcmp(sl_event_descs[i].name, name) &&
		    !strcmp(sl_event_descs[i].system, system))
			return &sl_event_descs[i];
	return NULL;
}

const struct sl_event_desc *sl_event_desc_of(enum sl_ev_kind kind)
{
	unsigned int i;

	for (i = 0; i < sl_event_descs_nr; i++)
		if (sl_event_descs[i].kind == kind)
			return &sl_event_descs[i];
	return NULL;
}

const char *sl_event_kind_name(enum sl_ev_kind kind)
{
	return kind == SL_EV_LOST ? "lost" : kind_name[kind];
}

const char *sl_event_group_name(enum sl_ev_group group)
{
	static const char *const names[SL_EVG_NR] = {
		[SL_EVG_CORE] = "core", [SL_EVG_BASE] = "base", [SL_EVG_IRQ] = "irq",
		[SL_EVG_DECISION] = "decision", [SL_EVG_META] = "meta",
	};

	return names[group];
}
