// SPDX-License-Identifier: LGPL-2.1-only OR GPL-2.0-only
/* The least program that needs fentry: counts what is woken. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lab_count SEC(".maps");

SEC("fentry/wakeup_preempt")
int lab_fentry(void *ctx)
{
	__u32 key = 0;
	__u64 *count = bpf_map_lookup_elem(&lab_count, &key);

	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}

char _license[] SEC("license") = "GPL";
