// SPDX-License-Identifier: GPL-2.0-only
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "out/table.h"
#include "out/text.h"
#include "util/time.h"
#include "util/err.h"

#define REPORT SL_OPTIONS_REPORT
#define TIMEHIST SL_OPTIONS_TIMEHIST
#define EXPORT SL_OPTIONS_EXPORT
#define DIFF SL_OPTIONS_DIFF
#define BOTH (REPORT | TIMEHIST)
#define ALL (BOTH | EXPORT | DIFF)

#define MAX_SEGMENTS 64	/* with more, a text report adds up those of one cause and task */
#define PAGE_WAITS 500	/* of so many a page of export lists the segments, unless -n says otherwise */
#define DETAIL_WAITS 32	/* of so many worst waits a text report keeps the segments */

enum { OPT_COMM = 256, OPT_TIME, OPT_FIELDS, OPT_WHY, OPT_FROM, OPT_WAITS, OPT_BY, OPT_EXACT,
       OPT_THREADS, OPT_ALL, OPT_ABOVE, OPT_FORMAT, OPT_A, OPT_B, OPT_TAIL };

struct option_desc {
	const char *name;	/* NULL: only a short form */
	int value;		/* the letter of the short form, or OPT_* */
	int has_arg;
	const char *arg;
	unsigned int cmds;
	const char *help;
};

static const struct option_desc descs[] = {
	{ "a", OPT_A, required_argument, "FILE[,FILE]", DIFF, "the recordings to compare with, of one thing" },
	{ "b", OPT_B, required_argument, "FILE[,FILE]", DIFF, "the recordings to compare, of another" },
	{ "input", 'i', required_argument, "FILE", BOTH | EXPORT, "recording to read (also as an argument); default " SL_DEFAULT_FILE },
	{ "why", OPT_WHY, optional_argument, "SPEC", REPORT, "explain the waits above p99.9 (default), another pNN, max, or of at least 500us; p99.9 may also be written --why-p999" },
	{ "format", OPT_FORMAT, required_argument, "FORMAT", EXPORT, "perfetto, html, folded, csv or jsonl" },
	{ "output", 'o', required_argument, "FILE", EXPORT, "write to FILE; default standard output" },
	{ "why", OPT_WHY, optional_argument, "SPEC", EXPORT, "only the waits above p99.9, another pNN, max, or of at least 500us; p99.9 may also be written --why-p999; default all, html: above p99" },
	{ "threshold", 'T', required_argument, "TIME", EXPORT, "only the waits of at least TIME (same as --why=TIME)" },
	{ "threshold", 'T', required_argument, "TIME", REPORT, "explain the waits of at least TIME (same as --why=TIME)" },
	{ "threshold", 'T', required_argument, "TIME", TIMEHIST, "same as --above" },
	{ "above", OPT_ABOVE, required_argument, "TIME", TIMEHIST, "only waits of at least TIME" },
	{ NULL, 'n', required_argument, "N", REPORT, "print the N worst waits instant by instant; default 10" },
	{ NULL, 'n', required_argument, "N", EXPORT, "html: list the N longest of the chosen waits; default 500" },
	{ NULL, 'n', required_argument, "N", DIFF, "print the N groups with most waits; default 10" },
	{ "tail", OPT_TAIL, required_argument, "PNN", DIFF, "tell what the waits above this percentile are made of; default p99.9" },
	{ "histogram", 'H', no_argument, NULL, REPORT, "draw the distribution (of all tasks together unless --by says otherwise)" },
	{ "by", OPT_BY, required_argument, "WHAT", REPORT, "a row per tid (default), comm, tgid, cgroup, class, or all" },
	{ "by", OPT_BY, required_argument, "WHAT", EXPORT, "html: a row per comm (default), tid, tgid, cgroup, class, or all" },
	{ "by", OPT_BY, required_argument, "WHAT", DIFF, "match comm (default), tid, tgid, cgroup, class, or compare all" },
	{ "sort", 's', required_argument, "KEY[,KEY]", REPORT, "sort the rows: numbers largest first (schedlat list columns)" },
	{ "fields", OPT_FIELDS, required_argument, "NAME[,NAME]", BOTH | DIFF, "choose the columns (schedlat list columns)" },
	{ "fields", OPT_FIELDS, required_argument, "NAME[,NAME]", EXPORT, "csv: choose the columns (schedlat list columns)" },
	{ "json", 'j', no_argument, NULL, BOTH | DIFF, "JSON, times in ns: everything that is known" },
	{ "field-separator", 'x', required_argument, "SEP", BOTH | DIFF, "a table with this separator (CSV), times in ns" },
	{ "field-separator", 'x', required_argument, "SEP", EXPORT, "csv: between the fields; default a comma" },
	{ "from", OPT_FROM, required_argument, "EVENT", ALL, "a wait starts at waking (default: asked to wake) or wakeup (queued)" },
	{ "waits", OPT_WAITS, required_argument, "KIND[,KIND]", ALL, "wake (default), preempt, fork or all" },
	{ "pid", 'p', required_argument, "PID[,PID]", ALL, "only these processes, all their threads" },
	{ "tid", 't', required_argument, "TID[,TID]", ALL, "only these threads" },
	{ "comm", OPT_COMM, required_argument, "GLOB", ALL, "only tasks whose name matches" },
	{ "cpu", 'C', required_argument, "LIST", ALL, "only waits that ended on these CPUs: 0-3,7" },
	{ "cgroup", 'G', required_argument, "PATH", ALL, "only tasks of this cgroup and those below it" },
	{ "time", OPT_TIME, required_argument, "START,STOP", ALL, "only waits that end in this window, in seconds of the trace clock" },
	{ "all", OPT_ALL, no_argument, NULL, ALL, "every task, also where record had -p or -t" },
	{ "exact", OPT_EXACT, no_argument, NULL, REPORT | DIFF, "exact percentiles whatever memory they take" },
	{ "threads", OPT_THREADS, required_argument, "N", ALL, "2: read and analyse at the same time" },
	{ "verbose", 'v', no_argument, NULL, BOTH, "print all metadata of the recording" },
	{ "quiet", 'q', no_argument, NULL, ALL, "no progress line" },
	{ "help", 'h', no_argument, NULL, ALL, "this text" },
};
#define NR_DESCS (sizeof(descs) / sizeof(descs[0]))

