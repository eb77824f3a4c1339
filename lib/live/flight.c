// SPDX-License-Identifier: LGPL-2.1-only
#include "live/flight.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_BYTES (sizeof(uint64_t) + sizeof(unsigned long))
#define COMMIT_MASK ((1ul << 27) - 1)
#define MISSED_EVENTS (1ul << 31)
#define MISSED_STORED (1ul << 30)
#define MARGIN_MIN_NS 10000000ull
#define MARGIN_MAX_NS 1000000000ull
/* An event may become visible this much after its timestamp was taken. */
#define COMMIT_LAG_NS 1000000ull

enum kind { KIND_OTHER, KIND_WAKE, KIND_SWITCH, KIND_LOST };

struct layout {
	uint16_t id;
	uint16_t pid_offset;		/* pid of a wakeup, next_pid of a switch */
	uint8_t kind;
};

struct note {				/* the part of an event that matters here */
	uint64_t ts_ns;
	int32_t pid;
	uint8_t kind;
};

struct page {
	struct page *next;
	uint64_t first_ns, last_ns;
	uint32_t used;			/* bytes of data */
	uint32_t events;
	bool keep;
	unsigned char data[];
};

struct cpu {
	struct page *head, *tail;	/* oldest first */
	struct note *notes;		/* not judged yet */
	size_t nr, room, next;
	uint64_t dropped_events;	/* since the last sub-buffer that was written */
	bool gap, gap_unknown;
	uint64_t bytes;
};

struct pending {
	int32_t pid;			/* 0: free */
	uint64_t wake_ns;		/* 0: does not wait */
};

struct window {
	uint64_t start_ns, end_ns;
};

struct sl_flight {
	struct sl_flight_params params;
	struct sl_page_sink sink;
	int *ignored;			/* ascending tids */
	unsigned int nr_ignored;
	struct layout layouts[4];
	unsigned int nr_layouts;
	struct cpu *cpus;
	unsigned int *heap;		/* indices of CPUs by the time of their next note */
	struct pending *pending;	/* open addressing, a power of two */
	size_t pending_room, pending_used;
	struct window *windows;		/* of this round, ascending, disjoint */
	size_t nr_windows, room_windows;
	uint64_t keep_until_ns;		/* end of the latest window */
	uint64_t round_ns;		/* all events up to here have been read */
	uint64_t memory;
	unsigned char *scratch;		/* one sub-buffer */
	struct sl_flight_stats stats;
};

static int field_offset(const char *format, const char *name, uint16_t *ret_offset)
{
	char want[64];
	const char *at;
	unsigned int offset, size;

	snprintf(want, sizeof(want), " %s;", name);
	at = strstr(format, want);
	if (!at || sscanf(at + strlen(want), " offset:%u; size:%u", &offset, &size) != 2 ||
	    size != 4 || offset > 4096)
		return -1;
	*ret_offset = offset;
	return 0;
}

static int learn(struct sl_flight *f, struct sl_err *err)
{
	for (unsigned int i = 0; i < sl_event_descs_nr; i++) {
		const char *format = f->params.formats[i], *id;
		struct layout layout = { .kind = KIND_WAKE };
		unsigned int number;

		if (!format)
			continue;
		if (sl_event_descs[i].kind == SL_EV_SWITCH)
			layout.kind = KIND_SWITCH;
		else if (sl_event_descs[i].kind != SL_EV_WAKING &&
			 sl_event_descs[i].kind != SL_EV_WAKEUP &&
			 sl_event_descs[i].kind != SL_EV_WAKEUP_NEW)
			continue;
		id = strstr(format, "ID:");
		if (!id || sscanf(id, "ID: %u", &number) != 1 || number > 65535 ||
		    field_offset(format, layout.kind == KIND_SWITCH ? "next_pid" : "pid",
				 &layout.pid_offset))
			return sl_err_set(err, SL_EUNSUPP, "--flight: cannot read the format of %s:%s",
					  sl_event_descs[i].system, sl_event_descs[i].name);
		layout.id = number;
		f->layouts[f->nr_layouts++] = layout;
	}
	return 0;
}

