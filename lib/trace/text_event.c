// SPDX-License-Identifier: LGPL-2.1-only
/*
 * One line of a text trace as an event: fields by name, by position, and the
 * defaults that keep a hand-written trace short.
 */
#include "trace/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/time.h"

#define MAX_FIELDS    24
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct text_task *task_find(struct text_parser *p, int32_t pid)
{
	struct text_task key = {.pid = pid};

	return p->nr_tasks ? bsearch(&key, p->tasks, p->nr_tasks, sizeof(key), sl_text_task_order) :
			     NULL;
}

static void default_comm(struct text_parser *p, int32_t pid, unsigned int cpu, char *comm)
{
	const struct text_task *task = task_find(p, pid);
	char idle[24];

	if (task) {
		memcpy(comm, task->comm, SL_COMM_LEN);
		return;
	}
	snprintf(idle, sizeof(idle), "swapper/%u", cpu);
	sl_text_comm(comm, pid ? "" : idle);
}

static int default_prio(struct text_parser *p, int32_t pid)
{
	const struct text_task *task = task_find(p, pid);

	return task ? task->prio : SL_TEXT_PRIO;
}

/* "sched_switch" or "sched:sched_switch" */
const struct sl_event_desc *sl_text_desc(const char *name)
{
	const char *colon = strchr(name, ':');
	unsigned int i;

	for (i = 0; i < sl_event_descs_nr; i++) {
		const struct sl_event_desc *desc = &sl_event_descs[i];

		if (strcmp(colon ? colon + 1 : name, desc->name))
			continue;
		/* "meta" and "task" alone would read as anything: these two need their system. */
		if (colon ? strlen(desc->system) == (size_t)(colon - name) &&
				    !strncmp(name, desc->system, (size_t)(colon - name)) :
			    desc->group != SL_EVG_META)
			return desc;
	}
	return NULL;
}

/*
 * Which fields bare words fill: in order those before "->", then those behind
 * it. Aliases are short names for fields that are written often.
 */
static const struct {
	enum sl_ev_kind kind;
	const char *before[2], *after;
	struct {
		const char *alias, *field;
	} aliases[4];
} shorthands[] = {
	{SL_EV_SWITCH, .before = {"prev_pid"}, .after = "next_pid",
	 .aliases = {{"prev", "prev_pid"}, {"state", "prev_state"}, {"next", "next_pid"}}},
	{SL_EV_WAKING, .before = {"pid"}, .aliases = {{"cpu", "target_cpu"}}},
	{SL_EV_WAKEUP, .before = {"pid"}, .aliases = {{"cpu", "target_cpu"}}},
	{SL_EV_WAKEUP_NEW, .before = {"pid"}, .aliases = {{"cpu", "target_cpu"}}},
	{SL_EV_MIGRATE, .before = {"pid", "orig_cpu"}, .after = "dest_cpu"},
	{SL_EV_FORK, .before = {"parent_pid"}, .after = "child_pid",
	 .aliases = {{"parent", "parent_pid"}, {"child", "child_pid"}}},
	{SL_EV_NEWTASK, .before = {"pid"}, .aliases = {{"flags", "clone_flags"}}},
	{SL_EV_EXEC, .before = {"pid"}},
	{SL_EV_EXIT, .before = {"pid"}},
	{SL_EV_RENAME, .before = {"pid"}, .after = "newcomm"},
	{SL_EV_PI_SETPRIO, .before = {"pid", "oldprio"}, .after = "newprio"},
	{SL_EV_CPU_IDLE, .before = {"state"}, .aliases = {{"cpu", "cpu_id"}}},
	{SL_EV_IRQ_ENTRY, .before = {"irq"}},
	{SL_EV_IRQ_EXIT, .before = {"irq"}},
	{SL_EV_SOFTIRQ_ENTRY, .before = {"vec"}},
	{SL_EV_SOFTIRQ_EXIT, .before = {"vec"}},
	{SL_EV_NEED_RESCHED, .before = {"cpu", "tif"}},
	{SL_EV_QUEUE, .before = {"group", "qcpu"},
	 .aliases = {{"nr", "nr_queued"}, {"sum", "sum_w_vruntime"}, {"load", "sum_weight"},
		     {"zero", "zero_vruntime"}}},
	{SL_EV_ENTITY, .before = {"pid", "role"}, .aliases = {{"lag", "lag_or_vprot"},
		     {"vprot", "lag_or_vprot"}}},
	{SL_EV_PICKED_AGAIN, .before = {"pid"}},
	{SL_EV_TICK, .before = {"pid"}},
	{SL_EV_WAKEUP_PREEMPT, .before = {"pid", "cpu"}},
	{SL_EV_PICK, .before = {"pid", "cpu"}},
	{SL_EV_PLACE, .before = {"pid", "cpu"}},
	{SL_EV_SELECT, .before = {"pid", "cpu"}},
	{SL_EV_THROTTLE, .before = {"cgroup", "cpu"}},
	{SL_EV_UNTHROTTLE, .before = {"cgroup", "cpu"}},
	{SL_EV_ENERGY, .before = {"pid", "cpu"}},
	{SL_EV_ENERGY_CHOICE, .before = {"pid", "cpu"}},
	{SL_EV_RESCHED_FAIR, .before = {"pid", "cpu"}},
	{SL_EV_LAG_DECAY, .before = {"pid", "cpu"}},
	{SL_EV_MIN_SLICE, .before = {"pid", "cpu"}},
	{SL_EV_PUSH, .before = {"pid", "cpu"}},
	{SL_EV_META, .before = {"key", "value"}},
	{SL_EV_TASK, .before = {"pid"}},
	{SL_EV_WINDOW, .before = {"pid"}},
};

