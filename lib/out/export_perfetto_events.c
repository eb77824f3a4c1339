// SPDX-License-Identifier: LGPL-2.1-only
/*
 * What happened around the waits, from a second reading of the recording: sched_switch and
 * sched_waking as Perfetto knows them, so that it draws who ran on each CPU and the state of
 * each thread itself; a counter of queued tasks per CPU, as the engine that finds the waits
 * counts them; the gaps of each CPU; and the processes.
 */
#include "out/export_perfetto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"
#include "report/meta.h"
#include "report/pump.h"
#include "util/time.h"
#include "wait/engine.h"

enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2 };
enum { FTRACE_TIMESTAMP = 1, FTRACE_PID = 2, FTRACE_SWITCH = 4, FTRACE_WAKING = 20 };
enum { SWITCH_PREV_COMM = 1, SWITCH_PREV_PID, SWITCH_PREV_PRIO, SWITCH_PREV_STATE, SWITCH_NEXT_COMM,
       SWITCH_NEXT_PID, SWITCH_NEXT_PRIO };
enum { WAKING_COMM = 1, WAKING_PID, WAKING_PRIO, WAKING_SUCCESS, WAKING_TARGET_CPU };
enum { TREE_PROCESS = 1, TREE_THREAD = 2 };
enum { PROCESS_PID = 1, PROCESS_CMDLINE = 3, PROCESS_CMDLINE_IS_COMM = 9 };
enum { TREE_THREAD_TID = 1, TREE_THREAD_NAME = 2, TREE_THREAD_TGID = 3 };
enum { INFO_UTSNAME = 1, UTSNAME_SYSNAME = 1, UTSNAME_RELEASE = 3 };

#define NO_COUNT UINT32_MAX

struct events {
	struct sl_perfetto *p;
	const struct sl_report *report;
	struct sl_engine engine;
	struct sl_meta meta;
	bool modern;			/* task states as kernels since 4.14 report them */
	bool inside;			/* between the first and the last wait */
	struct sl_event *last_switch;	/* [SL_CPU_MAX], before that; another kind: none */
	uint32_t *queued;		/* [SL_CPU_MAX], as written; NO_COUNT: not yet */
	uint64_t loss_tracks[SL_CPUMASK_WORDS];
	int error;
};

/* ---- the kernel ---- */

/*
 * The raw state that Perfetto expects (task_state.cc): bits up to 0x20 mean the same in every
 * kernel, those above are as since 4.14 if it knows the kernel to be that.
 */
static uint64_t raw_state(const struct events *ev, char state, bool preempted)
{
	switch (state) {
	case 'S': return 0x01;
	case 'D': return 0x02;
	case 'T': return 0x04;
	case 't': return 0x08;
	case 'X': return 0x10;
	case 'Z': return 0x20;
	case 'P': return ev->modern ? 0x40 : 0x01;
	case 'I': return ev->modern ? 0x80 : 0x02;
	}
	return ev->modern && preempted ? 0x100 : 0;
}

/* "Linux host 6.18.1 x86_64" */
static void learn_release(struct events *ev, char *ret_release, size_t size)
{
	const char *kernel = ev->report->info->kernel;
	int major = 0, minor = 0;

	ret_release[0] = '\0';
	if (!kernel || sscanf(kernel, "%*s %*s %d.%d", &major, &minor) != 2)
		return;
	kernel += strcspn(kernel, " ") + 1;
	kernel += strcspn(kernel, " ") + 1;
	snprintf(ret_release, size, "%.*s", (int)strcspn(kernel, " "), kernel);
	ev->modern = major > 4 || (major == 4 && minor >= 14);
}

static int write_system(struct events *ev)
{
	struct sl_proto *proto = &ev->p->proto;
	char release[128], text[512];

	learn_release(ev, release, sizeof(release));
	if (!release[0])
		return 0;
	sl_perfetto_open(ev->p, SEQUENCE_FTRACE);
	sl_proto_begin(proto, PACKET_SYSTEM_INFO);
	sl_proto_begin(proto, INFO_UTSNAME);
	sl_proto_text(proto, UTSNAME_SYSNAME, "Linux");
	sl_proto_text(proto, UTSNAME_RELEASE, sl_fmt_escape(text, sizeof(text), release, true));
	sl_proto_end(proto);
	sl_proto_end(proto);
	return sl_perfetto_close(ev->p);
}

