// SPDX-License-Identifier: LGPL-2.1-only
#include "live/meta.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#define CONFIG_MAX_BYTES (4u << 20)

/* Store a file's text under a key, if it can be read and is not empty. */
static void add_file(struct sl_kv_list *list, const char *key, const char *path)
{
	char *text = sl_text_read("%s", path);

	if (text && *text)
		sl_kv_add(list, key, text);
	free(text);
}

/* The kernel's build configuration, malloced; NULL: the system does not say. */
static char *read_config(const char *release)
{
	char path[256], *text;
	gzFile in = gzopen("/proc/config.gz", "re");
	int n;

	if (!in) {
		snprintf(path, sizeof(path), "/boot/config-%.200s", release);
		in = gzopen(path, "re");
	}
	if (!in) {
		snprintf(path, sizeof(path), "/lib/modules/%.200s/config", release);
		in = gzopen(path, "re");
	}
	if (!in)
		return NULL;
	text = malloc(CONFIG_MAX_BYTES);
	n = text ? gzread(in, text, CONFIG_MAX_BYTES - 1) : -1;
	gzclose(in);
	if (n <= 0) {
		free(text);
		return NULL;
	}
	text[n] = 0;
	return text;
}

/* The value of CONFIG_name, without quotes; NULL: not set. Malloced. */
static char *config_value(const char *config, const char *name)
{
	char want[64];
	const char *at;

	snprintf(want, sizeof(want), "\nCONFIG_%s=", name);
	at = strstr(config, want);
	if (!at)
		return NULL;
	at += strlen(want);
	return strndup(at, strcspn(at, "\n"));
}

static void add_config(struct sl_kv_list *list, const char *release)
{
	static const char *const names[] = {
		"HZ", "PREEMPT", "PREEMPT_NONE", "PREEMPT_VOLUNTARY", "PREEMPT_LAZY", "PREEMPT_RT",
		"PREEMPT_DYNAMIC", "SCHED_AUTOGROUP", "FAIR_GROUP_SCHED", "CFS_BANDWIDTH",
		"RT_GROUP_SCHED", "UCLAMP_TASK", "SCHED_CLASS_EXT", "SCHED_CORE", "NO_HZ_FULL",
	};
	char *config = read_config(release);

	if (!config)
		return;
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *value = config_value(config, names[i]), key[64];

		snprintf(key, sizeof(key), "config.%s", names[i]);
		sl_kv_add(list, key, value ? value : "n");
		if (value && !strcmp(names[i], "HZ") && atoi(value) > 0) {
			sl_kv_addf(list, "config_hz", "%d", atoi(value));
			sl_kv_addf(list, "tick_ns", "%d", 1000000000 / atoi(value));
		}
		free(value);
	}
	free(config);
}

/* A word in parentheses or brackets, as in "none voluntary (full) lazy". */
static void add_chosen(struct sl_kv_list *list, const char *key, const char *path, char open,
		       char close)
{
	char *text = sl_text_read("%s", path);
	char *start = text ? strchr(text, open) : NULL, *end = start ? strchr(start, close) : NULL;

	if (end) {
		*end = 0;
		sl_kv_add(list, key, start + 1);
	}
	free(text);
}

/* "g" and 12 or more hexadecimal digits behind a dash: what setlocalversion appends. */
static void add_commit(struct sl_kv_list *list, const char *text)
{
	for (const char *at = text; (at = strstr(at, "-g")); at += 2) {
		size_t len = strspn(at + 2, "0123456789abcdef");

		if (len >= 7 && len <= 40 && !isalnum((unsigned char)at[2 + len])) {
			sl_kv_addf(list, "kernel_commit", "%.*s", (int)len, at + 2);
			return;
		}
	}
}

static void add_fair_server(struct sl_kv_list *list)
{
	struct stat st;

	/* Only a directory that can be looked into can tell that something is not there. */
	if (access("/sys/kernel/debug/sched", R_OK | X_OK) ||
	    stat("/sys/kernel/debug/sched/debug", &st))
		return;
	sl_kv_add(list, "fair_server",
		  access("/sys/kernel/debug/sched/fair_server", F_OK) ? "0" : "1");
}

