// SPDX-License-Identifier: LGPL-2.1-only
#include "sched/topology.h"

#include <errno.h>
#include <stdlib.h>

static const struct sl_topology_cpu *cpu_of(const struct sl_topology *topology, int cpu)
{
	return cpu >= 0 && (unsigned int)cpu < topology->nr && topology->cpus[cpu].known ?
		       &topology->cpus[cpu] : NULL;
}

static int grow(struct sl_topology *topology, unsigned int nr)
{
	struct sl_topology_cpu *grown = realloc(topology->cpus, nr * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	memset(grown + topology->nr, 0, (nr - topology->nr) * sizeof(*grown));
	topology->cpus = grown;
	topology->nr = nr;
	return 0;
}

/* A list that makes no sense is a list that is not known. */
static int take_list(struct sl_cpumask *mask, const char *list)
{
	int ret;

	if (mask->words)
		return 0;
	ret = sl_cpumask_parse(mask, list);
	if (ret)
		sl_cpumask_release(mask);
	return ret == -ENOMEM ? ret : 0;
}

static int take_word(struct sl_topology_cpu *c, const char *word)
{
	if (!strncmp(word, "smt=", 4))
		return take_list(&c->smt, word + 4);
	if (!strncmp(word, "cluster=", 8))
		return take_list(&c->cluster, word + 8);
	if (!strncmp(word, "llc=", 4))
		return take_list(&c->llc, word + 4);
	if (!strncmp(word, "package=", 8))
		c->package = atoi(word + 8);
	else if (!strncmp(word, "capacity=", 9))
		c->capacity = atoi(word + 9);
	return 0;
}

int sl_topology_apply(struct sl_topology *topology, const char *key, const char *value)
{
	struct sl_topology_cpu *c;
	unsigned long cpu;
	char *end, *copy, *word, *rest;
	int ret = 0;

	if (strncmp(key, "cpu", 3) || key[3] < '0' || key[3] > '9')
		return 0;
	cpu = strtoul(key + 3, &end, 10);
	if (*end || cpu >= SL_CPU_MAX)
		return 0;
	if (cpu >= topology->nr && grow(topology, (unsigned int)cpu + 1))
		return -ENOMEM;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	c = &topology->cpus[cpu];
	if (!c->known)
		c->package = c->capacity = -1;
	c->known = true;
	for (word = strtok_r(copy, " ", &rest); word && !ret; word = strtok_r(NULL, " ", &rest))
		ret = take_word(c, word);
	free(copy);
	return ret;
}

void sl_topology_release(struct sl_topology *topology)
{
	unsigned int i;

	for (i = 0; i < topology->nr; i++) {
		sl_cpumask_release(&topology->cpus[i].smt);
		sl_cpumask_release(&topology->cpus[i].cluster);
		sl_cpumask_release(&topology->cpus[i].llc);
	}
	free(topology->cpus);
	topology->cpus = NULL;
	topology->nr = 0;
}

enum sl_cpu_relation sl_topology_relation(const struct sl_topology *topology, int a, int b)
{
	const struct sl_topology_cpu *ca = cpu_of(topology, a), *cb = cpu_of(topology, b);

	if (!ca || !cb)
		return SL_CPUS_UNKNOWN;
	if (sl_cpumask_test(&ca->smt, (unsigned int)b))
		return SL_CPUS_SMT;
	if (sl_cpumask_test(&ca->cluster, (unsigned int)b))
		return SL_CPUS_CLUSTER;
	if (sl_cpumask_test(&ca->llc, (unsigned int)b))
		return SL_CPUS_LLC;
	if (!ca->llc.words && ca->package < 0)
		return SL_CPUS_UNKNOWN;
	return ca->package >= 0 && ca->package == cb->package ? SL_CPUS_PACKAGE : SL_CPUS_APART;
}

int sl_topology_capacity(const struct sl_topology *topology, int cpu)
{
	const struct sl_topology_cpu *c = cpu_of(topology, cpu);

	return c ? c->capacity : -1;
}
