/* SPDX-License-Identifier: LGPL-2.1-only OR GPL-2.0-only */
/*
 * Snapshots of fair queues and entities; event/evidence.h says which belong to which
 * event. Only reads: the caller holds the runqueue lock, or says that it does not.
 *
 * An entity that runs is its queue's curr, at every level, and is not in the tree. So
 * the running task's entity in a wakee's queue is that queue's curr; nothing has to be
 * searched for it.
 */
#ifndef SL_EVIDENCE_BPF_H
#define SL_EVIDENCE_BPF_H

#define SEARCH_STEPS 24		/* twice the depth of a balanced tree of 4096 entities */
#define POLICY_BATCH 3
#define POLICY_IDLE 5
#define POLICY_EXT 7
#define NO_GROUP 0		/* no group has this id */
#define PRIO_FAIR 100		/* the first static priority that is not real-time */

/* Since 6.2; no kernel with EEVDF is older. */
extern void *bpf_rdonly_cast(const void *obj, u32 btf_id) __ksym __weak;

#define has_eevdf() (bpf_core_field_exists(struct sched_entity, deadline) && \
		     bpf_core_field_exists(struct sched_entity, vlag))
#define has_groups() bpf_core_field_exists(struct sched_entity, my_q)
/* Since 7.2: every task competes in the CPU's own queue, groups only set weights. */
#define has_flat() bpf_core_field_exists(struct sched_entity, h_load)
/* Before 6.8 the tree was in order of vruntime, not of deadlines. */
#define has_best() bpf_core_field_exists(struct sched_entity, min_vruntime)

/* One type for an entity wherever its address comes from: the verifier wants that. */
static __always_inline struct sched_entity *as_entity(const void *address)
{
	return bpf_rdonly_cast(address, bpf_core_type_id_kernel(struct sched_entity));
}

static __always_inline struct sched_entity *node_entity(const struct rb_node *node)
{
	return as_entity((const void *)node - bpf_core_field_offset(struct sched_entity, run_node));
}

static __always_inline struct task_struct *entity_task(const struct sched_entity *se)
{
	return bpf_rdonly_cast((const void *)se - bpf_core_field_offset(struct task_struct, se),
			       bpf_core_type_id_kernel(struct task_struct));
}

static __always_inline bool is_fair(const struct task_struct *p)
{
	u64 class = (u64)p->sched_class;

	if (class == control.fair_class)
		return true;
	if (control.fair_class || !p->se.on_rq)
		return false;
	control.fair_class = class;
	return true;
}

/* Under sched_ext: what its entity holds is not kept up to date. */
static __always_inline bool is_ext(const struct task_struct *p)
{
	return p->pid && (p->policy == POLICY_EXT ||
			  (control.fair_class && p->prio >= PRIO_FAIR && (u64)p->sched_class != control.fair_class));
}

/* The queue whose tree an entity stands in, or would. */
static __always_inline struct cfs_rq *entity_queue(const struct sched_entity *se)
{
	if (!has_groups())
		return NULL;
	if (has_flat())
		return bpf_rdonly_cast(&se->cfs_rq->rq->cfs, bpf_core_type_id_kernel(struct cfs_rq));
	return se->cfs_rq;
}

static __always_inline s64 entity_weight(const struct sched_entity *se)
{
	s64 weight;

	if (has_flat())
		return se->h_load.weight;
	weight = se->load.weight;
	/* 64-bit kernels keep 10 more bits than the sums are made of: scale_load_down(). */
	if (bpf_core_field_size(struct load_weight, weight) == 8 && weight)
		weight = weight >> 10 > 2 ? weight >> 10 : 2;
	return weight;
}

/* The id of the group that owns a queue, as in event/evidence.h. */
static __always_inline int queue_group(const struct cfs_rq *q)
{
	struct task_group *tg = q->tg;
	struct cgroup *cgroup;

	if (!tg->parent)
		return 1;
	if (bpf_core_field_exists(struct task_group, autogroup) && tg->autogroup)
		return -1 - (int)tg->autogroup->id;
	cgroup = tg->css.cgroup;
	return cgroup ? cgroup->kn->id : 0;
}

/* What eligibility is computed from, the queue's running entity included. */
struct sums {
	s64 avg, load;
	u64 zero;
};

