// SPDX-License-Identifier: LGPL-2.1-only
#include "live/bpf_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/bpf/consume.h"
#include "live/bpf_formats.h"
#include "trace/compose.h"

/* 32 KiB per write(2): a system call for about 500 events. */
#define WRITE_PAGES 8
#define VECTORS_MAX 32

/*
 * prev_state as sched_switch has it: __task_state_index() and
 * __trace_sched_switch_state() (include/linux/sched.h, include/trace/events/sched.h, 6.18).
 */
#define STATE_REPORT 0x7fu
#define STATE_REPORT_IDLE 0x80u
#define STATE_REPORT_MAX 0x100u
#define TASK_UNINTERRUPTIBLE 0x2u
#define EXIT_DEAD 0x10u
#define TASK_DEAD 0x80u
#define TASK_IDLE 0x402u
#define TASK_RTLOCK_WAIT 0x1000u
#define TASK_FROZEN 0x8000u
#define RECORD_PREEMPTED (1u << 16)

struct cpu {
	struct sl_composer composer;
	struct sl_bpf_writer *writer;
	unsigned int index;
	uint64_t bytes, dropped;
	uint8_t hardirqs;		/* depth, as far as the stream tells */
	bool softirq;
};

/* Which TIF bits mean "reschedule". */
struct tif {
	int now, lazy;			/* -1: not known */
};

struct sl_bpf_writer {
	struct sl_bpf_writer_params params;
	struct cpu *cpus;		/* [params.nr_cpus] */
	struct cpu **by_number;		/* [SL_CPU_MAX] NULL: not written */
	uint16_t ids[SL_EV_NR];
	uint16_t vector_entry[VECTORS_MAX], vector_exit[VECTORS_MAX];
	struct tif tif;
	int error;
	unsigned int error_index;
	struct sl_bpf_writer_stats stats;
};

static int append(void *arg, const unsigned char *pages, size_t bytes)
{
	struct cpu *cpu = arg;
	struct sl_bpf_writer *w = cpu->writer;
	const int fd = w->params.fds[cpu->index];

	while (bytes) {
		ssize_t n = write(fd, pages, bytes);
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			r = n < 0 ? -errno : -EIO;
			if (!w->error) {
				w->error = r;
				w->error_index = cpu->index;
			}
			return r;
		}
		pages += n;
		bytes -= n;
		cpu->bytes += n;
	}
	return 0;
}

static void find_ids(struct sl_bpf_writer *w)
{
	for (unsigned int i = sl_event_descs_nr; i--;) {
		const struct sl_event_desc *desc = &sl_event_descs[i];

		/* Of several tracepoints of a kind the one that the kernel does not have is ours. */
		if (desc->kind != SL_EV_NEED_RESCHED || !strcmp(desc->system, "schedlat"))
			w->ids[desc->kind] = sl_out_id(i);
		for (size_t v = 0; v < sl_bpf_nr_vectors && v < VECTORS_MAX; v++) {
			const size_t len = strlen(sl_bpf_vectors[v]);

			if (strcmp(desc->system, "irq_vectors") || strncmp(desc->name, sl_bpf_vectors[v], len))
				continue;
			if (!strcmp(desc->name + len, "_entry"))
				w->vector_entry[v] = sl_out_id(i);
			else if (!strcmp(desc->name + len, "_exit"))
				w->vector_exit[v] = sl_out_id(i);
		}
	}
}

int sl_bpf_writer_new(const struct sl_bpf_writer_params *params, struct sl_bpf_writer **ret_writer,
		      struct sl_err *err)
{
	struct sl_bpf_writer *w = calloc(1, sizeof(*w));
	int r = 0;

