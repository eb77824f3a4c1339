// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmds.h"
#include "live/probe.h"
#include "out/json.h"
#include "schedlat/wait.h"
#include "tool.h"
#include "event/event.h"
#include "util/err.h"

#define CMD "check"

/* What a cause needs of a machine, beyond sched_switch. */
enum need {
	NEED_NOTHING,
	NEED_WAKING_AND_WAKEUP,
	NEED_IRQ,
	NEED_SOFTIRQ,
	NEED_CPU_CGROUPS,
	NEED_RT_RUNTIME,
	NEED_FAIR_SERVER,
	NEED_EEVDF,		/* the state of the queues, which only the bpf backend sees */
	NEED_EEVDF_GROUPS,
	NEED_EEVDF_BUDDY,
	NEED_MIN_SLICE,		/* these three are told by patched kernels only */
	NEED_ENERGY,
	NEED_PUSH,
	NEED_NOT_RECORDED,	/* no tracepoint of a stock kernel tells it */
};

static enum need need_of(enum sl_cause cause)
{
	switch (cause) {
	case SL_CAUSE_WAKE_PATH:
	case SL_CAUSE_WAKE_AFFINE:
	case SL_CAUSE_IDLE_CPU_MISSED:
	case SL_CAUSE_STACKED_WAKEUP:
		return NEED_WAKING_AND_WAKEUP;
	case SL_CAUSE_IRQ:
		return NEED_IRQ;
	case SL_CAUSE_SOFTIRQ:
		return NEED_SOFTIRQ;
	case SL_CAUSE_THROTTLED:
		return NEED_CPU_CGROUPS;
	case SL_CAUSE_RT_THROTTLED:
		return NEED_RT_RUNTIME;
	case SL_CAUSE_FAIR_SERVER:
		return NEED_FAIR_SERVER;
	case SL_CAUSE_SLICE_PROTECTION:
	case SL_CAUSE_INELIGIBLE:
	case SL_CAUSE_LATER_DEADLINE:
		return NEED_EEVDF;
	case SL_CAUSE_BUDDY:
		return NEED_EEVDF_BUDDY;
	case SL_CAUSE_GROUP_LEVEL:
		return NEED_EEVDF_GROUPS;
	case SL_CAUSE_MIN_SLICE_CHOICE:
		return NEED_MIN_SLICE;
	case SL_CAUSE_ENERGY_CHOICE:
		return NEED_ENERGY;
	case SL_CAUSE_PUSH_MISSED:
	case SL_CAUSE_PUSH_FAILED:
		return NEED_PUSH;
	case SL_CAUSE_STOLEN:
		return NEED_NOT_RECORDED;
	case SL_CAUSE_LOST_DATA:
	case SL_CAUSE_STOP_CLASS:
	case SL_CAUSE_DL_CLASS:
	case SL_CAUSE_RT_CLASS:
	case SL_CAUSE_IDLE_EXIT:
	case SL_CAUSE_LAZY_RESCHED:
	case SL_CAUSE_RESCHED_DELAYED:
	case SL_CAUSE_SCHED_EXT:
	case SL_CAUSE_NO_WAKEUP_PREEMPT:
	case SL_CAUSE_FAIR_UNDETERMINED:
	case SL_CAUSE_AFFINITY:
	case SL_CAUSE_NR:
		break;
	}
	return NEED_NOTHING;
}

/* Would `schedlat record` here record such events? It takes bpf where that works. */
static bool has_kind(const struct sl_probe *probe, enum sl_ev_kind kind)
{
	for (unsigned int i = 0; i < sl_event_descs_nr; i++) {
		const struct sl_event_desc *desc = &sl_event_descs[i];

		if (desc->kind != kind)
			continue;
		if (!probe->bpf.can_record && probe->events[i] == SL_PROBE_YES)
			return true;
		for (size_t j = 0; j < probe->bpf.nr_probes; j++)
			if (probe->bpf.probes[j].state == SL_BPF_PROBE_ON &&
			    !strcmp(probe->bpf.probes[j].system, desc->system) &&
			    !strcmp(probe->bpf.probes[j].name, desc->name))
				return true;
	}
	return false;
}

