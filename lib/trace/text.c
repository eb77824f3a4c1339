// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Hand-written traces: one event per line, for golden tests and fuzz seeds.
 * The language is described in tests/golden/README.md.
 *
 * The whole file is read, expanded (@repeat), sorted by time and parsed at
 * open: defaults such as "the task that runs on this CPU" depend on what came
 * before in time, not in the file. Both size and number of events are bounded,
 * so this is no format for recordings.
 */
#include "trace/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/time.h"

#define MAGIC      "# schedlat text"
#define MAX_BYTES  (16u << 20)
#define MAX_EVENTS (256u << 10)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

int sl_text_fail_at(struct text_parser *p, int code, const char *fmt, ...)
{
	char msg[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return sl_err_set(p->err, code, "%s:%u: %s", p->path, p->number, msg);
}

int sl_text_no_memory(struct text_parser *p)
{
	return sl_err_set(p->err, -ENOMEM, "%s: out of memory reading a text trace", p->path);
}

/* Room for one more element; false: out of memory. */
bool sl_text_grow(void *array, unsigned int nr, unsigned int *max, size_t size)
{
	unsigned int want = *max ? *max * 2 : 64;
	void *mem;

	if (nr < *max)
		return true;
	memcpy(&mem, array, sizeof(mem)); /* a pointer to any type */
	mem = realloc(mem, want * size);
	if (!mem)
		return false;
	memcpy(array, &mem, sizeof(mem));
	*max = want;
	return true;
}

/* ---- words ---- */

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* The next `key=value`, `"quoted"` or bare word into scratch. 1, 0 at the end, negative. */
int sl_text_word(struct text_parser *p, const char **pos, struct text_word *ret_word)
{
	const char *in = *pos;
	char *out = p->scratch;
	struct text_word word = {NULL, out, false};

	while (*in == ' ' || *in == '\t' || *in == '\r')
		in++;
	if (!*in || *in == '#')
		return 0;
	while (*in && *in != ' ' && *in != '\t' && *in != '\r') {
		if (*in == '=' && !word.key && out > p->scratch) {
			*out++ = '\0';
			in++;
			word.key = p->scratch;
			word.value = out;
			continue;
		}
		if (*in != '"') {
			*out++ = *in++;
			continue;
		}
		word.quoted = true;
		for (in++; *in != '"'; in++) {
			if (!*in)
				return sl_text_fail(p, "a quote is not closed");
			if (*in != '\\') {
				*out++ = *in;
			} else if (in[1] == 'x' && isxdigit((unsigned char)in[2]) &&
				   isxdigit((unsigned char)in[3])) {
				*out++ = (char)(hex_digit(in[2]) * 16 + hex_digit(in[3]));
				in += 3;
			} else if (in[1] == '"' || in[1] == '\\') {
				*out++ = *++in;
			} else {
				return sl_text_fail(
					p,
					"unknown escape in quotes: use \\xNN, \\\" or \\\\");
			}
		}
		in++;
	}
	*out = '\0';
	*pos = in;
	*ret_word = word;
	return 1;
}

int sl_text_int(struct text_parser *p, const char *what, const char *text, int64_t min, int64_t max,
		int64_t *ret)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 0);
	if (errno || end == text || *end || isspace((unsigned char)*text))
		return sl_text_fail(p, "%s: '%.40s' is not a number", what, text);
	if (value < min || value > max)
		return sl_text_fail(p, "%s: %lld is not in %" PRId64 "..%" PRId64, what, value, min,
				    max);
	*ret = value;
	return 0;
}

/* One instant or duration without a sum: ns, or a number with a unit. */
int sl_text_time(struct text_parser *p, const char *text, uint64_t *ret_ns)
{
	struct sl_err why = {""};
	char *end;

	if (*text && text[strspn(text, "0123456789")] == '\0') {
		errno = 0;
		*ret_ns = strtoull(text, &end, 10);
		if (!errno && *ret_ns != SL_TIME_NONE)
			return 0;
		return sl_text_fail(p, "time '%.40s' does not fit 64 bits", text);
	}
	if (sl_time_parse(text, ret_ns, &why) < 0)
		return sl_text_fail(p, "time: %.200s", why.msg);
	return 0;
}

