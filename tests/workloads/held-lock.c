// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: resched-delayed
 *
 * The hog asks a message queue of hundreds of thousands of empty messages for one of a type
 * that none has: find_msg() (7.3) looks at all of them under the queue's spinlock, that is for
 * some milliseconds with preemption off, under every model of preemption but realtime.
 * Meanwhile a timer on that CPU wakes a realtime task, and that asks the hog to stop at
 * once. Where there are IPC namespaces the queue lies in one that ends with this process.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>

#include "rt.h"

#define MOST 2000000
#define TYPE 1
#define OTHER_TYPE 2
#define WANTED_NS (5 * RT_MS)

static const struct rt_about about = { .causes = "resched-delayed" };

static struct rt_beat victim = { .period_ns = 17 * RT_MS, .cpu_ns = 20 * RT_US };
static int queue;

static uint64_t search(void)
{
	const uint64_t began = rt_now();
	struct msgbuf got;

	if (msgrcv(queue, &got, sizeof(got.mtext), OTHER_TYPE, IPC_NOWAIT) != -1 || errno != ENOMSG)
		rt_die("msgrcv: %s", strerror(errno));
	return rt_now() - began;
}

static void hog(void *unused)
{
	(void)unused;
	while (rt_more())
		search();
}

/* That of the namespace: takes no capability as that of one queue does. */
static void raise_limit(void)
{
	FILE *file = fopen("/proc/sys/kernel/msgmnb", "we");

	if (file) {
		fprintf(file, "%d\n", MOST);
		fclose(file);
	}
}

static void remove_queue(void)
{
	msgctl(queue, IPC_RMID, NULL);
}

static void prepare(void)
{
	const struct msgbuf empty = { .mtype = TYPE };
	struct msqid_ds limits;
	int nr = 0;

	/* Without a namespace of its own the queue outlives a process that is killed. */
	if (!unshare(CLONE_NEWIPC))
		raise_limit();
	queue = msgget(IPC_PRIVATE, 0600);
	if (queue < 0 || msgctl(queue, IPC_STAT, &limits))
		rt_skip("no message queue: %s (CONFIG_SYSVIPC?)", strerror(errno));
	atexit(remove_queue);
	if (limits.msg_qbytes < MOST) {
		limits.msg_qbytes = MOST;
		if (msgctl(queue, IPC_SET, &limits))
			rt_skip("a message queue cannot be so long: %s", strerror(errno));
	}
	for (uint64_t ns = 0; ns < WANTED_NS && nr < MOST; ns = search())
		for (int i = 0; i < 10000 && nr < MOST; i++, nr++)
			if (msgsnd(queue, &empty, 0, IPC_NOWAIT))
				rt_skip("no memory for %d messages: %s", nr, strerror(errno));
}

int main(int argc, char **argv)
{
	rt_begin(argc, argv, &about);
	prepare();
	rt_start(&(struct rt_spec){ .comm = "lock-hog", .pinned = true, .cpu = rt_cpu(0), .run = hog });
	rt_start(&(struct rt_spec){ .comm = "v-held-lock", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .policy = SCHED_FIFO, .prio = 10,
				    .run = rt_beat, .arg = &victim });
	return rt_run();
}
