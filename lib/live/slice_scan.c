// SPDX-License-Identifier: LGPL-2.1-only
#include "live/slice_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/text.h"

#define FLAG_KTHREAD 0x00200000	/* PF_KTHREAD of <linux/sched.h>, the same since 2.6.27 */

bool sl_slice_parse_stat(const char *text, struct sl_slice_thread *ret_thread)
{
	struct sl_slice_thread thread = { .uid = UINT32_MAX };
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long flags;
	uint64_t start;
	size_t len;
	char state;

	/* A name may hold anything, also parentheses. */
	if (!open || !close || close < open ||
	    sscanf(close + 1, " %c %" SCNd32 " %*d %*d %*d %*d %lu %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		   " %*s %*s %*s %" SCNu64, &state, &thread.ppid, &flags, &start) != 4)
		return false;
	thread.tid = atoi(text);
	thread.kernel = flags & FLAG_KTHREAD;
	thread.start_ticks = start;
	len = (size_t)(close - open - 1);
	memcpy(thread.comm, open + 1, len < sizeof(thread.comm) ? len : sizeof(thread.comm) - 1);
	*ret_thread = thread;
	return true;
}

int sl_slice_read_thread(int32_t tgid, int32_t tid, struct sl_slice_thread *ret_thread)
{
	struct sl_slice_thread thread;
	struct sl_slice_attr attr;
	struct stat st;
	char path[64];
	char *text;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/task/%" PRId32 "/stat", tgid, tid);
	text = sl_text_read("%s", path);
	ok = text && sl_slice_parse_stat(text, &thread);
	free(text);
	if (!ok || sl_slice_get(tid, &attr))
		return 0;
	thread.tgid = tgid;
	thread.tid = tid;
	thread.attr = attr;
	if (!stat(path, &st))
		thread.uid = st.st_uid;
	*ret_thread = thread;
	return 1;
}

int sl_slice_each_tid(int32_t tgid, int (*fn)(void *arg, int32_t tgid, int32_t tid), void *arg)
{
	struct dirent *entry;
	char path[64];
	int r = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/task", tgid);
	dir = opendir(path);
	if (!dir)
		return 0;	/* it has ended */
	while (!r && (entry = readdir(dir))) {
		int tid = atoi(entry->d_name);

		if (tid > 0)
			r = fn(arg, tgid, tid);
	}
	closedir(dir);
	return r;
}

int sl_slice_list_add(struct sl_slice_list *list, const struct sl_slice_thread *thread)
{
	if (list->nr == list->room) {
		size_t room = list->room ? list->room * 2 : 64;
		struct sl_slice_thread *grown = realloc(list->items, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		list->items = grown;
		list->room = room;
	}
	list->items[list->nr++] = *thread;
	return 0;
}

void sl_slice_list_clear(struct sl_slice_list *list)
{
	free(list->items);
	*list = (struct sl_slice_list){ 0 };
}

static bool listed(int32_t id, const int32_t *ids, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (ids[i] == id)
			return true;
	return false;
}

struct scan {
	const struct sl_slice_select *select;
	struct sl_slice_list list;
};

static int take(void *arg, int32_t tgid, int32_t tid)
{
	struct scan *scan = arg;
	const struct sl_slice_select *select = scan->select;
	const bool named = select->nr_pids || select->nr_tids;
	struct sl_slice_thread thread;

	if (select->nr_tids && !listed(tid, select->tids, select->nr_tids))
		return 0;
	if (!named && tgid == getpid())
		return 0;
	if (!sl_slice_read_thread(tgid, tid, &thread))
		return 0;
	if (thread.kernel && !named && !select->kernel)
		return 0;
	if (select->comm_glob && fnmatch(select->comm_glob, thread.comm, 0))
		return 0;
	return sl_slice_list_add(&scan->list, &thread);
}

/* /proc/TID exists for each thread, although readdir() shows processes only. */
static int32_t process_of(int32_t tid)
{
	char *text = sl_text_read("/proc/%" PRId32 "/status", tid);
	char *at = text ? strstr(text, "\nTgid:") : NULL;
	int32_t tgid = at ? atoi(at + strlen("\nTgid:")) : 0;

	free(text);
	return tgid;
}

static int scan_named(struct scan *scan, bool ended_ok, struct sl_err *err)
{
	const struct sl_slice_select *select = scan->select;
	int r = 0;

	for (unsigned int i = 0; i < select->nr_pids && !r; i++) {
		int32_t pid = select->pids[i], tgid = process_of(pid);

		if (!tgid && !ended_ok)
			return sl_err_set(err, -ESRCH, "there is no process %" PRId32 " (-p)", pid);
		if (tgid && tgid != pid)
			return sl_err_set(err, -ESRCH, "%" PRId32 " is a thread of process %" PRId32
					  ", not a process: name it with -t", pid, tgid);
		if (tgid && !listed(pid, select->pids, i))
			r = sl_slice_each_tid(tgid, take, scan);
	}
	for (unsigned int i = 0; i < select->nr_tids && !r; i++) {
		int32_t tid = select->tids[i], tgid = process_of(tid);

		if (!tgid && !ended_ok)
			return sl_err_set(err, -ESRCH, "there is no thread %" PRId32 " (-t)", tid);
		/* With -p, too, a thread must belong to one of these and was taken above. */
		if (tgid && !select->nr_pids && !listed(tid, select->tids, i))
			r = take(scan, tgid, tid);
	}
	return r < 0 ? sl_err_set(err, r, "cannot list the threads: out of memory") : 0;
}

static int scan_all(struct scan *scan, struct sl_err *err)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return sl_err_set(err, -errno, "cannot list the threads: /proc: %s", strerror(errno));
	while (!r && (entry = readdir(dir))) {
		int tgid = atoi(entry->d_name);

		if (tgid > 0)
			r = sl_slice_each_tid(tgid, take, scan);
	}
	closedir(dir);
	return r < 0 ? sl_err_set(err, r, "cannot list the threads: out of memory") : 0;
}

static int by_ids(const void *a, const void *b)
{
	const struct sl_slice_thread *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

int sl_slice_scan(const struct sl_slice_select *select, bool ended_ok,
		  struct sl_slice_list *ret_list, struct sl_err *err)
{
	struct scan scan = { .select = select };
	int r = select->nr_pids || select->nr_tids ? scan_named(&scan, ended_ok, err) :
						     scan_all(&scan, err);

	if (r < 0) {
		sl_slice_list_clear(&scan.list);
		return r;
	}
	if (scan.list.nr)
		qsort(scan.list.items, scan.list.nr, sizeof(*scan.list.items), by_ids);
	*ret_list = scan.list;
	return 0;
}

static int by_slice(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void sl_slice_base_of(const struct sl_slice_list *list, struct sl_slice_base *base)
{
	uint64_t *all = malloc((list->nr + 1) * sizeof(*all));
	size_t nr = 0, best = 0, run = 0;
	uint64_t best_ns = 0;

	for (size_t i = 0; all && i < list->nr; i++)
		if (list->items[i].attr.slice_ns)
			all[nr++] = list->items[i].attr.slice_ns;
	if (nr)
		qsort(all, nr, sizeof(*all), by_slice);
	for (size_t i = 0; i < nr; i++) {
		run = i && all[i] == all[i - 1] ? run + 1 : 1;
		if (run > best) {
			best = run;
			best_ns = all[i];
		}
	}
	free(all);
	if (best && best * 2 >= nr)
		*base = (struct sl_slice_base){ best_ns, SL_SLICE_FROM_MOST };
}
