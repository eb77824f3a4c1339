// SPDX-License-Identifier: GPL-2.0-only
/*
 * The BPF program on the running kernel: it loads, what it records agrees with itself,
 * the pick recomputed from the snapshots is the task that ran, filters leave out what they
 * should, and nothing of it stays behind. Needs root and BTF; skipped with the reason.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "live/bpf/consume.h"
#include "schedlat/err.h"

#define CPUS 1024
#define IDS 256

static int nr_tests, nr_bad;

__attribute__((format(printf, 2, 3)))
static bool ok(bool good, const char *fmt, ...)
{
	va_list args;

	printf("%s %d - ", good ? "ok" : "not ok", ++nr_tests);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	nr_bad += !good;
	return good;
}

static void sleep_ms(int ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&ts, NULL);
}

/* A load on one CPU: two tasks that wake each other, and one that only computes. */
static pid_t workers[3];

static void worker(int in, int out, int cpu, const char *name)
{
	cpu_set_t set;
	char byte = 0;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, 5);
	alarm(600);
	if (in < 0)
		for (;;)
			__asm__ volatile("");
	for (;;)
		if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
			_exit(1);
}

static void start_load(int cpu)
{
	int to[2], back[2];

	if (pipe(to) || pipe(back))
		exit(1);
	fflush(stdout);
	for (int i = 0; i < 3; i++) {
		workers[i] = fork();
		if (workers[i])
			continue;
		if (i == 2)
			worker(-1, -1, cpu, "slt-spin");
		worker(i ? to[0] : back[0], i ? back[1] : to[1], cpu, i ? "slt-pong" : "slt-ping");
	}
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(back[i]);
	}
}

static void stop_load(void)
{
	for (int i = 0; i < 3; i++) {
		kill(workers[i], SIGKILL);
		waitpid(workers[i], NULL, 0);
	}
}

/* The kernel's rules in its order, and what is none of them. */
enum verdict { V_ALONE, V_BEST, V_PROTECTED, V_BUDDY, V_RULES, V_INELIGIBLE = V_RULES, V_LATER, V_NR };

static const char *const verdict_names[V_NR] = {
	[V_ALONE] = "alone in its queues", [V_BEST] = "the earliest eligible deadline",
	[V_PROTECTED] = "its group ran before and is protected",
	[V_BUDDY] = "the next buddy, and eligible",
	[V_INELIGIBLE] = "ineligible", [V_LATER] = "another had an earlier deadline",
};

/* The pick takes the buddy away: whether a queue had one is known from its last snapshot. */
#define QUEUES 4096
static struct queue_seen {
	int group;
	unsigned int cpu;
	bool buddy;
} queues[QUEUES];

static struct queue_seen *find_queue(const struct sl_bpf_part *q)
{
	unsigned int at = ((unsigned int)q->queue.group * 31 + q->qcpu) % QUEUES, tries = QUEUES;

	while (queues[at].group && --tries &&
	       (queues[at].group != q->queue.group || queues[at].cpu != q->qcpu))
		at = (at + 1) % QUEUES;
	queues[at].group = q->queue.group;
	queues[at].cpu = q->qcpu;
	return &queues[at];
}

static struct seen {
	uint64_t records, kinds[SL_BPF_NR], parts;
	uint64_t last_ts[CPUS], backwards, outside, unsorted_parts;
	uint64_t fair, next_right, next_wrong, no_queue;
	uint64_t picks[V_NR];
	uint64_t wakees, wakee_right, bests, best_right, dropped_marks;
	uint64_t load_wakeups, other_wakeups;
	uint64_t from, to;
	/* with a threshold */
	uint64_t series, series_right, gaps, short_histories, histories;
	struct { int pid; uint64_t since; } open[CPUS];	/* one per CPU at most */
} seen;

/* As the kernel computes it: products in 64 bits, which wrap. */
static bool eligible(const struct sl_bpf_part *q, const struct sl_bpf_part *curr,
		     uint64_t vruntime)
{
	int64_t avg = q->queue.sum_w_vruntime, load = q->queue.sum_weight;
	uint64_t zero = q->queue.zero_vruntime;

	if (curr->flags & SL_ENTITY_ON_RQ) {
		avg += (curr->entity.vruntime - zero) * (uint64_t)curr->entity.weight;
		load += curr->entity.weight;
	}
	return avg >= (int64_t)((vruntime - zero) * (uint64_t)load);
}

