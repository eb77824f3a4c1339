/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The letters of prev_state, from the print fmt of the recording's own
 * sched_switch.
 *
 * The bits moved several times (4.14 renumbered them, P and I came, K and W
 * went), so no table of ours could be right for every recording. The text has
 * a list { mask, "letter" } for __print_flags() and, since 3.3, a mask whose
 * bits append "+" (TASK_REPORT_MAX and its predecessors: preempted, still
 * runnable).
 */
#ifndef SL_EVENT_BIND_STATE_H
#define SL_EVENT_BIND_STATE_H

#include "event/bind.h"

/*
 * Read "print fmt: ..." into bind->state. A text without a usable list leaves
 * what all kernels share: 0x1 is S, 0x2 is D, anything else prints as '?'.
 */
void sl_bind_state_parse(struct sl_bind *bind, const char *text, size_t len);

/* Fill the table of small states; call once, whether or not there was a print fmt. */
void sl_bind_state_finish(struct sl_bind *bind);

#endif
