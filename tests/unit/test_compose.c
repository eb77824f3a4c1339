// SPDX-License-Identifier: GPL-2.0-only
/* Pages and events made by ourselves, read back through the front door. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event/event.h"
#include "event/evidence.h"
#include "live/bpf_formats.h"
#include "live/bpf_spool.h"
#include "live/bpf_writer.h"
#include "trace/compose.h"
#include "trace/dat_write.h"
#include "trace/source.h"
#include "util/time.h"

#define PAGE 4096u
#define CPUS 2

static char path[256];
static const uint16_t cpus[CPUS] = { 0, 3 };
static int fds[CPUS];
static uint64_t bytes[CPUS];
static struct sl_event events[4096];
static unsigned int windows;	/* schedlat:window events, taken out of events[] */

static void set_up_files(void)
{
	for (unsigned int i = 0; i < CPUS; i++) {
		fds[i] = memfd_create("compose", 0);
		assert_true(fds[i] >= 0);
		bytes[i] = 0;
	}
}

/* The files as one trace.dat with all our formats, and its events. */
static unsigned int write_and_read(void)
{
	const struct sl_dat_writer_opts opts = { .page_bytes = PAGE, .clock = "mono" };
	char *head = sl_out_header_page(PAGE), *event = sl_out_header_event();
	struct sl_dat_writer *w;
	struct sl_source *source;
	struct sl_err err = { "" };
	uint64_t size;
	unsigned int n = 0;
	int got;

	snprintf(path, sizeof(path), "%s/schedlat-compose-%d.dat",
		 getenv("TMPDIR") ? getenv("TMPDIR") : P_tmpdir, getpid());
	assert_int_equal(sl_dat_writer_create(path, &opts, &w, &err), 0);
	assert_int_equal(sl_dat_writer_add_headers(w, head, event, &err), 0);
	free(head);
	free(event);
	for (unsigned int i = 0; i < sl_event_descs_nr; i++) {
		char *text = sl_out_format(i);

		if (text)
			assert_int_equal(sl_dat_writer_add_format(w, sl_event_descs[i].system, text, &err), 0);
		free(text);
	}
	head = sl_out_window_format();
	assert_int_equal(sl_dat_writer_add_format(w, "schedlat", head, &err), 0);
	free(head);
	assert_int_equal(sl_dat_writer_begin_buffer(w, cpus, CPUS, &err), 0);
	for (unsigned int i = 0; i < CPUS; i++) {
		assert_int_equal(lseek(fds[i], 0, SEEK_SET), 0);
		assert_int_equal(sl_dat_writer_cpu_from_fd(w, cpus[i], fds[i], bytes[i], &err), 0);
		close(fds[i]);
	}
	assert_int_equal(sl_dat_writer_finish(w, &size, &err), 0);
	if (sl_source_open(path, &source, &err))
		fail_msg("%s", err.msg);
	windows = 0;
	while ((got = sl_source_next(source, events + n, 64, &err)) > 0)
		for (int i = got; i > 0; i--) {
			if (events[n].kind != SL_EV_WINDOW) {
				n++;
				continue;
			}
			windows++;
			memmove(&events[n], &events[n + 1], (size_t)(i - 1) * sizeof(*events));
		}
	assert_int_equal(got, 0);
	assert_int_equal(sl_source_info(source)->skipped.bad_records, 0);
	assert_int_equal(sl_source_info(source)->skipped.bad_pages, 0);
	assert_int_equal(sl_source_info(source)->skipped.unknown_events, 0);
	assert_int_equal(sl_source_info(source)->skipped.backwards, 0);
	sl_source_free(source);
	unlink(path);
	return n;
}

static int append(void *arg, const unsigned char *pages, size_t len)
{
	const unsigned int *index = arg;

	assert_int_equal(len % PAGE, 0);
	assert_int_equal(write(fds[*index], pages, len), (ssize_t)len);
	bytes[*index] += len;
	return 0;
}

static uint16_t id_of(const char *system, const char *name)
{
	for (unsigned int i = 0; i < sl_event_descs_nr; i++)
		if (!strcmp(sl_event_descs[i].system, system) && !strcmp(sl_event_descs[i].name, name))
			return sl_out_id(i);
	fail_msg("no event %s:%s", system, name);
	return 0;
}

