// SPDX-License-Identifier: LGPL-2.1-only
#include "live/bpf_spool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event/event.h"
#include "live/bpf/consume.h"

#define WRITE_BYTES (64u << 10)
#define MARK UINT64_MAX		/* instead of a place: the beginning of a window */
/*
 * Series under way: no more than CPUs, were it not for those whose end is lost. The
 * oldest makes room.
 */
#define SERIES_MAX 1024

/* A record that is not of the CPU's history, or the beginning of a window. */
struct single {
	uint64_t ts, offset;
	uint32_t seq;
	int32_t pid;
};

/* In front of a record in the file; what follows is aligned to 8. */
struct frame {
	uint32_t bytes;			/* of the record, rounded up to 8 */
	uint32_t is_single;
};

struct cpu {
	int fd;
	uint64_t bytes;			/* written or in buf */
	unsigned char *buf;
	unsigned int used;
	uint64_t last_ns;		/* of the history */
	struct single *singles;
	size_t nr, room;
};

/* A wait whose waking has come and whose switch has not. */
struct series {
	int32_t pid;			/* 0: free */
	uint64_t since_ns;
};

struct sl_bpf_spool {
	struct sl_bpf_spool_params params;
	struct cpu *cpus;		/* [params.nr_cpus] */
	struct cpu **by_number;		/* [SL_CPU_MAX] NULL: not recorded */
	struct series series[SERIES_MAX];
	unsigned int next_series;
	uint64_t waits;
};

int sl_bpf_spool_new(const struct sl_bpf_spool_params *params, struct sl_bpf_spool **ret_spool,
		     struct sl_err *err)
{
	struct sl_bpf_spool *s = calloc(1, sizeof(*s));
	bool ok = s;

	if (ok) {
		s->params = *params;
		s->cpus = calloc(params->nr_cpus, sizeof(*s->cpus));
		s->by_number = calloc(SL_CPU_MAX, sizeof(*s->by_number));
		ok = s->cpus && s->by_number;
	}
	for (unsigned int i = 0; ok && i < params->nr_cpus; i++) {
		s->cpus[i].fd = params->fds[i];
		s->cpus[i].buf = malloc(WRITE_BYTES);
		s->by_number[params->cpus[i]] = &s->cpus[i];
		ok = s->cpus[i].buf;
	}
	if (!ok) {
		sl_bpf_spool_free(s);
		return sl_err_set(err, -ENOMEM, "cannot record: out of memory");
	}
	*ret_spool = s;
	return 0;
}

void sl_bpf_spool_free(struct sl_bpf_spool *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; s->cpus && i < s->params.nr_cpus; i++) {
		free(s->cpus[i].buf);
		free(s->cpus[i].singles);
	}
	free(s->cpus);
	free(s->by_number);
	free(s);
}

