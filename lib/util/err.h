/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Errors: a negative code plus one message.
 *
 * A function that can fail for more than one reason returns int: 0 or a
 * positive value on success, a negative code on failure, and takes an optional
 * struct sl_err that receives one line saying what was attempted, on what, why
 * it failed and what to do. Codes are either -errno (the system refused: exit
 * status 1) or one of enum sl_err_code (the data is not usable: exit status 2).
 *
 * Nothing in lib/ prints or exits. err may be NULL everywhere.
 */
#ifndef SL_UTIL_ERR_H
#define SL_UTIL_ERR_H

enum sl_err_code {
	SL_EDATA = -4001,	/* the input is not something we can analyse */
	SL_EUNSUPP = -4002,	/* a known format or feature that is not supported */
	SL_EUSAGE = -4003,	/* a parameter is out of range or malformed */
	SL_ENOBACKEND = -4004,	/* the backend asked for by name does not work here: exit status 3 */
};

struct sl_err {
	char msg[1024];		/* UTF-8, no trailing newline; "" when unset */
};

/* Set the message (replacing any) and return code, so that callers can `return sl_err_set(...)`. */
int sl_err_set(struct sl_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put "prefix: " in front of the message that a callee left, return code. */
int sl_err_add(struct sl_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The exit status that a tool should use for a code: 0, 1, 2, 3 or 129. */
int sl_err_exit_status(int code);

#endif