static void put_tick(struct sl_composer *c, uint64_t ts_ns, int32_t pid)
{
	struct sl_out_one *out = sl_composer_add(c, ts_ns, sizeof(*out));

	assert_non_null(out);
	*out = (struct sl_out_one){ { id_of("schedlat", "tick"), 0, 0, pid }, pid };
}

static void times_gaps_and_order(void **state)
{
	static const uint64_t times[] = { 1000, 1000, 1001, 1001 + (1u << 27), 3ull << 40, 5ull << 60 };
	struct sl_composer c;
	unsigned int index = 0, n;

	(void)state;
	set_up_files();
	assert_int_equal(sl_composer_init(&c, PAGE, 2, append, &index), 0);
	for (unsigned int i = 0; i < 5; i++)
		put_tick(&c, times[i], i + 1);
	put_tick(&c, 7, 6);			/* goes back */
	sl_composer_lost(&c, 5);
	sl_composer_lost(&c, 7);
	put_tick(&c, (3ull << 40) + 9, 7);
	sl_composer_lost(&c, UINT64_MAX);
	sl_composer_lost(&c, 7);
	put_tick(&c, (3ull << 40) + 19, 8);
	sl_composer_lost(&c, 4);
	assert_int_equal(sl_composer_finish(&c), 0);
	assert_int_equal(c.events, 8);
	assert_int_equal(c.clamped, 1);
	sl_composer_release(&c);
	n = write_and_read();
	assert_int_equal(n, 11);
	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(events[i].ts_ns, times[i]);
		assert_int_equal(events[i].tick.pid, i + 1);
		assert_int_equal(events[i].common_pid, i + 1);
	}
	assert_int_equal(events[5].ts_ns, times[4]);
	assert_int_equal(events[6].kind, SL_EV_LOST);
	assert_int_equal(events[6].lost.count, 12);
	assert_int_equal(events[6].lost.until_ns, (3ull << 40) + 9);
	assert_int_equal(events[8].kind, SL_EV_LOST);
	assert_int_equal(events[8].lost.count, UINT64_MAX);
	assert_int_equal(events[9].tick.pid, 8);
	/* behind the last event */
	assert_int_equal(events[10].kind, SL_EV_LOST);
	assert_int_equal(events[10].lost.until_ns, SL_TIME_NONE);
}

/* Pages fill to the last byte, with and without the room for a count. */
static void full_pages(void **state)
{
	struct sl_composer c;
	unsigned int index = 1, n;

	(void)state;
	for (unsigned int marked = 0; marked < 2; marked++) {
		set_up_files();
		assert_int_equal(sl_composer_init(&c, PAGE, 3, append, &index), 0);
		if (marked)
			sl_composer_lost(&c, 1);
		for (unsigned int i = 0; i < 1500; i++)
			put_tick(&c, 100 + i, i + 1);
		assert_int_equal(sl_composer_finish(&c), 0);
		sl_composer_release(&c);
		/* 255 records of 16 bytes; 254 where 8 bytes are kept for the count. */
		assert_int_equal(bytes[1], 6 * PAGE);
		n = write_and_read();
		assert_int_equal(n, 1500 + marked);
		for (unsigned int i = 0; i < 1500; i++)
			assert_int_equal(events[i + marked].tick.pid, i + 1);
		assert_int_equal(events[marked].cpu, 3);
	}
}

static int fail_append(void *arg, const unsigned char *pages, size_t len)
{
	(void)arg;
	(void)pages;
	(void)len;
	return -ENOSPC;
}

static void a_full_disk_and_a_long_record(void **state)
{
	struct sl_composer c;
	unsigned int added = 0;

	(void)state;
	assert_int_equal(sl_composer_init(&c, PAGE, 1, fail_append, NULL), 0);
	assert_null(sl_composer_add(&c, 1, PAGE));
	assert_int_equal(c.error, 0);
	assert_non_null(sl_composer_add(&c, 1, PAGE - 32));
	while (added < 1000 && sl_composer_add(&c, 2, 12))
		added++;
	assert_in_range(added, 0, 1);
	assert_int_equal(c.error, -ENOSPC);
	assert_int_equal(sl_composer_finish(&c), -ENOSPC);
	sl_composer_release(&c);
}

/* ---- records of the ring ---------------------------------------------------------------- */

static struct sl_bpf_writer *writer;

