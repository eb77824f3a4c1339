// SPDX-License-Identifier: LGPL-2.1-only
#include "live/slice_keep.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live/slice_scan.h"
#include "util/time.h"

#define NOTED_MAX 1024		/* threads whose times are kept */
#define COST_SHARE 100		/* at most one part in so many of the time is spent looking */

struct noted {
	int32_t tid;
	char comm[16];
	uint64_t slice_ns, at_ns;
};

struct process {
	int32_t pid, ppid;
	uint64_t start_ticks;
	bool ours;
};

/* Thread ids seen: open addressing, 0 is free. */
struct id_set {
	int32_t *ids;
	size_t nr, room;
};

struct sl_slice_keep {
	uint64_t asked_ns;
	struct sl_slice_base base;
	struct process *family;		/* of the last look; once in it, always in it */
	size_t nr_family;
	struct id_set with, without;	/* threads seen with the slice, and that cannot have it */
	struct noted noted[NOTED_MAX];
	unsigned int nr_noted;
	struct noted root;
	uint64_t again;
	char left_out_comm[16], left_out_why[160];	/* of the first of `without` */
	unsigned int looks;
	uint64_t started_ns, due_ns;	/* CLOCK_MONOTONIC */
};

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SL_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* Add to the set; true: it is new. Without memory it is not added, no more. */
static bool see(struct id_set *set, int32_t tid)
{
	size_t at;

	if (set->nr * 2 >= set->room) {
		struct id_set grown = { .room = set->room ? set->room * 2 : 256 };

		grown.ids = calloc(grown.room, sizeof(*grown.ids));
		if (!grown.ids)
			return false;
		for (size_t i = 0; i < set->room; i++)
			if (set->ids[i])
				see(&grown, set->ids[i]);
		free(set->ids);
		*set = grown;
	}
	for (at = (uint32_t)tid * 2654435761u % set->room; set->ids[at]; at = (at + 1) % set->room)
		if (set->ids[at] == tid)
			return false;
	set->ids[at] = tid;
	set->nr++;
	return true;
}

int sl_slice_keep_new(uint64_t ns, pid_t pid, struct sl_slice_keep **ret_keep, struct sl_err *err)
{
	struct sl_slice_keep *keep = calloc(1, sizeof(*keep));
	struct sl_slice_attr before, after;
	enum sl_slice_outcome outcome;
	char why[200];
	int error;

	if (!keep)
		return sl_err_set(err, -ENOMEM, "cannot set a slice: out of memory");
	keep->asked_ns = ns;
	sl_slice_base(&keep->base);
	keep->family = calloc(1, sizeof(*keep->family));
	outcome = sl_slice_set(pid, ns, keep->base.ns, &before, &after, &error);
	if (!keep->family ||
	    (outcome != SL_SLICE_SET && outcome != SL_SLICE_UNCHANGED && !sl_slice_is_left_out(outcome))) {
		sl_slice_keep_free(keep);
		return sl_err_set(err, outcome == SL_SLICE_NO_KERNEL ? -EOPNOTSUPP : error ? -error : -EINVAL,
				  "cannot set the slice of the command (--slice): %s",
				  sl_slice_reason(why, sizeof(why), outcome, error, UINT32_MAX));
	}
	keep->root = (struct noted){ .tid = pid, .slice_ns = after.slice_ns };
	keep->family[0] = (struct process){ .pid = pid, .ours = true };
	keep->nr_family = 1;
	if (after.slice_ns)
		see(&keep->with, pid);
	*ret_keep = keep;
	return 0;
}

void sl_slice_keep_free(struct sl_slice_keep *keep)
{
	if (!keep)
		return;
	free(keep->family);
	free(keep->with.ids);
	free(keep->without.ids);
	free(keep);
}

void sl_slice_keep_start(struct sl_slice_keep *keep)
{
	keep->started_ns = monotonic_ns();
	keep->due_ns = keep->started_ns + 10 * SL_NSEC_PER_MSEC;
}

