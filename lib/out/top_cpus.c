// SPDX-License-Identifier: LGPL-2.1-only
/* top's screen of CPUs. */
#include <inttypes.h>

#include "out/fmt.h"
#include "out/top.h"
#include "util/time.h"

#define WHO_WIDTH 24

static void add_row(struct sl_top_page *page, const struct sl_top_frame *f, const struct sl_top_view *view,
		    const struct sl_top_cpu *cpu)
{
	char who[128] = "-", ran[16], nr[16] = "-", slice[16], idle[16] = "-", waited[16];
	const uint64_t per_s = f->interval_ns ? cpu->now_waits * 1000000000ull / f->interval_ns : 0;
	const bool known = cpu->tid >= 0;

	if (known)
		sl_top_who(who, sizeof(who), cpu->tid ? cpu->comm : "idle", cpu->tid, WHO_WIDTH, view->utf8);
	sl_top_short(ran, sizeof(ran), known ? cpu->ran_ns : SL_TIME_NONE);
	if (cpu->nr_running >= 0)
		snprintf(nr, sizeof(nr), "%d", cpu->nr_running);
	sl_top_short(slice, sizeof(slice), cpu->min_slice_ns ?: SL_TIME_NONE);
	if (cpu->idle_permille >= 0)
		sl_fmt_percent(idle, sizeof(idle), cpu->idle_permille);
	sl_top_short(waited, sizeof(waited), f->interval_ns ? (uint64_t)((double)cpu->now_ns * 1e9 /
								     (double)f->interval_ns) : 0);
	sl_top_add(page, SL_TOP_LINE_ROW, cpu->tid > 0 ? cpu->tid : -1,
		   "%4u %8s %-*s %6s %8s %9s %7u %7" PRIu64 " %6s", cpu->cpu, idle, WHO_WIDTH, who, ran, nr,
		   slice, cpu->waiting, per_s, waited);
}

void sl_top_cpus(struct sl_top_page *page, const struct sl_top_frame *f, const struct sl_top_view *view)
{
	sl_top_add(page, SL_TOP_LINE_HEAD, -1, "%4s %8s %-*s %6s %8s %9s %7s %7s %6s", "CPU", "idle", WHO_WIDTH,
		   "running", "for", "runnable", "min slice", "waiting", "waits/s", "wait");
	page->fixed = page->nr;
	for (unsigned int i = 0; i < f->nr_cpus; i++)
		add_row(page, f, view, &f->cpus[i]);
	sl_top_add(page, SL_TOP_LINE_NOTE, -1, "%s", "");
	sl_top_add(page, SL_TOP_LINE_NOTE, -1,
		   "running, runnable, min slice (of its queue), waiting: at this moment; the others: per second");
}