static void add_hypervisor(struct sl_kv_list *list)
{
	char *text = sl_text_read("/proc/cpuinfo");
	char *flags = text ? strstr(text, "\nflags") : NULL;

	if (flags) {
		flags[1 + strcspn(flags + 1, "\n")] = 0;
		sl_kv_add(list, "hypervisor", strstr(flags, " hypervisor") ? "1" : "0");
	}
	free(text);
	add_file(list, "hypervisor_type", "/sys/hypervisor/type");
	add_file(list, "dmi_product", "/sys/class/dmi/id/product_name");
	add_file(list, "clocksource",
		 "/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

void sl_meta_system(struct sl_kv_list *list)
{
	struct utsname names;

	if (!uname(&names)) {
		sl_kv_addf(list, "uname", "%s %s %s %s %s", names.sysname, names.nodename,
			   names.release, names.version, names.machine);
		add_commit(list, names.release);
		add_config(list, names.release);
	}
	add_chosen(list, "preempt", "/sys/kernel/debug/sched/preempt", '(', ')');
	add_file(list, "realtime", "/sys/kernel/realtime");
	add_file(list, "sched_features", "/sys/kernel/debug/sched/features");
	add_file(list, "base_slice_ns", "/sys/kernel/debug/sched/base_slice_ns");
	add_file(list, "sched_rt_period_us", "/proc/sys/kernel/sched_rt_period_us");
	add_file(list, "sched_rt_runtime_us", "/proc/sys/kernel/sched_rt_runtime_us");
	add_file(list, "sched_autogroup", "/proc/sys/kernel/sched_autogroup_enabled");
	add_file(list, "sched_schedstats", "/proc/sys/kernel/sched_schedstats");
	add_fair_server(list);
	add_file(list, "sched_ext.state", "/sys/kernel/sched_ext/state");
	add_file(list, "sched_ext.ops", "/sys/kernel/sched_ext/root/ops");
	add_file(list, "cpufreq.driver", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver");
	add_file(list, "cpufreq.governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	add_file(list, "cpuidle.driver", "/sys/devices/system/cpu/cpuidle/current_driver");
	add_file(list, "cpuidle.governor", "/sys/devices/system/cpu/cpuidle/current_governor_ro");
	add_file(list, "cmdline_kernel", "/proc/cmdline");
	add_hypervisor(list);
}

/* The CPUs that share the last level of cache: the highest index there is. */
static char *llc_list(unsigned int cpu)
{
	char *found = NULL;

	for (unsigned int index = 0; index < 8; index++) {
		char *list = sl_text_read("/sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list",
					  cpu, index);

		if (!list)
			break;
		free(found);
		found = list;
	}
	return found;
}

static void add_cpu(struct sl_kv_list *list, unsigned int cpu)
{
	static const struct {
		const char *name, *file;
	} files[] = {
		{ "package", "topology/physical_package_id" },
		{ "core", "topology/core_id" },
		{ "smt", "topology/thread_siblings_list" },
		{ "cluster", "topology/cluster_cpus_list" },
		{ "capacity", "cpu_capacity" },
	};
	char key[32], *text = NULL, *llc;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out) {
		list->failed = true;
		return;
	}
	for (unsigned int i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *value = sl_text_read("/sys/devices/system/cpu/cpu%u/%s", cpu, files[i].file);

		/* Package or cluster -1 and an empty list mean that the firmware does not tell. */
		if (value && *value && strcmp(value, "-1"))
			fprintf(out, " %s=%s", files[i].name, value);
		free(value);
	}
	llc = llc_list(cpu);
	if (llc && *llc)
		fprintf(out, " llc=%s", llc);
	free(llc);
	if (fclose(out)) {
		list->failed = true;
	} else if (len) {
		snprintf(key, sizeof(key), "cpu%u", cpu);
		sl_kv_add(list, key, text + 1);
	}
	free(text);
}

void sl_meta_topology(struct sl_kv_list *list)
{
	char *online = sl_text_read("/sys/devices/system/cpu/online");
	uint8_t set[SL_CPU_MAX];

	add_file(list, "cpus_possible", "/sys/devices/system/cpu/possible");
	add_file(list, "cpus_isolated", "/sys/devices/system/cpu/isolated");
	if (online && !sl_cpulist_parse(online, set, NULL)) {
		sl_kv_add(list, "cpus_online", online);
		for (unsigned int cpu = 0; cpu < SL_CPU_MAX; cpu++)
			if (set[cpu])
				add_cpu(list, cpu);
	}
	free(online);
}