static const char *cmd_name(enum sl_options_cmd cmd)
{
	return cmd == REPORT ? "report" : cmd == DIFF ? "diff" : cmd == EXPORT ? "export" : "timehist";
}

void sl_options_help(enum sl_options_cmd cmd, FILE *file)
{
	unsigned int i;

	if (cmd == REPORT)
		fputs("usage: schedlat report [options] [FILE]\n\n"
		      "How long tasks waited to run, and with --why what made them wait.\n\n", file);
	else if (cmd == DIFF)
		fputs("usage: schedlat diff [options] A B [C ...]\n"
		      "       schedlat diff [options] --a=A1,A2,... --b=B1,B2,...\n\n"
		      "Percentiles and causes side by side; is the difference more than noise?\n\n", file);
	else if (cmd == EXPORT)
		fputs("usage: schedlat export [options] [FILE]\n\n"
		      "The waits of a recording for other programs.\n\n", file);
	else
		fputs("usage: schedlat timehist [options] [FILE]\n\n"
		      "A line per wait, in the order they end.\n\n", file);
	for (i = 0; i < NR_DESCS; i++) {
		const struct option_desc *desc = &descs[i];
		struct sl_out out = { .file = file };
		struct sl_line line = { .used = 0 };
		char left[64] = "";
		int used = 0;

		if (!(desc->cmds & cmd))
			continue;
		if (desc->value < 256)
			used = snprintf(left, sizeof(left), "-%c%s", desc->value, desc->name ? ", " : " ");
		else
			used = snprintf(left, sizeof(left), "    ");
		if (desc->name)
			used += snprintf(left + used, sizeof(left) - (size_t)used, "--%s%s", desc->name,
					 desc->has_arg == optional_argument ? "[=" :
					 desc->has_arg == required_argument ? "=" : "");
		if (desc->arg)
			snprintf(left + used, sizeof(left) - (size_t)used, "%s%s", desc->arg,
				 desc->has_arg == optional_argument ? "]" : "");
		sl_line_add(&line, "%-30s %s", left, desc->help);
		sl_out_wrap(&out, 2, 33, line.text);
	}
	fputs("\nA time needs a unit: ns us ms s m h.\n"
	      "Exit status: 0 ok, 1 failed, 2 the data is not usable, 129 usage.\n", file);
}

