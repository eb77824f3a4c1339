// SPDX-License-Identifier: LGPL-2.1-only
/* top's screen of causes: shares of the time that was judged, and what is known of the rest. */
#include <inttypes.h>
#include <string.h>

#include "out/fmt.h"
#include "out/top.h"

#define TREND_LEAST 8

/* A column per interval, of the width that is there. */
static char *trend(char *buf, size_t size, const struct sl_top_cause *cause, unsigned int width, bool utf8)
{
	static const char *const blocks[] = { " ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588" };
	static const char ascii[] = " .:-=+*#@";
	unsigned int nr = width < SL_TOP_TREND ? width : SL_TOP_TREND;
	size_t used = 0;

	for (unsigned int i = SL_TOP_TREND - nr; i < SL_TOP_TREND && used + 4 < size; i++) {
		/* Whatever is there is seen. */
		const unsigned int level = (cause->trend[i] * 8u + 999) / 1000;

		if (utf8)
			used += snprintf(buf + used, size - used, "%s", blocks[level]);
		else
			buf[used++] = ascii[level];
	}
	buf[used] = '\0';
	return buf;
}

static void add_row(struct sl_top_page *page, const struct sl_top_frame *f, const struct sl_top_view *view,
		    const struct sl_top_cause *cause)
{
	char now[16], total[16], time[16], conf[SL_CONF_NR][16], lines[SL_TOP_TREND * 4 + 8];
	const unsigned int width = view->width > 76 + TREND_LEAST ? view->width - 76 : TREND_LEAST;

	sl_fmt_percent(now, sizeof(now), sl_fmt_permille(cause->now_ns, f->now_judged_ns));
	sl_fmt_percent(total, sizeof(total), sl_fmt_permille(cause->total_ns, f->judged_ns));
	sl_top_short(time, sizeof(time), cause->total_ns);
	for (unsigned int i = 0; i < SL_CONF_NR; i++) {
		const unsigned int permille = sl_fmt_permille(cause->confidence_ns[i], cause->total_ns);

		snprintf(conf[i], sizeof(conf[i]), cause->confidence_ns[i] ? "%u%%" : "-", (permille + 5) / 10);
	}
	sl_top_add(page, SL_TOP_LINE_ROW, -1, "%-17s %8s %8s %6s %6" PRIu64 " %5s %7s %7s  %s",
		   sl_cause_descs[cause->cause].id, now, total, time, cause->total_waits, conf[SL_CONF_EXACT],
		   conf[SL_CONF_DERIVED], conf[SL_CONF_UNKNOWN],
		   trend(lines, sizeof(lines), cause, width, view->utf8));
}

static void add_all(struct sl_top_page *page, const struct sl_top_frame *f, const struct sl_top_view *view)
{
	static const char *const names[SL_BPF_RAN_NR] = {
		[SL_BPF_RAN_IDLE] = "idle", [SL_BPF_RAN_FAIR] = "fair", [SL_BPF_RAN_RT] = "rt or stop",
		[SL_BPF_RAN_DL] = "dl",
	};
	const struct sl_top_all *all = &f->all;
	char sum[16], part[16], line[400];
	int used;

	sl_fmt_duration(sum, sizeof(sum), all->sum_ns);
	used = snprintf(line, sizeof(line), "all waits: %" PRIu64 ", %s", all->waits, sum);
	if (all->by_class && all->sum_ns) {
		used += snprintf(line + used, sizeof(line) - used, "; by who ran meanwhile:");
		for (unsigned int i = 0; i < SL_BPF_RAN_NR; i++)
			used += snprintf(line + used, sizeof(line) - used, " %s %s,", names[i],
					 sl_fmt_percent(part, sizeof(part),
							sl_fmt_permille(all->ran_ns[i], all->sum_ns)));
		used += snprintf(line + used, sizeof(line) - used, " not queued yet %s,",
				 sl_fmt_percent(part, sizeof(part), sl_fmt_permille(all->path_ns, all->sum_ns)));
		snprintf(line + used, sizeof(line) - used, " not told (it moved) %s",
			 sl_fmt_percent(part, sizeof(part), sl_fmt_permille(all->moved_ns, all->sum_ns)));
	}
	sl_top_add_words(page, SL_TOP_LINE_TEXT, view->width, line);
}

static void add_rows(struct sl_top_page *page, const struct sl_top_frame *f, const struct sl_top_view *view,
		     bool place)
{
	for (unsigned int i = 0; i < f->nr_causes; i++) {
		const struct sl_top_cause *cause = &f->causes[i];

		if ((cause->cause >= SL_CAUSE_HOLD_NR) == place &&
		    sl_top_found(view, "", -1, sl_cause_descs[cause->cause].id))
			add_row(page, f, view, cause);
	}
}

void sl_top_causes(struct sl_top_page *page, const struct sl_top_frame *f, const struct sl_top_view *view)
{
	char now[16], total[16], line[256];
	bool place = false;

	snprintf(line, sizeof(line), "judged waits: now %" PRIu64 ", %s; since the start %" PRIu64
		 ", %s; events missing in %" PRIu64, f->now_judged_waits,
		 sl_fmt_duration(now, sizeof(now), f->now_judged_ns), f->judged_waits,
		 sl_fmt_duration(total, sizeof(total), f->judged_ns), f->tainted_waits);
	sl_top_add_words(page, SL_TOP_LINE_TEXT, view->width, line);
	add_all(page, f, view);
	sl_top_add(page, SL_TOP_LINE_HEAD, -1, "%-17s %8s %8s %6s %6s %5s %7s %7s  %s", "held by", "now", "start",
		   "time", "waits", "exact", "derived", "unknown", "trend");
	page->fixed = page->nr;
	add_rows(page, f, view, false);
	for (unsigned int i = 0; i < f->nr_causes; i++)
		place |= f->causes[i].cause >= SL_CAUSE_HOLD_NR;
	if (place) {
		sl_top_add(page, SL_TOP_LINE_HEAD, -1, "%s", "sent there by (avoidable time, lies across the above)");
		add_rows(page, f, view, true);
	}
	if (!f->judged_waits)
		sl_top_add(page, SL_TOP_LINE_NOTE, -1, "no wait has reached the threshold; - lowers it");
}