int sl_slice_keep_timeout(const struct sl_slice_keep *keep, int timeout)
{
	uint64_t ms;

	if (!keep || !keep->due_ns)
		return timeout;
	ms = (sl_since(keep->due_ns, monotonic_ns()) + SL_NSEC_PER_MSEC - 1) / SL_NSEC_PER_MSEC;
	return timeout < 0 || ms < (uint64_t)timeout ? (int)(ms < 3600000 ? ms : 3600000) : timeout;
}

/* Every process of the system, malloced; those of the last family are marked. */
static int list_processes(const struct sl_slice_keep *keep, struct process **ret_all, size_t *ret_nr)
{
	struct process *all = NULL;
	size_t nr = 0, room = 0;
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		struct sl_slice_thread thread;
		int32_t pid = atoi(entry->d_name);
		char *text;
		bool ok;

		if (pid <= 0)
			continue;
		text = sl_text_read("/proc/%" PRId32 "/stat", pid);
		ok = text && sl_slice_parse_stat(text, &thread) && !thread.kernel;
		free(text);
		if (!ok)
			continue;
		if (nr == room) {
			struct process *grown = realloc(all, (room = room ? room * 2 : 256) * sizeof(*all));

			if (!grown) {
				free(all);
				closedir(dir);
				return -ENOMEM;
			}
			all = grown;
		}
		all[nr] = (struct process){ pid, thread.ppid, thread.start_ticks, false };
		for (size_t i = 0; i < keep->nr_family && !all[nr].ours; i++)
			all[nr].ours = keep->family[i].pid == pid &&
				       (!keep->family[i].start_ticks ||
					keep->family[i].start_ticks == thread.start_ticks);
		nr++;
	}
	closedir(dir);
	*ret_all = all;
	*ret_nr = nr;
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Who belongs to the command now: children of members are members. */
static int find_family(struct sl_slice_keep *keep)
{
	struct process *all = NULL;
	size_t nr = 0, ours = 0;
	bool more = true;
	int r = list_processes(keep, &all, &nr);

	if (r < 0)
		return r;
	if (nr)
		qsort(all, nr, sizeof(*all), by_pid);
	/* As many passes as the tree is deep, if ids were given out in order one or two. */
	while (more) {
		more = false;
		for (size_t i = 0; i < nr; i++) {
			const struct process key = { .pid = all[i].ppid };
			const struct process *parent;

			if (all[i].ours)
				continue;
			parent = bsearch(&key, all, nr, sizeof(key), by_pid);
			if (parent && parent->ours)
				more = all[i].ours = true;
		}
	}
	for (size_t i = 0; i < nr; i++)
		if (all[i].ours)
			all[ours++] = all[i];
	free(keep->family);
	keep->family = all;
	keep->nr_family = ours;
	return 0;
}

struct look {
	struct sl_slice_keep *keep;
	uint64_t now_ns;
};

/* A thread that it is set on again and again has the time of the last. */
static void note_set(struct sl_slice_keep *keep, int32_t tgid, int32_t tid, uint64_t slice_ns,
		     uint64_t now_ns)
{
	struct sl_slice_thread thread;
	unsigned int i = 0;

	keep->again++;
	while (i < keep->nr_noted && keep->noted[i].tid != tid)
		i++;
	if (i == NOTED_MAX)
		return;
	keep->noted[i] = (struct noted){ .tid = tid, .slice_ns = slice_ns, .at_ns = now_ns };
	if (sl_slice_read_thread(tgid, tid, &thread))
		memcpy(keep->noted[i].comm, thread.comm, sizeof(thread.comm));
	if (i == keep->nr_noted)
		keep->nr_noted++;
}

static int look_at(void *arg, int32_t tgid, int32_t tid)
{
	struct look *look = arg;
	struct sl_slice_keep *keep = look->keep;
	const uint64_t want_ns = keep->asked_ns ? sl_slice_clamp(keep->asked_ns) : keep->base.ns;
	struct sl_slice_attr attr, before;
	struct sl_slice_thread thread;
	enum sl_slice_outcome outcome;
	int error;

	if (sl_slice_get(tid, &attr))
		return 0;
	if (attr.slice_ns && attr.slice_ns == want_ns) {
		see(&keep->with, tid);
		return 0;
	}
	outcome = sl_slice_set(tid, keep->asked_ns, keep->base.ns, &before, &attr, &error);
	if (outcome == SL_SLICE_SET) {
		see(&keep->with, tid);
		note_set(keep, tgid, tid, attr.slice_ns, look->now_ns);
	} else if (outcome != SL_SLICE_UNCHANGED && outcome != SL_SLICE_GONE) {
		if (see(&keep->without, tid) && keep->without.nr == 1) {
			if (sl_slice_read_thread(tgid, tid, &thread))
				memcpy(keep->left_out_comm, thread.comm, sizeof(thread.comm));
			sl_slice_reason(keep->left_out_why, sizeof(keep->left_out_why), outcome, error,
					UINT32_MAX);
		}
	}
	return 0;
}

