// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler's comparisons against what defines them, the snapshots that a file
 * may hold against what the collector has room for, and the ring of decisions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "sched/decision.h"

#define ENTITIES_MAX 12
#define ROUNDS 20000

static uint64_t seed = 0x5c4ed1a7;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* Entities 0 to nr - 1 stand in the tree; `curr` may run besides. Keys are relative to zero. */
struct model {
	struct sl_fair_queue queue;
	struct sl_entity curr;
	unsigned int nr;
	int64_t key[ENTITIES_MAX + 1];
	uint32_t weight[ENTITIES_MAX + 1];
	bool curr_counts;
};

static void fill(struct model *m)
{
	/* near the wrap of virtual time more often than not */
	uint64_t zero = rnd() & 1 ? rnd() : (rnd() & 0xffff) - 0x8000;
	int64_t range = 1ll << (rnd() % 36 + 2);
	unsigned int i;

	memset(m, 0, sizeof(*m));
	m->nr = (unsigned int)(rnd() % (ENTITIES_MAX + 1));
	m->queue.zero_vruntime = zero;
	for (i = 0; i <= m->nr; i++) {
		m->key[i] = (int64_t)(rnd() % (uint64_t)(2 * range)) - range;
		m->weight[i] = (uint32_t)(rnd() % 4 ? 1024 : rnd() % 90000 + 2);
	}
	for (i = 0; i < m->nr; i++) {
		m->queue.sum_w_vruntime += m->key[i] * m->weight[i];
		m->queue.sum_weight += m->weight[i];
	}
	m->curr.vruntime = zero + (uint64_t)m->key[m->nr];
	m->curr.weight = m->weight[m->nr];
	m->curr.known = rnd() % 4;
	m->curr.flags = rnd() % 4 ? SL_ENTITY_ON_RQ : 0;
	m->curr_counts = m->curr.known && m->curr.flags & SL_ENTITY_ON_RQ;
}

static unsigned int members(const struct model *m)
{
	return m->nr + m->curr_counts;
}

/* V is defined by: the lags w * (V - v) of all members add up to zero. */
static __int128 sum_of_lags(const struct model *m, int64_t v_key)
{
	__int128 sum = 0;
	unsigned int i;

	for (i = 0; i < members(m); i++)
		sum += (__int128)m->weight[i] * (v_key - m->key[i]);
	return sum;
}

static void average_is_where_lags_add_up_to_zero(void **state)
{
	struct model m;
	unsigned int round;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		int64_t v;

		fill(&m);
		v = (int64_t)(sl_eevdf_avg(&m.queue, &m.curr) - m.queue.zero_vruntime);
		if (!members(&m)) {
			assert_true(v == 0);
			continue;
		}
		/* rounded down: at v they are not above zero yet, one further they are */
		assert_true(sum_of_lags(&m, v) <= 0);
		assert_true(sum_of_lags(&m, v + 1) > 0);
	}
}

static void eligible_is_not_behind_the_average(void **state)
{
	struct model m;
	unsigned int round, i;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		unsigned int nr_eligible = 0, first = 0;
		int64_t v;

		fill(&m);
		v = (int64_t)(sl_eevdf_avg(&m.queue, &m.curr) - m.queue.zero_vruntime);
		for (i = 0; i < members(&m); i++) {
			uint64_t vruntime = m.queue.zero_vruntime + (uint64_t)m.key[i];
			bool eligible = sl_eevdf_eligible(&m.queue, &m.curr, vruntime);

			/* by definition, a lag that is not negative; in integers, not above V */
			assert_true(eligible == (sum_of_lags(&m, m.key[i]) <= 0));
			assert_true(eligible == (m.key[i] <= v));
			nr_eligible += eligible;
			if (m.key[i] < m.key[first])
				first = i;
		}
		if (members(&m)) {
			assert_true(nr_eligible > 0);
			assert_true(sl_eevdf_eligible(&m.queue, &m.curr,
						      m.queue.zero_vruntime + (uint64_t)m.key[first]));
			/* whoever stands at V is eligible, one ns behind it nobody */
			assert_true(sl_eevdf_eligible(&m.queue, &m.curr, m.queue.zero_vruntime + (uint64_t)v));
			assert_false(sl_eevdf_eligible(&m.queue, &m.curr,
						       m.queue.zero_vruntime + (uint64_t)v + 1));
		}
	}
}