struct level {
	const struct sl_bpf_part *queue, *next, *best;
	bool shared;		/* its entity ran before the switch, too */
};

static enum verdict judge_level(const struct level *level)
{
	if (level->queue->queue.nr_queued <= 1)
		return V_ALONE;
	if (!eligible(level->queue, level->next, level->next->entity.vruntime))
		return V_INELIGIBLE;
	if (!level->best)
		return V_BEST;
	if (level->shared && level->next->flags & SL_ENTITY_VPROT &&
	    (int64_t)(level->next->entity.lag_or_vprot - level->next->entity.vruntime) > 0)
		return V_PROTECTED;
	if (level->next->flags & SL_ENTITY_BUDDY || find_queue(level->queue)->buddy)
		return V_BUDDY;
	return V_LATER;
}

/* What the parts of a switch say about its pick: the last rule of all its levels. */
static enum verdict judge(const struct sl_bpf_part *part, unsigned int nr)
{
	enum verdict verdict = V_ALONE, now;
	struct level level = {0};
	bool prev_met = false;
	int prev_group = 0, below = 0;

	if (nr && part[nr - 1].role == SL_ROLE_PREV && !(part[nr - 1].flags & SL_ENTITY_ON_RQ))
		prev_group = part[nr - 1].entity.group;
	for (unsigned int i = 0; i <= nr; i++, part++) {
		if (i < nr && part->role == SL_ROLE_NEXT)
			level.next = part;
		else if (i < nr && part->role == SL_ROLE_BEST)
			level.best = part;
		else if (i < nr && part->role == SL_ROLE_PREV && level.next)
			prev_met = true;
		if (i < nr && part->role != SL_BPF_PART_QUEUE)
			continue;
		if (level.queue && level.next) {
			now = judge_level(&level);
			if (now > verdict)
				verdict = now;
			below = level.queue->queue.group;
		}
		level = (struct level){.queue = part,
				       .shared = prev_met || (below && below == prev_group)};
	}
	return verdict;
}

static void see_switch(const struct sl_bpf_header *h)
{
	const struct sl_bpf_switch *sw = sl_bpf_payload(h);
	const struct sl_bpf_part *parts = sl_bpf_parts(h), *next = NULL;

	for (unsigned int i = 0; i < h->nr_parts && !next; i++)
		if (parts[i].role == SL_ROLE_NEXT)
			next = &parts[i];
	if (sw->next_prio < 100 || !sw->next_pid || (next && next->flags & SL_ENTITY_EXT))
		return;
	seen.fair++;
	if (!next || next->level || next->entity.pid != sw->next_pid) {
		seen.next_wrong++;
		return;
	}
	seen.next_right++;
	if (next == parts || next[-1].role != SL_BPF_PART_QUEUE) {
		seen.no_queue++;
		return;
	}
	seen.picks[judge(parts, h->nr_parts)]++;
}

/* BEST stands behind the queue, the woken and the running entity it is compared with. */
static void see_best(const struct sl_bpf_part *parts, unsigned int nr)
{
	for (unsigned int i = 3; i < nr; i++) {
		if (parts[i].role != SL_ROLE_BEST)
			continue;
		seen.bests++;
		seen.best_right += parts[i - 3].role == SL_BPF_PART_QUEUE &&
				   parts[i - 2].role == SL_ROLE_WAKEE &&
				   parts[i - 1].role == SL_ROLE_CURR &&
				   eligible(&parts[i - 3], &parts[i - 1], parts[i].entity.vruntime) &&
				   (int64_t)(parts[i].entity.deadline -
					     parts[i - 2].entity.deadline) < 0;
	}
}

static void see_wakeup(const struct sl_bpf_header *h)
{
	const struct sl_bpf_wake *wake = sl_bpf_payload(h);
	const struct sl_bpf_part *parts = sl_bpf_parts(h);

	see_best(parts, h->nr_parts);

	if (wake->pid == workers[0] || wake->pid == workers[1])
		seen.load_wakeups++;
	else
		seen.other_wakeups++;
	for (unsigned int i = 0; i < h->nr_parts; i++) {
		if (parts[i].role != SL_ROLE_WAKEE || parts[i].level)
			continue;
		seen.wakees++;
		seen.wakee_right += parts[i].entity.pid == wake->pid &&
				    parts[i].flags & (SL_ENTITY_ON_RQ | SL_ENTITY_EXT);
	}
}

