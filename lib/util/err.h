/* SPDX-License-Identifier: LGPL-2.1-only */
/* How the library fills in a struct sl_err. Nothing in lib/ prints or exits. */
#ifndef SL_UTIL_ERR_H
#define SL_UTIL_ERR_H

#include "schedlat/err.h"

/* Set the message (replacing any) and return code, so that callers can `return sl_err_set(...)`. */
int sl_err_set(struct sl_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "prefix: " in front of the message that a callee left, return code. */
int sl_err_add(struct sl_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The exit status that a tool should use for a code: 0, 1, 2, 3 or 129. */
int sl_err_exit_status(int code);

#endif
