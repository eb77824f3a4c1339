// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ring-buffer pages built by hand, read through the front door: a tiny trace.dat
 * of version 7 in either byte order, with one event (sched_waking) whose pid tells
 * which record it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "trace/source.h"
#include "util/time.h"

#define PAGE 4096u
#define PAGES_MAX 8
#define WAKING_ID 100
#define UNUSED_ID 101
#define RECORD_BYTES 36u
#define MISSED (1u << 31)
#define STORED (1u << 30)

/* ---- building -------------------------------------------------------------------------- */

struct bytes {
	unsigned char b[256 << 10];
	size_t n;
	bool big;
};

static void put(struct bytes *f, const void *p, size_t len)
{
	assert_true(f->n + len <= sizeof(f->b));
	memcpy(f->b + f->n, p, len);
	f->n += len;
}

static void put_int_at(struct bytes *f, size_t at, uint64_t v, unsigned int bytes)
{
	unsigned int i;

	for (i = 0; i < bytes; i++)
		f->b[at + i] = (unsigned char)(v >> 8 * (f->big ? bytes - 1 - i : i));
}

static void put_int(struct bytes *f, uint64_t v, unsigned int bytes)
{
	assert_true(f->n + bytes <= sizeof(f->b));
	put_int_at(f, f->n, v, bytes);
	f->n += bytes;
}

struct cpu_data {
	uint32_t cpu;
	struct bytes data;
	size_t page;		/* start of the page being filled */
	unsigned int long_bytes;
};

static void page_begin(struct cpu_data *c, uint64_t stamp)
{
	c->page = c->data.n;
	put_int(&c->data, stamp, 8);
	put_int(&c->data, 0, c->long_bytes);
}

/* Close the page; flags go into the commit word, a stored count behind the data. */
static void page_end(struct cpu_data *c, uint32_t flags, uint64_t missed)
{
	size_t head = 8 + c->long_bytes, bytes = c->data.n - c->page - head;

	put_int_at(&c->data, c->page + 8, bytes | flags, c->long_bytes);
	if (flags & STORED)
		put_int(&c->data, missed, c->long_bytes);
	assert_true(c->data.n <= c->page + PAGE);
	memset(c->data.b + c->data.n, 0, c->page + PAGE - c->data.n);
	c->data.n = c->page + PAGE;
}

static void head(struct cpu_data *c, uint32_t type, uint32_t delta)
{
	put_int(&c->data, c->data.big ? type << 27 | delta : delta << 5 | type, 4);
}

static void payload(struct cpu_data *c, unsigned int id, int32_t pid)
{
	char comm[16] = "name\0junk behind";

	put_int(&c->data, id, 2);
	put_int(&c->data, 0x10, 1);		/* common_flags: softirq */
	put_int(&c->data, 0, 1);
	put_int(&c->data, 7, 4);		/* common_pid */
	put(&c->data, comm, sizeof(comm));
	put_int(&c->data, (uint32_t)pid, 4);
	put_int(&c->data, (uint32_t)-1, 4);	/* prio of a deadline task */
	put_int(&c->data, 3, 4);		/* target_cpu */
}

static void waking(struct cpu_data *c, uint32_t delta, int32_t pid)
{
	head(c, RECORD_BYTES / 4, delta);
	payload(c, WAKING_ID, pid);
}

