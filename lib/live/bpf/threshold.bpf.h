/* SPDX-License-Identifier: LGPL-2.1-only OR GPL-2.0-only */
/*
 * With a threshold nothing leaves the kernel at once. Each CPU keeps its latest records;
 * a task that is woken carries the records of its waking and wakeup; when it runs, its
 * delay is counted, and only if that was too long all of these are sent.
 */
#ifndef SL_THRESHOLD_BPF_H
#define SL_THRESHOLD_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct sl_bpf_task);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sl_bpf_history);
} history SEC(".maps");

/* The first is that of all threads which find no other left. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct sl_bpf_hist);
} hists SEC(".maps");

static __always_inline void keep(u32 cpu, const struct sl_bpf_header *h, u64 len)
{
	struct sl_bpf_history *hist = bpf_map_lookup_elem(&history, &cpu);
	u64 pos, nr;
	u32 at;

	if (!hist)
		return;
	nr = hist->nr;
	pos = hist->head;
	hist->nr = nr + 1;
	hist->head = pos + ((len + 7) & ~7ULL);
	at = nr % SL_BPF_HISTORY;
	hist->index[at].ts = h->ts;
	hist->index[at].pos = pos;
	hist->index[at].len = len;
	bpf_probe_read_kernel(hist->data + (pos & (SL_BPF_HISTORY_BYTES - 1)), len, h);
}

static __always_inline void count_lost(struct sl_bpf_cpu *c)
{
	__sync_fetch_and_add(&c->lost, 1);
	__sync_fetch_and_add(&c->dropped, 1);
}

#include "live.bpf.h"

/* The histogram of a task: each CPU gives out every nr_cpus-th one, so that no two take the same. */
static __always_inline u32 slot_of(const struct run *run, struct sl_bpf_task *t)
{
	u32 slot = t->hist;

	if (slot)
		return slot;
	slot = 1 + run->cpu + run->c->hists * config.nr_cpus;
	if (slot < config.nr_hists)
		run->c->hists++;
	else if (!config.live || bpf_map_pop_elem(&free_hists, &slot))
		slot = 0;
	t->hist = slot;
	return slot;
}

/* What has begun before a wait and goes on in it: without its beginning the wait is not explained. */
static __always_inline void note_inside(struct sl_bpf_task *t, u32 cpu)
{
	struct sl_bpf_cpu *c = bpf_map_lookup_elem(&cpus, &cpu);
	u64 irq, softirq;

	t->wait_cpu = cpu;
	t->inside = 0;
	if (!c)
		return;
	irq = c->irq_since;
	softirq = c->softirq_since;
	t->inside = softirq && (!irq || softirq < irq) ? softirq : irq;
}

/* A waking or wakeup: the woken task keeps it until it runs. */
static __always_inline void keep_wake(const struct run *run, struct task_struct *p,
				      struct sl_bpf_header *h, u64 len)
{
	bool waking = h->kind == SL_BPF_WAKING;
	struct sl_bpf_cpu *c = run->c;
	struct sl_bpf_task *t;

	t = bpf_task_storage_get(&tasks, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		count_lost(c);
		return;
	}
	h->dropped = 0;
	if (waking) {
		if (len > sizeof(t->waking))
			len = sizeof(t->waking);
		bpf_probe_read_kernel(t->waking, len, h);
		t->waking_len = len;
		t->wakeup_len = 0;
		t->since = h->ts;
		t->is_new = 0;
		return;
	}
	/* Of a waking that led to nothing: it is not this one's. */
	if (!t->since || t->wakeup_len) {
		t->waking_len = 0;
		t->since = h->ts;
	}
	if (len > sizeof(t->wakeup))
		len = sizeof(t->wakeup);
	bpf_probe_read_kernel(t->wakeup, len, h);
	t->wakeup_len = len;
	t->is_new = h->kind == SL_BPF_WAKEUP_NEW;
	note_inside(t, task_cpu(p));
	if (config.live && !t->is_new)
		live_queued(t, slot_of(run, t), p, h->ts);
}

static __always_inline u32 bucket_of(u64 ns)
{
	u32 shift = 0, bucket;

	if (ns < 1ULL << SL_BPF_HIST_FIRST_SHIFT)
		return ns >> (SL_BPF_HIST_FIRST_SHIFT - 4);
	if (ns >> (shift + 32))
		shift += 32;
	if (ns >> (shift + 16))
		shift += 16;
	if (ns >> (shift + 8))
		shift += 8;
	if (ns >> (shift + 4))
		shift += 4;
	if (ns >> (shift + 2))
		shift += 2;
	if (ns >> (shift + 1))
		shift += 1;
	bucket = (shift - SL_BPF_HIST_FIRST_SHIFT + 1) * SL_BPF_HIST_SUB +
		 (ns >> (shift - 4) & (SL_BPF_HIST_SUB - 1));
	return bucket < SL_BPF_HIST_BUCKETS ? bucket : SL_BPF_HIST_BUCKETS - 1;
}