static struct record {
	struct sl_bpf_header h;
	union {
		struct sl_bpf_switch sw;
		struct sl_bpf_wake wake;
		struct sl_bpf_number number;
		unsigned char room[1024];
	};
} record;

static void begin(enum sl_bpf_kind kind, uint64_t ts, unsigned int cpu)
{
	memset(&record, 0, sizeof(record));
	record.h = (struct sl_bpf_header){ .ts = ts, .cpu = cpu, .kind = kind, .common_pid = 77 };
}

static void send(void)
{
	assert_int_equal(sl_bpf_writer_record(writer, &record.h, sizeof(record)), 0);
}

static void send_number(enum sl_bpf_kind kind, uint64_t ts, int a, int b)
{
	begin(kind, ts, 0);
	record.number = (struct sl_bpf_number){ .a = a, .b = b };
	send();
}

static void open_writer(void)
{
	const struct sl_bpf_writer_params params = {
		.cpus = cpus, .nr_cpus = CPUS, .fds = fds, .page_bytes = PAGE,
	};
	struct sl_err err;

	set_up_files();
	assert_int_equal(sl_bpf_writer_new(&params, &writer, &err), 0);
}

static unsigned int close_writer(struct sl_bpf_writer_stats *ret_stats)
{
	assert_int_equal(sl_bpf_writer_finish(writer, bytes), 0);
	sl_bpf_writer_stats(writer, ret_stats);
	sl_bpf_writer_free(writer);
	return write_and_read();
}

static void a_switch_with_snapshots(void **state)
{
	struct sl_bpf_writer_stats stats;
	struct sl_bpf_part *part;

	(void)state;
	open_writer();
	begin(SL_BPF_SWITCH, 5000, 3);
	strcpy(record.sw.prev_comm, "before");
	strcpy(record.sw.next_comm, "after");
	record.sw.prev_pid = 10;
	record.sw.next_pid = 11;
	record.sw.prev_prio = 120;
	record.sw.next_prio = 98;
	record.sw.prev_state = 1 << 16;
	record.h.resched = SL_BPF_RESCHED_LAZY;
	record.h.nr_parts = 2;
	part = (struct sl_bpf_part *)(record.room + sizeof(record.sw));
	part[0] = (struct sl_bpf_part){ .role = SL_BPF_PART_QUEUE, .level = 1, .qcpu = 3,
					.flags = SL_QUEUE_HAS_BANDWIDTH };
	part[0].queue.group = 42;
	part[0].queue.nr_queued = 4;
	part[0].queue.min_slice = 700000;
	part[0].queue.buddy = -1;
	part[0].queue.sum_w_vruntime = -123456789012345;
	part[0].queue.sum_weight = 2048;
	part[0].queue.zero_vruntime = 1ull << 63 | 5;
	part[1] = (struct sl_bpf_part){ .role = SL_ROLE_NEXT, .level = 1, .flags = SL_ENTITY_VPROT };
	part[1].entity.group = 42;
	part[1].entity.pid = 11;
	part[1].entity.weight = 1024;
	part[1].entity.slice = 2800000;
	part[1].entity.vruntime = 99;
	part[1].entity.deadline = 199;
	part[1].entity.lag_or_vprot = -7;
	send();
	assert_int_equal(close_writer(&stats), 3);
	assert_int_equal(events[0].kind, SL_EV_QUEUE);
	assert_int_equal(events[0].queue.group, 42);
	assert_int_equal(events[0].queue.qcpu, 3);
	assert_int_equal(events[0].queue.level, 1);
	assert_int_equal(events[0].queue.flags, SL_QUEUE_HAS_BANDWIDTH);
	assert_int_equal(events[0].queue.nr_queued, 4);
	assert_int_equal(events[0].queue.min_slice, 700000);
	assert_int_equal(events[0].queue.buddy, -1);
	assert_int_equal(events[0].queue.sum_w_vruntime, (uint64_t)-123456789012345);
	assert_int_equal(events[0].queue.sum_weight, 2048);
	assert_int_equal(events[0].queue.zero_vruntime, 1ull << 63 | 5);
	assert_int_equal(events[1].kind, SL_EV_ENTITY);
	assert_int_equal(events[1].entity.role, SL_ROLE_NEXT);
	assert_int_equal(events[1].entity.pid, 11);
	assert_int_equal(events[1].entity.slice, 2800000);
	assert_int_equal(events[1].entity.flags, SL_ENTITY_VPROT);
	assert_int_equal(events[1].entity.lag_or_vprot, (uint64_t)-7);
	assert_int_equal(events[2].kind, SL_EV_SWITCH);
	assert_string_equal(events[2].switched.prev_comm, "before");
	assert_string_equal(events[2].switched.next_comm, "after");
	assert_int_equal(events[2].switched.prev_state, 'R');
	assert_int_equal(events[2].switched.prev_state_preempted, 1);
	assert_int_equal(events[2].switched.next_prio, 98);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(events[i].ts_ns, 5000);
		assert_int_equal(events[i].cpu, 3);
		assert_int_equal(events[i].common_pid, 77);
		assert_int_equal(events[i].ctx, SL_CTX_NEED_RESCHED_LAZY);
	}
}

