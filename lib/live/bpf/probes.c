// SPDX-License-Identifier: LGPL-2.1-only
#include "live/bpf/probes.h"

#include <bpf/btf.h>
#include <stdio.h>
#include <string.h>

#include "live/bpf/shared.h"

#define VECTOR(name) \
	{name "_entry", "irq_vectors", name "_entry", "i", SL_BPF_NEED_IRQ}, \
	{name "_exit", "irq_vectors", name "_exit", "i", SL_BPF_NEED_IRQ}

/* The first ones are mandatory: a switch, and one of the wakeups. */
const struct sl_bpf_probe_desc sl_bpf_probe_descs[] = {
	{"sched_switch", "sched", "sched_switch", "btt", SL_BPF_NEED_ALWAYS},
	{"sched_waking", "sched", "sched_waking", "t", SL_BPF_NEED_ALWAYS},
	{"sched_wakeup", "sched", "sched_wakeup", "t", SL_BPF_NEED_ALWAYS},
	{"sched_wakeup_new", "sched", "sched_wakeup_new", "t", SL_BPF_NEED_ALWAYS},
	{"sched_migrate_task", "sched", "sched_migrate_task", "ti", SL_BPF_NEED_ALWAYS},
	{"sched_process_fork", "sched", "sched_process_fork", "tt", SL_BPF_NEED_ALWAYS},
	{"sched_process_exec", "sched", "sched_process_exec", "ti", SL_BPF_NEED_ALWAYS},
	{"sched_process_exit", "sched", "sched_process_exit", "t", SL_BPF_NEED_ALWAYS},
	{"task_newtask", "task", "task_newtask", "tU", SL_BPF_NEED_ALWAYS},
	{"task_rename", "task", "task_rename", "tp", SL_BPF_NEED_ALWAYS},
	{"sched_pi_setprio", "sched", "sched_pi_setprio", "tt", SL_BPF_NEED_ALWAYS},
	{"need_resched", "sched", "sched_set_need_resched_tp", "tii", SL_BPF_NEED_ALWAYS},
	{"picked_again", "sched", "sched_exit_tp", "b", SL_BPF_NEED_EVIDENCE},
	{"cpu_idle", "power", "cpu_idle", "uu", SL_BPF_NEED_IDLE},
	{"irq_handler_entry", "irq", "irq_handler_entry", "i", SL_BPF_NEED_IRQ},
	{"irq_handler_exit", "irq", "irq_handler_exit", "i", SL_BPF_NEED_IRQ},
	{"softirq_entry", "irq", "softirq_entry", "u", SL_BPF_NEED_IRQ},
	{"softirq_exit", "irq", "softirq_exit", "u", SL_BPF_NEED_IRQ},
	{"local_timer_entry", "irq_vectors", "local_timer_entry", "i", SL_BPF_NEED_IRQ_OR_EVIDENCE},
	{"local_timer_exit", "irq_vectors", "local_timer_exit", "i", SL_BPF_NEED_IRQ_OR_EVIDENCE},
	VECTOR("reschedule"),
	VECTOR("call_function"),
	VECTOR("call_function_single"),
	VECTOR("irq_work"),
	{"ipi_entry", "ipi", "ipi_entry", "", SL_BPF_NEED_IRQ},
	{"ipi_exit", "ipi", "ipi_exit", "", SL_BPF_NEED_IRQ},
};
const size_t sl_bpf_nr_probe_descs = sizeof(sl_bpf_probe_descs) / sizeof(*sl_bpf_probe_descs);

const char *const sl_bpf_vectors[] = {
	[SL_BPF_VECTOR_LOCAL_TIMER] = "local_timer",
	[SL_BPF_VECTOR_RESCHEDULE] = "reschedule",
	[SL_BPF_VECTOR_CALL_FUNCTION] = "call_function",
	[SL_BPF_VECTOR_CALL_FUNCTION_SINGLE] = "call_function_single",
	[SL_BPF_VECTOR_IRQ_WORK] = "irq_work",
};
const size_t sl_bpf_nr_vectors = SL_BPF_VECTOR_NR;

/* The letter of an argument's type; '?' for others. */
static char type_letter(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, btf__resolve_type(btf, id));
	const struct btf_type *to;
	const char *name;

	if (!t)
		return '?';
	if (btf_is_ptr(t)) {
		int target = btf__resolve_type(btf, t->type);

		to = target > 0 ? btf__type_by_id(btf, target) : NULL;
		name = to && btf_is_struct(to) ? btf__name_by_offset(btf, to->name_off) : NULL;
		return name && !strcmp(name, "task_struct") ? 't' : 'p';
	}
	if (btf_is_any_enum(t))
		return t->size == 8 ? 'U' : 'i';
	if (!btf_is_int(t))
		return '?';
	if (btf_int_encoding(t) & BTF_INT_BOOL)
		return 'b';
	if (t->size == 8)
		return 'U';
	return t->size == 4 ? (btf_int_encoding(t) & BTF_INT_SIGNED ? 'i' : 'u') : '?';
}

