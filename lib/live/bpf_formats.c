// SPDX-License-Identifier: LGPL-2.1-only
#include "live/bpf_formats.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct field {
	const char *decl;
	uint16_t offset, bytes;
	bool is_signed;
};

struct layout {
	enum sl_ev_kind kind;
	const char *system;	/* NULL: whichever the event has */
	const struct field *fields;
	const char *print;	/* what follows "print fmt: " */
};

#define U(type, decl, member) \
	{ decl, offsetof(struct type, member), sizeof(((struct type *)0)->member), false }
#define S(type, decl, member) \
	{ decl, offsetof(struct type, member), sizeof(((struct type *)0)->member), true }
#define FIELDS(name, ...) static const struct field name[] = { __VA_ARGS__, { 0 } }

FIELDS(common_fields,
	U(sl_out_common, "unsigned short common_type", type),
	U(sl_out_common, "unsigned char common_flags", flags),
	U(sl_out_common, "unsigned char common_preempt_count", preempt_count),
	S(sl_out_common, "int common_pid", pid));

FIELDS(switch_fields,
	U(sl_out_switch, "char prev_comm[16]", prev_comm),
	S(sl_out_switch, "pid_t prev_pid", prev_pid),
	S(sl_out_switch, "int prev_prio", prev_prio),
	S(sl_out_switch, "long prev_state", prev_state),
	U(sl_out_switch, "char next_comm[16]", next_comm),
	S(sl_out_switch, "pid_t next_pid", next_pid),
	S(sl_out_switch, "int next_prio", next_prio));
FIELDS(wake_fields,
	U(sl_out_wake, "char comm[16]", comm),
	S(sl_out_wake, "pid_t pid", pid),
	S(sl_out_wake, "int prio", prio),
	S(sl_out_wake, "int target_cpu", target_cpu));
FIELDS(migrate_fields,
	U(sl_out_migrate, "char comm[16]", comm),
	S(sl_out_migrate, "pid_t pid", pid),
	S(sl_out_migrate, "int prio", prio),
	S(sl_out_migrate, "int orig_cpu", orig_cpu),
	S(sl_out_migrate, "int dest_cpu", dest_cpu));
FIELDS(fork_fields,
	S(sl_out_fork, "pid_t parent_pid", parent_pid),
	U(sl_out_fork, "char child_comm[16]", child_comm),
	S(sl_out_fork, "pid_t child_pid", child_pid));
FIELDS(newtask_fields,
	S(sl_out_newtask, "pid_t pid", pid),
	U(sl_out_newtask, "char comm[16]", comm),
	U(sl_out_newtask, "u64 clone_flags", clone_flags));
FIELDS(exec_fields,
	S(sl_out_exec, "pid_t pid", pid),
	S(sl_out_exec, "pid_t old_pid", old_pid));
FIELDS(exit_fields,
	U(sl_out_exit, "char comm[16]", comm),
	S(sl_out_exit, "pid_t pid", pid),
	S(sl_out_exit, "int prio", prio));
FIELDS(rename_fields,
	S(sl_out_rename, "pid_t pid", pid),
	U(sl_out_rename, "char newcomm[16]", newcomm));
FIELDS(pi_fields,
	U(sl_out_pi, "char comm[16]", comm),
	S(sl_out_pi, "pid_t pid", pid),
	S(sl_out_pi, "int oldprio", oldprio),
	S(sl_out_pi, "int newprio", newprio));
FIELDS(idle_fields,
	U(sl_out_two, "u32 state", a),
	U(sl_out_two, "u32 cpu_id", b));
FIELDS(irq_fields, S(sl_out_one, "int irq", a));
FIELDS(softirq_fields, U(sl_out_one, "unsigned int vec", a));
FIELDS(vector_fields, S(sl_out_one, "int vector", a));
FIELDS(ipi_fields, S(sl_out_one, "int number", a));
FIELDS(resched_fields,
	S(sl_out_two, "int cpu", a),
	S(sl_out_two, "int tif", b));
FIELDS(pid_fields, S(sl_out_one, "pid_t pid", a));
FIELDS(queue_fields,
	S(sl_out_queue, "int group", group),
	S(sl_out_queue, "int qcpu", qcpu),
	S(sl_out_queue, "int nr_queued", nr_queued),
	S(sl_out_queue, "int min_slice", min_slice),
	S(sl_out_queue, "int buddy", buddy),
	S(sl_out_queue, "short level", level),
	S(sl_out_queue, "short flags", flags),
	S(sl_out_queue, "s64 sum_w_vruntime", sum_w_vruntime),
	U(sl_out_queue, "u64 sum_weight", sum_weight),
	U(sl_out_queue, "u64 zero_vruntime", zero_vruntime));
