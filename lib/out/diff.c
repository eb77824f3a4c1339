// SPDX-License-Identifier: LGPL-2.1-only
/* What the outputs of a comparison share: values, marks, names. */
#include "out/diff.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "out/fmt.h"
#include "util/time.h"

static bool causes_known(const struct sl_diff *diff, const struct sl_diff_group *group,
			 unsigned int side, enum sl_cause cause)
{
	return group->cells[side].files && !diff->sides[side].not_assessable[cause];
}

/* part per whole in thousandths or millionths, half up. */
static uint64_t per(uint64_t part, uint64_t whole, uint64_t times)
{
	return (uint64_t)((double)part * (double)times / (double)whole + 0.5);
}

uint64_t sl_diff_per_1000_ns(const struct sl_diff *diff, const struct sl_diff_group *group,
			     unsigned int side, enum sl_cause cause)
{
	const struct sl_diff_cell *cell = &group->cells[side];

	return causes_known(diff, group, side, cause) ? per(cell->all.ns[cause], cell->samples, 1000) :
	       SL_TIME_NONE;
}

uint64_t sl_diff_per_1000_milli(const struct sl_diff *diff, const struct sl_diff_group *group,
				unsigned int side, enum sl_cause cause)
{
	const struct sl_diff_cell *cell = &group->cells[side];

	return causes_known(diff, group, side, cause) ?
	       per(cell->all.count[cause], cell->samples, 1000000) : SL_TIME_NONE;
}

struct sl_diff_value sl_diff_line_value(const struct sl_diff_line *line, unsigned int side)
{
	struct sl_diff_value value = { SL_TIME_NONE, SL_TIME_NONE, SL_TIME_NONE };

	if (line->row < SL_DIFF_ROWS)
		return line->group->cells[side].rows[line->row];
	value.median = sl_diff_per_1000_ns(line->diff, line->group, side, line->cause);
	return value;
}

double sl_diff_line_p(const struct sl_diff_line *line)
{
	const struct sl_diff_tests *tests = &line->group->tests[line->side];

	return line->row < SL_DIFF_ROWS ? tests->p[line->row] : tests->cause_p[line->cause];
}

bool sl_diff_line_is_significant(const struct sl_diff_line *line)
{
	const struct sl_diff_tests *tests = &line->group->tests[line->side];

	return line->row < SL_DIFF_ROWS ? tests->significant[line->row] : tests->cause_significant[line->cause];
}

bool sl_diff_line_change(const struct sl_diff_line *line, int64_t *ret_permille)
{
	return line->row != SL_DIFF_SAMPLES &&
	       sl_diff_change(sl_diff_line_value(line, 0).median,
			      sl_diff_line_value(line, line->side).median, ret_permille);
}

bool sl_diff_cause_shown(const struct sl_diff_group *group, unsigned int side, enum sl_cause cause)
{
	return group->cells[0].all.count[cause] || group->cells[side].all.count[cause];
}

char *sl_diff_group_name(char *buf, size_t size, const struct sl_diff *diff,
			 const struct sl_diff_group *group, bool utf8)
{
	const struct sl_group *key = &group->key;
	char name[256], escaped[512];

	switch (diff->params.report.by) {
	case SL_BY_TID:
		snprintf(name, sizeof(name), "%s, tid %" PRId32, key->comm, key->tid);
		break;
	case SL_BY_COMM:
		snprintf(name, sizeof(name), "%s", key->comm[0] ? key->comm : "(no name)");
		break;
	case SL_BY_TGID:
		if (key->tgid < 0)
			snprintf(name, sizeof(name), "unknown process");
		else
			snprintf(name, sizeof(name), "%s, process %" PRId32, key->comm, key->tgid);
		break;
	case SL_BY_CGROUP:
		snprintf(name, sizeof(name), "%s", key->cgroup ? key->cgroup : "unknown cgroup");
		break;
	case SL_BY_CLASS:
		snprintf(name, sizeof(name), "class %s", sl_class_name(key->sched_class));
		break;
	case SL_BY_ALL:
	case SL_BY_NR:
		snprintf(name, sizeof(name), "all tasks");
		break;
	}
	sl_fmt_escape(escaped, sizeof(escaped), name, utf8);
	if (diff->params.report.waits & (diff->params.report.waits - 1))
		snprintf(buf, size, "%s (%s)", escaped, sl_wait_kind_name(key->kind));
	else
		snprintf(buf, size, "%s", escaped);
	return buf;
}

static const char *unit_of(const struct sl_diff_side *side)
{
	return side->units_are_files ? "recordings" : "stretches of time";
}

void sl_diff_say_test(const struct sl_diff *diff, unsigned int s, char *buf, size_t size)
{
	const struct sl_diff_side *side = &diff->sides[s];
	bool threshold = side->reports[0]->recorded_above_ns != 0;

	if (!side->tested && threshold && !side->units_are_files) {
		snprintf(buf, size, "none: recordings with a threshold have counts of their waits only; "
			 "%d of each side can be compared", SL_DIFF_FILES_MIN);
		return;
	}
	if (!side->tested) {
		snprintf(buf, size, "none: no group has %d waits in each of %u and %u %s",
			 SL_DIFF_UNIT_WAITS, side->base_units, side->units, unit_of(side));
		return;
	}
	snprintf(buf, size, "permutation of the means of logarithms, %u and %u %s, corrected for %u values at "
		 "once (max-T, %s%" PRIu64 " relabellings); * is p < %.2f, the least possible is %.2g%s",
		 side->base_units, side->units, unit_of(side), side->values_tested,
		 side->test.exact ? "all " : "a sample of ", side->test.relabellings, side->alpha,
		 side->test.least_p, side->units_are_files ? "" :
		 ", and further apart than either side moves within itself. How much runs differ anyway "
		 "takes 4 recordings or more per side to know");
}