static int flush(struct cpu *cpu)
{
	unsigned int done = 0;

	while (done < cpu->used) {
		ssize_t n = write(cpu->fd, cpu->buf + done, cpu->used - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += n;
	}
	cpu->used = 0;
	return 0;
}

static int add_single(struct cpu *cpu, uint64_t ts, uint64_t offset, int32_t pid)
{
	if (cpu->nr == cpu->room) {
		size_t room = cpu->room ? cpu->room * 2 : 256;
		struct single *grown = realloc(cpu->singles, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		cpu->singles = grown;
		cpu->room = room;
	}
	cpu->singles[cpu->nr] = (struct single){ ts, offset, cpu->nr, pid };
	cpu->nr++;
	return 0;
}

static int append(struct cpu *cpu, const struct sl_bpf_header *record, size_t len, bool is_single)
{
	const struct frame frame = { .bytes = (len + 7) & ~7u, .is_single = is_single };
	int r;

	if (sizeof(frame) + frame.bytes > WRITE_BYTES)
		return 0;	/* no record is that long */
	if (cpu->used + sizeof(frame) + frame.bytes > WRITE_BYTES) {
		r = flush(cpu);
		if (r < 0)
			return r;
	}
	memcpy(cpu->buf + cpu->used, &frame, sizeof(frame));
	memset(cpu->buf + cpu->used + sizeof(frame) + frame.bytes - 8, 0, 8);
	memcpy(cpu->buf + cpu->used + sizeof(frame), record, len);
	cpu->used += sizeof(frame) + frame.bytes;
	cpu->bytes += sizeof(frame) + frame.bytes;
	return 0;
}

/* The task that a waking or wakeup is about, or that a switch lets run. */
static int32_t pid_of(const struct sl_bpf_header *record)
{
	if (record->kind == SL_BPF_SWITCH)
		return ((const struct sl_bpf_switch *)sl_bpf_payload(record))->next_pid;
	if (record->kind >= SL_BPF_WAKING && record->kind <= SL_BPF_WAKEUP_NEW)
		return ((const struct sl_bpf_wake *)sl_bpf_payload(record))->pid;
	return 0;
}

static struct series *find_series(struct sl_bpf_spool *s, int32_t pid)
{
	for (unsigned int i = 0; pid && i < SERIES_MAX; i++)
		if (s->series[i].pid == pid)
			return &s->series[i];
	return NULL;
}

/* Is it a waking or wakeup? These stand in front of a history, never in it. */
static bool is_wake(struct sl_bpf_spool *s, const struct sl_bpf_header *record)
{
	if (record->kind < SL_BPF_WAKING || record->kind > SL_BPF_WAKEUP_NEW)
		return false;
	if (record->flags & SL_BPF_WAIT_BEGIN)
		s->series[s->next_series++ % SERIES_MAX] = (struct series){
			.pid = pid_of(record),
			.since_ns = record->ts,
		};
	return true;
}

int sl_bpf_spool_record(void *spool, const struct sl_bpf_header *record, size_t len)
{
	struct sl_bpf_spool *s = spool;
	struct cpu *cpu = record->cpu < SL_CPU_MAX ? s->by_number[record->cpu] : NULL;
	/* What is behind its CPU's history can only be in its place as a single one. */
	const bool is_single = is_wake(s, record) || (cpu && record->ts < cpu->last_ns);
	struct series *series;
	int r = 0;

	if (cpu && is_single)
		r = add_single(cpu, record->ts, cpu->bytes, pid_of(record));
	else if (cpu)
		cpu->last_ns = record->ts;
	if (cpu && !r)
		r = append(cpu, record, len, is_single);
	if (r < 0 || !(record->flags & SL_BPF_WAIT_END))
		return r;
	series = find_series(s, pid_of(record));
	if (!series)
		return 0;
	s->waits++;
	if (cpu)
		r = add_single(cpu, series->since_ns, MARK, series->pid);
	*series = (struct series){ 0 };
	return r;
}

uint64_t sl_bpf_spool_waits(const struct sl_bpf_spool *s)
{
	return s->waits;
}

/* ---- in order ------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
	const struct single *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	/* A window begins before what is in it. */
	if ((x->offset == MARK) != (y->offset == MARK))
		return x->offset == MARK ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

struct replay {
	struct sl_bpf_writer *writer;
	unsigned int index;		/* of the CPU */
	const unsigned char *data, *at, *end;
	const struct sl_bpf_header *last; /* the record given to the writer last */
	bool last_is_single;
	bool any_history;
	bool known;			/* nothing is missing between here and the next of the history */
	bool cut;			/* what was in front of the history is gone */
};

/* The next record of the history; NULL: there is none. */
static const struct sl_bpf_header *next_of_history(struct replay *p, size_t *ret_len)
{
	while ((size_t)(p->end - p->at) >= sizeof(struct frame)) {
		const struct frame *frame = (const void *)p->at;

		if (frame->bytes > (size_t)(p->end - p->at) - sizeof(*frame))
			break;
		if (!frame->is_single) {
			*ret_len = frame->bytes;
			return (const void *)(frame + 1);
		}
		p->at += sizeof(*frame) + frame->bytes;
	}
	return NULL;
}

static bool is_same(const struct sl_bpf_header *a, const struct sl_bpf_header *b)
{
	return a && a->ts == b->ts && a->kind == b->kind && pid_of(a) == pid_of(b);
}

static int give_history(struct replay *p, const struct sl_bpf_header *record, size_t len)
{
	p->at += sizeof(struct frame) + len;
	if (!p->known && (!p->any_history || record->flags & SL_BPF_GAP))
		sl_bpf_writer_gap(p->writer, p->index);
	p->any_history = true;
	p->known = false;
	p->last = record;
	p->last_is_single = false;
	return sl_bpf_writer_record(p->writer, record, len);
}

/* `next` is the record of the history behind it. */
static int give_single(struct replay *p, const struct single *single,
		       const struct sl_bpf_header *next)
{
	/* Between two records of the history without a gap everything is known. */
	const bool inside = p->known || (p->any_history && next && !(next->flags & SL_BPF_GAP));
	const struct sl_bpf_header *record;
	const struct frame *frame;

	if (single->offset == MARK) {
		/* A history that does not reach back so far begins with a gap. */
		if (inside || !next || next->flags & SL_BPF_SHORT_HISTORY || (p->cut && !p->any_history))
			return 0;
		p->known = true;
		p->last = NULL;
		sl_bpf_writer_gap(p->writer, p->index);
		return sl_bpf_writer_window(p->writer, p->index, single->ts, single->pid);
	}
	frame = (const void *)(p->data + single->offset);
	record = (const void *)(frame + 1);
	if (is_same(p->last, record))
		return 0;
	/* A task is asked to wake and queued with nothing in between, where one CPU does both. */
	if (!inside && !(p->last_is_single && record->kind != SL_BPF_WAKING &&
			 p->last->kind == SL_BPF_WAKING && pid_of(p->last) == pid_of(record)))
		sl_bpf_writer_gap(p->writer, p->index);
	p->last = record;
	p->last_is_single = true;
	return sl_bpf_writer_record(p->writer, record, frame->bytes);
}

static int replay_cpu(struct sl_bpf_spool *s, unsigned int index, struct sl_bpf_writer *writer)
{
	struct cpu *cpu = &s->cpus[index];
	struct replay p = { .writer = writer, .index = index, .cut = s->params.cut };
	const struct sl_bpf_header *next;
	size_t at = 0, len = 0;
	void *data;
	int r = flush(cpu);

	if (r < 0 || !cpu->bytes)
		return r;
	data = mmap(NULL, cpu->bytes, PROT_READ, MAP_SHARED, cpu->fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	if (cpu->nr)
		qsort(cpu->singles, cpu->nr, sizeof(*cpu->singles), by_time);
	p.data = p.at = data;
	p.end = p.at + cpu->bytes;
	while (!r) {
		next = next_of_history(&p, &len);
		if (next && (at == cpu->nr || next->ts <= cpu->singles[at].ts))
			r = give_history(&p, next, len);
		else if (at < cpu->nr)
			r = give_single(&p, &cpu->singles[at++], next);
		else
			break;
	}
	/* What came behind it was not kept. */
	sl_bpf_writer_gap(writer, index);
	munmap(data, cpu->bytes);
	return r;
}

int sl_bpf_spool_replay(struct sl_bpf_spool *s, struct sl_bpf_writer *writer)
{
	int r = 0;

	for (unsigned int i = 0; i < s->params.nr_cpus && !r; i++)
		r = replay_cpu(s, i, writer);
	return r;
}
