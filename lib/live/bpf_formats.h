/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The events that the bpf backend writes: their records, and the texts that
 * describe them to every reader. Names and types of the fields are the kernel's
 * where the kernel has such an event; what the program does not see is left out.
 *
 * A record is written through a pointer that is aligned to 4. The structs have no
 * padding of the compiler's, and the offsets in the texts are theirs.
 */
#ifndef SL_LIVE_BPF_FORMATS_H
#define SL_LIVE_BPF_FORMATS_H

#include <stdint.h>

#include "event/event.h"

#define SL_OUT_EVENT __attribute__((packed, aligned(4)))

struct sl_out_common {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
} SL_OUT_EVENT;

struct sl_out_switch {
	struct sl_out_common common;
	char prev_comm[16];
	int32_t prev_pid, prev_prio;
	int64_t prev_state;
	char next_comm[16];
	int32_t next_pid, next_prio;
} SL_OUT_EVENT;

struct sl_out_wake {
	struct sl_out_common common;
	char comm[16];
	int32_t pid, prio, target_cpu;
} SL_OUT_EVENT;

struct sl_out_migrate {
	struct sl_out_common common;
	char comm[16];
	int32_t pid, prio, orig_cpu, dest_cpu;
} SL_OUT_EVENT;

struct sl_out_fork {
	struct sl_out_common common;
	int32_t parent_pid;
	char child_comm[16];
	int32_t child_pid;
} SL_OUT_EVENT;

struct sl_out_newtask {
	struct sl_out_common common;
	int32_t pid;
	char comm[16];
	uint32_t pad;
	uint64_t clone_flags;
} SL_OUT_EVENT;

struct sl_out_exec {
	struct sl_out_common common;
	int32_t pid, old_pid;
} SL_OUT_EVENT;

struct sl_out_exit {
	struct sl_out_common common;
	char comm[16];
	int32_t pid, prio;
} SL_OUT_EVENT;

struct sl_out_rename {
	struct sl_out_common common;
	int32_t pid;
	char newcomm[16];
} SL_OUT_EVENT;

struct sl_out_pi {
	struct sl_out_common common;
	char comm[16];
	int32_t pid, oldprio, newprio;
} SL_OUT_EVENT;

struct sl_out_two {		/* one or two numbers: idle, interrupts, need_resched, ... */
	struct sl_out_common common;
	int32_t a, b;
} SL_OUT_EVENT;

struct sl_out_one {
	struct sl_out_common common;
	int32_t a;
} SL_OUT_EVENT;

struct sl_out_queue {
	struct sl_out_common common;
	int32_t group, qcpu, nr_queued, min_slice, buddy;
	int16_t level, flags;
	int64_t sum_w_vruntime;
	uint64_t sum_weight, zero_vruntime;
} SL_OUT_EVENT;

struct sl_out_entity {
	struct sl_out_common common;
	int32_t pid, group, weight, slice;
	int16_t role, level, flags, pad;
	uint64_t vruntime, deadline;
	int64_t lag_or_vprot;
} SL_OUT_EVENT;

/* The id of an event, by its place in sl_event_descs. */
static inline uint16_t sl_out_id(unsigned int desc_index)
{
	return (uint16_t)(1000 + desc_index);
}

/*
 * schedlat:window, of recordings with a threshold: from here on the CPU is known. No
 * reader needs it; it is there for the gap to end.
 */
#define SL_OUT_WINDOW_ID 999
char *sl_out_window_format(void);	/* malloced */

/*
 * The text of the event sl_event_descs[desc_index] with that id, malloced; NULL
 * with errno 0 when the bpf backend writes no such event, else out of memory.
 */
char *sl_out_format(unsigned int desc_index);
/* events/header_page and events/header_event for pages of this machine; malloced. */
char *sl_out_header_page(unsigned int page_bytes);
char *sl_out_header_event(void);

#endif
