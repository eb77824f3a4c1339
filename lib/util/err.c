// SPDX-License-Identifier: LGPL-2.1-only
#include "util/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int sl_err_set(struct sl_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return code;
}

int sl_err_add(struct sl_err *err, int code, const char *fmt, ...)
{
	char prefix[256], tail[sizeof(err->msg)];
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(prefix, sizeof(prefix), fmt, ap);
	va_end(ap);
	memcpy(tail, err->msg, sizeof(tail));
	if (snprintf(err->msg, sizeof(err->msg), "%s: %s", prefix, tail) < 0)
		err->msg[0] = '\0';
	return code;
}

int sl_err_exit_status(int code)
{
	switch (code) {
	case SL_EDATA:
	case SL_EUNSUPP:
		return 2;
	case SL_ENOBACKEND:
		return 3;
	case SL_EUSAGE:
		return 129;
	}
	return code < 0 ? 1 : 0;
}
