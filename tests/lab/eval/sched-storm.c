// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does every task keep running, whatever is changed beneath it? For the lab's guests: it takes CPUs
 * offline and makes groups.
 *
 *	sched-storm [-s SECONDS] [-l LIMIT] [-r SEED]
 *
 * Processes that spin, sleep, yield, or wake each other count what they do. Meanwhile each of them
 * gets, at random, other CPUs, another slice, another nice value, another group (two of them with
 * a quota, one of these within another), and CPUs come and go. A watchdog, realtime so that it is
 * not held up by what it watches, looks once a second: a task that has counted nothing for LIMIT
 * seconds is stuck, is named at once, and makes the exit status 1. The first line has the processes;
 * at the end there is one for each with its count and its longest time without one, as far as
 * looking once a second tells, and one with how often each change was made.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TASKS 24
#define GROUPS "/sys/fs/cgroup"
#define US 1000ull

/* linux/sched/types.h, which clashes with the C library's sched.h */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

enum { SPINS, SLEEPS, YIELDS, WAKES, KINDS };
static const char *const kind_name[] = { "spins", "sleeps", "yields", "wakes" };

enum { AFFINITY, SLICE, NICE, GROUP, HOTPLUG, CHANGES };
static const char *const change_name[] = { "affinity", "slice", "nice", "group", "hotplug" };

static const char *const groups[] = {
	GROUPS, GROUPS "/storm-free", GROUPS "/storm-quota", GROUPS "/storm-outer/below",
};
#define OUTER GROUPS "/storm-outer"
#define NR_GROUPS (sizeof(groups) / sizeof(*groups))

static struct task {
	pid_t pid;
	uint64_t seen;			/* the count when it last moved */
	uint64_t since_ns, longest_ns;
	bool stuck;
} tasks[TASKS];

static uint64_t *counts;		/* shared with the tasks */
static uint64_t made[CHANGES], refused[CHANGES];
static unsigned int seconds = 60, limit = 60, seed = 1;
static int nr_cpus;
static volatile bool over;

static void die(const char *what)
{
	fprintf(stderr, "sched-storm: %s: %s\n", what, strerror(errno));
	for (int i = 0; i < TASKS; i++)
		if (tasks[i].pid > 0)
			kill(tasks[i].pid, SIGKILL);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void sleep_us(uint64_t us)
{
	const struct timespec ts = { (time_t)(us / 1000000), (long)(us % 1000000 * 1000) };

	nanosleep(&ts, NULL);
}

static void burn(uint64_t us)
{
	for (const uint64_t end = now_ns() + us * US; now_ns() < end; )
		;
}

static bool put(const char *dir, const char *name, const char *fmt, ...)
{
	char path[256], text[64];
	va_list ap;
	bool good;
	int fd, len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	good = write(fd, text, (size_t)len) == len;
	close(fd);
	return good;
}

/* ---- the tasks ---- */

static void count(int i)
{
	__atomic_fetch_add(&counts[i], 1, __ATOMIC_RELAXED);
}

/* Never returns: the parent kills it. */
static void work(int i, int in, int out)
{
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		switch (i % KINDS) {
		case SPINS:
			burn(100);
			break;
		case SLEEPS:
			sleep_us(1000);
			burn(200);
			break;
		case YIELDS:
			burn(20);
			sched_yield();
			break;
		case WAKES:
			if (read(in, &byte, 1) != 1)
				_exit(1);
			burn(50);
			if (write(out, &byte, 1) != 1)
				_exit(1);
			break;
		}
		count(i);
	}
}

/* Those that wake each other are a ring: one byte goes round. */
static void start_tasks(void)
{
	int ring[TASKS / KINDS][2];

	for (int i = 0; i < TASKS / KINDS; i++)
		if (pipe(ring[i]))
			die("pipe");
	if (write(ring[0][1], "", 1) != 1)
		die("pipe");
	for (int i = 0; i < TASKS; i++) {
		const int place = i / KINDS;

		tasks[i].pid = fork();
		if (tasks[i].pid < 0)
			die("fork");
		if (!tasks[i].pid)
			work(i, ring[place][0], ring[(place + 1) % (TASKS / KINDS)][1]);
		tasks[i].since_ns = now_ns();
	}
	printf("pids:");
	for (int i = 0; i < TASKS; i++)
		printf(" %d", tasks[i].pid);
	printf("\n");
	fflush(stdout);
}

/* ---- what is changed ---- */

static bool change_affinity(pid_t pid, unsigned int *state)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < nr_cpus; cpu++)
		if (rand_r(state) % 2)
			CPU_SET(cpu, &set);
	if (!CPU_COUNT(&set))
		CPU_SET(0, &set);
	return !sched_setaffinity(pid, sizeof(set), &set);
}

static bool change_slice(pid_t pid, unsigned int *state)
{
	struct attr attr = { .size = sizeof(attr) };

	if (syscall(SYS_sched_getattr, pid, &attr, sizeof(attr), 0))
		return false;
	attr.size = sizeof(attr);
	/* 100 us to 100 ms, short ones as often as long ones; or the default */
	attr.runtime = rand_r(state) % 8 ? (100 * US << rand_r(state) % 10) + 1000 * (rand_r(state) % 100) : 0;
	return !syscall(SYS_sched_setattr, pid, &attr, 0);
}

