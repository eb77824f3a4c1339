// SPDX-License-Identifier: LGPL-2.1-only
#include "live/bpf/load.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "live/bpf/object.h"
#include "live/bpf/probes.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"
#define LOCKDOWN_PATH "/sys/kernel/security/lockdown"
#define UNPRIVILEGED_PATH "/proc/sys/kernel/unprivileged_bpf_disabled"
#define RING_PER_CPU (8ull << 20)
#define RING_MIN (16ull << 20)
#define RING_DEFAULT_MAX (128ull << 20)
#define RING_MAX (1ull << 31)
#define HISTS_DEFAULT 4096
/* How far ahead start and stop are set, so that every CPU has seen the change by then. */
#define MARGIN_NS 200000

/*
 * libbpf has one print function for the whole process. While an object is loaded it is
 * ours, and what it prints is kept: the name of the program that was refused, and the
 * last lines.
 */
static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	char refused[64];
	char text[4096];
	size_t len;
} printed;

static int keep_print(enum libbpf_print_level level, const char *fmt, va_list args)
{
	const char *from, *to;
	char *line;
	size_t len;

	/* A verifier's log comes as one message, of any length. */
	if (level == LIBBPF_DEBUG || vasprintf(&line, fmt, args) < 0)
		return 0;
	len = strlen(line);
	from = strstr(line, "prog '");
	to = from ? strstr(from, "': BPF program load failed") : NULL;
	if (to && (size_t)(to - from - 6) < sizeof(printed.refused)) {
		memcpy(printed.refused, from + 6, to - from - 6);
		printed.refused[to - from - 6] = '\0';
	}
	/* The last half of what there is room for: reasons stand at the end. */
	if (printed.len + len >= sizeof(printed.text)) {
		size_t keep = sizeof(printed.text) / 2;

		if (printed.len > keep) {
			memmove(printed.text, printed.text + printed.len - keep, keep);
			printed.len = keep;
		}
	}
	if (printed.len + len < sizeof(printed.text)) {
		memcpy(printed.text + printed.len, line, len + 1);
		printed.len += len;
	} else {
		printed.len = snprintf(printed.text, sizeof(printed.text), "%s",
				       line + len - sizeof(printed.text) / 2);
	}
	free(line);
	return 0;
}

/*
 * Up to nr last lines of the verifier's log, else of what libbpf printed, joined by " / ";
 * "" when there are none.
 */
static const char *last_lines(char *buf, size_t size, int nr)
{
	char *end = strstr(printed.text, "\n-- END PROG LOAD LOG"), *at;
	size_t len = 0;

	if (!end)
		end = printed.text + printed.len;
	while (end > printed.text && end[-1] == '\n')
		end--;
	*end = '\0';
	for (at = end; at > printed.text && (size_t)(end - at) + 2 * nr + 4 < size; at--)
		if (at[-1] == '\n' && !--nr)
			break;
	for (; *at && len + 4 < size; at++) {
		if (*at == '\n') {
			memcpy(buf + len, " / ", 3);
			len += 3;
		} else {
			buf[len++] = *at;
		}
	}
	buf[len] = '\0';
	return buf;
}

static bool read_line(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, buf, size - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return false;
	buf[len] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

static bool has_capability(int cap)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};

	return !syscall(SYS_capget, &header, data) &&
	       data[cap / 32].effective & (1u << (cap % 32));
}

/* What can be said before trying. */
static int check_rights(struct sl_err *err)
{
	char lockdown[128], unprivileged[16] = "?";
	bool bpf, perfmon;

	if (access(BTF_PATH, R_OK))
		return sl_err_set(err, SL_ENOBACKEND,
				  "bpf: " BTF_PATH ": %s: the kernel has no BTF "
				  "(CONFIG_DEBUG_INFO_BTF)", strerror(errno));
	if (read_line(LOCKDOWN_PATH, lockdown, sizeof(lockdown)) &&
	    strstr(lockdown, "[confidentiality]"))
		return sl_err_set(err, SL_ENOBACKEND,
				  "bpf: the kernel is locked down (" LOCKDOWN_PATH ": %s): "
				  "programs may not read its memory", lockdown);
	if (has_capability(CAP_SYS_ADMIN))
		return 0;
	bpf = has_capability(CAP_BPF);
	perfmon = has_capability(CAP_PERFMON);
	if (bpf && perfmon)
		return 0;
	read_line(UNPRIVILEGED_PATH, unprivileged, sizeof(unprivileged));
	return sl_err_set(err, SL_ENOBACKEND,
			  "bpf: no %s%s%s: run as root or with these capabilities "
			  "(kernel.unprivileged_bpf_disabled is %s)",
			  bpf ? "" : "CAP_BPF", !bpf && !perfmon ? " and no " : "",
			  perfmon ? "" : "CAP_PERFMON", unprivileged);
}

