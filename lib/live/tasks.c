// SPDX-License-Identifier: LGPL-2.1-only
#include "live/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/attr.h"

static void put_affinity(FILE *out, int tid)
{
	const size_t bytes = CPU_ALLOC_SIZE(SL_CPU_MAX);
	cpu_set_t *mask = CPU_ALLOC(SL_CPU_MAX);
	uint8_t set[SL_CPU_MAX] = { 0 };
	char *text;

	if (!mask)
		return;
	CPU_ZERO_S(bytes, mask);
	if (!sched_getaffinity(tid, bytes, mask)) {
		for (unsigned int cpu = 0; cpu < SL_CPU_MAX; cpu++)
			set[cpu] = CPU_ISSET_S(cpu, bytes, mask) != 0;
		text = sl_cpulist_format(set);
		if (text && *text)
			fprintf(out, " cpus=%s", text);
		free(text);
	}
	CPU_FREE(mask);
}

/*
 * The cpu controller's path in the text of /proc/PID/cgroup: the v1 line that
 * names it ("4:cpu,cpuacct:/a"), else the v2 line ("0::/a"). Malloced.
 */
static char *cpu_cgroup(char *text)
{
	char *path = NULL, *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *names = strchr(line, ':'), *where, *controller, *save2 = NULL;

		if (!names || !(where = strchr(++names, ':')))
			continue;
		*where++ = 0;
		if (!*names) {
			if (!path)
				path = where;
			continue;
		}
		for (controller = strtok_r(names, ",", &save2); controller;
		     controller = strtok_r(NULL, ",", &save2))
			if (!strcmp(controller, "cpu"))
				return strdup(where);
	}
	return path ? strdup(path) : NULL;
}

/* detail holds pairs divided by blanks: those of a path are written as \040. */
static void put_path(FILE *out, const char *path)
{
	for (; *path; path++) {
		if ((unsigned char)*path <= ' ' || *path == '\\')
			fprintf(out, "\\%03o", (unsigned char)*path);
		else
			fputc(*path, out);
	}
}

/* 1: filled, 0: the thread is gone. */
static int read_task(int tgid, int tid, struct sl_task_info *ret_task)
{
	struct sl_task_info task = { .pid = tid, .tgid = tgid };
	struct attr_v0 attr = { 0 };
	char *comm = sl_text_read("/proc/%d/task/%d/comm", tgid, tid);
	char *groups, *cgroup;
	size_t len;
	FILE *out;

	if (!comm || syscall(SYS_sched_getattr, tid, &attr, sizeof(attr), 0) < 0) {
		free(comm);
		return 0;
	}
	memcpy(task.comm, comm, strnlen(comm, sizeof(task.comm) - 1));
	free(comm);
	task.policy = attr.policy;
	task.nice = attr.nice;
	out = open_memstream(&task.detail, &len);
	if (!out)
		return -ENOMEM;
	/* get_params(), core.c 6.12: a fair task reports its slice here; 0 before. */
	if (sl_policy_is_fair(attr.policy) && attr.runtime_ns)
		fprintf(out, " slice_ns=%llu", (unsigned long long)attr.runtime_ns);
	put_affinity(out, tid);
	if (tgid == getpid())
		fputs(" own=1", out);
	groups = sl_text_read("/proc/%d/task/%d/cgroup", tgid, tid);
	cgroup = groups ? cpu_cgroup(groups) : NULL;
	if (cgroup) {
		fputs(" cgroup=", out);
		put_path(out, cgroup);
	}
	free(cgroup);
	free(groups);
	if (fclose(out)) {
		free(task.detail);
		return -ENOMEM;
	}
	if (*task.detail == ' ')
		memmove(task.detail, task.detail + 1, strlen(task.detail));
	*ret_task = task;
	return 1;
}

static int scan_process(int tgid, struct sl_task_list *list)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", tgid);
	dir = opendir(path);
	if (!dir)
		return 0;	/* ended meanwhile */
	while (r >= 0 && (entry = readdir(dir))) {
		int tid = atoi(entry->d_name);

		if (tid <= 0)
			continue;
		if (list->nr == list->room) {
			size_t room = list->room ? list->room * 2 : 512;
			struct sl_task_info *grown = realloc(list->items, room * sizeof(*grown));

			if (!grown) {
				r = -ENOMEM;
				break;
			}
			list->items = grown;
			list->room = room;
		}
		r = read_task(tgid, tid, &list->items[list->nr]);
		if (r > 0)
			list->nr++;
	}
	closedir(dir);
	return r < 0 ? r : 0;
}

int sl_tasks_scan(struct sl_task_list *ret_list, struct sl_err *err)
{
	struct sl_task_list list = { 0 };
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return sl_err_set(err, -errno, "cannot list the tasks: /proc: %s", strerror(errno));
	while (!r && (entry = readdir(dir))) {
		int tgid = atoi(entry->d_name);

		if (tgid > 0)
			r = scan_process(tgid, &list);
	}
	closedir(dir);
	if (r < 0) {
		sl_tasks_clear(&list);
		return sl_err_set(err, r, "cannot list the tasks: %s", strerror(-r));
	}
	*ret_list = list;
	return 0;
}

void sl_tasks_clear(struct sl_task_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].detail);
	free(list->items);
	*list = (struct sl_task_list){ 0 };
}
