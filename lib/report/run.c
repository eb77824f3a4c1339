// SPDX-License-Identifier: LGPL-2.1-only
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis.h"
#include "report/hists.h"
#include "report/pump.h"
#include "event/event.h"
#include "util/err.h"
#include "util/time.h"

/* Below this a quantile leaves so much of the file above it that reading twice is cheaper. */
#define RUNNING_QUANTILE_MIN 0.98
#define FALLBACK_WAITS 10

/* Which waits of a kind are outliers. */
struct threshold {
	uint64_t at_least_ns, max_count;
};

/* ---- one pass over the source ---- */

static bool why_wants(const struct sl_analysis *a)
{
	return a->engine.want_causes && a->explain_waits;
}

static int keep_detail(struct sl_analysis *a, const struct sl_closing *closing,
		       struct sl_outliers *o, uint64_t delay_ns)
{
	const struct sl_report_params *p = &a->report->params;
	bool listed = p->on_wait && !a->second_pass && delay_ns >= p->on_wait_min_ns;
	bool detail = o && sl_outliers_wants(o, delay_ns) &&
		      sl_outliers_wants_detail(o, delay_ns, closing->end_ns);
	struct sl_wait wait;
	int ret;

	if (!listed && !detail)
		return 0;
	ret = sl_explain_segments(&a->explainer, &a->engine, closing, listed ? 0 : p->max_segments,
				  &wait);
	if (ret)
		return ret;
	if (listed)
		p->on_wait(p->arg, &wait);
	if (detail)
		ret = sl_outliers_add_detail(o, &wait);
	if (!detail || ret)
		sl_wait_release(&wait);
	return ret;
}

static int explain_one(struct sl_analysis *a, const struct sl_closing *closing, uint64_t delay_ns)
{
	struct sl_outliers *o = NULL;
	int ret;

	if (a->why_active) {
		o = &a->outliers[closing->task->wait_kind];
		o->samples_seen += !closing->taints;
		if (sl_outliers_wants(o, delay_ns)) {
			struct sl_explained explained;

			ret = sl_explain(&a->explainer, &a->engine, closing, &explained);
			if (!ret)
				ret = sl_outliers_add(o, &explained);
			if (ret)
				return ret;
		}
	}
	return keep_detail(a, closing, o, delay_ns);
}

static void on_closed(void *arg, const struct sl_closing *closing)
{
	struct sl_analysis *a = arg;
	struct sl_report *r = a->report;
	struct sl_task *t = closing->task;
	enum sl_wait_kind kind = (enum sl_wait_kind)t->wait_kind;
	struct sl_stats *stats;
	uint64_t delay_ns;
	bool own = t->flags & SL_TASK_OWN;

	a->paired |= closing->run_cpu >= 0;
	if (a->hists && kind == SL_WAIT_WAKE && !sl_hists_take_wait(a, closing))
		return;
	if (own || !sl_filter_task(&r->params.filter, &a->meta, t) ||
	    !sl_filter_wait(&r->params.filter, closing->run_cpu, closing->end_ns)) {
		if (kind == SL_WAIT_WAKE && !closing->taints && !a->hists)
			a->engine.discarded[own ? SL_DISCARD_OWN_THREAD : SL_DISCARD_FILTERED]++;
		return;
	}
	if (a->trimmed && closing->taints)
		return;		/* nothing is known of it, and nobody asked */
	delay_ns = sl_since(closing->end_ns, sl_wait_start(t, a->explainer.context.from_wakeup));
	if (a->hists && kind == SL_WAIT_WAKE) {
		if (!(a->waits >> kind & 1))
			return;
	} else if (!closing->taints) {
		a->samples[kind]++;
		if (!(a->waits >> kind & 1))
			return;
		stats = sl_groups_of(&a->groups, t, kind);
		if (!stats || sl_stats_add(stats, delay_ns))
			a->engine.error = -ENOMEM;
	} else if (!(a->waits >> kind & 1)) {
		return;
	} else if (closing->taints & SL_TAINT_LOST_EVENTS && delay_ns > r->tainted_longest_ns) {
		r->tainted_longest_ns = delay_ns;
	}
	if (why_wants(a) && explain_one(a, closing, delay_ns))
		a->engine.error = -ENOMEM;
}