/* Why an object with all that it needs did not load. */
static int explain(int code, const struct sl_bpf_params *params, struct sl_err *err)
{
	char lines[600] = "";

	if (params->verbose)
		last_lines(lines, sizeof(lines), 12);
	if (printed.refused[0])
		return sl_err_set(err, SL_ENOBACKEND, "bpf: the kernel refused program %s: %s%s%s",
				  printed.refused, strerror(-code), *lines ? ": " : "", lines);
	if (code == -EPERM)
		return sl_err_set(err, SL_ENOBACKEND, "bpf: not permitted, in spite of the "
				  "capabilities: a container or security module forbids bpf()%s%s",
				  *lines ? ": " : "", lines);
	if (code == -EINVAL)
		return sl_err_set(err, SL_ENOBACKEND, "bpf: the kernel has no BPF ring buffer or no "
				  "BTF tracepoints: it is older than 5.8%s%s",
				  *lines ? ": " : "", lines);
	return sl_err_set(err, SL_ENOBACKEND, "bpf: loading the programs: %s%s%s", strerror(-code),
			  *lines ? ": " : "", lines);
}

/* text and mask of a name with * at either end. */
static int set_comm(const char *name, struct sl_bpf_comm *ret_comm, struct sl_err *err)
{
	size_t len = strlen(name);
	bool first = *name == '*', last = len > first && name[len - 1] == '*';
	const char *from = name + first;

	len -= first + last;
	if (len >= SL_BPF_COMM || memchr(from, '*', len))
		return sl_err_set(err, SL_EUSAGE, "bpf: name %s: expected up to %d bytes with * at "
				  "either end or both", name, SL_BPF_COMM - 1);
	memset(ret_comm, 0, sizeof(*ret_comm));
	memcpy(ret_comm->text, from, len);
	/* With the NUL behind it unless anything may follow. */
	memset(ret_comm->mask, 0xff, len + !last);
	ret_comm->anywhere = first;
	return 0;
}

static int set_only(const struct sl_bpf_only *only, struct sl_bpf_config *config,
		    struct sl_err *err)
{
	size_t i;
	int ret;

	if (only->nr_comms > SL_BPF_COMMS_MAX || only->nr_cgroups > SL_BPF_CGROUPS_MAX)
		return sl_err_set(err, SL_EUSAGE, "bpf: at most %d names and %d cgroups",
				  SL_BPF_COMMS_MAX, SL_BPF_CGROUPS_MAX);
	config->only_short = only->short_slice;
	config->short_ns = only->short_ns;
	config->only_pid = only->nr_tids || only->nr_tgids;
	config->nr_comms = only->nr_comms;
	config->nr_cgroups = only->nr_cgroups;
	for (i = 0; i < only->nr_cgroups; i++)
		config->cgroups[i] = only->cgroups[i];
	for (i = 0; i < only->nr_comms; i++) {
		ret = set_comm(only->comms[i], &config->comms[i], err);
		if (ret)
			return ret;
	}
	return 0;
}