static bool extra_readable(const struct sl_probe *probe, const char *name)
{
	for (unsigned int i = 0; i < SL_PROBE_EXTRAS; i++)
		if (!strcmp(probe->extras[i].name, name))
			return !probe->extras[i].error;
	return false;
}

static bool assessable(const struct sl_probe *probe, enum sl_cause cause)
{
	const struct sl_bpf_caps *caps = &probe->bpf.caps;
	const bool eevdf = probe->bpf.can_record && caps->has_eevdf && caps->has_queue;

	if (!probe->can_record && !probe->bpf.can_record)
		return false;
	switch (need_of(cause)) {
	case NEED_NOTHING:
		return true;
	case NEED_WAKING_AND_WAKEUP:
		return has_kind(probe, SL_EV_WAKING) && has_kind(probe, SL_EV_WAKEUP);
	case NEED_IRQ:
		return has_kind(probe, SL_EV_IRQ_ENTRY);
	case NEED_SOFTIRQ:
		return has_kind(probe, SL_EV_SOFTIRQ_ENTRY);
	case NEED_CPU_CGROUPS:
		return probe->has_cpu_cgroups;
	case NEED_RT_RUNTIME:
		return extra_readable(probe, "sched_rt_runtime_us");
	case NEED_FAIR_SERVER:
		return extra_readable(probe, "fair_server");
	case NEED_EEVDF:
		return eevdf;
	case NEED_EEVDF_GROUPS:
		return eevdf && caps->has_groups;
	case NEED_EEVDF_BUDDY:
		return eevdf && caps->has_buddy;
	case NEED_MIN_SLICE:
		return has_kind(probe, SL_EV_MIN_SLICE);
	case NEED_ENERGY:
		return has_kind(probe, SL_EV_SELECT) || has_kind(probe, SL_EV_ENERGY_CHOICE);
	case NEED_PUSH:
		return has_kind(probe, SL_EV_PUSH);
	case NEED_NOT_RECORDED:
		break;
	}
	return false;
}

/* A tracepoint that a kernel can have; those of system schedlat are written by ourselves. */
static bool is_tracepoint(const struct sl_event_desc *desc)
{
	return strcmp(desc->system, "schedlat") != 0;
}

/* By them a kernel tells its decisions: kernel-patches. */
static bool tells_decisions(const struct sl_event_desc *desc)
{
	return desc->kind >= SL_EV_WAKEUP_PREEMPT && desc->kind <= SL_EV_PUSH;
}

static unsigned int count_events(const struct sl_probe *probe, enum sl_probe_answer answer, bool decisions)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < sl_event_descs_nr; i++)
		nr += is_tracepoint(&sl_event_descs[i]) && probe->events[i] == answer &&
		      tells_decisions(&sl_event_descs[i]) == decisions;
	return nr;
}

static void list_missing(const struct sl_probe *probe, bool decisions)
{
	for (unsigned int i = 0; i < sl_event_descs_nr; i++)
		if (probe->events[i] == SL_PROBE_NO && is_tracepoint(&sl_event_descs[i]) &&
		    tells_decisions(&sl_event_descs[i]) == decisions)
			printf("                %s:%s (%s: %s)\n", sl_event_descs[i].system,
			       sl_event_descs[i].name, sl_event_group_name(sl_event_descs[i].group),
			       sl_event_descs[i].doc);
}

static void print_missing_events(const struct sl_probe *probe)
{
	unsigned int yes, no;

	if (count_events(probe, SL_PROBE_UNKNOWN, false)) {
		printf("  events      not known: tracefs cannot be read\n");
		return;
	}
	yes = count_events(probe, SL_PROBE_YES, false);
	no = count_events(probe, SL_PROBE_NO, false);
	printf("  events      %u of %u%s\n", yes, yes + no, no ? "; this kernel does not have:" : "");
	list_missing(probe, false);
	yes = count_events(probe, SL_PROBE_YES, true);
	no = count_events(probe, SL_PROBE_NO, true);
	if (!yes) {
		printf("  decisions   this kernel does not tell them (kernel-patches/tracepoints)\n");
		return;
	}
	printf("  decisions   the kernel tells them, %u of %u events%s\n", yes, yes + no,
	       no ? "; it does not have:" : "");
	list_missing(probe, true);
}

