// SPDX-License-Identifier: LGPL-2.1-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "live/tasks.h"

/* Where the cpu controller is mounted, and which interface it has. */
struct controller {
	char dir[256];
	bool v2;
};

static bool has_word(const char *list, const char *word, char divider)
{
	const size_t len = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += len)
		if ((at == list || at[-1] == divider) && (!at[len] || at[len] == divider))
			return true;
	return false;
}

static bool find_controller(struct controller *ret_controller)
{
	char *info = sl_text_read("/proc/self/mountinfo"), *save = NULL;
	struct controller v1 = { 0 }, v2 = { .v2 = true };

	for (char *line = info ? strtok_r(info, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *type = strstr(line, " - ");
		char place[256], fs[32], options[256];

		if (!type || sscanf(line, "%*d %*d %*s %*s %255s", place) != 1 ||
		    sscanf(type, " - %31s %*s %255s", fs, options) != 2)
			continue;
		if (!strcmp(fs, "cgroup") && has_word(options, "cpu", ','))
			snprintf(v1.dir, sizeof(v1.dir), "%s", place);
		else if (!strcmp(fs, "cgroup2"))
			snprintf(v2.dir, sizeof(v2.dir), "%s", place);
	}
	free(info);
	if (*v1.dir)
		*ret_controller = v1;
	else if (*v2.dir)
		*ret_controller = v2;
	else
		return false;
	return true;
}

/* The value behind "name " in cpu.stat. */
static bool stat_value(const char *text, const char *name, uint64_t *ret_value)
{
	const char *at = text;

	while (at) {
		const size_t len = strlen(name);

		if (!strncmp(at, name, len) && at[len] == ' ') {
			*ret_value = strtoull(at + len + 1, NULL, 10);
			return true;
		}
		at = strchr(at, '\n');
		if (at)
			at++;
	}
	return false;
}

/* 0 or -errno. */
static int read_ino(const struct controller *controller, const char *path, uint64_t *ret_ino)
{
	char *full;
	struct stat st;
	int r;

	if (asprintf(&full, "%s%s", controller->dir, path) < 0)
		return -ENOMEM;
	r = stat(full, &st) < 0 ? -errno : 0;
	free(full);
	if (!r)
		*ret_ino = st.st_ino;
	return r;
}

int sl_cgroup_ino(const char *path, uint64_t *ret_ino)
{
	struct controller controller;

	return find_controller(&controller) ? read_ino(&controller, path, ret_ino) : -EOPNOTSUPP;
}

static void read_word(char *buf, size_t size, const struct controller *controller, const char *path,
		      const char *file)
{
	char *text = sl_text_read("%s%s/%s", controller->dir, path, file);

	snprintf(buf, size, "%.*s", text ? (int)strcspn(text, " \n") : 0, text ? text : "");
	free(text);
}

static void read_group(const struct controller *controller, struct sl_cgroup_info *group)
{
	const char *path = strcmp(group->path, "/") ? group->path : "";
	char *stat = sl_text_read("%s%s/cpu.stat", controller->dir, path);
	uint64_t value;

	group->has_ino = !read_ino(controller, path, &group->ino);
	if (stat && stat_value(stat, "nr_throttled", &group->nr_throttled)) {
		group->has_stat = true;
		if (stat_value(stat, "throttled_usec", &value))
			group->throttled_us = value;
		else if (stat_value(stat, "throttled_time", &value))
			group->throttled_us = value / 1000;	/* v1: ns */
	}
	free(stat);
	group->is_shares = !controller->v2;
	if (!sl_text_read_u64(&group->weight, "%s%s/cpu.%s", controller->dir, path,
			      controller->v2 ? "weight" : "shares"))
		group->weight = 0;
	read_word(group->uclamp_min, sizeof(group->uclamp_min), controller, path, "cpu.uclamp.min");
	read_word(group->uclamp_max, sizeof(group->uclamp_max), controller, path, "cpu.uclamp.max");
	if (controller->v2) {
		char *max = sl_text_read("%s%s/cpu.max", controller->dir, path);
		unsigned long long quota, period;

		/* "max 100000" when there is no limit */
		if (max && sscanf(max, "%llu %llu", &quota, &period) == 2) {
			group->has_quota = true;
			group->quota_us = quota;
			group->period_us = period;
		}
		free(max);
		return;
	}
	/* v1: -1, which is no u64, when there is no limit */
	if (sl_text_read_u64(&group->quota_us, "%s%s/cpu.cfs_quota_us", controller->dir, path) &&
	    sl_text_read_u64(&group->period_us, "%s%s/cpu.cfs_period_us", controller->dir, path))
		group->has_quota = true;
}

static struct sl_cgroup_info *find_group(const struct sl_cgroup_list *list, const char *path)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i].path, path))
			return &list->items[i];
	return NULL;
}