static int fill_pids(struct sl_bpf *b, struct sl_err *err)
{
	const struct sl_bpf_only *only = &b->params.only;
	size_t i;

	for (i = 0; i < only->nr_tids + only->nr_tgids; i++) {
		bool tid = i < only->nr_tids;
		uint64_t key = tid ? (uint64_t)SL_BPF_ONLY_TID << 32 | (uint32_t)only->tids[i] :
				     (uint64_t)SL_BPF_ONLY_TGID << 32 |
				     (uint32_t)only->tgids[i - only->nr_tids];
		uint8_t value = 1;

		if (bpf_map_update_elem(bpf_map__fd(b->skel->maps.only_pids), &key, &value, BPF_ANY))
			return sl_err_set(err, -errno, "bpf: storing the tasks to be recorded: %s",
					  strerror(errno));
	}
	return 0;
}

static bool is_needed(const struct sl_bpf *b, enum sl_bpf_need need)
{
	bool evidence = !b->params.no_evidence && b->caps.has_eevdf;

	switch (need) {
	case SL_BPF_NEED_IRQ: return b->params.irq;
	case SL_BPF_NEED_IDLE: return b->params.idle;
	case SL_BPF_NEED_EVIDENCE: return evidence;
	case SL_BPF_NEED_IRQ_OR_EVIDENCE: return evidence || b->params.irq;
	case SL_BPF_NEED_ALWAYS: break;
	}
	return true;
}

__attribute__((format(printf, 3, 4)))
static void set_probe(struct sl_bpf_probe *probe, enum sl_bpf_probe_state state,
		      const char *fmt, ...)
{
	va_list args;

	probe->state = state;
	va_start(args, fmt);
	vsnprintf(probe->reason, sizeof(probe->reason), fmt, args);
	va_end(args);
}

static void choose_probes(struct sl_bpf *b, const struct btf *btf)
{
	char args[16];
	size_t i;

	for (i = 0; i < sl_bpf_nr_probe_descs; i++) {
		const struct sl_bpf_probe_desc *desc = &sl_bpf_probe_descs[i];
		struct sl_bpf_probe *probe = &b->probes[i];
		int found = sl_bpf_check_tracepoint(btf, desc, args, sizeof(args));

		probe->system = desc->system;
		probe->name = desc->tracepoint;
		if (!i)
			b->has_prev_state = args[0] && args[1] && args[2] && args[3] == 'u';
		if (found < 0)
			set_probe(probe, SL_BPF_PROBE_UNKNOWN, "arguments %s, known are %s",
				  args, desc->args);
		else if (!found)
			set_probe(probe, SL_BPF_PROBE_ABSENT, "this kernel has no such tracepoint");
		else if (!is_needed(b, desc->need))
			set_probe(probe, SL_BPF_PROBE_OFF, "not asked for");
		else
			set_probe(probe, SL_BPF_PROBE_ON, "%s", "");
	}
}

/* sched_switch and a wakeup. */
static int check_mandatory(const struct sl_bpf *b, struct sl_err *err)
{
	const struct sl_bpf_probe *sw = &b->probes[0];
	size_t i;

	if (sw->state != SL_BPF_PROBE_ON)
		return sl_err_set(err, SL_ENOBACKEND, "bpf: sched:sched_switch: %s", sw->reason);
	for (i = 1; i <= 2; i++)
		if (b->probes[i].state == SL_BPF_PROBE_ON)
			return 0;
	return sl_err_set(err, SL_ENOBACKEND, "bpf: sched:%s: %s", b->probes[2].name,
			  b->probes[2].reason);
}

static uint64_t ring_size(const struct sl_bpf *b)
{
	uint64_t want = b->params.ring_bytes, size = sysconf(_SC_PAGESIZE);
	uint64_t def = RING_PER_CPU * b->caps.nr_cpus;

	if (!want)
		want = def < RING_MIN ? RING_MIN : def > RING_DEFAULT_MAX ? RING_DEFAULT_MAX : def;
	while (size < want && size < RING_MAX)
		size *= 2;
	return size;
}

