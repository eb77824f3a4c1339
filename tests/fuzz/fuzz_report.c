// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer harness: any bytes as a recording, read and analysed as
 * `schedlat report --why=0ns --waits=all` does, without printing.
 *
 * The first byte chooses parameters, so that the corpus covers them too; the
 * rest is the file. See scripts/fuzz.sh for how to run it. Beside what the
 * sanitizers find, broken invariants of a wait abort.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "schedlat/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool good, const char *what, uint64_t have, uint64_t want)
{
	if (good)
		return;
	fprintf(stderr, "%s: %llu, expected %llu\n", what, (unsigned long long)have,
		(unsigned long long)want);
	abort();
}

static void check_wait(void *arg, const struct sl_wait *wait)
{
	uint64_t segments = 0, causes = 0;
	unsigned int i;

	(void)arg;
	expect(wait->tid != 0, "a wait of pid 0", 0, 1);
	for (i = 0; i < SL_CAUSE_HOLD_NR; i++)
		causes += wait->cause_ns[i];
	expect(causes == wait->delay_ns, "sum of causes", causes, wait->delay_ns);
	if (!wait->segments)
		return;
	for (i = 0; i < wait->nr_segments; i++)
		segments += wait->segments[i].ns;
	expect(segments == wait->delay_ns, "sum of segments", segments, wait->delay_ns);
}

static void check_report(const struct sl_report *report)
{
	uint64_t sum = report->samples;
	unsigned int i;

	for (i = 0; i < SL_DISCARD_NR; i++)
		sum += report->discarded[i];
	expect(sum == report->wakeups, "samples and discards", sum, report->wakeups);
	for (i = 0; i < report->why.nr_waits; i++)
		check_wait(NULL, &report->why.waits[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_report_params params = { .why = { .label = "0ns" } };
	struct sl_report *report = NULL;
	struct sl_err err = { "" };
	char path[64];
	int fd, ret;

	if (size < 1)
		return 0;
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)(size - 1))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	params.path = path;
	params.waits = (1u << SL_WAIT_NR) - 1;
	params.why.mode = data[0] & 1 ? SL_WHY_QUANTILE : SL_WHY_DURATION;
	params.why.quantile = 0.99;
	params.detail_waits = data[0] & 2 ? 10 : 100000;
	params.from = data[0] & 4 ? SL_FROM_WAKEUP : SL_FROM_WAKING;
	params.by = (enum sl_by)((data[0] >> 3) % SL_BY_NR);
	if (data[0] & 64)
		params.on_wait = check_wait;

	ret = sl_report_run(&params, &report, &err);
	if (ret < 0)
		expect(report == NULL && err.msg[0], "an error without a message", 0, 1);
	else
		check_report(report);
	sl_report_free(report);
	close(fd);
	return 0;
}
