// SPDX-License-Identifier: LGPL-2.1-only OR GPL-2.0-only
/*
 * Each energy that the kernel computes, as text in the trace buffer: from its own tracepoint
 * sched_compute_energy_tp (compute_energy(), 7.3), a bare one that has no event in tracefs.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("raw_tp/sched_compute_energy_tp")
int witness(struct bpf_raw_tracepoint_args *ctx)
{
	bpf_printk("eas_energy: dst=%d energy=%lu util=%lu busy=%lu", (int)ctx->args[1],
		   ctx->args[2], ctx->args[3], ctx->args[4]);
	return 0;
}

char _license[] SEC("license") = "GPL";