/* One attempt with the programs that are on. */
static int load_once(struct sl_bpf *b)
{
	struct schedlat_bpf *skel = schedlat_bpf__open();
	size_t i, nr_ids = b->params.only.nr_tids + b->params.only.nr_tgids;
	struct sl_bpf_config *config;
	struct bpf_program *prog;
	int ret;

	if (!skel)
		return -errno;
	b->skel = skel;
	config = &skel->rodata->config;
	*config = b->only;
	config->own_tgid = b->params.own_tgid;
	config->evidence = !b->params.no_evidence && b->caps.has_eevdf;
	config->irq = b->params.irq;
	config->has_prev_state = b->has_prev_state;
	config->wake_bytes = b->caps.ring_bytes / 4;
	config->threshold_ns = b->params.threshold_ns;
	config->nr_cpus = b->caps.nr_cpus;
	config->nr_hists = b->nr_hists;
	config->live = b->params.live;
	skel->bss->control.threshold_ns = b->params.threshold_ns;
	for (i = 0; i < sl_bpf_nr_probe_descs; i++) {
		prog = bpf_object__find_program_by_name(skel->obj, sl_bpf_probe_descs[i].program);
		if (prog)
			bpf_program__set_autoload(prog, b->probes[i].state == SL_BPF_PROBE_ON);
	}
	ret = bpf_map__set_max_entries(skel->maps.ring, b->caps.ring_bytes);
	if (!ret)
		ret = bpf_map__set_max_entries(skel->maps.cpus, b->caps.nr_cpus);
	if (!ret && nr_ids)
		ret = bpf_map__set_max_entries(skel->maps.only_pids, nr_ids);
	/* Without a threshold what needs these is no part of the programs; nor of old kernels. */
	if (!b->params.threshold_ns) {
		bpf_map__set_autocreate(skel->maps.tasks, false);
		bpf_map__set_autocreate(skel->maps.history, false);
		bpf_map__set_autocreate(skel->maps.hists, false);
	} else if (!ret) {
		ret = bpf_map__set_max_entries(skel->maps.history, b->caps.nr_cpus) ?:
		      bpf_map__set_max_entries(skel->maps.hists, b->nr_hists);
	}
	if (!b->params.live)
		bpf_map__set_autocreate(skel->maps.free_hists, false);
	else if (!ret)
		ret = bpf_map__set_max_entries(skel->maps.free_hists, b->nr_hists);
	if (!ret)
		ret = schedlat_bpf__load(skel);
	if (ret) {
		schedlat_bpf__destroy(skel);
		b->skel = NULL;
	}
	return ret;
}

/* Load, leaving out optional programs that the verifier refuses. */
static int load(struct sl_bpf *b, struct sl_err *err)
{
	size_t i, tries;
	int ret;

	for (tries = 0; tries <= sl_bpf_nr_probe_descs; tries++) {
		char lines[120];

		memset(&printed, 0, sizeof(printed));
		ret = load_once(b);
		if (!ret)
			return 0;
		for (i = 1; i < sl_bpf_nr_probe_descs; i++)
			if (!strcmp(printed.refused, sl_bpf_probe_descs[i].program))
				break;
		if (!printed.refused[0] || i >= sl_bpf_nr_probe_descs || i == 2 || ret == -EPERM)
			return explain(ret, &b->params, err);
		set_probe(&b->probes[i], SL_BPF_PROBE_REFUSED, "the kernel refused the program: %s",
			  b->params.verbose ? last_lines(lines, sizeof(lines), 3) : strerror(-ret));
	}
	return sl_err_set(err, SL_ENOBACKEND, "bpf: the kernel refused every program");
}

static int attach(struct sl_bpf *b, struct sl_err *err)
{
	struct bpf_program *prog;
	size_t i;

	for (i = 0; i < sl_bpf_nr_probe_descs; i++) {
		if (b->probes[i].state != SL_BPF_PROBE_ON)
			continue;
		prog = bpf_object__find_program_by_name(b->skel->obj,
							sl_bpf_probe_descs[i].program);
		b->links[i] = prog ? bpf_program__attach(prog) : NULL;
		if (!b->links[i])
			set_probe(&b->probes[i], SL_BPF_PROBE_REFUSED, "cannot be attached: %s",
				  strerror(errno));
	}
	return check_mandatory(b, err);
}