	if (!w)
		return sl_err_set(err, -ENOMEM, "cannot record: out of memory");
	w->params = *params;
	w->cpus = calloc(params->nr_cpus, sizeof(*w->cpus));
	w->by_number = calloc(SL_CPU_MAX, sizeof(*w->by_number));
	if (!w->cpus || !w->by_number)
		r = -ENOMEM;
	for (unsigned int i = 0; i < params->nr_cpus && !r; i++) {
		struct cpu *cpu = &w->cpus[i];

		cpu->writer = w;
		cpu->index = i;
		w->by_number[params->cpus[i]] = cpu;
		r = sl_composer_init(&cpu->composer, params->page_bytes, WRITE_PAGES, append, cpu);
	}
	if (r < 0) {
		sl_bpf_writer_free(w);
		return sl_err_set(err, r, "cannot record: out of memory");
	}
	w->tif = (struct tif){ -1, -1 };
	find_ids(w);
	*ret_writer = w;
	return 0;
}

void sl_bpf_writer_free(struct sl_bpf_writer *w)
{
	if (!w)
		return;
	for (unsigned int i = 0; w->cpus && i < w->params.nr_cpus; i++)
		sl_composer_release(&w->cpus[i].composer);
	free(w->cpus);
	free(w->by_number);
	free(w);
}

/* Room for an event, its common part filled in. NULL: the CPU's file cannot be written. */
static inline void *add(struct cpu *cpu, const struct sl_bpf_header *record, uint16_t id,
			uint8_t flags, unsigned int bytes)
{
	struct sl_out_common *common = sl_composer_add(&cpu->composer, record->ts, bytes);

	if (common)
		*common = (struct sl_out_common){ id, flags, 0, record->common_pid };
	return common;
}

static bool put_part(struct sl_bpf_writer *w, struct cpu *cpu, const struct sl_bpf_header *record,
		     uint8_t flags, const struct sl_bpf_part *part)
{
	struct sl_out_entity *e;
	struct sl_out_queue *q;

	if (part->role == SL_BPF_PART_QUEUE) {
		q = add(cpu, record, w->ids[SL_EV_QUEUE], flags, sizeof(*q));
		if (!q)
			return false;
		q->group = part->group;
		q->qcpu = part->qcpu;
		q->nr_queued = part->queue.nr_queued;
		q->min_slice = part->queue.min_slice;
		q->buddy = part->queue.buddy;
		q->level = part->level;
		q->flags = part->flags;
		q->sum_w_vruntime = part->queue.sum_w_vruntime;
		q->sum_weight = part->queue.sum_weight;
		q->zero_vruntime = part->queue.zero_vruntime;
		return true;
	}
	e = add(cpu, record, w->ids[SL_EV_ENTITY], flags, sizeof(*e));
	if (!e)
		return false;
	e->pid = part->entity.pid;
	e->group = part->group;
	e->weight = part->entity.weight;
	e->slice = part->entity.slice;
	e->role = part->role;
	e->level = part->level;
	e->flags = part->flags;
	e->pad = 0;
	e->vruntime = part->entity.vruntime;
	e->deadline = part->entity.deadline;
	e->lag_or_vprot = part->entity.lag_or_vprot;
	return true;
}

static int64_t kernel_state(unsigned int state)
{
	unsigned int report = state & STATE_REPORT;

	if (state & RECORD_PREEMPTED)
		return STATE_REPORT_MAX;
	if ((state & TASK_IDLE) == TASK_IDLE)
		return STATE_REPORT_IDLE;
	if (state & (TASK_RTLOCK_WAIT | TASK_FROZEN))
		return TASK_UNINTERRUPTIBLE;
	/* A task that ends for good; whether it is a zombie before is in exit_state. */
	if (!report && (state & TASK_DEAD))
		return EXIT_DEAD;
	/* The highest bit counts: fls(). */
	return report ? 1u << (31 - __builtin_clz(report)) : 0;
}

