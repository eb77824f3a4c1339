/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the provokers share. A provoker makes one known cause dominate the waits
 * of its victim, until it gets SIGTERM or its time is over. With -w it begins at SIGUSR1,
 * so that it is no burden before the recorder runs; at SIGUSR2 it falls silent, but
 * its threads stay until SIGTERM. main() is
 *
 *	rt_begin(argc, argv, &about);	own session; parses -s SECONDS, -w, --about
 *	rt_start(&spec) ...		threads, which begin together
 *	return rt_run();		prints who they are and "ready", waits, joins
 *
 * Times are ns of CLOCK_MONOTONIC. Functions of rt_ do not return on failure: they
 * say what failed and exit 1, or 77 where the kernel or machine cannot do it.
 */
#ifndef TESTS_WORKLOADS_RT_H
#define TESTS_WORKLOADS_RT_H

#include <stdbool.h>
#include <stdint.h>

#define RT_US 1000ull
#define RT_MS 1000000ull
#define RT_SKIP 77	/* exit status */

/* Printed by --about, and what the scoreboard judges by: tests/workloads/README.md. */
struct rt_about {
	const char *causes;	/* true causes, with blanks between */
	const char *parts;	/* "cause:percent ...": true as well, up to that share of the time */
	/* The same where the kernel has one flat queue of fair tasks; what is not given is as above. */
	const char *flat_causes, *flat_parts;
	const char *waits;	/* wake (default), preempt */
	const char *judge;	/* hold (default), moved, place, primary, lost, fault */
	const char *why;	/* which waits; default p50 */
	const char *record;	/* further options of schedlat record */
	/*
	 * What the kernel must be set to, in debugfs: "preempt=lazy feature=NO_HRTICK". The
	 * provoker changes nothing but skips where it is not; whoever runs it on a machine
	 * of his own may set it before.
	 */
	const char *needs;
	bool others;		/* other tasks may run in these waits: it changes nothing */
	bool untouched;		/* no other task may run in them: after it a new decision is made */
};

/* Everything that is 0 is the default: a fair task, nice 0, on any CPU. */
struct rt_spec {
	const char *comm;
	bool victim;
	bool pinned;		/* to .cpu */
	int cpu;
	int policy;		/* SCHED_* */
	int prio;		/* realtime */
	int nice;
	uint64_t slice_ns;	/* fair: 0 is the base slice; deadline: the runtime */
	uint64_t period_ns;	/* deadline */
	void (*run)(void *arg);
	void *arg;
};

void rt_begin(int argc, char **argv, const struct rt_about *about);
void rt_start(const struct rt_spec *spec);
int rt_run(void);

/* All threads began at this time; rt_more() is false when they are to end. */
uint64_t rt_t0(void);
bool rt_more(void);

uint64_t rt_now(void);
void rt_sleep_until(uint64_t ns);
/* The next start of a period after t that has not passed yet: who is late skips some. */
uint64_t rt_next(uint64_t t, uint64_t period_ns);
/*
 * Busy until that time; for so much time on a CPU; until the end. rt_burn() reads the
 * thread's clock by a system call, which brings its virtual time up to date and so may
 * end its slice between two ticks (6.18: task_sched_runtime(), update_curr()): a hog
 * whose slices shall end at ticks spins.
 */
void rt_burn_until(uint64_t ns);
void rt_burn(uint64_t cpu_ns);
void rt_spin(void *unused);

/* A thread that is asleep but for a beat: from t0 + offset on, once a period. */
struct rt_beat {
	uint64_t offset_ns, period_ns;
	uint64_t cpu_ns;	/* burned then; 0: busy until wall_ns behind the beat */
	uint64_t wall_ns;
};
void rt_beat(void *beat);

/* The nth CPU this process may use, counted from the last one. Skips if there is none. */
int rt_cpu(unsigned int n);
/* Another that shares no cache of the last level with this one; skips if there is none. */
int rt_cpu_apart(int cpu);
/* False where the kernel knows of no caches. */
bool rt_share_cache(int cpu, int other);
unsigned int rt_nr_cpus(void);
/* Of the calling thread, or of one that rt_tid_of() names; cpu -1: all that the process has. */
void rt_pin(int tid, int cpu);
/* The thread of the n-th rt_start(), counted from 0. */
int rt_tid_of(unsigned int n);

/* A binary semaphore whose waiter is woken in the waker's context. */
struct rt_gate {
	int word;
};
void rt_gate_wait(struct rt_gate *gate);
void rt_gate_open(struct rt_gate *gate);
bool rt_gate_has_waiter(const struct rt_gate *gate);

/*
 * A new group of the cpu controller with twenty times the usual weight, which this
 * process enters; quota_us 0: none.
 * It is left and removed when the process ends, however it does.
 */
void rt_cgroup_enter(const char *suffix, unsigned int quota_us, unsigned int period_us);
/* The same, but the process enters a group so many levels below it that has no limit of its own. */
void rt_cgroup_enter_below(const char *suffix, unsigned int levels, unsigned int quota_us,
			   unsigned int period_us);

/* Prints what another process of this kind prints to fd, up to its "ready". */
void rt_relay(int fd);

/* Writes a file of the kernel, and puts the old text back when the process ends. Skips if refused. */
void rt_set(const char *path, const char *text);

/* none, voluntary, full, lazy; ? where it cannot be found out */
const char *rt_preempt_model(void);

/* Raises the limit of open files; skips if so many are not to be had. */
void rt_need_files(unsigned int nr);

void rt_skip(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void rt_die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