static void detach(struct sl_bpf *b)
{
	size_t i;

	for (i = 0; i < sl_bpf_nr_probe_descs; i++) {
		bpf_link__destroy(b->links[i]);
		b->links[i] = NULL;
	}
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec ts = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/*
 * Which bit of a thread's flags is TIF_NEED_RESCHED stands in no BTF. Where it is not
 * known here the program learns it from the first idle CPU that is asked to stop; but
 * x86 has only two layouts, and a pending signal tells them apart: it is bit 2 where
 * need_resched is 3, and bit 1 where it is 4, as on the architectures that have the
 * common layout of 6.18. A thread that waits for a signal shows which.
 */
struct learner {
	sigset_t set;
	volatile int tid;
	bool woken;		/* by the signal, not by the time limit */
};

static void *wait_for_signal(void *arg)
{
	struct learner *learner = arg;
	struct timespec limit = {.tv_nsec = 200000000};

	pthread_sigmask(SIG_BLOCK, &learner->set, NULL);
	learner->tid = syscall(SYS_gettid);
	learner->woken = sigtimedwait(&learner->set, NULL, &limit) > 0;
	return NULL;
}

static unsigned int flags_with_signal(struct sl_bpf *b)
{
	struct sl_bpf_control *control = &b->skel->bss->control;
	const volatile unsigned int *flags = &control->learn_flags;
	struct learner learner = {.tid = 0};
	sigset_t old;
	pthread_t thread;
	int i;

	sigemptyset(&learner.set);
	sigaddset(&learner.set, SIGRTMAX - 1);
	/* The thread begins with it blocked, as nobody else may be hit by it. */
	pthread_sigmask(SIG_BLOCK, &learner.set, &old);
	i = pthread_create(&thread, NULL, wait_for_signal, &learner);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (i)
		return 0;
	while (!learner.tid)
		sleep_until(now_ns() + 100000);
	/* Once it sleeps: a signal that is there before wakes nobody. */
	sleep_until(now_ns() + 2000000);
	control->learn_flags = 0;
	__atomic_store_n(&control->learn_tid, learner.tid, __ATOMIC_RELEASE);
	pthread_kill(thread, SIGRTMAX - 1);
	pthread_join(thread, NULL);
	__atomic_store_n(&control->learn_tid, 0, __ATOMIC_RELEASE);
	return learner.woken ? *flags : 0;
}

static void learn_tif(struct sl_bpf *b)
{
	struct sl_bpf_control *control = &b->skel->bss->control;
	unsigned int flags, i;
	int tif = 0;

#if defined(__x86_64__) || defined(__i386__)
	for (i = 0; i < 20 && !tif; i++) {
		/* In the older layout bit 1 is NOTIFY_RESUME, which rseq sets at any switch. */
		flags = flags_with_signal(b);
		tif = flags & 4 ? 3 : flags & 2 ? 4 : 0;
	}
#else
	(void)flags;
	for (i = 0; i < 20 && !control->tif_resched; i++)
		sleep_until(now_ns() + 100000);
#endif
	if (!tif)
		return;
	/* The lazy flag, since 6.13, is older than the tracepoint. */
	control->tif_mask = SL_BPF_RESCHED;
	for (i = 0; i < sl_bpf_nr_probe_descs; i++)
		if (!strcmp(sl_bpf_probe_descs[i].program, "need_resched") &&
		    b->probes[i].state == SL_BPF_PROBE_ON)
			control->tif_mask |= SL_BPF_RESCHED_LAZY;
	__atomic_store_n(&control->tif_resched, tif, __ATOMIC_RELEASE);
}

static int open_locked(struct sl_bpf *b, struct sl_err *err)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int ret;

	if (!btf)
		return sl_err_set(err, SL_ENOBACKEND, "bpf: " BTF_PATH ": %s: the kernel's BTF "
				  "cannot be read", strerror(errno));
	sl_bpf_fill_caps(btf, &b->caps);
	choose_probes(b, btf);
	btf__free(btf);
	b->caps.ring_bytes = ring_size(b);
	ret = check_mandatory(b, err);
	if (!ret)
		ret = set_only(&b->params.only, &b->only, err);
	if (!ret)
		ret = load(b, err);
	if (!ret)
		ret = fill_pids(b, err);
	if (!ret)
		ret = sl_bpf_map_memory(b, err);
	if (!ret)
		ret = attach(b, err);
	return ret;
}