static bool put_switch(struct sl_bpf_writer *w, struct cpu *cpu, const struct sl_bpf_header *record,
		       uint8_t flags)
{
	const struct sl_bpf_switch *in = sl_bpf_payload(record);
	struct sl_out_switch *out = add(cpu, record, w->ids[SL_EV_SWITCH], flags, sizeof(*out));

	if (!out)
		return false;
	memcpy(out->prev_comm, in->prev_comm, sizeof(out->prev_comm));
	out->prev_pid = in->prev_pid;
	out->prev_prio = in->prev_prio;
	out->prev_state = kernel_state(in->prev_state);
	memcpy(out->next_comm, in->next_comm, sizeof(out->next_comm));
	out->next_pid = in->next_pid;
	out->next_prio = in->next_prio;
	return true;
}

static bool put_wake(struct sl_bpf_writer *w, struct cpu *cpu, const struct sl_bpf_header *record,
		     uint8_t flags, enum sl_ev_kind kind)
{
	const struct sl_bpf_wake *in = sl_bpf_payload(record);
	struct sl_out_wake *out = add(cpu, record, w->ids[kind], flags, sizeof(*out));

	if (!out)
		return false;
	memcpy(out->comm, in->comm, sizeof(out->comm));
	out->pid = in->pid;
	out->prio = in->prio;
	out->target_cpu = in->cpu;
	return true;
}

static bool put_migrate(struct sl_bpf_writer *w, struct cpu *cpu, const struct sl_bpf_header *record,
			uint8_t flags)
{
	const struct sl_bpf_migrate *in = sl_bpf_payload(record);
	struct sl_out_migrate *out = add(cpu, record, w->ids[SL_EV_MIGRATE], flags, sizeof(*out));

	if (!out)
		return false;
	memcpy(out->comm, in->comm, sizeof(out->comm));
	out->pid = in->pid;
	out->prio = in->prio;
	out->orig_cpu = in->orig_cpu;
	out->dest_cpu = in->dest_cpu;
	return true;
}

static bool put_fork(struct sl_bpf_writer *w, struct cpu *cpu, const struct sl_bpf_header *record,
		     uint8_t flags)
{
	const struct sl_bpf_fork *in = sl_bpf_payload(record);
	struct sl_out_fork *out = add(cpu, record, w->ids[SL_EV_FORK], flags, sizeof(*out));

	if (!out)
		return false;
	out->parent_pid = in->parent_pid;
	memcpy(out->child_comm, in->child_comm, sizeof(out->child_comm));
	out->child_pid = in->child_pid;
	return true;
}

static bool put_newtask(struct sl_bpf_writer *w, struct cpu *cpu, const struct sl_bpf_header *record,
			uint8_t flags)
{
	const struct sl_bpf_fork *in = sl_bpf_payload(record);
	struct sl_out_newtask *out = add(cpu, record, w->ids[SL_EV_NEWTASK], flags, sizeof(*out));

	if (!out)
		return false;
	out->pid = in->child_pid;
	memcpy(out->comm, in->child_comm, sizeof(out->comm));
	out->pad = 0;
	out->clone_flags = in->clone_flags;
	return true;
}

static bool put_exec(struct sl_bpf_writer *w, struct cpu *cpu, const struct sl_bpf_header *record,
		     uint8_t flags)
{
	const struct sl_bpf_rename *in = sl_bpf_payload(record);
	struct sl_out_exec *out = add(cpu, record, w->ids[SL_EV_EXEC], flags, sizeof(*out));

	if (!out)
		return false;
	out->pid = in->pid;
	out->old_pid = in->old_pid;
	return true;
}

static bool put_exit(struct sl_bpf_writer *w, struct cpu *cpu, const struct sl_bpf_header *record,
		     uint8_t flags)
{
	const struct sl_bpf_wake *in = sl_bpf_payload(record);
	struct sl_out_exit *out = add(cpu, record, w->ids[SL_EV_EXIT], flags, sizeof(*out));

	if (!out)
		return false;
	memcpy(out->comm, in->comm, sizeof(out->comm));
	out->pid = in->pid;
	out->prio = in->prio;
	return true;
}