static const char waking_format[] =
	"name: sched_waking\nID: 100\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"this makes )( no sense\", REC->nothing\n";
static const char unused_format[] = "name: something_else\nID: 101\nformat:\n";

static size_t section(struct bytes *f, unsigned int id)
{
	put_int(f, id, 2);
	put_int(f, 0, 2);
	put_int(f, 0, 4);
	put_int(f, 0, 8);
	return f->n;
}

static void section_end(struct bytes *f, size_t start)
{
	put_int_at(f, start - 8, f->n - start, 8);
}

static void option(struct bytes *f, unsigned int id, const void *p, uint32_t len)
{
	put_int(f, id, 2);
	put_int(f, len, 4);
	put(f, p, len);
}

static void option_offset(struct bytes *f, unsigned int id, uint64_t offset)
{
	put_int(f, id, 2);
	put_int(f, 8, 4);
	put_int(f, offset, 8);
}

struct shape {
	bool big;
	unsigned int long_bytes;
	const char *clock;
	const char *offset;	/* text of the OFFSET option, or NULL */
	bool options_loop;
	size_t cut_bytes;	/* leave so many bytes away at the end */
	bool zlib;		/* a chunk per page */
	unsigned int table_less;	/* so much less than the data does the table say */
};

/* The data of a CPU as trace-cmd compresses it: count, then (packed, plain, bytes) each. */
static void put_chunks(struct bytes *f, const struct bytes *data)
{
	size_t at;

	put_int(f, data->n / PAGE, 4);
	for (at = 0; at < data->n; at += PAGE) {
		unsigned char packed[2 * PAGE];
		uLongf len = sizeof(packed);

		assert_int_equal(compress(packed, &len, data->b + at, PAGE), Z_OK);
		put_int(f, len, 4);
		put_int(f, PAGE, 4);
		put(f, packed, len);
	}
}

static struct bytes file_bytes;
static struct cpu_data cpus[2];
static char path[4096];

static void write_file(const struct shape *s, unsigned int nr_cpus)
{
	struct bytes *f = &file_bytes;
	size_t options_at, start, info, formats, options, tables[2], i;
	char text[512];
	int fd;

	f->n = 0;
	f->big = s->big;
	put(f, "\x17\x08\x44tracing7\0", 12);
	put_int(f, s->big, 1);
	put_int(f, 8, 1);
	put_int(f, PAGE, 4);
	put(f, s->zlib ? "zlib\0" : "none\0", 6);
	options_at = f->n;
	put_int(f, 0, 8);

	info = f->n;
	start = section(f, 16);
	snprintf(text, sizeof(text), "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		 "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n", s->long_bytes,
		 8 + s->long_bytes, PAGE - 8 - s->long_bytes);
	put(f, "header_page", 12);
	put_int(f, strlen(text), 8);
	put(f, text, strlen(text));
	put(f, "header_event", 13);
	put_int(f, 0, 8);
	section_end(f, start);

	formats = f->n;
	start = section(f, 18);
	put_int(f, 1, 4);
	put(f, "sched", 6);
	put_int(f, 2, 4);
	put_int(f, strlen(waking_format), 8);
	put(f, waking_format, strlen(waking_format));
	put_int(f, strlen(unused_format), 8);
	put(f, unused_format, strlen(unused_format));
	section_end(f, start);

	options = f->n;
	start = section(f, 0);
	option_offset(f, 16, info);
	option_offset(f, 18, formats);
	if (s->offset)
		option(f, 7, s->offset, (uint32_t)strlen(s->offset) + 1);
	put_int(f, 3, 2);			/* BUFFER */
	put_int(f, 8 + 1 + strlen(s->clock) + 1 + 8 + 20 * nr_cpus, 4);
	tables[0] = f->n;
	put_int(f, 0, 8);
	put(f, "", 1);
	put(f, s->clock, strlen(s->clock) + 1);
	put_int(f, PAGE, 4);
	put_int(f, nr_cpus, 4);
	tables[1] = f->n;
	for (i = 0; i < nr_cpus; i++) {
		put_int(f, cpus[i].cpu, 4);
		put_int(f, 0, 8);
		put_int(f, cpus[i].data.n, 8);
	}
	option_offset(f, 0, s->options_loop ? options : 0);
	section_end(f, start);
	put_int_at(f, options_at, options, 8);

	put_int_at(f, tables[0], f->n, 8);
	start = section(f, 3);
	put_int_at(f, start - 14, s->zlib, 2);
	for (i = 0; i < nr_cpus; i++) {
		size_t from = f->n;

		put_int_at(f, tables[1] + 20 * i + 4, from, 8);
		if (s->zlib)
			put_chunks(f, &cpus[i].data);
		else
			put(f, cpus[i].data.b, cpus[i].data.n);
		put_int_at(f, tables[1] + 20 * i + 12, f->n - from - s->table_less, 8);
	}
	section_end(f, start);
	assert_true(s->cut_bytes <= f->n);

	snprintf(path, sizeof(path), "%s/schedlat-pages-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : P_tmpdir);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, f->b, f->n - s->cut_bytes), (ssize_t)(f->n - s->cut_bytes));
	close(fd);
}

static void cpu_begin(const struct shape *s, unsigned int i, uint32_t cpu)
{
	cpus[i].cpu = cpu;
	cpus[i].data.n = 0;
	cpus[i].data.big = s->big;
	cpus[i].long_bytes = s->long_bytes;
}

/* ---- reading --------------------------------------------------------------------------- */

static struct sl_event events[256];
static struct sl_source_skips skipped;
static struct sl_source_cpu first_cpu;

/* All events, in batches of `batch`; twice, to see that rewinding changes nothing. */
static int read_file(unsigned int batch)
{
	struct sl_source *source;
	struct sl_err err = { "" };
	int round, n = 0, got;

	if (sl_source_open(path, &source, &err))
		fail_msg("%s", err.msg);
	for (round = 0; round < 2; round++) {
		n = 0;
		while ((got = sl_source_next(source, events + n, batch, &err)) > 0)
			n += got;
		assert_int_equal(got, 0);
		assert_int_equal(sl_source_info(source)->events, n);
		skipped = sl_source_info(source)->skipped;
		first_cpu = sl_source_info(source)->cpus[0];
		assert_int_equal(sl_source_rewind(source, &err), 0);
	}
	sl_source_free(source);
	unlink(path);
	return n;
}

static void expect_waking(const struct sl_event *ev, uint64_t ts_ns, int32_t pid)
{
	static const char comm[SL_COMM_LEN] = "name";

	assert_int_equal(ev->kind, SL_EV_WAKING);
	assert_int_equal(ev->ts_ns, ts_ns);
	assert_int_equal(ev->waking.pid, pid);
	assert_int_equal(ev->waking.prio, -1);
	assert_int_equal(ev->waking.target_cpu, 3);
	assert_int_equal(ev->waking.success, 1);
	assert_int_equal(ev->common_pid, 7);
	assert_int_equal(ev->ctx, SL_CTX_SOFTIRQ);
	assert_memory_equal(ev->waking.comm, comm, sizeof(comm));
}

static void expect_lost(const struct sl_event *ev, uint64_t from_ns, uint64_t until_ns,
			uint64_t count)
{
	assert_int_equal(ev->kind, SL_EV_LOST);
	assert_int_equal(ev->lost.from_ns, from_ns);
	assert_int_equal(ev->lost.until_ns, until_ns);
	assert_int_equal(ev->lost.count, count);
}

static const struct shape shapes[] = {
	{ .long_bytes = 8, .clock = "mono" },
	{ .big = true, .long_bytes = 8, .clock = "mono" },
	{ .long_bytes = 4, .clock = "mono" },
	{ .big = true, .long_bytes = 4, .clock = "mono" },
};

#define FOR_SHAPES(s) \
	for (const struct shape *s = shapes; s < shapes + sizeof(shapes) / sizeof(shapes[0]); s++)

/* ---- cases ----------------------------------------------------------------------------- */

static void every_record_type(void **state)
{
	unsigned int batch;

	(void)state;
	FOR_SHAPES(s) {
		for (batch = 1; batch <= 100; batch += 99) {
			struct cpu_data *c = &cpus[0];

			cpu_begin(s, 0, 5);
			page_begin(c, 1000);
			waking(c, 10, 1);		/* 1010 */
			head(c, 30, 5);			/* time extend: 5 + (2 << 27) */
			put_int(&c->data, 2, 4);
			waking(c, 1, 2);
			head(c, 29, 4);			/* discarded: 12 bytes behind the word */
			put_int(&c->data, 12, 4);
			put_int(&c->data, 0xdead, 4);
			put_int(&c->data, 0xbeef, 4);
			head(c, 0, 3);			/* long data */
			put_int(&c->data, 4 + RECORD_BYTES, 4);
			payload(c, WAKING_ID, 3);
			head(c, 31, 100);		/* absolute: 100 + (4 << 27) */
			put_int(&c->data, 4, 4);
			waking(c, 0, 4);
			head(c, RECORD_BYTES / 4, 1);
			payload(c, UNUSED_ID, 5);
			head(c, RECORD_BYTES / 4, 1);
			payload(c, 999, 6);
			waking(c, 2, 7);
			head(c, 29, 0);			/* the rest of the page is unused */
			put_int(&c->data, 0xffffffff, 4);
			waking(c, 1, 8);
			page_end(c, 0, 0);
			page_begin(c, 1ull << 32);
			waking(c, 0, 9);
			page_end(c, 0, 0);
			write_file(s, 1);

			assert_int_equal(read_file(batch), 6);
			expect_waking(&events[0], 1010, 1);
			expect_waking(&events[1], 1016 + (2ull << 27), 2);
			expect_waking(&events[2], 1023 + (2ull << 27), 3);
			expect_waking(&events[3], 100 + (4ull << 27), 4);
			expect_waking(&events[4], 104 + (4ull << 27), 7);
			expect_waking(&events[5], 1ull << 32, 9);
			assert_int_equal(events[0].cpu, 5);
			assert_int_equal(skipped.unknown_events, 1);
			assert_int_equal(skipped.unbound_events, 1);
			assert_int_equal(skipped.bad_records, 0);
			assert_int_equal(first_cpu.first_ns, 1010);
			assert_int_equal(first_cpu.last_ns, 1ull << 32);
		}
	}
}

static void lost_marks(void **state)
{
	(void)state;
	FOR_SHAPES(s) {
		struct cpu_data *c = &cpus[0];

		cpu_begin(s, 0, 0);
		page_begin(c, 100);
		waking(c, 1, 1);
		page_end(c, MISSED | STORED, 1234);
		page_begin(c, 200);
		waking(c, 0, 2);
		page_end(c, 0, 0);
		page_begin(c, 300);		/* marked, but the loss ends with the next record */
		page_end(c, MISSED | STORED, 6);
		page_begin(c, 400);
		waking(c, 5, 3);
		page_end(c, MISSED, 0);
		write_file(s, 1);

		assert_int_equal(read_file(2), 5);
		expect_lost(&events[0], 0, 101, 1234);
		expect_waking(&events[1], 101, 1);
		expect_waking(&events[2], 200, 2);
		expect_lost(&events[3], 200, 405, UINT64_MAX);
		assert_int_equal(events[3].ts_ns, 405);
		expect_waking(&events[4], 405, 3);
		assert_int_equal(first_cpu.lost_gaps, 2);
		assert_int_equal(first_cpu.lost_events, 1234);
		assert_int_equal(first_cpu.lost_unknown_gaps, 1);
	}
}

/* The file ends inside the third record: two are delivered, then the CPU is unknown. */
static void cut_inside_record(void **state)
{
	(void)state;
	FOR_SHAPES(s) {
		struct shape cut = *s;
		struct cpu_data *c = &cpus[0];
		size_t third;

		cpu_begin(s, 0, 0);
		page_begin(c, 100);
		waking(c, 1, 1);
		waking(c, 1, 2);
		third = c->data.n;
		waking(c, 1, 3);
		page_end(c, 0, 0);
		cut.cut_bytes = c->data.n - third - 17;
		write_file(&cut, 1);

		assert_int_equal(read_file(100), 3);
		expect_waking(&events[0], 101, 1);
		expect_waking(&events[1], 102, 2);
		expect_lost(&events[2], 102, SL_TIME_NONE, UINT64_MAX);
		assert_int_equal(events[2].ts_ns, 102);
		assert_int_equal(skipped.truncated_bytes, cut.cut_bytes);
		assert_int_equal(skipped.bad_records, 0);
	}
}

/* A CPU of which nothing is left is lost from the start; the other one is complete. */
static void cut_whole_cpu(void **state)
{
	(void)state;
	FOR_SHAPES(s) {
		struct shape cut = *s;

		cpu_begin(s, 0, 1);
		page_begin(&cpus[0], 100);
		waking(&cpus[0], 1, 1);
		page_end(&cpus[0], 0, 0);
		cpu_begin(s, 1, 4095);
		page_begin(&cpus[1], 100);
		waking(&cpus[1], 2, 2);
		page_end(&cpus[1], 0, 0);
		cut.cut_bytes = PAGE;
		write_file(&cut, 2);

		assert_int_equal(read_file(100), 2);
		expect_lost(&events[0], 0, SL_TIME_NONE, UINT64_MAX);
		assert_int_equal(events[0].cpu, 4095);
		expect_waking(&events[1], 101, 1);
		assert_int_equal(skipped.truncated_bytes, PAGE);
	}
}

/* 59 bits are stored; the others come from before, and one is carried when they wrapped. */
static void stamps_above_59_bits(void **state)
{
	const uint64_t bit59 = 1ull << 59;

	(void)state;
	FOR_SHAPES(s) {
		struct cpu_data *c = &cpus[0];

		cpu_begin(s, 0, 0);
		page_begin(c, 5 * bit59 + 1000);
		waking(c, 0, 1);
		head(c, 31, 77);
		put_int(&c->data, 1, 4);
		waking(c, 1, 2);
		page_end(c, 0, 0);
		page_begin(c, 6 * bit59 - 10);
		waking(c, 0, 3);
		head(c, 31, 20);
		put_int(&c->data, 0, 4);
		waking(c, 0, 4);
		page_end(c, 0, 0);
		write_file(s, 1);

		assert_int_equal(read_file(100), 4);
		expect_waking(&events[0], 5 * bit59 + 1000, 1);
		expect_waking(&events[1], 5 * bit59 + (1u << 27) + 78, 2);
		expect_waking(&events[2], 6 * bit59 - 10, 3);
		expect_waking(&events[3], 6 * bit59 + 20, 4);
		assert_int_equal(skipped.backwards, 0);
	}
}

static void damaged_pages(void **state)
{
	(void)state;
	FOR_SHAPES(s) {
		struct cpu_data *c = &cpus[0];

		cpu_begin(s, 0, 0);
		page_begin(c, 100);
		waking(c, 1, 1);
		head(c, 28, 1);			/* reaches beyond the data */
		page_end(c, 0, 0);
		page_begin(c, 200);
		waking(c, 1, 2);
		head(c, 0, 1);			/* a length that does not even count itself */
		put_int(&c->data, 0, 4);
		page_end(c, 0, 0);
		page_begin(c, 300);
		waking(c, 1, 3);
		page_end(c, 0, 0);
		put_int_at(&c->data, c->page + 8, PAGE, c->long_bytes);	/* impossible commit */
		page_begin(c, 400);
		waking(c, 1, 4);
		head(c, 1, 1);			/* 4 bytes are no sched_waking */
		put_int(&c->data, WAKING_ID, 2);
		put_int(&c->data, 0, 2);
		waking(c, 1, 5);
		page_end(c, 0, 0);
		write_file(s, 1);

		assert_int_equal(read_file(100), 6);
		expect_waking(&events[0], 101, 1);
		expect_lost(&events[1], 101, 201, UINT64_MAX);
		expect_waking(&events[2], 201, 2);
		expect_lost(&events[3], 201, 401, UINT64_MAX);
		expect_waking(&events[4], 401, 4);
		expect_waking(&events[5], 403, 5);
		assert_int_equal(skipped.bad_records, 3);
		assert_int_equal(skipped.bad_pages, 1);
	}
}

static void backwards_is_clamped(void **state)
{
	(void)state;
	FOR_SHAPES(s) {
		struct cpu_data *c = &cpus[0];

		cpu_begin(s, 0, 0);
		page_begin(c, 1000);
		waking(c, 0, 1);
		page_end(c, 0, 0);
		page_begin(c, 990);
		waking(c, 1, 2);
		waking(c, 1, 3);
		waking(c, 100, 4);
		page_end(c, 0, 0);
		write_file(s, 1);

		assert_int_equal(read_file(100), 4);
		expect_waking(&events[1], 1000, 2);
		expect_waking(&events[2], 1000, 3);
		expect_waking(&events[3], 1092, 4);
		assert_int_equal(skipped.backwards, 2);
	}
}

/* Ties go to the lower CPU, then to the order in the buffer. */
static void merged_by_time(void **state)
{
	unsigned int batch;

	(void)state;
	FOR_SHAPES(s) {
		for (batch = 1; batch < 5; batch++) {
			cpu_begin(s, 0, 9);
			page_begin(&cpus[0], 100);
			waking(&cpus[0], 0, 4);
			waking(&cpus[0], 0, 5);
			waking(&cpus[0], 7, 7);
			page_end(&cpus[0], 0, 0);
			cpu_begin(s, 1, 2);
			page_begin(&cpus[1], 99);
			waking(&cpus[1], 0, 1);
			waking(&cpus[1], 1, 2);
			waking(&cpus[1], 0, 3);
			waking(&cpus[1], 1, 6);
			page_end(&cpus[1], 0, 0);
			write_file(s, 2);

			assert_int_equal(read_file(batch), 7);
			for (int i = 0; i < 7; i++)
				assert_int_equal(events[i].waking.pid, i + 1);
		}
	}
}

/* The size in trace-cmd's table leaves out the chunk count; others count everything. */
static void last_chunk_is_read(void **state)
{
	unsigned int less;

	(void)state;
	FOR_SHAPES(base) {
		for (less = 0; less <= 4; less += 4) {
			struct shape s = *base;

			s.zlib = true;
			s.table_less = less;
			for (unsigned int i = 0; i < 2; i++) {
				cpu_begin(&s, i, i);
				page_begin(&cpus[i], 100);
				waking(&cpus[i], 1, 1);
				page_end(&cpus[i], 0, 0);
				page_begin(&cpus[i], 200);
				waking(&cpus[i], 1, 2);
				page_end(&cpus[i], 0, 0);
			}
			write_file(&s, 2);
			assert_int_equal(read_file(3), 4);
			expect_waking(&events[1], 101, 1);
			expect_waking(&events[3], 201, 2);
			assert_int_equal(skipped.truncated_bytes, 0);
		}
	}
}

/* The last chunk is cut: what the chunks before it hold is delivered. */
static void cut_inside_chunk(void **state)
{
	(void)state;
	FOR_SHAPES(base) {
		struct shape s = *base;

		s.zlib = true;
		s.cut_bytes = 10;
		cpu_begin(&s, 0, 0);
		page_begin(&cpus[0], 100);
		waking(&cpus[0], 1, 1);
		page_end(&cpus[0], 0, 0);
		page_begin(&cpus[0], 200);
		waking(&cpus[0], 1, 2);
		page_end(&cpus[0], 0, 0);
		write_file(&s, 1);
		assert_int_equal(read_file(100), 2);
		expect_waking(&events[0], 101, 1);
		expect_lost(&events[1], 101, SL_TIME_NONE, UINT64_MAX);
		assert_int_equal(skipped.truncated_bytes, 10);
	}
}

static void offset_option(void **state)
{
	struct shape s = shapes[0];

	(void)state;
	s.offset = "-40";
	cpu_begin(&s, 0, 0);
	page_begin(&cpus[0], 100);
	waking(&cpus[0], 1, 1);
	head(&cpus[0], 31, 200);
	put_int(&cpus[0].data, 0, 4);
	waking(&cpus[0], 1, 2);
	page_end(&cpus[0], 0, 0);
	write_file(&s, 1);
	assert_int_equal(read_file(10), 2);
	expect_waking(&events[0], 61, 1);
	expect_waking(&events[1], 161, 2);
}

static void expect_refused(int code, const char *word)
{
	struct sl_source *source = NULL;
	struct sl_err err = { "" };

	assert_int_equal(sl_source_open(path, &source, &err), code);
	assert_non_null(strstr(err.msg, path));
	if (!strstr(err.msg, word))
		fail_msg("\"%s\" says nothing of \"%s\"", err.msg, word);
	assert_null(source);
	unlink(path);
}

static void refusals(void **state)
{
	struct shape s = shapes[0];

	(void)state;
	cpu_begin(&s, 0, 0);
	page_begin(&cpus[0], 100);
	waking(&cpus[0], 1, 1);
	page_end(&cpus[0], 0, 0);
	s.clock = "counter";
	write_file(&s, 1);
	expect_refused(SL_EUNSUPP, "counter");
	s.clock = "x86-tsc";
	write_file(&s, 1);
	expect_refused(SL_EUNSUPP, "x86-tsc");
	s.clock = "mono";
	s.options_loop = true;
	write_file(&s, 1);
	expect_refused(SL_EDATA, "loop");
	s.options_loop = false;
	s.cut_bytes = file_bytes.n - 20;
	write_file(&s, 1);
	expect_refused(SL_EDATA, "cut");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_record_type),
		cmocka_unit_test(lost_marks),
		cmocka_unit_test(cut_inside_record),
		cmocka_unit_test(cut_whole_cpu),
		cmocka_unit_test(stamps_above_59_bits),
		cmocka_unit_test(damaged_pages),
		cmocka_unit_test(backwards_is_clamped),
		cmocka_unit_test(merged_by_time),
		cmocka_unit_test(last_chunk_is_read),
		cmocka_unit_test(cut_inside_chunk),
		cmocka_unit_test(offset_option),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