static unsigned int count_bpf(const struct sl_probe_bpf *bpf, enum sl_bpf_probe_state state)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < bpf->nr_probes; i++)
		nr += bpf->probes[i].state == state;
	return nr;
}

static void print_bpf(const struct sl_probe_bpf *bpf)
{
	const unsigned int nr_on = count_bpf(bpf, SL_BPF_PROBE_ON);

	printf("bpf           %s\n", bpf->can_record ? "can record" : "cannot record");
	if (!bpf->can_record) {
		printf("  reason      %s\n", bpf->why);
		return;
	}
	printf("  probes      %u of %zu%s\n", nr_on, bpf->nr_probes,
	       nr_on < bpf->nr_probes ? "; missing:" : "");
	for (size_t i = 0; i < bpf->nr_probes; i++)
		if (bpf->probes[i].state != SL_BPF_PROBE_ON)
			printf("                %s:%s (%s)\n", bpf->probes[i].system,
			       bpf->probes[i].name, bpf->probes[i].reason);
	if (!bpf->caps.has_eevdf)
		printf("  evidence    none: this kernel's fair class is not EEVDF\n");
	else if (!bpf->caps.has_queue)
		printf("  evidence    of tasks only: %s\n", bpf->caps.why_no_queue);
	else
		printf("  evidence    of tasks and of %s (%s)\n",
		       bpf->caps.has_flat ? "one flat queue per CPU" :
		       bpf->caps.has_groups ? "queues at every level of the cgroups" : "queues",
		       bpf->caps.fields);
}

static void print_text(const struct sl_probe *probe)
{
	unsigned int nr = 0;

	printf("tracefs       %s\n", probe->can_record ? "can record" : "cannot record");
	if (!probe->can_record)
		printf("  reason      %s\n", probe->why);
	if (*probe->tracefs.dir)
		printf("  place       %s\n", probe->tracefs.dir);
	if (*probe->clock)
		printf("  clock       %s\n", probe->clock);
	print_missing_events(probe);
	printf("  throttling  %s\n", probe->has_cpu_cgroups ?
	       "cpu.stat of the cgroups" : "no cpu controller is mounted: cannot be told");
	if (probe->sched_ext)
		printf("  sched_ext   a BPF scheduler is loaded: its tasks get no EEVDF cause\n");
	for (unsigned int i = 0; i < SL_PROBE_EXTRAS; i++) {
		const struct sl_probe_extra *extra = &probe->extras[i];

		if (extra->error)
			printf("  not known   %s: %s: %s\n", extra->use, extra->path,
			       strerror(extra->error));
	}
	print_bpf(&probe->bpf);
	printf("perf.data     reading it is not possible yet\n");

	if (!probe->can_record && !probe->bpf.can_record)
		return;
	printf("\nCauses that a recording made here cannot tell:\n");
	for (unsigned int i = 0; i < SL_CAUSE_NR; i++) {
		if (assessable(probe, i))
			continue;
		printf("  %-18s needs %s\n", sl_cause_descs[i].id, sl_cause_descs[i].needs);
		nr++;
	}
	if (!nr)
		printf("  none\n");
}

static json_t *json_answer(enum sl_probe_answer answer)
{
	switch (answer) {
	case SL_PROBE_YES:
		return json_true();
	case SL_PROBE_NO:
		return json_false();
	case SL_PROBE_UNKNOWN:
		break;
	}
	return json_null();
}

static const char *tracefs_state_name(enum sl_tracefs_state state)
{
	static const char *const names[] = { "usable", "not-mounted", "no-access", "empty",
					     "read-only", "no-instances" };

	return names[state];
}

