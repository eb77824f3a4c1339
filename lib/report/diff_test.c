// SPDX-License-Identifier: LGPL-2.1-only
/* From what the files gave to values per side, and to what is more than noise. */
#include "report/diff_local.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ALPHA 0.05
#define CAUSE_PART 100	/* a cause is tested when it holds so small a part of a side's time, or more */
#define STRETCHES 9	/* per side: all 48620 relabellings of 9 and 9 can be tried */

unsigned int sl_diff_units_per_file(const struct sl_diff_side *side)
{
	return side->nr < STRETCHES ? (STRETCHES + side->nr - 1) / side->nr : 1;
}

static uint64_t row_of(const struct sl_group *group, enum sl_diff_row row)
{
	switch (row) {
	case SL_DIFF_SAMPLES: return group->count;
	case SL_DIFF_AVG: return group->avg_ns;
	case SL_DIFF_P50: return group->p50_ns;
	case SL_DIFF_P90: return group->p90_ns;
	case SL_DIFF_P99: return group->p99_ns;
	case SL_DIFF_P999: return group->p999_ns;
	case SL_DIFF_MAX: return group->max_ns;
	case SL_DIFF_ROWS: break;
	}
	return 0;
}

/* ---- values ---- */

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static struct sl_diff_value value_of(uint64_t *v, unsigned int nr)
{
	struct sl_diff_value value = { SL_WAIT_NO_TIME, SL_WAIT_NO_TIME, SL_WAIT_NO_TIME };

	if (!nr)
		return value;
	qsort(v, nr, sizeof(*v), ascending);
	value.min = v[0];
	value.max = v[nr - 1];
	value.median = v[(nr - 1) / 2] + (v[nr / 2] - v[(nr - 1) / 2]) / 2;
	return value;
}

static void add_tail(struct sl_diff_causes *sum, const struct sl_diff_causes *more)
{
	unsigned int c;

	sum->waits += more->waits;
	sum->total_ns += more->total_ns;
	for (c = 0; c < SL_CAUSE_NR; c++) {
		sum->ns[c] += more->ns[c];
		sum->count[c] += more->count[c];
	}
}

static void add_all(struct sl_diff_causes *sum, const struct sl_diff_part *part, unsigned int units)
{
	unsigned int u, c;

	for (u = 0; u < units; u++) {
		sum->waits += part->units[u].waits;
		for (c = 0; c < SL_CAUSE_NR; c++)
			sum->ns[c] += part->units[u].ns[c];
	}
	for (c = 0; c < SL_CAUSE_NR; c++)
		sum->count[c] += part->count[c];
}

static void fill_cell(struct sl_diff *diff, unsigned int s, unsigned int g,
		      const struct sl_diff_file *files)
{
	const struct sl_diff_side *side = &diff->sides[s];
	struct sl_diff_cell *cell = &diff->groups[g].cells[s];
	uint64_t values[SL_DIFF_FILES_MAX];
	unsigned int row, f, c;

	for (row = 0; row < SL_DIFF_ROWS; row++) {
		unsigned int nr = 0;

		for (f = 0; f < side->nr; f++)
			if (files[f].parts[g].group)
				values[nr++] = row_of(files[f].parts[g].group, row);
		cell->rows[row] = value_of(values, nr);
	}
	for (f = 0; f < side->nr; f++) {
		const struct sl_diff_part *part = &files[f].parts[g];

		if (!part->group)
			continue;
		if (!cell->files++)
			cell->slice_ns = part->group->slice_ns;
		else if (cell->slice_ns != part->group->slice_ns)
			cell->slice_ns = 0;
		cell->samples += part->group->count;
		add_all(&cell->all, part, sl_diff_units_per_file(side));
		add_tail(&cell->tail, &part->tail);
	}
	for (c = 0; c < SL_CAUSE_HOLD_NR; c++)
		cell->all.total_ns += cell->all.ns[c];
}

void sl_diff_fill_side(struct sl_diff *diff, unsigned int s, const struct sl_diff_file *files)
{
	unsigned int g;

	for (g = 0; g < diff->nr_groups; g++)
		fill_cell(diff, s, g, files);
}

