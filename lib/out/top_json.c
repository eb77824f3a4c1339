// SPDX-License-Identifier: LGPL-2.1-only
/* A frame of top as a line of JSON: schema schedlat.top/1. */
#include <errno.h>
#include <string.h>

#include "out/json.h"
#include "out/top.h"
#include "util/time.h"

static json_t *name_of(const char *comm)
{
	char text[17] = "";

	memcpy(text, comm, strnlen(comm, 16));
	return sl_json_text(text);
}

static json_t *waiting(const struct sl_top_task *task, int *bad)
{
	json_t *o;

	if (!task->waiting)
		return json_null();
	o = json_object();
	*bad |= sl_json_set(o, "ns", sl_json_ns(task->waiting_ns));
	*bad |= sl_json_set(o, "cpu", sl_json_id(task->wait_cpu));
	*bad |= sl_json_set(o, "behind_tid", sl_json_id(task->behind_tid));
	*bad |= sl_json_set(o, "behind_comm", name_of(task->behind_comm));
	*bad |= sl_json_set(o, "protected_ns", task->protected_ns == SL_NO_VALUE ? json_null() :
			   json_integer(task->protected_ns));
	return o;
}

static json_t *task_of(const struct sl_top_task *task, int *bad)
{
	const enum sl_cause cause = task->cause;
	json_t *o = json_object();

	*bad |= sl_json_set(o, "comm", name_of(task->comm));
	*bad |= sl_json_set(o, "tid", sl_json_id(task->tid));
	*bad |= sl_json_set(o, "tgid", sl_json_id(task->tgid));
	*bad |= sl_json_set(o, "class", task->sched_class == SL_CLASS_UNKNOWN ? json_null() :
			   sl_json_text(sl_class_name(task->sched_class)));
	*bad |= sl_json_set(o, "slice_ns", sl_json_ns(task->slice_ns ?: SL_TIME_NONE));
	*bad |= sl_json_set(o, "short", json_boolean(task->is_short));
	*bad |= sl_json_set(o, "count", json_integer(task->waits));
	*bad |= sl_json_set(o, "sum_ns", json_integer(task->sum_ns));
	*bad |= sl_json_set(o, "p50_ns", sl_json_ns(task->waits ? task->p50_ns : SL_TIME_NONE));
	*bad |= sl_json_set(o, "p99_ns", sl_json_ns(task->waits ? task->p99_ns : SL_TIME_NONE));
	*bad |= sl_json_set(o, "max_ns", sl_json_ns(task->waits ? task->max_ns : SL_TIME_NONE));
	*bad |= sl_json_set(o, "now_count", json_integer(task->now_waits));
	*bad |= sl_json_set(o, "now_ns", json_integer(task->now_ns));
	*bad |= sl_json_set(o, "judged_count", json_integer(task->judged->waits));
	*bad |= sl_json_set(o, "judged_ns", json_integer(task->judged->ns));
	*bad |= sl_json_set(o, "cause", cause == SL_CAUSE_NONE ? json_null() : sl_json_text(sl_cause_descs[cause].id));
	*bad |= sl_json_set(o, "cause_ns", cause == SL_CAUSE_NONE ? json_null() :
			   json_integer(task->judged->cause_ns[cause]));
	*bad |= sl_json_set(o, "waiting", waiting(task, bad));
	return o;
}

static const struct sl_why_cause *kept_cause(const struct sl_top_frame *f, enum sl_cause cause)
{
	for (unsigned int i = 0; f->kept && i < f->kept->why.nr_causes; i++)
		if (f->kept->why.causes[i].cause == cause)
			return &f->kept->why.causes[i];
	return NULL;
}

static json_t *cause_of(const struct sl_top_frame *f, const struct sl_top_cause *cause, int *bad)
{
	const struct sl_why_cause *kept = kept_cause(f, cause->cause);
	json_t *o = json_object(), *confidence = json_object();

	*bad |= sl_json_set(o, "id", sl_json_text(sl_cause_descs[cause->cause].id));
	*bad |= sl_json_set(o, "family", sl_json_text(sl_out_family_name(sl_cause_descs[cause->cause].family)));
	*bad |= sl_json_set(o, "now_ns", json_integer(cause->now_ns));
	*bad |= sl_json_set(o, "now_count", json_integer(cause->now_waits));
	*bad |= sl_json_set(o, "ns", json_integer(cause->total_ns));
	*bad |= sl_json_set(o, "count", json_integer(cause->total_waits));
	*bad |= sl_json_set(o, "kept_ns", json_integer(kept ? kept->ns : 0));
	*bad |= sl_json_set(o, "kept_count", json_integer(kept ? kept->count : 0));
	for (unsigned int i = 0; i < SL_CONF_NR; i++)
		*bad |= sl_json_set(confidence, sl_confidence_name(i), json_integer(cause->confidence_ns[i]));
	*bad |= sl_json_set(o, "confidence", confidence);
	return o;
}