/* TIME, or inside @repeat TIME+STEP*n. */
static int parse_time(struct text_parser *p, char *text, uint64_t n, uint64_t *ret_ns)
{
	char *plus = strchr(text, '+'), *times;
	uint64_t base, step = 0;
	int err;

	if (plus) {
		times = strstr(plus, "*n");
		if (!times || times[2])
			return sl_text_fail(p, "time '%.40s': a sum is written TIME+STEP*n", text);
		*plus = *times = '\0';
		err = sl_text_time(p, plus + 1, &step);
		if (err)
			return err;
	}
	err = sl_text_time(p, text, &base);
	if (err)
		return err;
	if (__builtin_mul_overflow(step, n, &step) || __builtin_add_overflow(base, step, ret_ns) ||
	    *ret_ns == SL_TIME_NONE)
		return sl_text_fail(p, "time does not fit 64 bits of ns");
	return 0;
}

/* The value of a directive or positional argument; a missing one is an error. */
int sl_text_need_word(struct text_parser *p, const char **pos, const char *what,
		      struct text_word *ret_word)
{
	int ret = sl_text_word(p, pos, ret_word);

	if (ret < 0)
		return ret;
	if (!ret || ret_word->key)
		return sl_text_fail(p, "%s is missing", what);
	return 0;
}

/* ---- directives ---- */

int sl_text_task_order(const void *a, const void *b)
{
	const struct text_task *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

void sl_text_comm(char *comm, const char *from)
{
	memset(comm, 0, SL_COMM_LEN);
	memcpy(comm, from, strnlen(from, SL_COMM_LEN - 1));
}

static int need_int(struct text_parser *p, const char **pos, const char *what, int64_t min,
		    int64_t max, int64_t *ret)
{
	struct text_word word;
	int err = sl_text_need_word(p, pos, what, &word);

	return err ? err : sl_text_int(p, what, word.value, min, max, ret);
}

static int parse_clock(struct text_parser *p, const char *pos)
{
	static const char *const time_clocks[] = {"mono", "mono_raw", "boot",  "tai",
						  "perf", "global",   "local", "unknown"};
	struct sl_text *text = p->text;
	struct text_word word;
	size_t i;
	int err = sl_text_need_word(p, &pos, "@clock NAME", &word);

	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(time_clocks); i++)
		if (!strcmp(word.value, time_clocks[i]))
			break;
	if (i == ARRAY_SIZE(time_clocks))
		return sl_text_fail_at(
			p, SL_EUNSUPP,
			"clock '%.20s' does not count nanoseconds: record with clock mono",
			word.value);
	free(text->clock);
	text->clock = strdup(word.value);
	text->source.info.clock_is_per_cpu = !strcmp(word.value, "local");
	return text->clock ? 0 : sl_text_no_memory(p);
}

/* "0-3,8" */
static int parse_cpus(struct text_parser *p, const char *pos)
{
	struct text_word word;
	char *item, *next, *dash;
	int64_t first, last;
	int err = sl_text_need_word(p, &pos, "@cpus LIST", &word);

	if (err)
		return err;
	for (item = word.value; item; item = next) {
		next = strchr(item, ',');
		if (next)
			*next++ = '\0';
		dash = strchr(item, '-');
		if (dash)
			*dash++ = '\0';
		err = sl_text_int(p, "CPU", item, 0, SL_CPU_MAX - 1, &first);
		last = first;
		if (!err && dash)
			err = sl_text_int(p, "CPU", dash, first, SL_CPU_MAX - 1, &last);
		if (err)
			return err;
		for (; first <= last; first++)
			p->cpu_seen[first] = true;
	}
	return 0;
}

static int parse_task(struct text_parser *p, const char *pos)
{
	struct text_task task = {.prio = SL_TEXT_PRIO};
	struct text_word word;
	int64_t value;
	int ret = need_int(p, &pos, "@task PID", 1, INT32_MAX, &value);

	if (ret)
		return ret;
	task.pid = task.tgid = (int32_t)value;
	ret = sl_text_need_word(p, &pos, "@task PID COMM", &word);
	if (ret)
		return ret;
	sl_text_comm(task.comm, word.value);
	ret = sl_text_word(p, &pos, &word);
	if (ret > 0) {
		ret = sl_text_int(p, "prio", word.value, INT16_MIN, INT16_MAX, &value);
		if (ret)
			return ret;
		task.prio = (int)value;
		ret = sl_text_word(p, &pos, &word);
	}
	if (ret > 0) {
		ret = sl_text_int(p, "tgid", word.value, -1, INT32_MAX, &value);
		task.tgid = (int32_t)value;
	}
	if (ret < 0)
		return ret;
	if (!sl_text_grow(&p->tasks, p->nr_tasks, &p->max_tasks, sizeof(*p->tasks)))
		return sl_text_no_memory(p);
	p->tasks[p->nr_tasks++] = task;
	return 0;
}

