// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: resched-delayed
 *
 * The hog asks mincore() about a huge mapping in which nothing was ever touched. On its
 * way through nothing it comes by no point at which a kernel with preempt=none would
 * switch (6.18: do_mincore(), no cond_resched() where there are no page tables). The
 * victim has the shorter slice and is owed time: its wakeup asks the hog to stop at
 * once, which it does only when the system call returns.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rt.h"

#define MOST (64ull << 30)

static const struct rt_about about = { .causes = "resched-delayed" };

static struct {
	void *map;
	unsigned char *vec;
	size_t len;
} probe;

static uint64_t call(void)
{
	uint64_t began = rt_now();

	if (mincore(probe.map, probe.len, probe.vec))
		rt_die("mincore: %s", strerror(errno));
	return rt_now() - began;
}

static void hog(void *arg)
{
	(void)arg;
	while (rt_more())
		call();
}

static void victim(void *arg)
{
	uint64_t t = rt_t0() + 20 * RT_MS;

	(void)arg;
	for (; rt_more(); t += 17 * RT_MS) {
		rt_sleep_until(t);
		rt_burn(20 * RT_US);
	}
}

int main(int argc, char **argv)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t ns = 0;

	rt_begin(argc, argv, &about);
	probe.map = mmap(NULL, MOST, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	probe.vec = calloc(1, MOST / page);
	if (probe.map == MAP_FAILED || !probe.vec)
		rt_skip("no address space of %llu GiB: %s", MOST >> 30, strerror(errno));
	for (probe.len = MOST / 64; probe.len <= MOST && ns < 10 * RT_MS; probe.len *= 2) {
		call();
		ns = call();
	}
	probe.len /= 2;
	rt_start(&(struct rt_spec){ .comm = "mincore-hog", .pinned = true, .cpu = rt_cpu(0),
				    .slice_ns = 50 * RT_MS, .run = hog });
	rt_start(&(struct rt_spec){ .comm = "v-long-syscall", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .slice_ns = RT_MS / 10, .run = victim });
	return rt_run();
}