/* ---- tracepoints ---- */

static void comm_field(struct sl_proto *proto, unsigned int field, const char comm[SL_COMM_LEN])
{
	char name[SL_COMM_LEN + 1] = "", text[4 * SL_COMM_LEN + 1];

	memcpy(name, comm, SL_COMM_LEN);
	sl_proto_text(proto, field, sl_fmt_escape(text, sizeof(text), name, true));
}

static void open_ftrace(struct events *ev, const struct sl_event *event, unsigned int kind)
{
	struct sl_proto *proto = &ev->p->proto;

	sl_perfetto_open(ev->p, SEQUENCE_FTRACE);
	sl_proto_begin(proto, PACKET_FTRACE);
	sl_proto_uint(proto, BUNDLE_CPU, event->cpu);
	sl_proto_begin(proto, BUNDLE_EVENT);
	sl_proto_uint(proto, FTRACE_TIMESTAMP, event->ts_ns);
	sl_proto_uint(proto, FTRACE_PID, event->common_pid < 0 ? 0 : (uint64_t)event->common_pid);
	sl_proto_begin(proto, kind);
}

static int close_ftrace(struct events *ev)
{
	sl_proto_end(&ev->p->proto);
	sl_proto_end(&ev->p->proto);
	sl_proto_end(&ev->p->proto);
	return sl_perfetto_close(ev->p);
}

static int write_switch(struct events *ev, const struct sl_event *event)
{
	const struct sl_ev_switched *s = &event->switched;
	struct sl_proto *proto = &ev->p->proto;

	open_ftrace(ev, event, FTRACE_SWITCH);
	comm_field(proto, SWITCH_PREV_COMM, s->prev_comm);
	sl_proto_int(proto, SWITCH_PREV_PID, s->prev_pid);
	sl_proto_int(proto, SWITCH_PREV_PRIO, s->prev_prio);
	sl_proto_uint(proto, SWITCH_PREV_STATE, raw_state(ev, s->prev_state, s->prev_state_preempted));
	comm_field(proto, SWITCH_NEXT_COMM, s->next_comm);
	sl_proto_int(proto, SWITCH_NEXT_PID, s->next_pid);
	sl_proto_int(proto, SWITCH_NEXT_PRIO, s->next_prio);
	return close_ftrace(ev);
}

static int write_waking(struct events *ev, const struct sl_event *event)
{
	struct sl_proto *proto = &ev->p->proto;

	open_ftrace(ev, event, FTRACE_WAKING);
	comm_field(proto, WAKING_COMM, event->waking.comm);
	sl_proto_int(proto, WAKING_PID, event->waking.pid);
	sl_proto_int(proto, WAKING_PRIO, event->waking.prio);
	sl_proto_int(proto, WAKING_SUCCESS, event->waking.success);
	sl_proto_int(proto, WAKING_TARGET_CPU, event->waking.target_cpu);
	return close_ftrace(ev);
}

/* ---- loss ---- */

static int write_loss(struct events *ev, const struct sl_event *event)
{
	uint64_t uuid = sl_perfetto_uuid(TRACK_OF_LOSS, event->cpu), until_ns = event->lost.until_ns;
	char name[64];
	int ret = 0;

	if (until_ns == SL_TIME_NONE)
		until_ns = ev->report->t_end_ns;
	if (until_ns < event->lost.from_ns)
		return 0;
	if (!(ev->loss_tracks[event->cpu / 64] >> event->cpu % 64 & 1)) {
		ev->loss_tracks[event->cpu / 64] |= 1ull << event->cpu % 64;
		snprintf(name, sizeof(name), "lost events, CPU %u", event->cpu);
		ret = sl_perfetto_track(ev->p, uuid, 0, name, false);
	}
	if (ret)
		return ret;
	sl_perfetto_open_event(ev->p, uuid, event->lost.from_ns, TYPE_BEGIN, EVENT_NAME_LOST);
	if (event->lost.count != UINT64_MAX)
		sl_perfetto_note_uint(ev->p, ANNOTATION_LOST, event->lost.count);
	ret = sl_perfetto_close_event(ev->p);
	return ret ? ret : sl_perfetto_end_slice(ev->p, uuid, until_ns);
}

