// SPDX-License-Identifier: GPL-2.0-only
/* Keys, and what they change. */
#include <errno.h>
#include <inttypes.h>
#include <ncurses.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "out/fmt.h"
#include "state.h"

#define ESCAPE 27
#define THRESHOLD_MIN_NS 1000ull
#define THRESHOLD_MAX_NS 100000000000ull
#define SIDEWAYS 10

static const struct sl_top_frame *frame_of(const struct sl_tui *tui)
{
	return sl_top_frame(tui->loop->top);
}

static void go_to(struct sl_tui *tui, enum sl_top_screen screen)
{
	if (screen != tui->view.screen)
		tui->first = tui->selected = tui->skip = 0;
	tui->view.screen = screen;
	tui->selected_tid = -1;
}

/* The selected line, NULL: there is none. */
static const struct sl_top_line *selected(const struct sl_tui *tui)
{
	return tui->selected < sl_tui_nr(tui) ? &tui->page.lines[tui->page.fixed + tui->selected] : NULL;
}

static void keep_in_sight(struct sl_tui *tui)
{
	const unsigned int nr = sl_tui_nr(tui), height = sl_tui_height(tui);

	if (tui->selected >= nr)
		tui->selected = nr ? nr - 1 : 0;
	if (tui->selected < tui->first)
		tui->first = tui->selected;
	if (height && tui->selected >= tui->first + height)
		tui->first = tui->selected - height + 1;
}

/* Rows are selected; pages of text scroll. */
static void move_by(struct sl_tui *tui, int by)
{
	const unsigned int nr = sl_tui_nr(tui), height = sl_tui_height(tui);
	const struct sl_top_line *line;
	unsigned int *at = tui->view.screen == SL_TOP_DETAIL ? &tui->first : &tui->selected;
	const unsigned int last = at == &tui->first ? (nr > height ? nr - height : 0) : nr ? nr - 1 : 0;
	int64_t to = (int64_t)*at + by;

	*at = to < 0 ? 0 : to > last ? last : (unsigned int)to;
	if (at == &tui->first) {
		tui->selected = tui->first;
		return;
	}
	keep_in_sight(tui);
	line = selected(tui);
	tui->selected_tid = line ? line->tid : -1;
}

int sl_tui_fill(struct sl_tui *tui)
{
	int r;

	tui->view.width = (unsigned int)tui->screen.columns;
	tui->view.utf8 = tui->screen.utf8;
	tui->view.search = tui->search;
	r = sl_top_page_fill(&tui->page, frame_of(tui), &tui->view);
	if (r < 0)
		return r;
	/* In the list of tasks the selection goes where its task went. */
	for (unsigned int i = 0; tui->view.screen == SL_TOP_TASKS && tui->selected_tid >= 0 && i < sl_tui_nr(tui); i++)
		if (tui->page.lines[tui->page.fixed + i].tid == tui->selected_tid)
			tui->selected = i;
	if (tui->view.screen != SL_TOP_DETAIL)
		keep_in_sight(tui);
	else if (tui->first >= sl_tui_nr(tui))
		tui->first = 0;
	if (tui->view.screen == SL_TOP_TASKS && selected(tui))
		tui->selected_tid = selected(tui)->tid;
	return 0;
}

static void set_threshold(struct sl_tui *tui, bool higher)
{
	const struct sl_top_frame *f = frame_of(tui);
	uint64_t ns = higher ? f->threshold_ns * 2 : f->threshold_ns / 2;
	char text[32];

	if (ns < THRESHOLD_MIN_NS || ns > THRESHOLD_MAX_NS)
		return;
	sl_top_judge(tui->loop->top, ns, f->only_short);
	snprintf(tui->message, sizeof(tui->message), "from now on waits of at least %s are judged",
		 sl_fmt_duration(text, sizeof(text), ns));
}

static void toggle_all(struct sl_tui *tui)
{
	const struct sl_top_frame *f = frame_of(tui);

	sl_top_judge(tui->loop->top, f->threshold_ns, !f->only_short);
	snprintf(tui->message, sizeof(tui->message), "from the next frame on: %s",
		 f->only_short ? "tasks with a short slice" : "all tasks");
}

static void next_sort(struct sl_tui *tui)
{
	if (tui->view.screen == SL_TOP_OUTLIERS)
		tui->view.by_time = !tui->view.by_time;
	else if (tui->view.screen == SL_TOP_TASKS)
		tui->view.sort = (tui->view.sort + 1) % SL_TOP_SORT_NR;
}

static void open_detail(struct sl_tui *tui)
{
	const struct sl_top_line *line = selected(tui);

	if (tui->view.screen == SL_TOP_DETAIL || !line || line->tid <= 0)
		return;
	tui->back = tui->view.screen;
	tui->view.tid = line->tid;
	go_to(tui, SL_TOP_DETAIL);
}

static void ask(struct sl_tui *tui, enum sl_tui_prompt prompt)
{
	const char *before = prompt == SL_TUI_SEARCH ? tui->search :
			     tui->path[0] ? tui->path : SL_DEFAULT_FILE;

	tui->prompt = prompt;
	snprintf(tui->typed, sizeof(tui->typed), "%s", before);
}

