// SPDX-License-Identifier: LGPL-2.1-only
/*
 * timehist: a line per wait, in the shape of perf sched timehist (time, [cpu],
 * task[tid/tgid], times in msec.usec), printed when the wait ends.
 */
#include "out/out.h"

#include <inttypes.h>
#include <string.h>

#include "out/fmt.h"
#include "out/text.h"
#include "util/time.h"

#define TASK_WIDTH 27
#define WAKER_WIDTH 22

int sl_out_timehist_head(struct sl_out *out, enum sl_from from, unsigned int waits)
{
	(void)waits;
	fprintf(out->file,
		"%15s %6s  %-*s %-7s %9s %8s %9s %9s  %-*s %s\n"
		"%15s %6s  %-*s %-7s %9s %8s %9s %9s  %-*s %s\n"
		"%.15s %.6s  %.*s %.7s %.9s %.8s %.9s %.9s  %.*s %.24s\n",
		"time", "cpu", TASK_WIDTH, "task name", "wait", from == SL_FROM_WAKEUP ? "delay*" : "delay",
		"path", "queue", "avoidable", WAKER_WIDTH, "waker", "held longest by",
		"", "", TASK_WIDTH, "[tid/pid]", "kind", "(msec)", "(msec)", "(msec)", "(msec)",
		WAKER_WIDTH, "[tid]", "cause, msec, who ran",
		"------------------------", "------------------------", TASK_WIDTH,
		"------------------------------", "------------------------",
		"------------------------", "------------------------", "------------------------",
		"------------------------", WAKER_WIDTH, "------------------------",
		"------------------------");
	return 0;
}

/* name[tid/tgid] within a width: the name is cut, never the ids. */
static void print_task(struct sl_out *out, const char *comm, int32_t tid, int32_t tgid,
		       bool with_tgid, unsigned int width)
{
	char name[80], ids[32] = "";
	unsigned int used;

	if (tid >= 0 && with_tgid && tgid >= 0 && tgid != tid)
		snprintf(ids, sizeof(ids), "[%" PRId32 "/%" PRId32 "]", tid, tgid);
	else if (tid >= 0)
		snprintf(ids, sizeof(ids), "[%" PRId32 "]", tid);
	sl_fmt_escape(name, sizeof(name), tid < 0 ? "-" : comm[0] ? comm : "?", out->utf8);
	if (strlen(ids) < width)
		sl_fmt_cut(name, width - (unsigned int)strlen(ids));
	used = sl_fmt_width(name) + (unsigned int)strlen(ids);
	fprintf(out->file, "%s%s%*s", name, ids, used < width ? (int)(width - used) : 0, "");
}

static const char *msec(char *buf, size_t size, uint64_t ns)
{
	if (ns == SL_TIME_NONE) {
		snprintf(buf, size, "-");
		return buf;
	}
	return sl_fmt_scaled(buf, size, ns, SL_NSEC_PER_MSEC, 3);
}

/* "fair-undetermined 1.234 hackbench[4242]", then whatever makes this wait unusual. */
static void print_held(struct sl_out *out, const struct sl_wait *wait)
{
	const char *held = sl_out_held_by(wait);
	struct sl_line line = { .used = 0 };
	char text[128];
	int32_t tid = -1;

	if (held) {
		sl_line_add(&line, "%s %s", held, msec(text, sizeof(text), sl_out_held_ns(wait)));
		if (sl_out_occupant(wait, text, sizeof(text), &tid)) {
			sl_line_add(&line, " ");
			sl_line_add_name(&line, text[0] ? text : tid ? "?" : "idle", out->utf8);
			if (tid > 0)
				sl_line_add(&line, "[%" PRId32 "]", tid);
		}
	} else {
		sl_line_add(&line, "-");
	}
	if (wait->primary < SL_CAUSE_NR && sl_cause_descs[wait->primary].family == SL_FAMILY_PLACE)
		sl_line_add(&line, " %s", sl_cause_descs[wait->primary].id);
	if (wait->migrations) {
		sl_line_add(&line, " moved:");
		sl_line_add_cpu(&line, wait->wake_cpu);
		sl_line_add(&line, "->");
		sl_line_add_cpu(&line, wait->run_cpu);
	}
	if (sl_out_taints(wait->taints, text, sizeof(text), " "))
		sl_line_add(&line, " [%s]", text);
	fprintf(out->file, "%s\n", line.text);
}

int sl_out_timehist_line(struct sl_out *out, const struct sl_wait *wait)
{
	bool open = wait->run_ns == SL_WAIT_NO_TIME;
	char sec[32], cpu[16], text[32];

	sl_time_fmt_sec(sec, sizeof(sec), open ? wait->start_ns : wait->run_ns, 6);
	if (wait->run_cpu >= 0)
		snprintf(cpu, sizeof(cpu), "[%04d]", wait->run_cpu);
	else
		snprintf(cpu, sizeof(cpu), "[----]");
	fprintf(out->file, "%15s %6s  ", sec, cpu);
	print_task(out, wait->comm, wait->tid, wait->tgid, true, TASK_WIDTH);
	fprintf(out->file, " %-7s", sl_wait_kind_name(wait->kind));
	fprintf(out->file, " %9s", msec(text, sizeof(text), wait->delay_ns));
	fprintf(out->file, " %8s", msec(text, sizeof(text), sl_out_wait_path(wait)));
	fprintf(out->file, " %9s", msec(text, sizeof(text), sl_out_wait_queue(wait)));
	fprintf(out->file, " %9s  ", wait->avoidable_ns ? msec(text, sizeof(text), wait->avoidable_ns) : "-");
	print_task(out, wait->waker_comm, wait->waker_tid, -1, false, WAKER_WIDTH);
	putc(' ', out->file);
	print_held(out, wait);
	return 0;
}
