// SPDX-License-Identifier: GPL-2.0-only
#include "cmds.h"

#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "tool.h"

static void on_progress(void *arg, unsigned int permille)
{
	sl_progress_update(arg, permille);
}

static int print(struct sl_out *out, const struct sl_report *report, const struct sl_options *options)
{
	switch (options->format) {
	case SL_FORMAT_TEXT:
		return sl_out_report_text(out, report, &options->view);
	case SL_FORMAT_JSON:
		return sl_out_report_json(out, report, &options->view);
	case SL_FORMAT_CSV:
		return sl_out_report_csv(out, report, &options->view);
	}
	return 0;
}

int cmd_report(int argc, char **argv)
{
	struct sl_out out = sl_tool_stdout();
	struct sl_report *report = NULL;
	struct sl_err err = { .msg = "" };
	struct sl_progress progress;
	struct sl_options options;
	int ret;

	ret = sl_options_parse(SL_OPTIONS_REPORT, argc, argv, &options, &err);
	if (ret < 0)
		return sl_tool_fail("report", ret, &err);
	if (options.help) {
		sl_options_help(SL_OPTIONS_REPORT, stdout);
		sl_options_release(&options);
		return sl_tool_finish("report", 0);
	}
	sl_progress_start(&progress, options.quiet);
	options.params.on_progress = on_progress;
	options.params.arg = &progress;
	ret = sl_report_run(&options.params, &report, &err);
	sl_progress_end(&progress);
	if (!ret)
		ret = print(&out, report, &options);
	sl_report_free(report);
	sl_options_release(&options);
	if (ret < 0)
		return sl_tool_fail("report", ret, &err);
	return sl_tool_finish("report", 0);
}
