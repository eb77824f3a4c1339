// SPDX-License-Identifier: LGPL-2.1-only
#include "live/bpf/live.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "live/bpf/object.h"

#define TRIES 100

void sl_bpf_live_send(struct sl_bpf *b, uint64_t threshold_ns, bool only_short)
{
	struct sl_bpf_control *control = &b->skel->bss->control;

	__atomic_store_n(&control->sent_short, only_short, __ATOMIC_RELAXED);
	__atomic_store_n(&control->threshold_ns, threshold_ns, __ATOMIC_RELAXED);
}

void sl_bpf_live_leave_out(struct sl_bpf *b, unsigned int cpu)
{
	if (cpu < b->caps.nr_cpus)
		((struct sl_bpf_cpu *)b->cpus)[cpu].left_out = 1;
}

uint64_t sl_bpf_live_base_slice(const struct sl_bpf *b)
{
	return __atomic_load_n(&b->skel->bss->control.base_slice, __ATOMIC_RELAXED);
}

bool sl_bpf_live_now(const struct sl_bpf *b, unsigned int cpu, struct sl_bpf_now *ret_now)
{
	const struct sl_bpf_now *now;

	if (cpu >= b->caps.nr_cpus)
		return false;
	now = &((const struct sl_bpf_cpu *)b->cpus)[cpu].now;
	for (int i = 0; i < TRIES; i++) {
		unsigned int seq = __atomic_load_n(&now->seq, __ATOMIC_ACQUIRE);

		memcpy(ret_now, now, sizeof(*ret_now));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(seq & 1) && seq == __atomic_load_n(&now->seq, __ATOMIC_RELAXED))
			return ret_now->since;
	}
	return false;
}

bool sl_bpf_live_waits(const struct sl_bpf *b, unsigned int cpu, uint64_t *ret_waits, uint64_t *ret_ns)
{
	const struct sl_bpf_cpu *c = (const struct sl_bpf_cpu *)b->cpus + cpu;

	if (cpu >= b->caps.nr_cpus)
		return false;
	*ret_waits = __atomic_load_n(&c->waits, __ATOMIC_RELAXED);
	*ret_ns = __atomic_load_n(&c->waited_ns, __ATOMIC_RELAXED);
	return true;
}

/* Of a live object the map is mapped to be written. */
static struct sl_bpf_hist *writable(struct sl_bpf *b, unsigned int slot)
{
	return (struct sl_bpf_hist *)&b->hists[slot];
}

void sl_bpf_live_recycle(struct sl_bpf *b, unsigned int slot)
{
	uint32_t value = slot;

	if (!slot || slot >= b->nr_hists)
		return;
	/* Nothing else writes to an entry without a thread. */
	memset(writable(b, slot), 0, sizeof(struct sl_bpf_hist));
	bpf_map_update_elem(bpf_map__fd(b->skel->maps.free_hists), NULL, &value, BPF_ANY);
}

static bool adds_up(const struct sl_bpf_hist *hist)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < SL_BPF_HIST_BUCKETS; i++)
		count += hist->buckets[i];
	return count == hist->count;
}

void sl_bpf_live_reset(struct sl_bpf *b)
{
	for (unsigned int slot = 0; slot < b->nr_hists; slot++) {
		struct sl_bpf_hist *hist = writable(b, slot);

		/* A wait that ends at this moment is counted in part: once more, then. */
		for (int i = 0; i < TRIES && hist->count; i++) {
			hist->count = hist->sum_ns = hist->max_ns = 0;
			hist->path_ns = hist->moved_ns = 0;
			memset(hist->ran_ns, 0, sizeof(hist->ran_ns));
			memset(hist->buckets, 0, sizeof(hist->buckets));
			if (adds_up(hist))
				break;
		}
	}
}