static void learn_context(struct sl_analysis *a)
{
	struct sl_why_context *ctx = &a->explainer.context;
	const char *features, *enabled;
	uint64_t n;

	if (sl_meta_get_u64(&a->meta, "tick_ns", &n))
		ctx->tick_ns = n;
	if (sl_meta_get_u64(&a->meta, "fair_server", &n))
		ctx->fair_server = n != 0;
	enabled = sl_meta_get(&a->meta, "events_enabled");
	ctx->has_push |= enabled && strstr(enabled, sl_event_kind_name(SL_EV_PUSH));
	features = sl_meta_get(&a->meta, "sched_features");
	if (features) {
		ctx->no_wakeup_preemption = strstr(features, "NO_WAKEUP_PREEMPTION") != NULL;
		ctx->no_preempt_short = strstr(features, "NO_PREEMPT_SHORT") != NULL;
		ctx->no_protection = strstr(features, "NO_RUN_TO_PARITY") != NULL &&
				     sl_meta_get_u64(&a->meta, "bpf.has_vprot", &n) && !n;
	}
}

static void on_meta(void *arg, const struct sl_event *event)
{
	struct sl_analysis *a = arg;

	if (sl_meta_apply(&a->meta, &a->engine, event))
		a->engine.error = -ENOMEM;
	if (event->kind != SL_EV_META)
		return;
	learn_context(a);
	a->trimmed |= event->meta.key && !strcmp(event->meta.key, "trimmed.windows");
	if (event->meta.key && !strcmp(event->meta.key, "hist.sub"))
		a->hists = sl_hists_usable(a);
}

/* Bytes that an event takes at least, on the average, in a file of this kind. */
static unsigned int small_event_bytes(const struct sl_source_info *info)
{
	return !strcmp(info->compression, "none") ? 30 : 4;
}

/* How many samples the whole recording will have, at the rate seen so far. */
static void expect_samples(struct sl_analysis *a)
{
	uint64_t events = a->data_bytes / small_event_bytes(a->report->info);
	unsigned int k;

	for (k = 0; k < SL_WAIT_NR && a->engine.events; k++) {
		struct sl_outliers *o = &a->outliers[k];

		o->samples_expected = (uint64_t)((double)o->samples_seen * (double)events /
						 (double)a->engine.events);
	}
}

static int consume(void *arg, const struct sl_event *events, unsigned int nr)
{
	struct sl_analysis *a = arg;

	a->explainer.context.has_push |= a->engine.seen[SL_EV_PUSH];
	a->explainer.context.has_wakeup = a->engine.seen[SL_EV_WAKEUP];
	a->explainer.context.asked_by_event = a->engine.seen[SL_EV_NEED_RESCHED];
	if (a->why_active)
		expect_samples(a);
	return sl_engine_apply(&a->engine, events, nr);
}

static void progress(void *arg, unsigned int permille)
{
	struct sl_analysis *a = arg;

	a->report->params.on_progress(a->report->params.arg, permille);
}

static void pass_release(struct sl_analysis *a)
{
	unsigned int k;

	sl_engine_release(&a->engine);
	sl_groups_release(&a->groups);
	sl_meta_release(&a->meta);
	for (k = 0; k < SL_WAIT_NR; k++)
		sl_outliers_release(&a->outliers[k]);
}

/* What a pass is for: with thresholds NULL they are found on the way, if that is possible. */
static int pass_init(struct sl_analysis *a, const struct threshold *thresholds)
{
	struct sl_report *r = a->report;
	const struct sl_why_spec *why = &r->params.why;
	bool quantile = why->mode == SL_WHY_QUANTILE;
	bool causes;
	unsigned int k;
	int ret;

	a->why_active = why->mode == SL_WHY_DURATION ||
			(quantile && (thresholds || why->quantile >= RUNNING_QUANTILE_MIN));
	a->explain_waits = a->why_active || (r->params.on_wait && !a->second_pass);
	causes = a->explain_waits;
	memset(a->samples, 0, sizeof(a->samples));
	a->replaced = 0;
	a->hists = a->trimmed = false;
	r->tainted_longest_ns = 0;
	a->explainer.context = (struct sl_why_context){
		.from_wakeup = r->params.from == SL_FROM_WAKEUP,
		.clock_is_per_cpu = r->info->clock_is_per_cpu,
		.fair_server = -1,
		.throttled_group = sl_meta_throttled_group,
		.group_above = sl_meta_group_above,
		.throttle_period_ns = sl_meta_throttle_period_ns,
		.arg = &a->meta,
		.topology = &a->meta.topology,
	};
	ret = sl_engine_init(&a->engine, causes);
	if (ret)
		return ret;
	a->engine.on_closed = on_closed;
	a->engine.on_meta = on_meta;
	a->engine.arg = a;
	ret = sl_groups_init(&a->groups, r->params.by, r->params.exact);
	if (ret)
		return ret;
	for (k = 0; k < SL_WAIT_NR; k++) {
		if (thresholds)
			sl_outliers_init_fixed(&a->outliers[k], thresholds[k].at_least_ns,
					       thresholds[k].max_count, r->params.detail_waits);
		else if (quantile)
			sl_outliers_init_quantile(&a->outliers[k], why->quantile, r->params.detail_waits);
		else
			sl_outliers_init_fixed(&a->outliers[k], why->at_least_ns, UINT64_MAX,
					       r->params.detail_waits);
	}
	return 0;
}