/* All of virtual time shifted, or another zero: nothing may change. */
static void origin_does_not_matter(void **state)
{
	struct model m, moved;
	unsigned int round, i;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		uint64_t shift = rnd();
		int64_t zero = (int64_t)(rnd() % 2000000) - 1000000;

		fill(&m);
		moved = m;
		moved.queue.zero_vruntime += shift + (uint64_t)zero;
		moved.queue.sum_w_vruntime -= zero * (int64_t)m.queue.sum_weight;
		moved.curr.vruntime += shift;
		if (members(&m))
			assert_true(sl_eevdf_avg(&moved.queue, &moved.curr) ==
				    sl_eevdf_avg(&m.queue, &m.curr) + shift);
		for (i = 0; i < members(&m); i++) {
			uint64_t vruntime = m.queue.zero_vruntime + (uint64_t)m.key[i];

			assert_true(sl_eevdf_eligible(&m.queue, &m.curr, vruntime) ==
				    sl_eevdf_eligible(&moved.queue, &moved.curr, vruntime + shift));
		}
	}
}

static void extreme_values_do_not_overflow(void **state)
{
	static const uint64_t extremes[] = { 0, 1, INT64_MAX, 1ull << 63, UINT64_MAX, UINT64_MAX - 1 };
	const unsigned int nr = sizeof(extremes) / sizeof(*extremes);
	unsigned int a, b, c, d;

	(void)state;
	/* Only that nothing traps (the sanitizer builds look), and that the answers agree. */
	for (a = 0; a < nr; a++)
		for (b = 0; b < nr; b++)
			for (c = 0; c < nr; c++)
				for (d = 0; d < nr; d++) {
					struct sl_fair_queue q = {
						.sum_w_vruntime = (int64_t)extremes[a],
						.sum_weight = extremes[b],
						.zero_vruntime = extremes[c],
					};
					struct sl_entity curr = {
						.known = true, .flags = SL_ENTITY_ON_RQ | SL_ENTITY_VPROT,
						.weight = UINT32_MAX, .vruntime = extremes[d],
						.lag_or_vprot = extremes[a],
					};

					sl_eevdf_avg(&q, &curr);
					sl_eevdf_eligible(&q, &curr, extremes[d]);
					sl_eevdf_eligible(&q, NULL, extremes[d]);
					sl_eevdf_protected(&curr);
					assert_false(sl_vtime_before(extremes[a], extremes[a]));
				}
}

/* ---- snapshots ---- */

static struct sl_event queue_event(uint64_t ns, int32_t group)
{
	struct sl_event ev = { .ts_ns = ns, .cpu = 3, .kind = SL_EV_QUEUE };

	ev.queue.group = group;
	ev.queue.qcpu = 3;
	ev.queue.nr_queued = 2;
	ev.queue.sum_weight = 1024;
	return ev;
}

static struct sl_event entity_event(uint64_t ns, int32_t pid, int16_t role, int16_t flags)
{
	struct sl_event ev = { .ts_ns = ns, .cpu = 3, .kind = SL_EV_ENTITY };

	ev.entity.pid = pid;
	ev.entity.role = role;
	ev.entity.flags = flags;
	ev.entity.weight = 1024;
	ev.entity.slice = 3000000;
	return ev;
}

static void give_queue(struct sl_cpu_fair **f, struct sl_event ev)
{
	assert_int_equal(sl_snapshot_queue(f, &ev), 0);
}

static void give_entity(struct sl_cpu_fair **f, struct sl_event ev)
{
	assert_int_equal(sl_snapshot_entity(f, &ev), 0);
}

static void fields_out_of_range_are_unknown(void **state)
{
	struct sl_event q = queue_event(1, -7), e = entity_event(1, 5, SL_ROLE_NEXT, 0);
	struct sl_fair_queue queue;
	struct sl_entity entity;

	(void)state;
	q.queue.qcpu = -1;
	q.queue.min_slice = -1;
	q.queue.level = -3;
	q.queue.sum_w_vruntime = (uint64_t)-5;
	sl_fair_queue_read(&q.queue, &queue);
	assert_int_equal(queue.cpu, -1);
	assert_true(queue.sum_w_vruntime == -5);
	assert_true(queue.known);
	q.queue.qcpu = INT32_MAX;
	q.queue.flags = SL_QUEUE_NO_MIN_SLICE;
	q.queue.min_slice = 77;
	sl_fair_queue_read(&q.queue, &queue);
	assert_int_equal(queue.cpu, -1);
	assert_int_equal(queue.min_slice, -1);

	e.entity.weight = 0;
	sl_entity_read(&e.entity, &entity);
	assert_int_equal(entity.weight, 0);
	e.entity.weight = -1024;
	e.entity.level = -1;
	e.entity.slice = -1;
	sl_entity_read(&e.entity, &entity);
	assert_int_equal(entity.weight, 0);
	assert_true(entity.known);
}

