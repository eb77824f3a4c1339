/* SPDX-License-Identifier: GPL-2.0-only */
/* What is on the screen, between the files that paint it and those that change it. */
#ifndef TOOLS_TUI_STATE_H
#define TOOLS_TUI_STATE_H

#include "loop.h"
#include "screen.h"

#define SL_TUI_PROMPT_MAX 128

enum sl_tui_prompt { SL_TUI_NO_PROMPT, SL_TUI_SEARCH, SL_TUI_SAVE };

struct sl_tui {
	struct sl_top_loop *loop;
	struct sl_tui_screen screen;
	struct sl_top_page page;
	struct sl_top_view view;
	enum sl_top_screen back;	/* where the detail came from */
	bool help, quit, ended;		/* ended: the command has */
	unsigned int first, selected;	/* of the lines that scroll */
	int32_t selected_tid;
	unsigned int skip;		/* columns scrolled to the right */
	enum sl_tui_prompt prompt;
	char typed[SL_TUI_PROMPT_MAX];
	char search[SL_TUI_PROMPT_MAX];
	char path[SL_TUI_PROMPT_MAX];	/* where it was saved last */
	char message[512];		/* "": none */
};

/* Lines that scroll, and how many of them are seen at once. */
unsigned int sl_tui_nr(const struct sl_tui *tui);
unsigned int sl_tui_height(const struct sl_tui *tui);

/* The page anew, the selection stays with its task. 0 or -ENOMEM. */
int sl_tui_fill(struct sl_tui *tui);
void sl_tui_draw(const struct sl_tui *tui);
void sl_tui_draw_help(const struct sl_tui *tui);
/* A key: what it changes, and the page with it. 0 or -ENOMEM. */
int sl_tui_key(struct sl_tui *tui, int key);
/* A key while something is typed. */
int sl_tui_typed(struct sl_tui *tui, int key);

#endif
