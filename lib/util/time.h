/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Time: uint64_t nanoseconds on the clock of the recording.
 *
 * This is the only place that subtracts timestamps. A difference that would
 * wrap is refused, never returned as a number near 2^64: callers count it
 * ("clock-skew") and go on.
 */
#ifndef SL_UTIL_TIME_H
#define SL_UTIL_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

#define SL_NSEC_PER_USEC 1000ull
#define SL_NSEC_PER_MSEC 1000000ull
#define SL_NSEC_PER_SEC	 1000000000ull

#define SL_TIME_NONE UINT64_MAX	/* "no such instant": printed as null or n/a */

/* *ret = later - earlier; false (and *ret untouched) when later < earlier. */
static inline bool sl_delta(uint64_t later_ns, uint64_t earlier_ns, uint64_t *ret_ns)
{
	if (later_ns < earlier_ns)
		return false;
	*ret_ns = later_ns - earlier_ns;
	return true;
}

/* later - earlier where the caller's own invariant orders them; 0 instead of a wrap. */
static inline uint64_t sl_since(uint64_t later_ns, uint64_t earlier_ns)
{
	return later_ns > earlier_ns ? later_ns - earlier_ns : 0;
}

/*
 * Parse a duration with a unit: "500us", "1.5ms", "10s", "2m", "1h", "250ns";
 * "0" alone is accepted. SL_EUSAGE with the reason when the unit is missing,
 * the number is malformed, negative or does not fit 64 bits of ns.
 */
int sl_time_parse(const char *text, uint64_t *ret_ns, struct sl_err *err);

/*
 * Parse "start,stop" in seconds of the trace clock, as perf does: either side
 * may be empty. Missing start is 0, missing stop is SL_TIME_NONE.
 */
int sl_time_parse_window(const char *text, uint64_t *ret_start_ns, uint64_t *ret_stop_ns,
			 struct sl_err *err);

/*
 * Seconds with `digits` (0..9) decimals, rounded half up with carry into the
 * seconds: 1234.999999501 s is "1235.000000" with 6 digits. Returns buf.
 */
char *sl_time_fmt_sec(char *buf, size_t size, uint64_t ns, int digits);

/* A duration for people: "950 ns", "12.3 us", "4.56 ms", "1.23 s". Returns buf. */
char *sl_time_fmt_human(char *buf, size_t size, uint64_t ns);

#endif
