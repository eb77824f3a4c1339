// SPDX-License-Identifier: LGPL-2.1-only
#include "live/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <tracefs/tracefs.h>
#include <unistd.h>

#include "live/text.h"

/* mountinfo writes space, tab, newline and backslash as \ooo. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
		    from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
			*to = (from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0');
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = 0;
}

/*
 * The mount point of a tracefs, else of a debugfs that has the directory
 * "tracing" (which mounts a tracefs there by itself when it is looked at).
 */
static void find_dir(char *ret_dir, size_t size)
{
	char *info = sl_text_read("/proc/self/mountinfo"), *save = NULL;
	char debugfs[256] = "";

	*ret_dir = 0;
	for (char *line = info ? strtok_r(info, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *type = strstr(line, " - ");
		char place[256], fs[32], root[256];

		if (!type || sscanf(line, "%*d %*d %*s %255s %255s", root, place) != 2 ||
		    sscanf(type, " - %31s", fs) != 1)
			continue;
		unescape(place);
		if (!strcmp(fs, "tracefs") && !strcmp(root, "/")) {
			/* The usual place wins over a second one that debugfs mounted. */
			if (!*ret_dir || !strcmp(place, "/sys/kernel/tracing"))
				snprintf(ret_dir, size, "%s", place);
		} else if (!strcmp(fs, "debugfs") && !strcmp(root, "/") && strlen(place) < 240) {
			snprintf(debugfs, sizeof(debugfs), "%s", place);
		}
	}
	free(info);
	if (!*ret_dir && *debugfs) {
		snprintf(ret_dir, size, "%.240s/tracing", debugfs);
		if (access(ret_dir, F_OK) && errno == ENOENT)
			*ret_dir = 0;
	}
}

static const char *lockdown(void)
{
	char *text = sl_text_read("/sys/kernel/security/lockdown");
	const char *state = "";

	if (text && strstr(text, "[confidentiality]"))
		state = "; kernel lockdown is in confidentiality mode, which hides it";
	else if (text && strstr(text, "[integrity]"))
		state = "; kernel lockdown is in integrity mode";
	free(text);
	return state;
}

static void no_access(struct sl_tracefs *t, const char *what, int code)
{
	char path[300];
	struct stat st;

	t->state = SL_TRACEFS_NO_ACCESS;
	snprintf(path, sizeof(path), "%s", t->dir);
	if (!geteuid()) {
		snprintf(t->why, sizeof(t->why),
			 "tracefs at %s refuses %s (%s) although this is root: a container or security module forbids it%s",
			 t->dir, what, strerror(code), lockdown());
		return;
	}
	if (!stat(path, &st) && st.st_gid && (st.st_mode & 0070) == 0070)
		snprintf(t->why, sizeof(t->why),
			 "no right to use tracefs at %s (%s: %s): run as root, or join the group with gid %u that it is given to",
			 t->dir, what, strerror(code), (unsigned int)st.st_gid);
	else
		snprintf(t->why, sizeof(t->why),
			 "no right to use tracefs at %s (%s: %s): run as root, or let an administrator open it to a group: mount -o remount,mode=770,gid=GROUP %s",
			 t->dir, what, strerror(code), t->dir);
}

static bool dir_is_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = true;

	if (!dir)
		return false;
	while (empty && (entry = readdir(dir)))
		empty = entry->d_name[0] == '.';
	closedir(dir);
	return empty;
}

void sl_tracefs_probe(struct sl_tracefs *ret_tracefs)
{
	struct sl_tracefs t = { .state = SL_TRACEFS_USABLE };
	struct statvfs fs;
	char path[400];
	int fd;

	find_dir(t.dir, sizeof(t.dir));
	if (!*t.dir) {
		t.state = SL_TRACEFS_NOT_MOUNTED;
		snprintf(t.why, sizeof(t.why),
			 "tracefs is not mounted: as root, mount -t tracefs nodev /sys/kernel/tracing");
		goto out;
	}
	if (access(t.dir, R_OK | X_OK)) {
		no_access(&t, "reading the directory", errno);
		goto out;
	}
	snprintf(path, sizeof(path), "%s/events", t.dir);
	if (dir_is_empty(t.dir) || (access(path, F_OK) && errno == ENOENT)) {
		t.state = SL_TRACEFS_EMPTY;
		snprintf(t.why, sizeof(t.why),
			 "tracefs at %s is present but empty: lockdown, debugfs=off, or a kernel without CONFIG_EVENT_TRACING%s",
			 t.dir, lockdown());
		goto out;
	}
	if (!statvfs(t.dir, &fs) && (fs.f_flag & ST_RDONLY)) {
		t.state = SL_TRACEFS_READ_ONLY;
		snprintf(t.why, sizeof(t.why),
			 "tracefs at %s is mounted read-only: as root, mount -o remount,rw %s", t.dir,
			 t.dir);
		goto out;
	}
	snprintf(path, sizeof(path), "%s/instances", t.dir);
	if (access(path, F_OK) && errno == ENOENT) {
		t.state = SL_TRACEFS_NO_INSTANCES;
		snprintf(t.why, sizeof(t.why),
			 "tracefs at %s has no instances directory: this kernel is too old (3.10 or later is needed)",
			 t.dir);
		goto out;
	}
	if (access(path, W_OK | X_OK)) {
		if (errno == EROFS) {
			t.state = SL_TRACEFS_READ_ONLY;
			snprintf(t.why, sizeof(t.why), "tracefs at %s is read-only here", t.dir);
		} else {
			no_access(&t, "making an instance", errno);
		}
		goto out;
	}
	snprintf(path, sizeof(path), "%s/events/header_page", t.dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		no_access(&t, "reading events/header_page", errno);
	else
		close(fd);
out:
	*ret_tracefs = t;
}

int sl_tracefs_use(struct sl_tracefs *ret_tracefs, struct sl_err *err)
{
	sl_tracefs_probe(ret_tracefs);
	switch (ret_tracefs->state) {
	case SL_TRACEFS_USABLE:
		break;
	case SL_TRACEFS_NO_ACCESS:
		return sl_err_set(err, -EACCES, "cannot record: %s", ret_tracefs->why);
	case SL_TRACEFS_READ_ONLY:
		return sl_err_set(err, -EROFS, "cannot record: %s", ret_tracefs->why);
	case SL_TRACEFS_NOT_MOUNTED:
		return sl_err_set(err, -ENOENT, "cannot record: %s", ret_tracefs->why);
	case SL_TRACEFS_EMPTY:
	case SL_TRACEFS_NO_INSTANCES:
	case SL_TRACEFS_NR:
		return sl_err_set(err, -EOPNOTSUPP, "cannot record: %s", ret_tracefs->why);
	}
	/* libtracefs would otherwise mount a tracefs by itself when it finds none. */
	if (tracefs_set_tracing_dir(ret_tracefs->dir))
		return sl_err_set(err, -ENOMEM, "cannot record: libtracefs refuses %s", ret_tracefs->dir);
	return 0;
}

bool sl_tracefs_tells_decisions(void)
{
	static const char *const names[] = { "sched_wakeup_preempt", "sched_pick_fair" };
	struct sl_tracefs t;
	bool all;

	sl_tracefs_probe(&t);
	all = t.state == SL_TRACEFS_USABLE;
	for (size_t i = 0; all && i < sizeof(names) / sizeof(*names); i++) {
		char path[400];

		snprintf(path, sizeof(path), "%s/events/sched/%s", t.dir, names[i]);
		all = !access(path, F_OK);
	}
	return all;
}