static int run_pass(struct sl_analysis *a, const struct threshold *thresholds, struct sl_err *err)
{
	struct sl_pump pump = {
		.source = a->source,
		.threads = a->report->params.threads,
		.consume = consume,
		.progress = a->report->params.on_progress ? progress : NULL,
		.arg = a,
	};
	int ret;

	ret = pass_init(a, thresholds);
	if (!ret)
		ret = sl_pump_run(&pump, err);
	if (ret == -ENOMEM)
		return sl_err_set(err, ret, "%s: out of memory", a->report->params.path);
	if (ret)
		return ret;
	sl_engine_finish(&a->engine);
	if (a->hists && sl_hists_take(a))
		a->engine.error = -ENOMEM;
	return a->engine.error ? sl_err_set(err, a->engine.error, "%s: out of memory",
					    a->report->params.path) : 0;
}

/* ---- thresholds ---- */

/* Where the outliers of one kind begin; *fell_back when the quantile needs more samples. */
static struct threshold threshold_of(const struct sl_analysis *a, enum sl_wait_kind kind,
				     uint64_t *ret_shown, bool *ret_fell_back)
{
	struct threshold t = { .max_count = UINT64_MAX };
	double q = a->report->params.why.quantile;
	uint64_t n = a->samples[kind], max;

	*ret_fell_back = n && q < 1 && (double)n * (1 - q) < 1 - 1e-9;
	if (*ret_fell_back) {
		uint64_t rank = n > FALLBACK_WAITS ? n - FALLBACK_WAITS + 1 : 1;

		t.at_least_ns = sl_groups_quantile(&a->groups, kind, (double)rank / (double)n);
		*ret_shown = t.at_least_ns;
		return t;
	}
	*ret_shown = sl_groups_quantile(&a->groups, kind, q);
	max = sl_groups_quantile(&a->groups, kind, 1);
	t.at_least_ns = *ret_shown + 1;	/* strictly above */
	if (*ret_shown >= max) {
		t.at_least_ns = max;	/* at least the worst one */
		t.max_count = 1;
	}
	return t;
}

static int run_quantile(struct sl_analysis *a, struct sl_err *err)
{
	struct threshold begin[SL_WAIT_NR] = { { 0 } };
	struct sl_why *why = &a->report->why;
	bool again = !a->why_active;
	int k, ret;

	for (k = SL_WAIT_NR - 1; k >= 0; k--) {	/* what is shown is of the first kind: wake */
		if (!(a->waits >> k & 1))
			continue;
		begin[k] = threshold_of(a, (enum sl_wait_kind)k, &why->threshold_ns, &why->fell_back);
		why->selected += a->samples[k];
	}
	for (k = 0; k < SL_WAIT_NR && !again; k++)
		again = a->waits >> k & 1 &&
			!sl_outliers_finish(&a->outliers[k], begin[k].at_least_ns, begin[k].max_count);
	if (!again)
		return 0;
	pass_release(a);
	ret = sl_source_rewind(a->source, err);
	if (ret)
		return ret;
	a->second_pass = true;
	return run_pass(a, begin, err);
}

int sl_analysis_run(struct sl_analysis *a, struct sl_err *err)
{
	struct sl_report *r = a->report;
	unsigned int k;
	int ret;

	for (k = 0; k < r->info->nr_cpus; k++)
		a->data_bytes += r->info->cpus[k].bytes;
	a->waits = r->params.waits ? r->params.waits : 1u << SL_WAIT_WAKE;
	ret = run_pass(a, NULL, err);
	if (ret)
		return ret;
	if (r->params.why.mode == SL_WHY_QUANTILE) {
		ret = run_quantile(a, err);
		if (ret)
			return ret;
	}
	if (r->params.why.mode == SL_WHY_DURATION) {
		r->why.threshold_ns = r->params.why.at_least_ns;
		for (k = 0; k < SL_WAIT_NR; k++)
			if (a->waits >> k & 1)
				r->why.selected += a->samples[k];
	}
	if (r->params.why.mode != SL_WHY_NONE)
		for (k = 0; k < SL_WAIT_NR; k++)
			sl_outliers_finish(&a->outliers[k], a->outliers[k].at_least_ns, UINT64_MAX);
	return 0;
}

void sl_analysis_release(struct sl_analysis *a)
{
	pass_release(a);
	sl_source_free(a->source);
}
