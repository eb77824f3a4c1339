// SPDX-License-Identifier: GPL-2.0-only
#include "tool.h"

#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "out/fmt.h"
#include "util/err.h"

#define PROGRESS_AFTER_S 2.0

int sl_tool_fail(const char *cmd, int code, const struct sl_err *err)
{
	char line[4 * sizeof(err->msg)];

	/* A message names files, and a file name may hold anything. */
	sl_fmt_escape(line, sizeof(line), err->msg[0] ? err->msg : strerror(code < 0 ? -code : EIO),
		      !strcmp(nl_langinfo(CODESET), "UTF-8"));
	fprintf(stderr, "schedlat %s: %s\n", cmd, line);
	return sl_err_exit_status(code);
}

struct sl_out sl_tool_stdout(void)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	struct sl_out out = {
		.file = stdout,
		.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
	};

	out.colour = isatty(STDOUT_FILENO) && (!no_color || !*no_color) && term && *term &&
		     strcmp(term, "dumb");
	return out;
}

int sl_tool_finish(const char *cmd, int status)
{
	bool failed = ferror(stdout);
	int error = failed ? errno : 0;

	if (fflush(stdout) || fclose(stdout)) {
		if (!failed || !error)
			error = errno;
		failed = true;
	}
	if (!failed)
		return status;
	if (error != EPIPE)
		fprintf(stderr, "schedlat %s: cannot write to standard output: %s\n", cmd,
			error ? strerror(error) : "unknown error");
	return status ? status : 1;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void sl_progress_start(struct sl_progress *progress, bool quiet)
{
	*progress = (struct sl_progress){
		.wanted = !quiet && isatty(STDERR_FILENO),
		.start_s = now_s(),
	};
}

void sl_progress_update(struct sl_progress *progress, unsigned int permille)
{
	double elapsed_s;

	if (!progress->wanted || (progress->shown && permille == progress->last_permille))
		return;
	elapsed_s = now_s() - progress->start_s;
	if (elapsed_s < PROGRESS_AFTER_S)
		return;
	progress->last_permille = permille;
	progress->shown = true;
	if (permille)
		fprintf(stderr, "\r\033[Kreading: %u %%, about %.0f s left", permille / 10,
			elapsed_s * (1000.0 - permille) / permille);
	else
		fprintf(stderr, "\r\033[Kreading");
	fflush(stderr);
}

void sl_progress_end(struct sl_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