/* ---- queues ---- */

static int write_queued(struct events *ev, int cpu, uint64_t ns)
{
	uint64_t uuid = sl_perfetto_uuid(TRACK_OF_QUEUE, (uint32_t)cpu);
	const struct sl_cpu *c;
	char name[64];
	int ret = 0;

	if (cpu < 0 || cpu >= SL_CPU_MAX || !ev->engine.cpus.at[cpu])
		return 0;
	c = ev->engine.cpus.at[cpu];
	if (ev->queued[cpu] == c->nr_queued)
		return 0;
	if (ev->queued[cpu] == NO_COUNT) {
		snprintf(name, sizeof(name), "tasks queued, CPU %d", cpu);
		ret = sl_perfetto_track(ev->p, uuid, 0, name, true);
	}
	if (ret)
		return ret;
	ev->queued[cpu] = c->nr_queued;
	sl_perfetto_open_event(ev->p, uuid, ns, TYPE_COUNTER, 0);
	sl_proto_int(&ev->p->proto, EVENT_COUNTER_VALUE, c->nr_queued);
	return sl_perfetto_close_event(ev->p);
}

/* Who is queued or taken off a queue by the event, -1: nobody. */
static int32_t subject_of(const struct sl_event *event)
{
	switch (event->kind) {
	case SL_EV_SWITCH: return event->switched.next_pid;
	case SL_EV_WAKEUP: return event->wakeup.pid;
	case SL_EV_WAKEUP_NEW: return event->wakeup_new.pid;
	case SL_EV_MIGRATE: return event->migrate.pid;
	}
	return -1;
}

static int cpu_of(const struct events *ev, int32_t tid)
{
	const struct sl_task *t = tid > 0 ? sl_tasks_find(&ev->engine.tasks, tid) : NULL;

	return t ? t->cpu : -1;
}

static int write_all_queues(struct events *ev, uint64_t ns)
{
	unsigned int cpu;
	int ret = 0;

	for (cpu = 0; cpu < ev->engine.cpus.max && !ret; cpu++)
		ret = write_queued(ev, (int)cpu, ns);
	return ret;
}

/* The range begins: who ran on each CPU was told before it. */
static int enter(struct events *ev, uint64_t ns)
{
	unsigned int cpu;
	int ret = write_all_queues(ev, ns);

	for (cpu = 0; cpu < ev->engine.cpus.max && !ret; cpu++)
		if (ev->last_switch[cpu].kind == SL_EV_SWITCH)
			ret = write_switch(ev, &ev->last_switch[cpu]);
	ev->inside = true;
	return ret;
}

static int apply(struct events *ev, const struct sl_event *event)
{
	int32_t subject = subject_of(event);
	int before = cpu_of(ev, subject), ret = 0;

	if (event->kind == SL_EV_LOST && event->lost.from_ns <= ev->p->last_ns &&
	    event->ts_ns >= ev->p->first_ns)
		ret = write_loss(ev, event);
	if (!ret && !ev->inside && event->ts_ns >= ev->p->first_ns && event->ts_ns <= ev->p->last_ns)
		ret = enter(ev, event->ts_ns);
	if (!ret)
		ret = sl_engine_apply(&ev->engine, event, 1);
	if (!ev->inside && event->kind == SL_EV_SWITCH)
		ev->last_switch[event->cpu] = *event;
	if (ret || !ev->inside || event->ts_ns > ev->p->last_ns)
		return ret;
	if (event->kind == SL_EV_SWITCH)
		ret = write_switch(ev, event);
	else if (event->kind == SL_EV_WAKING)
		ret = write_waking(ev, event);
	else if (event->kind == SL_EV_LOST)
		return write_all_queues(ev, event->ts_ns);
	if (!ret)
		ret = write_queued(ev, event->cpu, event->ts_ns);
	if (!ret && subject > 0)
		ret = write_queued(ev, before, event->ts_ns);
	if (!ret && subject > 0)
		ret = write_queued(ev, cpu_of(ev, subject), event->ts_ns);
	return ret;
}

