/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Loads from untrusted bytes: any alignment, either byte order.
 *
 * `swap` says that the data has the other byte order than this machine; with a
 * constant argument the branch disappears.
 */
#ifndef SL_EVENT_BYTES_H
#define SL_EVENT_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SL_HOST_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint16_t sl_load16(const void *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t sl_load32(const void *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t sl_load64(const void *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* An integer of 1, 2, 4 or 8 bytes, sign-extended when asked to. Other sizes give 0. */
static inline uint64_t sl_load_int(const void *p, unsigned int bytes, bool is_signed, bool swap)
{
	switch (bytes) {
	case 1: {
		uint8_t v = *(const uint8_t *)p;

		return is_signed ? (uint64_t)(int64_t)(int8_t)v : v;
	}
	case 2: {
		uint16_t v = sl_load16(p, swap);

		return is_signed ? (uint64_t)(int64_t)(int16_t)v : v;
	}
	case 4: {
		uint32_t v = sl_load32(p, swap);

		return is_signed ? (uint64_t)(int64_t)(int32_t)v : v;
	}
	case 8:
		return sl_load64(p, swap);
	}
	return 0;
}

#endif
