// SPDX-License-Identifier: LGPL-2.1-only
#include "schedlat/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis.h"
#include "report/hists.h"
#include "event/event.h"
#include "util/err.h"
#include "util/time.h"

/* The public part comes first: one pointer serves both. */
struct report_impl {
	struct sl_report report;
	struct sl_analysis analysis;
};

int sl_why_parse(const char *text, struct sl_why_spec *ret, struct sl_err *err)
{
	struct sl_why_spec spec = { 0 };
	char *end;

	snprintf(spec.label, sizeof(spec.label), "%s", text);
	if (!strcmp(text, "max")) {
		spec.mode = SL_WHY_QUANTILE;
		spec.quantile = 1;
	} else if (text[0] == 'p' || text[0] == 'P') {
		double percent = strtod(text + 1, &end);

		if (end == text + 1 || *end || !(percent > 0 && percent <= 100))
			return sl_err_set(err, SL_EUSAGE,
					  "'%s' is not a percentile: write it like p99.9 (above 0, at most 100)",
					  text);
		spec.mode = SL_WHY_QUANTILE;
		spec.quantile = percent / 100;
		spec.label[0] = 'p';
	} else {
		int ret = sl_time_parse(text, &spec.at_least_ns, err);

		if (ret)
			return sl_err_set(err, SL_EUSAGE,
					  "'%s' is neither a percentile (p99.9, max) nor a duration with a unit (500us)",
					  text);
		spec.mode = SL_WHY_DURATION;
	}
	*ret = spec;
	return 0;
}

static int by_ns(const void *a, const void *b)
{
	const struct sl_why_cause *x = a, *y = b;
	bool px = sl_cause_descs[x->cause].family == SL_FAMILY_PLACE;
	bool py = sl_cause_descs[y->cause].family == SL_FAMILY_PLACE;

	if (px != py)
		return px - py;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (int)x->cause - (int)y->cause;
}

static int collect_causes(struct sl_analysis *a, struct sl_why *why)
{
	unsigned int c, k, s;

	why->causes = calloc(SL_CAUSE_NR, sizeof(*why->causes));
	if (!why->causes)
		return -ENOMEM;
	for (k = 0; k < SL_WAIT_NR; k++) {
		why->count += a->outliers[k].count;
		why->total_ns += a->outliers[k].total_ns;
		why->tainted += a->outliers[k].tainted;
	}
	for (c = 0; c < SL_CAUSE_NR; c++) {
		struct sl_why_cause *w = &why->causes[why->nr_causes];

		w->cause = (enum sl_cause)c;
		for (k = 0; k < SL_WAIT_NR; k++) {
			const struct sl_cause_total *t = &a->outliers[k].totals[c];

			w->ns += t->ns;
			w->count += t->count;
			w->primary += t->primary;
			for (s = 0; s < SL_CONF_NR; s++)
				w->confidence_ns[s] += t->confidence_ns[s];
		}
		if (w->count)
			why->nr_causes++;
		else
			memset(w, 0, sizeof(*w));
	}
	qsort(why->causes, why->nr_causes, sizeof(*why->causes), by_ns);
	return 0;
}