static void snapshots_of_any_shape_are_taken_or_skipped(void **state)
{
	static const int16_t wrong[] = { -32768, -1, SL_ROLE_NONE, SL_ROLE_NR, 32767 };
	struct sl_cpu_fair *f = NULL;
	unsigned int i;

	(void)state;
	/* an entity before any queue */
	give_entity(&f, entity_event(1, 9, SL_ROLE_NEXT, SL_ENTITY_ON_RQ));
	assert_non_null(f);
	assert_int_equal(f->nr_blocks, 0);
	assert_true(f->lone.known);
	/* more levels than there is room for */
	for (i = 0; i < 1000; i++) {
		give_queue(&f, queue_event(2, (int32_t)i));
		give_entity(&f, entity_event(2, 5, SL_ROLE_NEXT, SL_ENTITY_ON_RQ));
		give_entity(&f, entity_event(2, 6, SL_ROLE_NEXT, SL_ENTITY_ON_RQ)); /* twice */
		give_entity(&f, entity_event(2, 7, SL_ROLE_BEST, SL_ENTITY_ON_RQ));
	}
	assert_int_equal(f->nr_blocks, 2 * SL_FAIR_LEVELS_MAX);
	assert_int_equal(f->blocks[0].by_role[SL_ROLE_NEXT].pid, 5);
	assert_int_equal(f->blocks[0].by_role[SL_ROLE_BEST].pid, 7);
	assert_int_equal(sl_decision_made(f, SL_DECISION_PICK, 0, NULL, 0, 2), 0);
	assert_int_equal(sl_decision_first(f)->nr_levels, SL_FAIR_LEVELS_MAX);
	/* roles that do not exist */
	give_queue(&f, queue_event(3, 1));
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		give_entity(&f, entity_event(3, 5, wrong[i], SL_ENTITY_ON_RQ));
	for (i = 0; i < SL_ROLE_NR; i++)
		assert_false(f->blocks[0].by_role[i].known);
	/* the next instant begins anew */
	give_queue(&f, queue_event(4, 1));
	assert_int_equal(f->nr_blocks, 1);
	assert_false(f->lone.known);
	sl_cpu_fair_free(f);
	sl_cpu_fair_free(NULL);
}

/* ---- the ring ---- */

/* A decision at ns, whose queue's group is its number. */
static void decide(struct sl_cpu_fair **f, uint64_t ns, uint32_t number, unsigned int levels, uint64_t oldest_ns)
{
	unsigned int i;

	for (i = 0; i < levels; i++) {
		give_queue(f, queue_event(ns, (int32_t)number));
		give_entity(f, entity_event(ns, 5, SL_ROLE_CURR, SL_ENTITY_ON_RQ));
	}
	assert_int_equal(sl_decision_made(*f, SL_DECISION_TICK, number, NULL, oldest_ns, ns), 0);
}

/* Forward from the first one: every decision up to the last, in order, each found by its time. */
static uint32_t check_ring(const struct sl_cpu_fair *f, uint32_t last)
{
	const struct sl_decision *d = sl_decision_first(f), *next;
	uint32_t nr = 0, first = d->task;

	for (; d; d = next) {
		const struct sl_level *l = sl_decision_level(f, d, 0);

		assert_int_equal(d->task, first + nr);
		assert_ptr_equal(sl_decision_at(f, d->ns), d);
		assert_ptr_equal(sl_decision_at(f, d->ns + 1), d);
		if (nr)
			assert_ptr_not_equal(sl_decision_at(f, d->ns - 1), d);
		if (l)
			assert_int_equal(l->queue.group, (int32_t)d->task);
		assert_null(sl_decision_level(f, d, d->nr_levels));
		next = sl_decision_after(f, d);
		if (!next)
			assert_int_equal(d->task, last);
		nr++;
	}
	assert_null(sl_decision_at(f, 1));
	assert_int_equal(sl_decision_at(f, UINT64_MAX)->task, last);
	return nr;
}