static int parse_running(struct text_parser *p, const char *pos)
{
	int64_t cpu, pid;
	int err = need_int(p, &pos, "@running CPU", 0, SL_CPU_MAX - 1, &cpu);

	if (!err)
		err = need_int(p, &pos, "@running CPU PID", 0, INT32_MAX, &pid);
	if (err)
		return err;
	p->cpu_seen[cpu] = true;
	p->running[cpu] = (int32_t)pid;
	return 0;
}

static int parse_has(struct text_parser *p, const char *pos)
{
	const struct sl_event_desc *desc;
	struct text_word word;
	int ret;

	while ((ret = sl_text_word(p, &pos, &word)) > 0) {
		desc = sl_text_desc(word.value);
		if (!desc)
			return sl_text_fail(p, "@has: unknown event '%.40s'", word.value);
		p->text->source.info.has_kind[desc->kind] = true;
	}
	return ret;
}

static int parse_directive(struct text_parser *p, const char *name, const char *pos)
{
	struct text_word word;
	int err;

	if (!strcmp(name, "@clock"))
		return parse_clock(p, pos);
	if (!strcmp(name, "@cpus"))
		return parse_cpus(p, pos);
	if (!strcmp(name, "@task"))
		return parse_task(p, pos);
	if (!strcmp(name, "@running"))
		return parse_running(p, pos);
	if (!strcmp(name, "@has"))
		return parse_has(p, pos);
	if (!strcmp(name, "@kernel")) {
		err = sl_text_need_word(p, &pos, "@kernel RELEASE", &word);
		if (err)
			return err;
		free(p->text->kernel);
		p->text->kernel = strdup(word.value);
		return p->text->kernel ? 0 : sl_text_no_memory(p);
	}
	return sl_text_fail(p, "unknown directive '%.20s'", name);
}

/* ---- event lines ---- */

/* The CPU at the front of "CPU[/COMM_PID[/FLAGS]]"; *ret_more: behind it. */
int sl_text_cpu(struct text_parser *p, const char *text, uint16_t *ret_cpu, const char **ret_more)
{
	char *end;
	unsigned long cpu = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || (*end && *end != '/') || cpu >= SL_CPU_MAX)
		return sl_text_fail(p, "'%.40s' is not a CPU below %u", text, SL_CPU_MAX);
	*ret_cpu = (uint16_t)cpu;
	*ret_more = end;
	return 0;
}

static int add_line(struct text_parser *p, const char *pos, uint64_t n, uint64_t step_ns)
{
	struct text_line line = {.number = p->number};
	struct text_word word;
	const char *more, *start = pos;
	uint64_t shift;
	int err = sl_text_need_word(p, &pos, "the time", &word);

	if (!err)
		err = parse_time(p, word.value, n, &line.ts_ns);
	if (err)
		return err;
	if (__builtin_mul_overflow(step_ns, n, &shift) ||
	    __builtin_add_overflow(line.ts_ns, shift, &line.ts_ns) || line.ts_ns == SL_TIME_NONE)
		return sl_text_fail(p, "time does not fit 64 bits of ns");
	line.rest = pos;
	err = sl_text_need_word(p, &pos, "the CPU", &word);
	if (!err)
		err = sl_text_cpu(p, word.value, &line.cpu, &more);
	if (err)
		return err;
	if (p->nr_lines == MAX_EVENTS)
		return sl_text_fail_at(p, SL_EUNSUPP,
				       "more than %u events: a text trace is for small examples",
				       MAX_EVENTS);
	if (!sl_text_grow(&p->lines, p->nr_lines, &p->max_lines, sizeof(*p->lines)))
		return sl_text_no_memory(p);
	line.seq = p->nr_lines;
	p->lines[p->nr_lines++] = line;
	p->cpu_seen[line.cpu] = true;
	p->cpu_bytes[line.cpu] += strlen(start) + 1;
	return 0;
}

/*
 * The body of @repeat COUNT STEP, up to @end: COUNT times, each STEP later.
 * On return *pos is behind @end.
 */