static void letters_of_states(void **state)
{
	static const struct {
		unsigned int state;
		char letter;
	} states[] = {
		{ 0, 'R' }, { 1, 'S' }, { 2, 'D' }, { 4, 'T' }, { 8, 't' }, { 0x10, 'X' }, { 0x20, 'Z' },
		{ 0x40, 'P' }, { 0x402, 'I' }, { 0x80, 'X' }, { 0x80 | 0x20, 'Z' }, { 0x1002, 'D' },
		{ 0x8000, 'D' }, { 0x101, 'S' }, { 0x2001, 'S' },
	};
	struct sl_bpf_writer_stats stats;
	const unsigned int nr = sizeof(states) / sizeof(*states);

	(void)state;
	open_writer();
	for (unsigned int i = 0; i < nr; i++) {
		begin(SL_BPF_SWITCH, 100 + i, 0);
		record.sw.prev_pid = 1;
		record.sw.prev_state = states[i].state;
		send();
	}
	assert_int_equal(close_writer(&stats), nr);
	for (unsigned int i = 0; i < nr; i++) {
		assert_int_equal(events[i].switched.prev_state, states[i].letter);
		assert_int_equal(events[i].switched.prev_state_preempted, 0);
	}
}

static void where_a_cpu_is(void **state)
{
	struct sl_bpf_writer_stats stats;

	(void)state;
	open_writer();
	send_number(SL_BPF_VECTOR_ENTRY, 1, 236, 0);
	send_number(SL_BPF_IRQ_ENTRY, 2, 5, 0);
	send_number(SL_BPF_IRQ_EXIT, 3, 5, 0);
	send_number(SL_BPF_TICK, 4, 9, 0);
	send_number(SL_BPF_VECTOR_EXIT, 5, 236, 0);
	send_number(SL_BPF_SOFTIRQ_ENTRY, 6, 1, 0);
	send_number(SL_BPF_SOFTIRQ_EXIT, 7, 1, 0);
	send_number(SL_BPF_TICK, 8, 9, 0);
	send_number(SL_BPF_IRQ_ENTRY, 9, 5, 0);	/* its exit is lost */
	begin(SL_BPF_SWITCH, 10, 0);
	send();
	send_number(SL_BPF_VECTOR_ENTRY, 11, 1, 31);	/* no such vector */
	assert_int_equal(close_writer(&stats), 10);
	assert_int_equal(stats.unknown_kind, 1);
	assert_int_equal(events[0].kind, SL_EV_VECTOR_ENTRY);
	assert_int_equal(events[0].vector_entry.vector, 236);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(events[i].ctx, SL_CTX_HARDIRQ);
	assert_int_equal(events[5].ctx, SL_CTX_SOFTIRQ);
	assert_int_equal(events[6].ctx, SL_CTX_SOFTIRQ);
	assert_int_equal(events[7].ctx, 0);
	assert_int_equal(events[8].ctx, SL_CTX_HARDIRQ);
	assert_int_equal(events[9].ctx, 0);
}