static int consume(void *arg, const struct sl_event *events, unsigned int nr)
{
	struct events *ev = arg;
	unsigned int i;

	for (i = 0; i < nr && !ev->error; i++)
		ev->error = apply(ev, &events[i]);
	return ev->error;
}

/* ---- processes ---- */

static int write_processes(struct events *ev)
{
	struct sl_proto *proto = &ev->p->proto;
	const struct sl_tasks *tasks = &ev->engine.tasks;
	uint32_t i;

	sl_perfetto_open(ev->p, SEQUENCE_FTRACE);
	sl_proto_uint(proto, PACKET_TIMESTAMP, ev->report->t_start_ns);
	sl_proto_begin(proto, PACKET_PROCESS_TREE);
	for (i = 0; i < tasks->nr; i++) {
		const struct sl_task *t = sl_tasks_at(tasks, i);

		if (t->tid <= 0 || t->tgid <= 0)
			continue;
		if (t->tid == t->tgid) {
			sl_proto_begin(proto, TREE_PROCESS);
			sl_proto_int(proto, PROCESS_PID, t->tid);
			comm_field(proto, PROCESS_CMDLINE, t->comm);
			sl_proto_uint(proto, PROCESS_CMDLINE_IS_COMM, 1);
			sl_proto_end(proto);
		} else {
			sl_proto_begin(proto, TREE_THREAD);
			sl_proto_int(proto, TREE_THREAD_TID, t->tid);
			comm_field(proto, TREE_THREAD_NAME, t->comm);
			sl_proto_int(proto, TREE_THREAD_TGID, t->tgid);
			sl_proto_end(proto);
		}
	}
	sl_proto_end(proto);
	return sl_perfetto_close(ev->p);
}

/* ---- the reading ---- */

static void on_closed(void *arg, const struct sl_closing *closing)
{
	(void)arg;
	(void)closing;
}

static void on_meta(void *arg, const struct sl_event *event)
{
	struct events *ev = arg;

	if (sl_meta_apply(&ev->meta, &ev->engine, event))
		ev->engine.error = -ENOMEM;
}

static int read_events(struct events *ev, struct sl_source *source, struct sl_err *err)
{
	struct sl_pump pump = { .source = source, .consume = consume, .arg = ev,
				.threads = ev->report->params.threads };
	unsigned int cpu;
	int ret;

	ret = sl_engine_init(&ev->engine, true);
	ev->engine.on_closed = on_closed;
	ev->engine.on_meta = on_meta;
	ev->engine.arg = ev;
	ev->last_switch = calloc(SL_CPU_MAX, sizeof(*ev->last_switch));
	ev->queued = malloc(SL_CPU_MAX * sizeof(*ev->queued));
	if (ret || !ev->last_switch || !ev->queued)
		return -ENOMEM;
	for (cpu = 0; cpu < SL_CPU_MAX; cpu++) {
		ev->queued[cpu] = NO_COUNT;
		ev->last_switch[cpu].kind = SL_EV_NR;
	}
	ret = write_system(ev);
	if (!ret)
		ret = sl_pump_run(&pump, err);
	return ret ? ret : write_processes(ev);
}

int sl_perfetto_events(struct sl_perfetto *p, const struct sl_report *report, struct sl_err *err)
{
	struct events *ev;
	struct sl_source *source;
	int ret;

	if (p->first_ns > p->last_ns)
		return 0;
	ret = sl_source_open(report->params.path, &source, err);
	if (ret)
		return ret;
	ev = calloc(1, sizeof(*ev));
	ret = -ENOMEM;
	if (ev) {
		ev->p = p;
		ev->report = report;
		ret = read_events(ev, source, err);
		free(ev->last_switch);
		free(ev->queued);
		sl_engine_release(&ev->engine);
		sl_meta_release(&ev->meta);
	}
	free(ev);
	sl_source_free(source);
	return ret == -ENOMEM ? sl_err_set(err, ret, "%s: out of memory", report->params.path) : ret;
}
