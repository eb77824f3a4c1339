/* SPDX-License-Identifier: LGPL-2.1-only */
/* Small files of /proc, /sys and tracefs; lists of CPUs; key=value lists. */
#ifndef SL_LIVE_TEXT_H
#define SL_LIVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "util/err.h"

/*
 * The file's text without trailing white space, NUL terminated, malloced.
 * NULL with errno set when it cannot be read. At most 16 MiB.
 */
char *sl_text_read(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A number from a file; false when it cannot be read or is no number. */
bool sl_text_read_u64(uint64_t *ret_value, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Write text to an existing file. 0 or -errno. */
int sl_text_write(const char *path, const char *text);

/* "0-3,8" into set[SL_CPU_MAX] of 0/1. SL_EUSAGE: malformed, empty, or above 4095. */
int sl_cpulist_parse(const char *text, uint8_t *ret_set, struct sl_err *err);
/* The reverse; malloced, "" for an empty set, NULL without memory. */
char *sl_cpulist_format(const uint8_t *set);

/* Keys and values in the order they were added; `failed`: memory ran out. */
struct sl_kv_list {
	struct sl_kv {
		char *key, *value;
	} *items;
	size_t nr, room;
	bool failed;
};

/* Copies both. A value loses its newlines: it is one line of a report. */
void sl_kv_add(struct sl_kv_list *list, const char *key, const char *value);
void sl_kv_addf(struct sl_kv_list *list, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* NULL when there is none. */
const char *sl_kv_get(const struct sl_kv_list *list, const char *key);
void sl_kv_clear(struct sl_kv_list *list);

#endif