static bool put_rename(struct sl_bpf_writer *w, struct cpu *cpu, const struct sl_bpf_header *record,
		       uint8_t flags)
{
	const struct sl_bpf_rename *in = sl_bpf_payload(record);
	struct sl_out_rename *out = add(cpu, record, w->ids[SL_EV_RENAME], flags, sizeof(*out));

	if (!out)
		return false;
	out->pid = in->pid;
	memcpy(out->newcomm, in->newcomm, sizeof(out->newcomm));
	return true;
}

static bool put_pi(struct sl_bpf_writer *w, struct cpu *cpu, const struct sl_bpf_header *record,
		   uint8_t flags)
{
	const struct sl_bpf_pi *in = sl_bpf_payload(record);
	struct sl_out_pi *out = add(cpu, record, w->ids[SL_EV_PI_SETPRIO], flags, sizeof(*out));

	if (!out)
		return false;
	memcpy(out->comm, in->comm, sizeof(out->comm));
	out->pid = in->pid;
	out->oldprio = in->oldprio;
	out->newprio = in->newprio;
	return true;
}

static bool put_one(struct cpu *cpu, const struct sl_bpf_header *record, uint16_t id, uint8_t flags)
{
	const struct sl_bpf_number *in = sl_bpf_payload(record);
	struct sl_out_one *out = add(cpu, record, id, flags, sizeof(*out));

	if (!out)
		return false;
	out->a = in->a;
	return true;
}

static bool put_two(struct cpu *cpu, const struct sl_bpf_header *record, uint16_t id, uint8_t flags,
		    int32_t b)
{
	const struct sl_bpf_number *in = sl_bpf_payload(record);
	struct sl_out_two *out = add(cpu, record, id, flags, sizeof(*out));

	if (!out)
		return false;
	out->a = in->a;
	out->b = b;
	return true;
}

/*
 * 0: at once, 1: lazily, -1: not known. The numbers are the architecture's choice, and 4 has
 * been both on x86: they are never guessed.
 */
static int resched_kind(struct sl_bpf_writer *w, int tif)
{
	if (tif >= 0 && tif == w->tif.now)
		return 0;
	if (tif >= 0 && tif == w->tif.lazy)
		return 1;
	w->stats.unknown_tif++;
	return -1;
}

/* The id of a vector event; 0: none of ours. */
static uint16_t vector_id(const struct sl_bpf_header *record, const uint16_t *ids)
{
	const struct sl_bpf_number *in = sl_bpf_payload(record);

	return in->b >= 0 && in->b < VECTORS_MAX ? ids[in->b] : 0;
}

/*
 * What the stream tells of where this CPU is. A program cannot read the preempt
 * count everywhere, so that the entry and exit events have to tell. A lost exit
 * would stand forever: the next switch, which no interrupt handler makes, ends it.
 */
static void enter(struct cpu *cpu, unsigned int kind)
{
	switch (kind) {
	case SL_BPF_IRQ_ENTRY:
	case SL_BPF_VECTOR_ENTRY:
	case SL_BPF_IPI_ENTRY:
		cpu->hardirqs += cpu->hardirqs < UINT8_MAX;
		break;
	case SL_BPF_SOFTIRQ_ENTRY:
		cpu->softirq = true;
		break;
	case SL_BPF_SWITCH:
		cpu->hardirqs = 0;
		cpu->softirq = false;
		break;
	}
}

static void leave(struct cpu *cpu, unsigned int kind)
{
	switch (kind) {
	case SL_BPF_IRQ_EXIT:
	case SL_BPF_VECTOR_EXIT:
	case SL_BPF_IPI_EXIT:
		cpu->hardirqs -= cpu->hardirqs > 0;
		break;
	case SL_BPF_SOFTIRQ_EXIT:
		cpu->softirq = false;
		break;
	}
}

static uint8_t flags_of(const struct cpu *cpu, const struct sl_bpf_header *record)
{
	return (cpu->hardirqs ? SL_CTX_HARDIRQ : 0) | (cpu->softirq ? SL_CTX_SOFTIRQ : 0) |
	       (record->resched & SL_BPF_RESCHED ? SL_CTX_NEED_RESCHED : 0) |
	       (record->resched & SL_BPF_RESCHED_LAZY ? SL_CTX_NEED_RESCHED_LAZY : 0);
}