static int by_delay(const void *a, const void *b)
{
	const struct sl_wait *x = a, *y = b;

	if (x->delay_ns != y->delay_ns)
		return x->delay_ns < y->delay_ns ? 1 : -1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* The details of all kinds in one list; the outliers give up theirs. */
static int collect_waits(struct sl_analysis *a, struct sl_why *why, unsigned int max)
{
	unsigned int k, nr = 0;

	for (k = 0; k < SL_WAIT_NR; k++)
		nr += a->outliers[k].nr_details;
	why->waits = calloc(nr ? nr : 1, sizeof(*why->waits));
	if (!why->waits)
		return -ENOMEM;
	for (k = 0; k < SL_WAIT_NR; k++) {
		struct sl_outliers *o = &a->outliers[k];

		if (o->nr_details)
			memcpy(why->waits + why->nr_waits, o->details, o->nr_details * sizeof(*o->details));
		why->nr_waits += o->nr_details;
		o->nr_details = 0;
	}
	qsort(why->waits, why->nr_waits, sizeof(*why->waits), by_delay);
	while (why->nr_waits > max)
		sl_wait_release(&why->waits[--why->nr_waits]);
	return 0;
}

static int by_occupied(const void *a, const void *b)
{
	const struct sl_occupant *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return memcmp(x->comm, y->comm, sizeof(x->comm));
}

struct occupant_use {
	char comm[16];
	uint64_t ns;
	unsigned int wait;
};

static int by_comm_and_wait(const void *a, const void *b)
{
	const struct occupant_use *x = a, *y = b;
	int ret = memcmp(x->comm, y->comm, sizeof(x->comm));

	return ret ? ret : x->wait < y->wait ? -1 : x->wait > y->wait;
}

/* Who ran instead: tasks, by name, over the waits whose segments we have. */
static int collect_occupants(struct sl_why *why)
{
	struct occupant_use *use;
	uint64_t nr = 0, i;
	unsigned int w, s;

	for (w = 0; w < why->nr_waits; w++)
		nr += why->waits[w].nr_segments;
	use = malloc((nr ? nr : 1) * sizeof(*use));
	if (!use)
		return -ENOMEM;
	nr = 0;
	for (w = 0; w < why->nr_waits; w++)
		for (s = 0; s < why->waits[w].nr_segments; s++) {
			const struct sl_segment *seg = &why->waits[w].segments[s];

			if (seg->occupant_tid <= 0 || seg->cause == SL_CAUSE_IRQ ||
			    seg->cause == SL_CAUSE_SOFTIRQ)
				continue;
			memcpy(use[nr].comm, seg->occupant_comm, sizeof(use[nr].comm));
			use[nr].ns = seg->ns;
			use[nr++].wait = w;
		}
	qsort(use, nr, sizeof(*use), by_comm_and_wait);
	why->occupants = calloc(nr ? nr : 1, sizeof(*why->occupants));
	if (!why->occupants) {
		free(use);
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++) {
		struct sl_occupant *o;

		if (!i || memcmp(use[i].comm, use[i - 1].comm, sizeof(use[i].comm)))
			memcpy(why->occupants[why->nr_occupants++].comm, use[i].comm, sizeof(use[i].comm));
		o = &why->occupants[why->nr_occupants - 1];
		o->ns += use[i].ns;
		if (!o->count || use[i].wait != use[i - 1].wait)
			o->count++;
	}
	free(use);
	qsort(why->occupants, why->nr_occupants, sizeof(*why->occupants), by_occupied);
	return 0;
}

/* A kind counts as recorded when it occurs, or when the recorder says it was enabled. */
static bool recorded(const struct sl_analysis *a, enum sl_ev_kind kind)
{
	const char *events = sl_meta_get(&a->meta, "events_enabled");

	return a->engine.seen[kind] || (events && strstr(events, sl_event_kind_name(kind)));
}

static void judge_assessable(const struct sl_analysis *a, bool not[SL_CAUSE_NR])
{
	bool waking = recorded(a, SL_EV_WAKING), wakeup = recorded(a, SL_EV_WAKEUP);
	bool told = recorded(a, SL_EV_WAKEUP_PREEMPT) && recorded(a, SL_EV_PICK);
	bool placed = waking && wakeup, snapshots = recorded(a, SL_EV_ENTITY) || told;
	unsigned int c;

	not[SL_CAUSE_WAKE_PATH] = !placed;
	not[SL_CAUSE_IRQ] = !recorded(a, SL_EV_IRQ_ENTRY) && !recorded(a, SL_EV_VECTOR_ENTRY) &&
			    !recorded(a, SL_EV_IPI_ENTRY);
	not[SL_CAUSE_SOFTIRQ] = !recorded(a, SL_EV_SOFTIRQ_ENTRY);
	not[SL_CAUSE_STOLEN] = true;
	not[SL_CAUSE_THROTTLED] = !recorded(a, SL_EV_ENTITY) && !recorded(a, SL_EV_THROTTLE);
	not[SL_CAUSE_FAIR_SERVER] = not[SL_CAUSE_RT_THROTTLED] = a->explainer.context.fair_server < 0;
	not[SL_CAUSE_LAZY_RESCHED] = not[SL_CAUSE_RESCHED_DELAYED] =
		!a->source->info.has_irq_flags && !recorded(a, SL_EV_NEED_RESCHED) &&
		!recorded(a, SL_EV_RESCHED_FAIR);
	not[SL_CAUSE_SCHED_EXT] = !a->meta.has_tasks;
	for (c = SL_CAUSE_SLICE_PROTECTION; c < SL_CAUSE_FAIR_UNDETERMINED; c++)
		not[c] = !snapshots;
	not[SL_CAUSE_NO_WAKEUP_PREEMPT] = !snapshots && (!a->meta.has_tasks || !a->explainer.context.tick_ns);
	not[SL_CAUSE_IDLE_CPU_MISSED] = !placed;
	not[SL_CAUSE_WAKE_AFFINE] = !placed && !(wakeup && recorded(a, SL_EV_SELECT));
	not[SL_CAUSE_STACKED_WAKEUP] = !a->meta.has_slices && !recorded(a, SL_EV_PLACE);
	not[SL_CAUSE_MIN_SLICE_CHOICE] = !recorded(a, SL_EV_MIN_SLICE);
	not[SL_CAUSE_ENERGY_CHOICE] = !recorded(a, SL_EV_SELECT) && !recorded(a, SL_EV_ENERGY_CHOICE);
	not[SL_CAUSE_PUSH_MISSED] = not[SL_CAUSE_PUSH_FAILED] = !recorded(a, SL_EV_PUSH);
	not[SL_CAUSE_AFFINITY] = !a->meta.has_tasks;
}

static int fill(struct report_impl *impl)
{
	struct sl_report *r = &impl->report;
	struct sl_analysis *a = &impl->analysis;
	const struct sl_source_info *info = r->info;
	const char *flight;
	unsigned int i;
	int ret;

	r->t_start_ns = a->engine.first_ns == SL_TIME_NONE ? 0 : a->engine.first_ns;
	r->t_end_ns = a->engine.now_ns;
	r->meta = a->meta.v;
	r->nr_meta = a->meta.nr;
	r->backend = sl_meta_get(&a->meta, "backend");
	flight = sl_meta_get(&a->meta, "flight");
	r->flight = (flight && strcmp(flight, "0")) || a->trimmed;
	for (i = 0; i < info->nr_cpus; i++) {
		r->lost_events += info->cpus[i].lost_events;
		r->lost_gaps += info->cpus[i].lost_gaps;
		r->lost_unknown_gaps += info->cpus[i].lost_unknown_gaps;
	}
	r->gaps = a->engine.gaps;
	r->nr_gaps = a->engine.nr_gaps;
	for (i = 0; i < r->nr_meta; i++)
		if (!strncmp(r->meta[i].key, "lost.cpu", 8))
			r->recorder_lost_events += strtoull(r->meta[i].value, NULL, 10);
	r->wakeups = a->engine.wakeups;
	r->samples = a->samples[SL_WAIT_WAKE];
	memcpy(r->discarded, a->engine.discarded, sizeof(r->discarded));
	memcpy(r->other_discarded, a->engine.other_discarded, sizeof(r->other_discarded));
	r->preempt_waits = a->samples[SL_WAIT_PREEMPT];
	r->fork_waits = a->samples[SL_WAIT_FORK];
	r->switch_mismatches = a->engine.switch_mismatches;
	r->percentiles_exact = sl_stats_pool_is_exact(a->groups.pool);
	r->histogram_error = a->hists ? sl_hists_error(a) : 1.0 / SL_STATS_SUB;
	sl_meta_get_u64(&a->meta, "threshold.ns", &r->recorded_above_ns);
	if (r->recorded_above_ns)
		r->flight = !a->hists || a->waits != 1u << SL_WAIT_WAKE;
	ret = sl_groups_finish(&a->groups, &r->groups, &r->nr_groups);
	if (ret)
		return ret;
	judge_assessable(a, r->not_assessable);
	if (r->params.why.mode == SL_WHY_NONE)
		return 0;
	ret = collect_causes(a, &r->why);
	if (!ret)
		ret = collect_waits(a, &r->why, r->params.detail_waits);
	return ret ? ret : collect_occupants(&r->why);
}

/* Is there something to analyse, and does it hang together? */
static int check(const struct report_impl *impl, struct sl_err *err)
{
	const struct sl_analysis *a = &impl->analysis;
	const struct sl_engine *e = &a->engine;
	const char *path = impl->report.params.path;
	bool wakes = e->seen[SL_EV_WAKING] || e->seen[SL_EV_WAKEUP] || e->seen[SL_EV_WAKEUP_NEW];
	const char *only = sl_meta_get(&a->meta, "only"), *flight = sl_meta_get(&a->meta, "flight");
	bool wanted = a->waits & 1u << SL_WAIT_WAKE;

	if (a->hists && wanted && e->wakeups)
		return 0;	/* the histograms have waits, also where none was worth a window */
	if (only && !wakes && wanted && !(a->waits & 1u << SL_WAIT_PREEMPT))
		return sl_err_set(err, SL_EDATA, "%s: no wakeup matched the --only of the recording (%s)",
				  path, only);
	if (!e->seen[SL_EV_SWITCH] && flight && strcmp(flight, "0"))
		return sl_err_set(err, SL_EDATA, "%s: no wait reached the threshold of the recording, "
				  "so it holds none", path);
	if (!e->seen[SL_EV_SWITCH])
		return sl_err_set(err, SL_EDATA,
				  "%s: holds no sched_switch event, so no wait can be closed: "
				  "record with schedlat record, or trace-cmd record -e sched", path);
	if (!wakes && a->waits & 1u << SL_WAIT_WAKE && !(a->waits & 1u << SL_WAIT_PREEMPT))
		return sl_err_set(err, SL_EDATA,
				  "%s: holds no sched_waking and no sched_wakeup event, so no wakeup is known: "
				  "record with schedlat record, or use --waits=preempt", path);
	if (!a->paired && e->discarded[SL_DISCARD_NEVER_QUEUED] +
			  e->discarded[SL_DISCARD_INCONSISTENT] + e->discarded[SL_DISCARD_OPEN_AT_END])
		return sl_err_set(err, SL_EDATA,
				  "%s: %llu wakeups and none of them pairs with a switch: "
				  "the file mixes events that do not belong together", path,
				  (unsigned long long)e->wakeups);
	return 0;
}

int sl_report_run(const struct sl_report_params *params, struct sl_report **ret_report,
		  struct sl_err *err)
{
	struct report_impl *impl = calloc(1, sizeof(*impl));
	struct sl_analysis *a;
	int ret;

	if (!impl)
		return sl_err_set(err, -ENOMEM, "out of memory");
	a = &impl->analysis;
	a->report = &impl->report;
	impl->report.params = *params;
	ret = sl_source_open(params->path, &a->source, err);
	if (ret) {
		free(impl);
		return ret;
	}
	impl->report.info = sl_source_info(a->source);
	ret = sl_analysis_run(a, err);
	if (!ret)
		ret = check(impl, err);
	if (!ret) {
		ret = fill(impl);
		if (ret)
			sl_err_set(err, ret, "%s: out of memory", params->path);
	}
	if (ret) {
		sl_report_free(&impl->report);
		return ret;
	}
	*ret_report = &impl->report;
	return 0;
}

void sl_report_free(struct sl_report *report)
{
	struct report_impl *impl = (struct report_impl *)report;
	unsigned int i;

	if (!impl)
		return;
	for (i = 0; i < report->why.nr_waits; i++)
		sl_wait_release(&report->why.waits[i]);
	free(report->why.waits);
	free(report->why.causes);
	free(report->why.occupants);
	free(report->groups);
	sl_analysis_release(&impl->analysis);
	free(impl);
}

const char *sl_report_meta_get(const struct sl_report *report, const char *key)
{
	unsigned int i;

	for (i = 0; i < report->nr_meta; i++)
		if (!strcmp(report->meta[i].key, key))
			return report->meta[i].value;
	return NULL;
}
