/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A system call that takes as long as one likes: mincore() of a huge mapping in which
 * nothing was ever touched. do_mincore() (6.18) comes by no cond_resched() where there
 * are no page tables, so that only a kernel that can be preempted switches in it.
 */
#ifndef TESTS_WORKLOADS_MINCORE_H
#define TESTS_WORKLOADS_MINCORE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rt.h"

#define MOST (64ull << 30)

static struct {
	void *map;
	unsigned char *vec;
	size_t len;
} probe;

static uint64_t long_call(void)
{
	uint64_t began = rt_now();

	if (mincore(probe.map, probe.len, probe.vec))
		rt_die("mincore: %s", strerror(errno));
	return rt_now() - began;
}

/* A call shall take at least so long. */
static void long_call_prepare(uint64_t wanted_ns)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t ns = 0;

	probe.map = mmap(NULL, MOST, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	probe.vec = calloc(1, MOST / page);
	if (probe.map == MAP_FAILED || !probe.vec)
		rt_skip("no address space of %llu GiB: %s", MOST >> 30, strerror(errno));
	for (probe.len = MOST / 64; probe.len <= MOST && ns < wanted_ns; probe.len *= 2) {
		long_call();
		ns = long_call();
	}
	probe.len /= 2;
}

/* A thread of nothing but such calls. */
static void long_calls(void *unused)
{
	(void)unused;
	while (rt_more())
		long_call();
}

#endif
