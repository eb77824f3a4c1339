// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_read FILE [ROUNDS [BATCH]]: what reading alone costs.
 *
 * Opens the file anew in each round, takes every event and adds up something of
 * each, so that nothing can be left out. Prints the median round and the open,
 * in CPU time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "trace/source.h"
#include "util/time.h"

/* CPU time of the process: the machine may be doing other things. */
static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * SL_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int round_of(const char *path, unsigned int batch, struct sl_event *events,
		    uint64_t *ret_open_ns, uint64_t *ret_read_ns, uint64_t *ret_events,
		    uint64_t *ret_sum)
{
	struct sl_source *source;
	struct sl_err err = { "" };
	uint64_t start = now_ns(), n = 0, sum = 0;
	int got;

	if (sl_source_open(path, &source, &err) < 0) {
		fprintf(stderr, "bench_read: %s\n", err.msg);
		return -1;
	}
	*ret_open_ns = now_ns() - start;
	start = now_ns();
	while ((got = sl_source_next(source, events, batch, &err)) > 0) {
		for (int i = 0; i < got; i++)
			sum = sum * 31 + events[i].ts_ns + events[i].kind +
			      (uint32_t)events[i].common_pid;
		n += (uint64_t)got;
	}
	*ret_read_ns = now_ns() - start;
	sl_source_free(source);
	if (got < 0) {
		fprintf(stderr, "bench_read: %s\n", err.msg);
		return -1;
	}
	*ret_events = n;
	*ret_sum = sum;
	return 0;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 11;
	int batch = argc > 3 ? atoi(argv[3]) : 256;
	uint64_t open_ns[101], read_ns[101], events = 0, sum = 0;
	struct sl_event *buf;
	struct rusage usage;

	if (argc < 2 || rounds < 1 || rounds > 101 || batch < 1) {
		fprintf(stderr, "usage: bench_read FILE [ROUNDS [BATCH]]\n");
		return 129;
	}
	buf = aligned_alloc(64, (size_t)batch * sizeof(*buf));
	if (!buf)
		return 1;
	for (int i = 0; i < rounds; i++)
		if (round_of(argv[1], (unsigned int)batch, buf, &open_ns[i], &read_ns[i], &events,
			     &sum))
			return 1;
	qsort(open_ns, (size_t)rounds, sizeof(open_ns[0]), by_value);
	qsort(read_ns, (size_t)rounds, sizeof(read_ns[0]), by_value);
	getrusage(RUSAGE_SELF, &usage);
	printf("events %llu  open %.2f ms  read %.1f ms (%.1f-%.1f)  %.2f ns/event  %.1f M events/s  "
	       "peak RSS %.1f MiB  sum %016llx\n", (unsigned long long)events,
	       (double)open_ns[rounds / 2] / 1e6, (double)read_ns[rounds / 2] / 1e6,
	       (double)read_ns[0] / 1e6, (double)read_ns[rounds - 1] / 1e6,
	       events ? (double)read_ns[rounds / 2] / (double)events : 0.0,
	       (double)events * 1e3 / (double)read_ns[rounds / 2],
	       (double)usage.ru_maxrss / 1024.0, (unsigned long long)sum);
	free(buf);
	return 0;
}