static __always_inline s64 queue_sum(const struct cfs_rq *q)
{
	if (bpf_core_field_exists(struct cfs_rq, sum_w_vruntime))
		return q->sum_w_vruntime;
	return ((const struct cfs_rq___old *)q)->avg_vruntime;
}

static __always_inline u64 queue_weight(const struct cfs_rq *q)
{
	if (bpf_core_field_exists(struct cfs_rq, sum_weight))
		return q->sum_weight;
	return ((const struct cfs_rq___old *)q)->avg_load;
}

static __always_inline u64 queue_zero(const struct cfs_rq *q)
{
	if (bpf_core_field_exists(struct cfs_rq, zero_vruntime))
		return q->zero_vruntime;
	return ((const struct cfs_rq___old *)q)->min_vruntime;
}

static __always_inline u32 queue_length(const struct cfs_rq *q)
{
	if (has_flat())
		return q->h_nr_queued;
	if (bpf_core_field_exists(struct cfs_rq, nr_queued))
		return q->nr_queued;
	return ((const struct cfs_rq___old *)q)->nr_running;
}

static __always_inline struct sl_bpf_part *next_part(struct sl_bpf_header *h,
						     struct sl_bpf_part *parts)
{
	u32 n = h->nr_parts;

	if (n >= SL_BPF_PARTS_MAX) {
		h->truncated = 1;
		return NULL;
	}
	h->nr_parts = n + 1;
	return &parts[n];
}

static __always_inline u32 throttle_flags(const struct cfs_rq *q)
{
	u32 flags = 0;

	if (!bpf_core_field_exists(struct cfs_rq, throttle_count))
		return 0;
	if (q->runtime_enabled) {
		flags |= SL_QUEUE_HAS_BANDWIDTH;
		if (BPF_CORE_READ_BITFIELD(q, throttled))
			flags |= SL_QUEUE_THROTTLED;
	}
	if (q->throttle_count)
		flags |= SL_QUEUE_HIER_THROTTLED;
	return flags;
}

/* The smallest slice of all that compete in the queue. */
static __always_inline u64 queue_min_slice(const struct cfs_rq *q, const struct sched_entity *curr)
{
	struct rb_node *root = q->tasks_timeline.rb_root.rb_node;
	u64 min = ~0ULL, slice;

	if (curr && curr->on_rq)
		min = curr->slice;
	if (root) {
		slice = node_entity(root)->min_slice;
		if (slice < min)
			min = slice;
	}
	return min;
}

/*
 * The queue as a part. own: the queue that carries the group and its bandwidth, which on
 * a flat runqueue is not the one with the tree.
 */
static __always_inline void add_queue(struct sl_bpf_header *h, struct sl_bpf_part *parts,
				      const struct cfs_rq *q, const struct cfs_rq *own, int level,
				      u32 qcpu, int group, struct sums *ret_sums)
{
	struct sl_bpf_part *part = next_part(h, parts);
	struct sched_entity *curr = q->curr, *next = q->next;
	u32 flags = throttle_flags(own);
	s64 sum = queue_sum(q), key, weight;
	u64 load = queue_weight(q), zero = queue_zero(q), min = ~0ULL;

	ret_sums->avg = sum;
	ret_sums->load = load;
	ret_sums->zero = zero;
	if (curr && curr->on_rq) {
		key = curr->vruntime - zero;
		weight = entity_weight(curr);
		ret_sums->avg += key * weight;
		ret_sums->load += weight;
	}
	if (!part)
		return;
	if (bpf_core_field_exists(struct sched_entity, min_slice))
		min = queue_min_slice(q, curr);
	if (min == ~0ULL) {
		min = 0;
		flags |= SL_QUEUE_NO_MIN_SLICE;
	}
	if (has_flat())
		flags |= SL_QUEUE_FLAT;
	part->role = SL_BPF_PART_QUEUE;
	part->level = level;
	part->flags = flags;
	part->qcpu = qcpu;
	part->queue.group = group;
	part->queue.nr_queued = queue_length(q);
	part->queue.min_slice = min;
	part->queue.buddy = 0;
	if (next)
		part->queue.buddy = next->my_q ? -1 : entity_task(next)->pid;
	part->queue.sum_w_vruntime = sum;
	part->queue.sum_weight = load;
	part->queue.zero_vruntime = zero;
}

