// SPDX-License-Identifier: LGPL-2.1-only
#include "out/bugreport.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "out/table.h"
#include "out/text.h"
#include "util/time.h"

#define HANG 15
#define COLUMNS 3		/* groups side by side */
#define CPUS_SHOWN 16

static const char *get(const struct sl_report *report, const char *key)
{
	const char *value = sl_report_meta_get(report, key);

	return value && *value ? value : NULL;
}

/* "Label:   value", wrapped under the value; NULL: n/a. */
static void put(struct sl_out *out, const char *label, const char *value)
{
	struct sl_line line = { .used = 0 };
	char text[sizeof(line.text)], *end;

	sl_line_add(&line, "%-*s", HANG, label);
	/* what ends a file of the kernel is no part of the value */
	snprintf(text, sizeof(text), "%s", value ? value : "n/a");
	text[strcspn(text, "\n")] = '\0';
	for (end = text + strlen(text); end > text && end[-1] == ' '; )
		*--end = '\0';
	sl_line_add_name(&line, text, false);
	sl_out_wrap(out, 0, HANG, line.text);
}

static void put_key(struct sl_out *out, const struct sl_report *report, const char *label, const char *key)
{
	put(out, label, get(report, key));
}

/* ---- the machine ---- */

static void put_config(struct sl_out *out, const struct sl_report *report)
{
	struct sl_line line = { .used = 0 };
	unsigned int i;

	for (i = 0; i < report->nr_meta; i++)
		if (!strncmp(report->meta[i].key, "config.", 7))
			sl_line_add(&line, "%s%s=%s", line.used ? " " : "", report->meta[i].key + 7,
				    report->meta[i].value);
	put(out, "Config:", line.used ? line.text : NULL);
}

/* What is in effect, else what the kernel was built with. */
static void put_preemption(struct sl_out *out, const struct sl_report *report)
{
	static const char *const built[][2] = {
		{ "config.PREEMPT_RT", "full (PREEMPT_RT)" }, { "config.PREEMPT_LAZY", "lazy" },
		{ "config.PREEMPT", "full" }, { "config.PREEMPT_VOLUNTARY", "voluntary" },
		{ "config.PREEMPT_NONE", "none" },
	};
	const char *mode = get(report, "preempt"), *dynamic = get(report, "config.PREEMPT_DYNAMIC");
	char text[128];
	unsigned int i;

	for (i = 0; !mode && i < sizeof(built) / sizeof(*built); i++) {
		const char *value = get(report, built[i][0]);

		if (!value || strcmp(value, "y"))
			continue;
		snprintf(text, sizeof(text), "%s as built%s", built[i][1], dynamic && !strcmp(dynamic, "y") ?
			 "; PREEMPT_DYNAMIC, what is in effect is not recorded" : "");
		mode = text;
	}
	put(out, "Preemption:", mode);
}

static void put_topology(struct sl_out *out, const struct sl_report *report)
{
	struct sl_line line = { .used = 0 };
	const char *online = get(report, "cpus_online"), *isolated = get(report, "cpus_isolated");
	unsigned int cpu, shown = 0, more = 0;

	sl_line_add(&line, "online %s, possible %s, isolated %s", online ? online : "n/a",
		    get(report, "cpus_possible") ? get(report, "cpus_possible") : "n/a",
		    isolated ? isolated : "none");
	put(out, "CPUs:", online ? line.text : NULL);
	for (cpu = 0; cpu < SL_CPU_MAX; cpu++) {
		char key[16];
		const char *value;

		snprintf(key, sizeof(key), "cpu%u", cpu);
		value = get(report, key);
		if (!value)
			continue;
		if (shown == CPUS_SHOWN) {
			more++;
			continue;
		}
		shown++;
		line.used = 0;
		sl_line_add(&line, "%s %s", key, value);
		put(out, "", line.text);
	}
	if (more) {
		line.used = 0;
		sl_line_add(&line, "... and %u more, in the metadata of the trace", more);
		put(out, "", line.text);
	}
}

static void put_pair(struct sl_out *out, const struct sl_report *report, const char *label, const char *a,
		     const char *b)
{
	struct sl_line line = { .used = 0 };
	const char *first = get(report, a), *second = get(report, b);

	sl_line_add(&line, "%s / %s", first ? first : "n/a", second ? second : "n/a");
	put(out, label, first || second ? line.text : NULL);
}

