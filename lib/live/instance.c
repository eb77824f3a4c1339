// SPDX-License-Identifier: LGPL-2.1-only
#include "live/instance.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tracefs/tracefs.h>
#include <unistd.h>

#include "live/text.h"

#define NAME_PREFIX "schedlat-"
/* Wake a poll()ing reader at this fill level of a CPU's buffer, in percent. */
#define BUFFER_PERCENT "25"

/* Write a file of the instance; the message names both. */
static int put(struct sl_instance *instance, const char *file, const char *text, struct sl_err *err)
{
	char *path = tracefs_instance_get_file(instance->tracefs, file);
	int r = path ? sl_text_write(path, text) : -ENOMEM;

	if (r < 0)
		sl_err_set(err, r, "cannot set up tracing: writing '%s' to %s: %s", text,
			   path ? path : file, strerror(-r));
	tracefs_put_tracing_file(path);
	return r;
}

/* Is the process that made this instance alive and a schedlat? */
static bool owner_lives(const char *name)
{
	char *end, *comm;
	long pid;
	bool lives;

	pid = strtol(name + strlen(NAME_PREFIX), &end, 10);
	if (pid <= 0 || *end)
		return true;	/* not a name of ours */
	comm = sl_text_read("/proc/%ld/comm", pid);
	lives = comm && !strncmp(comm, "schedlat", 8);
	free(comm);
	return lives;
}

void sl_instance_remove_stale(void (*on_removed)(void *arg, const char *name), void *arg)
{
	char path[512];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/instances", tracefs_tracing_dir());
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, NAME_PREFIX, strlen(NAME_PREFIX)) ||
		    owner_lives(entry->d_name))
			continue;
		/*
		 * A recorder of another PID namespace only looks dead. It holds its
		 * trace_pipe_raw files open, and then rmdir fails with EBUSY
		 * (__remove_instance(), 6.18) and changes nothing.
		 */
		snprintf(path, sizeof(path), "%s/instances/%s", tracefs_tracing_dir(),
			 entry->d_name);
		if (!rmdir(path) && on_removed)
			on_removed(arg, entry->d_name);
	}
	closedir(dir);
}

/*
 * trace_array_create() copies the top instance's flags, and record-cmd has no
 * file in an instance. With it, every sched_switch and sched_waking also saves
 * the comm of the task (a third of the cost of recording), which the sched
 * events carry anyway.
 */
static int make(struct sl_instance *instance, struct sl_err *err)
{
	char *option = tracefs_instance_get_file(NULL, "options/record-cmd");
	char *state = option ? sl_text_read("%s", option) : NULL;
	bool restore = false;
	sigset_t all, before;
	int r = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (state && !strcmp(state, "1"))
		restore = !sl_text_write(option, "0");
	instance->tracefs = tracefs_instance_create(instance->name);
	if (!instance->tracefs)
		r = -errno ?: -EIO;
	if (restore)
		sl_text_write(option, "1");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	free(state);
	tracefs_put_tracing_file(option);
	if (r < 0)
		return sl_err_set(err, r, "cannot make the tracefs instance '%s': %s", instance->name,
				  strerror(-r));
	if (!tracefs_instance_is_new(instance->tracefs)) {
		tracefs_instance_free(instance->tracefs);
		instance->tracefs = NULL;
		return sl_err_set(err, -EEXIST, "cannot make the tracefs instance '%s': it exists and is in use; wait for that recording or remove it with rmdir",
				  instance->name);
	}
	return 0;
}

/* The clock in brackets in trace_clock. */
static bool read_clock(struct sl_instance *instance)
{
	char *text = tracefs_instance_file_read(instance->tracefs, "trace_clock", NULL);
	char *start = text ? strchr(text, '[') : NULL, *end = start ? strchr(start, ']') : NULL;
	bool ok = end && (size_t)(end - start) <= sizeof(instance->clock);

	if (ok)
		snprintf(instance->clock, sizeof(instance->clock), "%.*s", (int)(end - start - 1),
			 start + 1);
	free(text);
	return ok;
}