/*
 * p: the task, or the one through which a group is seen; NULL: none. q: NULL when unknown.
 * group: that of q, for an entity of a group its own, NO_GROUP to have it looked up.
 */
static __always_inline void add_entity(struct sl_bpf_header *h, struct sl_bpf_part *parts,
				       const struct sched_entity *se, const struct cfs_rq *q,
				       const struct task_struct *p, int role, int level, int group,
				       bool lag)
{
	struct sl_bpf_part *part = next_part(h, parts);
	struct cfs_rq *own = NULL;
	u32 flags = 0, policy;
	u64 value = 0;
	bool on_rq;

	if (!part)
		return;
	on_rq = se->on_rq;
	if (on_rq)
		flags |= SL_ENTITY_ON_RQ;
	if (has_groups())
		own = se->my_q;
	if (own && !has_flat()) {
		flags |= SL_ENTITY_GROUP;
		if (own->idle)
			flags |= SL_ENTITY_IDLE;
		if (bpf_core_field_exists(struct cfs_rq, throttle_count) && own->throttle_count)
			flags |= SL_ENTITY_THROTTLED;
		if (group == NO_GROUP)
			group = queue_group(own);
	} else if (p) {
		policy = p->policy;
		if (policy == POLICY_IDLE)
			flags |= SL_ENTITY_IDLE;
		else if (policy == POLICY_BATCH)
			flags |= SL_ENTITY_BATCH;
		/* Since 6.18 a task is throttled by itself, before by the queue it stays on. */
		if (bpf_core_field_exists(struct task_struct, throttled)) {
			if (p->throttled)
				flags |= SL_ENTITY_THROTTLED;
		} else if (has_groups() && bpf_core_field_exists(struct cfs_rq, throttle_count) &&
			   se->cfs_rq->throttle_count) {
			flags |= SL_ENTITY_THROTTLED;
		}
	}
	if (bpf_core_field_exists(struct sched_entity, custom_slice) && se->custom_slice)
		flags |= SL_ENTITY_CUSTOM_SLICE;
	if (bpf_core_field_exists(struct sched_entity, sched_delayed) && se->sched_delayed)
		flags |= SL_ENTITY_DELAYED;
	if (bpf_core_field_exists(struct sched_entity, rel_deadline) && se->rel_deadline)
		flags |= SL_ENTITY_REL_DEADLINE;
	if (q && on_rq) {
		if (q->next == se)
			flags |= SL_ENTITY_BUDDY;
		if (has_best() && q->tasks_timeline.rb_leftmost == &se->run_node)
			flags |= SL_ENTITY_LEFTMOST;
	}
	if (lag) {
		flags |= SL_ENTITY_LAG;
		value = se->vlag;
	} else if (q && q->curr == se) {
		if (bpf_core_field_exists(struct sched_entity, vprot)) {
			flags |= SL_ENTITY_VPROT;
			value = se->vprot;
		} else if ((u64)se->vlag == se->deadline) {
			/* Until 6.17 vlag marks the deadline up to which it is protected. */
			flags |= SL_ENTITY_VPROT;
			value = se->deadline;
		}
	}
	part->role = role;
	part->level = level;
	part->flags = flags;
	part->qcpu = 0;
	part->entity.group = group == NO_GROUP ? queue_group(se->cfs_rq) : group;
	part->entity.pid = p ? p->pid : 0;
	part->entity.weight = entity_weight(se);
	part->entity.slice = se->slice;
	part->entity.vruntime = se->vruntime;
	part->entity.deadline = se->deadline;
	part->entity.lag_or_vprot = value;
}

/* A task of sched_ext: only who it is. */
static __always_inline void add_ext(struct sl_bpf_header *h, struct sl_bpf_part *parts,
				    const struct task_struct *p, int role)
{
	struct sl_bpf_part *part = next_part(h, parts);

	if (!part)
		return;
	__builtin_memset(part, 0, sizeof(*part));
	part->role = role;
	part->flags = SL_ENTITY_EXT;
	part->entity.pid = p->pid;
}

static __always_inline bool before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

static __always_inline bool eligible(s64 avg, s64 load, u64 zero, u64 vruntime)
{
	/* As vruntime_eligible() until 7.0: in 64 bits, products may wrap as they do there. */
	return avg >= (s64)(vruntime - zero) * load;
}

