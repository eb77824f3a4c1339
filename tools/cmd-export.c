// SPDX-License-Identifier: GPL-2.0-only
#include "cmds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "out/export.h"
#include "tool.h"

struct export {
	struct sl_out out;
	const struct sl_options *options;
	const struct sl_exporter *exporter;
	struct sl_progress progress;
	void *state;
	char *temporary;	/* what becomes options->output when all went well; NULL: written at once */
	int error;
};

/* ---- where it goes ---- */

static int no_output(const struct export *export, struct sl_err *err)
{
	int error = errno;

	return sl_err_set(err, -error, "cannot write %s: %s", export->options->output, strerror(error));
}

/*
 * A file appears under its name when it is whole: what was there stays if the recording
 * turns out unusable. Devices, pipes and links are written as they are.
 */
static int open_file(struct export *export, struct sl_err *err)
{
	const char *path = export->options->output;
	struct stat link, target, input;
	bool exists = !lstat(path, &link);
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	if (!stat(path, &target) && !stat(export->options->params.path, &input) &&
	    input.st_dev == target.st_dev && input.st_ino == target.st_ino)
		return sl_err_set(err, SL_EUSAGE, "-o %s is the recording itself: choose another name", path);
	if (exists && !S_ISREG(link.st_mode)) {
		export->out.file = fopen(path, "w");
		return export->out.file ? 0 : no_output(export, err);
	}
	if (asprintf(&export->temporary, "%s.XXXXXX", path) < 0) {
		export->temporary = NULL;
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	fd = mkstemp(export->temporary);
	if (fd < 0) {
		int ret = no_output(export, err);

		free(export->temporary);
		export->temporary = NULL;
		return ret;
	}
	fchmod(fd, exists ? link.st_mode & 07777 : 0666 & ~mask);
	export->out.file = fdopen(fd, "w");
	return export->out.file ? 0 : no_output(export, err);
}

static bool to_stdout(const struct sl_options *options)
{
	return !options->output || !strcmp(options->output, "-");
}

/* Late, so that an input that cannot be used leaves nothing behind. */
static int open_output(struct export *export, struct sl_err *err)
{
	int ret;

	if (export->state)
		return 0;
	sl_progress_end(&export->progress);
	if (!to_stdout(export->options)) {
		ret = open_file(export, err);
		if (ret)
			return ret;
	}
	ret = export->exporter->begin(&export->out, &export->options->view, &export->state);
	return ret ? sl_err_set(err, ret, "out of memory") : 0;
}

/* status: of all that came before. Returns it, or what went wrong now. */
static int close_output(struct export *export, int status, struct sl_err *err)
{
	FILE *file = export->out.file;
	bool failed;

	if (to_stdout(export->options))
		return status;
	failed = file && ferror(file);
	failed |= file && fclose(file);
	if (failed && !status)
		status = no_output(export, err);
	if (!status && export->temporary && rename(export->temporary, export->options->output))
		status = no_output(export, err);
	if (status && export->temporary)
		unlink(export->temporary);
	free(export->temporary);
	return status;
}

/* ---- the waits ---- */

struct streaming {
	struct export *export;
	struct sl_err *err;
};

static void on_progress(void *arg, unsigned int permille)
{
	struct streaming *s = arg;

	if (!s->export->state || !to_stdout(s->export->options))
		sl_progress_update(&s->export->progress, permille);
}

static void on_wait(void *arg, const struct sl_wait *wait)
{
	struct streaming *s = arg;
	struct export *export = s->export;

	if (!export->error)
		export->error = open_output(export, s->err);
	if (export->error || ferror(export->out.file))
		return;
	export->error = export->exporter->wait(export->state, wait);
	if (export->error)
		sl_err_set(s->err, export->error, "out of memory");
}

static int by_end(const void *a, const void *b)
{
	const struct sl_wait *x = *(const struct sl_wait *const *)a, *y = *(const struct sl_wait *const *)b;
	uint64_t x_end = x->start_ns + x->delay_ns, y_end = y->start_ns + y->delay_ns;

	if (x_end != y_end)
		return x_end < y_end ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Those that the report kept come longest first. */
static int pass_kept_waits(struct streaming *s, const struct sl_report *report)
{
	const struct sl_why *why = &report->why;
	const struct sl_wait **waits = malloc((why->nr_waits + 1) * sizeof(*waits));
	unsigned int i;

	if (!waits)
		return sl_err_set(s->err, -ENOMEM, "out of memory");
	for (i = 0; i < why->nr_waits; i++)
		waits[i] = &why->waits[i];
	qsort(waits, why->nr_waits, sizeof(*waits), by_end);
	for (i = 0; i < why->nr_waits && !s->export->error; i++)
		on_wait(s, waits[i]);
	free(waits);
	return s->export->error;
}

static int run(struct export *export, struct sl_err *err)
{
	struct sl_report_params params = export->options->params;
	struct streaming s = { export, err };
	bool kept = params.why.mode == SL_WHY_QUANTILE, takes = export->exporter->wait != NULL;
	struct sl_report *report = NULL;
	int ret;

	params.on_progress = on_progress;
	params.arg = &s;
	if (takes && !kept) {
		params.on_wait = on_wait;
		params.on_wait_min_ns = params.why.at_least_ns;
		params.why.mode = SL_WHY_NONE;
	}
	ret = sl_report_run(&params, &report, err);
	sl_progress_end(&export->progress);
	if (!ret)
		ret = export->error;
	if (!ret && takes && kept)
		ret = pass_kept_waits(&s, report);
	if (!ret)
		ret = open_output(export, err);
	if (!ret)
		ret = export->exporter->finish(export->state, report, err);
	if (export->state)
		export->exporter->end(export->state);
	sl_report_free(report);
	return ret;
}

int cmd_export(int argc, char **argv)
{
	struct export export = { .out = sl_tool_stdout() };
	struct sl_err err = { .msg = "" };
	struct sl_options options;
	int ret;

	ret = sl_options_parse(SL_OPTIONS_EXPORT, argc, argv, &options, &err);
	if (ret < 0)
		return sl_tool_fail("export", ret, &err);
	if (options.help) {
		sl_options_help(SL_OPTIONS_EXPORT, stdout);
		sl_options_release(&options);
		return sl_tool_finish("export", 0);
	}
	export.options = &options;
	export.exporter = options.exporter;
	if (options.exporter->binary && to_stdout(&options) && isatty(STDOUT_FILENO)) {
		ret = sl_err_set(&err, SL_EUSAGE, "%s is binary and not for a terminal: write it to a "
				 "file with -o FILE", options.exporter->name);
	} else {
		if (!to_stdout(&options))
			export.out.file = NULL;
		sl_progress_start(&export.progress, options.quiet);
		ret = run(&export, &err);
		ret = close_output(&export, ret, &err);
	}
	sl_options_release(&options);
	if (ret < 0)
		return sl_tool_fail("export", ret, &err);
	return sl_tool_finish("export", 0);
}