void sl_slice_keep_look(struct sl_slice_keep *keep, uint64_t now_ns)
{
	static const unsigned int at_ms[] = { 50, 200, 500 };
	struct look look = { keep, now_ns };
	uint64_t begin_ns, end_ns, next_ns;

	if (!keep || !keep->due_ns)
		return;
	begin_ns = monotonic_ns();
	if (begin_ns < keep->due_ns)
		return;
	if (!find_family(keep))
		for (size_t i = 0; i < keep->nr_family; i++)
			sl_slice_each_tid(keep->family[i].pid, look_at, &look);
	end_ns = monotonic_ns();
	if (keep->looks < sizeof(at_ms) / sizeof(*at_ms))
		next_ns = keep->started_ns + at_ms[keep->looks] * SL_NSEC_PER_MSEC;
	else
		next_ns = begin_ns + 500 * SL_NSEC_PER_MSEC;
	keep->looks++;
	end_ns += sl_since(end_ns, begin_ns) * COST_SHARE;
	keep->due_ns = next_ns > end_ns ? next_ns : end_ns;
}

void sl_slice_keep_meta(const struct sl_slice_keep *keep, uint64_t start_ns, struct sl_kv_list *list)
{
	char key[32];

	sl_kv_addf(list, "slice.asked_ns", "%" PRIu64, keep->asked_ns);
	if (keep->root.slice_ns) {
		sl_kv_addf(list, "slice.ns", "%" PRIu64, keep->root.slice_ns);
		snprintf(key, sizeof(key), "slice.%" PRId32, keep->root.tid);
		sl_kv_addf(list, key, "%" PRIu64 "@%" PRIu64, keep->root.slice_ns, start_ns);
	}
	sl_kv_addf(list, "slice.threads", "%zu", keep->with.nr);
	sl_kv_addf(list, "slice.again", "%" PRIu64, keep->again);
	for (unsigned int i = 0; i < keep->nr_noted; i++) {
		const struct noted *noted = &keep->noted[i];

		snprintf(key, sizeof(key), "slice.%" PRId32, noted->tid);
		sl_kv_addf(list, key, "%" PRIu64 "@%" PRIu64, noted->slice_ns, noted->at_ns);
	}
}

char *sl_slice_keep_note(const struct sl_slice_keep *keep, uint64_t start_ns, char *buf, size_t size)
{
	const struct noted *first = keep->noted;
	char slice[32], asked[64] = "", again[160] = "", left[240] = "", after[32];

	sl_time_fmt_human(slice, sizeof(slice), keep->root.slice_ns);
	if (keep->asked_ns != sl_slice_clamp(keep->asked_ns))
		snprintf(asked, sizeof(asked), " (the kernel keeps it between 0.1 and 100 ms)");
	if (keep->nr_noted)
		snprintf(again, sizeof(again), ", set again %" PRIu64 " time%s, for example on %s[%" PRId32 "] %s after the start",
			 keep->again, keep->again == 1 ? "" : "s", first->comm, first->tid,
			 sl_time_fmt_human(after, sizeof(after), sl_since(first->at_ns, start_ns)));
	if (keep->without.nr)
		snprintf(left, sizeof(left), "; not on %zu, first %s: %s", keep->without.nr,
			 keep->left_out_comm, keep->left_out_why);
	if (keep->root.slice_ns)
		snprintf(buf, size, "slice %s%s: set before the command started%s%s", slice, asked, again,
			 left);
	else
		snprintf(buf, size, "slice: the command started without one, for it is no ordinary thread%s%s",
			 again, left);
	return buf;
}