static int parse_number(const char *text, const char *what, unsigned long max, unsigned long *ret,
			struct sl_err *err)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;
	if (!isdigit((unsigned char)*text) || *end || errno || value > max)
		return sl_err_set(err, SL_EUSAGE, "%s '%s' is not a number from 0 to %lu", what, text, max);
	*ret = value;
	return 0;
}

static int parse_tail(const char *text, double *ret, struct sl_err *err)
{
	struct sl_why_spec spec;

	if (sl_why_parse(text, &spec, NULL) < 0 || spec.mode != SL_WHY_QUANTILE)
		return sl_err_set(err, SL_EUSAGE, "--tail='%s' is not a percentile: write it like p99.9", text);
	*ret = spec.quantile;
	return 0;
}

int sl_parse_cpus(const char *text, uint8_t *ret_cpus, struct sl_err *err)
{
	uint8_t cpus[SL_CPU_MAX] = { 0 };
	const char *p = text;

	for (;;) {
		unsigned long first, last;
		char *end;

		if (!isdigit((unsigned char)*p))
			goto bad;
		first = last = strtoul(p, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				goto bad;
			last = strtoul(end + 1, &end, 10);
		}
		if (last < first || (*end && *end != ','))
			goto bad;
		if (last >= SL_CPU_MAX)
			return sl_err_set(err, SL_EUSAGE, "CPU list '%s': CPUs are 0 to %d", text,
					  SL_CPU_MAX - 1);
		memset(cpus + first, 1, last - first + 1);
		if (!*end)
			break;
		p = end + 1;
	}
	memcpy(ret_cpus, cpus, sizeof(cpus));
	return 0;
bad:
	return sl_err_set(err, SL_EUSAGE, "'%s' is not a list of CPUs: write it like 0-3,7", text);
}

int sl_parse_ids(const char *text, const char *what, int32_t **ret_ids, unsigned int *ret_nr,
		 struct sl_err *err)
{
	int32_t *ids = malloc((strlen(text) / 2 + 1) * sizeof(*ids));
	const char *p = text;
	unsigned int nr = 0;

	if (!ids)
		return sl_err_set(err, -ENOMEM, "out of memory");
	for (;;) {
		unsigned long value;
		char *end;

		errno = 0;
		value = isdigit((unsigned char)*p) ? strtoul(p, &end, 10) : 0;
		if (!value || errno || value > INT32_MAX || (*end && *end != ',')) {
			free(ids);
			return sl_err_set(err, SL_EUSAGE, "'%s' is not a list of %s ids: write it like 12,34",
					  text, what);
		}
		ids[nr++] = (int32_t)value;
		if (!*end)
			break;
		p = end + 1;
	}
	*ret_ids = ids;
	*ret_nr = nr;
	return 0;
}

static int parse_waits(const char *text, unsigned int *ret_waits, struct sl_err *err)
{
	const char *p = text;
	unsigned int waits = 0;

	for (;;) {
		size_t len = strcspn(p, ",");
		unsigned int kind, found = 0;

		if (len == 3 && !strncmp(p, "all", 3))
			found = (1u << SL_WAIT_NR) - 1;
		for (kind = 0; kind < SL_WAIT_NR; kind++)
			if (strlen(sl_wait_kind_name(kind)) == len &&
			    !strncmp(p, sl_wait_kind_name(kind), len))
				found = 1u << kind;
		if (!found)
			return sl_err_set(err, SL_EUSAGE,
					  "--waits='%s': valid are wake, preempt, fork and all", text);
		waits |= found;
		if (!p[len])
			break;
		p += len + 1;
	}
	*ret_waits = waits;
	return 0;
}