static int set_clock(struct sl_instance *instance, struct sl_err *err)
{
	/* All agree between CPUs. mono is what other tools and clock_gettime() use. */
	static const char *const clocks[] = { "mono", "boot", "global" };
	int r = -EINVAL;

	for (unsigned int i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		r = put(instance, "trace_clock", clocks[i], err);
		if (!r)
			break;
	}
	if (r < 0)
		return r;
	if (!read_clock(instance))
		return sl_err_set(err, -EIO, "cannot set up tracing: cannot read back the clock of '%s'",
				  instance->name);
	return 0;
}

/* Sub-buffer size that events/header_page describes: the offset and size of `data`. */
static unsigned int described_page_bytes(const char *header_page)
{
	const char *data = strstr(header_page, " data;");
	unsigned int offset, size;

	if (!data || sscanf(data, " data; offset:%u; size:%u", &offset, &size) != 2 ||
	    size > (1u << 26) || offset > 64)
		return 0;
	return offset + size;
}

/*
 * header_page describes the top buffer. An instance starts with sub-buffers of
 * a page; when the top one has others (buffer_subbuf_size_kb, since 6.8), ours
 * gets the same, so that the text describes our data.
 */
static int set_page_bytes(struct sl_instance *instance, struct sl_err *err)
{
	long long have_kb;
	char text[32];
	int r;

	instance->page_bytes = described_page_bytes(instance->header_page);
	if (!instance->page_bytes)
		return sl_err_set(err, SL_EUNSUPP, "cannot set up tracing: events/header_page does not tell the sub-buffer size");
	if (tracefs_instance_file_read_number(instance->tracefs, "buffer_subbuf_size_kb", &have_kb) ||
	    have_kb * 1024 == instance->page_bytes)
		return 0;
	snprintf(text, sizeof(text), "%u", instance->page_bytes / 1024);
	r = put(instance, "buffer_subbuf_size_kb", text, err);
	return r;
}

static int set_buffer_bytes(struct sl_instance *instance, const struct sl_instance_params *params,
			    struct sl_err *err)
{
	const uint64_t kb = (params->buffer_bytes + 1023) / 1024;
	long long have_kb;
	char text[32];
	int r;

	snprintf(text, sizeof(text), "%" PRIu64, kb);
	r = put(instance, "buffer_size_kb", text, NULL);
	if (r < 0)
		return sl_err_set(err, r, "cannot allocate buffers of %" PRIu64 " KiB per CPU: %s; use a smaller -m",
				  kb, strerror(-r));
	snprintf(text, sizeof(text), "per_cpu/cpu%u/buffer_size_kb", instance->cpus[0]);
	if (tracefs_instance_file_read_number(instance->tracefs, text, &have_kb) || have_kb <= 0)
		return sl_err_set(err, -EIO, "cannot set up tracing: cannot read back %s", text);
	instance->buffer_bytes = have_kb * 1024ull;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const uint16_t *x = a, *y = b;

	return *x - *y;
}

/* The CPUs that the kernel has buffers for, and that were asked for. */
static int find_cpus(struct sl_instance *instance, const uint8_t *wanted, struct sl_err *err)
{
	char *path = tracefs_instance_get_file(instance->tracefs, "per_cpu");
	DIR *dir = path ? opendir(path) : NULL;
	uint8_t found[SL_CPU_MAX] = { 0 };
	struct dirent *entry;

	tracefs_put_tracing_file(path);
	if (!dir)
		return sl_err_set(err, -errno, "cannot set up tracing: cannot list per_cpu of '%s': %s",
				  instance->name, strerror(errno));
	instance->cpus = malloc(SL_CPU_MAX * sizeof(*instance->cpus));
	while (instance->cpus && (entry = readdir(dir))) {
		unsigned int cpu;
		char after;

		if (sscanf(entry->d_name, "cpu%u%c", &cpu, &after) != 1 || cpu >= SL_CPU_MAX)
			continue;
		found[cpu] = 1;
		if (!wanted || wanted[cpu])
			instance->cpus[instance->nr_cpus++] = cpu;
	}
	closedir(dir);
	if (!instance->cpus)
		return sl_err_set(err, -ENOMEM, "cannot set up tracing: out of memory");
	qsort(instance->cpus, instance->nr_cpus, sizeof(*instance->cpus), by_number);
	for (unsigned int cpu = 0; wanted && cpu < SL_CPU_MAX; cpu++)
		if (wanted[cpu] && !found[cpu])
			return sl_err_set(err, SL_EUSAGE, "cannot record CPU %u: this machine has no such CPU",
					  cpu);
	if (!instance->nr_cpus)
		return sl_err_set(err, -EIO, "cannot set up tracing: the kernel names no CPU");
	return 0;
}