static __always_inline u64 read_address(const void *from)
{
	u64 address = 0;

	bpf_probe_read_kernel(&address, sizeof(void *), from);
	return address;
}

/*
 * The address of the eligible entity with the earliest deadline in the tree under root,
 * if that is before the given one; else 0. Goes the way that the pick goes. Addresses go
 * in and out as numbers: then the verifier looks at this once, and not once per level of
 * every program.
 */
__noinline u64 search_tree(u64 root, u64 deadline, s64 avg, s64 load, u64 zero)
{
	const struct sched_entity *se;
	const struct rb_node *node;
	u64 at = root, left;
	int i;

	if (!has_best())
		return 0;
	for (i = 0; i < SEARCH_STEPS && at; i++) {
		node = bpf_rdonly_cast((const void *)at, bpf_core_type_id_kernel(struct rb_node));
		left = read_address(&node->rb_left);
		if (left && eligible(avg, load, zero,
				     node_entity((const void *)left)->min_vruntime)) {
			at = left;
			continue;
		}
		se = node_entity((const void *)at);
		if (eligible(avg, load, zero, se->vruntime))
			return before(se->deadline, deadline) ?
			       at - bpf_core_field_offset(struct sched_entity, run_node) : 0;
		at = read_address(&node->rb_right);
	}
	return 0;
}

/* The same with a short cut: the leftmost entity has the earliest deadline of all. */
static __always_inline struct sched_entity *find_best(const struct cfs_rq *q,
						      const struct sums *sums, u64 deadline)
{
	struct rb_node *leftmost = q->tasks_timeline.rb_leftmost;
	struct sched_entity *se;
	u64 found;

	if (!has_best() || !leftmost)
		return NULL;
	se = node_entity(leftmost);
	if (!before(se->deadline, deadline))
		return NULL;
	if (eligible(sums->avg, sums->load, sums->zero, se->vruntime))
		return se;
	found = search_tree(read_address(&q->tasks_timeline.rb_root.rb_node), deadline, sums->avg,
			    sums->load, sums->zero);
	return found ? as_entity((const void *)found) : NULL;
}

/*
 * Whose deadline lies before this could have been picked instead of the running entity: one
 * that is no longer eligible takes no part, and loses ties else (pick_eevdf(), 6.12 to 7.3).
 */
static __always_inline u64 best_before(const struct sums *sums, const struct sched_entity *se, int role)
{
	if (role == SL_ROLE_NEXT)
		return se->deadline;
	if (eligible(sums->avg, sums->load, sums->zero, se->vruntime))
		return se->deadline + 1;
	return se->deadline + (1ULL << 62);
}

static __always_inline void add_best(struct sl_bpf_header *h, struct sl_bpf_part *parts,
				     const struct cfs_rq *q, const struct sums *sums,
				     u64 deadline, int level)
{
	struct sched_entity *best = find_best(q, sums, deadline);

	if (best)
		add_entity(h, parts, best, q,
			   best->my_q && !has_flat() ? NULL : entity_task(best), SL_ROLE_BEST,
			   level, NO_GROUP, false);
}

static __always_inline u32 task_cpu(const struct task_struct *p)
{
	if (bpf_core_field_exists(struct thread_info, cpu))
		return p->thread_info.cpu;
	return ((const struct task_struct___old *)p)->cpu;
}

static __always_inline const struct task_struct *queue_task(const struct cfs_rq *q)
{
	if (bpf_core_field_exists(struct rq, donor))
		return q->rq->donor;
	return q->rq->curr;
}

#define is_last_level(se) (has_flat() || !(se)->parent)

/* Anybody else in a queue of the running task, at any level? */
static __always_inline bool has_company(struct task_struct *p)
{
	struct sched_entity *se = as_entity(&p->se);
	struct cfs_rq *q;
	int level;

	for (level = 0; level < SL_BPF_LEVELS_MAX; level++) {
		q = entity_queue(se);
		if (!q)
			return true;
		if (queue_length(q) > 1)
			return true;
		if (is_last_level(se))
			return false;
		se = as_entity(se->parent);
	}
	return false;
}

/* The levels of a task that was woken and is queued. */
static __always_inline void add_wakee(struct sl_bpf_header *h, struct sl_bpf_part *parts,
				      struct task_struct *p, bool with_lag)
{
	struct sched_entity *se = as_entity(&p->se), *curr;
	u32 qcpu = task_cpu(p);
	bool met = false;
	struct sums sums;
	struct cfs_rq *q;
	int level, group, own_group = NO_GROUP;