static void put_hypervisor(struct sl_out *out, const struct sl_report *report)
{
	const char *flag = get(report, "hypervisor"), *type = get(report, "hypervisor_type");
	const char *product = get(report, "dmi_product"), *clock = get(report, "clocksource");
	struct sl_line line = { .used = 0 };

	if (flag || type)
		sl_line_add(&line, "%s", type ? type : strcmp(flag, "0") ? "yes" : "no");
	if (product)
		sl_line_add(&line, "%s%s", line.used ? ", " : "", product);
	put(out, "Hypervisor:", line.used ? line.text : NULL);
	put(out, "Clocksource:", clock);
}

static void put_sched_ext(struct sl_out *out, const struct sl_report *report)
{
	const char *state = get(report, "sched_ext.state"), *ops = get(report, "sched_ext.ops");
	const char *built = get(report, "config.SCHED_CLASS_EXT");
	char text[160];

	if (!state && built && strcmp(built, "y")) {
		state = "not built in";
	} else if (state && ops) {
		snprintf(text, sizeof(text), "%.60s, %.60s", state, ops);
		state = text;
	}
	put(out, "sched_ext:", state);
}

static void put_tunables(struct sl_out *out, const struct sl_report *report)
{
	static const char *const keys[] = {
		"sched_rt_period_us", "sched_rt_runtime_us", "sched_autogroup", "sched_schedstats", "fair_server",
	};
	struct sl_line line = { .used = 0 };
	unsigned int i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		sl_line_add(&line, "%s%s=%s", i ? " " : "", keys[i], get(report, keys[i]) ? get(report, keys[i]) : "n/a");
	put(out, "Tunables:", line.text);
}

static void print_system(struct sl_out *out, const struct sl_report *report)
{
	sl_out_title(out, "System (as recorded)");
	put(out, "Kernel:", get(report, "uname") ? get(report, "uname") : report->info->kernel);
	put_key(out, report, "Commit:", "kernel_commit");
	put_key(out, report, "Boot options:", "cmdline_kernel");
	put_config(out, report);
	put_preemption(out, report);
	put_key(out, report, "HZ:", "config_hz");
	put_key(out, report, "Base slice ns:", "base_slice_ns");
	put_key(out, report, "Features:", "sched_features");
	put_tunables(out, report);
	put_topology(out, report);
	put_pair(out, report, "cpufreq:", "cpufreq.driver", "cpufreq.governor");
	put_pair(out, report, "cpuidle:", "cpuidle.driver", "cpuidle.governor");
	put_sched_ext(out, report);
	put_hypervisor(out, report);
}

static const char *group_value(const struct sl_report *report, const char *path, const char *what)
{
	char key[4200];

	snprintf(key, sizeof(key), "cgroup.%s.%s", *path ? path : "/", what);
	return get(report, key);
}

/* A cgroup and those above it, each with its limits. */
static void print_cgroup(struct sl_out *out, const struct sl_report *report, const char *path)
{
	static const char *const limits[] = { "weight", "shares", "uclamp_min", "uclamp_max" };
	char at[4096];
	unsigned int i;

	if (!path) {
		put(out, "Cgroup:", NULL);
		return;
	}
	snprintf(at, sizeof(at), "%s", path);
	for (;;) {
		struct sl_line line = { .used = 0 };
		char *slash = strrchr(at, '/');

		sl_line_add(&line, "%s:", at[0] ? at : "/");
		for (i = 0; i < sizeof(limits) / sizeof(*limits); i++)
			if (group_value(report, at, limits[i]))
				sl_line_add(&line, " %s %s,", limits[i], group_value(report, at, limits[i]));
		if (group_value(report, at, "quota_us"))
			sl_line_add(&line, " quota %s us of %s us", group_value(report, at, "quota_us"),
				    group_value(report, at, "period_us") ? group_value(report, at, "period_us") : "n/a");
		else	/* a group that was looked at, and has no limit, has no such key */
			sl_line_add(&line, group_value(report, at, "ino") ? " no quota" : " limits n/a");
		put(out, !strcmp(at, path) ? "Cgroup:" : "", line.text);
		if (!slash || !at[1])
			break;
		slash[slash == at ? 1 : 0] = '\0';
	}
}

/* ---- the numbers ---- */

static bool shown_comm(const struct sl_wait *const *waits, unsigned int nr, const char *comm)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strncmp(waits[i]->comm, comm, sizeof(waits[i]->comm)))
			return true;
	return false;
}