static int add_group(struct sl_cgroup_list *list, const struct controller *controller,
		     const char *path)
{
	struct sl_cgroup_info group = { 0 };

	if (find_group(list, path))
		return 0;
	if (list->nr == list->room) {
		size_t room = list->room ? list->room * 2 : 32;
		struct sl_cgroup_info *grown = realloc(list->items, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		list->items = grown;
		list->room = room;
	}
	group.path = strdup(path);
	if (!group.path)
		return -ENOMEM;
	read_group(controller, &group);
	list->items[list->nr++] = group;
	return 0;
}

/* Undo the \ooo of a task's detail, up to the next blank. Malloced. */
static char *detail_path(const char *from)
{
	char *path = strndup(from, strcspn(from, " ")), *to = path;

	for (const char *at = path; at && *at; to++) {
		unsigned int byte;

		if (*at == '\\' && sscanf(at + 1, "%3o", &byte) == 1) {
			*to = byte;
			at += 4;
		} else {
			*to = *at++;
		}
	}
	if (to)
		*to = 0;
	return path;
}

int sl_cgroups_scan(const struct sl_task_list *tasks, struct sl_cgroup_list *ret_list,
		    struct sl_err *err)
{
	struct sl_cgroup_list list = { 0 };
	struct controller controller;
	char *last = NULL;
	int r = 0;

	if (!find_controller(&controller)) {
		*ret_list = list;
		return 0;
	}
	for (size_t i = 0; i < tasks->nr && !r; i++) {
		const char *at = strstr(tasks->items[i].detail, "cgroup=");
		char *path = at ? detail_path(at + strlen("cgroup=")) : NULL;

		if (!path || *path != '/' || (last && !strcmp(last, path))) {
			free(path);	/* most threads are where their neighbour is */
			continue;
		}
		free(last);
		last = strdup(path);
		/* the group, then its ancestors up to the root */
		for (char *slash; !r; *slash = 0) {
			r = add_group(&list, &controller, *path ? path : "/");
			slash = strrchr(path, '/');
			if (!slash)
				break;
		}
		free(path);
	}
	free(last);
	if (r < 0) {
		sl_cgroups_clear(&list);
		return sl_err_set(err, r, "cannot list the cgroups: out of memory");
	}
	*ret_list = list;
	return 0;
}

static void add_value(struct sl_kv_list *list, const char *path, const char *what, uint64_t value)
{
	char *key;

	if (asprintf(&key, "cgroup.%s.%s", path, what) < 0) {
		list->failed = true;
		return;
	}
	sl_kv_addf(list, key, "%llu", (unsigned long long)value);
	free(key);
}

static void add_word(struct sl_kv_list *list, const char *path, const char *what, const char *value)
{
	char *key;

	if (!*value)
		return;
	if (asprintf(&key, "cgroup.%s.%s", path, what) < 0) {
		list->failed = true;
		return;
	}
	sl_kv_add(list, key, value);
	free(key);
}

static bool is_of_use(const struct sl_cgroup_info *group)
{
	return group && (group->has_quota || group->nr_throttled);
}

static void add_group_meta(struct sl_kv_list *list, const struct sl_cgroup_info *start,
			   const struct sl_cgroup_info *end)
{
	const struct sl_cgroup_info *known = end ? end : start;

	if (known->has_ino)
		add_value(list, known->path, "ino", known->ino);
	if (known->weight)
		add_value(list, known->path, known->is_shares ? "shares" : "weight", known->weight);
	add_word(list, known->path, "uclamp_min", known->uclamp_min);
	add_word(list, known->path, "uclamp_max", known->uclamp_max);
	if (!is_of_use(start) && !is_of_use(end))
		return;
	if (known->has_quota) {
		add_value(list, known->path, "quota_us", known->quota_us);
		add_value(list, known->path, "period_us", known->period_us);
	}
	if (start && start->has_stat) {
		add_value(list, start->path, "nr_throttled.start", start->nr_throttled);
		add_value(list, start->path, "throttled_us.start", start->throttled_us);
	}
	if (end && end->has_stat) {
		add_value(list, end->path, "nr_throttled.end", end->nr_throttled);
		add_value(list, end->path, "throttled_us.end", end->throttled_us);
	}
}

void sl_cgroups_meta(const struct sl_cgroup_list *start, const struct sl_cgroup_list *end,
		     struct sl_kv_list *list)
{
	for (size_t i = 0; i < start->nr; i++)
		add_group_meta(list, &start->items[i], find_group(end, start->items[i].path));
	for (size_t i = 0; i < end->nr; i++)
		if (!find_group(start, end->items[i].path))
			add_group_meta(list, NULL, &end->items[i]);
}

void sl_cgroups_clear(struct sl_cgroup_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].path);
	free(list->items);
	*list = (struct sl_cgroup_list){ 0 };
}