static __always_inline void count_delay(const struct run *run, struct sl_bpf_task *t,
					const struct task_struct *p, u64 ns)
{
	u64 bucket = bucket_of(ns);
	u32 slot = slot_of(run, t);
	struct sl_bpf_hist *hist;

	hist = bpf_map_lookup_elem(&hists, &slot);
	/* 6.1 loses a bound that is known from before. */
	barrier_var(bucket);
	if (!hist || bucket >= SL_BPF_HIST_BUCKETS)
		return;
	if (slot) {
		if (!hist->count) {
			hist->tid = p->pid;
			hist->tgid = p->tgid;
		}
		copy_comm(hist->comm, p->comm);
		hist->count++;
		hist->sum_ns += ns;
		hist->buckets[bucket]++;
	} else {
		__sync_fetch_and_add(&hist->count, 1);
		__sync_fetch_and_add(&hist->sum_ns, ns);
		__sync_fetch_and_add(&hist->buckets[bucket], 1);
	}
	if (ns > hist->max_ns)
		hist->max_ns = ns;
	if (config.live)
		live_counted(run, t, p, hist, slot, ns);
}

static __always_inline bool put(struct sl_bpf_cpu *c, void *record, u64 len, u64 max)
{
	/* Two plain comparisons: the compiler would make one that the verifier does not follow. */
	barrier_var(len);
	if (len > max)
		return false;
	barrier_var(len);
	if (len < sizeof(struct sl_bpf_header))
		return false;
	if (bpf_ringbuf_output(&ring, record, len, BPF_RB_NO_WAKEUP) < 0) {
		count_lost(c);
		return false;
	}
	return true;
}

struct sending {
	struct sl_bpf_history *hist;
	struct sl_bpf_cpu *c;
	u64 since, nr, at, oldest;
	u64 first;
};

static long send_one(u32 i, struct sending *s)
{
	struct sl_bpf_history *hist = s->hist;
	struct sl_bpf_header *h;
	u64 at = s->at++, pos;
	u16 flags = 0;

	if (at >= s->nr)
		return 1;
	pos = hist->index[at % SL_BPF_HISTORY].pos;
	if (hist->index[at % SL_BPF_HISTORY].ts < s->since ||
	    hist->head - pos > SL_BPF_HISTORY_BYTES)
		return 0;
	h = (void *)(hist->data + (pos & (SL_BPF_HISTORY_BYTES - 1)));
	if (s->first && at > hist->sent) {
		flags = SL_BPF_GAP;
		/* The one before it was overwritten, and may have been of the wait. */
		if (at == s->oldest || hist->head - hist->index[(at - 1) % SL_BPF_HISTORY].pos >
				       SL_BPF_HISTORY_BYTES)
			flags |= SL_BPF_SHORT_HISTORY;
	}
	if (at + 1 == s->nr)
		flags |= SL_BPF_WAIT_END;
	s->first = 0;
	h->flags = flags;
	h->dropped = s->c->lost;
	if (put(s->c, h, hist->index[at % SL_BPF_HISTORY].len, SL_BPF_BUFFER))
		s->c->lost = 0;
	return 0;
}

/* What a CPU has recorded since some time and not sent yet. Verified once, for all. */
__noinline int send_history(u32 cpu, u64 since)
{
	struct sending s = {.since = since, .first = 1};

	if (!config.threshold_ns)
		return 0;
	s.hist = bpf_map_lookup_elem(&history, &cpu);
	s.c = bpf_map_lookup_elem(&cpus, &cpu);
	if (!s.hist || !s.c)
		return 0;
	s.nr = s.hist->nr;
	s.oldest = s.nr > SL_BPF_HISTORY ? s.nr - SL_BPF_HISTORY : 0;
	s.at = s.hist->sent > s.oldest ? s.hist->sent : s.oldest;
	bpf_loop(SL_BPF_HISTORY, send_one, &s, 0);
	s.hist->sent = s.nr;
	return 0;
}

/* The task runs: p is next, and its switch is kept already. */
static __always_inline void end_wait(const struct run *run, struct task_struct *p)
{
	struct sl_bpf_task *t;
	u64 since, ns;

	if (!p->pid)
		return;
	t = bpf_task_storage_get(&tasks, p, NULL, 0);
	if (!t || !t->since || !t->wakeup_len)
		return;
	since = t->since;
	t->since = 0;
	if (run->ts < since || t->is_new)
		return;
	ns = run->ts - since;
	if (config.live && run->c->left_out) {
		live_left_out(t);
		return;
	}
	count_delay(run, t, p, ns);
	if (config.live ? !live_sends(p, ns) : ns < config.threshold_ns)
		return;
	if (t->waking_len) {
		((struct sl_bpf_header *)t->waking)->flags = SL_BPF_WAIT_BEGIN;
		put(run->c, t->waking, t->waking_len, sizeof(t->waking));
	}
	((struct sl_bpf_header *)t->wakeup)->flags = t->waking_len ? 0 : SL_BPF_WAIT_BEGIN;
	put(run->c, t->wakeup, t->wakeup_len, sizeof(t->wakeup));
	if (t->inside && t->inside < since && t->wait_cpu == (int)run->cpu)
		since = t->inside;
	send_history(run->cpu, since);
}

#endif
