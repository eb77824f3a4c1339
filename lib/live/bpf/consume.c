// SPDX-License-Identifier: LGPL-2.1-only
/*
 * The ring buffer is read in place, as BPF ring buffers are laid out since 5.8: a page
 * with the consumer's position, one with the producer's, then the data, mapped twice so
 * that a record never wraps. Each record has a header of 8 bytes whose first word is its
 * length and two flags.
 */
#include "live/bpf/consume.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "live/bpf/object.h"
#include "live/bpf/probes.h"

/* Room is given back to the program in steps, to share that cache line less often. */
#define RELEASE_BYTES (64u << 10)

static const uint8_t payload_len[SL_BPF_NR] = {
	[SL_BPF_SWITCH] = sizeof(struct sl_bpf_switch),
	[SL_BPF_WAKING] = sizeof(struct sl_bpf_wake),
	[SL_BPF_WAKEUP] = sizeof(struct sl_bpf_wake),
	[SL_BPF_WAKEUP_NEW] = sizeof(struct sl_bpf_wake),
	[SL_BPF_MIGRATE] = sizeof(struct sl_bpf_migrate),
	[SL_BPF_FORK] = sizeof(struct sl_bpf_fork),
	[SL_BPF_NEWTASK] = sizeof(struct sl_bpf_fork),
	[SL_BPF_EXEC] = sizeof(struct sl_bpf_rename),
	[SL_BPF_EXIT] = sizeof(struct sl_bpf_wake),
	[SL_BPF_RENAME] = sizeof(struct sl_bpf_rename),
	[SL_BPF_PI_SETPRIO] = sizeof(struct sl_bpf_pi),
	[SL_BPF_CPU_IDLE] = sizeof(struct sl_bpf_number),
	[SL_BPF_IRQ_ENTRY] = sizeof(struct sl_bpf_number),
	[SL_BPF_IRQ_EXIT] = sizeof(struct sl_bpf_number),
	[SL_BPF_SOFTIRQ_ENTRY] = sizeof(struct sl_bpf_number),
	[SL_BPF_SOFTIRQ_EXIT] = sizeof(struct sl_bpf_number),
	[SL_BPF_VECTOR_ENTRY] = sizeof(struct sl_bpf_number),
	[SL_BPF_VECTOR_EXIT] = sizeof(struct sl_bpf_number),
	[SL_BPF_IPI_ENTRY] = sizeof(struct sl_bpf_number),
	[SL_BPF_IPI_EXIT] = sizeof(struct sl_bpf_number),
	[SL_BPF_NEED_RESCHED] = sizeof(struct sl_bpf_number),
	[SL_BPF_PICKED_AGAIN] = sizeof(struct sl_bpf_number),
	[SL_BPF_TICK] = sizeof(struct sl_bpf_number),
};

size_t sl_bpf_payload_len(unsigned int kind)
{
	return kind < SL_BPF_NR ? payload_len[kind] : SIZE_MAX;
}

const struct sl_bpf_part *sl_bpf_parts(const struct sl_bpf_header *record)
{
	return (const void *)((const uint8_t *)(record + 1) + payload_len[record->kind]);
}

static void *map_fd(int fd, size_t offset, size_t len, int prot)
{
	void *memory = mmap(NULL, len, prot, MAP_SHARED, fd, offset);

	return memory == MAP_FAILED ? NULL : memory;
}