static int add_repeat(struct text_parser *p, const char *args, char **pos)
{
	unsigned int first = p->number + 1;
	int64_t count, n;
	uint64_t step;
	struct text_word word;
	char *body = *pos;
	int err = need_int(p, &args, "@repeat COUNT", 0, MAX_EVENTS, &count);

	if (!err)
		err = sl_text_need_word(p, &args, "@repeat COUNT STEP", &word);
	if (!err)
		err = sl_text_time(p, word.value, &step);
	if (err)
		return err;
	for (n = 0;; n++) {
		char *line = body;

		p->number = first;
		for (;; line += strlen(line) + 1, p->number++) {
			const char *at = line;
			int ret;

			if (line >= p->data + p->bytes)
				return sl_text_fail(p, "@repeat without @end");
			ret = sl_text_word(p, &at, &word);
			if (ret < 0)
				return ret;
			if (ret && !strcmp(word.value, "@end"))
				break;
			if (ret && *word.value == '@')
				return sl_text_fail(
					p, "only events may stand between @repeat and @end");
			if (ret && n < count) {
				err = add_line(p, line, (uint64_t)n, step);
				if (err)
					return err;
			}
		}
		if (n + 1 >= count) {
			*pos = line + strlen(line) + 1;
			return 0;
		}
	}
}

static int collect_lines(struct text_parser *p)
{
	char *pos = p->data, *line;
	struct text_word word;
	const char *at;
	int err;

	for (p->number = 1; pos < p->data + p->bytes; p->number++) {
		line = pos;
		pos += strlen(pos) + 1;
		at = line;
		err = sl_text_word(p, &at, &word);
		if (err < 0)
			return err;
		if (!err)
			continue;
		if (*word.value != '@')
			err = add_line(p, line, 0, 0);
		else if (!strcmp(word.value, "@repeat"))
			err = add_repeat(p, at, &pos);
		else
			err = parse_directive(p, word.value, at);
		if (err)
			return err;
	}
	return 0;
}

static int line_order(const void *a, const void *b)
{
	const struct text_line *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->seq < y->seq ? -1 : 1;
}

/* ---- the source ---- */