static int add_note(struct cpu *cpu, uint64_t ts_ns, int32_t pid, uint8_t kind)
{
	if (cpu->nr == cpu->room) {
		size_t room = cpu->room ? cpu->room * 2 : 4096;
		struct note *grown = realloc(cpu->notes, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		cpu->notes = grown;
		cpu->room = room;
	}
	cpu->notes[cpu->nr++] = (struct note){ .ts_ns = ts_ns, .pid = pid, .kind = kind };
	return 0;
}

static int take_record(struct sl_flight *f, struct cpu *cpu, uint64_t ts_ns,
		       const unsigned char *data, size_t bytes)
{
	uint16_t id;
	int32_t pid;

	if (bytes < sizeof(id))
		return 0;
	memcpy(&id, data, sizeof(id));
	for (unsigned int i = 0; i < f->nr_layouts; i++) {
		const struct layout *layout = &f->layouts[i];

		if (layout->id != id)
			continue;
		if (layout->pid_offset + sizeof(pid) > bytes)
			return 0;
		memcpy(&pid, data + layout->pid_offset, sizeof(pid));
		return pid > 0 ? add_note(cpu, ts_ns, pid, layout->kind) : 0;
	}
	return 0;
}

/* Walk a sub-buffer of our own kernel: time of the last event, number of events, notes. */
static int walk(struct sl_flight *f, struct cpu *cpu, struct page *page)
{
	const unsigned char *at = page->data + HEAD_BYTES, *end = page->data + page->used;
	uint64_t ts_ns = page->first_ns;

	page->last_ns = ts_ns;
	while (end - at >= 4) {
		uint32_t word, array = 0, type_len, delta;
		size_t bytes;
		int r;

		memcpy(&word, at, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		type_len = word >> 27;
		delta = word & ((1u << 27) - 1);
#else
		type_len = word & 31;
		delta = word >> 5;
#endif
		at += 4;
		if (end - at >= 4)
			memcpy(&array, at, 4);
		if (type_len == 29) {		/* padding; delta 0: to the end */
			if (!delta)
				break;
			ts_ns += delta;
			bytes = array;
		} else if (type_len == 30) {
			ts_ns += delta + ((uint64_t)array << 27);
			bytes = 4;
		} else if (type_len == 31) {	/* absolute, 59 bits */
			ts_ns = (ts_ns & (0x1full << 59)) | delta | (uint64_t)array << 27;
			bytes = 4;
		} else {
			ts_ns += delta;
			bytes = type_len ? type_len * 4 : array;
			if (bytes > (size_t)(end - at) || (!type_len && bytes < 4))
				break;
			page->events++;
			r = type_len ? take_record(f, cpu, ts_ns, at, bytes) :
				       take_record(f, cpu, ts_ns, at + 4, bytes - 4);
			if (r < 0)
				return r;
			bytes = (bytes + 3) & ~3ul;
		}
		if (bytes > (size_t)(end - at))
			break;
		at += bytes;
		page->last_ns = ts_ns;
	}
	return 0;
}

static int take_pages(void *arg, unsigned int index, unsigned char *pages, unsigned int nr_pages)
{
	struct sl_flight *f = arg;
	struct cpu *cpu = &f->cpus[index];
	const unsigned int page_bytes = f->params.instance->page_bytes;

	for (; nr_pages--; pages += page_bytes) {
		unsigned long commit, used;
		struct page *page;
		int r;

		memcpy(&commit, pages + 8, sizeof(commit));
		used = (commit & COMMIT_MASK) + HEAD_BYTES;
		if (used > page_bytes)
			used = page_bytes;
		if (used == HEAD_BYTES)
			continue;
		page = malloc(sizeof(*page) + used + sizeof(long));
		if (!page)
			return -ENOMEM;
		*page = (struct page){ .used = used };
		memcpy(page->data, pages, used);
		memset(page->data + used, 0, sizeof(long));
		memcpy(&page->first_ns, pages, 8);
		if (commit & MISSED_EVENTS) {
			/* Which waits are open is not known any more. */
			r = add_note(cpu, page->first_ns, 0, KIND_LOST);
			if (r < 0)
				goto fail;
			/* The kernel's count lies behind the events and is kept with them. */
			if ((commit & MISSED_STORED) && used + sizeof(long) <= page_bytes)
				memcpy(page->data + used, pages + used, sizeof(long));
		}
		r = walk(f, cpu, page);
		if (r < 0)
			goto fail;
		page->keep = page->first_ns <= f->keep_until_ns;
		if (cpu->tail)
			cpu->tail->next = page;
		else
			cpu->head = page;
		cpu->tail = page;
		f->memory += page->used;
		continue;
fail:
		free(page);
		return r;
	}
	return 0;
}

/* The slot of a pid; made when there is none. NULL: no memory. */
static struct pending *find_pending(struct sl_flight *f, int32_t pid)
{
	struct pending *old = f->pending;
	const size_t old_room = f->pending_room;
	size_t at;

	if (f->pending_used * 2 >= f->pending_room) {
		/* Tasks that do not wait are dropped on the way. */
		size_t live = 0;

		for (size_t i = 0; i < old_room; i++)
			live += old[i].pid && old[i].wake_ns;
		f->pending_room = 1024;
		while (f->pending_room < live * 4 + 1024)
			f->pending_room *= 2;
		f->pending = calloc(f->pending_room, sizeof(*f->pending));
		if (!f->pending) {
			f->pending = old;
			f->pending_room = old_room;
			return NULL;
		}
		f->pending_used = 0;
		for (size_t i = 0; i < old_room; i++)
			if (old[i].pid && old[i].wake_ns)
				find_pending(f, old[i].pid)->wake_ns = old[i].wake_ns;
		free(old);
	}
	at = (uint32_t)pid * 2654435761u & (f->pending_room - 1);
	while (f->pending[at].pid && f->pending[at].pid != pid)
		at = (at + 1) & (f->pending_room - 1);
	if (!f->pending[at].pid) {
		f->pending[at].pid = pid;
		f->pending_used++;
	}
	return &f->pending[at];
}

/* Notes come in time order, and so do the ends of windows; their starts do not. */
static int add_window(struct sl_flight *f, uint64_t start_ns, uint64_t end_ns)
{
	struct window *last;

	while (f->nr_windows && f->windows[f->nr_windows - 1].end_ns >= start_ns) {
		last = &f->windows[--f->nr_windows];
		if (last->start_ns < start_ns)
			start_ns = last->start_ns;
	}
	if (f->nr_windows == f->room_windows) {
		size_t room = f->room_windows ? f->room_windows * 2 : 64;
		struct window *grown = realloc(f->windows, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		f->windows = grown;
		f->room_windows = room;
	}
	f->windows[f->nr_windows++] = (struct window){ start_ns, end_ns };
	return 0;
}

static int by_tid(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int judge(struct sl_flight *f, const struct note *note)
{
	const uint64_t margin_ns = f->stats.margin_ns;
	struct pending *pending;
	uint64_t wake_ns;

	if (note->kind == KIND_LOST) {
		memset(f->pending, 0, f->pending_room * sizeof(*f->pending));
		f->pending_used = 0;
		return 0;
	}
	pending = find_pending(f, note->pid);
	if (!pending)
		return -ENOMEM;
	if (note->kind == KIND_WAKE) {
		if (!pending->wake_ns)
			pending->wake_ns = note->ts_ns;
		return 0;
	}
	wake_ns = pending->wake_ns;
	pending->wake_ns = 0;
	if (!wake_ns || wake_ns > note->ts_ns)
		return 0;
	f->stats.waits++;
	if (note->ts_ns - wake_ns <= f->params.threshold_ns ||
	    bsearch(&note->pid, f->ignored, f->nr_ignored, sizeof(*f->ignored), by_tid))
		return 0;
	f->stats.waits_above++;
	return add_window(f, wake_ns > margin_ns ? wake_ns - margin_ns : 0, note->ts_ns + margin_ns);
}

static uint64_t next_ns(const struct sl_flight *f, unsigned int index)
{
	const struct cpu *cpu = &f->cpus[index];

	return cpu->next < cpu->nr ? cpu->notes[cpu->next].ts_ns : UINT64_MAX;
}

static void sift_down(struct sl_flight *f, unsigned int at, unsigned int nr)
{
	const unsigned int index = f->heap[at];
	const uint64_t ns = next_ns(f, index);

	for (;;) {
		unsigned int child = at * 2 + 1;

		if (child >= nr)
			break;
		if (child + 1 < nr && next_ns(f, f->heap[child + 1]) < next_ns(f, f->heap[child]))
			child++;
		if (next_ns(f, f->heap[child]) >= ns)
			break;
		f->heap[at] = f->heap[child];
		at = child;
	}
	f->heap[at] = index;
}

/* All notes up to until_ns, over all CPUs in time order. */
static int judge_until(struct sl_flight *f, uint64_t until_ns)
{
	const unsigned int nr = f->params.instance->nr_cpus;

	for (unsigned int i = 0; i < nr; i++)
		f->heap[i] = i;
	for (unsigned int i = nr / 2; i--;)
		sift_down(f, i, nr);
	while (next_ns(f, f->heap[0]) <= until_ns && next_ns(f, f->heap[0]) != UINT64_MAX) {
		struct cpu *cpu = &f->cpus[f->heap[0]];
		int r = judge(f, &cpu->notes[cpu->next++]);

		if (r < 0)
			return r;
		sift_down(f, 0, nr);
	}
	for (unsigned int i = 0; i < nr; i++) {
		struct cpu *cpu = &f->cpus[i];

		if (!cpu->next)
			continue;
		memmove(cpu->notes, cpu->notes + cpu->next, (cpu->nr - cpu->next) * sizeof(*cpu->notes));
		cpu->nr -= cpu->next;
		cpu->next = 0;
	}
	return 0;
}

/* Mark what the windows of this round cover, and count them. */
static void mark(struct sl_flight *f)
{
	const uint64_t before_ns = f->keep_until_ns;

	for (size_t w = 0; w < f->nr_windows; w++) {
		const struct window *window = &f->windows[w];

		if (window->start_ns > before_ns)
			f->stats.windows++;
		if (window->end_ns > f->keep_until_ns)
			f->keep_until_ns = window->end_ns;
		for (unsigned int i = 0; i < f->params.instance->nr_cpus; i++)
			for (struct page *page = f->cpus[i].head;
			     page && page->first_ns <= window->end_ns; page = page->next)
				if (page->last_ns >= window->start_ns)
					page->keep = true;
	}
	f->nr_windows = 0;
}

/* The kernel's own mark for events that are missing in front of this sub-buffer. */
static void put_gap(struct sl_flight *f, struct cpu *cpu, const struct page *page,
		    unsigned char *out)
{
	const size_t room = f->params.instance->page_bytes - page->used;
	uint64_t count = cpu->dropped_events;
	unsigned long commit, kernel_count;
	bool unknown = cpu->gap_unknown;

	memcpy(&commit, out + 8, sizeof(commit));
	if (commit & MISSED_EVENTS) {
		memcpy(&kernel_count, page->data + page->used, sizeof(kernel_count));
		if (commit & MISSED_STORED)
			count += kernel_count;
		else
			unknown = true;
	} else if (!cpu->gap) {
		return;
	}
	commit = (commit & COMMIT_MASK) | MISSED_EVENTS;
	if (!unknown && room >= sizeof(unsigned long)) {
		kernel_count = count;
		commit |= MISSED_STORED;
		memcpy(out + page->used, &kernel_count, sizeof(kernel_count));
	}
	memcpy(out + 8, &commit, sizeof(commit));
}

static int write_page(struct sl_flight *f, unsigned int index, const struct page *page)
{
	const unsigned int page_bytes = f->params.instance->page_bytes;
	struct cpu *cpu = &f->cpus[index];
	size_t done = 0;

	memcpy(f->scratch, page->data, page->used);
	memset(f->scratch + page->used, 0, page_bytes - page->used);
	put_gap(f, cpu, page, f->scratch);
	while (done < page_bytes) {
		ssize_t n = write(f->params.fds[index], f->scratch + done, page_bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += n;
	}
	cpu->bytes += page_bytes;
	cpu->gap = cpu->gap_unknown = false;
	cpu->dropped_events = 0;
	f->stats.pages_kept++;
	f->stats.events_kept += page->events;
	return 0;
}

/* The oldest sub-buffer of a CPU goes to the file or away. */
static int retire(struct sl_flight *f, unsigned int index)
{
	struct cpu *cpu = &f->cpus[index];
	struct page *page = cpu->head;
	unsigned long commit;
	int r = 0;

	if (page->keep) {
		r = write_page(f, index, page);
	} else {
		memcpy(&commit, page->data + 8, sizeof(commit));
		cpu->gap = true;
		cpu->dropped_events += page->events;
		if (commit & MISSED_EVENTS)
			cpu->gap_unknown = true;
		f->stats.pages_dropped++;
		f->stats.events_dropped += page->events;
	}
	cpu->head = page->next;
	if (!cpu->head)
		cpu->tail = NULL;
	f->memory -= page->used;
	free(page);
	return r;
}

static int retire_until(struct sl_flight *f, uint64_t horizon_ns)
{
	for (unsigned int i = 0; i < f->params.instance->nr_cpus; i++) {
		while (f->cpus[i].head && f->cpus[i].head->last_ns < horizon_ns) {
			int r = retire(f, i);

			if (r < 0)
				return r;
		}
	}
	/* Too much for the memory: the oldest go early, a little from every CPU. */
	while (f->memory > SL_FLIGHT_MAX_BYTES) {
		for (unsigned int i = 0; i < f->params.instance->nr_cpus; i++) {
			int r = f->cpus[i].head ? retire(f, i) : 0;

			if (r < 0)
				return r;
			f->stats.pages_early++;
		}
	}
	return 0;
}

static int end_round(void *arg)
{
	struct sl_flight *f = arg;
	const uint64_t done_ns = f->round_ns;
	int r;

	/* What was there when this round began has been read by now. */
	f->round_ns = sl_instance_now(f->params.instance);
	if (done_ns <= COMMIT_LAG_NS)
		return 0;
	r = judge_until(f, done_ns - COMMIT_LAG_NS);
	mark(f);
	if (!r && done_ns > f->params.flight_ns)
		r = retire_until(f, done_ns - f->params.flight_ns);
	return r;
}

int sl_flight_new(const struct sl_flight_params *params, struct sl_flight **ret_flight,
		  struct sl_err *err)
{
	struct sl_flight *f = calloc(1, sizeof(*f));
	uint64_t margin_ns = params->threshold_ns * 2;
	int r;

	if (!f)
		return sl_err_set(err, -ENOMEM, "--flight: out of memory");
	f->params = *params;
	f->sink = (struct sl_page_sink){ .pages = take_pages, .round = end_round, .arg = f };
	if (margin_ns < MARGIN_MIN_NS)
		margin_ns = MARGIN_MIN_NS;
	if (margin_ns > MARGIN_MAX_NS)
		margin_ns = MARGIN_MAX_NS;
	f->stats.margin_ns = margin_ns < params->flight_ns / 2 ? margin_ns : params->flight_ns / 2;
	f->cpus = calloc(params->instance->nr_cpus, sizeof(*f->cpus));
	f->heap = calloc(params->instance->nr_cpus, sizeof(*f->heap));
	f->scratch = malloc(params->instance->page_bytes);
	f->pending_room = 1024;
	f->pending = calloc(f->pending_room, sizeof(*f->pending));
	r = f->cpus && f->heap && f->scratch && f->pending ? learn(f, err) :
		sl_err_set(err, -ENOMEM, "--flight: out of memory");
	if (r < 0) {
		sl_flight_free(f);
		return r;
	}
	*ret_flight = f;
	return 0;
}

int sl_flight_ignore(struct sl_flight *f, const int *tids, unsigned int nr_tids, struct sl_err *err)
{
	int *copy = malloc((nr_tids + 1) * sizeof(*copy));

	if (!copy)
		return sl_err_set(err, -ENOMEM, "--flight: out of memory");
	memcpy(copy, tids, nr_tids * sizeof(*copy));
	copy[nr_tids] = getpid();
	qsort(copy, nr_tids + 1, sizeof(*copy), by_tid);
	f->ignored = copy;
	f->nr_ignored = nr_tids + 1;
	return 0;
}

const struct sl_page_sink *sl_flight_sink(struct sl_flight *flight)
{
	return &flight->sink;
}

int sl_flight_finish(struct sl_flight *f, uint64_t *ret_bytes, struct sl_flight_stats *ret_stats,
		     struct sl_err *err)
{
	int r = judge_until(f, UINT64_MAX);

	mark(f);
	for (unsigned int i = 0; i < f->params.instance->nr_cpus; i++) {
		while (f->cpus[i].head && !r)
			r = retire(f, i);
		ret_bytes[i] = f->cpus[i].bytes;
	}
	*ret_stats = f->stats;
	return r < 0 ? sl_err_set(err, r, "cannot store the events around long waits: %s",
				  strerror(-r)) : 0;
}

void sl_flight_free(struct sl_flight *f)
{
	if (!f)
		return;
	for (unsigned int i = 0; f->cpus && i < f->params.instance->nr_cpus; i++) {
		for (struct page *page = f->cpus[i].head, *next; page; page = next) {
			next = page->next;
			free(page);
		}
		free(f->cpus[i].notes);
	}
	free(f->ignored);
	free(f->cpus);
	free(f->heap);
	free(f->pending);
	free(f->windows);
	free(f->scratch);
	free(f);
}
