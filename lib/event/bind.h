/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Binding: where the fields of events.def lie in the records of one recording.
 *
 * A recording carries the text of events/SYSTEM/NAME/format. sl_bind_format()
 * reads the field lines of one such text once, at open, and leaves offsets;
 * decoding a record then compares one length and loads. Of `print fmt` only the
 * state letters of sched_switch are read, so that a print fmt that makes no
 * sense changes nothing else.
 *
 * Everything here works on untrusted text and untrusted records.
 */
#ifndef SL_EVENT_BIND_H
#define SL_EVENT_BIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "util/err.h"

#define SL_BIND_FIELDS_MAX 24
#define SL_BIND_FLAGS_MAX 32
#define SL_BIND_STATES 512	/* states below this are looked up, others computed */

/* How the bytes of a field become the member of the payload. */
enum sl_bind_how {
	SL_BH_FALLBACK,		/* absent: store the default of events.def */
	SL_BH_I32,
	SL_BH_U64,
	SL_BH_I16,
	SL_BH_STATE,
	SL_BH_COMM,
	SL_BH_STR,
};

/* Where the bytes of a string are. */
enum sl_bind_where {
	SL_BW_INLINE,		/* char x[N] */
	SL_BW_DATA_LOC,		/* offset in the record | length << 16 */
	SL_BW_REL_LOC,		/* the same, the offset counts from the end of the field */
};

struct sl_bind_field {
	uint16_t src;		/* offset in the record */
	uint16_t bytes;		/* size in the record */
	uint16_t dst;		/* offset in struct sl_event, or in what it points to (wide) */
	uint8_t how;
	uint8_t where;
	bool is_signed, wide;
	int32_t fallback;
};

/* Kinds with a decoder of their own; only for layouts that it was written for. */
enum sl_bind_fast { SL_BF_NONE, SL_BF_SWITCH, SL_BF_WAKE, SL_BF_MIGRATE, SL_BF_COPY };

struct sl_bind {
	enum sl_ev_kind kind;
	enum sl_bind_fast fast;
	uint16_t id;
	uint16_t min_bytes;	/* every fixed-size field lies below this */
	bool swap;		/* the recording has the other byte order */
	struct {
		uint16_t flags, pid;
		uint8_t flags_bytes, pid_bytes;	/* 0: the recording has no such field */
	} common;
	unsigned int nr_fields;
	struct sl_bind_field fields[SL_BIND_FIELDS_MAX];
	union {			/* offsets for the decoders of bind_fast.h */
		struct {
			uint16_t prev_comm, prev_pid, prev_prio, prev_state;
			uint16_t next_comm, next_pid, next_prio;
			bool state_is_64;
		} sw;
		struct {
			uint16_t comm, pid, prio, target_cpu;
		} wake;
		struct {
			uint16_t comm, pid, prio, orig_cpu, dest_cpu;
		} migrate;
		struct {	/* the record has the members as the payload has them */
			uint16_t src, dst, bytes;
		} copy;
	};
	struct {		/* sched_switch only */
		unsigned int nr;
		struct {
			uint64_t mask;
			char letter;
		} flag[SL_BIND_FLAGS_MAX];	/* ascending mask */
		uint64_t plus_mask;		/* these bits mean "still runnable, preempted" */
		uint16_t known[SL_BIND_STATES];	/* letter | preempted << 8 */
	} state;
};

/* What a format text says of itself. */
struct sl_bind_name {
	char name[64];		/* cut when longer: no name of events.def is */
	uint32_t id;
};

/*
 * Name and ID of a format text (not NUL-terminated). Costs two lines, not the
 * whole text. False when there are none, or the ID does not fit 16 bits.
 */
bool sl_bind_peek(const char *text, size_t len, struct sl_bind_name *ret_name);

/*
 * Bind a format text to an event of events.def. SL_EDATA with the reason when a
 * mandatory field is missing or of a type that we cannot read.
 */
int sl_bind_format(const char *text, size_t len, const struct sl_event_desc *desc,
		   bool big_endian, struct sl_bind *ret_bind, struct sl_err *err);

/* The letter (and in *ret_preempted 0 or 1) that the recording prints for a state. */
char sl_bind_state(const struct sl_bind *bind, uint64_t state, uint8_t *ret_preempted);

/*
 * Strings and wide payloads of the events of one batch. They live until sl_bind_strings_reset();
 * memory is kept, so that there is no allocation per event after warm-up.
 */
struct sl_bind_strings {
	struct sl_bind_strings_block *first, *current;
	size_t used;		/* bytes handed out since the reset */
};

void sl_bind_strings_reset(struct sl_bind_strings *strings);
void sl_bind_strings_release(struct sl_bind_strings *strings);

/*
 * Decode one record (behind its ring-buffer header) into all members of *ev but
 * ts_ns and cpu. False: the record does not fit its format (or no memory for a
 * string or a wide payload), *ev is then undefined.
 */
bool sl_bind_decode(const struct sl_bind *bind, const unsigned char *rec, unsigned int len,
		    struct sl_bind_strings *strings, struct sl_event *ev);

/* A name of at most `len` bytes, NUL padded: two equal names compare equal with memcmp(). */
void sl_bind_copy_comm(char dst[SL_COMM_LEN], const unsigned char *src, unsigned int len);

#endif
