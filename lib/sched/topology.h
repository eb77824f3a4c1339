/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which CPUs lie close to each other and how strong they are, from the recording's
 * metadata: "cpuN" with "package=0 core=1 smt=0-1 cluster=0-3 llc=0-3 capacity=1024".
 * A word that is absent is unknown.
 */
#ifndef SL_SCHED_TOPOLOGY_H
#define SL_SCHED_TOPOLOGY_H

#include "sched/task.h"
#include "schedlat/wait.h"

struct sl_topology_cpu {
	struct sl_cpumask smt, cluster, llc;
	int package;			/* -1 unknown */
	int capacity;			/* 1024 is the strongest; -1 unknown */
	bool known;
};

struct sl_topology {
	struct sl_topology_cpu *cpus;
	unsigned int nr;
};

/* Take in one metadata pair; others than "cpuN" are left alone. 0 or -ENOMEM. */
int sl_topology_apply(struct sl_topology *topology, const char *key, const char *value);
void sl_topology_release(struct sl_topology *topology);

/* The closest thing that two CPUs share. */
enum sl_cpu_relation sl_topology_relation(const struct sl_topology *topology, int a, int b);
int sl_topology_capacity(const struct sl_topology *topology, int cpu);	/* -1 unknown */

#endif
