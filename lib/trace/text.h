/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Inside the text source only: what its files share.
 *
 * text.c reads the file into lines (directives, @repeat, order in time);
 * text_event.c turns one line into one event.
 */
#ifndef SL_TRACE_TEXT_H
#define SL_TRACE_TEXT_H

#include "trace/source.h"

#define SL_TEXT_PRIO 120	/* of a task that is not declared: nice 0 */

/* An event line, once per repetition. */
struct text_line {
	uint64_t ts_ns;
	const char *rest;	/* behind the time */
	uint32_t seq;		/* position after expansion: breaks ties */
	uint32_t number;	/* in the file, from 1 */
	uint16_t cpu;
};

/* A @task: what the events say about a pid when they do not say it themselves. */
struct text_task {
	int32_t pid, tgid;
	int prio;
	char comm[SL_COMM_LEN];
};

struct sl_text {
	struct sl_source source;	/* must be first */
	char *path, *clock, *kernel;
	struct sl_event *events;
	unsigned int nr_events, at;
	char **strings;			/* owned values of STR fields */
	unsigned int nr_strings, max_strings;
	uint16_t cpu_index[SL_CPU_MAX];	/* into info.cpus */
};

struct text_parser {
	struct sl_text *text;
	const char *path;
	unsigned int number;		/* line being parsed */
	struct sl_err *err;
	char *data;			/* the file; newlines become NUL */
	size_t bytes;
	char *scratch;			/* as large as the longest line */
	struct text_line *lines;
	unsigned int nr_lines, max_lines;
	struct text_task *tasks;		/* by pid once all are read */
	unsigned int nr_tasks, max_tasks;
	bool cpu_seen[SL_CPU_MAX];
	uint64_t cpu_bytes[SL_CPU_MAX];
	int32_t running[SL_CPU_MAX];	/* believed to run there */
	uint64_t last_ns[SL_CPU_MAX];	/* of the events of that CPU; 0: none yet */
};

struct text_word {
	char *key;		/* NULL: a bare word */
	char *value;
	bool quoted;
};

/* Set the message to "file:line: ..." and return code. */
int sl_text_fail_at(struct text_parser *p, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#define sl_text_fail(p, ...) sl_text_fail_at(p, SL_EDATA, __VA_ARGS__)
int sl_text_no_memory(struct text_parser *p);

/* Room for one more element; false: out of memory. array is the address of the pointer. */
bool sl_text_grow(void *array, unsigned int nr, unsigned int *max, size_t size);

/* The next `key=value`, `"quoted"` or bare word into scratch. 1, 0 at the end, negative. */
int sl_text_word(struct text_parser *p, const char **pos, struct text_word *ret_word);
/* A bare word that must be there. */
int sl_text_need_word(struct text_parser *p, const char **pos, const char *what,
		      struct text_word *ret_word);
int sl_text_int(struct text_parser *p, const char *what, const char *text, int64_t min,
		int64_t max, int64_t *ret);
/* One instant or duration without a sum: ns, or a number with a unit. */
int sl_text_time(struct text_parser *p, const char *text, uint64_t *ret_ns);
/* The CPU at the front of "CPU[/COMM_PID[/FLAGS]]"; *ret_more: behind it. */
int sl_text_cpu(struct text_parser *p, const char *text, uint16_t *ret_cpu,
		const char **ret_more);

/* "sched_switch" or "sched:sched_switch"; NULL when there is none. */
const struct sl_event_desc *sl_text_desc(const char *name);
/* A name, cut to what a kernel would keep. comm is SL_COMM_LEN bytes. */
void sl_text_comm(char *comm, const char *from);
/* For qsort() of tasks. */
int sl_text_task_order(const void *a, const void *b);

/* Build the event of a line. Lines come in time order. */
int sl_text_event(struct text_parser *p, const struct text_line *line,
		  struct sl_event *ret_event);

#endif