static json_t *cpu_of(const struct sl_top_cpu *cpu, int *bad)
{
	json_t *o = json_object();
	const bool known = cpu->tid >= 0;

	*bad |= sl_json_set(o, "cpu", json_integer(cpu->cpu));
	*bad |= sl_json_set(o, "tid", sl_json_id(cpu->tid));
	*bad |= sl_json_set(o, "comm", known ? name_of(cpu->comm) : json_null());
	*bad |= sl_json_set(o, "ran_ns", sl_json_ns(known ? cpu->ran_ns : SL_TIME_NONE));
	*bad |= sl_json_set(o, "runnable", sl_json_id(cpu->nr_running));
	*bad |= sl_json_set(o, "min_slice_ns", sl_json_ns(cpu->min_slice_ns ?: SL_TIME_NONE));
	*bad |= sl_json_set(o, "idle_permille", sl_json_id(cpu->idle_permille));
	*bad |= sl_json_set(o, "waiting", json_integer(cpu->waiting));
	*bad |= sl_json_set(o, "now_count", json_integer(cpu->now_waits));
	*bad |= sl_json_set(o, "now_ns", json_integer(cpu->now_ns));
	return o;
}

static json_t *all_of(const struct sl_top_all *all, int *bad)
{
	static const char *const names[SL_BPF_RAN_NR] = {
		[SL_BPF_RAN_IDLE] = "idle_ns", [SL_BPF_RAN_FAIR] = "fair_ns", [SL_BPF_RAN_RT] = "rt_ns",
		[SL_BPF_RAN_DL] = "dl_ns",
	};
	json_t *o = json_object();

	*bad |= sl_json_set(o, "count", json_integer(all->waits));
	*bad |= sl_json_set(o, "sum_ns", json_integer(all->sum_ns));
	*bad |= sl_json_set(o, "path_ns", all->by_class ? json_integer(all->path_ns) : json_null());
	for (unsigned int i = 0; i < SL_BPF_RAN_NR; i++)
		*bad |= sl_json_set(o, names[i], all->by_class ? json_integer(all->ran_ns[i]) : json_null());
	*bad |= sl_json_set(o, "moved_ns", all->by_class ? json_integer(all->moved_ns) : json_null());
	return o;
}

static json_t *judged_of(const struct sl_top_frame *f, int *bad)
{
	json_t *o = json_object();

	*bad |= sl_json_set(o, "threshold_ns", json_integer(f->threshold_ns));
	*bad |= sl_json_set(o, "short", json_boolean(f->only_short));
	*bad |= sl_json_set(o, "now_count", json_integer(f->now_judged_waits));
	*bad |= sl_json_set(o, "now_ns", json_integer(f->now_judged_ns));
	*bad |= sl_json_set(o, "count", json_integer(f->judged_waits));
	*bad |= sl_json_set(o, "ns", json_integer(f->judged_ns));
	*bad |= sl_json_set(o, "kept_count", json_integer(f->kept ? f->kept->why.count : 0));
	*bad |= sl_json_set(o, "kept_ns", json_integer(f->kept ? f->kept->why.total_ns : 0));
	*bad |= sl_json_set(o, "tainted_count", json_integer(f->tainted_waits));
	return o;
}

int sl_out_top_json(struct sl_out *out, const struct sl_top_frame *f)
{
	json_t *o = json_object(), *tasks = json_array(), *causes = json_array(), *cpus = json_array();
	json_t *own = json_object();
	int bad = 0;

	bad |= sl_json_set(o, "schema", sl_json_text("schedlat.top/1"));
	bad |= sl_json_set(o, "frame", json_integer(f->nr));
	bad |= sl_json_set(o, "time_ns", json_integer(f->real_ns));
	bad |= sl_json_set(o, "run_ns", json_integer(f->run_ns));
	bad |= sl_json_set(o, "interval_ns", json_integer(f->interval_ns));
	bad |= sl_json_set(o, "backend", sl_json_text(f->backend));
	bad |= sl_json_set(o, "why_not_bpf", sl_json_text(f->why));
	bad |= sl_json_set(o, "base_slice_ns", sl_json_ns(f->base_slice_ns ?: SL_TIME_NONE));
	bad |= sl_json_set(own, "cpu_permille", json_integer(f->own_cpu_permille));
	bad |= sl_json_set(own, "rss_bytes", json_integer(f->own_rss_bytes));
	bad |= sl_json_set(own, "kept_bytes", json_integer(f->kept_bytes));
	bad |= sl_json_set(own, "lost", json_integer(f->lost));
	bad |= sl_json_set(o, "own", own);
	bad |= sl_json_set(o, "judged", judged_of(f, &bad));
	bad |= sl_json_set(o, "all", all_of(&f->all, &bad));
	bad |= sl_json_set(o, "threads", json_integer(f->nr_threads));
	for (unsigned int i = 0; i < f->nr_tasks; i++)
		bad |= sl_json_append(tasks, task_of(&f->tasks[i], &bad));
	for (unsigned int i = 0; i < f->nr_causes; i++)
		bad |= sl_json_append(causes, cause_of(f, &f->causes[i], &bad));
	for (unsigned int i = 0; i < f->nr_cpus; i++)
		bad |= sl_json_append(cpus, cpu_of(&f->cpus[i], &bad));
	bad |= sl_json_set(o, "tasks", tasks);
	bad |= sl_json_set(o, "causes", causes);
	bad |= sl_json_set(o, "cpus", cpus);
	if (bad) {
		json_decref(o);
		return -ENOMEM;
	}
	if (sl_json_print(out, o))
		return -ENOMEM;
	fputc('\n', out->file);
	return 0;
}
