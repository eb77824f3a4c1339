// SPDX-License-Identifier: LGPL-2.1-only OR GPL-2.0-only
/*
 * What the scheduler does, recorded where it happens: one record per event, with
 * snapshots of the fair queues it is about, into a ring buffer. Decides nothing.
 *
 * Programs run with preemption off but not always with interrupts off, so that one can
 * start inside another on the same CPU: records with snapshots are put together in one
 * of two buffers per CPU. A task of the recorder is never recorded as woken, so that
 * reading the ring does not fill it.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include "live/bpf/shared.h"

/* Set by the loader before the program is verified. */
const volatile struct sl_bpf_config config;
/* Changed while it runs. */
struct sl_bpf_control control;

#include "evidence.bpf.h"
#include "filter.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sl_bpf_cpu);
} cpus SEC(".maps");

struct switch_record {
	struct sl_bpf_header h;
	struct sl_bpf_switch payload;
	struct sl_bpf_part parts[SL_BPF_PARTS_MAX];
};

struct wake_record {
	struct sl_bpf_header h;
	struct sl_bpf_wake payload;
	struct sl_bpf_part parts[SL_BPF_PARTS_MAX];
};

struct migrate_record {
	struct sl_bpf_header h;
	struct sl_bpf_migrate payload;
	struct sl_bpf_part parts[SL_BPF_PARTS_MAX];
};

struct number_record {
	struct sl_bpf_header h;
	struct sl_bpf_number payload;
	struct sl_bpf_part parts[SL_BPF_PARTS_MAX];
};

/* One run of a program. */
struct run {
	u64 ts;
	struct sl_bpf_cpu *c;
	u32 cpu;
};

static __always_inline bool find_cpu(struct run *run)
{
	run->cpu = bpf_get_smp_processor_id();
	run->c = bpf_map_lookup_elem(&cpus, &run->cpu);
	return run->c;
}

/* false: outside of the recording. */
static __always_inline bool begin(struct run *run)
{
	if (!control.on)
		return false;
	run->ts = bpf_ktime_get_ns();
	return run->ts >= control.start_ns && run->ts < control.stop_ns && find_cpu(run);
}

static __always_inline void fill_header(struct sl_bpf_header *h, const struct run *run,
					u32 kind)
{
	struct task_struct *current = bpf_get_current_task_btf();
	u32 bits = 0;

	if (bpf_core_field_exists(struct task_struct, thread_info) && control.tif_resched)
		bits = current->thread_info.flags >> (control.tif_resched & 63) & control.tif_mask;
	h->ts = run->ts;
	h->common_pid = current->pid;
	h->cpu = run->cpu;
	h->kind = kind;
	h->nr_parts = 0;
	h->resched = bits;
	h->truncated = 0;
	h->flags = 0;
}

static __always_inline void copy_comm(char *to, const char *comm)
{
	((u64 *)to)[0] = ((const u64 *)comm)[0];
	((u64 *)to)[1] = ((const u64 *)comm)[1];
}

#include "threshold.bpf.h"

/* The record is complete: give it to the consumer, or count it as lost. */
static __always_inline void send(struct sl_bpf_cpu *c, struct sl_bpf_header *h, u64 len)
{
	u64 flags = BPF_RB_NO_WAKEUP;
	u32 lost = c->lost;

	if (config.threshold_ns) {
		keep(h->cpu, h, len);
		return;
	}
	h->dropped = lost;
	if (!(++c->sent & 31) && !control.woken &&
	    bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > config.wake_bytes) {
		control.woken = 1;
		flags = BPF_RB_FORCE_WAKEUP;
	}
	if (bpf_ringbuf_output(&ring, h, len, flags) < 0) {
		count_lost(c);
	} else if (lost) {
		__sync_fetch_and_add(&c->lost, -lost);
	}
}

/* A buffer for a record with snapshots; give it back with put_buffer(). */
static __always_inline void *get_buffer(struct sl_bpf_cpu *c)
{
	u32 depth = c->depth;

	if (depth >= 2) {
		count_lost(c);
		return NULL;
	}
	c->depth = depth + 1;
	return depth ? c->buffer[1] : c->buffer[0];
}

