// SPDX-License-Identifier: LGPL-2.1-only
#include "report/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "event/event.h"
#include "report/diff_local.h"
#include "util/err.h"
#include "util/time.h"

/* What one run needs besides its result. */
struct run {
	struct sl_diff *diff;
	struct sl_diff_file *files[SL_DIFF_SIDES_MAX];	/* [side][file] */
	uint32_t *hash;				/* group index + 1, by key */
	uint32_t hash_mask;
	unsigned int passes, passes_done;	/* for the progress line */
	/* the second pass over a file */
	unsigned int side;
	struct sl_diff_file *file;
	int error;
};

/* ---- groups ---- */

static struct sl_group key_of_group(enum sl_by by, const struct sl_group *group)
{
	struct sl_group key = {
		.kind = group->kind, .tid = group->tid, .tgid = group->tgid,
		.sched_class = group->sched_class, .cgroup = group->cgroup,
	};

	memcpy(key.comm, group->comm, sizeof(key.comm));
	if (by == SL_BY_TID)	/* the rest describes the thread */
		key.sched_class = SL_CLASS_UNKNOWN;
	return key;
}

static struct sl_group key_of_wait(enum sl_by by, const struct sl_wait *wait)
{
	struct sl_group key = { .kind = wait->kind, .tid = -1, .tgid = -1 };

	switch (by) {
	case SL_BY_TID:
		key.tid = wait->tid;
		key.tgid = wait->tgid;
		memcpy(key.comm, wait->comm, sizeof(key.comm));
		break;
	case SL_BY_COMM:
		memcpy(key.comm, wait->comm, sizeof(key.comm));
		break;
	case SL_BY_TGID:
		key.tgid = wait->tgid;
		break;
	case SL_BY_CGROUP:
		key.cgroup = wait->cgroup;
		break;
	case SL_BY_CLASS:
		key.sched_class = wait->sched_class;
		break;
	case SL_BY_ALL:
	case SL_BY_NR:
		break;
	}
	return key;
}

static bool same_key(enum sl_by by, const struct sl_group *a, const struct sl_group *b)
{
	if (a->kind != b->kind)
		return false;
	if (by == SL_BY_TID)
		return a->tid == b->tid;
	if (by == SL_BY_CGROUP)
		return a->cgroup && b->cgroup ? !strcmp(a->cgroup, b->cgroup) : a->cgroup == b->cgroup;
	/* A process is known by its id: the name that its group has is one of several. */
	return a->tgid == b->tgid && a->sched_class == b->sched_class &&
	       (by != SL_BY_COMM || !memcmp(a->comm, b->comm, sizeof(a->comm)));
}

