// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Who blocked whom, as lines of a folded stack: wakee;cause;occupant ns. The sum of all
 * lines is the sum of the waits, to the ns. Threads of one name are one.
 */
#include "out/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out/fmt.h"

struct stack {
	char wakee[SL_COMM_LEN], occupant[SL_COMM_LEN];
	uint32_t cause;
	uint32_t has_occupant;		/* somebody in particular ran instead */
};

struct line {
	struct stack stack;
	uint64_t ns;
};

struct folded {
	struct sl_out *out;
	struct line *lines;
	uint32_t nr, cap;
	uint32_t *hash;			/* index + 1 */
	uint32_t hash_mask;
};

static int begin(struct sl_out *out, const struct sl_out_view *view, void **ret_state)
{
	struct folded *f = calloc(1, sizeof(*f));

	(void)view;
	if (!f)
		return -ENOMEM;
	f->out = out;
	f->hash_mask = 1023;
	f->hash = calloc(f->hash_mask + 1, sizeof(*f->hash));
	if (!f->hash) {
		free(f);
		return -ENOMEM;
	}
	*ret_state = f;
	return 0;
}

static void end(void *state)
{
	struct folded *f = state;

	if (!f)
		return;
	free(f->lines);
	free(f->hash);
	free(f);
}

/* FNV-1a */
static uint32_t hash_of(const struct stack *stack)
{
	const unsigned char *p = (const unsigned char *)stack;
	uint32_t h = 2166136261u;
	size_t i;

	for (i = 0; i < sizeof(*stack); i++)
		h = (h ^ p[i]) * 16777619u;
	return h;
}

static int grow(struct folded *f)
{
	uint32_t cap = f->cap ? f->cap * 2 : 256, mask = f->hash_mask * 2 + 1, *hash, i;
	struct line *lines;

	if (f->nr == f->cap) {
		lines = realloc(f->lines, cap * sizeof(*lines));
		if (!lines)
			return -ENOMEM;
		f->lines = lines;
		f->cap = cap;
	}
	if (f->nr < f->hash_mask / 2)
		return 0;
	hash = calloc(mask + 1ull, sizeof(*hash));
	if (!hash)
		return -ENOMEM;
	for (i = 0; i < f->nr; i++) {
		uint32_t at = hash_of(&f->lines[i].stack) & mask;

		while (hash[at])
			at = (at + 1) & mask;
		hash[at] = i + 1;
	}
	free(f->hash);
	f->hash = hash;
	f->hash_mask = mask;
	return 0;
}

static int add(struct folded *f, const struct stack *stack, uint64_t ns)
{
	uint32_t at;

	if (grow(f))
		return -ENOMEM;
	for (at = hash_of(stack) & f->hash_mask; f->hash[at]; at = (at + 1) & f->hash_mask) {
		struct line *line = &f->lines[f->hash[at] - 1];

		if (!memcmp(&line->stack, stack, sizeof(*stack))) {
			line->ns += ns;
			return 0;
		}
	}
	f->lines[f->nr] = (struct line){ *stack, ns };
	f->hash[at] = ++f->nr;
	return 0;
}

/* Names are cut short by a NUL, what lies behind it must not count. */
static void set_name(char name[SL_COMM_LEN], const char *comm)
{
	memcpy(name, comm, strnlen(comm, SL_COMM_LEN - 1));
}

static int on_wait(void *state, const struct sl_wait *wait)
{
	unsigned int i;

	for (i = 0; i < wait->nr_segments; i++) {
		const struct sl_segment *seg = &wait->segments[i];
		struct stack stack;

		memset(&stack, 0, sizeof(stack));
		set_name(stack.wakee, wait->comm);
		stack.cause = seg->cause;
		/* The idle task keeps nobody waiting, and a task that is interrupted waits as well. */
		if (seg->occupant_tid > 0 && seg->cause != SL_CAUSE_IRQ &&
		    seg->cause != SL_CAUSE_SOFTIRQ) {
			stack.has_occupant = 1;
			set_name(stack.occupant, seg->occupant_comm);
		}
		if (add(state, &stack, seg->ns))
			return -ENOMEM;
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct stack *x = &((const struct line *)a)->stack, *y = &((const struct line *)b)->stack;
	int order = memcmp(x->wakee, y->wakee, sizeof(x->wakee));

	if (!order && x->cause != y->cause)
		order = x->cause < y->cause ? -1 : 1;
	if (!order && x->has_occupant != y->has_occupant)
		order = x->has_occupant < y->has_occupant ? -1 : 1;
	return order ? order : memcmp(x->occupant, y->occupant, sizeof(x->occupant));
}

/* A frame ends at a semicolon: one in a name is written as \x3b. */
static void print_frame(FILE *file, const char *name)
{
	char text[4 * SL_COMM_LEN + 1];
	const char *p;

	for (p = sl_fmt_escape(text, sizeof(text), name[0] ? name : "?", true); *p; p++) {
		if (*p == ';')
			fputs("\\x3b", file);
		else
			putc(*p, file);
	}
}

static int finish(void *state, const struct sl_report *report, struct sl_err *err)
{
	struct folded *f = state;
	FILE *file = f->out->file;
	uint32_t i;

	(void)report;
	(void)err;
	if (f->nr)
		qsort(f->lines, f->nr, sizeof(*f->lines), by_name);
	for (i = 0; i < f->nr; i++) {
		const struct stack *stack = &f->lines[i].stack;

		print_frame(file, stack->wakee);
		fprintf(file, ";%s", sl_cause_descs[stack->cause].id);
		if (stack->has_occupant) {
			putc(';', file);
			print_frame(file, stack->occupant);
		}
		fprintf(file, " %" PRIu64 "\n", f->lines[i].ns);
	}
	return 0;
}

const struct sl_exporter sl_export_folded = {
	.name = "folded",
	.doc = "who kept whom waiting, for flame graphs: wakee;cause;occupant ns",
	.begin = begin,
	.wait = on_wait,
	.finish = finish,
	.end = end,
};