int sl_bpf_map_memory(struct sl_bpf *b, struct sl_err *err)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	int ring = bpf_map__fd(b->skel->maps.ring), cpus = bpf_map__fd(b->skel->maps.cpus);
	size_t page = sysconf(_SC_PAGESIZE);

	b->page_bytes = page;
	b->cpus_bytes = (b->caps.nr_cpus * sizeof(struct sl_bpf_cpu) + page - 1) / page * page;
	b->consumer_pos = map_fd(ring, 0, page, PROT_READ | PROT_WRITE);
	b->producer_pos = map_fd(ring, page, page + 2 * b->caps.ring_bytes, PROT_READ);
	b->cpus = map_fd(cpus, 0, b->cpus_bytes, b->params.live ? PROT_READ | PROT_WRITE : PROT_READ);
	if (!b->consumer_pos || !b->producer_pos || !b->cpus)
		return sl_err_set(err, -errno, "bpf: mapping the ring buffer of %llu bytes: %s",
				  (unsigned long long)b->caps.ring_bytes, strerror(errno));
	b->data = (const uint8_t *)b->producer_pos + page;
	if (b->nr_hists) {
		b->hists_bytes = (b->nr_hists * sizeof(*b->hists) + page - 1) / page * page;
		b->hists = map_fd(bpf_map__fd(b->skel->maps.hists), 0, b->hists_bytes,
				  b->params.live ? PROT_READ | PROT_WRITE : PROT_READ);
		if (!b->hists)
			return sl_err_set(err, -errno, "bpf: mapping the histograms: %s",
					  strerror(errno));
	}
	/* On edges: a ring with a few records in it is always readable. */
	b->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (b->epoll_fd < 0 || epoll_ctl(b->epoll_fd, EPOLL_CTL_ADD, ring, &event))
		return sl_err_set(err, -errno, "bpf: waiting for the ring buffer: %s",
				  strerror(errno));
	return 0;
}

void sl_bpf_unmap_memory(struct sl_bpf *b)
{
	if (b->epoll_fd >= 0)
		close(b->epoll_fd);
	if (b->consumer_pos)
		munmap(b->consumer_pos, b->page_bytes);
	if (b->producer_pos)
		munmap((void *)b->producer_pos, b->page_bytes + 2 * b->caps.ring_bytes);
	if (b->cpus)
		munmap((void *)b->cpus, b->cpus_bytes);
	if (b->hists)
		munmap((void *)b->hists, b->hists_bytes);
	b->epoll_fd = -1;
	b->hists = NULL;
	b->consumer_pos = NULL;
	b->producer_pos = NULL;
	b->cpus = NULL;
}

static bool is_whole(const struct sl_bpf *b, const struct sl_bpf_header *h, size_t len)
{
	return len >= sizeof(*h) && h->kind < SL_BPF_NR && h->cpu < b->caps.nr_cpus &&
	       h->nr_parts <= SL_BPF_PARTS_MAX &&
	       len >= sizeof(*h) + payload_len[h->kind] + h->nr_parts * sizeof(struct sl_bpf_part);
}

/*
 * An interrupt between a program's look at the clock and its place in the ring puts a
 * later record first. The late one takes the time of the record before it: wrong by
 * less than the interrupt took, and the order is kept.
 */
static const struct sl_bpf_header *in_order(struct sl_bpf *b, const struct sl_bpf_header *h,
					    size_t len)
{
	uint64_t *last = &b->last_ts[h->cpu];

	if (b->params.threshold_ns)
		return h;
	if (h->ts >= *last) {
		*last = h->ts;
		return h;
	}
	if (len > sizeof(b->late_record))
		len = sizeof(b->late_record);
	memcpy(b->late_record.bytes, h, len);
	b->late++;
	b->late_record.header.ts = *last;
	return &b->late_record.header;
}