/* Those of the waits that are told come first, then those with most waits. */
static unsigned int choose_groups(const struct sl_report *report, const struct sl_wait *const *waits,
				  unsigned int nr_waits, const struct sl_group **ret)
{
	unsigned int pass, i, nr = 0;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < report->nr_groups && nr < COLUMNS; i++)
			if (shown_comm(waits, nr_waits, report->groups[i].comm) == !pass)
				ret[nr++] = &report->groups[i];
	return nr;
}

static int print_percentiles(struct sl_out *out, const struct sl_report *report,
			     const struct sl_wait *const *waits, unsigned int nr_waits)
{
	static const char *const rows[] = { "count", "avg", "p50", "p90", "p99", "p999", "max" };
	static const char *const names[] = { "Total Samples", "Average", "Median (P50)", "90th Percentile",
					     "99th Percentile", "99.9th Percentile", "Maximum" };
	const struct sl_group *groups[COLUMNS];
	unsigned int nr = choose_groups(report, waits, nr_waits, groups), i, row;
	struct sl_table *table = sl_table_new();
	struct sl_fmt_unit unit;
	uint64_t largest = 0;
	char text[128];
	int ret;

	if (!table)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		largest = groups[i]->max_ns > largest ? groups[i]->max_ns : largest;
	unit = sl_fmt_unit_of_waits(largest);
	sl_out_title(out, "Wait times by name, in %s", unit.name);
	if (report->flight)
		fputs("  (of the kept windows only, not of the whole run)\n", out->file);
	sl_table_column(table, SL_LEFT, "");
	for (i = 0; i < nr; i++)
		sl_table_column(table, SL_RIGHT, sl_fmt_escape(text, sizeof(text), groups[i]->comm, false));
	for (row = 0; row < sizeof(rows) / sizeof(*rows); row++) {
		sl_table_row(table);
		sl_table_cell(table, "%s", names[row]);
		for (i = 0; i < nr; i++) {
			struct sl_cell cell;

			sl_column_find(SL_SET_GROUP, rows[row])->get(groups[i], &cell);
			sl_table_cell(table, "%s", sl_table_value(text, sizeof(text), &cell, &unit, false));
		}
	}
	ret = sl_table_print(table, out, 2);
	sl_table_free(table);
	if (report->nr_groups > nr)
		fprintf(out->file, "  (%u more groups)\n", report->nr_groups - nr);
	return ret;
}

static int print_causes(struct sl_out *out, const struct sl_report *report)
{
	const struct sl_why *why = &report->why;
	struct sl_fmt_unit unit = sl_fmt_unit_for(why->total_ns);
	struct sl_table *table = sl_table_new();
	char text[64], head[32];
	unsigned int i;
	bool placed = false;
	int ret = 0;

	if (!table)
		return -ENOMEM;
	snprintf(head, sizeof(head), "time (%s)", unit.name);
	sl_table_column(table, SL_LEFT, "held by");
	sl_table_column(table, SL_RIGHT, head);
	sl_table_column(table, SL_RIGHT, "share");
	sl_table_column(table, SL_RIGHT, "waits");
	sl_table_column(table, SL_RIGHT, "primary");
	sl_table_column(table, SL_RIGHT, "exact");
	sl_table_column(table, SL_RIGHT, "unknown");
	for (i = 0; i < why->nr_causes; i++) {
		const struct sl_why_cause *cause = &why->causes[i];
		bool place = sl_cause_descs[cause->cause].family == SL_FAMILY_PLACE;

		placed |= place;
		if (place && (!i || sl_cause_descs[why->causes[i - 1].cause].family != SL_FAMILY_PLACE))
			sl_table_rule(table);
		sl_table_row(table);
		sl_table_cell(table, "%s", sl_cause_descs[cause->cause].id);
		sl_table_cell(table, "%s", sl_fmt_scaled(text, sizeof(text), cause->ns, unit.scale, unit.decimals));
		sl_table_cell(table, "%s", sl_fmt_percent(text, sizeof(text), sl_fmt_permille(cause->ns, why->total_ns)));
		sl_table_cell(table, "%" PRIu64, cause->count);
		sl_table_cell(table, "%" PRIu64, cause->primary);
		sl_table_cell(table, "%s", sl_fmt_percent(text, sizeof(text),
				sl_fmt_permille(cause->confidence_ns[SL_CONF_EXACT], cause->ns)));
		sl_table_cell(table, "%s", sl_fmt_percent(text, sizeof(text),
				sl_fmt_permille(cause->confidence_ns[SL_CONF_UNKNOWN], cause->ns)));
	}
	sl_out_title(out, "Causes of %" PRIu64 " waits (--why=%s)", why->count, report->params.why.label);
	if (why->nr_causes)
		ret = sl_table_print(table, out, 2);
	else
		fputs("  none\n", out->file);
	sl_table_free(table);
	if (placed)
		fputs("  Below the rule: placement, which overlaps the above.\n", out->file);
	return ret;
}

