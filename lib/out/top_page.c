// SPDX-License-Identifier: LGPL-2.1-only
/* Pages of lines: what all screens of top share. */
#include "out/top.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "util/time.h"

const char *sl_top_screen_name(enum sl_top_screen screen)
{
	static const char *const names[SL_TOP_SCREEN_NR] = {
		[SL_TOP_TASKS] = "tasks", [SL_TOP_CAUSES] = "causes", [SL_TOP_CPUS] = "cpus",
		[SL_TOP_OUTLIERS] = "outliers", [SL_TOP_DETAIL] = "detail",
	};

	return names[screen];
}

const char *sl_top_sort_name(enum sl_top_sort sort)
{
	static const char *const names[SL_TOP_SORT_NR] = {
		[SL_TOP_BY_WAITED] = "waited", [SL_TOP_BY_P99] = "p99", [SL_TOP_BY_MAX] = "max",
		[SL_TOP_BY_P50] = "p50", [SL_TOP_BY_WAITS] = "waits", [SL_TOP_BY_NOW] = "now",
		[SL_TOP_BY_NAME] = "name",
	};

	return names[sort];
}

int sl_top_sort_parse(const char *text, enum sl_top_sort *ret_sort, struct sl_err *err)
{
	for (unsigned int i = 0; i < SL_TOP_SORT_NR; i++) {
		if (strcmp(text, sl_top_sort_name(i)))
			continue;
		*ret_sort = i;
		return 0;
	}
	return sl_err_set(err, SL_EUSAGE, "-s '%s' is not one of waited, p99, max, p50, waits, now, name", text);
}

void sl_top_add(struct sl_top_page *page, enum sl_top_line_kind kind, int32_t tid, const char *fmt, ...)
{
	struct sl_top_line line = { .kind = kind, .tid = tid };
	va_list args;
	int len;

	if (page->nr == page->room) {
		const unsigned int room = page->room ? page->room * 2 : 64;
		struct sl_top_line *grown = realloc(page->lines, room * sizeof(*grown));

		if (!grown) {
			page->failed = true;
			return;
		}
		page->lines = grown;
		page->room = room;
	}
	va_start(args, fmt);
	len = vasprintf(&line.text, fmt, args);
	va_end(args);
	if (len < 0) {
		page->failed = true;
		return;
	}
	while (len && line.text[len - 1] == ' ')
		line.text[--len] = '\0';
	page->lines[page->nr++] = line;
}

void sl_top_add_words(struct sl_top_page *page, enum sl_top_line_kind kind, unsigned int width, const char *text)
{
	const char *indent = "";

	while (*text) {
		size_t bytes = sl_fmt_prefix(text, width - (unsigned int)strlen(indent)), end = bytes;

		/* Back to the last blank, unless a word is longer than a line. */
		if (text[bytes])
			while (end && text[end] != ' ')
				end--;
		bytes = end ?: bytes ?: strlen(text);
		sl_top_add(page, kind, -1, "%s%.*s", indent, (int)bytes, text);
		text += bytes + strspn(text + bytes, " ");
		indent = "  ";
	}
}

static void empty(struct sl_top_page *page)
{
	for (unsigned int i = 0; i < page->nr; i++)
		free(page->lines[i].text);
	page->nr = page->fixed = 0;
	page->failed = false;
}

void sl_top_page_clear(struct sl_top_page *page)
{
	empty(page);
	free(page->lines);
	*page = (struct sl_top_page){ 0 };
}

int sl_top_page_fill(struct sl_top_page *page, const struct sl_top_frame *frame,
		     const struct sl_top_view *view)
{
	empty(page);
	sl_top_head(page, frame, view);
	switch (view->screen) {
	case SL_TOP_TASKS:
		sl_top_tasks(page, frame, view);
		break;
	case SL_TOP_CAUSES:
		sl_top_causes(page, frame, view);
		break;
	case SL_TOP_CPUS:
		sl_top_cpus(page, frame, view);
		break;
	case SL_TOP_OUTLIERS:
		sl_top_outliers(page, frame, view);
		break;
	case SL_TOP_DETAIL:
		sl_top_detail(page, frame, view);
		break;
	case SL_TOP_SCREEN_NR:
		break;
	}
	return page->failed ? -ENOMEM : 0;
}

void sl_top_page_print(struct sl_out *out, const struct sl_top_page *page)
{
	for (unsigned int i = 0; i < page->nr; i++)
		fprintf(out->file, "%s\n", page->lines[i].text);
	fputc('\n', out->file);
}

char *sl_top_short(char *buf, size_t size, uint64_t ns)
{
	static const struct {
		uint64_t scale;
		char unit;
	} units[] = { { 1000, 'u' }, { 1000000, 'm' }, { 1000000000, 's' } };
	unsigned int i = 0, decimals = 2;
	char text[32];

	if (ns == SL_TIME_NONE) {
		snprintf(buf, size, "-");
		return buf;
	}
	if (ns < 1000) {
		snprintf(buf, size, "%" PRIu64 "n", ns);
		return buf;
	}
	/* Three digits; 999.6 us is 1.00 ms. */
	while (i < 2 && ns >= units[i].scale * 1000 - units[i].scale / 2)
		i++;
	if (ns >= units[i].scale * 100 - units[i].scale / 20)
		decimals = 0;
	else if (ns >= units[i].scale * 10 - units[i].scale / 200)
		decimals = 1;
	sl_fmt_scaled(text, sizeof(text), ns, units[i].scale, decimals);
	snprintf(buf, size, "%s%c", text, units[i].unit);
	return buf;
}