struct fill { /* an event being built */
	struct sl_event *event;
	const struct sl_field_desc *fields;
	bool given[MAX_FIELDS];
};

static void *field_ptr(struct sl_event *event, const struct sl_field_desc *field)
{
	return (field->wide ? (char *)*sl_event_wide(event) : (char *)event) + field->offset;
}

static const struct sl_field_desc *find_field(const struct fill *fill, const char *name)
{
	const struct sl_field_desc *field;

	for (field = fill->fields; name && field->name; field++)
		if (!strcmp(field->name, name))
			return field;
	return NULL;
}

static bool is_given(const struct fill *fill, const char *name)
{
	const struct sl_field_desc *field = find_field(fill, name);

	return field && fill->given[field - fill->fields];
}

static int32_t get_i32(const struct fill *fill, const char *name)
{
	const struct sl_field_desc *field = find_field(fill, name);

	return field ? *(int32_t *)field_ptr(fill->event, field) : -1;
}

/* The text frees it. */
static int keep(struct text_parser *p, void *memory)
{
	struct sl_text *text = p->text;

	if (!memory || !sl_text_grow(&text->strings, text->nr_strings, &text->max_strings,
				     sizeof(*text->strings))) {
		free(memory);
		return sl_text_no_memory(p);
	}
	text->strings[text->nr_strings++] = memory;
	return 0;
}

static int keep_string(struct text_parser *p, const char *value, const char **ret)
{
	*ret = strdup(value);
	return keep(p, (void *)*ret);
}