/* tracing_cpumask takes hexadecimal words of 32 bits, the highest first. */
static int set_cpumask(struct sl_instance *instance, const uint8_t *wanted, struct sl_err *err)
{
	const unsigned int last = instance->cpus[instance->nr_cpus - 1];
	char text[SL_CPU_MAX / 32 * 9 + 1] = "";
	size_t len = 0;

	if (!wanted)
		return 0;
	for (int word = last / 32; word >= 0; word--) {
		uint32_t bits = 0;

		for (unsigned int bit = 0; bit < 32; bit++)
			bits |= (uint32_t)(wanted[word * 32 + bit] != 0) << bit;
		len += snprintf(text + len, sizeof(text) - len, word ? "%08x," : "%08x", bits);
	}
	return put(instance, "tracing_cpumask", text, err);
}

static int enable_events(struct sl_instance *instance, bool irq, struct sl_err *err)
{
	instance->enabled = calloc(sl_event_descs_nr, 1);
	if (!instance->enabled)
		return sl_err_set(err, -ENOMEM, "cannot set up tracing: out of memory");
	for (unsigned int i = 0; i < sl_event_descs_nr; i++) {
		const struct sl_event_desc *desc = &sl_event_descs[i];
		char file[128];
		int r;

		if (desc->group == SL_EVG_META || (desc->group == SL_EVG_IRQ && !irq))
			continue;
		snprintf(file, sizeof(file), "events/%s/%s/enable", desc->system, desc->name);
		r = tracefs_file_exists(instance->tracefs, file) ?
			put(instance, file, "1", err) :
			sl_err_set(err, -ENOENT, "cannot record: this kernel has no event %s:%s",
				   desc->system, desc->name);
		if (!r) {
			instance->enabled[i] = 1;
			instance->nr_enabled++;
		} else if (desc->group == SL_EVG_CORE) {
			return r;
		}
	}
	return 0;
}

int sl_instance_create(const struct sl_instance_params *params, struct sl_instance *ret_instance,
		       struct sl_err *err)
{
	struct sl_instance instance = { 0 };
	int r;

	snprintf(instance.name, sizeof(instance.name), NAME_PREFIX "%d", getpid());
	r = make(&instance, err);
	if (r < 0)
		return r;
	instance.header_page = tracefs_instance_file_read(NULL, "events/header_page", NULL);
	instance.header_event = tracefs_instance_file_read(NULL, "events/header_event", NULL);
	if (!instance.header_page || !instance.header_event)
		r = sl_err_set(err, -EIO, "cannot set up tracing: cannot read events/header_page and header_event of tracefs");
	if (!r)
		r = put(&instance, "tracing_on", "0", err);
	if (!r)
		r = find_cpus(&instance, params->cpus, err);
	if (!r)
		r = set_clock(&instance, err);
	if (!r)
		r = set_page_bytes(&instance, err);
	/* Only with overwriting does the kernel mark the sub-buffers before which events are lost. */
	if (!r)
		r = put(&instance, "options/overwrite", "1", err);
	if (!r)
		r = set_buffer_bytes(&instance, params, err);
	if (!r)
		r = set_cpumask(&instance, params->cpus, err);
	if (!r)
		r = enable_events(&instance, params->irq, err);
	if (r < 0) {
		sl_instance_remove(&instance, NULL);
		return r;
	}
	instance.has_buffer_percent = !put(&instance, "buffer_percent", BUFFER_PERCENT, NULL);
	*ret_instance = instance;
	return 0;
}