static void *change(void *arg)
{
	const int what = (int)(intptr_t)arg;
	unsigned int state = seed * CHANGES + (unsigned int)what;

	while (!over) {
		const pid_t pid = tasks[rand_r(&state) % TASKS].pid;
		const int cpu = nr_cpus > 1 ? 1 + rand_r(&state) % (nr_cpus - 1) : 0;
		uint64_t pause_us = 1000 + (uint64_t)rand_r(&state) % 4000;
		char name[64];
		bool good = false;

		switch (what) {
		case AFFINITY:
			good = change_affinity(pid, &state);
			break;
		case SLICE:
			good = change_slice(pid, &state);
			break;
		case NICE:
			good = !setpriority(PRIO_PROCESS, (id_t)pid, rand_r(&state) % 16 - 5);
			break;
		case GROUP:
			good = put(groups[rand_r(&state) % NR_GROUPS], "cgroup.procs", "%d", pid);
			break;
		case HOTPLUG:
			snprintf(name, sizeof(name), "cpu%d/online", cpu);
			good = put("/sys/devices/system/cpu", name, "0");
			sleep_us(pause_us * 20);
			good = put("/sys/devices/system/cpu", name, "1") && good;
			pause_us *= 50;
			break;
		}
		made[what] += good;
		refused[what] += !good;
		sleep_us(pause_us);
	}
	return NULL;
}

static void make_groups(void)
{
	if (mkdir(OUTER, 0755))
		die(OUTER);
	if (!put(OUTER, "cgroup.subtree_control", "+cpu"))
		die(OUTER "/cgroup.subtree_control");
	for (size_t i = 1; i < NR_GROUPS; i++)
		if (mkdir(groups[i], 0755))
			die(groups[i]);
	/* Of all CPUs together; and a quota within a quota. */
	if (!put(groups[2], "cpu.max", "60000 100000") || !put(OUTER, "cpu.max", "90000 100000") ||
	    !put(groups[3], "cpu.max", "20000 30000"))
		die("a quota (CONFIG_CFS_BANDWIDTH)");
}

/* ---- the watchdog ---- */

static void look(uint64_t now)
{
	for (int i = 0; i < TASKS; i++) {
		struct task *task = &tasks[i];
		const uint64_t has = __atomic_load_n(&counts[i], __ATOMIC_RELAXED);
		const uint64_t gap = now - task->since_ns;

		if (gap > task->longest_ns)
			task->longest_ns = gap;
		if (has != task->seen) {
			task->seen = has;
			task->since_ns = now;
		} else if (gap > limit * 1000000000ull && !task->stuck) {
			task->stuck = true;
			printf("stuck: task %d (%s), pid %d: nothing for %u s\n", i,
			       kind_name[i % KINDS], task->pid, limit);
			fflush(stdout);
		}
	}
}

static void watch(void)
{
	const uint64_t end = now_ns() + seconds * 1000000000ull;
	uint64_t now;

	while ((now = now_ns()) < end) {
		look(now);
		sleep_us(1000000);
	}
	look(now);
}

static int report(void)
{
	int status = 0;

	for (int i = 0; i < TASKS; i++) {
		printf("task %d %s: count %llu, longest without %.1f s%s\n", i, kind_name[i % KINDS],
		       (unsigned long long)tasks[i].seen, (double)tasks[i].longest_ns / 1e9,
		       tasks[i].stuck ? ", STUCK" : "");
		if (tasks[i].stuck || !tasks[i].seen)
			status = 1;
	}
	printf("changes:");
	for (int i = 0; i < CHANGES; i++)
		printf(" %s %llu (refused %llu)", change_name[i], (unsigned long long)made[i],
		       (unsigned long long)refused[i]);
	printf("\n");
	return status;
}

int main(int argc, char **argv)
{
	const struct sched_param realtime = { .sched_priority = 50 };
	pthread_t thread[CHANGES];
	int opt;

	while ((opt = getopt(argc, argv, "s:l:r:")) != -1) {
		unsigned int *value = opt == 's' ? &seconds : opt == 'l' ? &limit : &seed;

		if (opt == '?' || atoi(optarg) <= 0) {
			fprintf(stderr, "usage: %s [-s SECONDS] [-l LIMIT] [-r SEED]\n", argv[0]);
			return 129;
		}
		*value = (unsigned int)atoi(optarg);
	}
	nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	counts = mmap(NULL, TASKS * sizeof(*counts), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		die("mmap");
	make_groups();
	start_tasks();
	for (int i = 0; i < CHANGES; i++)
		if (pthread_create(&thread[i], NULL, change, (void *)(intptr_t)i))
			die("pthread_create");
	if (sched_setscheduler(0, SCHED_FIFO, &realtime))
		die("the watchdog cannot be realtime");
	watch();
	over = true;
	for (int i = 0; i < CHANGES; i++)
		pthread_join(thread[i], NULL);
	opt = report();
	for (int i = 0; i < TASKS; i++) {
		kill(tasks[i].pid, SIGKILL);
		waitpid(tasks[i].pid, NULL, 0);
	}
	for (size_t i = NR_GROUPS - 1; i; i--)
		rmdir(groups[i]);
	rmdir(OUTER);
	return opt;
}