static int add_tracefs(json_t *backends, const struct sl_probe *probe)
{
	json_t *tracefs = json_object(), *events = json_array(), *extras = json_array();
	int bad = !tracefs || !events || !extras;

	for (unsigned int i = 0; i < sl_event_descs_nr && !bad; i++) {
		json_t *event = json_object();

		if (!is_tracepoint(&sl_event_descs[i])) {
			json_decref(event);
			continue;
		}
		bad |= sl_json_set(event, "system", sl_json_text(sl_event_descs[i].system));
		bad |= sl_json_set(event, "name", sl_json_text(sl_event_descs[i].name));
		bad |= sl_json_set(event, "group",
				   sl_json_text(sl_event_group_name(sl_event_descs[i].group)));
		bad |= sl_json_set(event, "available", json_answer(probe->events[i]));
		bad |= sl_json_append(events, event);
	}
	for (unsigned int i = 0; i < SL_PROBE_EXTRAS && !bad; i++) {
		const struct sl_probe_extra *extra = &probe->extras[i];
		json_t *object = json_object();

		bad |= sl_json_set(object, "name", sl_json_text(extra->name));
		bad |= sl_json_set(object, "path", sl_json_text(extra->path));
		bad |= sl_json_set(object, "use", sl_json_text(extra->use));
		bad |= sl_json_set(object, "error",
				   extra->error ? sl_json_text(strerror(extra->error)) : json_null());
		bad |= sl_json_append(extras, object);
	}
	bad |= sl_json_set(tracefs, "name", sl_json_text("tracefs"));
	bad |= sl_json_set(tracefs, "available", json_boolean(probe->can_record));
	bad |= sl_json_set(tracefs, "reason", *probe->why ? sl_json_text(probe->why) : json_null());
	bad |= sl_json_set(tracefs, "state", sl_json_text(tracefs_state_name(probe->tracefs.state)));
	bad |= sl_json_set(tracefs, "place",
			   *probe->tracefs.dir ? sl_json_text(probe->tracefs.dir) : json_null());
	bad |= sl_json_set(tracefs, "clock", *probe->clock ? sl_json_text(probe->clock) : json_null());
	bad |= sl_json_set(tracefs, "events", events);
	bad |= sl_json_set(tracefs, "cpu_cgroups", json_boolean(probe->has_cpu_cgroups));
	bad |= sl_json_set(tracefs, "sched_ext", json_boolean(probe->sched_ext));
	bad |= sl_json_set(tracefs, "extras", extras);
	return bad | sl_json_append(backends, tracefs);
}

static int add_bpf_caps(json_t *backend, const struct sl_bpf_caps *caps)
{
	const struct {
		const char *key;
		bool value;
	} flags[] = {
		{ "eevdf", caps->has_eevdf }, { "queue", caps->has_queue },
		{ "vprot", caps->has_vprot }, { "delayed", caps->has_delayed },
		{ "custom_slice", caps->has_custom_slice }, { "min_slice", caps->has_min_slice },
		{ "buddy", caps->has_buddy }, { "task_throttle", caps->has_task_throttle },
		{ "groups", caps->has_groups }, { "flat", caps->has_flat },
	};
	json_t *object = json_object();
	int bad = 0;

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		bad |= sl_json_set(object, flags[i].key, json_boolean(flags[i].value));
	bad |= sl_json_set(object, "fields", sl_json_text(caps->fields));
	bad |= sl_json_set(object, "why_no_queue",
			   *caps->why_no_queue ? sl_json_text(caps->why_no_queue) : json_null());
	return bad | sl_json_set(backend, "evidence", object);
}

