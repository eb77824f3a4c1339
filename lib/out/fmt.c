// SPDX-License-Identifier: LGPL-2.1-only
#include "out/fmt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "util/time.h"

/* Length of the UTF-8 sequence at p, 0 when it is not one (overlong, surrogate, cut short). */
static unsigned int utf8_decode(const unsigned char *p, uint32_t *ret_code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int len = p[0] < 0x80 ? 1 : p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	uint32_t code;
	unsigned int i;

	if (len == 1) {
		*ret_code = p[0];
		return 1;
	}
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	code = p[0] & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret_code = code;
	return len;
}

/* Characters that move the cursor, reorder what follows or are invisible can forge a report. */
static bool is_harmless(uint32_t code)
{
	if (code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0xad)
		return false;
	if ((code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	    (code >= 0x2060 && code <= 0x206f))
		return false;
	if (code == 0x61c || code == 0x180e || code == 0xfeff ||
	    (code >= 0xfff9 && code <= 0xfffb) || code >= 0xe0000)
		return false;
	return true;
}

char *sl_fmt_escape(char *buf, size_t size, const char *text, bool utf8)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t used = 0;

	while (*p) {
		uint32_t code = 0;
		unsigned int i, len = utf8_decode(p, &code);

		if (len && is_harmless(code) && (utf8 || code < 0x7f)) {
			if (used + len >= size)
				break;
			memcpy(buf + used, p, len);
			used += len;
			p += len;
			continue;
		}
		for (i = 0; i < (len ? len : 1); i++) {
			if (used + 4 >= size)
				goto out;
			used += (size_t)snprintf(buf + used, size - used, "\\x%02x", *p++);
		}
	}
out:
	if (size)
		buf[used] = '\0';
	return buf;
}

static unsigned int code_width(uint32_t code)
{
	int width = code < 0x7f ? 1 : wcwidth((wchar_t)code);

	return width < 0 ? 1 : (unsigned int)width;
}

unsigned int sl_fmt_width(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned int width = 0;

	while (*p) {
		uint32_t code = 0;
		unsigned int len = utf8_decode(p, &code);

		width += len ? code_width(code) : 1;
		p += len ? len : 1;
	}
	return width;
}

size_t sl_fmt_prefix(const char *text, unsigned int width)
{
	const char *p = text;
	unsigned int used = 0;

	while (*p) {
		uint32_t code = 0;
		unsigned int len = utf8_decode((const unsigned char *)p, &code);
		unsigned int columns = len ? code_width(code) : 1;

		if (used + columns > width)
			break;
		used += columns;
		p += len ? len : 1;
	}
	return (size_t)(p - text);
}

char *sl_fmt_cut(char *text, unsigned int width)
{
	const char *mark = width >= 8 ? "..." : "~";
	char *p;

	if (sl_fmt_width(text) <= width)
		return text;
	if (!width) {
		*text = '\0';
		return text;
	}
	p = text + sl_fmt_prefix(text, width - (unsigned int)strlen(mark));
	/* What is cut is wider than the mark, but may be fewer bytes than it. */
	if (strlen(p) >= strlen(mark))
		strcpy(p, mark);
	else
		*p = '\0';
	return text;
}

char *sl_fmt_scaled(char *buf, size_t size, uint64_t ns, uint64_t scale, unsigned int decimals)
{
	uint64_t whole = ns / scale, rest = ns % scale, step = 1, part;
	unsigned int i;

	for (i = 0; i < decimals; i++)
		step *= 10;
	/* rest < scale <= 10^9 and step <= 10^9: no overflow. */
	part = (rest * step * 2 + scale) / (scale * 2);
	if (part >= step) {
		whole++;
		part -= step;
	}
	if (decimals)
		snprintf(buf, size, "%" PRIu64 ".%0*" PRIu64, whole, (int)decimals, part);
	else
		snprintf(buf, size, "%" PRIu64, whole);
	return buf;
}

char *sl_fmt_duration(char *buf, size_t size, uint64_t ns)
{
	static const struct {
		const char *name;
		uint64_t scale;
	} units[] = {
		{ "us", SL_NSEC_PER_USEC },
		{ "ms", SL_NSEC_PER_MSEC },
		{ "s", SL_NSEC_PER_SEC },
	};
	unsigned int u, decimals;
	char number[32];

	if (ns < 1000) {
		snprintf(buf, size, "%" PRIu64 " ns", ns);
		return buf;
	}
	for (u = 0; u < 3; u++) {
		uint64_t scale = units[u].scale;

		for (decimals = 3; decimals > 0; decimals--) {
			uint64_t step = decimals == 3 ? 1000 : decimals == 2 ? 100 : 10;

			/* Rounded to these decimals it still has four digits: below 9999.5 steps. */
			if ((__uint128_t)ns * step * 2 + scale < (__uint128_t)10000 * scale * 2)
				break;
		}
		if (decimals || u == 2)
			break;
	}
	snprintf(buf, size, "%s %s",
		 sl_fmt_scaled(number, sizeof(number), ns, units[u].scale, decimals), units[u].name);
	return buf;
}

struct sl_fmt_unit sl_fmt_unit_for(uint64_t max_ns)
{
	if (max_ns < SL_NSEC_PER_MSEC)
		return (struct sl_fmt_unit){ "us", SL_NSEC_PER_USEC, 3 };
	if (max_ns < 100 * SL_NSEC_PER_MSEC)
		return (struct sl_fmt_unit){ "us", SL_NSEC_PER_USEC, 1 };
	if (max_ns < 10 * SL_NSEC_PER_SEC)
		return (struct sl_fmt_unit){ "ms", SL_NSEC_PER_MSEC, 3 };
	return (struct sl_fmt_unit){ "ms", SL_NSEC_PER_MSEC, 1 };
}

struct sl_fmt_unit sl_fmt_unit_of_waits(uint64_t max_ns)
{
	if (max_ns >= 100 * SL_NSEC_PER_MSEC && max_ns < 10 * SL_NSEC_PER_SEC)
		return (struct sl_fmt_unit){ "us", SL_NSEC_PER_USEC, 1 };
	return sl_fmt_unit_for(max_ns);
}

void sl_fmt_shares(const uint64_t *parts, unsigned int nr, unsigned int *ret_permille)
{
	__uint128_t whole = 0;
	unsigned int i, given = 0;

	for (i = 0; i < nr; i++)
		whole += parts[i];
	for (i = 0; i < nr; i++) {
		ret_permille[i] = whole ? (unsigned int)(parts[i] * (__uint128_t)1000 / whole) : 0;
		given += ret_permille[i];
	}
	if (!whole)
		return;
	for (; given < 1000; given++) {
		__uint128_t best = 0;
		unsigned int best_i = nr;

		for (i = 0; i < nr; i++) {
			__uint128_t exact = parts[i] * (__uint128_t)1000;
			__uint128_t have = ret_permille[i] * whole;

			if (exact > have && exact - have > best) {
				best = exact - have;
				best_i = i;
			}
		}
		if (best_i == nr)
			return;
		ret_permille[best_i]++;
	}
}

unsigned int sl_fmt_permille(uint64_t part, uint64_t whole)
{
	if (!whole)
		return 0;
	return (unsigned int)(((__uint128_t)part * 2000 + whole) / ((__uint128_t)whole * 2));
}

char *sl_fmt_percent(char *buf, size_t size, unsigned int permille)
{
	snprintf(buf, size, "%u.%u %%", permille / 10, permille % 10);
	return buf;
}