static void pause_or_not(struct sl_tui *tui)
{
	if (!tui->ended)
		tui->loop->paused = !tui->loop->paused;
}

static void scroll_key(struct sl_tui *tui, int key)
{
	const int page = sl_tui_height(tui) > 1 ? (int)sl_tui_height(tui) - 1 : 1;

	switch (key) {
	case KEY_UP:
	case 'k':
		move_by(tui, -1);
		break;
	case KEY_DOWN:
	case 'j':
		move_by(tui, 1);
		break;
	case KEY_PPAGE:
		move_by(tui, -page);
		break;
	case KEY_NPAGE:
		move_by(tui, page);
		break;
	case KEY_HOME:
	case 'g':
		move_by(tui, -(int)tui->page.nr);
		break;
	case KEY_END:
	case 'G':
		move_by(tui, (int)tui->page.nr);
		break;
	case KEY_LEFT:
		tui->skip -= tui->skip < SIDEWAYS ? tui->skip : SIDEWAYS;
		break;
	case KEY_RIGHT:
		tui->skip += tui->skip < 200 ? SIDEWAYS : 0;
		break;
	}
}

int sl_tui_key(struct sl_tui *tui, int key)
{
	if (tui->help) {
		tui->help = false;
		return 0;
	}
	tui->message[0] = '\0';
	switch (key) {
	case 'q':
		tui->quit = true;
		return 0;
	case '?':
	case 'h':
		tui->help = true;
		return 0;
	case '1':
	case '2':
	case '3':
	case '4':
		go_to(tui, SL_TOP_TASKS + (key - '1'));
		break;
	case '\t':
		go_to(tui, tui->view.screen == SL_TOP_DETAIL ? tui->back :
		      (tui->view.screen + 1) % (enum sl_top_screen)SL_TOP_DETAIL);
		break;
	case '\r':
	case '\n':
	case KEY_ENTER:
		open_detail(tui);
		break;
	case ESCAPE:
	case KEY_BACKSPACE:
		if (tui->view.screen == SL_TOP_DETAIL)
			go_to(tui, tui->back);
		break;
	case 's':
		next_sort(tui);
		break;
	case 'r':
		tui->view.reverse = !tui->view.reverse;
		break;
	case 'a':
		toggle_all(tui);
		break;
	case '+':
	case '=':
		set_threshold(tui, true);
		break;
	case '-':
		set_threshold(tui, false);
		break;
	case 'P':
	case 'p':
	case ' ':
		pause_or_not(tui);
		break;
	case 'z':
		sl_top_reset(tui->loop->top);
		snprintf(tui->message, sizeof(tui->message), "counted anew from now on");
		break;
	case '/':
		ask(tui, SL_TUI_SEARCH);
		break;
	case 'S':
		ask(tui, SL_TUI_SAVE);
		break;
	case 'm':
		sl_tui_screen_mouse(&tui->screen, !tui->screen.mouse);
		break;
	default:
		scroll_key(tui, key);
	}
	return sl_tui_fill(tui);
}

/* ---- a line that is typed ---- */

static void save(struct sl_tui *tui)
{
	struct sl_err err = { "" };
	char threshold[32];
	uint64_t bytes;
	int r = sl_top_save(tui->loop->top, tui->typed, &bytes, &err);

	if (r < 0) {
		snprintf(tui->message, sizeof(tui->message), "not saved: %.400s", err.msg);
		return;
	}
	snprintf(tui->path, sizeof(tui->path), "%s", tui->typed);
	snprintf(tui->message, sizeof(tui->message), "saved, %" PRIu64 " KiB: schedlat report --why=%s %s", bytes >> 10,
		 sl_fmt_duration(threshold, sizeof(threshold), frame_of(tui)->threshold_ns), tui->typed);
}

int sl_tui_typed(struct sl_tui *tui, int key)
{
	const enum sl_tui_prompt prompt = tui->prompt;
	size_t len = strlen(tui->typed);

	switch (key) {
	case '\r':
	case '\n':
	case KEY_ENTER:
		tui->prompt = SL_TUI_NO_PROMPT;
		if (prompt == SL_TUI_SEARCH) {
			snprintf(tui->search, sizeof(tui->search), "%s", tui->typed);
			tui->selected_tid = -1;
		} else if (len) {
			save(tui);
		}
		return sl_tui_fill(tui);
	case ESCAPE:
		tui->prompt = SL_TUI_NO_PROMPT;
		return 0;
	case KEY_BACKSPACE:
	case 127:
	case '\b':
		/* A character of several bytes goes as one. */
		while (len && ((unsigned char)tui->typed[--len] & 0xc0) == 0x80)
			;
		tui->typed[len] = '\0';
		return 0;
	case 'U' & 0x1f:
		tui->typed[0] = '\0';
		return 0;
	}
	if (key >= ' ' && key < 256 && len + 1 < sizeof(tui->typed)) {
		tui->typed[len] = (char)key;
		tui->typed[len + 1] = '\0';
	}
	return 0;
}