int sl_bpf_open(const struct sl_bpf_params *params, struct sl_bpf **ret_bpf, struct sl_err *err)
{
	libbpf_print_fn_t old;
	struct sl_bpf *b;
	int ret, nr_cpus;

	ret = check_rights(err);
	if (ret)
		return ret;
	nr_cpus = libbpf_num_possible_cpus();
	if (nr_cpus <= 0)
		return sl_err_set(err, nr_cpus ? nr_cpus : -EINVAL, "bpf: number of CPUs: %s",
				  strerror(-nr_cpus));
	b = calloc(1, sizeof(*b));
	if (!b)
		return sl_err_set(err, -ENOMEM, "bpf: out of memory");
	b->params = *params;
	b->caps.nr_cpus = nr_cpus;
	/* One more: that of the threads which find no other left. */
	if (params->threshold_ns)
		b->nr_hists = 1 + (params->nr_threads ?: HISTS_DEFAULT);
	b->stats_fd = b->epoll_fd = -1;
	b->probes = calloc(sl_bpf_nr_probe_descs, sizeof(*b->probes));
	b->links = calloc(sl_bpf_nr_probe_descs, sizeof(*b->links));
	b->last_ts = calloc(nr_cpus, sizeof(*b->last_ts));
	if (!b->probes || !b->links || !b->last_ts) {
		ret = sl_err_set(err, -ENOMEM, "bpf: out of memory");
		sl_bpf_close(b);
		return ret;
	}
	pthread_mutex_lock(&print_lock);
	memset(&printed, 0, sizeof(printed));
	old = libbpf_set_print(keep_print);
	ret = open_locked(b, err);
	libbpf_set_print(old);
	pthread_mutex_unlock(&print_lock);
	if (ret) {
		sl_bpf_close(b);
		return ret;
	}
	if (params->run_stats)
		b->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	learn_tif(b);
	*ret_bpf = b;
	return 0;
}

int sl_bpf_start(struct sl_bpf *b, struct sl_err *err)
{
	struct sl_bpf_control *control = &b->skel->bss->control;

	if (b->start_ns)
		return sl_err_set(err, SL_EUSAGE, "bpf: started before");
	b->start_ns = now_ns() + MARGIN_NS;
	control->start_ns = b->start_ns;
	control->stop_ns = UINT64_MAX;
	__atomic_store_n(&control->on, 1, __ATOMIC_RELEASE);
	sleep_until(b->start_ns);
	return 0;
}

void sl_bpf_stop(struct sl_bpf *b)
{
	struct sl_bpf_control *control = &b->skel->bss->control;

	if (!b->start_ns || b->stop_ns)
		return;
	b->stop_ns = now_ns() + MARGIN_NS;
	__atomic_store_n(&control->stop_ns, b->stop_ns, __ATOMIC_RELEASE);
	sleep_until(b->stop_ns);
	__atomic_store_n(&control->on, 0, __ATOMIC_RELEASE);
	detach(b);
}

void sl_bpf_close(struct sl_bpf *b)
{
	if (!b)
		return;
	sl_bpf_unmap_memory(b);
	if (b->links)
		detach(b);
	if (b->skel)
		schedlat_bpf__destroy(b->skel);
	if (b->stats_fd >= 0)
		close(b->stats_fd);
	free(b->last_ts);
	free(b->links);
	free(b->probes);
	free(b);
}

const struct sl_bpf_caps *sl_bpf_caps(const struct sl_bpf *b)
{
	return &b->caps;
}

size_t sl_bpf_nr_probes(const struct sl_bpf *b)
{
	(void)b;
	return sl_bpf_nr_probe_descs;
}

const struct sl_bpf_probe *sl_bpf_probe(const struct sl_bpf *b, size_t i)
{
	return i < sl_bpf_nr_probe_descs ? &b->probes[i] : NULL;
}

uint64_t sl_bpf_start_ns(const struct sl_bpf *b)
{
	return b->start_ns;
}

uint64_t sl_bpf_stop_ns(const struct sl_bpf *b)
{
	return b->stop_ns;
}
