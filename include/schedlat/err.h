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
#ifndef SCHEDLAT_ERR_H
#define SCHEDLAT_ERR_H

enum sl_err_code {
	SL_EDATA = -4001,	/* the input is not something we can analyse */
	SL_EUNSUPP = -4002,	/* a known format or feature that is not supported */
	SL_EUSAGE = -4003,	/* a parameter is out of range or malformed */
	SL_ENOBACKEND = -4004,	/* the backend asked for by name does not work here: exit status 3 */
};

struct sl_err {
	char msg[1024];		/* UTF-8, no trailing newline; "" when unset */
};

#endif