/* A long wait: begins with its waking or wakeup, ends with its switch. */
static int see_series(void *arg, const struct sl_bpf_header *h, size_t len)
{
	const struct sl_bpf_switch *sw = sl_bpf_payload(h);
	const struct sl_bpf_wake *wake = sl_bpf_payload(h);
	const uint64_t *threshold_ns = arg;
	unsigned int at;

	(void)len;
	if (h->flags & SL_BPF_WAIT_BEGIN) {
		for (at = 0; at < CPUS - 1 && seen.open[at].pid; at++)
			;
		seen.open[at].pid = wake->pid;
		seen.open[at].since = h->ts;
	} else if (h->kind != SL_BPF_WAKING && h->kind != SL_BPF_WAKEUP && h->kind != SL_BPF_WAKEUP_NEW) {
		seen.histories++;
	}
	seen.gaps += !!(h->flags & SL_BPF_GAP);
	seen.short_histories += !!(h->flags & SL_BPF_SHORT_HISTORY);
	if (h->flags & SL_BPF_WAIT_END) {
		seen.series++;
		for (at = 0; at < CPUS - 1 && seen.open[at].pid != sw->next_pid; at++)
			;
		seen.series_right += h->kind == SL_BPF_SWITCH && seen.open[at].pid == sw->next_pid &&
				     h->ts - seen.open[at].since >= *threshold_ns;
		seen.open[at].pid = 0;
	}
	return 0;
}

static int see(void *arg, const struct sl_bpf_header *h, size_t len)
{
	if (arg)
		return see_series(arg, h, len);

	seen.records++;
	seen.kinds[h->kind]++;
	seen.parts += h->nr_parts;
	seen.dropped_marks += h->dropped;
	if (h->cpu < CPUS) {
		seen.backwards += h->ts < seen.last_ts[h->cpu];
		seen.last_ts[h->cpu] = h->ts;
	}
	seen.outside += h->ts < seen.from;
	if (seen.to && h->ts >= seen.to)
		seen.outside++;
	if (h->kind == SL_BPF_SWITCH)
		see_switch(h);
	else if (h->kind == SL_BPF_WAKEUP)
		see_wakeup(h);
	for (unsigned int i = 0; i < h->nr_parts; i++)
		if (sl_bpf_parts(h)[i].role == SL_BPF_PART_QUEUE)
			find_queue(&sl_bpf_parts(h)[i])->buddy = sl_bpf_parts(h)[i].queue.buddy != 0;
	return 0;
}