static void ring_keeps_what_is_waited_for(void **state)
{
	struct sl_cpu_fair *f = NULL;
	uint32_t i;

	(void)state;
	assert_null(sl_decision_at(NULL, 5));
	assert_null(sl_decision_first(NULL));
	/* nobody waits since before: the smallest ring is enough, however many come */
	for (i = 0; i < 3 * SL_DECISIONS_MIN + 17; i++)
		decide(&f, 10 + 2ull * i, i, i % 3 + 1, 10 + 2ull * i);
	assert_int_equal(check_ring(f, i - 1), SL_DECISIONS_MIN);
	assert_int_equal(f->ring_mask + 1, SL_DECISIONS_MIN);
	sl_cpu_fair_free(f);

	/* somebody waits since the beginning: it grows, in the middle of a turn, up to its limit */
	f = NULL;
	for (i = 0; i < SL_DECISIONS_MIN + 100; i++)
		decide(&f, 10 + 2ull * i, i, 1, 10 + 2ull * i);
	for (; i < SL_DECISIONS_MIN + 100 + SL_DECISIONS_MAX / 4; i++)
		decide(&f, 10 + 2ull * i, i, 1, 10 + 2ull * (SL_DECISIONS_MIN + 50));
	check_ring(f, i - 1);
	assert_true(sl_decision_first(f)->task <= SL_DECISIONS_MIN + 50);
	for (; i < 3 * SL_DECISIONS_MAX; i++)
		decide(&f, 10 + 2ull * i, i, 1, 0);
	assert_int_equal(check_ring(f, i - 1), SL_DECISIONS_MAX);
	sl_cpu_fair_free(f);
}

static void levels_go_before_their_decisions_do(void **state)
{
	struct sl_cpu_fair *f = NULL;
	const struct sl_decision *d;
	unsigned int with = 0, without = 0;
	uint32_t i;

	(void)state;
	for (i = 0; i < 2 * SL_DECISIONS_MAX; i++)
		decide(&f, 10 + 2ull * i, i, SL_FAIR_LEVELS_MAX, 0);
	check_ring(f, i - 1);
	for (d = sl_decision_first(f); d; d = sl_decision_after(f, d)) {
		bool there = sl_decision_level(f, d, 0) != NULL;

		assert_true(there || !with);	/* the older ones go first */
		assert_true((sl_decision_level(f, d, SL_FAIR_LEVELS_MAX - 1) != NULL) == there);
		with += there;
		without += !there;
	}
	assert_true(with > 0 && without > 0);
	sl_cpu_fair_free(f);
}

static void decisions_of_one_instant_stay_in_order(void **state)
{
	struct sl_cpu_fair *f = NULL;
	const struct sl_decision *d;

	(void)state;
	decide(&f, 10, 0, 1, 0);
	decide(&f, 20, 1, 1, 0);
	decide(&f, 20, 2, 1, 0);
	decide(&f, 30, 3, 1, 0);
	assert_int_equal(sl_decision_at(f, 20)->task, 2);
	assert_int_equal(sl_decision_at(f, 19)->task, 0);
	d = sl_decision_after(f, sl_decision_first(f));
	assert_int_equal(d->task, 1);
	assert_int_equal(sl_decision_after(f, d)->task, 2);
	assert_null(sl_decision_at(f, 9));
	sl_cpu_fair_free(f);
}

static void a_snapshot_serves_one_event_of_its_time(void **state)
{
	struct sl_cpu_fair *f = NULL;

	(void)state;
	give_queue(&f, queue_event(10, 1));
	give_entity(&f, entity_event(10, 5, SL_ROLE_CURR, SL_ENTITY_ON_RQ));
	assert_int_equal(sl_decision_made(f, SL_DECISION_TICK, 0, NULL, 0, 11), 0);
	assert_null(sl_decision_first(f));
	/* the wrong role for this kind of event */
	give_queue(&f, queue_event(12, 1));
	give_entity(&f, entity_event(12, 5, SL_ROLE_CURR, SL_ENTITY_ON_RQ));
	assert_int_equal(sl_decision_made(f, SL_DECISION_TICK, 0, NULL, 0, 12), 0);
	assert_int_equal(sl_decision_made(f, SL_DECISION_TICK, 1, NULL, 0, 12), 0);
	assert_null(sl_decision_after(f, sl_decision_first(f)));
	assert_int_equal(sl_decision_made(NULL, SL_DECISION_TICK, 1, NULL, 0, 12), 0);
	sl_cpu_fair_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(average_is_where_lags_add_up_to_zero),
		cmocka_unit_test(eligible_is_not_behind_the_average),
		cmocka_unit_test(origin_does_not_matter),
		cmocka_unit_test(extreme_values_do_not_overflow),
		cmocka_unit_test(fields_out_of_range_are_unknown),
		cmocka_unit_test(snapshots_of_any_shape_are_taken_or_skipped),
		cmocka_unit_test(ring_keeps_what_is_waited_for),
		cmocka_unit_test(levels_go_before_their_decisions_do),
		cmocka_unit_test(decisions_of_one_instant_stay_in_order),
		cmocka_unit_test(a_snapshot_serves_one_event_of_its_time),
	};

	return cmocka_run_group_tests_name("eevdf", tests, NULL, NULL);
}
