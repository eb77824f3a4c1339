// SPDX-License-Identifier: LGPL-2.1-only
#include "util/time.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Read a decimal number as value * scale, exactly in integers: "1.5" with
 * scale 10^6 is 1500000. Digits beyond the scale's precision are cut.
 * Returns the first character behind the number, NULL when there is none or it overflows.
 */
static const char *parse_scaled(const char *p, uint64_t scale, uint64_t *ret)
{
	uint64_t whole = 0, frac = 0, unit = scale;
	bool any = false;

	for (; isdigit((unsigned char)*p); p++, any = true)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*p - '0'), &whole))
			return NULL;
	if (*p == '.') {
		for (p++; isdigit((unsigned char)*p); p++, any = true) {
			unit /= 10;
			frac += unit * (uint64_t)(*p - '0');
		}
	}
	if (!any || __builtin_mul_overflow(whole, scale, &whole) ||
	    __builtin_add_overflow(whole, frac, ret))
		return NULL;
	return p;
}

int sl_time_parse(const char *text, uint64_t *ret_ns, struct sl_err *err)
{
	static const struct {
		const char *name;
		uint64_t scale;
	} units[] = {
		{ "ns", 1 },
		{ "us", SL_NSEC_PER_USEC },
		{ "ms", SL_NSEC_PER_MSEC },
		{ "s", SL_NSEC_PER_SEC },
		{ "m", 60 * SL_NSEC_PER_SEC },
		{ "h", 3600 * SL_NSEC_PER_SEC },
	};
	const char *unit = text + strspn(text, "0123456789.");
	size_t i;

	if (unit == text)
		return sl_err_set(err, SL_EUSAGE, "'%s' is not a duration: write it like 500us or 10s",
				  text);
	if (!*unit && strspn(text, "0.") == strlen(text)) {
		*ret_ns = 0;
		return 0;
	}
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t ns;
		const char *end;

		if (strcmp(unit, units[i].name))
			continue;
		end = parse_scaled(text, units[i].scale, &ns);
		if (end != unit)
			return sl_err_set(err, SL_EUSAGE,
					  "'%s' is not a duration, or does not fit 64 bits of ns", text);
		*ret_ns = ns;
		return 0;
	}
	return sl_err_set(err, SL_EUSAGE, "'%s' needs a unit: one of ns us ms s m h (for example %.*sms)",
			  text, (int)(unit - text), text);
}

int sl_time_parse_window(const char *text, uint64_t *ret_start_ns, uint64_t *ret_stop_ns,
			 struct sl_err *err)
{
	uint64_t start = 0, stop = SL_TIME_NONE;
	const char *p = text;

	if (!strchr(text, ','))
		goto bad;
	if (*p != ',')
		p = parse_scaled(p, SL_NSEC_PER_SEC, &start);
	if (!p || *p != ',')
		goto bad;
	p++;
	if (*p) {
		p = parse_scaled(p, SL_NSEC_PER_SEC, &stop);
		if (!p || *p)
			goto bad;
	}
	if (stop < start)
		return sl_err_set(err, SL_EUSAGE, "time window '%s' stops before it starts", text);
	*ret_start_ns = start;
	*ret_stop_ns = stop;
	return 0;
bad:
	return sl_err_set(err, SL_EUSAGE,
			  "'%s' is not a time window: write start,stop in seconds of the trace clock "
			  "(for example 12.5,13 or 12.5, or ,13)", text);
}

char *sl_time_fmt_sec(char *buf, size_t size, uint64_t ns, int digits)
{
	uint64_t unit = 1, sec, frac;
	int i;

	for (i = digits; i < 9; i++)
		unit *= 10;
	sec = ns / SL_NSEC_PER_SEC;
	frac = ns % SL_NSEC_PER_SEC / unit;
	if (unit > 1 && ns % unit >= unit / 2)
		frac++;
	if (frac * unit >= SL_NSEC_PER_SEC) {
		sec++;
		frac = 0;
	}
	if (digits > 0)
		snprintf(buf, size, "%" PRIu64 ".%0*" PRIu64, sec, digits % 10, frac);
	else
		snprintf(buf, size, "%" PRIu64, sec);
	return buf;
}

char *sl_time_fmt_human(char *buf, size_t size, uint64_t ns)
{
	static const char *const unit[] = { "us", "ms", "s" };
	uint64_t scale = 1000;
	double value;
	int i;

	if (ns < 1000) {
		snprintf(buf, size, "%" PRIu64 " ns", ns);
		return buf;
	}
	/* Three digits after rounding: 999.9 us is "1.00 ms", not "1000 us". */
	for (i = 0; i < 2 && ns >= scale * 1000 - scale / 2; i++)
		scale *= 1000;
	value = (double)ns / (double)scale;
	snprintf(buf, size, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit[i]);
	return buf;
}