static __always_inline void put_buffer(struct sl_bpf_cpu *c)
{
	c->depth--;
}

/* Bounded for the verifier, which does not know what was counted. */
static __always_inline u64 parts_len(const struct sl_bpf_header *h)
{
	u64 nr = h->nr_parts;

	if (nr > SL_BPF_PARTS_MAX)
		nr = SL_BPF_PARTS_MAX;
	return nr * sizeof(struct sl_bpf_part);
}

#define RECORD_LEN(r) (__builtin_offsetof(typeof(*(r)), parts) + parts_len(&(r)->h))

/* A wakee, or a task that moves, which is not recorded. */
static __always_inline bool is_left_out(const struct task_struct *p)
{
	return (config.own_tgid && p->tgid == config.own_tgid) || !is_wanted(p);
}

/* Before recording begins: where the flags are, from a thread with a signal pending. */
static __always_inline void learn_flags(const struct task_struct *p)
{
	if (control.learn_tid && p->pid == control.learn_tid &&
	    bpf_core_field_exists(struct task_struct, thread_info))
		control.learn_flags = p->thread_info.flags;
}

static __always_inline int wake(struct task_struct *p, u32 kind)
{
	struct wake_record *r;
	struct run run;

	if (!control.on || is_left_out(p) || !begin(&run))
		return 0;
	r = get_buffer(run.c);
	if (!r)
		return 0;
	fill_header(&r->h, &run, kind);
	copy_comm(r->payload.comm, p->comm);
	r->payload.pid = p->pid;
	r->payload.cpu = task_cpu(p);
	r->payload.prio = p->prio;
	if (config.evidence && has_eevdf()) {
		if (kind == SL_BPF_WAKING) {
			if (bpf_core_field_exists(struct sched_entity, sched_delayed) &&
			    p->se.sched_delayed)
				add_entity(&r->h, r->parts, as_entity(&p->se), NULL, p,
					   SL_ROLE_WAKEE, 0, queue_group(p->se.cfs_rq), false);
		} else if (is_fair(p)) {
			if (p->se.on_rq)
				add_wakee(&r->h, r->parts, p, kind == SL_BPF_WAKEUP);
		} else if (is_ext(p)) {
			add_ext(&r->h, r->parts, p, SL_ROLE_WAKEE);
		}
	}
	if (config.threshold_ns)
		keep_wake(&run, p, &r->h, RECORD_LEN(r));
	else
		send(run.c, &r->h, RECORD_LEN(r));
	if (config.live && kind != SL_BPF_WAKING)
		live_seen(r->payload.cpu, &r->h, r->parts, p);
	put_buffer(run.c);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *p)
{
	if (!control.on)
		learn_flags(p);
	return wake(p, SL_BPF_WAKING);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *p)
{
	return wake(p, SL_BPF_WAKEUP);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *p)
{
	return wake(p, SL_BPF_WAKEUP_NEW);
}

