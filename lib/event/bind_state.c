// SPDX-License-Identifier: LGPL-2.1-only
#include "event/bind_state.h"

#include <string.h>

#define NESTING_MAX 32

struct expr {
	const char *p, *end;
	unsigned int depth;
	bool bad;
};

static char peek(struct expr *e)
{
	while (e->p < e->end && (*e->p == ' ' || *e->p == '\t' || *e->p == '\n'))
		e->p++;
	return e->p < e->end ? *e->p : '\0';
}

static uint64_t number(struct expr *e)
{
	unsigned int base = 10, digits = 0;
	uint64_t v = 0;

	if (e->end - e->p > 2 && e->p[0] == '0' && (e->p[1] == 'x' || e->p[1] == 'X')) {
		base = 16;
		e->p += 2;
	}
	for (; e->p < e->end; e->p++, digits++) {
		char c = *e->p;
		unsigned int d;

		if (c >= '0' && c <= '9')
			d = (unsigned int)(c - '0');
		else if (c >= 'a' && c <= 'f')
			d = (unsigned int)(c - 'a') + 10;
		else if (c >= 'A' && c <= 'F')
			d = (unsigned int)(c - 'A') + 10;
		else
			break;
		if (d >= base)
			break;
		v = v * base + d;
	}
	if (!digits)
		e->bad = true;
	while (e->p < e->end && (*e->p == 'U' || *e->p == 'u' || *e->p == 'L' || *e->p == 'l'))
		e->p++;
	return v;
}

static uint64_t expr_or(struct expr *e);

static uint64_t unary(struct expr *e)
{
	uint64_t v = 0;
	char c = peek(e);

	if (e->bad || ++e->depth > NESTING_MAX) {
		e->bad = true;
		return 0;
	}
	if (c == '(') {
		e->p++;
		v = expr_or(e);
		if (peek(e) == ')')
			e->p++;
		else
			e->bad = true;
	} else if (c == '~') {
		e->p++;
		v = ~unary(e);
	} else if (c == '-') {
		e->p++;
		v = 0 - unary(e);
	} else {
		v = number(e);
	}
	e->depth--;
	return v;
}

static uint64_t sum(struct expr *e)
{
	uint64_t v = unary(e);
	char c;

	while (!e->bad && ((c = peek(e)) == '+' || c == '-')) {
		e->p++;
		v = c == '+' ? v + unary(e) : v - unary(e);
	}
	return v;
}

static uint64_t shift(struct expr *e)
{
	uint64_t v = sum(e), by;
	char c;

	while (!e->bad && ((c = peek(e)) == '<' || c == '>')) {
		if (e->end - e->p < 2 || e->p[1] != c) {
			e->bad = true;
			break;
		}
		e->p += 2;
		by = sum(e);
		if (by > 63)
			v = 0;
		else
			v = c == '<' ? v << by : v >> by;
	}
	return v;
}

static uint64_t expr_and(struct expr *e)
{
	uint64_t v = shift(e);

	while (!e->bad && peek(e) == '&') {
		e->p++;
		v &= shift(e);
	}
	return v;
}

/* Constant expressions as they appear in print fmt: ( ) ~ - + << >> & | and numbers. */
static uint64_t expr_or(struct expr *e)
{
	uint64_t v = expr_and(e);

	while (!e->bad && peek(e) == '|') {
		e->p++;
		v |= expr_and(e);
	}
	return v;
}

static const char *find(const char *p, const char *end, const char *word)
{
	return p < end ? memmem(p, (size_t)(end - p), word, strlen(word)) : NULL;
}

static void add_flag(struct sl_bind *b, uint64_t mask, char letter)
{
	unsigned int i;

	if (!mask || letter < '!' || letter > '~' || b->state.nr == SL_BIND_FLAGS_MAX)
		return;
	for (i = b->state.nr; i > 0 && b->state.flag[i - 1].mask > mask; i--)
		b->state.flag[i] = b->state.flag[i - 1];
	b->state.flag[i].mask = mask;
	b->state.flag[i].letter = letter;
	b->state.nr++;
}

/* { mask, "S" } pairs up to the parenthesis that ends __print_flags(). */
static void parse_flags(struct sl_bind *b, const char *p, const char *end)
{
	while (p < end) {
		struct expr e = { .end = end };
		const char *quote;
		uint64_t mask;

		if (*p == ')')
			break;
		if (*p++ != '{')
			continue;
		e.p = p;
		mask = expr_or(&e);
		if (e.bad || peek(&e) != ',')
			continue;
		e.p++;
		if (peek(&e) != '"' || end - e.p < 2)
			continue;
		add_flag(b, mask, e.p[1]);
		quote = memchr(e.p + 1, '"', (size_t)(end - e.p - 1));
		if (!quote)
			break;
		p = quote + 1;
	}
}

/* ... prev_state & EXPRESSION ? "+" : "" */
static void parse_plus(struct sl_bind *b, const char *p, const char *end)
{
	const char *plus = find(p, end, "\"+\""), *word = NULL, *hit;
	struct expr e = { .end = end };
	uint64_t mask;

	if (!plus)
		return;
	for (hit = find(p, plus, "prev_state"); hit; hit = find(hit + 1, plus, "prev_state"))
		word = hit;
	if (!word)
		return;
	e.p = word + strlen("prev_state");
	if (peek(&e) != '&')
		return;
	e.p++;
	mask = expr_or(&e);
	if (e.bad)
		return;
	/* "((prev_state & mask) ? ...": parentheses around the whole test. */
	while (peek(&e) == ')')
		e.p++;
	if (peek(&e) == '?')
		b->state.plus_mask = mask;
}

void sl_bind_state_parse(struct sl_bind *b, const char *text, size_t len)
{
	const char *end = text + len, *flags = find(text, end, "__print_flags");
	const char *delim;

	if (!flags)
		return;
	/* __print_flags(EXPR, "|", {...}, ...): the list starts behind the delimiter. */
	delim = find(flags, end, "\"|\"");
	if (delim)
		parse_flags(b, delim, end);
	parse_plus(b, text, end);
}

char sl_bind_state(const struct sl_bind *b, uint64_t state, uint8_t *ret_preempted)
{
	unsigned int i;

	*ret_preempted = (state & b->state.plus_mask) != 0;
	for (i = 0; i < b->state.nr; i++)
		if ((state & b->state.flag[i].mask) == b->state.flag[i].mask)
			return b->state.flag[i].letter;
	/* As __print_flags() of kernels that know no such bit: runnable. */
	return b->state.plus_mask || !state ? 'R' : '?';
}

void sl_bind_state_finish(struct sl_bind *b)
{
	uint64_t s;

	if (b->kind != SL_EV_SWITCH)
		return;
	if (!b->state.nr) {
		add_flag(b, 0x1, 'S');
		add_flag(b, 0x2, 'D');
	}
	for (s = 0; s < SL_BIND_STATES; s++) {
		uint8_t preempted;
		char letter = sl_bind_state(b, s, &preempted);

		b->state.known[s] = (uint16_t)((unsigned char)letter | preempted << 8);
	}
}
