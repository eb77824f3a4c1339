/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Which program belongs to which tracepoint, and what the kernel's BTF says about
 * tracepoints and fields. Only for load.c.
 */
#ifndef SL_LIVE_BPF_PROBES_H
#define SL_LIVE_BPF_PROBES_H

#include "live/bpf/load.h"

struct btf;

enum sl_bpf_need {
	SL_BPF_NEED_ALWAYS,
	SL_BPF_NEED_IRQ,		/* params.irq */
	SL_BPF_NEED_IDLE,
	SL_BPF_NEED_EVIDENCE,		/* not with params.no_evidence, not without EEVDF */
	SL_BPF_NEED_IRQ_OR_EVIDENCE,
};

struct sl_bpf_probe_desc {
	const char *program;
	const char *system, *tracepoint;
	/*
	 * The arguments that the program reads, in order: t a task_struct, p another
	 * pointer, b bool, i a signed int, u an unsigned int, U 64 bits. Further arguments
	 * do not matter unless only is set.
	 */
	const char *args;
	enum sl_bpf_need need;
};

extern const struct sl_bpf_probe_desc sl_bpf_probe_descs[];
extern const size_t sl_bpf_nr_probe_descs;

/*
 * 1: the tracepoint is there, with the arguments the program reads; 0: it is not
 * there; -1: its arguments are others. ret_args: what it has, of the same letters.
 */
int sl_bpf_check_tracepoint(const struct btf *btf, const struct sl_bpf_probe_desc *desc,
			    char *ret_args, size_t size);

/* Is there a member of that name in the struct, or in an unnamed struct or union in it? */
bool sl_bpf_has_field(const struct btf *btf, const char *structure, const char *field);

/* What caps say about fields. */
void sl_bpf_fill_caps(const struct btf *btf, struct sl_bpf_caps *ret_caps);

#endif