static int parse_by(const char *text, enum sl_by *ret_by, struct sl_err *err)
{
	static const char *const names[SL_BY_NR] = {
		[SL_BY_TID] = "tid", [SL_BY_COMM] = "comm", [SL_BY_TGID] = "tgid",
		[SL_BY_CGROUP] = "cgroup", [SL_BY_CLASS] = "class", [SL_BY_ALL] = "all",
	};
	unsigned int i;

	for (i = 0; i < SL_BY_NR; i++) {
		if (!strcmp(text, names[i])) {
			*ret_by = i;
			return 0;
		}
	}
	return sl_err_set(err, SL_EUSAGE, "--by='%s': valid are tid, comm, tgid, cgroup, class and all",
			  text);
}

int sl_parse_separator(const char *text, char *ret_separator, size_t size, struct sl_err *err)
{
	if (!strcmp(text, "\\t"))
		text = "\t";
	if (!*text || strlen(text) >= size || strpbrk(text, "\"\r\n"))
		return sl_err_set(err, SL_EUSAGE, "-x needs a separator of 1 to %zu bytes without quotes or "
				  "line ends", size - 1);
	strcpy(ret_separator, text);
	return 0;
}

static int parse_window(const char *text, struct sl_filter *filter, struct sl_err *err)
{
	uint64_t start_ns, stop_ns;
	int ret = sl_time_parse_window(text, &start_ns, &stop_ns, err);

	if (ret < 0)
		return ret;
	if (stop_ns == start_ns)
		return sl_err_set(err, SL_EUSAGE, "time window '%s' is empty", text);
	filter->time_start_ns = start_ns;
	filter->time_stop_ns = stop_ns == SL_TIME_NONE ? 0 : stop_ns;
	return 0;
}

/* --why-p999 says p99.9: the first two digits are percent, the others decimals. */
static int rewrite_why(const char *text, char **ret_text, struct sl_err *err)
{
	const char *digits = text + strlen("--why-p");
	size_t len = strlen(digits);
	char *copy;

	if (!len || digits[strspn(digits, "0123456789.")] || !strncmp(digits, "100", 3))
		return sl_err_set(err, SL_EUSAGE, "'%s' is no percentile: write --why-p999 or --why=p99.9",
				  text);
	if (strchr(digits, '.') || len <= 2)
		len = (size_t)asprintf(&copy, "--why=p%s", digits);
	else
		len = (size_t)asprintf(&copy, "--why=p%.2s.%s", digits, digits + 2);
	if (len == (size_t)-1)
		return sl_err_set(err, -ENOMEM, "out of memory");
	*ret_text = copy;
	return 0;
}

struct parse {
	enum sl_options_cmd cmd;
	struct sl_options *options;
	const char *sort, *fields;
	bool by_given, worst_given, from_csv, from_json;
	struct sl_err *err;
};

static int replace_ids(const char *text, const char *what, int32_t **ids, const int32_t **view,
		       unsigned int *nr, struct sl_err *err)
{
	int32_t *fresh;
	int ret = sl_parse_ids(text, what, &fresh, nr, err);

	if (ret < 0)
		return ret;
	free(*ids);
	*ids = fresh;
	*view = fresh;
	return 0;
}