static bool put_event(struct sl_bpf_writer *w, struct cpu *cpu, const struct sl_bpf_header *record,
		      uint8_t flags, int resched)
{
	const struct sl_bpf_number *number = sl_bpf_payload(record);

	switch (record->kind) {
	case SL_BPF_SWITCH:
		return put_switch(w, cpu, record, flags);
	case SL_BPF_WAKING:
		return put_wake(w, cpu, record, flags, SL_EV_WAKING);
	case SL_BPF_WAKEUP:
		return put_wake(w, cpu, record, flags, SL_EV_WAKEUP);
	case SL_BPF_WAKEUP_NEW:
		return put_wake(w, cpu, record, flags, SL_EV_WAKEUP_NEW);
	case SL_BPF_MIGRATE:
		return put_migrate(w, cpu, record, flags);
	case SL_BPF_FORK:
		return put_fork(w, cpu, record, flags);
	case SL_BPF_NEWTASK:
		return put_newtask(w, cpu, record, flags);
	case SL_BPF_EXEC:
		return put_exec(w, cpu, record, flags);
	case SL_BPF_EXIT:
		return put_exit(w, cpu, record, flags);
	case SL_BPF_RENAME:
		return put_rename(w, cpu, record, flags);
	case SL_BPF_PI_SETPRIO:
		return put_pi(w, cpu, record, flags);
	case SL_BPF_CPU_IDLE:
		return put_two(cpu, record, w->ids[SL_EV_CPU_IDLE], flags, number->b);
	case SL_BPF_IRQ_ENTRY:
		return put_one(cpu, record, w->ids[SL_EV_IRQ_ENTRY], flags);
	case SL_BPF_IRQ_EXIT:
		return put_one(cpu, record, w->ids[SL_EV_IRQ_EXIT], flags);
	case SL_BPF_SOFTIRQ_ENTRY:
		return put_one(cpu, record, w->ids[SL_EV_SOFTIRQ_ENTRY], flags);
	case SL_BPF_SOFTIRQ_EXIT:
		return put_one(cpu, record, w->ids[SL_EV_SOFTIRQ_EXIT], flags);
	case SL_BPF_VECTOR_ENTRY:
		return put_one(cpu, record, vector_id(record, w->vector_entry), flags);
	case SL_BPF_VECTOR_EXIT:
		return put_one(cpu, record, vector_id(record, w->vector_exit), flags);
	case SL_BPF_IPI_ENTRY:
		return put_one(cpu, record, w->ids[SL_EV_IPI_ENTRY], flags);
	case SL_BPF_IPI_EXIT:
		return put_one(cpu, record, w->ids[SL_EV_IPI_EXIT], flags);
	case SL_BPF_NEED_RESCHED:
		return put_two(cpu, record, w->ids[SL_EV_NEED_RESCHED], flags, resched);
	case SL_BPF_PICKED_AGAIN:
		return put_one(cpu, record, w->ids[SL_EV_PICKED_AGAIN], flags);
	case SL_BPF_TICK:
		return put_one(cpu, record, w->ids[SL_EV_TICK], flags);
	}
	return true;
}

/* Can this record become an event? What cannot is counted. */
static bool is_known(struct sl_bpf_writer *w, const struct sl_bpf_header *record, int *ret_resched)
{
	const struct sl_bpf_number *number = sl_bpf_payload(record);
	bool known = record->kind < SL_BPF_NR;

	if (record->kind == SL_BPF_VECTOR_ENTRY)
		known = vector_id(record, w->vector_entry);
	else if (record->kind == SL_BPF_VECTOR_EXIT)
		known = vector_id(record, w->vector_exit);
	if (!known)
		w->stats.unknown_kind++;
	if (record->kind == SL_BPF_NEED_RESCHED) {
		*ret_resched = resched_kind(w, number->b);
		return *ret_resched >= 0;
	}
	return known;
}

