// SPDX-License-Identifier: GPL-2.0-only
#include "rt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 64

/* linux/sched/types.h, which clashes with the C library's sched.h; 6.12 reads runtime as the slice. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static struct {
	struct rt_spec spec[MAX_THREADS];
	pthread_t thread[MAX_THREADS];
	int tid[MAX_THREADS];
	unsigned int nr;
	unsigned int seconds;
	cpu_set_t allowed;
	pthread_barrier_t set_up, told, done;
	bool waits;
	uint64_t t0;
	char cgroup[512], cgroup_parent[512];
	unsigned int cgroup_levels;
} rt = { .seconds = 20 };

static volatile sig_atomic_t stop;

static void say_and_exit(int status, const char *prefix, const char *fmt, va_list ap)
{
	printf("%s", prefix);
	vprintf(fmt, ap);
	printf("\n");
	fflush(stdout);
	exit(status);
}

void rt_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_and_exit(RT_SKIP, "skip ", fmt, ap);
	abort();
}

void rt_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_and_exit(1, "failed ", fmt, ap);
	abort();
}

/* ---- time ---- */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

uint64_t rt_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

void rt_sleep_until(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000ull), (long)(ns % 1000000000ull) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR && rt_more())
		;
}

uint64_t rt_next(uint64_t t, uint64_t period_ns)
{
	uint64_t now = rt_now();

	t += period_ns;
	return t >= now ? t : t + (now - t + period_ns - 1) / period_ns * period_ns;
}

void rt_burn_until(uint64_t ns)
{
	while (rt_now() < ns)
		;
}

/* Reading the thread's clock is a system call: now and then is enough. */
void rt_burn(uint64_t cpu_ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns, now;

	while ((now = clock_ns(CLOCK_THREAD_CPUTIME_ID)) < end)
		rt_burn_until(rt_now() + (end - now));
}

void rt_spin(void *unused)
{
	(void)unused;
	while (rt_more())
		;
}

void rt_beat(void *arg)
{
	const struct rt_beat *beat = arg;

	for (uint64_t t = rt_t0() + beat->offset_ns; rt_more(); t = rt_next(t, beat->period_ns)) {
		rt_sleep_until(t);
		if (beat->cpu_ns)
			rt_burn(beat->cpu_ns);
		else
			rt_burn_until(t + beat->wall_ns);
	}
}

uint64_t rt_t0(void)
{
	return rt.t0;
}

bool rt_more(void)
{
	return !stop;
}

/* ---- CPUs ---- */

unsigned int rt_nr_cpus(void)
{
	return (unsigned int)CPU_COUNT(&rt.allowed);
}

int rt_cpu(unsigned int n)
{
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
		if (CPU_ISSET(cpu, &rt.allowed) && !n--)
			return cpu;
	rt_skip("needs more CPUs than this process may use (%u)", rt_nr_cpus());
}

/* The CPUs that share the last cache with this one; nothing where the kernel knows none. */
static void llc_of(int cpu, char *ret_text, int size)
{
	char path[128];

	*ret_text = '\0';
	for (int level = 3; !*ret_text && level > 1; level--) {
		FILE *file;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list",
			 cpu, level);
		file = fopen(path, "re");
		if (file && !fgets(ret_text, size, file))
			*ret_text = '\0';
		if (file)
			fclose(file);
	}
}

bool rt_share_cache(int cpu, int other)
{
	char own[1024], others[1024];

	llc_of(cpu, own, sizeof(own));
	llc_of(other, others, sizeof(others));
	return *own && !strcmp(own, others);
}

int rt_cpu_apart(int cpu)
{
	for (int other = CPU_SETSIZE - 1; other >= 0; other--)
		if (CPU_ISSET(other, &rt.allowed) && other != cpu && !rt_share_cache(cpu, other))
			return other;
	rt_skip("all CPUs share the last cache with CPU %d: it finds a free one", cpu);
}

void rt_pin(int tid, int cpu)
{
	cpu_set_t set = rt.allowed;

	if (cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
	}
	if (sched_setaffinity(tid, sizeof(set), &set))
		rt_die("sched_setaffinity to CPU %d: %s", cpu, strerror(errno));
}