static int apply(struct parse *parse, int value, const char *arg)
{
	struct sl_options *options = parse->options;
	struct sl_report_params *params = &options->params;
	struct sl_filter *filter = &params->filter;
	struct sl_err *err = parse->err;
	unsigned long number;
	int ret;

	switch (value) {
	case 'i':
		params->path = arg;
		return 0;
	case OPT_A:
		options->side_a = arg;
		return 0;
	case OPT_B:
		options->side_b = arg;
		return 0;
	case OPT_TAIL:
		return parse_tail(arg, &options->tail, err);
	case OPT_WHY:
		return sl_why_parse(arg ? arg : "p99.9", &params->why, err);
	case 'T':
	case OPT_ABOVE: {
		uint64_t ns;

		ret = sl_time_parse(arg, &ns, err);
		if (ret < 0)
			return ret;
		if (parse->cmd != TIMEHIST)
			return sl_why_parse(strcmp(arg, "0") ? arg : "0ns", &params->why, err);
		params->on_wait_min_ns = ns;
		return 0;
	}
	case 'n':
		ret = parse_number(arg, "-n", 1000000, &number, err);
		if (!ret)
			options->view.worst = (unsigned int)number;
		parse->worst_given = true;
		return ret;
	case 'H':
		options->view.histogram = true;
		return 0;
	case OPT_FORMAT:
		return sl_exporter_find(arg, &options->exporter, err);
	case 'o':
		options->output = arg;
		return 0;
	case OPT_BY:
		parse->by_given = true;
		return parse_by(arg, &params->by, err);
	case 's':
		parse->sort = arg;
		return 0;
	case OPT_FIELDS:
		parse->fields = arg;
		return 0;
	case 'j':
		parse->from_json = true;
		return 0;
	case 'x':
		parse->from_csv = true;
		return sl_parse_separator(arg, options->separator, sizeof(options->separator), err);
	case OPT_FROM:
		if (strcmp(arg, "waking") && strcmp(arg, "wakeup"))
			return sl_err_set(err, SL_EUSAGE, "--from='%s': valid are waking and wakeup", arg);
		params->from = strcmp(arg, "waking") ? SL_FROM_WAKEUP : SL_FROM_WAKING;
		return 0;
	case OPT_WAITS:
		return parse_waits(arg, &params->waits, err);
	case 'p':
		return replace_ids(arg, "process", &options->pids, &filter->pids, &filter->nr_pids, err);
	case 't':
		return replace_ids(arg, "thread", &options->tids, &filter->tids, &filter->nr_tids, err);
	case OPT_COMM:
		filter->comm_glob = arg;
		return 0;
	case 'C':
		if (!options->cpus)
			options->cpus = malloc(SL_CPU_MAX);
		if (!options->cpus)
			return sl_err_set(err, -ENOMEM, "out of memory");
		filter->cpus = options->cpus;
		return sl_parse_cpus(arg, options->cpus, err);
	case 'G':
		filter->cgroup = arg;
		return 0;
	case OPT_TIME:
		return parse_window(arg, filter, err);
	case OPT_ALL:
		filter->ignore_recorded_targets = true;
		return 0;
	case OPT_EXACT:
		params->exact = true;
		return 0;
	case OPT_THREADS:
		ret = parse_number(arg, "--threads", 2, &number, err);
		if (!ret && !number)
			ret = sl_err_set(err, SL_EUSAGE, "--threads takes 1 or 2, not 0");
		if (!ret)
			params->threads = (unsigned int)number;
		return ret;
	case 'v':
		options->view.verbose = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case 'h':
		options->help = true;
		return 0;
	}
	return sl_err_set(err, SL_EUSAGE, "unknown option");
}

