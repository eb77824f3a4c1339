// SPDX-License-Identifier: GPL-2.0-only
#include "cmds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "out/diff.h"
#include "tool.h"

#define CMD "diff"

static void on_progress(void *arg, unsigned int permille)
{
	sl_progress_update(arg, permille);
}

/* "f1,f2,f3" -> paths in one allocation, behind which the text lies. */
static int split(const char *text, const char *option, struct sl_diff_input *ret, struct sl_err *err)
{
	size_t len = strlen(text) + 1, nr = 1, i;
	const char **paths;
	char *copy;

	for (i = 0; i < len; i++)
		nr += text[i] == ',';
	if (nr > SL_DIFF_FILES_MAX)
		return sl_err_set(err, SL_EUSAGE, "%s has %zu recordings: at most %d", option, nr,
				  SL_DIFF_FILES_MAX);
	paths = malloc(nr * sizeof(*paths) + len);
	if (!paths)
		return sl_err_set(err, -ENOMEM, "out of memory");
	copy = memcpy(paths + nr, text, len);
	for (i = 0; i < nr; i++) {
		paths[i] = strsep(&copy, ",");
		if (!*paths[i]) {
			free(paths);
			return sl_err_set(err, SL_EUSAGE, "%s '%s': a name is empty", option, text);
		}
	}
	*ret = (struct sl_diff_input){ paths, (unsigned int)nr };
	return 0;
}

static int sides(const struct sl_options *options, struct sl_diff_params *params, struct sl_err *err)
{
	unsigned int i;
	int ret;

	if (options->side_a || options->side_b) {
		if (!options->side_a || !options->side_b)
			return sl_err_set(err, SL_EUSAGE, "--a and --b go together");
		if (options->nr_files)
			return sl_err_set(err, SL_EUSAGE, "%s: recordings are either arguments, or given by "
					  "--a and --b", options->files[0]);
		params->nr_sides = 2;
		ret = split(options->side_a, "--a", &params->sides[0], err);
		return ret ? ret : split(options->side_b, "--b", &params->sides[1], err);
	}
	if (options->nr_files < 2)
		return sl_err_set(err, SL_EUSAGE, "two recordings to compare are needed, not %u",
				  options->nr_files);
	if (options->nr_files > SL_DIFF_SIDES_MAX)
		return sl_err_set(err, SL_EUSAGE, "%u recordings: at most %d are compared with each other; "
				  "of one thing, give them with --a and --b", options->nr_files,
				  SL_DIFF_SIDES_MAX);
	params->nr_sides = options->nr_files;
	for (i = 0; i < params->nr_sides; i++)
		params->sides[i] = (struct sl_diff_input){ (const char *const *)&options->files[i], 1 };
	return 0;
}

static int print(struct sl_out *out, const struct sl_diff *diff, const struct sl_options *options)
{
	switch (options->format) {
	case SL_FORMAT_TEXT:
		return sl_out_diff_text(out, diff, &options->view);
	case SL_FORMAT_JSON:
		return sl_out_diff_json(out, diff);
	case SL_FORMAT_CSV:
		return sl_out_diff_csv(out, diff, &options->view);
	}
	return 0;
}

int cmd_diff(int argc, char **argv)
{
	struct sl_out out = sl_tool_stdout();
	struct sl_diff_params params = { .nr_sides = 0 };
	struct sl_diff *diff = NULL;
	struct sl_err err = { .msg = "" };
	struct sl_progress progress;
	struct sl_options options;
	int ret;

	ret = sl_options_parse(SL_OPTIONS_DIFF, argc, argv, &options, &err);
	if (ret < 0)
		return sl_tool_fail(CMD, ret, &err);
	if (options.help) {
		sl_options_help(SL_OPTIONS_DIFF, stdout);
		sl_options_release(&options);
		return sl_tool_finish(CMD, 0);
	}
	sl_progress_start(&progress, options.quiet);
	options.params.on_progress = on_progress;
	options.params.arg = &progress;
	params.report = options.params;
	params.tail = options.tail;
	ret = sides(&options, &params, &err);
	if (!ret)
		ret = sl_diff_run(&params, &diff, &err);
	sl_progress_end(&progress);
	if (!ret)
		ret = print(&out, diff, &options);
	sl_diff_free(diff);
	if (options.side_a)
		for (unsigned int i = 0; i < 2; i++)
			free((void *)params.sides[i].paths);
	sl_options_release(&options);
	if (ret < 0)
		return sl_tool_fail(CMD, ret, &err);
	return sl_tool_finish(CMD, 0);
}
