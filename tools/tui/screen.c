// SPDX-License-Identifier: GPL-2.0-only
#include "screen.h"

#include <errno.h>
#include <ncurses.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

/* Names of capabilities, as macros. */
#undef lines
#undef columns

#include "out/fmt.h"

/* What a handler needs to give the terminal back: prepared, since it may call next to nothing. */
static struct {
	volatile sig_atomic_t taken;
	struct termios before;
	char text[128];
	size_t len;
} restore;
static SCREEN *terminal;

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

static void give_back(int sig)
{
	if (restore.taken) {
		restore.taken = 0;
		if (write(STDOUT_FILENO, restore.text, restore.len) < 0)
			tcsetattr(STDOUT_FILENO, TCSANOW, &restore.before);
		else
			tcsetattr(STDIN_FILENO, TCSANOW, &restore.before);
	}
	/* The default action is back (SA_RESETHAND): it ends with what hit it. */
	raise(sig);
}

static void keep_capability(const char *name)
{
	const char *text = tigetstr(name);

	/* (char *)-1: no such capability */
	if (!text || text == (const char *)-1 || restore.len + strlen(text) >= sizeof(restore.text))
		return;
	memcpy(restore.text + restore.len, text, strlen(text));
	restore.len += strlen(text);
}

static void watch_faults(bool on)
{
	struct sigaction action = { .sa_flags = on ? (int)SA_RESETHAND : 0 };

	action.sa_handler = on ? give_back : SIG_DFL;
	for (unsigned int i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigaction(faults[i], &action, NULL);
}

static void measure(struct sl_tui_screen *screen)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	getmaxyx(stdscr, screen->lines, screen->columns);
}

int sl_tui_screen_open(struct sl_tui_screen *screen, bool utf8, bool colour, struct sl_err *err)
{
	const char *term = getenv("TERM");
	const char *address;

	if (tcgetattr(STDIN_FILENO, &restore.before))
		return sl_err_set(err, -errno, "cannot use the terminal: %s", strerror(errno));
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return sl_err_set(err, SL_EUSAGE, "TERM='%s' is no terminal that is known here: --batch prints text",
				  term ? term : "");
	address = tigetstr("cup");
	if (!address || address == (const char *)-1) {
		endwin();
		delscreen(terminal);
		terminal = NULL;
		return sl_err_set(err, SL_EUSAGE, "TERM='%s' cannot place text: --batch prints it line by line",
				  term ? term : "");
	}
	restore.len = 0;
	keep_capability("sgr0");
	keep_capability("cnorm");
	keep_capability("rmkx");
	keep_capability("rmcup");
	restore.taken = 1;
	watch_faults(true);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	*screen = (struct sl_tui_screen){ .utf8 = utf8, .colour = colour && has_colors() };
	if (screen->colour) {
		start_color();
		use_default_colors();
		init_pair(SL_TUI_HEAD, COLOR_BLACK, COLOR_GREEN);
		init_pair(SL_TUI_NOTE, COLOR_YELLOW, -1);
		init_pair(SL_TUI_BAR, COLOR_CYAN, -1);
	}
	measure(screen);
	return 0;
}

void sl_tui_screen_close(struct sl_tui_screen *screen)
{
	if (!terminal)
		return;
	sl_tui_screen_mouse(screen, false);
	endwin();
	delscreen(terminal);
	terminal = NULL;
	restore.taken = 0;
	watch_faults(false);
}

void sl_tui_screen_resized(struct sl_tui_screen *screen)
{
	measure(screen);
	clearok(stdscr, TRUE);
}

bool sl_tui_screen_fits(const struct sl_tui_screen *screen)
{
	return screen->lines >= SL_TUI_LINES_MIN && screen->columns >= SL_TUI_COLUMNS_MIN;
}

void sl_tui_screen_mouse(struct sl_tui_screen *screen, bool on)
{
	if (on != screen->mouse)
		mousemask(on ? BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
	screen->mouse = on;
}

int sl_tui_screen_key(void)
{
	int key = getch();
	MEVENT event;

	if (key != KEY_MOUSE)
		return key;
	if (getmouse(&event) != OK)
		return ERR;
	return event.bstate & BUTTON4_PRESSED ? KEY_UP : event.bstate & BUTTON5_PRESSED ? KEY_DOWN : ERR;
}

static attr_t attributes(const struct sl_tui_screen *screen, enum sl_tui_style style)
{
	switch (style) {
	case SL_TUI_BAR:
		return screen->colour ? COLOR_PAIR(SL_TUI_BAR) : A_NORMAL;
	case SL_TUI_HERE:
		return A_BOLD | A_UNDERLINE;
	case SL_TUI_HEAD:
		return screen->colour ? COLOR_PAIR(SL_TUI_HEAD) : A_BOLD | A_UNDERLINE;
	case SL_TUI_SELECTED:
		return A_REVERSE;
	case SL_TUI_NOTE:
		return screen->colour ? COLOR_PAIR(SL_TUI_NOTE) : A_NORMAL;
	case SL_TUI_PLAIN:
	case SL_TUI_STYLE_NR:
		break;
	}
	return A_NORMAL;
}

void sl_tui_screen_clear(void)
{
	erase();
}

int sl_tui_screen_piece(const struct sl_tui_screen *screen, int line, int column, enum sl_tui_style style,
			const char *text)
{
	const int left = screen->columns - column;
	const size_t bytes = left > 0 ? sl_fmt_prefix(text, (unsigned int)left) : 0;

	attrset(attributes(screen, style));
	mvaddnstr(line, column, text, (int)bytes);
	attrset(A_NORMAL);
	return column + (int)sl_fmt_width(text);
}

void sl_tui_screen_line(const struct sl_tui_screen *screen, int line, enum sl_tui_style style,
			const char *text, unsigned int skip)
{
	int column = sl_tui_screen_piece(screen, line, 0, style, text + sl_fmt_prefix(text, skip));

	/* A heading and a selected row reach to the edge. */
	if (style != SL_TUI_HEAD && style != SL_TUI_SELECTED)
		return;
	attrset(attributes(screen, style));
	for (; column < screen->columns; column++)
		mvaddch(line, column, ' ');
	attrset(A_NORMAL);
}

void sl_tui_screen_cursor(int line, int column)
{
	curs_set(line >= 0);
	if (line >= 0)
		move(line, column);
}

void sl_tui_screen_show(void)
{
	refresh();
}