/* export has one format, and options that only one of them knows. */
static int settle_export(struct parse *parse)
{
	struct sl_options *options = parse->options;
	struct sl_report_params *params = &options->params;
	bool csv = options->exporter == &sl_export_csv, html = options->exporter == &sl_export_html;

	if (!options->exporter)
		return sl_err_set(parse->err, SL_EUSAGE,
				  "which format? --format=perfetto, html, folded, csv or jsonl");
	if (!csv && (parse->fields || parse->from_csv))
		return sl_err_set(parse->err, SL_EUSAGE, "%s is for --format=csv",
				  parse->fields ? "--fields" : "-x");
	if (!html && (parse->by_given || parse->worst_given))
		return sl_err_set(parse->err, SL_EUSAGE, "%s is for --format=html",
				  parse->by_given ? "--by" : "-n");
	if (!parse->from_csv)
		strcpy(options->separator, ",");
	options->view.separator = options->separator;
	if (html) {
		if (params->why.mode == SL_WHY_NONE)
			sl_why_parse("p99", &params->why, NULL);
		if (!parse->by_given)
			params->by = SL_BY_COMM;
		params->detail_waits = parse->worst_given ? options->view.worst : PAGE_WAITS;
		params->max_segments = MAX_SEGMENTS;
	} else {
		/* A percentile is known at the end only; other waits are taken as they come. */
		params->detail_waits = params->why.mode == SL_WHY_QUANTILE ? UINT_MAX : 0;
	}
	if (parse->fields)
		return sl_column_list_parse(SL_SET_WAIT, parse->fields, &options->view.fields, parse->err);
	return 0;
}

/* Options that depend on each other are looked at when all are known. */
static int settle(struct parse *parse)
{
	struct sl_options *options = parse->options;
	struct sl_report_params *params = &options->params;
	bool why = params->why.mode != SL_WHY_NONE;
	enum sl_column_set fields = SL_SET_GROUP, sort = SL_SET_GROUP;
	int ret = 0;

	if (parse->cmd == EXPORT)
		return settle_export(parse);
	if (parse->from_json && parse->from_csv)
		return sl_err_set(parse->err, SL_EUSAGE, "-j and -x exclude each other");
	options->format = parse->from_json ? SL_FORMAT_JSON :
			  parse->from_csv ? SL_FORMAT_CSV : SL_FORMAT_TEXT;
	if (parse->fields && options->format == SL_FORMAT_JSON)
		return sl_err_set(parse->err, SL_EUSAGE, "--fields is for text and -x: JSON has every key");
	if (parse->cmd == DIFF) {
		fields = SL_SET_DIFF;
		if (parse->fields && options->format != SL_FORMAT_CSV)
			return sl_err_set(parse->err, SL_EUSAGE, "--fields of diff needs -x");
	} else if (parse->cmd == TIMEHIST) {
		fields = SL_SET_WAIT;
		if (parse->fields && options->format != SL_FORMAT_CSV)
			return sl_err_set(parse->err, SL_EUSAGE, "--fields of timehist needs -x");
	} else if (options->format == SL_FORMAT_CSV && options->view.histogram) {
		fields = SL_SET_BUCKET;
	} else if (options->format == SL_FORMAT_CSV && why) {
		fields = sort = SL_SET_CAUSE;
	}
	if (parse->fields)
		ret = sl_column_list_parse(fields, parse->fields, &options->view.fields, parse->err);
	if (!ret && parse->sort)
		ret = sl_column_list_parse(sort, parse->sort, &options->view.sort, parse->err);
	if (ret < 0)
		return ret;
	if (options->view.histogram && !parse->by_given)
		params->by = SL_BY_ALL;
	params->max_segments = options->format == SL_FORMAT_JSON ? 0 : MAX_SEGMENTS;
	if (why)
		params->detail_waits = options->format == SL_FORMAT_JSON ? UINT_MAX :
				       options->format == SL_FORMAT_CSV ? 0 :
				       options->view.worst > DETAIL_WAITS ? options->view.worst :
				       DETAIL_WAITS;
	options->view.separator = options->separator;
	return 0;
}

static int bad_option(enum sl_options_cmd cmd, int found, const char *text, struct sl_err *err)
{
	unsigned int i;

	for (i = 0; i < NR_DESCS; i++) {
		if (!(descs[i].cmds & cmd) || descs[i].value != optopt || !optopt)
			continue;
		if (found == ':')
			return sl_err_set(err, SL_EUSAGE, "option %s needs an argument: %s", text,
					  descs[i].arg);
		return sl_err_set(err, SL_EUSAGE, "option %s takes no argument", text);
	}
	if (optopt && optopt < 256)
		return sl_err_set(err, SL_EUSAGE, "unknown option -%c (schedlat %s -h lists them)", optopt,
				  cmd_name(cmd));
	return sl_err_set(err, SL_EUSAGE, "unknown or ambiguous option %s (schedlat %s -h lists them)", text,
			  cmd_name(cmd));
}