int rt_tid_of(unsigned int n)
{
	return rt.tid[n];
}

/* ---- threads ---- */

static void apply(const struct rt_spec *spec)
{
	struct attr attr = {
		.size = sizeof(attr),
		.policy = (uint32_t)spec->policy,
		.nice = spec->nice,
		.priority = (uint32_t)spec->prio,
		.runtime = spec->slice_ns,
		.deadline = spec->period_ns,
		.period = spec->period_ns,
	};

	prctl(PR_SET_NAME, spec->comm);
	prctl(PR_SET_TIMERSLACK, 1ul);
	if (spec->pinned) {
		rt_pin(0, spec->cpu);
		/* A reservation may not be pinned, but its thread wakes where it slept. */
		if (spec->policy == SCHED_DEADLINE)
			rt_pin(0, -1);
	}
	if (syscall(SYS_sched_setattr, 0, &attr, 0)) {
		if (errno == EPERM || errno == EINVAL || errno == EBUSY)
			rt_skip("policy %d of %s is refused: %s", spec->policy, spec->comm,
				strerror(errno));
		rt_die("sched_setattr of %s: %s", spec->comm, strerror(errno));
	}
	if (spec->slice_ns && spec->policy != SCHED_DEADLINE) {
		struct attr got = { .size = sizeof(got) };

		if (syscall(SYS_sched_getattr, 0, &got, sizeof(got), 0) || got.runtime != spec->slice_ns)
			rt_skip("this kernel takes no slices of fair tasks (before 6.12)");
	}
}

static void *begin(void *arg)
{
	const struct rt_spec *spec = arg;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	rt.tid[spec - rt.spec] = (int)syscall(SYS_gettid);
	apply(spec);
	pthread_barrier_wait(&rt.set_up);
	pthread_barrier_wait(&rt.told);
	rt_sleep_until(rt.t0);
	spec->run(spec->arg);
	pthread_barrier_wait(&rt.done);
	return NULL;
}

void rt_start(const struct rt_spec *spec)
{
	if (rt.nr == MAX_THREADS)
		rt_die("more than %d threads", MAX_THREADS);
	rt.spec[rt.nr++] = *spec;
}

/* One of the signals that this process is told by; 0 when the time is over. */
static int told_by(const sigset_t *signals, unsigned int seconds)
{
	const uint64_t end = rt_now() + seconds * 1000 * RT_MS;
	int sig = -1;

	while (sig < 0 && rt_now() < end) {
		const uint64_t left = end - rt_now();
		const struct timespec ts = { (time_t)(left / (1000 * RT_MS)),
					     (long)(left % (1000 * RT_MS)) };

		sig = sigtimedwait(signals, NULL, &ts);
		if (sig < 0 && errno != EINTR)
			return 0;
	}
	return sig;
}

int rt_run(void)
{
	sigset_t signals;
	unsigned int i;
	int sig;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	pthread_barrier_init(&rt.set_up, NULL, rt.nr + 1);
	pthread_barrier_init(&rt.told, NULL, rt.nr + 1);
	pthread_barrier_init(&rt.done, NULL, rt.nr + 1);
	for (i = 0; i < rt.nr; i++) {
		int err = pthread_create(&rt.thread[i], NULL, begin, &rt.spec[i]);

		if (err)
			rt_die("pthread_create: %s", strerror(err));
	}
	pthread_barrier_wait(&rt.set_up);
	for (i = 0; i < rt.nr; i++)
		printf("%s %d %s\n", rt.spec[i].victim ? "victim" : "thread", rt.tid[i],
		       rt.spec[i].comm);
	if (*rt.cgroup)
		printf("cgroup %s\n", strrchr(rt.cgroup, '/') + 1);
	printf("ready\n");
	fflush(stdout);
	sig = rt.waits ? told_by(&signals, 60) : SIGUSR1;
	stop = sig != SIGUSR1;
	rt.t0 = rt_now() + 20 * RT_MS;
	pthread_barrier_wait(&rt.told);
	if (!stop)
		sig = told_by(&signals, rt.seconds);
	stop = 1;
	/* The threads stay, for those who want to look at them, but do nothing any more. */
	if (sig == SIGUSR2)
		told_by(&signals, 60);
	pthread_barrier_wait(&rt.done);
	for (i = 0; i < rt.nr; i++)
		pthread_join(rt.thread[i], NULL);
	return 0;
}