static uint32_t hash_of(enum sl_by by, const struct sl_group *key)
{
	uint64_t h = 0xcbf29ce484222325ull ^ (unsigned int)key->kind;
	const char *text = by == SL_BY_COMM ? key->comm : by == SL_BY_CGROUP ? key->cgroup : NULL;
	size_t i, size = by == SL_BY_COMM ? sizeof(key->comm) : SIZE_MAX;

	for (i = 0; text && i < size && text[i]; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3ull;
	if (by == SL_BY_TID)
		h ^= (uint32_t)key->tid;
	if (by == SL_BY_TGID)
		h ^= (uint32_t)key->tgid;
	h ^= (uint64_t)key->sched_class << 40;
	return (uint32_t)((h ^ h >> 29) * 0x9e3779b97f4a7c15ull >> 32);
}

/* Where the group is or would be. */
static uint32_t *slot_of(struct run *run, const struct sl_group *key)
{
	enum sl_by by = run->diff->params.report.by;
	uint32_t at = hash_of(by, key) & run->hash_mask;

	while (run->hash[at] && !same_key(by, &run->diff->groups[run->hash[at] - 1].key, key))
		at = (at + 1) & run->hash_mask;
	return &run->hash[at];
}

/* Every group of every file, once. */
static int collect_groups(struct run *run)
{
	struct sl_diff *diff = run->diff;
	unsigned int s, f, g, total = 0;

	for (s = 0; s < diff->params.nr_sides; s++)
		for (f = 0; f < diff->sides[s].nr; f++)
			total += diff->sides[s].reports[f]->nr_groups;
	for (run->hash_mask = 15; run->hash_mask < total * 2; )
		run->hash_mask = run->hash_mask * 2 + 1;
	run->hash = calloc(run->hash_mask + 1ull, sizeof(*run->hash));
	diff->groups = calloc(total + 1ull, sizeof(*diff->groups));
	if (!run->hash || !diff->groups)
		return -ENOMEM;
	for (s = 0; s < diff->params.nr_sides; s++)
		for (f = 0; f < diff->sides[s].nr; f++) {
			const struct sl_report *report = diff->sides[s].reports[f];

			for (g = 0; g < report->nr_groups; g++) {
				struct sl_group key = key_of_group(diff->params.report.by, &report->groups[g]);
				uint32_t *slot = slot_of(run, &key);

				if (!*slot) {
					diff->groups[diff->nr_groups++].key = key;
					*slot = diff->nr_groups;
				}
			}
		}
	return 0;
}

/* ---- the second pass: causes, and stretches ---- */

static void add_causes(struct sl_diff_causes *causes, const struct sl_wait *wait)
{
	uint64_t place_ns = wait->avoidable_ns ? wait->avoidable_ns : wait->forbidden_ns;
	unsigned int c;

	causes->waits++;
	causes->total_ns += wait->delay_ns;
	for (c = 0; c < SL_CAUSE_HOLD_NR; c++) {
		causes->ns[c] += wait->cause_ns[c];
		causes->count[c] += wait->cause_ns[c] != 0;
	}
	for (; c < SL_CAUSE_NR; c++)
		if (wait->place_causes >> (c - SL_CAUSE_HOLD_NR) & 1) {
			causes->ns[c] += place_ns;
			causes->count[c]++;
		}
}

static void on_wait(void *arg, const struct sl_wait *wait)
{
	struct run *run = arg;
	struct sl_group key = key_of_wait(run->diff->params.report.by, wait);
	uint32_t slot = *slot_of(run, &key);
	struct sl_diff_causes one = { .waits = 0 };
	struct sl_diff_unit *unit;
	struct sl_diff_part *part;
	uint64_t at, units;
	unsigned int c;

	if (!slot || wait->taints & ~(unsigned int)SL_TAINT_BEFORE_TRACE)
		return;		/* no sample */
	part = &run->file->parts[slot - 1];
	if (!part->group)
		return;
	units = sl_diff_units_per_file(&run->diff->sides[run->side]);
	at = part->seen++ * units / part->group->count;
	unit = &part->units[at < units ? at : units - 1];
	add_causes(&one, wait);
	unit->waits++;
	for (c = 0; c < SL_CAUSE_NR; c++) {
		unit->ns[c] += one.ns[c];
		part->count[c] += one.count[c];
	}
	if (unit->stats && sl_stats_add(unit->stats, wait->delay_ns))
		run->error = -ENOMEM;
	if (wait->delay_ns >= part->tail_from_ns)
		add_causes(&part->tail, wait);
}

/* Where the tail of a group begins: strictly above the quantile, at least the worst wait. */
static uint64_t tail_from(const struct sl_report *report, const struct sl_group *group, double quantile)
{
	uint64_t at = sl_stats_quantile(group->stats, quantile);
	uint64_t from = at < group->max_ns ? at + 1 : group->max_ns;

	return from > report->recorded_above_ns ? from : report->recorded_above_ns;
}

static int prepare_parts(struct run *run, const struct sl_report *report)
{
	struct sl_diff *diff = run->diff;
	struct sl_diff_file *file = run->file;
	unsigned int units = sl_diff_units_per_file(&diff->sides[run->side]), g, u;

	file->has_waits = !report->recorded_above_ns;
	file->parts = calloc(diff->nr_groups + 1ull, sizeof(*file->parts));
	file->units = calloc((size_t)(diff->nr_groups + 1) * units, sizeof(*file->units));
	file->pool = sl_stats_pool_new(diff->params.report.exact);
	if (!file->parts || !file->units || !file->pool)
		return -ENOMEM;
	for (g = 0; g < diff->nr_groups; g++)
		file->parts[g].units = file->units + (size_t)g * units;
	for (g = 0; g < report->nr_groups; g++) {
		struct sl_group key = key_of_group(diff->params.report.by, &report->groups[g]);
		struct sl_diff_part *part = &file->parts[*slot_of(run, &key) - 1];

		/* Two threads with one id in turn are one group here; the busier one is it. */
		if (part->group)
			continue;
		part->group = &report->groups[g];
		part->tail_from_ns = tail_from(report, part->group, diff->params.tail);
		for (u = 0; u < units; u++) {
			part->units[u].stats = sl_stats_new(file->pool);
			if (!part->units[u].stats)
				return -ENOMEM;
		}
	}
	return 0;
}

/* ---- reading ---- */

static void on_progress(void *arg, unsigned int permille)
{
	const struct run *run = arg;
	const struct sl_report_params *params = &run->diff->params.report;

	params->on_progress(params->arg, (run->passes_done * 1000 + permille) / run->passes);
}

static int read_file(struct run *run, const char *path, bool waits, struct sl_report **ret,
		     struct sl_err *err)
{
	struct sl_report_params params = run->diff->params.report;
	int r;

	params.path = path;
	params.why = (struct sl_why_spec){ .mode = SL_WHY_NONE };
	params.on_wait = waits ? on_wait : NULL;
	params.on_wait_min_ns = 0;
	params.max_segments = 1;	/* sums are enough */
	params.on_progress = params.on_progress ? on_progress : NULL;
	params.arg = run;
	r = sl_report_run(&params, ret, err);
	run->passes_done++;
	return r;
}

static int read_side(struct run *run, unsigned int s, struct sl_err *err)
{
	struct sl_diff_side *side = &run->diff->sides[s];
	const struct sl_diff_input *input = &run->diff->params.sides[s];

	side->reports = calloc(input->nr, sizeof(*side->reports));
	run->files[s] = calloc(input->nr, sizeof(*run->files[s]));
	if (!side->reports || !run->files[s])
		return sl_err_set(err, -ENOMEM, "out of memory");
	while (side->nr < input->nr) {
		struct sl_report *report;
		unsigned int c;
		int r = read_file(run, input->paths[side->nr], false, &report, err);

		if (r < 0)
			return r;
		side->reports[side->nr++] = report;
		for (c = 0; c < SL_CAUSE_NR; c++)
			side->not_assessable[c] |= report->not_assessable[c];
	}
	return 0;
}

static int read_causes(struct run *run, unsigned int s, struct sl_err *err)
{
	struct sl_diff_side *side = &run->diff->sides[s];
	unsigned int f;

	run->side = s;
	for (f = 0; f < side->nr; f++) {
		struct sl_report *report;
		int r;

		run->file = &run->files[s][f];
		r = prepare_parts(run, side->reports[f]);
		if (r < 0)
			return sl_err_set(err, r, "out of memory");
		r = read_file(run, run->diff->params.sides[s].paths[f], true, &report, err);
		if (r < 0)
			return r;
		sl_report_free(report);
		if (run->error)
			return sl_err_set(err, run->error, "out of memory");
	}
	return 0;
}

/* ---- may they be compared? ---- */

static int check_twice(const struct sl_diff_params *params, struct sl_err *err)
{
	struct { const char *path; dev_t dev; ino_t ino; } seen[SL_DIFF_SIDES_MAX * SL_DIFF_FILES_MAX];
	unsigned int s, f, i, nr = 0;

	for (s = 0; s < params->nr_sides; s++)
		for (f = 0; f < params->sides[s].nr; f++) {
			const char *path = params->sides[s].paths[f];
			struct stat st;

			if (stat(path, &st))
				continue;	/* opening it says why */
			for (i = 0; i < nr; i++)
				if (seen[i].dev == st.st_dev && seen[i].ino == st.st_ino)
					return sl_err_set(err, SL_EUSAGE, "%s and %s are the same file: "
							  "a comparison needs different recordings",
							  seen[i].path, path);
			seen[nr].path = path;
			seen[nr].dev = st.st_dev;
			seen[nr++].ino = st.st_ino;
		}
	return 0;
}

static bool has_targets(const struct sl_report *report)
{
	return !report->params.filter.ignore_recorded_targets &&
	       (sl_report_meta_get(report, "target_pids") || sl_report_meta_get(report, "target_tids"));
}

/* What a wake wait of this recording starts at. */
static const char *start_of(const struct sl_report *report)
{
	bool waking = report->info->has_kind[SL_EV_WAKING], wakeup = report->info->has_kind[SL_EV_WAKEUP];

	if (report->params.from == SL_FROM_WAKEUP)
		return wakeup || !waking ? "sched_wakeup" : "sched_waking";
	return waking || !wakeup ? "sched_waking" : "sched_wakeup";
}

static const char *only_of(const struct sl_report *report)
{
	const char *only = sl_report_meta_get(report, "only");

	return only ? only : "all tasks";
}

static int check_alike(const struct sl_report *a, const struct sl_report *b, struct sl_err *err)
{
	const char *path_a = a->params.path, *path_b = b->params.path;
	bool wake = !a->params.waits || a->params.waits >> SL_WAIT_WAKE & 1;
	char above_a[32], above_b[32];

	if (b->flight)
		return sl_err_set(err, SL_EDATA, "%s: a flight recording has the longest waits only, so there "
				  "are no percentiles to compare: record all, or with -T and --backend bpf", path_b);
	if (a->recorded_above_ns != b->recorded_above_ns) {
		sl_time_fmt_human(above_a, sizeof(above_a), a->recorded_above_ns);
		sl_time_fmt_human(above_b, sizeof(above_b), b->recorded_above_ns);
		return sl_err_set(err, SL_EDATA, "%s and %s differ in what was recorded: waits of at least "
				  "%s, and of at least %s: record both with the same -T", path_a, path_b,
				  above_a, above_b);
	}
	if (strcmp(only_of(a), only_of(b)))
		return sl_err_set(err, SL_EDATA, "%s and %s differ in what was recorded: waits of %s, and of %s: "
				  "record both with the same --only", path_a, path_b, only_of(a), only_of(b));
	if (has_targets(a) != has_targets(b))
		return sl_err_set(err, SL_EDATA, "only one of %s and %s was recorded with -p or -t: "
				  "use --all, which takes every task of both", path_a, path_b);
	if (wake && strcmp(start_of(a), start_of(b)))
		return sl_err_set(err, SL_EDATA, "the waits of %s start at %s, those of %s at %s: "
				  "use --from=%s", path_a, start_of(a), path_b, start_of(b),
				  a->params.from == SL_FROM_WAKEUP ? "waking" : "wakeup");
	return 0;
}

static int check_all_alike(const struct sl_diff *diff, struct sl_err *err)
{
	unsigned int s, f;
	int r = 0;

	for (s = 0; s < diff->params.nr_sides; s++)
		for (f = 0; f < diff->sides[s].nr && !r; f++)
			r = check_alike(diff->sides[0].reports[0], diff->sides[s].reports[f], err);
	return r;
}

/* ---- the whole ---- */

static unsigned int sides_with(const struct sl_diff *diff, const struct sl_diff_group *group)
{
	unsigned int s, nr = 0;

	for (s = 0; s < diff->params.nr_sides; s++)
		nr += group->cells[s].files != 0;
	return nr;
}

static uint64_t samples_of(const struct sl_diff *diff, const struct sl_diff_group *group)
{
	uint64_t samples = 0;
	unsigned int s;

	for (s = 0; s < diff->params.nr_sides; s++)
		samples += group->cells[s].samples;
	return samples;
}

static int by_samples(const void *a, const void *b, void *arg)
{
	const struct sl_diff *diff = arg;
	bool all_a = sides_with(diff, a) == diff->params.nr_sides;
	bool all_b = sides_with(diff, b) == diff->params.nr_sides;
	uint64_t x = samples_of(diff, a), y = samples_of(diff, b);
	const struct sl_group *j = &((const struct sl_diff_group *)a)->key;
	const struct sl_group *k = &((const struct sl_diff_group *)b)->key;

	if (all_a != all_b)
		return all_a ? -1 : 1;
	if (x != y)
		return x < y ? 1 : -1;
	if (memcmp(j->comm, k->comm, sizeof(j->comm)))
		return memcmp(j->comm, k->comm, sizeof(j->comm));
	return j->tid != k->tid ? (j->tid < k->tid ? -1 : 1) : (int)j->kind - (int)k->kind;
}

static int compare(struct run *run, struct sl_err *err)
{
	struct sl_diff *diff = run->diff;
	unsigned int s, g;
	int r;

	for (s = 0; s < diff->params.nr_sides; s++)
		sl_diff_fill_side(diff, s, run->files[s]);
	for (g = 0; g < diff->nr_groups; g++)
		diff->nr_matched += sides_with(diff, &diff->groups[g]) == diff->params.nr_sides;
	if (!diff->nr_matched)
		return sl_err_set(err, SL_EDATA, "no group has waits on every side: compare by another "
				  "property, like --by=comm or --by=all");
	for (s = 1; s < diff->params.nr_sides; s++) {
		r = sl_diff_test_side(diff, s, run->files[0], run->files[s]);
		if (r < 0)
			return sl_err_set(err, r, "out of memory");
	}
	qsort_r(diff->groups, diff->nr_groups, sizeof(*diff->groups), by_samples, diff);
	return 0;
}

static void release_files(struct run *run)
{
	unsigned int s, f;

	for (s = 0; s < run->diff->params.nr_sides; s++) {
		for (f = 0; run->files[s] && f < run->diff->params.sides[s].nr; f++) {
			sl_stats_pool_free(run->files[s][f].pool);
			free(run->files[s][f].parts);
			free(run->files[s][f].units);
		}
		free(run->files[s]);
	}
	free(run->hash);
}

int sl_diff_run(const struct sl_diff_params *params, struct sl_diff **ret_diff, struct sl_err *err)
{
	struct sl_diff *diff = calloc(1, sizeof(*diff));
	struct run run = { .diff = diff };
	unsigned int s;
	int r;

	if (!diff)
		return sl_err_set(err, -ENOMEM, "out of memory");
	diff->params = *params;
	for (s = 0; s < params->nr_sides; s++)
		run.passes += 2 * params->sides[s].nr;
	r = check_twice(params, err);
	for (s = 0; s < params->nr_sides && !r; s++)
		r = read_side(&run, s, err);
	r = r ? r : check_all_alike(diff, err);
	if (!r && collect_groups(&run))
		r = sl_err_set(err, -ENOMEM, "out of memory");
	for (s = 0; s < params->nr_sides && !r; s++)
		r = read_causes(&run, s, err);
	r = r ? r : compare(&run, err);
	release_files(&run);
	if (r < 0) {
		sl_diff_free(diff);
		return r;
	}
	*ret_diff = diff;
	return 0;
}

void sl_diff_free(struct sl_diff *diff)
{
	unsigned int s, f;

	if (!diff)
		return;
	for (s = 0; s < diff->params.nr_sides; s++) {
		for (f = 0; f < diff->sides[s].nr; f++)
			sl_report_free(diff->sides[s].reports[f]);
		free(diff->sides[s].reports);
	}
	free(diff->groups);
	free(diff);
}

bool sl_diff_change(uint64_t base, uint64_t value, int64_t *ret_permille)
{
	uint64_t apart = base > value ? base - value : value - base;
	int64_t permille;

	if (base == SL_WAIT_NO_TIME || value == SL_WAIT_NO_TIME || !base || apart > UINT64_MAX / 2000)
		return false;
	permille = (int64_t)((apart * 1000 + base / 2) / base);
	*ret_permille = base >= value ? permille : -permille;
	return true;
}

static const struct {
	const char *name, *key;
} rows[SL_DIFF_ROWS] = {
	[SL_DIFF_SAMPLES] = { "Total Samples", "count" },
	[SL_DIFF_AVG] = { "Average", "avg_ns" },
	[SL_DIFF_P50] = { "Median (P50)", "p50_ns" },
	[SL_DIFF_P90] = { "90th Percentile", "p90_ns" },
	[SL_DIFF_P99] = { "99th Percentile", "p99_ns" },
	[SL_DIFF_P999] = { "99.9th Percentile", "p999_ns" },
	[SL_DIFF_MAX] = { "Maximum", "max_ns" },
};

const char *sl_diff_row_name(enum sl_diff_row row)
{
	return rows[row].name;
}

const char *sl_diff_row_key(enum sl_diff_row row)
{
	return rows[row].key;
}
