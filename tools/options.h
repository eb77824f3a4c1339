/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options of the commands that read a recording: argv in, parameters out. The
 * parser opens nothing and prints nothing, so tests can call it.
 */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <stdbool.h>

#include "out/export.h"
#include "out/out.h"
#include "schedlat/report.h"

#define SL_DEFAULT_FILE "schedlat.dat"

enum sl_options_cmd { SL_OPTIONS_REPORT = 1, SL_OPTIONS_TIMEHIST = 2, SL_OPTIONS_EXPORT = 4,
		      SL_OPTIONS_DIFF = 8 };
enum sl_options_format { SL_FORMAT_TEXT, SL_FORMAT_JSON, SL_FORMAT_CSV };

struct sl_options {
	struct sl_report_params params;
	struct sl_out_view view;
	enum sl_options_format format;
	const struct sl_exporter *exporter;	/* export; never NULL there */
	const char *output;			/* export; NULL or "-": standard output */
	bool help, quiet;
	const char *side_a, *side_b;	/* diff: --a and --b, with commas */
	double tail;			/* diff: the quantile above which the tail begins */
	char *const *files;		/* diff: the arguments that are no options */
	unsigned int nr_files;

	/* What params and view point into. */
	int32_t *pids, *tids;
	uint8_t *cpus;
	char separator[16];
	char **args;		/* argv in the order of the parser */
	char **rewritten;	/* arguments that stand for others, as --why-p999 does */
	unsigned int nr_rewritten;
};

/*
 * Parse the options of cmd; argv[0] is skipped. With help set nothing else is
 * checked. Errors: SL_EUSAGE, -ENOMEM. ret_options is released by the caller on
 * success only; it must not be moved (params and view point into it).
 */
int sl_options_parse(enum sl_options_cmd cmd, int argc, char *const *argv,
		     struct sl_options *ret_options, struct sl_err *err);
void sl_options_release(struct sl_options *options);

/* The help text of cmd, from the table that the parser uses. */
void sl_options_help(enum sl_options_cmd cmd, FILE *file);

/* "0-3,7" -> a flag per CPU (of SL_CPU_MAX); SL_EUSAGE says what is wrong. */
int sl_parse_cpus(const char *text, uint8_t *ret_cpus, struct sl_err *err);
/* "12,34" -> ids above 0, allocated; `what` names them in the message. */
int sl_parse_ids(const char *text, const char *what, int32_t **ret_ids, unsigned int *ret_nr,
		 struct sl_err *err);
/* The separator of -x; a backslash and a t mean a tab. */
int sl_parse_separator(const char *text, char *ret_separator, size_t size, struct sl_err *err);

#endif
