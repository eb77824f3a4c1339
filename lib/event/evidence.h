/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * What the fields role, flags and group of the events schedlat:queue and
 * schedlat:entity mean. Plain C, also for programs that run in the kernel.
 *
 * Which snapshots stand before which event (level 0 is the task's own queue, each
 * next level is that of its group, up to the root; kernels with one flat runqueue
 * have level 0 only):
 *
 * sched_wakeup, sched_wakeup_new (taken after the wakeup's own preemption check)
 *	per level of the woken task: queue, its entity WAKEE. At the level where the
 *	task that runs on that CPU has an entity in the same queue: CURR as well, and
 *	BEST when the tree holds an eligible entity with an earlier deadline than WAKEE's.
 *	Nothing when the woken task is not of the fair class.
 * sched_switch (taken after the pick)
 *	per level of next, if it is fair: queue, its entity NEXT; at the level where
 *	prev has an entity in the same queue, and that is queued (itself, or a group in which
 *	others wait): PREV; BEST when the tree holds an eligible entity with an earlier
 *	deadline than NEXT's.
 *	Then the levels of prev, if it is fair, that next does not share: queue, PREV.
 *	A task that was dequeued has no queue: PREV stands alone, its lag is valid.
 * picked_again, tick
 *	per level of the running task: queue, CURR; BEST when the tree holds an eligible
 *	entity whose deadline is not later than CURR's, or any while CURR is not eligible.
 * need_resched
 *	level 0 of the running task if it is fair: queue, CURR.
 * sched_waking of a task that was not dequeued when it slept (sched_delayed)
 *	WAKEE alone, with SL_ENTITY_DELAYED.
 * sched_migrate_task of a task that is queued or waking
 *	LEAVING alone, off the old queue: its lag is valid.
 *
 * queue.group: the id of the group (cgroup of the cpu controller) whose queue it is: the
 * inode number of its directory; 1 the root; negative: -1 - the number of an autogroup.
 * entity.group: of a task the same; with SL_ENTITY_GROUP the group that it stands for.
 * entity.pid: the task; at levels above 0 the task through which the group is seen.
 *
 * A pick at a level follows, in this order: the only entity; the next buddy, if it is
 * eligible (the pick clears it, so it is in queue.buddy of snapshots before the switch, and
 * NEXT keeps SL_ENTITY_BUDDY only where it ran before: a level that prev and next share);
 * the entity that ran, if it is eligible and protected (at a shared level NEXT itself); the
 * earliest deadline of those eligible. tests/unit/test_bpf.c recomputes that.
 *
 * picked_again and tick are taken without the runqueue lock: another CPU may be changing
 * the queue at that moment. sched_wakeup_new comes before its preemption check, its
 * need_resched follows it. A task on its way to sleep has no snapshot at need_resched.
 */
#ifndef SL_EVENT_EVIDENCE_H
#define SL_EVENT_EVIDENCE_H

enum sl_entity_role {
	SL_ROLE_NONE,
	SL_ROLE_WAKEE,		/* is woken, and queued now */
	SL_ROLE_CURR,		/* runs: lag_or_vprot is vprot */
	SL_ROLE_PREV,		/* was switched out; dequeued: lag_or_vprot is lag */
	SL_ROLE_NEXT,		/* was picked: lag_or_vprot is vprot */
	SL_ROLE_BEST,		/* in the tree: the earliest deadline of those eligible */
	SL_ROLE_LEAVING,	/* moves to another CPU: lag_or_vprot is lag */
	SL_ROLE_NR
};

enum sl_entity_flags {
	SL_ENTITY_CUSTOM_SLICE = 1 << 0, /* set by sched_setattr(), not the base slice */
	SL_ENTITY_DELAYED = 1 << 1,	/* sleeps, but stays queued until its lag is paid */
	SL_ENTITY_ON_RQ = 1 << 2,
	SL_ENTITY_VPROT = 1 << 3,	/* lag_or_vprot is the vruntime up to which it is protected */
	SL_ENTITY_LAG = 1 << 4,		/* lag_or_vprot is the lag at its last dequeue (>= 0: owed) */
	SL_ENTITY_IDLE = 1 << 5,	/* SCHED_IDLE, or a group with cpu.idle */
	SL_ENTITY_BATCH = 1 << 6,	/* SCHED_BATCH */
	SL_ENTITY_EXT = 1 << 7,		/* of sched_ext: no EEVDF state */
	SL_ENTITY_THROTTLED = 1 << 8,	/* it, or a group above it, is throttled */
	SL_ENTITY_BUDDY = 1 << 9,	/* the queue's next buddy */
	SL_ENTITY_LEFTMOST = 1 << 10,	/* first of the tree: the earliest deadline of all queued */
	SL_ENTITY_GROUP = 1 << 11,	/* stands for a group */
	SL_ENTITY_REL_DEADLINE = 1 << 12, /* deadline is relative to vruntime (off the queue) */
};

enum sl_queue_flags {
	SL_QUEUE_THROTTLED = 1 << 0,	/* its own bandwidth is used up */
	SL_QUEUE_HIER_THROTTLED = 1 << 1, /* it or a queue above it is throttled */
	SL_QUEUE_HAS_BANDWIDTH = 1 << 2, /* a quota is set for it */
	SL_QUEUE_FLAT = 1 << 3,		/* the kernel has one flat fair runqueue */
	SL_QUEUE_NO_MIN_SLICE = 1 << 4,	/* min_slice could not be read */
	SL_QUEUE_AVG = 1 << 5,		/* zero_vruntime is the average V itself, with the running entity in it */
};

#endif
