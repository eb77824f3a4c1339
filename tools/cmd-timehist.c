// SPDX-License-Identifier: GPL-2.0-only
#include "cmds.h"

#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "out/text.h"
#include "tool.h"

struct timehist {
	struct sl_out out;
	const struct sl_options *options;
	struct sl_progress progress;
	bool head_done;
	int error;
};

static void on_progress(void *arg, unsigned int permille)
{
	struct timehist *timehist = arg;

	/* Lines on the same terminal are progress enough. */
	if (!timehist->head_done)
		sl_progress_update(&timehist->progress, permille);
}

/* Late, so that an input that turns out unusable leaves nothing on stdout. */
static void print_head(struct timehist *timehist)
{
	const struct sl_options *options = timehist->options;

	if (timehist->head_done)
		return;
	sl_progress_end(&timehist->progress);
	timehist->head_done = true;
	if (options->format == SL_FORMAT_TEXT)
		sl_out_timehist_head(&timehist->out, options->params.from, options->params.waits);
	else if (options->format == SL_FORMAT_CSV)
		sl_out_timehist_csv_head(&timehist->out, &options->view);
}

static void on_wait(void *arg, const struct sl_wait *wait)
{
	struct timehist *timehist = arg;
	int ret = 0;

	if (timehist->error || ferror(timehist->out.file))
		return;
	print_head(timehist);
	switch (timehist->options->format) {
	case SL_FORMAT_TEXT:
		ret = sl_out_timehist_line(&timehist->out, wait);
		break;
	case SL_FORMAT_JSON:
		ret = sl_out_timehist_json_line(&timehist->out, wait);
		break;
	case SL_FORMAT_CSV:
		ret = sl_out_timehist_csv_line(&timehist->out, wait, &timehist->options->view);
		break;
	}
	timehist->error = ret;
}

/* As perf does, what was lost stands under the table; with it what a wait is. */
static void print_foot(struct timehist *timehist, const struct sl_report *report)
{
	if (timehist->options->format != SL_FORMAT_TEXT)
		return;
	putc('\n', timehist->out.file);
	sl_text_head(&timehist->out, report, &timehist->options->view);
	sl_text_counters(&timehist->out, report);
}

int cmd_timehist(int argc, char **argv)
{
	struct timehist timehist = { .out = sl_tool_stdout() };
	struct sl_report *report = NULL;
	struct sl_err err = { .msg = "" };
	struct sl_options options;
	int ret;

	ret = sl_options_parse(SL_OPTIONS_TIMEHIST, argc, argv, &options, &err);
	if (ret < 0)
		return sl_tool_fail("timehist", ret, &err);
	if (options.help) {
		sl_options_help(SL_OPTIONS_TIMEHIST, stdout);
		sl_options_release(&options);
		return sl_tool_finish("timehist", 0);
	}
	timehist.options = &options;
	sl_progress_start(&timehist.progress, options.quiet);
	options.params.on_progress = on_progress;
	options.params.on_wait = on_wait;
	options.params.arg = &timehist;
	ret = sl_report_run(&options.params, &report, &err);
	sl_progress_end(&timehist.progress);
	if (!ret)
		ret = timehist.error;
	if (!ret) {
		print_head(&timehist);
		print_foot(&timehist, report);
	}
	sl_report_free(report);
	sl_options_release(&options);
	if (ret < 0)
		return sl_tool_fail("timehist", ret, &err);
	return sl_tool_finish("timehist", 0);
}
