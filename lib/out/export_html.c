// SPDX-License-Identifier: LGPL-2.1-only
/*
 * One page that needs nothing else: the report as report --json prints it, the distribution
 * of all waits, and the script that draws them (lib/out/html). Names come from the recording
 * and can be anything: they are only ever in JSON, in which "<" is written as \u003c, so that
 * no script element can end there; the script sets them as text.
 */
#include "out/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"

#define PARTS 8		/* ranges per power of two that the distribution is drawn with */

/* html/assets.S */
extern const char sl_asset_page_html[], sl_asset_page_css[], sl_asset_page_js[], sl_asset_charts_js[],
	sl_asset_uplot_js[], sl_asset_uplot_css[], sl_asset_uplot_license[];

struct html {
	struct sl_out *out;
	const struct sl_out_view *view;
};

static int begin(struct sl_out *out, const struct sl_out_view *view, void **ret_state)
{
	struct html *html = malloc(sizeof(*html));

	if (!html)
		return -ENOMEM;
	html->out = out;
	html->view = view;
	*ret_state = html;
	return 0;
}

/* ---- JSON in a page ---- */

static ssize_t write_escaped(void *cookie, const char *data, size_t size)
{
	FILE *file = cookie;
	size_t from = 0, at;

	for (at = 0; at < size; at++) {
		if (data[at] != '<')
			continue;
		fwrite(data + from, 1, at - from, file);
		fputs("\\u003c", file);
		from = at + 1;
	}
	fwrite(data + from, 1, size - from, file);
	return ferror(file) ? 0 : (ssize_t)size;
}

static FILE *open_escaped(FILE *file)
{
	return fopencookie(file, "w", (cookie_io_functions_t){ .write = write_escaped });
}

static int print_report(struct html *html, const struct sl_report *report)
{
	struct sl_out out = { .file = open_escaped(html->out->file), .utf8 = true };
	int ret;

	if (!out.file)
		return -ENOMEM;
	ret = sl_out_report_json(&out, report, html->view);
	fclose(out.file);	/* whether it was written, the file behind it knows */
	return ret;
}

/* ---- the distribution ---- */

struct ranges {
	FILE *file;
	bool any;
};

static void print_range(void *arg, uint64_t lo_ns, uint64_t hi_ns, uint64_t count)
{
	struct ranges *ranges = arg;

	fprintf(ranges->file, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", ranges->any ? "," : "", lo_ns,
		hi_ns, count);
	ranges->any = true;
}

/* All groups of one kind together. */
static void print_kind(FILE *file, struct sl_stats *const *stats, unsigned int nr,
		       enum sl_wait_kind kind, const char *before)
{
	static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999, 1 };
	struct ranges ranges = { file, false };
	uint64_t values[5], count = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		count += sl_stats_count(stats[i]);
	sl_stats_quantiles_of(stats, nr, quantiles, 5, values);
	fprintf(file, "%s{\"kind\":\"%s\",\"count\":%" PRIu64 ",\"p50_ns\":%" PRIu64 ",\"p90_ns\":%" PRIu64
		",\"p99_ns\":%" PRIu64 ",\"p999_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64 ",\"ranges\":[", before,
		sl_wait_kind_name(kind), count, values[0], values[1], values[2], values[3], values[4]);
	sl_stats_each_range(stats, nr, PARTS, print_range, &ranges);
	fputs("]}", file);
}

static int print_distribution(FILE *file, const struct sl_report *report)
{
	struct sl_stats **stats = malloc((report->nr_groups + 1) * sizeof(*stats));
	unsigned int kind, i, nr;
	const char *before = "[";

	if (!stats)
		return -ENOMEM;
	for (kind = 0; kind < SL_WAIT_NR; kind++) {
		for (i = nr = 0; i < report->nr_groups; i++)
			if (report->groups[i].kind == kind && report->groups[i].stats)
				stats[nr++] = report->groups[i].stats;
		if (!nr)
			continue;
		print_kind(file, stats, nr, kind, before);
		before = ",\n";
	}
	fputs(*before == '[' ? "[]" : "]", file);
	free(stats);
	return 0;
}

/* ---- the page ---- */

static int finish(void *state, const struct sl_report *report, struct sl_err *err)
{
	struct html *html = state;
	FILE *file = html->out->file;
	const char *body = strstr(sl_asset_page_html, "<!-- styles -->");
	int ret;

	fprintf(file, "%.*s<style>\n%s\n%s</style>\n%s", (int)(body - sl_asset_page_html), sl_asset_page_html,
		sl_asset_uplot_css, sl_asset_page_css, strchr(body, '\n') + 1);
	fputs("<script type=\"application/json\" id=\"report\">\n", file);
	ret = print_report(html, report);
	fputs("</script>\n<script type=\"application/json\" id=\"distribution\">\n", file);
	if (!ret)
		ret = print_distribution(file, report);
	fprintf(file, "\n</script>\n<script>\n/*\n%s*/\n%s</script>\n<script>\n%s</script>\n<script>\n%s</script>\n"
		"</body>\n</html>\n", sl_asset_uplot_license, sl_asset_uplot_js, sl_asset_charts_js,
		sl_asset_page_js);
	return ret ? sl_err_set(err, ret, "out of memory") : 0;
}

const struct sl_exporter sl_export_html = {
	.name = "html",
	.doc = "a page with charts and a table of the longest waits",
	.begin = begin,
	.finish = finish,
	.end = free,
};
