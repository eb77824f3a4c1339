// SPDX-License-Identifier: GPL-2.0-only
/* Paints a page: the bar of screens, what does not scroll, what does, and the last line. */
#include <stdio.h>
#include <string.h>

#include "out/fmt.h"
#include "state.h"

unsigned int sl_tui_nr(const struct sl_tui *tui)
{
	return tui->page.nr > tui->page.fixed ? tui->page.nr - tui->page.fixed : 0;
}

unsigned int sl_tui_height(const struct sl_tui *tui)
{
	const int left = tui->screen.lines - 2 - (int)tui->page.fixed;

	return left > 0 ? (unsigned int)left : 0;
}

static enum sl_tui_style style_of(const struct sl_top_line *line)
{
	switch (line->kind) {
	case SL_TOP_LINE_HEAD:
		return SL_TUI_HEAD;
	case SL_TOP_LINE_NOTE:
		return SL_TUI_NOTE;
	case SL_TOP_LINE_TEXT:
	case SL_TOP_LINE_ROW:
		break;
	}
	return SL_TUI_PLAIN;
}

static void draw_bar(const struct sl_tui *tui)
{
	int column = 0;

	for (unsigned int i = 0; i < SL_TOP_SCREEN_NR; i++) {
		char text[32];

		if (i == SL_TOP_DETAIL && tui->view.screen != SL_TOP_DETAIL)
			continue;
		if (i == SL_TOP_DETAIL)
			snprintf(text, sizeof(text), "detail");
		else
			snprintf(text, sizeof(text), "%u %s", i + 1, sl_top_screen_name(i));
		column = sl_tui_screen_piece(&tui->screen, 0, column,
					     i == tui->view.screen ? SL_TUI_HERE : SL_TUI_BAR, text) + 2;
	}
	column = sl_tui_screen_piece(&tui->screen, 0, column, SL_TUI_BAR, "? help  q quit") + 2;
	if (tui->view.screen == SL_TOP_TASKS) {
		column = sl_tui_screen_piece(&tui->screen, 0, column, SL_TUI_BAR, "by ");
		column = sl_tui_screen_piece(&tui->screen, 0, column, SL_TUI_BAR,
					     sl_top_sort_name(tui->view.sort)) + 2;
	}
	if (tui->search[0]) {
		char text[SL_TUI_PROMPT_MAX + 16], name[SL_TUI_PROMPT_MAX];

		sl_fmt_escape(name, sizeof(name), tui->search, tui->screen.utf8);
		snprintf(text, sizeof(text), "only '%s'", name);
		column = sl_tui_screen_piece(&tui->screen, 0, column, SL_TUI_NOTE, text) + 2;
	}
	if (tui->loop->paused)
		sl_tui_screen_piece(&tui->screen, 0, column, SL_TUI_HERE, tui->ended ? "ENDED" : "PAUSED");
}

/* Where the selected task waits, where its row has no room for that. */
static void say_where(const struct sl_tui *tui, char *buf, size_t size)
{
	const struct sl_top_frame *f = sl_top_frame(tui->loop->top);
	char who[128], where[256];

	*buf = '\0';
	for (unsigned int i = 0; i < f->nr_tasks && tui->view.screen == SL_TOP_TASKS; i++) {
		const struct sl_top_task *task = &f->tasks[i];

		if (task->tid != tui->selected_tid)
			continue;
		sl_top_where(where, sizeof(where), task, tui->screen.utf8);
		if (*where)
			snprintf(buf, size, "%s waits %s",
				 sl_top_who(who, sizeof(who), task->comm, task->tid, 0, tui->screen.utf8), where);
	}
}

static void draw_last(const struct sl_tui *tui)
{
	static const char *const prompts[] = { [SL_TUI_SEARCH] = "only tasks or causes with: ", [SL_TUI_SAVE] = "save to: " };
	const int line = tui->screen.lines - 1;
	char text[512], typed[SL_TUI_PROMPT_MAX * 4];

	if (tui->prompt != SL_TUI_NO_PROMPT) {
		int column = sl_tui_screen_piece(&tui->screen, line, 0, SL_TUI_HERE, prompts[tui->prompt]);

		sl_fmt_escape(typed, sizeof(typed), tui->typed, tui->screen.utf8);
		column = sl_tui_screen_piece(&tui->screen, line, column, SL_TUI_PLAIN, typed);
		sl_tui_screen_cursor(line, column);
		return;
	}
	sl_tui_screen_cursor(-1, 0);
	if (tui->message[0]) {
		sl_fmt_escape(text, sizeof(text), tui->message, tui->screen.utf8);
		sl_tui_screen_line(&tui->screen, line, SL_TUI_NOTE, text, 0);
		return;
	}
	say_where(tui, text, sizeof(text));
	if (!*text)
		snprintf(text, sizeof(text), "s r sort  / only  Enter detail  a all  + - threshold  P pause  z reset"
			 "  S save");
	sl_tui_screen_line(&tui->screen, line, SL_TUI_BAR, text, 0);
}

void sl_tui_draw(const struct sl_tui *tui)
{
	const struct sl_top_page *page = &tui->page;
	const unsigned int height = sl_tui_height(tui);

	sl_tui_screen_clear();
	if (!sl_tui_screen_fits(&tui->screen)) {
		char text[96];

		snprintf(text, sizeof(text), "%d x %d is too small: %d x %d is needed", tui->screen.columns,
			 tui->screen.lines, SL_TUI_COLUMNS_MIN, SL_TUI_LINES_MIN);
		sl_tui_screen_line(&tui->screen, 0, SL_TUI_NOTE, text, 0);
		sl_tui_screen_show();
		return;
	}
	draw_bar(tui);
	for (unsigned int i = 0; i < page->fixed && i < page->nr; i++)
		sl_tui_screen_line(&tui->screen, 1 + (int)i, style_of(&page->lines[i]), page->lines[i].text,
				   page->lines[i].kind == SL_TOP_LINE_HEAD ? tui->skip : 0);
	for (unsigned int i = 0; i < height && tui->first + i < sl_tui_nr(tui); i++) {
		const struct sl_top_line *line = &page->lines[page->fixed + tui->first + i];
		const bool here = tui->first + i == tui->selected && line->kind == SL_TOP_LINE_ROW;

		sl_tui_screen_line(&tui->screen, 1 + (int)(page->fixed + i), here ? SL_TUI_SELECTED : style_of(line),
				   line->text, tui->skip);
	}
	draw_last(tui);
	sl_tui_screen_show();
}
