/* SPDX-License-Identifier: LGPL-2.1-only OR GPL-2.0-only */
/*
 * For an observer who looks while it goes on (config.live, with a threshold): who waits
 * since when, who runs and what was seen of it last, and for every wait, long or short,
 * who ran meanwhile. It reads this memory without a lock; what is torn is off by one
 * event and gone at the next look.
 */
#ifndef SL_LIVE_BPF_H
#define SL_LIVE_BPF_H

#define PRIO_RT 0	/* the first priority below the deadline class */
#define HIST_NONE (~0U)	/* of a thread that has ended */

/* Entries of threads that have ended, as the observer gives them back. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, u32);
} free_hists SEC(".maps");

static __always_inline u32 ran_of(const struct task_struct *p)
{
	if (!p->pid)
		return SL_BPF_RAN_IDLE;
	if (p->prio >= PRIO_FAIR)
		return SL_BPF_RAN_FAIR;
	return p->prio >= PRIO_RT ? SL_BPF_RAN_RT : SL_BPF_RAN_DL;
}

/* The task is on the queue of a CPU, with its runqueue locked. */
static __always_inline void live_queued(struct sl_bpf_task *t, u32 slot,
					const struct task_struct *p, u64 ts)
{
	u32 cpu = task_cpu(p), ran, i;
	struct sl_bpf_hist *hist;
	struct sl_bpf_cpu *c;

	t->queued = ts;
	c = bpf_map_lookup_elem(&cpus, &cpu);
	if (!c)
		return;
	ran = c->ran;
	for (i = 0; i < SL_BPF_RAN_NR; i++) {
		t->ran_ns[i] = c->ran_ns[i];
		if (i == ran && c->ran_since && ts > c->ran_since)
			t->ran_ns[i] += ts - c->ran_since;
	}
	hist = slot ? bpf_map_lookup_elem(&hists, &slot) : NULL;
	if (!hist)
		return;
	hist->wait_cpu = cpu;
	hist->group = has_groups() && is_fair(p) ? queue_group(p->se.cfs_rq) : 0;
	hist->since = t->since;
}

/* A wait has ended and was counted. */
static __always_inline void live_counted(const struct run *run, struct sl_bpf_task *t,
					 const struct task_struct *p, struct sl_bpf_hist *hist,
					 u32 slot, u64 ns)
{
	u64 path, slice = 0;
	u32 i;

	path = t->queued > run->ts - ns ? t->queued - (run->ts - ns) : 0;
	if (is_fair(p) && has_eevdf()) {
		slice = p->se.slice;
		if (bpf_core_field_exists(struct sched_entity, custom_slice)) {
			hist->custom_slice = p->se.custom_slice;
			if (!p->se.custom_slice && slice != control.base_slice)
				control.base_slice = slice;
		}
	}
	run->c->waits++;
	run->c->waited_ns += ns;
	if (!slot)
		return;
	hist->since = 0;
	hist->slice_ns = slice;
	hist->prio = p->prio;
	hist->policy = p->policy;
	hist->path_ns += path;
	if (t->wait_cpu != (int)run->cpu) {
		hist->moved_ns += ns - path;
		return;
	}
	for (i = 0; i < SL_BPF_RAN_NR; i++)
		hist->ran_ns[i] += run->c->ran_ns[i] - t->ran_ns[i];
}

/* A wait has ended that is not counted. */
static __always_inline void live_left_out(struct sl_bpf_task *t)
{
	u32 slot = t->hist;
	struct sl_bpf_hist *hist = slot ? bpf_map_lookup_elem(&hists, &slot) : NULL;

	if (hist)
		hist->since = 0;
}

static __always_inline bool live_sends(const struct task_struct *p, u64 ns)
{
	return ns >= control.threshold_ns && (!control.sent_short || only_short(p));
}

/* Parts of a record: what they show of the task that runs on a CPU, at its own level. */
static __always_inline void live_parts(struct sl_bpf_now *now, const struct sl_bpf_header *h,
				       const struct sl_bpf_part *parts)
{
	u32 i;

	if (h->nr_parts < 2 || parts[0].role != SL_BPF_PART_QUEUE)
		return;
	for (i = 1; i < 3; i++) {
		if (i >= h->nr_parts)
			break;
		if ((parts[i].role == SL_ROLE_CURR || parts[i].role == SL_ROLE_NEXT) && !parts[i].level &&
		    parts[i].entity.pid == now->pid) {
			now->queue = parts[0];
			now->entity = parts[i];
			now->seen = h->ts;
		}
	}
}

static __always_inline void live_length(struct sl_bpf_now *now, const struct task_struct *p)
{
	if (has_groups())
		now->nr_running = p->se.cfs_rq->rq->nr_running;
}

/* A wakeup onto a CPU, or a look at the task that runs there. */
static __always_inline void live_seen(u32 cpu, const struct sl_bpf_header *h,
				      const struct sl_bpf_part *parts, const struct task_struct *p)
{
	struct sl_bpf_cpu *c = bpf_map_lookup_elem(&cpus, &cpu);

	if (!c)
		return;
	c->now.seq++;
	barrier();
	live_parts(&c->now, h, parts);
	if (is_fair(p))
		live_length(&c->now, p);
	barrier();
	c->now.seq++;
}

static __always_inline void live_switched(const struct run *run, const struct task_struct *next,
					  const struct sl_bpf_header *h, const struct sl_bpf_part *parts)
{
	struct sl_bpf_cpu *c = run->c;
	u32 ran = c->ran;

	if (c->ran_since && ran < SL_BPF_RAN_NR && run->ts > c->ran_since)
		c->ran_ns[ran] += run->ts - c->ran_since;
	c->ran = ran_of(next);
	c->ran_since = run->ts;
	c->now.seq++;
	barrier();
	c->now.pid = next->pid;
	c->now.prio = next->prio;
	copy_comm(c->now.comm, next->comm);
	c->now.since = run->ts;
	c->now.seen = 0;
	live_parts(&c->now, h, parts);
	live_length(&c->now, next);
	barrier();
	c->now.seq++;
}

static __always_inline void live_exited(struct task_struct *p)
{
	struct sl_bpf_task *t = bpf_task_storage_get(&tasks, p, NULL, 0);
	struct sl_bpf_hist *hist;
	u32 slot;

	if (!t)
		return;
	slot = t->hist;
	t->hist = HIST_NONE;
	hist = slot ? bpf_map_lookup_elem(&hists, &slot) : NULL;
	if (!hist)
		return;
	hist->since = 0;
	hist->dead = 1;
}

#endif