static void losses_and_requests(void **state)
{
	struct sl_bpf_writer_stats stats;

	(void)state;
	open_writer();
	sl_bpf_writer_tif(writer, 6);
	send_number(SL_BPF_NEED_RESCHED, 1, 3, 6);
	send_number(SL_BPF_NEED_RESCHED, 2, 3, 7);
	send_number(SL_BPF_NEED_RESCHED, 3, 3, 8);
	begin(SL_BPF_WAKEUP, 4, 0);
	record.h.dropped = 10;
	record.wake.pid = 5;
	record.wake.cpu = 3;
	send();
	begin(SL_BPF_WAKEUP, 5, 2);		/* a CPU that is not written */
	send();
	sl_bpf_writer_lost(writer, 0, 3);
	assert_int_equal(sl_bpf_writer_dropped(writer, 0), 13);
	assert_int_equal(sl_bpf_writer_events(writer, 0), 3);
	assert_int_equal(close_writer(&stats), 5);
	assert_int_equal(stats.records, 5);
	assert_int_equal(stats.other_cpus, 1);
	assert_int_equal(stats.unknown_tif, 1);
	assert_int_equal(stats.wakeups, 1);
	assert_int_equal(events[0].kind, SL_EV_NEED_RESCHED);
	assert_int_equal(events[0].need_resched.cpu, 3);
	assert_int_equal(events[0].need_resched.tif, 0);
	assert_int_equal(events[1].need_resched.tif, 1);
	assert_int_equal(events[2].kind, SL_EV_LOST);
	assert_int_equal(events[2].lost.count, 10);
	assert_int_equal(events[3].kind, SL_EV_WAKEUP);
	assert_int_equal(events[3].wakeup.target_cpu, 3);
	assert_int_equal(events[4].lost.until_ns, SL_TIME_NONE);
}

/* ---- records of a recording with a threshold, put in order ------------------------------- */

static struct sl_bpf_spool *spool;

static void keep(enum sl_bpf_kind kind, uint64_t ts, unsigned int cpu, int32_t pid, unsigned int flags)
{
	begin(kind, ts, cpu);
	record.h.flags = flags;
	if (kind == SL_BPF_SWITCH)
		record.sw.next_pid = pid;
	else if (kind == SL_BPF_TICK)
		record.number.a = pid;
	else
		record.wake.pid = pid;
	assert_int_equal(sl_bpf_spool_record(spool, &record.h, sizeof(record.h) + sizeof(record.sw)), 0);
}

static void open_spool(int *spool_fds)
{
	const struct sl_bpf_spool_params params = { .cpus = cpus, .nr_cpus = CPUS, .fds = spool_fds };
	struct sl_err err;

	for (unsigned int i = 0; i < CPUS; i++)
		spool_fds[i] = memfd_create("spool", 0);
	assert_int_equal(sl_bpf_spool_new(&params, &spool, &err), 0);
}

static unsigned int replay(const int *spool_fds)
{
	struct sl_bpf_writer_stats stats;

	open_writer();
	assert_int_equal(sl_bpf_spool_replay(spool, writer), 0);
	sl_bpf_spool_free(spool);
	for (unsigned int i = 0; i < CPUS; i++)
		close(spool_fds[i]);
	return close_writer(&stats);
}

static void expect(const struct sl_event *ev, enum sl_ev_kind kind, uint64_t ts_ns, unsigned int cpu)
{
	assert_int_equal(ev->kind, kind);
	assert_int_equal(ev->ts_ns, ts_ns);
	assert_int_equal(ev->cpu, cpu);
}

/* Woken by CPU 3, ran on CPU 0. Its CPU is known from the waking on, the waker's is not. */
static void a_window(void **state)
{
	int spool_fds[CPUS];
	unsigned int n;

	(void)state;
	open_spool(spool_fds);
	keep(SL_BPF_WAKING, 1000, 3, 7, SL_BPF_WAIT_BEGIN);
	keep(SL_BPF_WAKEUP, 1010, 3, 7, 0);
	keep(SL_BPF_TICK, 1500, 0, 9, SL_BPF_GAP);
	keep(SL_BPF_SWITCH, 2000, 0, 7, SL_BPF_WAIT_END);
	assert_int_equal(sl_bpf_spool_waits(spool), 1);
	n = replay(spool_fds);
	assert_int_equal(windows, 1);
	assert_int_equal(n, 8);
	expect(&events[0], SL_EV_LOST, 1000, 0);	/* until the window begins */
	expect(&events[1], SL_EV_LOST, 1000, 3);
	expect(&events[2], SL_EV_WAKING, 1000, 3);
	expect(&events[3], SL_EV_WAKEUP, 1010, 3);	/* no gap in between */
	assert_int_equal(events[4].kind, SL_EV_LOST);	/* nothing more of the waker's CPU */
	assert_int_equal(events[4].lost.until_ns, SL_TIME_NONE);
	expect(&events[5], SL_EV_TICK, 1500, 0);
	expect(&events[6], SL_EV_SWITCH, 2000, 0);
	assert_int_equal(events[7].lost.until_ns, SL_TIME_NONE);
}