/* ---- the trace ---- */

static void print_trace(struct sl_out *out, const struct sl_bugreport_trace *trace, unsigned int nr_waits)
{
	struct sl_line line = { .used = 0 };
	unsigned int i, nr = 0;

	sl_out_title(out, "Trace");
	if (!trace->file) {
		sl_line_add(&line, "none: %s", trace->why_not ? trace->why_not : "n/a");
		sl_out_wrap(out, 2, 4, line.text);
		return;
	}
	sl_line_add_name(&line, trace->file, false);
	sl_line_add(&line, ": %" PRIu64 " bytes, %" PRIu64 " events in %u window%s, of a recording of %" PRIu64
		    " bytes%s; trace-cmd and KernelShark open it", trace->bytes, trace->events, trace->windows,
		    trace->windows == 1 ? "" : "s", trace->whole_bytes,
		    trace->redacted ? "; names are replaced as in this mail" : "");
	sl_out_wrap(out, 2, 4, line.text);
	for (i = 0; i < nr_waits; i++)
		nr += trace->same[i];
	line.used = 0;
	sl_line_add(&line, "schedlat report --why=%" PRIu64 "ns ", trace->why_ns);
	sl_line_add_name(&line, trace->file, false);
	sl_out_wrap(out, 2, 4, line.text);
	line.used = 0;
	if (nr == nr_waits)
		sl_line_add(&line, "explains these waits exactly as the whole recording does (checked).");
	else
		sl_line_add(&line, "explains %u of these %u waits exactly as the whole recording does (checked); "
			    "the others depend on more than fits the size that is allowed.", nr, nr_waits);
	sl_out_wrap(out, 2, 4, line.text);
}

static void print_reproducer(struct sl_out *out, const struct sl_report *report)
{
	const char *command = get(report, "command_line"), *more;
	struct sl_line line = { .used = 0 };
	unsigned int part;
	char key[32];

	sl_line_add_name(&line, command ? command : "n/a", false);
	for (part = 1; command && part < 100; part++) {
		snprintf(key, sizeof(key), "command_line.%u", part);
		more = get(report, key);
		if (!more)
			break;
		sl_line_add_name(&line, more, false);
	}
	put(out, "Recorded with:", line.text);
}

int sl_out_bugreport(struct sl_out *out, const struct sl_report *report, const struct sl_wait *const *shown,
		     unsigned int nr_waits, const struct sl_bugreport_trace *trace)
{
	struct sl_out mail = { .file = out->file, .width = SL_MAIL_WIDTH };
	const struct sl_out_view view = { .worst = 0 };
	unsigned int i;
	int ret;

	print_system(&mail, report);
	print_cgroup(&mail, report, nr_waits ? shown[0]->cgroup : NULL);
	putc('\n', mail.file);
	sl_out_title(&mail, "Recording");
	print_reproducer(&mail, report);
	put(&mail, "Recorded by:", get(report, "schedlat.version") ? get(report, "schedlat.version") : NULL);
	sl_text_head(&mail, report, &view);
	if (!get(report, "overhead.own_cpu_ns"))
		fputs("Own:     n/a\n", mail.file);
	sl_text_counters(&mail, report);
	putc('\n', mail.file);
	ret = print_percentiles(&mail, report, shown, nr_waits);
	putc('\n', mail.file);
	ret = ret ? ret : print_causes(&mail, report);
	if (ret)
		return ret;
	putc('\n', mail.file);
	sl_out_title(&mail, "The %u worst waits, instant by instant", nr_waits);
	for (i = 0; i < nr_waits; i++)
		sl_text_wait(&mail, shown[i], i + 1);
	sl_text_not_assessable(&mail, report);
	putc('\n', mail.file);
	print_trace(&mail, trace, nr_waits);
	return 0;
}
