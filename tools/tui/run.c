// SPDX-License-Identifier: GPL-2.0-only
/* top in a terminal: from the first frame until the user quits. */
#include <errno.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "state.h"
#include "tool.h"

/* A terminal that is gone reads as one without keys, for ever. */
#define EMPTY_READS_MAX 20

static int take_keys(struct sl_tui *tui, unsigned int *empty)
{
	int key, r = 0;

	*empty += 1;
	while (!r && !tui->quit && (key = sl_tui_screen_key()) != ERR) {
		*empty = 0;
		if (key == KEY_RESIZE)
			continue;	/* SIGWINCH says so, too */
		r = tui->prompt != SL_TUI_NO_PROMPT ? sl_tui_typed(tui, key) : sl_tui_key(tui, key);
	}
	tui->quit |= *empty > EMPTY_READS_MAX;
	return r;
}

static void note_end(struct sl_tui *tui)
{
	const int status = tui->loop->command->status;

	tui->ended = tui->loop->paused = true;
	if (WIFSIGNALED(status))
		snprintf(tui->message, sizeof(tui->message), "the command was ended by signal %d; q quits",
			 WTERMSIG(status));
	else
		snprintf(tui->message, sizeof(tui->message), "the command has ended with status %d; q quits",
			 WEXITSTATUS(status));
}

static int take_event(struct sl_tui *tui, int event, unsigned int *empty, struct sl_err *err)
{
	int r = 0;

	switch (event) {
	case SL_TOP_KEY:
		r = take_keys(tui, empty);
		break;
	case SL_TOP_RESIZED:
		sl_tui_screen_resized(&tui->screen);
		r = sl_tui_fill(tui);
		break;
	case SL_TOP_ENDED:
		r = sl_top_refresh(tui->loop->top, err);
		if (r < 0)
			return r;
		note_end(tui);
		r = sl_tui_fill(tui);
		break;
	case SL_TOP_REFRESH:
		r = sl_tui_fill(tui);
		break;
	default:
		tui->quit = true;
	}
	return r < 0 ? sl_err_set(err, r, "out of memory") : 0;
}

static void draw(const struct sl_tui *tui)
{
	if (tui->help && sl_tui_screen_fits(&tui->screen))
		sl_tui_draw_help(tui);
	else
		sl_tui_draw(tui);
}

int sl_tui_run(struct sl_top_loop *loop, struct sl_err *err)
{
	const struct sl_out out = sl_tool_stdout();
	struct sl_tui *tui = calloc(1, sizeof(*tui));
	unsigned int empty = 0;
	int r;

	if (!tui)
		return sl_err_set(err, -ENOMEM, "out of memory");
	tui->loop = loop;
	tui->view = loop->view;
	tui->selected_tid = -1;
	r = sl_tui_screen_open(&tui->screen, out.utf8, out.colour, err);
	if (r < 0) {
		free(tui);
		return r;
	}
	loop->key_fd = STDIN_FILENO;
	r = sl_top_refresh(loop->top, err);
	if (!r)
		r = sl_tui_fill(tui) < 0 ? sl_err_set(err, -ENOMEM, "out of memory") : 0;
	while (!r && !tui->quit) {
		int event;

		draw(tui);
		event = sl_top_loop_next(loop, err);
		r = event < 0 ? event : take_event(tui, event, &empty, err);
	}
	sl_tui_screen_close(&tui->screen);
	sl_top_page_clear(&tui->page);
	free(tui);
	return r;
}