static int set_field(struct text_parser *p, struct fill *fill, const struct sl_field_desc *field,
		     const char *value)
{
	void *ptr = field_ptr(fill->event, field);
	int64_t number;
	char *end;
	int err = 0;

	switch (field->type) {
	case SL_FT_COMM:
		sl_text_comm(ptr, value);
		break;
	case SL_FT_I32:
		err = sl_text_int(p, field->name, value, INT32_MIN, INT32_MAX, &number);
		if (!err)
			*(int32_t *)ptr = (int32_t)number;
		break;
	case SL_FT_PRIO:
	case SL_FT_I16:
		err = sl_text_int(p, field->name, value, INT16_MIN, INT16_MAX, &number);
		if (!err)
			*(int16_t *)ptr = (int16_t)number;
		break;
	case SL_FT_U64:
		errno = 0;
		*(uint64_t *)ptr = strtoull(value, &end, 0);	/* -1 is 2^64 - 1, as in the kernel */
		if (errno || end == value || *end || !isdigit((unsigned char)value[*value == '-']))
			err = sl_text_fail(p, "%s: '%.40s' is not a number", field->name, value);
		break;
	case SL_FT_STATE:
		if (!isalpha((unsigned char)value[0]) || (value[1] && strcmp(value + 1, "+")))
			return sl_text_fail(
				p, "%s: '%.40s' is not a state letter, or R+ for preempted",
				field->name, value);
		((char *)ptr)[0] = value[0];
		((char *)ptr)[1] = value[1] == '+';
		break;
	case SL_FT_STR:
		err = keep_string(p, value, ptr);
		break;
	}
	if (!err)
		fill->given[field - fill->fields] = true;
	return err;
}

/* All words behind the event name. */
static int set_fields(struct text_parser *p, struct fill *fill, const char *pos)
{
	const struct sl_field_desc *field;
	enum sl_ev_kind kind = fill->event->kind;
	unsigned int nr_bare = 0;
	bool arrow = false;
	struct text_word word;
	size_t s, i;
	int ret;

	for (s = 0; s < ARRAY_SIZE(shorthands); s++)
		if (shorthands[s].kind == kind)
			break;
	while ((ret = sl_text_word(p, &pos, &word)) > 0) {
		const char *name = word.key;

		if (!name && !word.quoted && !strcmp(word.value, "->")) {
			arrow = true;
			continue;
		}
		if (name && s < ARRAY_SIZE(shorthands)) {
			for (i = 0; i < ARRAY_SIZE(shorthands[s].aliases); i++)
				if (shorthands[s].aliases[i].alias &&
				    !strcmp(name, shorthands[s].aliases[i].alias))
					name = shorthands[s].aliases[i].field;
		} else if (!name && kind == SL_EV_SWITCH && isalpha((unsigned char)*word.value)) {
			name = "prev_state";
		} else if (!name && s < ARRAY_SIZE(shorthands)) {
			if (arrow)
				name = shorthands[s].after;
			else if (nr_bare < ARRAY_SIZE(shorthands[s].before))
				name = shorthands[s].before[nr_bare++];
		}
		field = find_field(fill, name);
		if (!field)
			return sl_text_fail(p, "%s has no field for '%.40s'",
					    sl_event_kind_name(kind),
					    word.key ? word.key : word.value);
		ret = set_field(p, fill, field, word.value);
		if (ret)
			return ret;
	}
	return ret;
}

/* The pid that a comm or prio field belongs to: "prev_comm" -> "prev_pid". */
static int32_t owner_of(const struct fill *fill, const char *name)
{
	if (!strncmp(name, "prev_", 5))
		return get_i32(fill, "prev_pid");
	if (!strncmp(name, "next_", 5))
		return get_i32(fill, "next_pid");
	if (!strncmp(name, "child_", 6))
		return get_i32(fill, "child_pid");
	return get_i32(fill, "pid");
}

/* An integer that was not written; false: there is no sensible default. */
static bool default_i32(struct text_parser *p, const struct fill *fill,
			const struct sl_field_desc *field, int32_t *ret)
{
	const struct sl_event *event = fill->event;
	enum sl_ev_kind kind = event->kind;
	const struct text_task *task;

	if (!strcmp(field->name, "old_pid"))
		*ret = get_i32(fill, "pid");
	else if (field->optional)
		*ret = field->fallback;
	else if (!strcmp(field->name, "prev_pid") || !strcmp(field->name, "parent_pid"))
		*ret = event->common_pid;
	else if (!strcmp(field->name, "pid") &&
		 (kind == SL_EV_EXEC || kind == SL_EV_EXIT || kind == SL_EV_RENAME))
		*ret = event->common_pid;
	else if (!strcmp(field->name, "oldprio"))
		*ret = default_prio(p, get_i32(fill, "pid"));
	else if (!strcmp(field->name, "cpu_id"))
		*ret = event->cpu;
	else if (!strcmp(field->name, "tgid"))
		*ret = (task = task_find(p, get_i32(fill, "pid"))) ? task->tgid : -1;
	else if (kind >= SL_EV_WAKEUP_PREEMPT && kind <= SL_EV_RESCHED_FAIR && strcmp(field->name, "cpu") &&
		 (strcmp(field->name, "pid") || kind == SL_EV_THROTTLE || kind == SL_EV_UNTHROTTLE))
		*ret = 0;	/* what a decision that is written by hand does not need */
	else if (!strcmp(field->name, "irq") || !strcmp(field->name, "vec") ||
		 !strcmp(field->name, "vector") || !strcmp(field->name, "policy") ||
		 !strcmp(field->name, "nice") || !strcmp(field->name, "phase"))
		*ret = 0;
	else
		return false;
	return true;
}

