// SPDX-License-Identifier: LGPL-2.1-only
#include "out/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "out/table.h"
#include "util/time.h"

#define HANG 9		/* texts of the head start behind their label */

void sl_line_add(struct sl_line *line, const char *fmt, ...)
{
	size_t room = sizeof(line->text) - line->used;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line->text + line->used, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		line->used += (size_t)n < room ? (size_t)n : room - 1;
}

void sl_line_add_name(struct sl_line *line, const char *name, bool utf8)
{
	char text[sizeof(line->text)];

	sl_line_add(line, "%s", sl_fmt_escape(text, sizeof(text), name, utf8));
}

void sl_line_add_duration(struct sl_line *line, uint64_t ns)
{
	char text[32];

	sl_line_add(line, "%s", sl_fmt_duration(text, sizeof(text), ns));
}

void sl_line_add_cpu(struct sl_line *line, int cpu)
{
	if (cpu < 0)
		sl_line_add(line, "?");
	else
		sl_line_add(line, "%d", cpu);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* "-3,7": a list of ids. */
static void add_ids(struct sl_line *line, const char *what, const int32_t *ids, unsigned int nr)
{
	unsigned int i;

	if (!nr)
		return;
	sl_line_add(line, "%s%s ", line->used > HANG ? ", " : "", what);
	for (i = 0; i < nr; i++)
		sl_line_add(line, "%s%" PRId32, i ? "," : "", ids[i]);
}

static void add_cpus(struct sl_line *line, const uint8_t *cpus)
{
	const char *comma = "";
	unsigned int i, end;

	sl_line_add(line, "%sCPU ", line->used > HANG ? ", " : "");
	for (i = 0; i < SL_CPU_MAX; i = end + 1) {
		end = i;
		if (!cpus[i])
			continue;
		while (end + 1 < SL_CPU_MAX && cpus[end + 1])
			end++;
		if (end > i)
			sl_line_add(line, "%s%u-%u", comma, i, end);
		else
			sl_line_add(line, "%s%u", comma, i);
		comma = ",";
	}
}

static void print_selection(struct sl_out *out, const struct sl_report *report)
{
	const struct sl_filter *filter = &report->params.filter;
	const char *recorded = sl_report_meta_get(report, "only");
	struct sl_line line = { .used = 0 };
	char sec[32];

	sl_line_add(&line, "%-*s", HANG, "Only:");
	if (recorded) {
		sl_line_add(&line, "wakeups recorded with --only ");
		sl_line_add_name(&line, recorded, out->utf8);
	}
	add_ids(&line, "process", filter->pids, filter->nr_pids);
	add_ids(&line, "thread", filter->tids, filter->nr_tids);
	if (filter->comm_glob) {
		sl_line_add(&line, "%stasks named ", line.used > HANG ? ", " : "");
		sl_line_add_name(&line, filter->comm_glob, out->utf8);
	}
	if (filter->cpus)
		add_cpus(&line, filter->cpus);
	if (filter->cgroup) {
		sl_line_add(&line, "%scgroup ", line.used > HANG ? ", " : "");
		sl_line_add_name(&line, filter->cgroup, out->utf8);
	}
	if (filter->time_start_ns || filter->time_stop_ns) {
		sl_line_add(&line, "%swaits that end from %s", line.used > HANG ? ", " : "",
			    sl_time_fmt_sec(sec, sizeof(sec), filter->time_start_ns, 6));
		if (filter->time_stop_ns)
			sl_line_add(&line, " to %s",
				    sl_time_fmt_sec(sec, sizeof(sec), filter->time_stop_ns, 6));
	}
	if (line.used > HANG)
		sl_out_wrap(out, 0, HANG, line.text);
}

void sl_text_definition(struct sl_out *out, const struct sl_report *report)
{
	unsigned int waits = report->params.waits ? report->params.waits : 1u << SL_WAIT_WAKE;
	bool wakeup = report->params.from == SL_FROM_WAKEUP;
	struct sl_line line = { .used = 0 };

	sl_line_add(&line, "%-*s", HANG, "Wait:");
	if (waits & (1u << SL_WAIT_WAKE))
		sl_line_add(&line, "wake, from %s until it runs (--from=%s%s)",
			    wakeup ? "sched_wakeup (queued)" : "sched_waking (asked to wake)",
			    wakeup ? "wakeup" : "waking",
			    waits == 1u << SL_WAIT_WAKE ? " --waits=wake" : "");
	if (waits & (1u << SL_WAIT_PREEMPT))
		sl_line_add(&line, "%spreempt, from a switch-out while runnable until it runs again",
			    line.used > HANG ? "; " : "");
	if (waits & (1u << SL_WAIT_FORK))
		sl_line_add(&line, "%sfork, from sched_wakeup_new until it first runs",
			    line.used > HANG ? "; " : "");
	sl_out_wrap(out, 0, HANG, line.text);
	print_selection(out, report);
}

#define GAPS_SHOWN 5

/* When events of which CPU are missing: one burst and steady loss are not the same. */
static void print_gaps(struct sl_out *out, const struct sl_report *report)
{
	struct sl_line line;
	char from[32], until[32];
	unsigned int i;

	for (i = 0; i < report->nr_gaps && i < GAPS_SHOWN; i++) {
		const struct sl_gap *gap = &report->gaps[i];

		line.used = 0;
		sl_line_add(&line, "%*sCPU %d: ", HANG, "", gap->cpu);
		if (gap->count == UINT64_MAX || !gap->count)
			sl_line_add(&line, "an unknown number of events");
		else
			sl_line_add(&line, "%" PRIu64 " event%s", gap->count, plural(gap->count));
		sl_time_fmt_sec(from, sizeof(from), gap->from_ns, 6);
		if (gap->until_ns == gap->from_ns)
			sl_line_add(&line, " lost before %s", from);
		else if (gap->until_ns == SL_WAIT_NO_TIME)
			sl_line_add(&line, " lost from %s on", from);
		else
			sl_line_add(&line, " lost between %s and %s", from,
				    sl_time_fmt_sec(until, sizeof(until), gap->until_ns, 6));
		sl_out_wrap(out, 0, HANG, line.text);
	}
	if (report->lost_gaps > i)
		fprintf(out->file, "%*s... and %" PRIu64 " more gaps (--json has the first %d)\n", HANG, "",
			report->lost_gaps - i, SL_GAPS_MAX);
}

/* Between the windows of a threshold nothing is lost: it was not wanted. */
static bool only_windows(const struct sl_report *report)
{
	return report->recorded_above_ns && !report->lost_events && !report->recorder_lost_events &&
	       !sl_report_meta_get(report, "truncated");
}

static void print_windows(struct sl_out *out, const struct sl_report *report)
{
	struct sl_line line = { .used = 0 };

	sl_line_add(&line, "%-*s0 events; kept are only windows around waits of at least ", HANG, "Lost:");
	sl_line_add_duration(&line, report->recorded_above_ns);
	sl_line_add(&line, ", with %" PRIu64 " gap%s between them", report->lost_gaps,
		    plural(report->lost_gaps));
	sl_out_wrap(out, 0, HANG, line.text);
}

/* A copy of parts of a recording: what lies between was left out, which is no loss. */
static bool print_trimmed(struct sl_out *out, const struct sl_report *report)
{
	const char *windows = sl_report_meta_get(report, "trimmed.windows");
	const char *lost = sl_report_meta_get(report, "trimmed.lost");
	struct sl_line line = { .used = 0 };

	if (!windows || report->lost_events || report->lost_unknown_gaps)
		return false;
	sl_line_add(&line, "%-*s0 events; a copy of %s window%s of a recording, which had lost %s; what lay "
		    "between was left out, in %" PRIu64 " gap%s", HANG, "Lost:", windows,
		    strcmp(windows, "1") ? "s" : "", lost ? lost : "n/a", report->lost_gaps,
		    plural(report->lost_gaps));
	sl_out_wrap(out, 0, HANG, line.text);
	return true;
}

static void print_loss(struct sl_out *out, const struct sl_report *report)
{
	const struct sl_source_info *info = report->info;
	struct sl_line line = { .used = 0 };
	unsigned int i, shown = 0;

	if (print_trimmed(out, report))
		return;

	if (only_windows(report)) {
		print_windows(out, report);
		return;
	}
	sl_line_add(&line, "%-*s", HANG, "Lost:");
	sl_line_add(&line, "%" PRIu64 " event%s on %u CPU%s", report->lost_events,
		    plural(report->lost_events), info->nr_cpus, plural(info->nr_cpus));
	if (report->lost_gaps)
		sl_line_add(&line, ", in %" PRIu64 " gap%s", report->lost_gaps,
			    plural(report->lost_gaps));
	if (report->lost_unknown_gaps)
		sl_line_add(&line, ", and an unknown number in %" PRIu64 " of them",
			    report->lost_unknown_gaps);
	for (i = 0; i < info->nr_cpus; i++) {
		const struct sl_source_cpu *cpu = &info->cpus[i];

		if (!cpu->lost_gaps)
			continue;
		if (shown++ == 8) {
			sl_line_add(&line, ", ... (--json has all)");
			break;
		}
		sl_line_add(&line, "%s CPU %u: %" PRIu64 "%s in %" PRIu64, shown == 1 ? ";" : ",",
			    cpu->cpu, cpu->lost_events, cpu->lost_unknown_gaps ? " or more" : "",
			    cpu->lost_gaps);
	}
	if (report->tainted_longest_ns) {
		sl_line_add(&line, "; the longest wait that a gap touches is ");
		sl_line_add_duration(&line, report->tainted_longest_ns);
		sl_line_add(&line, " and no sample");
	}
	if ((report->flight || report->recorded_above_ns) && report->lost_gaps)
		sl_line_add(&line, "; what was not kept between the windows is among these");
	if (report->recorder_lost_events > report->lost_events)
		sl_line_add(&line, "; the recorder itself counted %" PRIu64 " lost",
			    report->recorder_lost_events);
	if (sl_report_meta_get(report, "truncated"))
		sl_line_add(&line, "; the recording ends early, its disk was full or a reader failed");
	if (report->switch_mismatches)
		sl_line_add(&line, "; %" PRIu64 " switch%s missing without a mark (what ran meanwhile is unknown)",
			    report->switch_mismatches, report->switch_mismatches == 1 ? "" : "es");
	sl_out_wrap(out, 0, HANG, line.text);
	print_gaps(out, report);
}

static void print_skips(struct sl_out *out, const struct sl_source_skips *skips)
{
	const struct {
		uint64_t n;
		const char *what;
	} entries[] = {
		{ skips->unknown_events, "records of other tracepoints" },
		{ skips->unbound_events, "records without a format description" },
		{ skips->bad_records, "malformed records" },
		{ skips->bad_pages, "malformed pages" },
		{ skips->bad_cpu, "records of impossible CPUs" },
		{ skips->backwards, "timestamps that went backwards (clamped)" },
		{ skips->truncated_bytes, "bytes promised but not in the file (truncated)" },
	};
	struct sl_line line = { .used = 0 };
	unsigned int i;

	sl_line_add(&line, "%-*s", HANG, "Skipped:");
	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (entries[i].n)
			sl_line_add(&line, "%s%" PRIu64 " %s", line.used > HANG ? ", " : "",
				    entries[i].n, entries[i].what);
	if (line.used > HANG)
		sl_out_wrap(out, 0, HANG, line.text);
}

static void print_input(struct sl_out *out, const struct sl_report *report)
{
	const struct sl_source_info *info = report->info;
	struct sl_line line = { .used = 0 };

	sl_line_add(&line, "%-*s", HANG, "Input:");
	sl_line_add_name(&line, info->path, out->utf8);
	sl_line_add(&line, ", %s", info->format);
	if (info->compression && strcmp(info->compression, "none"))
		sl_line_add(&line, " %s", info->compression);
	sl_line_add(&line, ", %" PRIu64 " event%s", info->events, plural(info->events));
	sl_line_add(&line, " in ");
	sl_line_add_duration(&line, sl_since(report->t_end_ns, report->t_start_ns));
	sl_line_add(&line, ", clock %s", info->clock ? info->clock : "unknown");
	if (info->clock_is_per_cpu)
		sl_line_add(&line, " (of each CPU: order between CPUs is approximate)");
	if (report->backend)
		sl_line_add(&line, ", recorded by schedlat (%s)", report->backend);
	sl_out_wrap(out, 0, HANG, line.text);

	line.used = 0;
	sl_line_add(&line, "%-*s", HANG, "Kernel:");
	sl_line_add_name(&line, info->kernel ? info->kernel : "not in the file", out->utf8);
	if (sl_report_meta_get(report, "bpf.has_eevdf") && !strcmp(sl_report_meta_get(report, "bpf.has_eevdf"), "0"))
		sl_line_add(&line, "; its fair class is not EEVDF: no decisions, only waits");
	sl_out_wrap(out, 0, HANG, line.text);
}

static uint64_t meta_number(const struct sl_report *report, const char *key)
{
	const char *value = sl_report_meta_get(report, key);

	return value && value[0] >= '0' && value[0] <= '9' ? strtoull(value, NULL, 10) : SL_TIME_NONE;
}

/* What the recording itself cost belongs into every report. */
static void print_own(struct sl_out *out, const struct sl_report *report)
{
	uint64_t cpu_ns = meta_number(report, "overhead.own_cpu_ns");
	uint64_t start_ns = meta_number(report, "t_start_ns"), stop_ns = meta_number(report, "t_stop_ns");
	struct sl_line line = { .used = 0 };
	char number[32];

	if (cpu_ns == SL_TIME_NONE)
		return;
	sl_line_add(&line, "%-*s", HANG, "Own:");
	sl_line_add(&line, "recording took ");
	sl_line_add_duration(&line, cpu_ns);
	sl_line_add(&line, " of CPU time");
	if (start_ns != SL_TIME_NONE && stop_ns != SL_TIME_NONE && stop_ns > start_ns && report->info->nr_cpus)
		sl_line_add(&line, ", %.2f %% of %u CPU%s",
			    100.0 * (double)cpu_ns / ((double)(stop_ns - start_ns) * report->info->nr_cpus),
			    report->info->nr_cpus, plural(report->info->nr_cpus));
	if (meta_number(report, "overhead.data_bytes") != SL_TIME_NONE)
		sl_line_add(&line, ", for %s MB of events",
			    sl_fmt_scaled(number, sizeof(number),
					  meta_number(report, "overhead.data_bytes"), 1000000, 2));
	sl_out_wrap(out, 0, HANG, line.text);
}

static void print_meta(struct sl_out *out, const struct sl_report *report)
{
	unsigned int i;

	for (i = 0; i < report->nr_meta; i++) {
		struct sl_line line = { .used = 0 };

		sl_line_add(&line, "%-*s", HANG, "Meta:");
		sl_line_add_name(&line, report->meta[i].key, out->utf8);
		sl_line_add(&line, " = ");
		sl_line_add_name(&line, report->meta[i].value, out->utf8);
		sl_out_wrap(out, 0, HANG, line.text);
	}
}

void sl_text_head(struct sl_out *out, const struct sl_report *report,
		  const struct sl_out_view *view)
{
	sl_text_definition(out, report);
	print_loss(out, report);
	print_input(out, report);
	print_own(out, report);
	if (view->verbose)
		print_meta(out, report);
	print_skips(out, &report->info->skipped);
}

/* Waits whose end was missed are no samples; when they are many, those left may not be typical. */
static void warn_of_unpaired(struct sl_out *out, const struct sl_report *report)
{
	uint64_t missed = report->discarded[SL_DISCARD_INCONSISTENT] +
			  report->discarded[SL_DISCARD_OPEN_AT_LOSS] +
			  report->discarded[SL_DISCARD_EXITED];
	struct sl_line line = { .used = 0 };

	if (missed * 100 <= report->wakeups)
		return;
	sl_line_add(&line, "Warning: of %" PRIu64 " wakeups (%.1f %%) the end was not seen, since events are "
		    "missing; the samples that are left may not be typical", missed,
		    100.0 * (double)missed / (double)report->wakeups);
	sl_out_wrap(out, 0, 2, line.text);
}

void sl_text_counters(struct sl_out *out, const struct sl_report *report)
{
	struct sl_line line = { .used = 0 };
	uint64_t sum = report->samples;
	unsigned int i;

	sl_line_add(&line, "%" PRIu64 " wakeup%s = %" PRIu64 " sample%s", report->wakeups,
		    plural(report->wakeups), report->samples, plural(report->samples));
	for (i = 0; i < SL_DISCARD_NR; i++) {
		const char *name = sl_discard_name(i);
		char words[64];
		size_t c;

		sum += report->discarded[i];
		if (!report->discarded[i])
			continue;
		for (c = 0; name[c] && c + 1 < sizeof(words); c++)
			words[c] = name[c] == '_' ? ' ' : name[c];
		words[c] = '\0';
		sl_line_add(&line, " + %" PRIu64 " %s", report->discarded[i], words);
	}
	if (sum != report->wakeups)
		sl_line_add(&line, " (these do not add up to %" PRIu64 ": a defect of schedlat)",
			    report->wakeups);
	if (report->params.waits & (1u << SL_WAIT_PREEMPT))
		sl_line_add(&line, "; besides %" PRIu64 " preempt wait%s", report->preempt_waits,
			    plural(report->preempt_waits));
	if (report->params.waits & (1u << SL_WAIT_FORK))
		sl_line_add(&line, "; %" PRIu64 " fork wait%s", report->fork_waits,
			    plural(report->fork_waits));
	sl_out_wrap(out, 0, 2, line.text);
	warn_of_unpaired(out, report);
}