int sl_bpf_writer_record(void *writer, const struct sl_bpf_header *record, size_t len)
{
	struct sl_bpf_writer *w = writer;
	struct cpu *cpu = record->cpu < SL_CPU_MAX ? w->by_number[record->cpu] : NULL;
	const struct sl_bpf_part *part;
	uint8_t flags;
	int resched = 0;

	(void)len;
	w->stats.records++;
	if (!cpu) {
		w->stats.other_cpus++;
		return 0;
	}
	if (record->dropped) {
		sl_composer_lost(&cpu->composer, record->dropped == UINT32_MAX ? UINT64_MAX : record->dropped);
		cpu->dropped += record->dropped;
		cpu->hardirqs = 0;
		cpu->softirq = false;
	}
	w->stats.truncated += record->truncated != 0;
	w->stats.wakeups += record->kind >= SL_BPF_WAKING && record->kind <= SL_BPF_WAKEUP_NEW;
	enter(cpu, record->kind);
	if (is_known(w, record, &resched)) {
		flags = flags_of(cpu, record);
		part = sl_bpf_parts(record);
		for (unsigned int i = 0; i < record->nr_parts; i++)
			if (!put_part(w, cpu, record, flags, &part[i]))
				return w->error ?: -EIO;
		if (!put_event(w, cpu, record, flags, resched))
			return w->error ?: -EIO;
	}
	leave(cpu, record->kind);
	return 0;
}

void sl_bpf_writer_tif(struct sl_bpf_writer *w, int tif_resched)
{
	if (tif_resched < 0)
		return;
	w->tif = (struct tif){ tif_resched, tif_resched + 1 };
}

void sl_bpf_writer_lost(struct sl_bpf_writer *w, unsigned int index, uint64_t count)
{
	if (!count)
		return;
	sl_composer_lost(&w->cpus[index].composer, count);
	w->cpus[index].dropped += count;
}

void sl_bpf_writer_gap(struct sl_bpf_writer *w, unsigned int index)
{
	struct cpu *cpu = &w->cpus[index];

	sl_composer_lost(&cpu->composer, UINT64_MAX);
	cpu->hardirqs = 0;
	cpu->softirq = false;
}

int sl_bpf_writer_window(struct sl_bpf_writer *w, unsigned int index, uint64_t ts_ns, int32_t pid)
{
	struct sl_out_one *out = sl_composer_add(&w->cpus[index].composer, ts_ns, sizeof(*out));

	if (!out)
		return w->error ?: -EIO;
	*out = (struct sl_out_one){ { SL_OUT_WINDOW_ID, 0, 0, 0 }, pid };
	return 0;
}

int sl_bpf_writer_finish(struct sl_bpf_writer *w, uint64_t *ret_bytes)
{
	for (unsigned int i = 0; i < w->params.nr_cpus; i++) {
		struct cpu *cpu = &w->cpus[i];

		sl_composer_finish(&cpu->composer);
		ret_bytes[i] = cpu->bytes - cpu->bytes % w->params.page_bytes;
	}
	return w->error;
}

void sl_bpf_writer_stats(const struct sl_bpf_writer *w, struct sl_bpf_writer_stats *ret_stats)
{
	struct sl_bpf_writer_stats stats = w->stats;

	for (unsigned int i = 0; i < w->params.nr_cpus; i++)
		stats.clamped += w->cpus[i].composer.clamped;
	*ret_stats = stats;
}

uint64_t sl_bpf_writer_events(const struct sl_bpf_writer *w, unsigned int index)
{
	return w->cpus[index].composer.events;
}

uint64_t sl_bpf_writer_dropped(const struct sl_bpf_writer *w, unsigned int index)
{
	return w->cpus[index].dropped;
}

int sl_bpf_writer_error(const struct sl_bpf_writer *w, unsigned int *ret_index)
{
	if (w->error)
		*ret_index = w->error_index;
	return w->error;
}
