/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal: taken over and given back. It is given back on every way out, also
 * when this process dies of a fault of its own.
 */
#ifndef TOOLS_TUI_SCREEN_H
#define TOOLS_TUI_SCREEN_H

#include <stdbool.h>

#include "util/err.h"

#define SL_TUI_COLUMNS_MIN 80
#define SL_TUI_LINES_MIN 24

enum sl_tui_style { SL_TUI_PLAIN, SL_TUI_BAR, SL_TUI_HERE, SL_TUI_HEAD, SL_TUI_SELECTED, SL_TUI_NOTE,
		    SL_TUI_STYLE_NR };

struct sl_tui_screen {
	int lines, columns;
	bool utf8, colour;
	bool mouse;			/* the wheel scrolls; the terminal's own selection is off */
};

int sl_tui_screen_open(struct sl_tui_screen *screen, bool utf8, bool colour, struct sl_err *err);
void sl_tui_screen_close(struct sl_tui_screen *screen);
/* After SIGWINCH. */
void sl_tui_screen_resized(struct sl_tui_screen *screen);
bool sl_tui_screen_fits(const struct sl_tui_screen *screen);
void sl_tui_screen_mouse(struct sl_tui_screen *screen, bool on);

/* A key as ncurses names it, ERR: none. */
int sl_tui_screen_key(void);

/* Painting: nothing is seen before the last. A line is cut at the right edge, from column `skip` on. */
void sl_tui_screen_clear(void);
void sl_tui_screen_line(const struct sl_tui_screen *screen, int line, enum sl_tui_style style,
			const char *text, unsigned int skip);
/* A piece of a line; the column behind it. */
int sl_tui_screen_piece(const struct sl_tui_screen *screen, int line, int column, enum sl_tui_style style,
			const char *text);
void sl_tui_screen_cursor(int line, int column);	/* line -1: hidden */
void sl_tui_screen_show(void);

#endif