/* ---- the test ---- */

/* One value that is tested: of a group, a row or a cause. */
struct tested {
	unsigned int group, row, cause;		/* row SL_DIFF_ROWS: the cause */
	bool apart;
};

struct test {
	struct sl_diff *diff;
	unsigned int s;
	const struct sl_diff_file *files[2];	/* of the first side, of side s */
	const struct sl_diff_side *sides[2];
	bool by_file;
	struct tested *tested;
	double *values;
	unsigned int nr;
};

static unsigned int units_of(const struct test *t, unsigned int i)
{
	return t->by_file ? t->sides[i]->nr : t->sides[i]->nr * sl_diff_units_per_file(t->sides[i]);
}

/* Does every unit of both sides have enough waits of the group? */
static bool enough(const struct test *t, unsigned int g)
{
	unsigned int i, f;

	for (i = 0; i < 2; i++)
		for (f = 0; f < t->sides[i]->nr; f++) {
			const struct sl_diff_file *file = &t->files[i][f];
			unsigned int units = t->by_file ? 1 : sl_diff_units_per_file(t->sides[i]);

			if (!t->by_file && !file->has_waits)
				return false;
			if (!file->parts[g].group ||
			    file->parts[g].group->count < (uint64_t)units * SL_DIFF_UNIT_WAITS)
				return false;
		}
	return true;
}

static double of_file(const struct tested *tested, const struct sl_diff_part *part,
		      unsigned int units)
{
	uint64_t ns = 0;
	unsigned int u;

	if (tested->row < SL_DIFF_ROWS)
		return (double)row_of(part->group, tested->row);
	for (u = 0; u < units; u++)
		ns += part->units[u].ns[tested->cause];
	return (double)ns / (double)part->group->count;
}

static double of_stretch(const struct tested *tested, const struct sl_diff_unit *unit)
{
	double waits = (double)sl_stats_count(unit->stats);

	switch ((enum sl_diff_row)tested->row) {
	case SL_DIFF_AVG: return (double)sl_stats_sum(unit->stats) / waits;
	case SL_DIFF_P50: return (double)sl_stats_quantile(unit->stats, 0.5);
	case SL_DIFF_P90: return (double)sl_stats_quantile(unit->stats, 0.9);
	case SL_DIFF_P99: return (double)sl_stats_quantile(unit->stats, 0.99);
	case SL_DIFF_P999: return (double)sl_stats_quantile(unit->stats, 0.999);
	case SL_DIFF_MAX: return (double)sl_stats_max(unit->stats);
	case SL_DIFF_SAMPLES:
	case SL_DIFF_ROWS: break;
	}
	return (double)unit->ns[tested->cause] / waits;
}

/* Of ns. Times differ by factors, not by sums; below a ns there is nothing. */
static double logarithm(double ns)
{
	return log1p(ns);
}

/*
 * Stretches of one recording share what changes from run to run (which tasks share a CPU, what
 * else the machine does), so that a test over them finds more than there is. What a value
 * moves by within a side is the least that it may move by between two runs: the sides must
 * be further apart than either is wide, in logarithms.
 */
static bool far_apart(const double *v, unsigned int nr_a, unsigned int nr_b)
{
	double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY }, gap, width;
	unsigned int i;

	for (i = 0; i < nr_a + nr_b; i++) {
		low[i >= nr_a] = fmin(low[i >= nr_a], v[i]);
		high[i >= nr_a] = fmax(high[i >= nr_a], v[i]);
	}
	gap = fmax(low[1] - high[0], low[0] - high[1]);
	width = fmax(high[0] - low[0], high[1] - low[1]);
	return gap > width;
}

static void add_tested(struct test *t, struct tested tested)
{
	unsigned int units = units_of(t, 0) + units_of(t, 1), i, f, u;
	double *first = t->values + (size_t)t->nr * units, *v = first;

	for (i = 0; i < 2; i++)
		for (f = 0; f < t->sides[i]->nr; f++) {
			const struct sl_diff_part *part = &t->files[i][f].parts[tested.group];
			unsigned int per_file = sl_diff_units_per_file(t->sides[i]);

			if (t->by_file)
				*v++ = logarithm(of_file(&tested, part, per_file));
			for (u = 0; !t->by_file && u < per_file; u++)
				*v++ = logarithm(of_stretch(&tested, &part->units[u]));
		}
	tested.apart = t->by_file || far_apart(first, units_of(t, 0), units_of(t, 1));
	t->tested[t->nr++] = tested;
}

