// SPDX-License-Identifier: LGPL-2.1-only
#include "live/only.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/event.h"
#include "live/tasks.h"
#include "live/text.h"
#include "util/time.h"

static int no_memory(struct sl_err *err)
{
	return sl_err_set(err, -ENOMEM, "--only: out of memory");
}

/* One more element for an array of nr. NULL: no memory, the array is as before. */
static void *grow(void *array, size_t nr, size_t bytes)
{
	return realloc(array, (nr + 1) * bytes);
}

static int add_short(struct sl_only *only, const char *time, struct sl_err *err)
{
	uint64_t ns = 0;
	int r = time ? sl_time_parse(time, &ns, err) : 0;

	if (r < 0)
		return sl_err_add(err, r, "--only short:%s", time);
	if (time && !ns)
		return sl_err_set(err, SL_EUSAGE, "--only short:%s: must be above 0", time);
	only->filter.short_slice = true;
	only->filter.short_ns = ns;
	return 0;
}

/* A process, or a thread that is not the first of its process. */
static int add_pid(struct sl_only *only, long id, struct sl_err *err)
{
	char *status = sl_text_read("/proc/%ld/status", id);
	const char *line = status ? strstr(status, "\nTgid:") : NULL;
	const bool leader = line && strtol(line + strlen("\nTgid:"), NULL, 10) == id;
	int **ids = leader ? &only->tgids : &only->tids, *grown;
	size_t *nr = leader ? &only->filter.nr_tgids : &only->filter.nr_tids;

	free(status);
	if (!line)
		return sl_err_set(err, -ESRCH, "--only pid:%ld: there is no such process or thread", id);
	grown = grow(*ids, *nr, sizeof(*grown));
	if (!grown)
		return no_memory(err);
	grown[(*nr)++] = id;
	*ids = grown;
	only->filter.tgids = only->tgids;
	only->filter.tids = only->tids;
	return 0;
}

static int add_pids(struct sl_only *only, const char *list, struct sl_err *err)
{
	const char *at = list;

	do {
		char *end;
		long id = strtol(at, &end, 10);
		int r;

		if (end == at || id <= 0 || id > INT32_MAX || (*end && *end != ','))
			return sl_err_set(err, SL_EUSAGE, "--only pid:%s: expected numbers like 12,13", list);
		r = add_pid(only, id, err);
		if (r < 0)
			return r;
		at = *end ? end + 1 : end;
	} while (*at || at[-1] == ',');
	return 0;
}

static int add_comm(struct sl_only *only, const char *name, struct sl_err *err)
{
	const size_t len = strlen(name), nr = only->filter.nr_comms;
	const size_t first = *name == '*', last = len > first && name[len - 1] == '*';
	char **grown, *copy;

	if (len == first + last || len - first - last >= SL_COMM_LEN ||
	    memchr(name + first, '*', len - first - last))
		return sl_err_set(err, SL_EUSAGE, "--only comm:%s: expected a name of up to %d bytes, with * at its start, end or both",
				  name, SL_COMM_LEN - 1);
	if (nr == SL_BPF_COMMS_MAX)
		return sl_err_set(err, SL_EUSAGE, "--only comm: up to %d names", SL_BPF_COMMS_MAX);
	grown = grow(only->comms, nr, sizeof(*grown));
	if (grown)
		only->comms = grown;
	copy = strdup(name);
	if (!grown || !copy) {
		free(copy);
		return no_memory(err);
	}
	only->comms[only->filter.nr_comms++] = copy;
	only->filter.comms = (const char *const *)only->comms;
	return 0;
}

static int add_cgroup(struct sl_only *only, const char *path, struct sl_err *err)
{
	const size_t nr = only->filter.nr_cgroups;
	uint64_t *grown, ino;
	int r;

	if (*path != '/')
		return sl_err_set(err, SL_EUSAGE, "--only cgroup:%s: expected a path of the cpu controller like /a/b (/proc/PID/cgroup)",
				  path);
	if (nr == SL_BPF_CGROUPS_MAX)
		return sl_err_set(err, SL_EUSAGE, "--only cgroup: up to %d groups", SL_BPF_CGROUPS_MAX);
	r = sl_cgroup_ino(path, &ino);
	if (r < 0)
		return sl_err_set(err, r, "--only cgroup:%s: %s", path, r == -EOPNOTSUPP ?
				  "no cpu controller is mounted" : strerror(-r));
	grown = grow(only->cgroups, nr, sizeof(*grown));
	if (!grown)
		return no_memory(err);
	only->cgroups = grown;
	only->cgroups[only->filter.nr_cgroups++] = ino;
	only->filter.cgroups = only->cgroups;
	return 0;
}

int sl_only_add(struct sl_only *only, const char *spec, struct sl_err *err)
{
	char *text;
	int r;

	if (!strcmp(spec, "short"))
		r = add_short(only, NULL, err);
	else if (!strncmp(spec, "short:", 6))
		r = add_short(only, spec + 6, err);
	else if (!strncmp(spec, "pid:", 4))
		r = add_pids(only, spec + 4, err);
	else if (!strncmp(spec, "comm:", 5))
		r = add_comm(only, spec + 5, err);
	else if (!strncmp(spec, "cgroup:", 7))
		r = add_cgroup(only, spec + 7, err);
	else
		r = sl_err_set(err, SL_EUSAGE, "--only '%s' is not one of short[:TIME], pid:ID, comm:NAME, cgroup:PATH",
			       spec);
	if (r < 0)
		return r;
	if (asprintf(&text, "%s%s%s", only->text ?: "", only->text ? ";" : "", spec) < 0)
		return no_memory(err);
	free(only->text);
	only->text = text;
	return 0;
}

void sl_only_clear(struct sl_only *only)
{
	for (size_t i = 0; i < only->filter.nr_comms; i++)
		free(only->comms[i]);
	free(only->comms);
	free(only->tgids);
	free(only->tids);
	free(only->cgroups);
	free(only->text);
	*only = (struct sl_only){ 0 };
}
