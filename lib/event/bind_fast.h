/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Decoders for the events that make up nearly all of a recording.
 *
 * They are chosen at bind time, only when the recording has this machine's byte
 * order, names are char[16] and numbers have 4 bytes (prev_state 4 or 8): then a
 * record costs a length comparison and loads at run-time offsets. All else goes
 * through sl_bind_decode(), which gives the same events.
 */
#ifndef SL_EVENT_BIND_FAST_H
#define SL_EVENT_BIND_FAST_H

#include "event/bind.h"
#include "event/bytes.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* 16 bytes of name: what stands behind the first NUL is cleared, the last byte always. */
static inline void sl_bind_comm16(char dst[SL_COMM_LEN], const unsigned char *src)
{
#ifdef __SSE2__
	/* 15 bytes to keep at most: a window into this, starting at 15 - length, is the mask. */
	static const uint8_t keep[32] __attribute__((aligned(32))) = {
		255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	};
	__m128i name = _mm_loadu_si128((const __m128i *)src);
	unsigned int nul = _mm_movemask_epi8(_mm_cmpeq_epi8(name, _mm_setzero_si128()));
	unsigned int len = __builtin_ctz(nul | 1u << (SL_COMM_LEN - 1));
	__m128i mask = _mm_loadu_si128((const __m128i *)(keep + SL_COMM_LEN - 1 - len));

	_mm_storeu_si128((__m128i *)dst, _mm_and_si128(name, mask));
#else
	sl_bind_copy_comm(dst, src, SL_COMM_LEN);
#endif
}

static inline int32_t sl_bind_s32(const unsigned char *p)
{
	return (int32_t)sl_load32(p, false);
}

static inline int16_t sl_bind_i16(int32_t prio)
{
	return prio < INT16_MIN ? INT16_MIN : prio > INT16_MAX ? INT16_MAX : (int16_t)prio;
}

static inline void sl_bind_decode_switch(const struct sl_bind *b, const unsigned char *rec,
					 struct sl_event *ev)
{
	uint64_t state = b->sw.state_is_64 ? sl_load64(rec + b->sw.prev_state, false) :
					     sl_load32(rec + b->sw.prev_state, false);

	sl_bind_comm16(ev->switched.prev_comm, rec + b->sw.prev_comm);
	sl_bind_comm16(ev->switched.next_comm, rec + b->sw.next_comm);
	ev->switched.prev_pid = sl_bind_s32(rec + b->sw.prev_pid);
	ev->switched.next_pid = sl_bind_s32(rec + b->sw.next_pid);
	ev->switched.prev_prio = sl_bind_i16(sl_bind_s32(rec + b->sw.prev_prio));
	ev->switched.next_prio = sl_bind_i16(sl_bind_s32(rec + b->sw.next_prio));
	if (__builtin_expect(state < SL_BIND_STATES, 1)) {
		ev->switched.prev_state = (char)b->state.known[state];
		ev->switched.prev_state_preempted = (uint8_t)(b->state.known[state] >> 8);
	} else {
		ev->switched.prev_state = sl_bind_state(b, state,
							&ev->switched.prev_state_preempted);
	}
}

static inline void sl_bind_decode_wake(const struct sl_bind *b, const unsigned char *rec,
				       struct sl_event *ev)
{
	/* WAKING, WAKEUP and WAKEUP_NEW have one payload under three names. */
	_Static_assert(sizeof(struct sl_ev_waking) == sizeof(struct sl_ev_wakeup) &&
		       offsetof(struct sl_ev_waking, success) ==
			       offsetof(struct sl_ev_wakeup_new, success) &&
		       offsetof(struct sl_ev_waking, success) ==
			       offsetof(struct sl_ev_wakeup, success), "one layout");

	sl_bind_comm16(ev->waking.comm, rec + b->wake.comm);
	ev->waking.pid = sl_bind_s32(rec + b->wake.pid);
	ev->waking.target_cpu = sl_bind_s32(rec + b->wake.target_cpu);
	ev->waking.prio = sl_bind_i16(sl_bind_s32(rec + b->wake.prio));
	ev->waking.success = 1;
}

static inline void sl_bind_decode_migrate(const struct sl_bind *b, const unsigned char *rec,
					  struct sl_event *ev)
{
	sl_bind_comm16(ev->migrate.comm, rec + b->migrate.comm);
	ev->migrate.pid = sl_bind_s32(rec + b->migrate.pid);
	ev->migrate.orig_cpu = sl_bind_s32(rec + b->migrate.orig_cpu);
	ev->migrate.dest_cpu = sl_bind_s32(rec + b->migrate.dest_cpu);
	ev->migrate.prio = sl_bind_i16(sl_bind_s32(rec + b->migrate.prio));
}

/* As sl_bind_decode(). */
static inline bool sl_bind_decode_fast(const struct sl_bind *b, const unsigned char *rec,
				       unsigned int len, struct sl_bind_strings *strings,
				       struct sl_event *ev)
{
	if (__builtin_expect(b->fast == SL_BF_NONE, 0))
		return sl_bind_decode(b, rec, len, strings, ev);
	if (__builtin_expect(len < b->min_bytes, 0))
		return false;
	ev->common_pid = sl_bind_s32(rec + b->common.pid);
	ev->ctx = rec[b->common.flags];
	ev->kind = (uint8_t)b->kind;
	if (b->fast == SL_BF_SWITCH)
		sl_bind_decode_switch(b, rec, ev);
	else if (b->fast == SL_BF_WAKE)
		sl_bind_decode_wake(b, rec, ev);
	else if (b->fast == SL_BF_MIGRATE)
		sl_bind_decode_migrate(b, rec, ev);
	else
		memcpy((char *)ev + b->copy.dst, rec + b->copy.src, b->copy.bytes);
	return true;
}

#endif