static int read_all(struct text_parser *p, int fd)
{
	size_t room = 0;

	for (;;) {
		ssize_t got;

		if (p->bytes + 1 >= room) {
			char *more = realloc(p->data, room = room ? room * 2 : 65536);

			if (!more)
				return sl_text_no_memory(p);
			p->data = more;
		}
		got = read(fd, p->data + p->bytes, room - p->bytes - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return sl_err_set(p->err, -errno, "cannot read '%s': %s", p->path,
					  strerror(errno));
		if (!got)
			break;
		p->bytes += (size_t)got;
		if (p->bytes > MAX_BYTES)
			return sl_err_set(
				p->err, SL_EUNSUPP,
				"%s: a text trace is at most %u MiB: record to trace.dat instead",
				p->path, MAX_BYTES >> 20);
	}
	p->data[p->bytes] = '\0';
	return 0;
}

/* Newlines become NUL; a NUL in the file would end a line unseen, so refuse it. */
static int split_lines(struct text_parser *p)
{
	size_t i, start = 0, longest = 0;

	for (i = 0, p->number = 1; i <= p->bytes; i++) {
		if (p->data[i] == '\0' && i < p->bytes)
			return sl_text_fail(p, "a NUL byte in a text trace");
		if (p->data[i] != '\n' && i < p->bytes)
			continue;
		p->data[i] = '\0';
		if (i - start > longest)
			longest = i - start;
		start = i + 1;
		p->number++;
	}
	/* key=value becomes two strings: one byte more per word at most for the NULs */
	p->scratch = malloc(longest + 2);
	return p->scratch ? 0 : sl_text_no_memory(p);
}

static int make_info(struct text_parser *p)
{
	struct sl_text *text = p->text;
	struct sl_source_info *info = &text->source.info;
	unsigned int cpu;

	text->path = strdup(p->path);
	if (!text->clock)
		text->clock = strdup("mono");
	if (!text->path || !text->clock)
		return sl_text_no_memory(p);
	info->path = text->path;
	info->format = "text";
	info->compression = "none";
	info->clock = text->clock;
	info->kernel = text->kernel;
	info->bytes = p->bytes;
	info->long_bytes = 8;
	info->page_bytes = 4096;
	info->has_irq_flags = true;
	for (cpu = 0; cpu < SL_CPU_MAX; cpu++)
		info->nr_cpus += p->cpu_seen[cpu];
	info->cpus = calloc(info->nr_cpus, sizeof(*info->cpus));
	if (!info->cpus)
		return sl_text_no_memory(p);
	info->nr_cpus = 0;
	for (cpu = 0; cpu < SL_CPU_MAX; cpu++) {
		if (!p->cpu_seen[cpu])
			continue;
		text->cpu_index[cpu] = (uint16_t)info->nr_cpus;
		info->cpus[info->nr_cpus].cpu = (uint16_t)cpu;
		info->cpus[info->nr_cpus++].bytes = p->cpu_bytes[cpu];
	}
	return 0;
}

static int text_rewind(struct sl_source *source, struct sl_err *err)
{
	struct sl_text *text = (struct sl_text *)source;
	unsigned int i;

	(void)err;
	text->at = 0;
	source->info.events = 0;
	for (i = 0; i < source->info.nr_cpus; i++) {
		struct sl_source_cpu *cpu = &source->info.cpus[i];

		cpu->lost_events = cpu->lost_gaps = cpu->lost_unknown_gaps = 0;
		cpu->first_ns = cpu->last_ns = SL_TIME_NONE;
	}
	return 0;
}

static void text_free(struct sl_source *source)
{
	struct sl_text *text = (struct sl_text *)source;
	unsigned int i;

	if (!text)
		return;
	for (i = 0; i < text->nr_strings; i++)
		free(text->strings[i]);
	free(text->strings);
	free(text->events);
	free(text->source.info.cpus);
	free(text->path);
	free(text->clock);
	free(text->kernel);
	free(text);
}

static int parse_file(struct text_parser *p, int fd)
{
	struct sl_text *text = p->text;
	unsigned int i;
	int err = read_all(p, fd);

	if (!err)
		err = split_lines(p);
	if (!err)
		err = collect_lines(p);
	if (err)
		return err;
	if (!p->nr_lines)
		return sl_err_set(p->err, SL_EDATA, "%s: no events in this text trace", p->path);
	if (p->nr_tasks)
		qsort(p->tasks, p->nr_tasks, sizeof(*p->tasks), sl_text_task_order);
	qsort(p->lines, p->nr_lines, sizeof(*p->lines), line_order);
	text->events = calloc(p->nr_lines, sizeof(*text->events));
	if (!text->events)
		return sl_text_no_memory(p);
	text->nr_events = p->nr_lines;
	for (i = 0; i < p->nr_lines; i++) {
		err = sl_text_event(p, &p->lines[i], &text->events[i]);
		if (err)
			return err;
	}
	return make_info(p);
}

static bool text_probe(const unsigned char *head, unsigned int len)
{
	return len >= strlen(MAGIC) && !memcmp(head, MAGIC, strlen(MAGIC));
}

static int text_open(const char *path, int fd, struct sl_source **ret_source, struct sl_err *err)
{
	struct text_parser *p = calloc(1, sizeof(*p));
	struct sl_text *text = calloc(1, sizeof(*text));
	int ret;

	if (!p || !text) {
		free(p);
		free(text);
		return sl_err_set(err, -ENOMEM, "%s: out of memory reading a text trace", path);
	}
	p->text = text;
	p->path = path;
	p->err = err;
	text->source.ops = &sl_source_text_ops;
	ret = parse_file(p, fd);
	free(p->data);
	free(p->scratch);
	free(p->lines);
	free(p->tasks);
	free(p);
	if (ret < 0) {
		text_free(&text->source);
		return ret;
	}
	/* The text is parsed: nothing is left to read from fd. */
	close(fd);
	text_rewind(&text->source, NULL);
	*ret_source = &text->source;
	return 0;
}

static int text_next(struct sl_source *source, struct sl_event *ret_events, unsigned int max,
		     struct sl_err *err)
{
	struct sl_text *text = (struct sl_text *)source;
	unsigned int nr = 0;

	(void)err;
	for (; nr < max && nr < INT_MAX && text->at < text->nr_events; nr++) {
		const struct sl_event *event = &text->events[text->at++];
		struct sl_source_cpu *cpu = &source->info.cpus[text->cpu_index[event->cpu]];

		ret_events[nr] = *event;
		if (event->kind == SL_EV_LOST) {
			cpu->lost_gaps++;
			if (event->lost.count == UINT64_MAX)
				cpu->lost_unknown_gaps++;
			else
				cpu->lost_events += event->lost.count;
			continue;
		}
		source->info.events++;
		if (cpu->first_ns == SL_TIME_NONE)
			cpu->first_ns = event->ts_ns;
		cpu->last_ns = event->ts_ns;
	}
	return (int)nr;
}

static unsigned int text_progress(const struct sl_source *source)
{
	const struct sl_text *text = (const struct sl_text *)source;

	return (unsigned int)(text->at * 1000ull / text->nr_events);
}

const struct sl_source_ops sl_source_text_ops = {
	.name = "text",
	.probe = text_probe,
	.open = text_open,
	.next = text_next,
	.rewind = text_rewind,
	.progress = text_progress,
	.free = text_free,
};