static int set_defaults(struct text_parser *p, struct fill *fill)
{
	struct sl_event *event = fill->event;
	const struct sl_field_desc *field;
	int err = 0;

	/* Integers first: names and priorities are looked up by pid. */
	for (field = fill->fields; field->name; field++)
		if (field->type == SL_FT_I32 && !fill->given[field - fill->fields] &&
		    !default_i32(p, fill, field, field_ptr(event, field)))
			return sl_text_fail(p, "%s needs %s", sl_event_kind_name(event->kind),
					    field->name);
	for (field = fill->fields; field->name && !err; field++) {
		void *ptr = field_ptr(event, field);

		if (fill->given[field - fill->fields])
			continue;
		switch (field->type) {
		case SL_FT_COMM:
			if (event->kind == SL_EV_FORK && !task_find(p, event->fork.child_pid))
				default_comm(p, event->fork.parent_pid, event->cpu, ptr);
			else
				default_comm(p, owner_of(fill, field->name), event->cpu, ptr);
			break;
		case SL_FT_PRIO:
			*(int16_t *)ptr = (int16_t)default_prio(p, owner_of(fill, field->name));
			break;
		case SL_FT_STATE:
			if (event->switched.prev_pid)
				return sl_text_fail(
					p, "sched_switch needs the state of the task that stops");
			*(char *)ptr = 'R';
			break;
		case SL_FT_STR:
			err = keep_string(p, "", ptr);
			break;
		case SL_FT_I32:
		case SL_FT_I16:
		case SL_FT_U64:
			break;
		}
	}
	return err;
}

/* A gap: "TIME CPU lost from=TIME until=end count=unknown". TIME ends it. */
static int parse_lost(struct text_parser *p, struct sl_event *event, const char *pos)
{
	struct sl_ev_lost *lost = &event->lost;
	struct text_word word;
	int ret;

	event->kind = SL_EV_LOST;
	lost->from_ns = p->last_ns[event->cpu];
	lost->until_ns = event->ts_ns;
	lost->count = UINT64_MAX;
	while ((ret = sl_text_word(p, &pos, &word)) > 0) {
		if (word.key && !strcmp(word.key, "from"))
			ret = sl_text_time(p, word.value, &lost->from_ns);
		else if (word.key && !strcmp(word.key, "until") && !strcmp(word.value, "end"))
			lost->until_ns = SL_TIME_NONE;
		else if (word.key && !strcmp(word.key, "until"))
			ret = sl_text_time(p, word.value, &lost->until_ns);
		else if (word.key && !strcmp(word.key, "count") && !strcmp(word.value, "unknown"))
			lost->count = UINT64_MAX;
		else if (word.key && !strcmp(word.key, "count"))
			ret = sl_text_time(p, word.value, &lost->count);
		else
			return sl_text_fail(p, "lost has no field for '%.40s'",
					    word.key ? word.key : word.value);
		if (ret < 0)
			return ret;
	}
	if (ret < 0)
		return ret;
	if (lost->until_ns != SL_TIME_NONE && lost->until_ns != event->ts_ns)
		return sl_text_fail(p, "a gap ends at the time of its line, or at until=end");
	if (lost->from_ns > event->ts_ns)
		return sl_text_fail(p, "a gap starts after it ends");
	return 0;
}