/* ---- gate ---- */

enum { GATE_SHUT, GATE_OPEN, GATE_WAITED_FOR };

static void futex(int *word, int op, int value, const struct timespec *timeout)
{
	syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

void rt_gate_wait(struct rt_gate *gate)
{
	/* only so that a thread ends when nobody opens any more */
	const struct timespec timeout = { .tv_nsec = 500 * RT_MS };

	while (rt_more()) {
		int was = GATE_OPEN;

		if (__atomic_compare_exchange_n(&gate->word, &was, GATE_SHUT, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return;
		was = GATE_SHUT;
		__atomic_compare_exchange_n(&gate->word, &was, GATE_WAITED_FOR, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		futex(&gate->word, FUTEX_WAIT_PRIVATE, GATE_WAITED_FOR, &timeout);
	}
}

void rt_gate_open(struct rt_gate *gate)
{
	if (__atomic_exchange_n(&gate->word, GATE_OPEN, __ATOMIC_ACQ_REL) == GATE_WAITED_FOR)
		futex(&gate->word, FUTEX_WAKE_PRIVATE, 1, NULL);
}

bool rt_gate_has_waiter(const struct rt_gate *gate)
{
	return __atomic_load_n(&gate->word, __ATOMIC_ACQUIRE) == GATE_WAITED_FOR;
}

/* ---- limits, other processes ---- */

void rt_relay(int fd)
{
	FILE *from = fdopen(fd, "r");
	char line[256];

	while (from && fgets(line, sizeof(line), from)) {
		if (!strcmp(line, "ready\n"))
			return;
		fputs(line, stdout);
		fflush(stdout);
		if (!strncmp(line, "skip ", 5))
			exit(RT_SKIP);
	}
	rt_die("the other process ended");
}

void rt_need_files(unsigned int nr)
{
	struct rlimit limit = { nr + 100, nr + 100 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		rt_skip("needs %u open files: %s", nr, strerror(errno));
}

/* ---- the preemption model ---- */

static const char *const models[] = { "none", "voluntary", "full", "lazy" };

/* The model whose name follows prefix in a line of the file or command; NULL: none does. */
static const char *find_model(FILE *from, bool is_command, const char *prefix, const char *suffix)
{
	const char *found = NULL;
	char line[4096], wanted[64];

	while (from && fgets(line, sizeof(line), from))
		for (unsigned int i = 0; i < sizeof(models) / sizeof(*models); i++) {
			snprintf(wanted, sizeof(wanted), "%s%s%s", prefix, models[i], suffix);
			if (strstr(line, wanted))
				found = models[i];
		}
	if (from && is_command)
		pclose(from);
	else if (from)
		fclose(from);
	return found;
}

const char *rt_preempt_model(void)
{
	/* in force; asked for at boot; built in, written so that it looks like the others */
	const char *model = find_model(fopen("/sys/kernel/debug/sched/preempt", "re"), false, "(", ")");

	if (!model)
		model = find_model(fopen("/proc/cmdline", "re"), false, "preempt=", "");
	if (!model)
		model = find_model(popen("{ zcat /proc/config.gz || cat \"/boot/config-$(uname -r)\"; } "
					 "2>/dev/null | sed -n 's/^CONFIG_PREEMPT=y/=full=/p; "
					 "s/^CONFIG_PREEMPT_RT=y/=full=/p; s/^CONFIG_PREEMPT_NONE=y/=none=/p; "
					 "s/^CONFIG_PREEMPT_VOLUNTARY=y/=voluntary=/p; "
					 "s/^CONFIG_PREEMPT_LAZY=y/=lazy=/p'", "re"), true, "=", "=");
	return model ? model : "?";
}

/* ---- cgroup ---- */

static bool write_text(const char *dir, const char *name, const char *fmt, ...)
{
	char path[1024], text[64];
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

/* The root of the hierarchy that has the cpu controller. */
static bool find_controller(char *ret_dir, size_t size, bool *ret_v2)
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[1024], dir[256], type[32], options[256];
	bool found = false;

	while (mounts && !found && fgets(line, sizeof(line), mounts)) {
		char padded[300], controllers[1024];
		FILE *list;

		if (sscanf(line, "%*s %255s %31s %255s", dir, type, options) != 3)
			continue;
		snprintf(padded, sizeof(padded), ",%s,", options);
		if (!strcmp(type, "cgroup") && strstr(padded, ",cpu,")) {
			*ret_v2 = false;
			found = true;
		} else if (!strcmp(type, "cgroup2")) {
			snprintf(controllers, sizeof(controllers), "%s/cgroup.controllers", dir);
			list = fopen(controllers, "re");
			if (list && fscanf(list, "%1023[^\n]", controllers) == 1) {
				char *save = NULL, *word = strtok_r(controllers, " ", &save);

				for (; word && !found; word = strtok_r(NULL, " ", &save))
					found = !strcmp(word, "cpu");
				*ret_v2 = true;
			}
			if (list)
				fclose(list);
		}
	}
	if (mounts)
		fclose(mounts);
	if (found)
		snprintf(ret_dir, size, "%s", dir);
	return found;
}

/* The group so many levels below the one that was made; level 0 is that. */
static void group_path(unsigned int level, char *ret_path, size_t size)
{
	int len = snprintf(ret_path, size, "%s", rt.cgroup);

	while (level-- && len > 0 && (size_t)len < size)
		len += snprintf(ret_path + len, size - (size_t)len, "/below");
}

static void leave_cgroup(void)
{
	char path[768];

	if (!*rt.cgroup)
		return;
	write_text(rt.cgroup_parent, "cgroup.procs", "%d", getpid());
	for (int level = (int)rt.cgroup_levels; level >= 0; level--) {
		group_path((unsigned int)level, path, sizeof(path));
		/* a thread of the group that is just ending keeps it busy for a moment */
		for (int i = 0; i < 100 && rmdir(path) && errno == EBUSY; i++)
			usleep(10000);
	}
	*rt.cgroup = '\0';
}

void rt_cgroup_enter_below(const char *suffix, unsigned int levels, unsigned int quota_us,
			   unsigned int period_us)
{
	bool v2, limited = true;
	char path[768];

	if (!find_controller(rt.cgroup_parent, sizeof(rt.cgroup_parent), &v2))
		rt_skip("no cgroup hierarchy has the cpu controller");
	if (v2)
		write_text(rt.cgroup_parent, "cgroup.subtree_control", "+cpu");
	snprintf(rt.cgroup, sizeof(rt.cgroup), "%.400s/schedlat-%.32s-%d", rt.cgroup_parent, suffix,
		 getpid());
	for (unsigned int level = 0; level <= levels; level++) {
		group_path(level, path, sizeof(path));
		if (mkdir(path, 0755)) {
			int err = errno;

			if (!level)
				*rt.cgroup = '\0';
			rt_skip("the cgroup %s cannot be made: %s", path, strerror(err));
		}
		rt.cgroup_levels = level;
		if (!level)
			atexit(leave_cgroup);
		if (v2 && level < levels)
			write_text(path, "cgroup.subtree_control", "+cpu");
	}
	if (quota_us && v2)
		limited = write_text(rt.cgroup, "cpu.max", "%u %u", quota_us, period_us);
	else if (quota_us)
		limited = write_text(rt.cgroup, "cpu.cfs_period_us", "%u", period_us) &&
			  write_text(rt.cgroup, "cpu.cfs_quota_us", "%u", quota_us);
	/* more than its share, so that it hardly waits for anything else */
	write_text(rt.cgroup, v2 ? "cpu.weight" : "cpu.shares", "%u", v2 ? 2000 : 20480);
	if (!limited)
		rt_skip("no quota can be set: %s (CONFIG_CFS_BANDWIDTH?)", strerror(errno));
	if (!write_text(path, "cgroup.procs", "%d", getpid()))
		rt_skip("cannot enter %s: %s", path, strerror(errno));
}

void rt_cgroup_enter(const char *suffix, unsigned int quota_us, unsigned int period_us)
{
	rt_cgroup_enter_below(suffix, 0, quota_us, period_us);
}

/* ---- what the kernel is set to ---- */

#define MAX_SET 64

static struct {
	char path[128], text[64];
} was_set[MAX_SET];
static unsigned int nr_set;

static void set_back(void)
{
	while (nr_set) {
		nr_set--;
		if (!write_text("/", was_set[nr_set].path, "%s", was_set[nr_set].text))
			fprintf(stderr, "%s is left changed: %s\n", was_set[nr_set].path, strerror(errno));
	}
}

void rt_set(const char *path, const char *text)
{
	FILE *file = fopen(path, "re");
	char *was = was_set[nr_set].text;

	if (nr_set == MAX_SET)
		rt_die("more than %d files to put back", MAX_SET);
	if (!file || !fgets(was, sizeof(was_set->text), file))
		rt_skip("%s cannot be read (is debugfs mounted?)", path);
	fclose(file);
	was[strcspn(was, "\n")] = '\0';
	snprintf(was_set[nr_set].path, sizeof(was_set->path), "%s", path);
	if (!write_text("/", path, "%s", text))
		rt_skip("%s cannot be set to %s: %s", path, text, strerror(errno));
	if (!nr_set++)
		atexit(set_back);
}

/* Is the word one of those in the file? */
static bool has_word(const char *path, const char *word)
{
	FILE *file = fopen(path, "re");
	char got[64];
	bool found = false;

	while (file && !found && fscanf(file, "%63s", got) == 1)
		found = !strcmp(got, word);
	if (file)
		fclose(file);
	return found;
}

static void check_needs(const char *needs)
{
	char words[128], *save = NULL;

	snprintf(words, sizeof(words), "%s", needs ? needs : "");
	for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		const char *value = strchr(word, '=') + 1;

		if (!strncmp(word, "preempt=", 8) && strcmp(value, rt_preempt_model()))
			rt_skip("needs %s, this is preempt=%s", word, rt_preempt_model());
		if (!strncmp(word, "feature=", 8) && !has_word("/sys/kernel/debug/sched/features", value))
			rt_skip("needs the scheduler feature %s (/sys/kernel/debug/sched/features)", value);
	}
}

/* ---- begin ---- */

static void print_about(const struct rt_about *about)
{
	const char *none = "";

	printf("causes=%s\n", about->causes);
	printf("parts=%s\n", about->parts ? about->parts : none);
	printf("flat_causes=%s\n", about->flat_causes ? about->flat_causes : none);
	printf("flat_parts=%s\n", about->flat_parts ? about->flat_parts : none);
	printf("waits=%s\n", about->waits ? about->waits : "wake");
	printf("judge=%s\n", about->judge ? about->judge : "hold");
	printf("why=%s\n", about->why ? about->why : "p50");
	printf("record=%s\n", about->record ? about->record : none);
	printf("needs=%s\n", about->needs ? about->needs : none);
	printf("alone=%s\n", about->others ? "no" : about->untouched ? "strictly" : "yes");
}

void rt_begin(int argc, char **argv, const struct rt_about *about)
{
	int opt;

	if (argc == 2 && !strcmp(argv[1], "--about")) {
		print_about(about);
		exit(0);
	}
	while ((opt = getopt(argc, argv, "s:w")) != -1) {
		if (opt == 'w') {
			rt.waits = true;
		} else if (opt == 's' && atoi(optarg) > 0) {
			rt.seconds = (unsigned int)atoi(optarg);
		} else {
			fprintf(stderr, "usage: %s [--about] [-s SECONDS] [-w]\n", argv[0]);
			exit(129);
		}
	}
	if (sched_getaffinity(0, sizeof(rt.allowed), &rt.allowed))
		rt_die("sched_getaffinity: %s", strerror(errno));
	check_needs(about->needs);
	/*
	 * An own autogroup, so that the threads are compared with each other and not with the
	 * shell's, and with more weight, so that others interfere less.
	 */
	setsid();
	write_text("/proc/self", "autogroup", "-10");
}
