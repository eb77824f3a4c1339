// SPDX-License-Identifier: GPL-2.0-only
#include "cmds.h"

#include <string.h>

#include "tool.h"
#include "util/err.h"

static const struct {
	const char *name;
	int (*print)(struct sl_out *out, bool json);
	const char *help;
} lists[] = {
	{ "causes", sl_out_list_causes, "what can hold a task, or send it to the wrong CPU" },
	{ "events", sl_out_list_events, "the tracepoints that are recorded and read" },
	{ "columns", sl_out_list_columns, "what -s and --fields take" },
};
#define NR_LISTS (sizeof(lists) / sizeof(lists[0]))

static void help(void)
{
	unsigned int i;

	fputs("usage: schedlat list [-j] causes|events|columns\n\n", stdout);
	for (i = 0; i < NR_LISTS; i++)
		printf("  %-10s %s\n", lists[i].name, lists[i].help);
	fputs("\n  -j, --json  as JSON\n  -h, --help  this text\n", stdout);
}

int cmd_list(int argc, char **argv)
{
	struct sl_out out = sl_tool_stdout();
	struct sl_err err = { .msg = "" };
	const char *what = NULL;
	bool json = false;
	unsigned int i;
	int a, ret;

	for (a = 1; a < argc; a++) {
		if (!strcmp(argv[a], "-h") || !strcmp(argv[a], "--help")) {
			help();
			return sl_tool_finish("list", 0);
		}
		if (!strcmp(argv[a], "-j") || !strcmp(argv[a], "--json")) {
			json = true;
		} else if (*argv[a] == '-') {
			sl_err_set(&err, SL_EUSAGE, "unknown option %s (schedlat list -h)", argv[a]);
			return sl_tool_fail("list", SL_EUSAGE, &err);
		} else if (what) {
			sl_err_set(&err, SL_EUSAGE, "one list at a time: %s or %s", what, argv[a]);
			return sl_tool_fail("list", SL_EUSAGE, &err);
		} else {
			what = argv[a];
		}
	}
	for (i = 0; what && i < NR_LISTS; i++)
		if (!strcmp(what, lists[i].name))
			break;
	if (!what || i == NR_LISTS) {
		sl_err_set(&err, SL_EUSAGE, "%s%s%swhich list: causes, events or columns?",
			   what ? "'" : "", what ? what : "", what ? "' is no list; " : "");
		return sl_tool_fail("list", SL_EUSAGE, &err);
	}
	ret = lists[i].print(&out, json);
	if (ret < 0)
		return sl_tool_fail("list", ret, &err);
	return sl_tool_finish("list", 0);
}