static __always_inline u32 task_state(const struct task_struct *p)
{
	if (bpf_core_field_exists(struct task_struct, __state))
		return p->__state;
	return ((const struct task_struct___old *)p)->state;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct cfs_rq *shared = NULL;
	struct switch_record *r;
	bool prev_queued;
	struct run run;
	u32 state;

	if (!begin(&run))
		return 0;
	r = get_buffer(run.c);
	if (!r)
		return 0;
	fill_header(&r->h, &run, SL_BPF_SWITCH);
	/* The state may change under us; the tracepoint has the one that was acted on, since 5.18. */
	state = (config.has_prev_state ? prev_state : task_state(prev)) | prev->exit_state;
	copy_comm(r->payload.prev_comm, prev->comm);
	copy_comm(r->payload.next_comm, next->comm);
	r->payload.prev_pid = prev->pid;
	r->payload.next_pid = next->pid;
	r->payload.prev_prio = prev->prio;
	r->payload.next_prio = next->prio;
	r->payload.prev_state = preempt ? state | SL_BPF_PREEMPTED : state;
	/* With a threshold only what others had to wait for is of interest. */
	if (config.evidence && has_eevdf() &&
	    (!config.threshold_ns || (is_fair(next) && has_company(next)))) {
		prev_queued = prev->se.on_rq && is_fair(prev);
		if (is_fair(next))
			add_running(&r->h, r->parts, next,
				    prev_queued || (!has_flat() && is_fair(prev)) ? prev : NULL, SL_ROLE_NEXT,
				    run.cpu, SL_BPF_LEVELS_MAX, &shared);
		else if (is_ext(next))
			add_ext(&r->h, r->parts, next, SL_ROLE_NEXT);
		if (prev_queued)
			add_prev(&r->h, r->parts, prev, run.cpu, shared);
		else if (is_fair(prev))
			add_entity(&r->h, r->parts, as_entity(&prev->se), NULL, prev, SL_ROLE_PREV,
				   0, has_groups() ? queue_group(prev->se.cfs_rq) : 0, true);
		else if (is_ext(prev))
			add_ext(&r->h, r->parts, prev, SL_ROLE_PREV);
	}
	send(run.c, &r->h, RECORD_LEN(r));
	run.c->irq_since = run.c->softirq_since = 0;
	if (config.live)
		live_switched(&run, next, &r->h, r->parts);
	if (config.threshold_ns)
		end_wait(&run, next);
	put_buffer(run.c);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrate_task, struct task_struct *p, int dest_cpu)
{
	struct migrate_record *r;
	struct run run;

	if (!control.on || is_left_out(p) || !begin(&run))
		return 0;
	r = get_buffer(run.c);
	if (!r)
		return 0;
	fill_header(&r->h, &run, SL_BPF_MIGRATE);
	copy_comm(r->payload.comm, p->comm);
	r->payload.pid = p->pid;
	r->payload.orig_cpu = task_cpu(p);
	r->payload.dest_cpu = dest_cpu;
	r->payload.prio = p->prio;
	/* set_task_cpu() comes after the dequeue. */
	if (config.evidence && has_eevdf() && is_fair(p) && !p->se.on_rq)
		add_entity(&r->h, r->parts, as_entity(&p->se), NULL, p, SL_ROLE_LEAVING, 0,
			   has_groups() ? queue_group(p->se.cfs_rq) : 0, true);
	send(run.c, &r->h, RECORD_LEN(r));
	put_buffer(run.c);
	return 0;
}

/*
 * Bit numbers of the flags are not in BTF. An idle task is only ever asked at once, also
 * where others are asked lazily, and the lazy bit is the next one: __resched_curr(), 6.13.
 */
static __always_inline void learn_tif(const struct task_struct *curr, int tif)
{
	if (!control.tif_resched) {
		if (!curr->pid && tif > 0) {
			control.tif_mask = SL_BPF_RESCHED;
			control.tif_resched = tif;
		}
	} else if (tif == control.tif_resched + 1) {
		control.tif_mask = SL_BPF_RESCHED | SL_BPF_RESCHED_LAZY;
	}
}

SEC("tp_btf/sched_set_need_resched_tp")
int BPF_PROG(need_resched, struct task_struct *curr, int cpu, int tif)
{
	struct number_record *r;
	struct run run;

	learn_tif(curr, tif);
	if (!begin(&run))
		return 0;
	r = get_buffer(run.c);
	if (!r)
		return 0;
	fill_header(&r->h, &run, SL_BPF_NEED_RESCHED);
	r->payload.a = cpu;
	r->payload.b = tif;
	/* A task on its way to sleep will be switched out anyhow. */
	if (config.evidence && has_eevdf() && !config.threshold_ns && curr->se.on_rq &&
	    is_fair(curr) && !task_state(curr)) {
		struct cfs_rq *shared = NULL;

		add_running(&r->h, r->parts, curr, NULL, SL_ROLE_CURR, cpu, 1, &shared);
	}
	send(run.c, &r->h, RECORD_LEN(r));
	put_buffer(run.c);
	return 0;
}

