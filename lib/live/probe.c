// SPDX-License-Identifier: LGPL-2.1-only
#include "live/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/instance.h"
#include "live/text.h"

/* Small, for the moment that they exist. */
#define PROBE_BUFFER_BYTES (64u << 10)

static const struct sl_probe_extra extras[SL_PROBE_EXTRAS] = {
	{ "sched_features", "/sys/kernel/debug/sched/features",
	  "which scheduler features are on (RUN_TO_PARITY, NEXT_BUDDY, ...)", 0 },
	{ "preempt", "/sys/kernel/debug/sched/preempt", "the preemption model in force", 0 },
	{ "base_slice_ns", "/sys/kernel/debug/sched/base_slice_ns", "the default slice", 0 },
	{ "fair_server", "/sys/kernel/debug/sched/debug",
	  "whether the kernel has a deadline server for fair tasks", 0 },
	{ "sched_rt_runtime_us", "/proc/sys/kernel/sched_rt_runtime_us", "realtime throttling", 0 },
	{ "config", "/proc/config.gz", "HZ and the scheduler's build options (also /boot/config-RELEASE)", 0 },
	{ "topology", "/sys/devices/system/cpu/cpu0/topology/core_id", "cores and siblings", 0 },
};

/* A file may exist, allow open() by its mode, and still refuse: read one byte. */
static int read_error(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;
	char byte;

	if (fd < 0)
		return errno;
	if (read(fd, &byte, 1) < 0)
		error = errno;
	close(fd);
	return error;
}

static void probe_extras(struct sl_probe *probe)
{
	for (unsigned int i = 0; i < SL_PROBE_EXTRAS; i++) {
		probe->extras[i] = extras[i];
		probe->extras[i].error = read_error(extras[i].path);
	}
}

static bool has_cpu_cgroups(void)
{
	char *info = sl_text_read("/proc/self/mountinfo"), *save = NULL;
	bool found = false;

	for (char *line = info ? strtok_r(info, "\n", &save) : NULL; line && !found;
	     line = strtok_r(NULL, "\n", &save)) {
		char *type = strstr(line, " - "), place[256], *controllers;

		if (!type || sscanf(line, "%*d %*d %*s %*s %255s", place) != 1)
			continue;
		if (!strncmp(type, " - cgroup ", 10)) {
			/* options: "rw,cpu,cpuacct" */
			char *options = strrchr(type, ' ');

			for (char *at = options; at && !found; at = strchr(at + 1, ','))
				found = !strncmp(at + 1, "cpu", 3) && (at[4] == ',' || !at[4]);
		} else if (!strncmp(type, " - cgroup2 ", 11)) {
			controllers = sl_text_read("%s/cgroup.controllers", place);
			for (char *at = controllers; at && *at && !found; at++)
				found = !strncmp(at, "cpu", 3) && (at[3] == ' ' || !at[3]) &&
					(at == controllers || at[-1] == ' ');
			free(controllers);
		}
	}
	free(info);
	return found;
}

static void probe_events(struct sl_probe *probe)
{
	for (unsigned int i = 0; i < sl_event_descs_nr; i++) {
		const struct sl_event_desc *desc = &sl_event_descs[i];
		char path[512];

		if (desc->group == SL_EVG_META || probe->tracefs.state == SL_TRACEFS_NOT_MOUNTED ||
		    probe->tracefs.state == SL_TRACEFS_EMPTY)
			continue;
		snprintf(path, sizeof(path), "%s/events/%s/%s/enable", probe->tracefs.dir,
			 desc->system, desc->name);
		if (!access(path, F_OK))
			probe->events[i] = SL_PROBE_YES;
		else if (errno == ENOENT)
			probe->events[i] = SL_PROBE_NO;
	}
}

static int probe_bpf(struct sl_probe_bpf *probe, struct sl_err *err)
{
	const struct sl_bpf_params params = {
		.own_tgid = getpid(),
		.ring_bytes = PROBE_BUFFER_BYTES,
		.irq = true,
		.idle = true,
	};
	struct sl_err why = { "" };
	struct sl_bpf *bpf;

	if (sl_bpf_open(&params, &bpf, &why) < 0) {
		snprintf(probe->why, sizeof(probe->why), "%s", why.msg);
		return 0;
	}
	probe->can_record = true;
	probe->caps = *sl_bpf_caps(bpf);
	probe->nr_probes = sl_bpf_nr_probes(bpf);
	probe->probes = calloc(probe->nr_probes + 1, sizeof(*probe->probes));
	for (size_t i = 0; probe->probes && i < probe->nr_probes; i++)
		probe->probes[i] = *sl_bpf_probe(bpf, i);
	sl_bpf_close(bpf);
	return probe->probes ? 0 : sl_err_set(err, -ENOMEM, "cannot look at this machine: out of memory");
}

int sl_probe_run(struct sl_probe *ret_probe, struct sl_err *err)
{
	const struct sl_instance_params params = { .buffer_bytes = PROBE_BUFFER_BYTES };
	struct sl_instance instance = { 0 };
	struct sl_probe probe = { 0 };
	struct sl_err why = { "" };
	char *state;
	int r;

	probe.events = calloc(sl_event_descs_nr, sizeof(*probe.events));
	if (!probe.events)
		return sl_err_set(err, -ENOMEM, "cannot look at this machine: out of memory");
	probe.can_record = !sl_tracefs_use(&probe.tracefs, &why) &&
			   !sl_instance_create(&params, &instance, &why);
	if (probe.can_record)
		snprintf(probe.clock, sizeof(probe.clock), "%s", instance.clock);
	else
		snprintf(probe.why, sizeof(probe.why), "%s",
			 *probe.tracefs.why ? probe.tracefs.why : why.msg);
	sl_instance_remove(&instance, NULL);
	probe_events(&probe);
	probe_extras(&probe);
	probe.has_cpu_cgroups = has_cpu_cgroups();
	state = sl_text_read("/sys/kernel/sched_ext/state");
	probe.sched_ext = state && !strcmp(state, "enabled");
	free(state);
	r = probe_bpf(&probe.bpf, err);
	if (r < 0) {
		sl_probe_clear(&probe);
		return r;
	}
	*ret_probe = probe;
	return 0;
}

void sl_probe_clear(struct sl_probe *probe)
{
	free(probe->events);
	free(probe->bpf.probes);
	*probe = (struct sl_probe){ 0 };
}