int sl_bpf_check_tracepoint(const struct btf *btf, const struct sl_bpf_probe_desc *desc,
			    char *ret_args, size_t size)
{
	const struct btf_type *t;
	const struct btf_param *param;
	char name[64];
	size_t i, nr;
	int id;

	ret_args[0] = '\0';
	snprintf(name, sizeof(name), "btf_trace_%s", desc->tracepoint);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return 0;
	t = btf__type_by_id(btf, btf__resolve_type(btf, id));
	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	if (!t || !btf_is_func_proto(t))
		return 0;
	/* The first argument is the tracepoint's own, programs do not see it. */
	param = btf_params(t) + 1;
	nr = btf_vlen(t) ? btf_vlen(t) - 1 : 0;
	for (i = 0; i < nr && i + 1 < size; i++)
		ret_args[i] = type_letter(btf, param[i].type);
	ret_args[i] = '\0';
	if (strncmp(ret_args, desc->args, strlen(desc->args)))
		return -1;
	/* A fourth argument of sched_switch is read where there is one. */
	if (!strcmp(desc->tracepoint, "sched_switch") && ret_args[3] && strcmp(ret_args + 3, "u"))
		return -1;
	return 1;
}

static bool find_member(const struct btf *btf, const struct btf_type *t, const char *field,
			int depth)
{
	const struct btf_member *m = btf_members(t);
	const struct btf_type *inner;
	const char *name;
	int i, id;

	for (i = 0; i < btf_vlen(t); i++) {
		name = btf__name_by_offset(btf, m[i].name_off);
		if (name && *name) {
			if (!strcmp(name, field))
				return true;
			continue;
		}
		id = btf__resolve_type(btf, m[i].type);
		inner = id > 0 ? btf__type_by_id(btf, id) : NULL;
		if (inner && btf_is_composite(inner) && depth < 8 &&
		    find_member(btf, inner, field, depth + 1))
			return true;
	}
	return false;
}

bool sl_bpf_has_field(const struct btf *btf, const char *structure, const char *field)
{
	int id = btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT);

	return id > 0 && find_member(btf, btf__type_by_id(btf, id), field, 0);
}

void sl_bpf_fill_caps(const struct btf *btf, struct sl_bpf_caps *ret_caps)
{
	static const struct { const char *structure, *fields[3]; } generations[] = {
		{"cfs_rq", {"sum_w_vruntime", "avg_vruntime"}},
		{"cfs_rq", {"sum_weight", "avg_load"}},
		{"cfs_rq", {"zero_vruntime", "min_vruntime"}},
		{"cfs_rq", {"nr_queued", "nr_running"}},
		{"sched_entity", {"vprot"}},
		{"sched_entity", {"min_vruntime"}},
		{"sched_entity", {"h_load"}},
		{"rq", {"donor", "curr"}},
	};
	struct sl_bpf_caps *c = ret_caps;
	size_t i, k, len = 0;

	c->has_eevdf = sl_bpf_has_field(btf, "sched_entity", "deadline") &&
		       sl_bpf_has_field(btf, "sched_entity", "vlag");
	c->has_groups = sl_bpf_has_field(btf, "sched_entity", "my_q");
	c->has_flat = sl_bpf_has_field(btf, "sched_entity", "h_load");
	c->has_vprot = sl_bpf_has_field(btf, "sched_entity", "vprot");
	c->has_delayed = sl_bpf_has_field(btf, "sched_entity", "sched_delayed");
	c->has_custom_slice = sl_bpf_has_field(btf, "sched_entity", "custom_slice");
	c->has_min_slice = sl_bpf_has_field(btf, "sched_entity", "min_slice");
	c->has_buddy = sl_bpf_has_field(btf, "cfs_rq", "next");
	c->has_task_throttle = sl_bpf_has_field(btf, "task_struct", "throttled");
	c->has_queue = c->has_eevdf && c->has_groups;
	if (!c->has_eevdf)
		snprintf(c->why_no_queue, sizeof(c->why_no_queue),
			 "the fair class of this kernel is not EEVDF");
	else if (!c->has_groups)
		snprintf(c->why_no_queue, sizeof(c->why_no_queue),
			 "without CONFIG_FAIR_GROUP_SCHED an entity does not lead to its queue");
	for (i = 0; i < sizeof(generations) / sizeof(*generations); i++) {
		for (k = 0; k < 3 && generations[i].fields[k]; k++) {
			if (!sl_bpf_has_field(btf, generations[i].structure,
					      generations[i].fields[k]))
				continue;
			len += snprintf(c->fields + len, sizeof(c->fields) - len, "%s%s",
					len ? " " : "", generations[i].fields[k]);
			break;
		}
	}
}
