// SPDX-License-Identifier: LGPL-2.1-only
#include "report/hists.h"

#include <errno.h>
#include <stdlib.h>

bool sl_hists_usable(const struct sl_analysis *a)
{
	const struct sl_report_params *p = &a->report->params;
	uint64_t sub;

	return sl_meta_get_u64(&a->meta, "hist.sub", &sub) && sub && p->from != SL_FROM_WAKEUP &&
	       !p->filter.cpus && !p->filter.time_start_ns && !p->filter.time_stop_ns;
}

double sl_hists_error(const struct sl_analysis *a)
{
	uint64_t sub = 0;

	sl_meta_get_u64(&a->meta, "hist.sub", &sub);
	return sub ? 1.0 / (double)sub + 1.0 / SL_STATS_SUB : 0;
}

/*
 * The largest delay that a bucket counts. Buckets are equal below first, then there are
 * sub of them for each power of two.
 */
static uint64_t bucket_top(uint64_t from_ns, uint64_t first_ns, uint64_t sub, uint64_t max_ns)
{
	uint64_t octave = first_ns, width, top;

	while (octave <= from_ns / 2)
		octave *= 2;
	width = from_ns < first_ns ? first_ns / sub : octave / sub;
	top = from_ns + (width ? width : 1) - 1;
	return top < max_ns && top >= from_ns ? top : max_ns;
}

/* "FROM:COUNT,FROM:COUNT,... ": false when it is not that. */
static bool next_bucket(const char **at, uint64_t *ret_from_ns, uint64_t *ret_count)
{
	char *end;

	*ret_from_ns = strtoull(*at, &end, 10);
	if (end == *at || *end != ':')
		return false;
	*at = end + 1;
	*ret_count = strtoull(*at, &end, 10);
	if (end == *at)
		return false;
	*at = *end == ',' ? end + 1 : end;
	return true;
}

static const char *word(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? at + strlen(name) : NULL;
}

static int take_one(struct sl_analysis *a, struct sl_task *t, const char *text, uint64_t first_ns,
		    uint64_t sub)
{
	const char *buckets = word(text, "buckets="), *max = word(text, "max_ns=");
	const char *sum = word(text, "sum_ns=");
	uint64_t max_ns = max ? strtoull(max, NULL, 10) : UINT64_MAX, from_ns, n, total = 0;
	uint64_t sum_ns = sum ? strtoull(sum, NULL, 10) : 0;
	struct sl_stats *stats = NULL;
	bool selected = sl_filter_task(&a->report->params.filter, &a->meta, t);

	if (selected && a->waits >> SL_WAIT_WAKE & 1) {
		stats = sl_groups_of(&a->groups, t, SL_WAIT_WAKE);
		if (!stats)
			return -ENOMEM;
	}
	while (buckets && next_bucket(&buckets, &from_ns, &n)) {
		total += n;
		if (stats && sl_stats_add_many(stats, from_ns, bucket_top(from_ns, first_ns, sub, max_ns), n,
					       total == n ? sum_ns : 0))
			return -ENOMEM;
	}
	a->engine.wakeups += total;
	if (selected)
		a->samples[SL_WAIT_WAKE] += total;
	else
		a->engine.discarded[SL_DISCARD_FILTERED] += total;
	return 0;
}

bool sl_hists_take_wait(struct sl_analysis *a, const struct sl_closing *closing)
{
	uint64_t above_ns = 0;

	if (!closing->taints)
		a->replaced++;
	sl_meta_get_u64(&a->meta, "threshold.ns", &above_ns);
	return closing->run_cpu >= 0 &&
	       sl_since(closing->end_ns, sl_wait_start(closing->task, false)) >= above_ns;
}

/* Wakeups whose end lies outside of the windows: no loss, the histograms have them. */
static void forget_cut_waits(struct sl_engine *e)
{
	static const enum sl_discard cut[] = {
		SL_DISCARD_OPEN_AT_LOSS, SL_DISCARD_OPEN_AT_END, SL_DISCARD_INCONSISTENT,
		SL_DISCARD_NEVER_QUEUED,
	};
	unsigned int i;

	for (i = 0; i < sizeof(cut) / sizeof(*cut); i++) {
		e->wakeups -= e->discarded[cut[i]] < e->wakeups ? e->discarded[cut[i]] : e->wakeups;
		e->discarded[cut[i]] = 0;
	}
}

int sl_hists_take(struct sl_analysis *a)
{
	uint64_t first_ns = 0, sub = 0;
	unsigned int i;

	if (!sl_meta_get_u64(&a->meta, "hist.first_ns", &first_ns) || !first_ns ||
	    !sl_meta_get_u64(&a->meta, "hist.sub", &sub) || !sub)
		return 0;
	/* Those that are in the file as well are not counted twice. */
	a->engine.wakeups -= a->replaced;
	forget_cut_waits(&a->engine);
	for (i = 0; i < a->meta.nr; i++) {
		const char *key = a->meta.v[i].key, *comm;
		struct sl_task *t;
		char *end;
		long tid;
		int ret;

		if (strncmp(key, "hist.", 5))
			continue;
		tid = strtol(key + 5, &end, 10);
		if (end == key + 5 || *end || tid < 0 || tid > INT32_MAX)
			continue;
		t = sl_tasks_get(&a->engine.tasks, (int32_t)tid);
		if (!t)
			return -ENOMEM;
		comm = word(a->meta.v[i].value, " comm=");
		if (comm && !t->comm[0]) {
			char name[SL_COMM_LEN] = "";

			memcpy(name, comm, strnlen(comm, SL_COMM_LEN - 1));
			sl_task_set_comm(t, name);
		}
		ret = take_one(a, t, a->meta.v[i].value, first_ns, sub);
		if (ret)
			return ret;
	}
	return 0;
}
