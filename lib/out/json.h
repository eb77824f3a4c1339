/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Small pieces of JSON, shared by the report, timehist and list. Objects are
 * built with jansson one at a time and printed at once: a document with a
 * million waits needs the memory of one wait.
 */
#ifndef SL_OUT_JSON_H
#define SL_OUT_JSON_H

#include <jansson.h>

#include "out/out.h"

/* All return NULL when out of memory; sl_json_set() takes that and says so later. */
json_t *sl_json_text(const char *text);		/* escaped; null for NULL and "" */
json_t *sl_json_ns(uint64_t ns);		/* null for SL_TIME_NONE */
json_t *sl_json_id(int64_t id);			/* null below 0 */
json_t *sl_json_cell(const struct sl_cell *cell);

/* object[key] = value (stolen). 0, or -1 when either is NULL or memory is out. */
int sl_json_set(json_t *object, const char *key, json_t *value);
int sl_json_append(json_t *array, json_t *value);

/* Blocks that several documents have: who wrote it, and what a wait is in it. */
json_t *sl_json_tool(void);
json_t *sl_json_definition(const struct sl_report *report);

/* Print a wait with its segments on one line. 0 or -ENOMEM. */
int sl_json_print_wait(struct sl_out *out, const struct sl_wait *wait);

/* Print a value on one line and free it. 0 or -ENOMEM. */
int sl_json_print(struct sl_out *out, json_t *value);

#endif