/* The running task looked at again; from the outside only: the runqueue is not locked. */
static __always_inline void again(const struct run *run, struct task_struct *p, u32 kind)
{
	struct cfs_rq *shared = NULL;
	struct number_record *r;

	r = get_buffer(run->c);
	if (!r)
		return;
	fill_header(&r->h, run, kind);
	r->payload.a = p->pid;
	r->payload.b = 0;
	if (config.evidence && has_eevdf() && p->se.on_rq && is_fair(p))
		add_running(&r->h, r->parts, p, NULL, SL_ROLE_CURR, run->cpu, SL_BPF_LEVELS_MAX,
			    &shared);
	send(run->c, &r->h, RECORD_LEN(r));
	if (config.live)
		live_seen(run->cpu, &r->h, r->parts, p);
	put_buffer(run->c);
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(picked_again, bool is_switch)
{
	struct task_struct *current;
	struct run run;

	if (is_switch || !begin(&run))
		return 0;
	current = bpf_get_current_task_btf();
	if (current->pid)
		again(&run, current, SL_BPF_PICKED_AGAIN);
	return 0;
}

/* The outermost handler that runs. What is missed here is over at the next switch. */
static __always_inline void note_handler(struct sl_bpf_cpu *c, u32 kind, u64 ts)
{
	switch (kind) {
	case SL_BPF_IRQ_ENTRY:
	case SL_BPF_VECTOR_ENTRY:
	case SL_BPF_IPI_ENTRY:
		if (!c->irq_since)
			c->irq_since = ts;
		break;
	case SL_BPF_IRQ_EXIT:
	case SL_BPF_VECTOR_EXIT:
	case SL_BPF_IPI_EXIT:
		c->irq_since = 0;
		break;
	case SL_BPF_SOFTIRQ_ENTRY:
		c->softirq_since = ts;
		break;
	case SL_BPF_SOFTIRQ_EXIT:
		c->softirq_since = 0;
		break;
	}
}

static __always_inline int number(u32 kind, int a, int b)
{
	struct {
		struct sl_bpf_header h;
		struct sl_bpf_number payload;
	} r;
	struct run run;

	if (!begin(&run))
		return 0;
	if (config.threshold_ns)
		note_handler(run.c, kind, run.ts);
	fill_header(&r.h, &run, kind);
	r.payload.a = a;
	r.payload.b = b;
	send(run.c, &r.h, sizeof(r));
	return 0;
}

#define VECTOR(name, index)						\
	SEC("tp_btf/" #name "_entry")					\
	int BPF_PROG(name##_entry, int vector)				\
	{								\
		return number(SL_BPF_VECTOR_ENTRY, vector, index);	\
	}								\
	SEC("tp_btf/" #name "_exit")					\
	int BPF_PROG(name##_exit, int vector)				\
	{								\
		return number(SL_BPF_VECTOR_EXIT, vector, index);	\
	}

VECTOR(reschedule, SL_BPF_VECTOR_RESCHEDULE)
VECTOR(call_function, SL_BPF_VECTOR_CALL_FUNCTION)
VECTOR(call_function_single, SL_BPF_VECTOR_CALL_FUNCTION_SINGLE)
VECTOR(irq_work, SL_BPF_VECTOR_IRQ_WORK)

/*
 * The tick is one user of the local timer among others. It brings the running task's
 * account up to date, which moves exec_start; so does a wakeup onto this CPU.
 */
SEC("tp_btf/local_timer_entry")
int BPF_PROG(local_timer_entry, int vector)
{
	struct run run;

	if (control.on && find_cpu(&run))
		run.c->exec_start = bpf_get_current_task_btf()->se.exec_start;
	return config.irq ? number(SL_BPF_VECTOR_ENTRY, vector, SL_BPF_VECTOR_LOCAL_TIMER) : 0;
}

SEC("tp_btf/local_timer_exit")
int BPF_PROG(local_timer_exit, int vector)
{
	struct task_struct *current;
	struct run run;

	if (config.evidence && has_eevdf()) {
		current = bpf_get_current_task_btf();
		if (current->se.on_rq && is_fair(current) && begin(&run) && run.c->exec_start &&
		    run.c->exec_start != current->se.exec_start && has_company(current))
			again(&run, current, SL_BPF_TICK);
	}
	return config.irq ? number(SL_BPF_VECTOR_EXIT, vector, SL_BPF_VECTOR_LOCAL_TIMER) : 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_handler_entry, int irq)
{
	return number(SL_BPF_IRQ_ENTRY, irq, 0);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_handler_exit, int irq)
{
	return number(SL_BPF_IRQ_EXIT, irq, 0);
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vec)
{
	return number(SL_BPF_SOFTIRQ_ENTRY, vec, 0);
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_exit, unsigned int vec)
{
	return number(SL_BPF_SOFTIRQ_EXIT, vec, 0);
}

SEC("tp_btf/ipi_entry")
int BPF_PROG(ipi_entry)
{
	return number(SL_BPF_IPI_ENTRY, 0, 0);
}

SEC("tp_btf/ipi_exit")
int BPF_PROG(ipi_exit)
{
	return number(SL_BPF_IPI_EXIT, 0, 0);
}

SEC("tp_btf/cpu_idle")
int BPF_PROG(cpu_idle, unsigned int state, unsigned int cpu)
{
	return number(SL_BPF_CPU_IDLE, state, cpu);
}

static __always_inline int fork(u32 kind, int parent, const struct task_struct *child, u64 flags)
{
	struct {
		struct sl_bpf_header h;
		struct sl_bpf_fork payload;
	} r;
	struct run run;

	if (!begin(&run))
		return 0;
	fill_header(&r.h, &run, kind);
	copy_comm(r.payload.child_comm, child->comm);
	r.payload.parent_pid = parent;
	r.payload.child_pid = child->pid;
	r.payload.clone_flags = flags;
	send(run.c, &r.h, sizeof(r));
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	return fork(SL_BPF_FORK, parent->pid, child, 0);
}

SEC("tp_btf/task_newtask")
int BPF_PROG(task_newtask, struct task_struct *child, u64 clone_flags)
{
	return fork(SL_BPF_NEWTASK, bpf_get_current_task_btf()->pid, child, clone_flags);
}

static __always_inline int rename(u32 kind, int pid, int old_pid, const char *comm)
{
	struct {
		struct sl_bpf_header h;
		struct sl_bpf_rename payload;
	} r;
	struct run run;

	if (!begin(&run))
		return 0;
	fill_header(&r.h, &run, kind);
	__builtin_memset(r.payload.newcomm, 0, sizeof(r.payload.newcomm));
	if (comm)
		bpf_probe_read_kernel_str(r.payload.newcomm, sizeof(r.payload.newcomm), comm);
	r.payload.pid = pid;
	r.payload.old_pid = old_pid;
	send(run.c, &r.h, sizeof(r));
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *p, pid_t old_pid)
{
	return rename(SL_BPF_EXEC, p->pid, old_pid, NULL);
}

SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *p, const char *comm)
{
	return rename(SL_BPF_RENAME, p->pid, p->pid, comm);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(sched_process_exit, struct task_struct *p)
{
	struct {
		struct sl_bpf_header h;
		struct sl_bpf_wake payload;
	} r;
	struct run run;

	if (!begin(&run))
		return 0;
	if (config.live)
		live_exited(p);
	fill_header(&r.h, &run, SL_BPF_EXIT);
	copy_comm(r.payload.comm, p->comm);
	r.payload.pid = p->pid;
	r.payload.cpu = task_cpu(p);
	r.payload.prio = p->prio;
	__builtin_memset(r.payload.reserved, 0, sizeof(r.payload.reserved));
	send(run.c, &r.h, sizeof(r));
	return 0;
}

SEC("tp_btf/sched_pi_setprio")
int BPF_PROG(sched_pi_setprio, struct task_struct *p, struct task_struct *pi)
{
	struct {
		struct sl_bpf_header h;
		struct sl_bpf_pi payload;
	} r;
	int prio = p->normal_prio;
	struct run run;

	if (!begin(&run))
		return 0;
	if (pi && pi->prio < prio)
		prio = pi->prio;
	fill_header(&r.h, &run, SL_BPF_PI_SETPRIO);
	copy_comm(r.payload.comm, p->comm);
	r.payload.pid = p->pid;
	r.payload.oldprio = p->prio;
	r.payload.newprio = prio;
	r.payload.reserved = 0;
	send(run.c, &r.h, sizeof(r));
	return 0;
}
