/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Numbers and names as text. Everything here is pure: it fills the caller's
 * buffer (always NUL terminated) and returns it.
 *
 * Rounding is half up in integers, so that the same ns gives the same digits in
 * every output, with the carry taken into the next unit: 999950 ns is "1.000 ms".
 */
#ifndef SL_OUT_FMT_H
#define SL_OUT_FMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A name from a recording, safe to print: control bytes (C0, DEL, C1), bytes
 * that are not valid UTF-8, and characters that reorder or hide text become
 * \xNN. Without utf8 every byte above 0x7e does. A backslash stays as it is:
 * cgroup paths contain them and must stay usable as arguments.
 */
char *sl_fmt_escape(char *buf, size_t size, const char *text, bool utf8);

/* Columns that an escaped string takes on a terminal. */
unsigned int sl_fmt_width(const char *text);

/* How many bytes of it fit into width columns. */
size_t sl_fmt_prefix(const char *text, unsigned int width);

/* Cut an escaped string to at most width columns, "..." (or "~" if very narrow) telling so. */
char *sl_fmt_cut(char *text, unsigned int width);

/* ns / 10^(digits of scale) with that many decimals (0..9): 1234567, 1000, 1 -> "1234.6". */
char *sl_fmt_scaled(char *buf, size_t size, uint64_t ns, uint64_t scale, unsigned int decimals);

/* Four digits and a unit: "950 ns", "841.2 us", "31.40 ms", "1.234 s", "12345 s". */
char *sl_fmt_duration(char *buf, size_t size, uint64_t ns);

/* One unit for a whole table, by its largest value. */
struct sl_fmt_unit {
	const char *name;		/* "us", "ms" */
	uint64_t scale;			/* ns per unit */
	unsigned int decimals;		/* 1..3 */
};
struct sl_fmt_unit sl_fmt_unit_for(uint64_t max_ns);
/* The same for percentiles: us as long as it is readable, for a median is far below a maximum. */
struct sl_fmt_unit sl_fmt_unit_of_waits(uint64_t max_ns);

/*
 * Shares of a whole in tenths of a percent that sum to exactly 1000 (largest
 * remainder; ties to the earlier entry). All 0 when the sum is 0.
 */
void sl_fmt_shares(const uint64_t *parts, unsigned int nr, unsigned int *ret_permille);

/* part / whole in tenths of a percent, half up; 0 when whole is 0. */
unsigned int sl_fmt_permille(uint64_t part, uint64_t whole);

/* Tenths of a percent: 612 -> "61.2 %". */
char *sl_fmt_percent(char *buf, size_t size, unsigned int permille);

#endif
