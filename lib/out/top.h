/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The frames of top as pages of lines, whoever shows them: a terminal that paints and
 * scrolls them, or --batch, which prints them. So both have the same numbers.
 */
#ifndef SL_OUT_TOP_H
#define SL_OUT_TOP_H

#include "out/out.h"
#include "top/top.h"

enum sl_top_screen { SL_TOP_TASKS, SL_TOP_CAUSES, SL_TOP_CPUS, SL_TOP_OUTLIERS, SL_TOP_DETAIL,
		     SL_TOP_SCREEN_NR };
const char *sl_top_screen_name(enum sl_top_screen screen);	/* "tasks" ... */

/* By what tasks are sorted; outliers know TIME and MAX. The largest come first. */
enum sl_top_sort { SL_TOP_BY_WAITED, SL_TOP_BY_P99, SL_TOP_BY_MAX, SL_TOP_BY_P50, SL_TOP_BY_WAITS,
		   SL_TOP_BY_NOW, SL_TOP_BY_NAME, SL_TOP_SORT_NR };
const char *sl_top_sort_name(enum sl_top_sort sort);		/* "waited" ... */
int sl_top_sort_parse(const char *text, enum sl_top_sort *ret_sort, struct sl_err *err);

struct sl_top_view {
	enum sl_top_screen screen;
	enum sl_top_sort sort;
	bool reverse;
	bool by_time;			/* outliers: the latest first, not the longest */
	const char *search;		/* part of a task's name or its tid, or of a cause; NULL: all */
	int32_t tid;			/* of the detail */
	unsigned int width;		/* of a line, in columns */
	bool utf8;			/* blocks and bars beyond ASCII, and names as they are */
};

enum sl_top_line_kind { SL_TOP_LINE_TEXT, SL_TOP_LINE_HEAD, SL_TOP_LINE_ROW, SL_TOP_LINE_NOTE };

struct sl_top_line {
	enum sl_top_line_kind kind;
	int32_t tid;			/* the task that a row is about; -1: none */
	char *text;			/* escaped; may be wider than the view */
};

struct sl_top_page {
	struct sl_top_line *lines;
	unsigned int nr, room;
	unsigned int fixed;		/* lines at the top that do not scroll */
	bool failed;			/* out of memory: lines are missing */
};

/* page is empty or a former one. 0 or -ENOMEM. */
int sl_top_page_fill(struct sl_top_page *page, const struct sl_top_frame *frame,
		     const struct sl_top_view *view);
void sl_top_page_clear(struct sl_top_page *page);

/* --batch: every line; a blank one behind. */
void sl_top_page_print(struct sl_out *out, const struct sl_top_page *page);
/* Schema schedlat.top/1: a frame on one line, every key always present. 0 or -ENOMEM. */
int sl_out_top_json(struct sl_out *out, const struct sl_top_frame *frame);

/* What a task waits for at this moment: "waits 1.8 ms on CPU 3 behind hackbench/1234"; "" if it does not. */
char *sl_top_where(char *buf, size_t size, const struct sl_top_task *task, bool utf8);

/* ---- between the files that make pages ---- */

void sl_top_add(struct sl_top_page *page, enum sl_top_line_kind kind, int32_t tid, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same, words on as many lines as it takes, continued with two blanks. */
void sl_top_add_words(struct sl_top_page *page, enum sl_top_line_kind kind, unsigned int width, const char *text);
/* Five columns: "999n", "12.3u", "1.23m", "12.3s"; "-" for SL_TIME_NONE. */
char *sl_top_short(char *buf, size_t size, uint64_t ns);
/* A name, escaped and cut to width columns, filled up with blanks. */
char *sl_top_name(char *buf, size_t size, const char *name, unsigned int width, bool utf8);
/* "comm/tid" in the same way. */
char *sl_top_who(char *buf, size_t size, const char *comm, int32_t tid, unsigned int width, bool utf8);
/* A bar of so many permille of width columns. */
char *sl_top_bar(char *buf, size_t size, unsigned int permille, unsigned int width, bool utf8);
bool sl_top_found(const struct sl_top_view *view, const char *name, int32_t tid, const char *cause);

void sl_top_head(struct sl_top_page *page, const struct sl_top_frame *frame, const struct sl_top_view *view);
void sl_top_tasks(struct sl_top_page *page, const struct sl_top_frame *frame, const struct sl_top_view *view);
void sl_top_causes(struct sl_top_page *page, const struct sl_top_frame *frame, const struct sl_top_view *view);
void sl_top_cpus(struct sl_top_page *page, const struct sl_top_frame *frame, const struct sl_top_view *view);
void sl_top_outliers(struct sl_top_page *page, const struct sl_top_frame *frame, const struct sl_top_view *view);
void sl_top_detail(struct sl_top_page *page, const struct sl_top_frame *frame, const struct sl_top_view *view);

#endif