	for (level = 0; level < SL_BPF_LEVELS_MAX; level++) {
		q = entity_queue(se);
		if (!q) {
			add_entity(h, parts, se, NULL, p, SL_ROLE_WAKEE, 0, 0, with_lag);
			return;
		}
		group = queue_group(se->cfs_rq);
		add_queue(h, parts, q, se->cfs_rq, level, qcpu, has_flat() ? 1 : group, &sums);
		curr = q->curr;
		add_entity(h, parts, se, q, p, SL_ROLE_WAKEE, level, level ? own_group : group,
			   with_lag && !level && curr != se);
		if (curr && curr != se && !met && curr->on_rq) {
			met = true;
			curr = as_entity(curr);
			add_entity(h, parts, curr, q, queue_task(q), SL_ROLE_CURR, level, NO_GROUP,
				   false);
			add_best(h, parts, q, &sums, se->deadline, level);
		}
		if (is_last_level(se))
			return;
		se = as_entity(se->parent);
		own_group = group;
	}
	h->truncated = 1;
}

/*
 * The levels of the task that runs or was picked. prev: the task before it; its entity, or
 * that of a group it leaves behind, is put where both have one in the same queue.
 */
static __always_inline void add_running(struct sl_bpf_header *h, struct sl_bpf_part *parts,
					struct task_struct *p, struct task_struct *prev, int role,
					u32 cpu, int levels, struct cfs_rq **ret_shared)
{
	struct sched_entity *se = as_entity(&p->se), *prev_se = NULL;
	struct sums sums;
	struct cfs_rq *q;
	int level, group, own_group = NO_GROUP, i;

	if (prev) {
		prev_se = as_entity(&prev->se);
		for (i = 0; !has_flat() && has_groups() && i < SL_BPF_LEVELS_MAX; i++) {
			if (prev_se->depth <= se->depth)
				break;
			prev_se = as_entity(prev_se->parent);
		}
	}
	for (level = 0; level < levels; level++) {
		q = entity_queue(se);
		if (!q) {
			add_entity(h, parts, se, NULL, p, role, 0, 0, false);
			if (prev && prev->se.on_rq)
				add_entity(h, parts, as_entity(&prev->se), NULL, prev, SL_ROLE_PREV,
					   0, 0, false);
			return;
		}
		group = queue_group(se->cfs_rq);
		add_queue(h, parts, q, se->cfs_rq, level, cpu, has_flat() ? 1 : group, &sums);
		add_entity(h, parts, se, q, p, role, level, level ? own_group : group, false);
		if (prev && !*ret_shared && (has_flat() || prev_se->depth == se->depth)) {
			if (entity_queue(prev_se) == q) {
				*ret_shared = q;
				if (prev_se->on_rq)
					add_entity(h, parts, prev_se, q, prev, SL_ROLE_PREV, level,
						   NO_GROUP, false);
			} else {
				prev_se = as_entity(prev_se->parent);
			}
		}
		if (levels > 1)
			add_best(h, parts, q, &sums, best_before(&sums, se, role), level);
		if (is_last_level(se))
			return;
		se = as_entity(se->parent);
		own_group = group;
	}
	if (levels > 1)
		h->truncated = 1;
}

/* The levels of a task that was switched out but is still queued, up to a shared one. */
static __always_inline void add_prev(struct sl_bpf_header *h, struct sl_bpf_part *parts,
				     struct task_struct *p, u32 cpu, const struct cfs_rq *shared)
{
	struct sched_entity *se = as_entity(&p->se);
	struct sums sums;
	struct cfs_rq *q;
	int level, group, own_group = NO_GROUP;

	for (level = 0; level < SL_BPF_LEVELS_MAX; level++) {
		q = entity_queue(se);
		if (!q || q == shared)
			return;
		group = queue_group(se->cfs_rq);
		add_queue(h, parts, q, se->cfs_rq, level, cpu, has_flat() ? 1 : group, &sums);
		add_entity(h, parts, se, q, p, SL_ROLE_PREV, level, level ? own_group : group, false);
		if (is_last_level(se))
			return;
		se = as_entity(se->parent);
		own_group = group;
	}
	h->truncated = 1;
}

#endif