int sl_instance_set_tracing(struct sl_instance *instance, bool on, struct sl_err *err)
{
	return put(instance, "tracing_on", on ? "1" : "0", err);
}

int sl_instance_open_cpu(struct sl_instance *instance, uint16_t cpu, int *ret_fd, struct sl_err *err)
{
	char file[64];
	int fd;

	snprintf(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	fd = tracefs_instance_file_open(instance->tracefs, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return sl_err_set(err, -errno, "cannot read events: opening %s of '%s': %s", file,
				  instance->name, strerror(errno));
	*ret_fd = fd;
	return 0;
}

static uint64_t stat_value(const char *text, const char *name)
{
	const size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (!strncmp(line, name, len) && line[len] == ':')
			return strtoull(line + len + 1, NULL, 10);
		if (!*line)
			break;
	}
	return 0;
}

bool sl_instance_stats(struct sl_instance *instance, uint16_t cpu, struct sl_instance_stats *ret_stats)
{
	char file[64], *text;

	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
	text = tracefs_instance_file_read(instance->tracefs, file, NULL);
	if (!text)
		return false;
	*ret_stats = (struct sl_instance_stats){
		.overrun = stat_value(text, "overrun"),
		.commit_overrun = stat_value(text, "commit overrun"),
		.dropped = stat_value(text, "dropped events"),
		.read = stat_value(text, "read events"),
	};
	snprintf(ret_stats->text, sizeof(ret_stats->text), "CPU: %u\n%s", cpu, text);
	free(text);
	return true;
}

char *sl_instance_format(const struct sl_instance *instance, const struct sl_event_desc *desc)
{
	(void)instance;
	return tracefs_event_file_read(NULL, desc->system, desc->name, "format", NULL);
}

uint64_t sl_instance_now(struct sl_instance *instance)
{
	const clockid_t id = !strcmp(instance->clock, "mono") ? CLOCK_MONOTONIC : CLOCK_BOOTTIME;
	char file[64], *text, *now;
	uint64_t ns = 0;
	struct timespec ts;

	if (!strcmp(instance->clock, "mono") || !strcmp(instance->clock, "boot")) {
		clock_gettime(id, &ts);
		return ts.tv_sec * 1000000000ull + ts.tv_nsec;
	}
	/* The stats tell the time on any ns clock, to the microsecond. */
	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", instance->cpus[0]);
	text = tracefs_instance_file_read(instance->tracefs, file, NULL);
	now = text ? strstr(text, "now ts:") : NULL;
	if (now) {
		unsigned long long sec, usec;

		if (sscanf(now, "now ts: %llu.%6llu", &sec, &usec) == 2)
			ns = sec * 1000000000ull + usec * 1000;
	}
	free(text);
	return ns;
}

int sl_instance_remove(struct sl_instance *instance, struct sl_err *err)
{
	int r = 0;

	if (instance->tracefs) {
		/* A reader that has just closed its file may hold it for a moment more. */
		for (int i = 0; i < 50; i++) {
			r = tracefs_instance_destroy(instance->tracefs) ? -errno ?: -EIO : 0;
			if (r != -EBUSY)
				break;
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		}
		if (r < 0)
			sl_err_set(err, r, "cannot remove the tracefs instance '%s': %s; the next schedlat record removes it",
				   instance->name, strerror(-r));
		tracefs_instance_free(instance->tracefs);
	}
	free(instance->cpus);
	free(instance->enabled);
	free(instance->header_page);
	free(instance->header_event);
	*instance = (struct sl_instance){ 0 };
	return r;
}
