// SPDX-License-Identifier: GPL-2.0-only
/*
 * Periodic tasks whose work is the same on every CPU of an asymmetric machine.
 *
 *	eas-load SECONDS NAME:WORK:PERIOD...
 *	eas-load -m PID MIN
 *
 * A thread NAME wakes every PERIOD us and does WORK, in us of the largest CPU at its highest
 * frequency: its utilization is 1024 * WORK / PERIOD wherever it runs. On a machine that only
 * says that its CPUs differ all are equally fast. So the work that a piece of CPU time does is
 * that time times the capacity of the CPU times its frequency, and a thread runs until it has
 * enough: four times as long on a CPU with a quarter of the capacity.
 * Capacities are those of the energy model in debugfs, frequencies those of cpufreq.
 *
 * Prints "NAME TID" of each thread at the start, and at the end, which SIGTERM brings too,
 * "NAME periods N late N cpus N N ...": how many periods began on which CPU.
 * With -m it sets the utilization that a task has at least (uclamp), and ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_CPUS	64
#define MAX_TASKS	64
#define ENERGY_MODEL	"/sys/kernel/debug/energy_model"
#define CPUFREQ		"/sys/devices/system/cpu/cpu%d/cpufreq/%s"
/* So much work is done between two looks at where and how fast: little beside a tick. */
#define PIECE_NS	50000
#define NS_PER_US	1000
#define NS_PER_SEC	1000000000

/* struct sched_attr and its flags as linux/sched/types.h has them; glibc 2.36 does not. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

#define KEEP_ALL	0x18
#define UTIL_CLAMP_MIN	0x20

struct cpu {
	uint64_t capacity, max_khz;
	int khz_fd;
};

struct task {
	char name[16];
	uint64_t work_ns, period_ns;
	uint64_t periods, late, on[MAX_CPUS];
	pthread_t thread;
	pid_t tid;
};

static struct cpu cpus[MAX_CPUS];
static struct task tasks[MAX_TASKS];
static int nr_cpus, nr_tasks;
static uint64_t start_ns, end_ns;
static pthread_barrier_t ready;
static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("eas-load: ", stderr);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / NS_PER_SEC), .tv_nsec = (long)(ns % NS_PER_SEC) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* The number at the start of a file; 0 is an error for all that is read here. */
static uint64_t number_at(int fd)
{
	char text[32];
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);

	if (got <= 0)
		return 0;
	text[got] = 0;
	return strtoull(text, NULL, 10);
}

static uint64_t number_in(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t n;

	if (fd < 0)
		return 0;
	n = number_at(fd);
	close(fd);
	return n;
}

/* The CPUs of a performance domain, "0-3", all with its largest performance as capacity. */
static void learn_domain(const char *domain)
{
	uint64_t capacity = 0;
	char path[256];
	int first, last;
	glob_t states;
	FILE *f;

	snprintf(path, sizeof(path), "%s/ps:*/performance", domain);
	if (glob(path, 0, NULL, &states))
		die("%s has no states: is debugfs mounted, and has the machine an energy model?", domain);
	for (size_t i = 0; i < states.gl_pathc; i++) {
		uint64_t n = number_in(states.gl_pathv[i]);

		if (n > capacity)
			capacity = n;
	}
	globfree(&states);
	snprintf(path, sizeof(path), "%s/cpus", domain);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%d", &first) != 1)
		die("%s cannot be read: %s", path, strerror(errno));
	if (fscanf(f, "-%d", &last) != 1)
		last = first;
	fclose(f);
	if (first < 0 || last < first || last >= MAX_CPUS)
		die("%s: %d-%d are not CPUs up to %d", path, first, last, MAX_CPUS - 1);
	for (int cpu = first; cpu <= last; cpu++)
		cpus[cpu].capacity = capacity;
	if (last >= nr_cpus)
		nr_cpus = last + 1;
}

static void learn_machine(void)
{
	glob_t domains;
	char path[128];

	if (glob(ENERGY_MODEL "/cpu*", 0, NULL, &domains))
		die("%s has no CPUs: the kernel has no energy model (lab_eas=)", ENERGY_MODEL);
	for (size_t i = 0; i < domains.gl_pathc; i++)
		learn_domain(domains.gl_pathv[i]);
	globfree(&domains);
	for (int i = 0; i < nr_cpus; i++) {
		snprintf(path, sizeof(path), CPUFREQ, i, "cpuinfo_max_freq");
		cpus[i].max_khz = number_in(path);
		snprintf(path, sizeof(path), CPUFREQ, i, "scaling_cur_freq");
		cpus[i].khz_fd = open(path, O_RDONLY | O_CLOEXEC);
		if (!cpus[i].capacity || !cpus[i].max_khz || cpus[i].khz_fd < 0)
			die("CPU %d has no capacity or no frequency: %s", i, path);
	}
}