static char *fill_up(char *buf, size_t size, unsigned int width)
{
	size_t used;

	sl_fmt_cut(buf, width);
	used = strlen(buf);
	for (unsigned int have = sl_fmt_width(buf); have < width && used + 1 < size; have++)
		buf[used++] = ' ';
	buf[used] = '\0';
	return buf;
}

char *sl_top_name(char *buf, size_t size, const char *name, unsigned int width, bool utf8)
{
	char text[17] = "";

	memcpy(text, name, strnlen(name, 16));
	sl_fmt_escape(buf, size, *text ? text : "?", utf8);
	return fill_up(buf, size, width);
}

char *sl_top_who(char *buf, size_t size, const char *comm, int32_t tid, unsigned int width, bool utf8)
{
	char text[17] = "", name[80], id[16] = "";

	memcpy(text, comm, strnlen(comm, 16));
	sl_fmt_escape(name, sizeof(name), *text ? text : tid ? "?" : "idle", utf8);
	if (tid > 0)
		snprintf(id, sizeof(id), "/%" PRId32, tid);
	/* Of the two the number tells more: the name is cut. */
	if (width && sl_fmt_width(name) + strlen(id) > width)
		sl_fmt_cut(name, width > strlen(id) ? width - strlen(id) : 1);
	snprintf(buf, size, "%s%s", name, id);
	return width ? fill_up(buf, size, width) : buf;
}

char *sl_top_bar(char *buf, size_t size, unsigned int permille, unsigned int width, bool utf8)
{
	static const char *const eighths[] = { "", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589" };
	const unsigned int all = permille * width * 8 / 1000;
	size_t used = 0;

	*buf = '\0';
	if (!utf8) {
		for (unsigned int i = 0; i < (all + 4) / 8 && used + 1 < size; i++)
			buf[used++] = '#';
		buf[used] = '\0';
		if (permille && !used)
			snprintf(buf, size, ".");
		return buf;
	}
	for (unsigned int i = 0; i < all / 8 && used + 4 < size; i++)
		used += snprintf(buf + used, size - used, "\u2588");
	if (used + 4 < size)
		snprintf(buf + used, size - used, "%s", permille && !all ? eighths[1] : eighths[all % 8]);
	return buf;
}

bool sl_top_found(const struct sl_top_view *view, const char *name, int32_t tid, const char *cause)
{
	char comm[17] = "", id[16];

	if (!view->search || !*view->search)
		return true;
	memcpy(comm, name, strnlen(name, 16));
	snprintf(id, sizeof(id), "%" PRId32, tid);
	return strstr(comm, view->search) || !strcmp(id, view->search) || (cause && strstr(cause, view->search));
}

char *sl_top_where(char *buf, size_t size, const struct sl_top_task *task, bool utf8)
{
	char waits[16], who[128], left[16];
	int used;

	*buf = '\0';
	if (!task->waiting)
		return buf;
	used = snprintf(buf, size, "%s on CPU %d", sl_fmt_duration(waits, sizeof(waits), task->waiting_ns),
			task->wait_cpu);
	if (task->behind_tid < 0 || used < 0 || (size_t)used >= size)
		return buf;
	if (!task->behind_tid) {
		snprintf(buf + used, size - used, ", which is idle");
		return buf;
	}
	used += snprintf(buf + used, size - used, " behind %s",
			 sl_top_who(who, sizeof(who), task->behind_comm, task->behind_tid, 0, utf8));
	if (task->protected_ns != SL_NO_VALUE && used > 0 && (size_t)used < size)
		snprintf(buf + used, size - used, ", protected %s more",
			 sl_fmt_duration(left, sizeof(left), task->protected_ns));
	return buf;
}

/* ---- the lines on top ---- */

static void add_tasks(char *buf, size_t size, const struct sl_top_frame *f)
{
	if (f->only_short)
		snprintf(buf, size, "%u of %u threads (short slices)", f->nr_tasks, f->nr_threads);
	else
		snprintf(buf, size, "%u of %u threads", f->nr_tasks, f->nr_threads);
}

void sl_top_head(struct sl_top_page *page, const struct sl_top_frame *f, const struct sl_top_view *view)
{
	char run[32], interval[32], tasks[96], threshold[32], rss[32];

	sl_fmt_scaled(run, sizeof(run), f->run_ns, 1000000000, 1);
	sl_fmt_scaled(interval, sizeof(interval), f->interval_ns, 1000000000, 1);
	sl_fmt_duration(threshold, sizeof(threshold), f->threshold_ns);
	sl_fmt_scaled(rss, sizeof(rss), f->own_rss_bytes * 1000 >> 20, 1000, 1);
	add_tasks(tasks, sizeof(tasks), f);
	sl_top_add(page, SL_TOP_LINE_TEXT, -1, "schedlat top (%s) %s s, the last %s s; %s", f->backend, run,
		   interval, tasks);
	sl_top_add(page, SL_TOP_LINE_TEXT, -1, "judged: waits >= %s; own cost %" PRIu64 ".%" PRIu64
		   " %% of a CPU, %s MiB; %" PRIu64 " lost", threshold, f->own_cpu_permille / 10,
		   f->own_cpu_permille % 10, rss, f->lost);
	if (*f->why) {
		char why[160], line[320];

		sl_fmt_escape(why, sizeof(why), f->why, view->utf8);
		snprintf(line, sizeof(line), "missing without bpf: who waits at this moment, why EEVDF chose, and more "
			 "is read (%s)", why);
		sl_top_add_words(page, SL_TOP_LINE_NOTE, view->width, line);
	}
	page->fixed = page->nr;
}