/* Ids of the programs and maps that this process holds. */
static int own_ids(const char *key, uint32_t ids[IDS])
{
	DIR *dir = opendir("/proc/self/fdinfo");
	struct dirent *entry;
	char path[300], line[200];
	int nr = 0;

	while (dir && (entry = readdir(dir))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", entry->d_name);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file))
			if (!strncmp(line, key, strlen(key)) && nr < IDS)
				ids[nr++] = strtoul(line + strlen(key), NULL, 10);
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
	return nr;
}

/* They are freed some time after the last descriptor is closed. */
static int left_over(const uint32_t *ids, int nr, int (*open_id)(uint32_t))
{
	int left = nr;

	for (int tries = 0; left && tries < 100; tries++) {
		left = 0;
		for (int i = 0; i < nr; i++) {
			int fd = open_id(ids[i]);

			if (fd >= 0) {
				close(fd);
				left++;
			}
		}
		if (left)
			sleep_ms(100);
	}
	return left;
}

static uint64_t all_dropped(const struct sl_bpf *bpf)
{
	uint64_t dropped = 0;

	for (unsigned int i = 0; i < sl_bpf_caps(bpf)->nr_cpus; i++)
		dropped += sl_bpf_dropped(bpf, i);
	return dropped;
}

static bool never(void)
{
	return false;
}

static bool load_was_woken(void)
{
	return seen.load_wakeups > 0;
}

static bool waits_were_sent(void)
{
	return seen.series > 10;
}

/*
 * Record into seen, for some time and, up to half a minute, until what is waited for was
 * seen. false: it did not open, said why.
 */
static bool record(const struct sl_bpf_params *params, int ms, bool (*enough)(void),
		   struct sl_bpf **ret_bpf)
{
	void *arg = params->threshold_ns ? (void *)&params->threshold_ns : NULL;
	struct sl_err err = {{0}};
	struct sl_bpf *bpf;
	int ret = sl_bpf_open(params, &bpf, &err);

	if (!ok(!ret, "the program is loaded")) {
		printf("# %s\n", err.msg);
		return false;
	}
	memset(&seen, 0, sizeof(seen));
	sl_bpf_start(bpf, &err);
	seen.from = sl_bpf_start_ns(bpf);
	for (int i = 0; i < ms / 50 || (enough != never && !enough() && i < 600); i++) {
		sleep_ms(50);
		sl_bpf_consume(bpf, see, arg, 0);
	}
	sl_bpf_stop(bpf);
	seen.to = sl_bpf_stop_ns(bpf);
	sl_bpf_consume(bpf, see, arg, 0);
	*ret_bpf = bpf;
	return true;
}

static void check_evidence(const struct sl_bpf *bpf)
{
	const struct sl_bpf_caps *caps = sl_bpf_caps(bpf);
	uint64_t judged = 0, right = 0;

	printf("# EEVDF %d, queues %d, flat %d: %s\n", caps->has_eevdf, caps->has_queue,
	       caps->has_flat, caps->fields);
	if (!caps->has_eevdf) {
		ok(!seen.parts, "no snapshots where the fair class is not EEVDF");
		return;
	}
	ok(!seen.next_wrong && seen.next_right, "NEXT of level 0 is the next task in all of "
	   "%" PRIu64 " switches to a fair one", seen.fair);
	ok(seen.wakees && seen.wakee_right == seen.wakees, "WAKEE is the woken task, queued");
	ok(seen.best_right == seen.bests, "BEST is eligible and before WAKEE, %" PRIu64 " times",
	   seen.bests);
	if (!caps->has_queue)
		return;
	for (int i = 0; i < V_NR; i++) {
		judged += seen.picks[i];
		if (i < V_RULES)
			right += seen.picks[i];
		if (seen.picks[i])
			printf("# pick: %8" PRIu64 " %s\n", seen.picks[i], verdict_names[i]);
	}
	ok(judged && right * 100 >= judged * 99, "the recomputed pick is the next task in %.3f %% "
	   "of %" PRIu64 " switches", judged ? 100.0 * right / judged : 0, judged);
}

static void check_plain(void)
{
	struct sl_bpf_params params = {.own_tgid = getpid(), .ring_bytes = 32 << 20, .irq = true,
				       .idle = true, .verbose = true};
	uint32_t progs[IDS], maps[IDS];
	int nr_progs, nr_maps;
	struct sl_bpf *bpf;

	if (!record(&params, 1000, load_was_woken, &bpf))
		return;
	nr_progs = own_ids("prog_id:", progs);
	nr_maps = own_ids("map_id:", maps);
	for (size_t i = 0; i < sl_bpf_nr_probes(bpf); i++)
		if (sl_bpf_probe(bpf, i)->state != SL_BPF_PROBE_ON)
			printf("# %s: %s\n", sl_bpf_probe(bpf, i)->name, sl_bpf_probe(bpf, i)->reason);
	printf("# %" PRIu64 " records, %" PRIu64 " parts, %" PRIu64 " late\n", seen.records,
	       seen.parts, sl_bpf_late(bpf));
	ok(seen.kinds[SL_BPF_SWITCH] && seen.kinds[SL_BPF_WAKING] && seen.kinds[SL_BPF_WAKEUP],
	   "switches, requests to wake and wakeups are recorded");
	ok(!seen.backwards, "the records of each CPU ascend in time");
	ok(!seen.outside, "no record lies outside of start and stop");
	ok(!all_dropped(bpf) && !seen.dropped_marks, "nothing is lost");
	ok(!sl_bpf_damaged(bpf), "every record parses");
	check_evidence(bpf);
	sl_bpf_close(bpf);
	ok(nr_progs && !left_over(progs, nr_progs, bpf_prog_get_fd_by_id),
	   "%d programs are gone after closing", nr_progs);
	ok(nr_maps && !left_over(maps, nr_maps, bpf_map_get_fd_by_id),
	   "%d maps are gone after closing", nr_maps);
}

/* Too small a ring: what is lost is counted, and said where it was lost. */
static void check_loss(void)
{
	struct sl_bpf_params params = {.own_tgid = getpid(), .ring_bytes = 1};
	struct sl_err err = {{0}};
	struct sl_bpf *bpf;
	uint64_t marks;

	if (!ok(!sl_bpf_open(&params, &bpf, &err), "the program is loaded with a small ring")) {
		printf("# %s\n", err.msg);
		return;
	}
	memset(&seen, 0, sizeof(seen));
	ok(sl_bpf_caps(bpf)->ring_bytes == (uint64_t)sysconf(_SC_PAGESIZE), "the ring is a page");
	sl_bpf_start(bpf, &err);
	for (int i = 0; i < 100 && !all_dropped(bpf); i++)
		sleep_ms(20);
	sl_bpf_consume(bpf, see, NULL, 0);
	ok(all_dropped(bpf) > 0, "records are lost, and counted");
	for (int i = 0; i < 100 && !seen.dropped_marks; i++) {
		sleep_ms(20);
		sl_bpf_consume(bpf, see, NULL, 0);
	}
	sl_bpf_stop(bpf);
	sl_bpf_consume(bpf, see, NULL, 0);
	marks = seen.dropped_marks;
	ok(marks && marks <= all_dropped(bpf), "records behind a gap say so: %" PRIu64 " of %" PRIu64,
	   marks, all_dropped(bpf));
	sl_bpf_close(bpf);
}

static void check_filter(const char *what, const struct sl_bpf_only *only, bool load, bool others)
{
	struct sl_bpf_params params = {.own_tgid = getpid(), .ring_bytes = 1 << 20, .only = *only};
	struct sl_bpf *bpf;

	if (!record(&params, 200, load ? load_was_woken : never, &bpf))
		return;
	ok(!!seen.load_wakeups == load && (others || !seen.other_wakeups) &&
	   seen.kinds[SL_BPF_SWITCH], "only %s: %" PRIu64 " wakeups of the load, %" PRIu64 " others",
	   what, seen.load_wakeups, seen.other_wakeups);
	sl_bpf_close(bpf);
}

static void check_filters(bool has_slices)
{
	static const char *const exact[] = {"slt-ping", "slt-pong"}, *const ends[] = {"*-ping", "slt-po*"},
		*const inside[] = {"*lt-p*"}, *const other[] = {"lt-ping", "slt-pin", "slt-ping?", "lt-po*"};

	check_filter("names", &(struct sl_bpf_only){.comms = exact, .nr_comms = 2}, true, false);
	check_filter("ends of names", &(struct sl_bpf_only){.comms = ends, .nr_comms = 2}, true, false);
	check_filter("parts of names", &(struct sl_bpf_only){.comms = inside, .nr_comms = 1}, true, false);
	check_filter("other names", &(struct sl_bpf_only){.comms = other, .nr_comms = 4}, false, false);
	check_filter("processes", &(struct sl_bpf_only){.tgids = workers, .nr_tgids = 2}, true, false);
	check_filter("threads", &(struct sl_bpf_only){.tids = workers, .nr_tids = 1}, true, false);
	check_filter("another cgroup", &(struct sl_bpf_only){.cgroups = &(uint64_t){1ull << 40},
		     .nr_cgroups = 1}, false, false);
	/* Without EEVDF no task has a slice. */
	check_filter("any slice", &(struct sl_bpf_only){.short_slice = true, .short_ns = 1000000000},
		     has_slices, has_slices);
	check_filter("slices of a nanosecond", &(struct sl_bpf_only){.short_slice = true, .short_ns = 1},
		     false, false);
}

/*
 * Long waits are sent, and all are counted. The threshold is the edge of a bucket, so that
 * the counts must agree.
 */
static void check_threshold(void)
{
	struct sl_bpf_params params = {.own_tgid = getpid(), .ring_bytes = 32 << 20, .irq = true,
				       .threshold_ns = 1 << 20, .verbose = true};
	uint64_t count = 0, above = 0, sum = 0, from, to;
	const struct sl_bpf_hist *hists;
	struct sl_bpf *bpf;
	unsigned int bucket;
	size_t nr;

	if (!record(&params, 500, waits_were_sent, &bpf))
		return;
	hists = sl_bpf_hists(bpf, &nr);
	for (size_t i = 0; i < nr; i++) {
		count += hists[i].count;
		for (bucket = 0; bucket < SL_BPF_HIST_BUCKETS; bucket++) {
			sl_bpf_hist_range(bucket, &from, &to);
			sum += hists[i].buckets[bucket];
			if (from >= params.threshold_ns)
				above += hists[i].buckets[bucket];
		}
	}
	printf("# %" PRIu64 " waits, %" PRIu64 " sent with %" PRIu64 " records, %" PRIu64 " gaps, %"
	       PRIu64 " histories too short\n", count, seen.series, seen.histories, seen.gaps,
	       seen.short_histories);
	ok(seen.series && seen.series_right == seen.series, "each of %" PRIu64 " series is that of "
	   "one long wait", seen.series);
	/* A task's storage can be busy when an interrupt wakes it (bpf_task_storage_trylock(), 6.18). */
	ok(all_dropped(bpf) * 1000 <= count, "next to nothing is lost with a threshold: %" PRIu64,
	   all_dropped(bpf));
	ok(count && sum == count, "every wait is counted in one bucket");
	ok(above == seen.series, "as many long waits are counted as are sent: %" PRIu64, above);
	sl_bpf_close(bpf);
}

/* A recorder that is killed leaves nothing either. */
static void check_killed(void)
{
	uint32_t ids[IDS] = {0}, nr = 0;
	int to[2];
	pid_t pid;

	if (pipe(to))
		exit(1);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct sl_bpf_params params = {.own_tgid = getpid()};
		struct sl_bpf *bpf;

		if (sl_bpf_open(&params, &bpf, NULL) || sl_bpf_start(bpf, NULL))
			_exit(1);
		nr = own_ids("prog_id:", ids);
		if (write(to[1], &nr, sizeof(nr)) != sizeof(nr) ||
		    write(to[1], ids, sizeof(ids)) != sizeof(ids))
			_exit(1);
		for (;;)
			pause();
	}
	close(to[1]);
	if (read(to[0], &nr, sizeof(nr)) != sizeof(nr) || read(to[0], ids, sizeof(ids)) != sizeof(ids))
		nr = 0;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(to[0]);
	ok(nr && !left_over(ids, nr, bpf_prog_get_fd_by_id), "%u programs are gone after SIGKILL", nr);
}