static bool matters(const struct sl_diff_causes *causes, enum sl_cause cause)
{
	return causes->ns[cause] && causes->ns[cause] >= causes->total_ns / CAUSE_PART;
}

/* A cause that one side cannot tell has no difference; one that holds hardly any time has none that counts. */
static bool can_test(const struct test *t, unsigned int g, enum sl_cause cause)
{
	const struct sl_diff_cell *cells = t->diff->groups[g].cells;

	return !t->sides[0]->not_assessable[cause] && !t->sides[1]->not_assessable[cause] &&
	       (matters(&cells[0].all, cause) || matters(&cells[t->s].all, cause));
}

static void collect(struct test *t)
{
	unsigned int g, row, c;

	for (g = 0; g < t->diff->nr_groups; g++) {
		if (!enough(t, g))
			continue;
		for (row = SL_DIFF_AVG; row < SL_DIFF_ROWS; row++)
			add_tested(t, (struct tested){ .group = g, .row = row });
		for (c = 0; c < SL_CAUSE_NR; c++)
			if (can_test(t, g, c))
				add_tested(t, (struct tested){ .group = g, .row = SL_DIFF_ROWS, .cause = c });
	}
}

static int decide(struct test *t, struct sl_diff_side *side)
{
	const struct sl_permute permute = { side->base_units, side->units, t->nr, t->values };
	double *p = malloc((t->nr + 1) * sizeof(*p));
	unsigned int i;
	int r;

	if (!p)
		return -ENOMEM;
	r = sl_permute_test(&permute, p, &side->test);
	for (i = 0; i < t->nr && !r; i++) {
		const struct tested *tested = &t->tested[i];
		struct sl_diff_tests *tests = &t->diff->groups[tested->group].tests[t->s];

		if (tested->row < SL_DIFF_ROWS) {
			tests->p[tested->row] = p[i];
			tests->significant[tested->row] = p[i] < ALPHA && tested->apart;
		} else {
			tests->cause_p[tested->cause] = p[i];
			tests->cause_significant[tested->cause] = p[i] < ALPHA && tested->apart;
		}
		side->significant += p[i] < ALPHA && tested->apart;
	}
	free(p);
	return r;
}

int sl_diff_test_side(struct sl_diff *diff, unsigned int s, const struct sl_diff_file *base_files,
		      const struct sl_diff_file *files)
{
	struct sl_diff_side *side = &diff->sides[s];
	struct test t = { .diff = diff, .s = s, .files = { base_files, files },
			  .sides = { &diff->sides[0], side } };
	size_t most = (size_t)diff->nr_groups * (SL_DIFF_ROWS + SL_CAUSE_NR) + 1;
	unsigned int g, i;
	int r = -ENOMEM;

	for (g = 0; g < diff->nr_groups; g++) {
		for (i = 0; i < SL_DIFF_ROWS; i++)
			diff->groups[g].tests[s].p[i] = NAN;
		for (i = 0; i < SL_CAUSE_NR; i++)
			diff->groups[g].tests[s].cause_p[i] = NAN;
	}
	t.by_file = diff->sides[0].nr >= SL_DIFF_FILES_MIN && side->nr >= SL_DIFF_FILES_MIN;
	side->units_are_files = t.by_file;
	side->alpha = ALPHA;
	side->base_units = units_of(&t, 0);
	side->units = units_of(&t, 1);
	t.tested = malloc(most * sizeof(*t.tested));
	t.values = malloc(most * (side->base_units + side->units) * sizeof(*t.values));
	if (t.tested && t.values) {
		collect(&t);
		side->values_tested = t.nr;
		side->tested = t.nr != 0;
		r = t.nr ? decide(&t, side) : 0;
	}
	free(t.tested);
	free(t.values);
	return r;
}