static int parse_ctx(struct text_parser *p, const char *flags, uint8_t *ret_ctx)
{
	static const struct {
		char letter;
		uint8_t bit;
	} letters[] = {
		{'-', 0},
		{'d', SL_CTX_IRQS_OFF},
		{'l', SL_CTX_NEED_RESCHED_LAZY},
		{'N', SL_CTX_NEED_RESCHED},
		{'p', SL_CTX_PREEMPT_RESCHED},
		{'h', SL_CTX_HARDIRQ},
		{'s', SL_CTX_SOFTIRQ},
		{'z', SL_CTX_NMI},
		{'b', SL_CTX_BH_OFF},
	};
	size_t i;

	for (*ret_ctx = 0; *flags; flags++) {
		for (i = 0; i < ARRAY_SIZE(letters) && letters[i].letter != *flags; i++)
			;
		if (i == ARRAY_SIZE(letters))
			return sl_text_fail(p, "context '%c' is none of d l N p h s z b", *flags);
		*ret_ctx |= letters[i].bit;
	}
	return 0;
}

/* What this event makes later ones believe. */
static void believe(struct text_parser *p, const struct sl_event *event)
{
	struct text_task *task;

	p->last_ns[event->cpu] = event->ts_ns;
	if (event->kind == SL_EV_SWITCH)
		p->running[event->cpu] = event->switched.next_pid;
	if (event->kind == SL_EV_RENAME && (task = task_find(p, event->rename.pid)))
		memcpy(task->comm, event->rename.newcomm, SL_COMM_LEN);
	if (event->kind == SL_EV_PI_SETPRIO && (task = task_find(p, event->pi_setprio.pid)))
		task->prio = event->pi_setprio.newprio;
}

int sl_text_event(struct text_parser *p, const struct text_line *line, struct sl_event *event)
{
	const struct sl_event_desc *desc;
	struct fill fill = {.event = event};
	const char *pos = line->rest, *more;
	bool has_pid = false;
	struct text_word word;
	int64_t pid;
	char *slash;
	int err;

	p->number = line->number;
	event->ts_ns = line->ts_ns;
	err = sl_text_need_word(p, &pos, "the CPU", &word);
	if (!err)
		err = sl_text_cpu(p, word.value, &event->cpu, &more);
	if (err)
		return err;
	event->common_pid = p->running[event->cpu];
	if (*more == '/') {
		slash = strchr(more + 1, '/');
		if (slash) {
			*slash = '\0';
			err = parse_ctx(p, slash + 1, &event->ctx);
		}
		has_pid = more[1] != '\0';
		if (!err && has_pid)
			err = sl_text_int(p, "common_pid", more + 1, INT32_MIN, INT32_MAX, &pid);
		if (err)
			return err;
		if (has_pid)
			event->common_pid = (int32_t)pid;
	}
	err = sl_text_need_word(p, &pos, "the event", &word);
	if (err)
		return err;
	if (!strcmp(word.value, "lost"))
		return parse_lost(p, event, pos);
	desc = sl_text_desc(word.value);
	if (!desc)
		return sl_text_fail(p, "unknown event '%.40s'", word.value);
	event->kind = (uint8_t)desc->kind;
	fill.fields = desc->fields();
	if (sl_event_wide_bytes(desc->kind)) {
		void *wide = calloc(1, sl_event_wide_bytes(desc->kind));

		*sl_event_wide(event) = wide;
		err = keep(p, wide);
		if (err)
			return err;
	}
	err = set_fields(p, &fill, pos);
	if (err)
		return err;
	/* sched_switch is recorded by the task that stops. */
	if (desc->kind == SL_EV_SWITCH && is_given(&fill, "prev_pid") && !has_pid)
		event->common_pid = get_i32(&fill, "prev_pid");
	err = set_defaults(p, &fill);
	if (!err) {
		p->text->source.info.has_kind[desc->kind] = true;
		believe(p, event);
	}
	return err;
}