/* Of a load that runs already: nothing but the picks, of at least so many switches. */
static uint64_t wanted_picks;

static bool enough_picks(void)
{
	uint64_t judged = 0;

	for (int i = 0; i < V_NR; i++)
		judged += seen.picks[i];
	return judged >= wanted_picks;
}

static int picks_of_a_load(uint64_t wanted)
{
	struct sl_bpf_params params = {.own_tgid = getpid(), .ring_bytes = 64 << 20};
	struct sl_bpf *bpf;

	wanted_picks = wanted;
	if (!record(&params, 1000, enough_picks, &bpf))
		return 1;
	ok(enough_picks(), "at least %" PRIu64 " switches to fair tasks were seen", wanted);
	ok(!all_dropped(bpf), "nothing is lost");
	check_evidence(bpf);
	sl_bpf_close(bpf);
	printf("1..%d\n", nr_tests);
	return nr_bad != 0;
}

int main(int argc, char **argv)
{
	struct sl_bpf_params params = {.own_tgid = getpid()};
	struct sl_err err = {{0}};
	struct sl_bpf *bpf = NULL;
	bool has_slices;
	cpu_set_t set;
	int cpu = 0;

	switch (sl_bpf_open(&params, &bpf, &err)) {
	case 0:
		break;
	case SL_ENOBACKEND:
		printf("1..0 # SKIP %s\n", err.msg);
		return 0;
	default:
		printf("Bail out! %s\n", err.msg);
		return 1;
	}
	has_slices = sl_bpf_caps(bpf)->has_eevdf;
	sl_bpf_close(bpf);
	if (argc == 3 && !strcmp(argv[1], "picks"))
		return picks_of_a_load(strtoull(argv[2], NULL, 10));
	sched_getaffinity(0, sizeof(set), &set);
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
		cpu++;
	start_load(cpu);
	check_plain();
	check_loss();
	check_filters(has_slices);
	check_threshold();
	stop_load();
	check_killed();
	printf("1..%d\n", nr_tests);
	return nr_bad != 0;
}