static int add_bpf(json_t *backends, const struct sl_probe_bpf *bpf)
{
	json_t *backend = json_object(), *probes = json_array();
	int bad = !backend || !probes;

	bad |= sl_json_set(backend, "name", sl_json_text("bpf"));
	bad |= sl_json_set(backend, "available", json_boolean(bpf->can_record));
	bad |= sl_json_set(backend, "reason", *bpf->why ? sl_json_text(bpf->why) : json_null());
	for (size_t i = 0; i < bpf->nr_probes && !bad; i++) {
		const struct sl_bpf_probe *probe = &bpf->probes[i];
		json_t *object = json_object();

		bad |= sl_json_set(object, "system", sl_json_text(probe->system));
		bad |= sl_json_set(object, "name", sl_json_text(probe->name));
		bad |= sl_json_set(object, "available",
				   json_boolean(probe->state == SL_BPF_PROBE_ON));
		bad |= sl_json_set(object, "reason",
				   *probe->reason ? sl_json_text(probe->reason) : json_null());
		bad |= sl_json_append(probes, object);
	}
	bad |= sl_json_set(backend, "probes", probes);
	if (bpf->can_record)
		bad |= add_bpf_caps(backend, &bpf->caps);
	return bad | sl_json_append(backends, backend);
}

static int add_absent(json_t *backends, const char *name, const char *reason)
{
	json_t *backend = json_object();
	int bad = 0;

	bad |= sl_json_set(backend, "name", sl_json_text(name));
	bad |= sl_json_set(backend, "available", json_false());
	bad |= sl_json_set(backend, "reason", sl_json_text(reason));
	return bad | sl_json_append(backends, backend);
}

static int print_json(const struct sl_probe *probe)
{
	json_t *root = json_object(), *backends = json_array(), *causes = json_array();
	struct sl_out out = sl_tool_stdout();
	int bad = 0, r;

	bad |= add_tracefs(backends, probe);
	bad |= add_bpf(backends, &probe->bpf);
	bad |= add_absent(backends, "perf.data", "not yet");
	for (unsigned int i = 0; i < SL_CAUSE_NR && !bad; i++) {
		json_t *cause;

		if (assessable(probe, i))
			continue;
		cause = json_object();
		bad |= sl_json_set(cause, "id", sl_json_text(sl_cause_descs[i].id));
		bad |= sl_json_set(cause, "needs", sl_json_text(sl_cause_descs[i].needs));
		bad |= sl_json_append(causes, cause);
	}
	bad |= sl_json_set(root, "schema", sl_json_text("schedlat.check/1"));
	bad |= sl_json_set(root, "can_record", json_boolean(probe->can_record || probe->bpf.can_record));
	bad |= sl_json_set(root, "backends", backends);
	bad |= sl_json_set(root, "not_assessable", causes);
	if (bad) {
		json_decref(root);
		return -1;
	}
	r = sl_json_print(&out, root);
	putchar('\n');
	return r;
}

static void help(void)
{
	fputs("usage: schedlat check [-j]\n"
	      "\n"
	      "What can be recorded here, and what that disables. Changes nothing.\n"
	      "\n"
	      "  -j, --json  as JSON\n"
	      "  -h, --help  this text\n"
	      "\n"
	      "Exit status: 0 a recording is possible, 1 it is not, 129 usage.\n", stdout);
}

int cmd_check(int argc, char **argv)
{
	struct sl_err err = { "" };
	struct sl_probe probe;
	bool json = false;
	int r, status;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help")) {
			help();
			return sl_tool_finish(CMD, 0);
		}
		if (strcmp(argv[i], "-j") && strcmp(argv[i], "--json")) {
			sl_err_set(&err, SL_EUSAGE, "unknown argument '%s' (schedlat check -h)", argv[i]);
			return sl_tool_fail(CMD, SL_EUSAGE, &err);
		}
		json = true;
	}
	r = sl_probe_run(&probe, &err);
	if (r < 0)
		return sl_tool_fail(CMD, r, &err);
	status = probe.can_record || probe.bpf.can_record ? 0 : 1;
	if (json) {
		if (print_json(&probe) < 0) {
			sl_err_set(&err, -ENOMEM, "cannot print: out of memory");
			status = sl_tool_fail(CMD, -ENOMEM, &err);
		}
	} else {
		print_text(&probe);
	}
	sl_probe_clear(&probe);
	return sl_tool_finish(CMD, status);
}