FIELDS(entity_fields,
	S(sl_out_entity, "pid_t pid", pid),
	S(sl_out_entity, "int group", group),
	S(sl_out_entity, "int weight", weight),
	S(sl_out_entity, "int slice", slice),
	S(sl_out_entity, "short role", role),
	S(sl_out_entity, "short level", level),
	S(sl_out_entity, "short flags", flags),
	U(sl_out_entity, "u64 vruntime", vruntime),
	U(sl_out_entity, "u64 deadline", deadline),
	S(sl_out_entity, "s64 lag_or_vprot", lag_or_vprot));

/*
 * The letters of prev_state are those of task_index_to_char() (6.18); the bit
 * above them, 0x100, is set for a task that was preempted.
 */
#define SWITCH_PRINT \
	"\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d\", " \
	"REC->prev_comm, REC->prev_pid, REC->prev_prio, " \
	"(REC->prev_state & (0x100 - 1)) ? __print_flags(REC->prev_state & (0x100 - 1), \"|\", " \
	"{ 0x01, \"S\" }, { 0x02, \"D\" }, { 0x04, \"T\" }, { 0x08, \"t\" }, { 0x10, \"X\" }, " \
	"{ 0x20, \"Z\" }, { 0x40, \"P\" }, { 0x80, \"I\" }) : \"R\", " \
	"REC->prev_state & 0x100 ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio"
#define WAKE_PRINT \
	"\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu"
#define SOFTIRQ_PRINT \
	"\"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 0, \"HI\" }, { 1, \"TIMER\" }, " \
	"{ 2, \"NET_TX\" }, { 3, \"NET_RX\" }, { 4, \"BLOCK\" }, { 5, \"IRQ_POLL\" }, { 6, \"TASKLET\" }, " \
	"{ 7, \"SCHED\" }, { 8, \"HRTIMER\" }, { 9, \"RCU\" })"
/* Numbers and names as in event/evidence.h. */
#define QUEUE_PRINT \
	"\"level=%d group=%d cpu=%d queued=%d sum_w_vruntime=%lld sum_weight=%llu zero_vruntime=%llu " \
	"min_slice=%d buddy=%d flags=%s\", REC->level, REC->group, REC->qcpu, REC->nr_queued, " \
	"REC->sum_w_vruntime, REC->sum_weight, REC->zero_vruntime, REC->min_slice, REC->buddy, " \
	"REC->flags ? __print_flags(REC->flags, \"|\", { 0x01, \"throttled\" }, " \
	"{ 0x02, \"hier_throttled\" }, { 0x04, \"has_bandwidth\" }, { 0x08, \"flat\" }, " \
	"{ 0x10, \"no_min_slice\" }) : \"-\""
#define ENTITY_PRINT \
	"\"%s level=%d group=%d pid=%d vruntime=%llu deadline=%llu slice=%d weight=%d %s=%lld flags=%s\", " \
	"__print_symbolic(REC->role, { 0, \"NONE\" }, { 1, \"WAKEE\" }, { 2, \"CURR\" }, { 3, \"PREV\" }, " \
	"{ 4, \"NEXT\" }, { 5, \"BEST\" }, { 6, \"LEAVING\" }), REC->level, REC->group, REC->pid, " \
	"REC->vruntime, REC->deadline, REC->slice, REC->weight, " \
	"REC->flags & 0x08 ? \"vprot\" : REC->flags & 0x10 ? \"lag\" : \"lag_or_vprot\", " \
	"REC->lag_or_vprot, REC->flags ? __print_flags(REC->flags, \"|\", { 0x01, \"custom_slice\" }, " \
	"{ 0x02, \"delayed\" }, { 0x04, \"on_rq\" }, { 0x08, \"vprot\" }, { 0x10, \"lag\" }, " \
	"{ 0x20, \"idle\" }, { 0x40, \"batch\" }, { 0x80, \"ext\" }, { 0x100, \"throttled\" }, " \
	"{ 0x200, \"buddy\" }, { 0x400, \"leftmost\" }, { 0x800, \"group\" }, " \
	"{ 0x1000, \"rel_deadline\" }) : \"-\""