/*
 * Two waits on CPU 0. The second one's waking lies between two records of the first one's
 * history, so no window begins there, and its history goes on where the first one's ended.
 * Then one whose history is too short.
 */
static void windows_that_touch(void **state)
{
	int spool_fds[CPUS];
	unsigned int n, lost = 0;

	(void)state;
	open_spool(spool_fds);
	keep(SL_BPF_WAKING, 100, 0, 7, SL_BPF_WAIT_BEGIN);
	keep(SL_BPF_WAKEUP, 101, 0, 7, 0);
	keep(SL_BPF_TICK, 120, 0, 1, SL_BPF_GAP);
	keep(SL_BPF_SWITCH, 200, 0, 7, SL_BPF_WAIT_END);
	keep(SL_BPF_WAKING, 150, 0, 8, SL_BPF_WAIT_BEGIN);
	keep(SL_BPF_WAKEUP, 160, 3, 8, 0);
	keep(SL_BPF_SWITCH, 300, 0, 8, SL_BPF_WAIT_END);
	keep(SL_BPF_WAKING, 250, 3, 9, SL_BPF_WAIT_BEGIN);
	keep(SL_BPF_WAKEUP, 260, 3, 9, 0);
	keep(SL_BPF_TICK, 5000, 0, 1, SL_BPF_GAP | SL_BPF_SHORT_HISTORY);
	keep(SL_BPF_SWITCH, 6000, 0, 9, SL_BPF_WAIT_END);
	assert_int_equal(sl_bpf_spool_waits(spool), 3);
	n = replay(spool_fds);
	assert_int_equal(windows, 1);
	for (unsigned int i = 0; i < n; i++)
		lost += events[i].kind == SL_EV_LOST;
	/* CPU 0: before 100, before 5000, behind 6000; CPU 3: before 160, before 250, behind 260 */
	assert_int_equal(lost, 6);
	assert_int_equal(n - lost, 11);
	expect(&events[0], SL_EV_LOST, 100, 0);
	expect(&events[1], SL_EV_WAKING, 100, 0);
	expect(&events[2], SL_EV_WAKEUP, 101, 0);
	expect(&events[3], SL_EV_TICK, 120, 0);
	expect(&events[4], SL_EV_WAKING, 150, 0);
	expect(&events[5], SL_EV_LOST, 160, 3);
	expect(&events[6], SL_EV_WAKEUP, 160, 3);
	expect(&events[7], SL_EV_SWITCH, 200, 0);
}

/* Every field of events.def is in the text of our event, and of its width. */
static void every_field_is_described(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sl_event_descs_nr; i++) {
		const struct sl_field_desc *field = sl_event_descs[i].fields();
		char *text = sl_out_format(i);

		for (; text && field->name; field++) {
			char want[64];
			const char *at;
			unsigned int offset, size;

			snprintf(want, sizeof(want), " %s%s;", field->name, field->type == SL_FT_COMM ? "[16]" : "");
			at = strstr(text, want);
			/* "success" of old kernels only */
			if (!at && field->optional)
				continue;
			if (!at)
				fail_msg("%s: no field %s", sl_event_descs[i].name, field->name);
			assert_int_equal(sscanf(at + strlen(want), " offset:%u; size:%u", &offset, &size), 2);
			if (field->type == SL_FT_I32)
				assert_int_equal(size, 4);
			if (field->type == SL_FT_I16)
				assert_int_equal(size, 2);
			if (field->type == SL_FT_U64)
				assert_int_equal(size, 8);
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_gaps_and_order),
		cmocka_unit_test(full_pages),
		cmocka_unit_test(a_full_disk_and_a_long_record),
		cmocka_unit_test(a_switch_with_snapshots),
		cmocka_unit_test(letters_of_states),
		cmocka_unit_test(where_a_cpu_is),
		cmocka_unit_test(losses_and_requests),
		cmocka_unit_test(a_window),
		cmocka_unit_test(windows_that_touch),
		cmocka_unit_test(every_field_is_described),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
