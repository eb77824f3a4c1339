/* SPDX-License-Identifier: GPL-2.0-only */
/* What schedlat top does between two frames, in a terminal or not. */
#ifndef TOOLS_TUI_LOOP_H
#define TOOLS_TUI_LOOP_H

#include "live/command.h"
#include "out/top.h"
#include "top/top.h"

enum sl_top_event {
	SL_TOP_REFRESH,			/* an interval is over: the frame is new */
	SL_TOP_KEY,			/* key_fd can be read */
	SL_TOP_RESIZED,			/* SIGWINCH */
	SL_TOP_ENDED,			/* the command has ended */
	SL_TOP_STOP,			/* a signal, or -d is over */
};

struct sl_top_loop {
	struct sl_top *top;
	struct sl_command *command;	/* pid 0: none, or it has ended */
	int signal_fd, key_fd;		/* -1: none */
	uint64_t interval_ns;
	uint64_t next_ns, deadline_ns;	/* CLOCK_MONOTONIC; deadline 0: none */
	bool paused;			/* no refresh */
	bool command_ended;		/* it was told */
	struct sl_top_view view;	/* as the user asked for it */
	unsigned int screens;		/* batch: bit per enum sl_top_screen */
	bool colour;
};

/* Wait for the next event. Negative: an error. */
int sl_top_loop_next(struct sl_top_loop *loop, struct sl_err *err);

/* In a terminal, until the user quits. 0, or an error; the terminal is as before. */
int sl_tui_run(struct sl_top_loop *loop, struct sl_err *err);

#endif
