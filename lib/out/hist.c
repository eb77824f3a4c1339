// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The distribution, drawn: a line per power of two of ns, with a bar. Counts
 * are exact whether or not percentiles are: the buckets of stats/ never cross
 * a power of two.
 */
#include "out/text.h"

#include <inttypes.h>
#include <string.h>

#include "out/fmt.h"
#include "out/table.h"
#include "stats/stats.h"

#define BAR_COLUMNS 46
#define GROUPS_MAX 8
#define OCTAVES_MAX 65		/* [0, 1), [1, 2), ... [2^63, 2^64) */

struct octaves {
	uint64_t count[OCTAVES_MAX];
	unsigned int first, last;
	uint64_t total, most;
	bool any;
};

static unsigned int octave_of(uint64_t lo_ns)
{
	return lo_ns ? 64 - (unsigned int)__builtin_clzll(lo_ns) : 0;
}

static uint64_t octave_lo(unsigned int octave)
{
	return octave ? 1ull << (octave - 1) : 0;
}

static void collect(void *arg, uint64_t lo_ns, uint64_t hi_ns, uint64_t count)
{
	struct octaves *octaves = arg;
	unsigned int i = octave_of(lo_ns);

	(void)hi_ns;
	octaves->count[i] += count;
	octaves->total += count;
	if (octaves->count[i] > octaves->most)
		octaves->most = octaves->count[i];
	if (!octaves->any || i < octaves->first)
		octaves->first = i;
	if (!octaves->any || i > octaves->last)
		octaves->last = i;
	octaves->any = true;
}

/* Any sample at all leaves a mark: the tail is what one looks for. */
static void print_bar(struct sl_out *out, uint64_t count, uint64_t most)
{
	static const char *const eighths[] = { "", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b",
					       "\u258a", "\u2589" };
	unsigned int steps = out->utf8 ? 8 : 1, filled, i;

	filled = (unsigned int)(((__uint128_t)count * BAR_COLUMNS * steps + most / 2) / most);
	if (!filled && count)
		filled = 1;
	for (i = 0; i < filled / steps; i++)
		fputs(out->utf8 ? "\u2588" : "#", out->file);
	if (out->utf8)
		fputs(eighths[filled % 8], out->file);
}

static void print_octaves(struct sl_out *out, const struct octaves *octaves)
{
	unsigned int shares[OCTAVES_MAX], i;
	char lo[32], hi[32], share[16];

	sl_fmt_shares(octaves->count, OCTAVES_MAX, shares);
	for (i = octaves->first; i <= octaves->last; i++) {
		fprintf(out->file, "  %9s - %9s %9" PRIu64 " %8s%s",
			sl_fmt_duration(lo, sizeof(lo), octave_lo(i)),
			i == 64 ? "" : sl_fmt_duration(hi, sizeof(hi), 1ull << i),
			octaves->count[i], sl_fmt_percent(share, sizeof(share), shares[i]),
			octaves->count[i] ? "  " : "");
		print_bar(out, octaves->count[i], octaves->most);
		putc('\n', out->file);
	}
}

static void group_title(struct sl_out *out, const struct sl_report *report,
			const struct sl_group *group)
{
	struct sl_line line = { .used = 0 };

	if (report->params.by == SL_BY_ALL)
		sl_line_add(&line, "all tasks");
	else if (group->cgroup)
		sl_line_add_name(&line, group->cgroup, out->utf8);
	else if (group->comm[0])
		sl_line_add_name(&line, group->comm, out->utf8);
	else
		sl_line_add(&line, "class %s", sl_class_name(group->sched_class));
	if (group->tid >= 0)
		sl_line_add(&line, " %" PRId32, group->tid);
	sl_fmt_cut(line.text, 60);
	putc('\n', out->file);
	sl_out_title(out, "Distribution of %s waits, %s: %" PRIu64, sl_wait_kind_name(group->kind),
		     line.text, group->count);
}

int sl_text_histograms(struct sl_out *out, const struct sl_report *report)
{
	unsigned int i, shown = 0;

	for (i = 0; i < report->nr_groups && shown < GROUPS_MAX; i++) {
		const struct sl_group *group = &report->groups[i];
		struct octaves octaves = { .any = false };

		if (!group->stats)
			continue;
		sl_stats_each_octave(group->stats, collect, &octaves);
		if (!octaves.any)
			continue;
		group_title(out, report, group);
		print_octaves(out, &octaves);
		shown++;
	}
	if (shown)
		fprintf(out->file, "  A range is a power of two of ns, from included to excluded; "
			"its count has no error.\n");
	if (i < report->nr_groups)
		fprintf(out->file, "  %u more: select with -t or --comm, or use -x.\n",
			report->nr_groups - i);
	return 0;
}