static const struct layout layouts[] = {
	{ SL_EV_SWITCH, NULL, switch_fields, SWITCH_PRINT },
	{ SL_EV_WAKING, NULL, wake_fields, WAKE_PRINT },
	{ SL_EV_WAKEUP, NULL, wake_fields, WAKE_PRINT },
	{ SL_EV_WAKEUP_NEW, NULL, wake_fields, WAKE_PRINT },
	{ SL_EV_MIGRATE, NULL, migrate_fields,
	  "\"comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d\", REC->comm, REC->pid, REC->prio, "
	  "REC->orig_cpu, REC->dest_cpu" },
	{ SL_EV_FORK, NULL, fork_fields,
	  "\"pid=%d child_comm=%s child_pid=%d\", REC->parent_pid, REC->child_comm, REC->child_pid" },
	{ SL_EV_NEWTASK, NULL, newtask_fields,
	  "\"pid=%d comm=%s clone_flags=%llx\", REC->pid, REC->comm, REC->clone_flags" },
	{ SL_EV_EXEC, NULL, exec_fields, "\"pid=%d old_pid=%d\", REC->pid, REC->old_pid" },
	{ SL_EV_EXIT, NULL, exit_fields,
	  "\"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, REC->prio" },
	{ SL_EV_RENAME, NULL, rename_fields, "\"pid=%d newcomm=%s\", REC->pid, REC->newcomm" },
	{ SL_EV_PI_SETPRIO, NULL, pi_fields,
	  "\"comm=%s pid=%d oldprio=%d newprio=%d\", REC->comm, REC->pid, REC->oldprio, REC->newprio" },
	{ SL_EV_CPU_IDLE, NULL, idle_fields,
	  "\"state=%lu cpu_id=%lu\", (unsigned long)REC->state, (unsigned long)REC->cpu_id" },
	{ SL_EV_IRQ_ENTRY, NULL, irq_fields, "\"irq=%d\", REC->irq" },
	{ SL_EV_IRQ_EXIT, NULL, irq_fields, "\"irq=%d\", REC->irq" },
	{ SL_EV_SOFTIRQ_ENTRY, NULL, softirq_fields, SOFTIRQ_PRINT },
	{ SL_EV_SOFTIRQ_EXIT, NULL, softirq_fields, SOFTIRQ_PRINT },
	{ SL_EV_VECTOR_ENTRY, NULL, vector_fields, "\"vector=%d\", REC->vector" },
	{ SL_EV_VECTOR_EXIT, NULL, vector_fields, "\"vector=%d\", REC->vector" },
	{ SL_EV_IPI_ENTRY, NULL, ipi_fields, "\"number=%d\", REC->number" },
	{ SL_EV_IPI_EXIT, NULL, ipi_fields, "\"number=%d\", REC->number" },
	{ SL_EV_NEED_RESCHED, "schedlat", resched_fields,
	  "\"cpu=%d %s\", REC->cpu, REC->tif ? \"lazily\" : \"at once\"" },
	{ SL_EV_QUEUE, NULL, queue_fields, QUEUE_PRINT },
	{ SL_EV_ENTITY, NULL, entity_fields, ENTITY_PRINT },
	{ SL_EV_PICKED_AGAIN, NULL, pid_fields, "\"pid=%d\", REC->pid" },
	{ SL_EV_TICK, NULL, pid_fields, "\"pid=%d\", REC->pid" },
};

static void put_fields(FILE *out, const struct field *fields)
{
	for (; fields->decl; fields++)
		fprintf(out, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", fields->decl,
			fields->offset, fields->bytes, fields->is_signed);
}

static char *describe(const char *name, uint16_t id, const struct field *fields, const char *print)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fprintf(out, "name: %s\nID: %u\nformat:\n", name, id);
	put_fields(out, common_fields);
	fputc('\n', out);
	put_fields(out, fields);
	fprintf(out, "\nprint fmt: %s\n", print);
	if (!fclose(out))
		return text;
	free(text);
	errno = ENOMEM;
	return NULL;
}

char *sl_out_window_format(void)
{
	return describe("window", SL_OUT_WINDOW_ID, pid_fields, "\"of a wait of pid=%d\", REC->pid");
}

char *sl_out_format(unsigned int desc_index)
{
	const struct sl_event_desc *desc = &sl_event_descs[desc_index];

	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		const struct layout *layout = &layouts[i];

		if (layout->kind != desc->kind ||
		    (layout->system && strcmp(layout->system, desc->system)))
			continue;
		return describe(desc->name, sl_out_id(desc_index), layout->fields, layout->print);
	}
	errno = 0;
	return NULL;
}

char *sl_out_header_page(unsigned int page_bytes)
{
	const unsigned int head = sizeof(uint64_t) + sizeof(long);
	char *text;

	if (asprintf(&text,
		     "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		     "\tfield: local_t commit;\toffset:8;\tsize:%zu;\tsigned:1;\n"
		     "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		     "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
		     sizeof(long), head, page_bytes - head) < 0)
		return NULL;
	return text;
}

char *sl_out_header_event(void)
{
	return strdup("# compressed entry header\n"
		      "\ttype_len    :    5 bits\n"
		      "\ttime_delta  :   27 bits\n"
		      "\tarray       :   32 bits\n"
		      "\n"
		      "\tpadding     : type == 29\n"
		      "\ttime_extend : type == 30\n"
		      "\ttime_stamp : type == 31\n"
		      "\tdata max type_len  == 28\n");
}