static int scan(struct parse *parse, int argc, char **argv)
{
	struct option longs[NR_DESCS + 1];
	char shorts[3 * NR_DESCS + 2] = ":";
	unsigned int i, nr = 0;
	int found, ret = 0;
	char *p = shorts + 1;

	memset(longs, 0, sizeof(longs));
	for (i = 0; i < NR_DESCS; i++) {
		if (!(descs[i].cmds & parse->cmd))
			continue;
		if (descs[i].name)
			longs[nr++] = (struct option){ descs[i].name, descs[i].has_arg, NULL,
						       descs[i].value };
		if (descs[i].value < 256) {
			*p++ = (char)descs[i].value;
			if (descs[i].has_arg)
				*p++ = ':';
		}
	}
	*p = '\0';
	optind = 0;	/* start over, whoever used getopt before */
	opterr = 0;
	while (!ret && !parse->options->help &&
	       (found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (found == '?' || found == ':')
			return bad_option(parse->cmd, found, argv[optind - 1], parse->err);
		ret = apply(parse, found, optarg);
	}
	if (ret < 0 || parse->options->help)
		return ret;
	if (parse->cmd == DIFF) {
		parse->options->files = argv + optind;
		parse->options->nr_files = (unsigned int)(argc - optind);
		return settle(parse);
	}
	if (optind < argc && parse->options->params.path)
		return sl_err_set(parse->err, SL_EUSAGE, "both -i %s and %s: one file at a time",
				  parse->options->params.path, argv[optind]);
	if (argc - optind > 1)
		return sl_err_set(parse->err, SL_EUSAGE, "more than one file: %s and %s", argv[optind],
				  argv[optind + 1]);
	if (optind < argc)
		parse->options->params.path = argv[optind];
	if (!parse->options->params.path)
		parse->options->params.path = SL_DEFAULT_FILE;
	return settle(parse);
}

int sl_options_parse(enum sl_options_cmd cmd, int argc, char *const *argv,
		     struct sl_options *ret_options, struct sl_err *err)
{
	struct parse parse = { .cmd = cmd, .options = ret_options, .err = err };
	char **args = calloc((size_t)argc + 1, sizeof(*args));
	bool options_end = false;
	int i, ret = 0;

	*ret_options = (struct sl_options){
		.params.waits = 1u << SL_WAIT_WAKE,
		.params.by = cmd == DIFF ? SL_BY_COMM : SL_BY_TID,
		.view.worst = 10,
		.tail = 0.999,
		.args = args,	/* getopt_long() puts them in order, for files */
	};
	ret_options->rewritten = calloc((size_t)argc + 1, sizeof(char *));
	if (!args || !ret_options->rewritten)
		ret = sl_err_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < argc && !ret; i++) {
		args[i] = argv[i];
		options_end |= !strcmp(argv[i], "--");
		if (cmd == TIMEHIST || options_end || !i || strncmp(argv[i], "--why-p", 7))
			continue;
		ret = rewrite_why(argv[i], &args[i], err);
		if (!ret)
			ret_options->rewritten[ret_options->nr_rewritten++] = args[i];
	}
	if (!ret)
		ret = scan(&parse, argc, args);
	if (ret < 0)
		sl_options_release(ret_options);
	return ret;
}

void sl_options_release(struct sl_options *options)
{
	while (options->nr_rewritten)
		free(options->rewritten[--options->nr_rewritten]);
	free(options->rewritten);
	options->rewritten = NULL;
	free(options->args);
	options->args = NULL;
	free(options->pids);
	free(options->tids);
	free(options->cpus);
	options->pids = options->tids = NULL;
	options->cpus = NULL;
}