/* A preemption does no work: what counts is the thread's CPU time. */
static void do_work(uint64_t work_ns)
{
	uint64_t last = now_ns(CLOCK_THREAD_CPUTIME_ID), done = 0;

	while (done < work_ns) {
		struct cpu *c = &cpus[sched_getcpu()];
		uint64_t khz = number_at(c->khz_fd), rate, now, piece;

		/* In 1/1024, rounded as the scheduler rounds the product of both scales. */
		rate = c->capacity * khz / c->max_khz;
		if (!rate)
			die("CPU %d has no frequency now", sched_getcpu());
		piece = (work_ns - done) * 1024 / rate;
		if (piece > PIECE_NS)
			piece = PIECE_NS;
		do {
			now = now_ns(CLOCK_THREAD_CPUTIME_ID);
		} while (now - last < piece);
		done += (now - last) * rate / 1024;
		last = now;
	}
}

static void *run_task(void *arg)
{
	struct task *t = arg;
	uint64_t next = start_ns;

	t->tid = (pid_t)syscall(SYS_gettid);
	pthread_setname_np(pthread_self(), t->name);
	pthread_barrier_wait(&ready);
	while (next < end_ns && !stopped) {
		uint64_t now;

		sleep_until(next);
		t->on[sched_getcpu()]++;
		t->periods++;
		do_work(t->work_ns);
		next += t->period_ns;
		now = now_ns(CLOCK_MONOTONIC);
		if (next <= now) {
			/* Go on at once: who skipped a period would look half as busy. */
			t->late++;
			next = now;
		}
	}
	return NULL;
}

static int set_util_min(const char *pid, const char *min)
{
	struct attr attr = {
		.size = sizeof(attr),
		.flags = KEEP_ALL | UTIL_CLAMP_MIN,
		.util_min = (uint32_t)strtoul(min, NULL, 10),
	};

	if (syscall(SYS_sched_setattr, (pid_t)strtol(pid, NULL, 10), &attr, 0))
		die("task %s cannot have a utilization of at least %s: %s", pid, min, strerror(errno));
	return 0;
}

static void add_task(const char *text)
{
	struct task *t = &tasks[nr_tasks];
	uint64_t work_us, period_us;
	char more;

	if (nr_tasks == MAX_TASKS)
		die("more than %d tasks", MAX_TASKS);
	if (sscanf(text, "%15[^:]:%lu:%lu%c", t->name, &work_us, &period_us, &more) != 3 ||
	    !work_us || work_us > period_us)
		die("%s is not NAME:WORK:PERIOD with WORK up to PERIOD, in us", text);
	t->work_ns = work_us * NS_PER_US;
	t->period_ns = period_us * NS_PER_US;
	nr_tasks++;
}

int main(int argc, char **argv)
{
	double seconds;

	if (argc == 4 && !strcmp(argv[1], "-m"))
		return set_util_min(argv[2], argv[3]);
	if (argc < 3 || (seconds = strtod(argv[1], NULL)) <= 0)
		die("usage: eas-load SECONDS NAME:WORK:PERIOD... | eas-load -m PID MIN");
	for (int i = 2; i < argc; i++)
		add_task(argv[i]);
	learn_machine();
	signal(SIGTERM, stop);

	/* All have begun and said who they are before the first of them has work to do. */
	pthread_barrier_init(&ready, NULL, (unsigned int)nr_tasks + 1);
	start_ns = now_ns(CLOCK_MONOTONIC) + 100 * 1000 * 1000;
	end_ns = start_ns + (uint64_t)(seconds * NS_PER_SEC);
	for (int i = 0; i < nr_tasks; i++) {
		int error = pthread_create(&tasks[i].thread, NULL, run_task, &tasks[i]);

		if (error)
			die("no thread for %s: %s", tasks[i].name, strerror(error));
	}
	pthread_barrier_wait(&ready);
	for (int i = 0; i < nr_tasks; i++)
		printf("%s %d\n", tasks[i].name, tasks[i].tid);
	fflush(stdout);

	for (int i = 0; i < nr_tasks; i++) {
		struct task *t = &tasks[i];

		pthread_join(t->thread, NULL);
		printf("%s periods %lu late %lu cpus", t->name, t->periods, t->late);
		for (int cpu = 0; cpu < nr_cpus; cpu++)
			printf(" %lu", t->on[cpu]);
		putchar('\n');
	}
	return 0;
}