int64_t sl_bpf_consume(struct sl_bpf *b, sl_bpf_record_fn fn, void *arg, size_t max)
{
	uint64_t mask = b->caps.ring_bytes - 1, from = *b->consumer_pos, to, released = from;
	struct epoll_event event;
	int64_t nr = 0;
	int ret = 0;

	epoll_wait(b->epoll_fd, &event, 1, 0);
	to = __atomic_load_n(b->producer_pos, __ATOMIC_ACQUIRE);
	while (from < to && !ret && (!max || (size_t)nr < max)) {
		const uint8_t *at = b->data + (from & mask);
		uint32_t word = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
		const struct sl_bpf_header *h = (const void *)(at + BPF_RINGBUF_HDR_SZ);
		uint32_t len = word & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (word & BPF_RINGBUF_BUSY_BIT)
			break;
		if (len > b->caps.ring_bytes) {
			/* Nothing behind it can be found. */
			b->damaged++;
			from = to;
			break;
		}
		from += (len + BPF_RINGBUF_HDR_SZ + 7) & ~7ull;
		if (!(word & BPF_RINGBUF_DISCARD_BIT)) {
			if (is_whole(b, h, len)) {
				ret = fn(arg, in_order(b, h, len), len);
				nr++;
			} else {
				b->damaged++;
			}
		}
		if (from - released >= RELEASE_BYTES) {
			released = from;
			__atomic_store_n(b->consumer_pos, from, __ATOMIC_RELEASE);
			to = __atomic_load_n(b->producer_pos, __ATOMIC_ACQUIRE);
		}
	}
	__atomic_store_n(b->consumer_pos, from, __ATOMIC_RELEASE);
	__atomic_store_n(&b->skel->bss->control.woken, 0, __ATOMIC_RELAXED);
	return ret < 0 ? ret : nr;
}

int sl_bpf_fd(const struct sl_bpf *b)
{
	return b->epoll_fd;
}

uint64_t sl_bpf_pending(const struct sl_bpf *b)
{
	return __atomic_load_n(b->producer_pos, __ATOMIC_ACQUIRE) - *b->consumer_pos;
}

static const struct sl_bpf_cpu *cpu_state(const struct sl_bpf *b, unsigned int cpu)
{
	return (const struct sl_bpf_cpu *)b->cpus + cpu;
}

uint64_t sl_bpf_dropped(const struct sl_bpf *b, unsigned int cpu)
{
	return cpu < b->caps.nr_cpus ?
	       __atomic_load_n(&cpu_state(b, cpu)->dropped, __ATOMIC_RELAXED) : 0;
}

uint64_t sl_bpf_damaged(const struct sl_bpf *b)
{
	return b->damaged;
}

uint64_t sl_bpf_late(const struct sl_bpf *b)
{
	return b->late;
}

const struct sl_bpf_hist *sl_bpf_hists(const struct sl_bpf *b, size_t *ret_nr)
{
	*ret_nr = b->hists ? b->nr_hists : 0;
	return b->hists;
}

void sl_bpf_hist_range(unsigned int bucket, uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
	unsigned int octave = bucket / SL_BPF_HIST_SUB, sub = bucket % SL_BPF_HIST_SUB;
	unsigned int shift = SL_BPF_HIST_FIRST_SHIFT + (octave ? octave - 1 : 0);
	uint64_t width = (1ull << shift) / SL_BPF_HIST_SUB;

	*ret_from_ns = (octave ? 1ull << shift : 0) + sub * width;
	*ret_to_ns = *ret_from_ns + width;
}

int sl_bpf_tif_resched(const struct sl_bpf *b)
{
	int tif = __atomic_load_n(&b->skel->bss->control.tif_resched, __ATOMIC_RELAXED);

	return tif ? tif : -1;
}

bool sl_bpf_run_stat(const struct sl_bpf *b, size_t i, struct sl_bpf_run_stat *ret_stat)
{
	struct bpf_prog_info info = {0};
	struct sl_bpf_run_stat stat = {0};
	struct bpf_program *prog;
	uint32_t len = sizeof(info);

	if (i >= sl_bpf_nr_probe_descs)
		return false;
	stat.name = sl_bpf_probe_descs[i].program;
	prog = bpf_object__find_program_by_name(b->skel->obj, stat.name);
	if (b->probes[i].state == SL_BPF_PROBE_ON && prog &&
	    !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len)) {
		stat.runs = info.run_cnt;
		stat.ns = info.run_time_ns;
		stat.misses = info.recursion_misses;
	}
	*ret_stat = stat;
	return true;
}
