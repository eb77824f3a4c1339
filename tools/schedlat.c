// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedlat: which scheduler policy decision made this task wait?
 *
 * To add a command: write cmd-NAME.c, declare it in cmds.h, add a row here.
 */
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cmds.h"
#include "tool.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "record", cmd_record, "record what the scheduler does while a command runs" },
	{ "report", cmd_report, "how long tasks waited, and what made the worst ones wait" },
	{ "timehist", cmd_timehist, "a line per wait" },
	{ "top", cmd_top, "who waits now, how long and why: live" },
	{ "export", cmd_export, "the waits for a viewer, a flame graph, a spreadsheet, a script" },
	{ "diff", cmd_diff, "percentiles and causes of two recordings side by side" },
	{ "bugreport", cmd_bugreport, "a mail for maintainers, and a small trace that explains its waits" },
	{ "slice", cmd_slice, "show and set the slices of running threads" },
	{ "check", cmd_check, "what this kernel lets us see, and what that disables" },
	{ "list", cmd_list, "causes, events, columns" },
};
#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *file)
{
	unsigned int i;

	fputs("usage: schedlat COMMAND [options]\n\n"
	      "Which scheduler decision made this task wait?\n\n", file);
	for (i = 0; i < NR_COMMANDS; i++)
		fprintf(file, "  %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\n  schedlat record -- COMMAND     writes schedlat.dat (trace-cmd and KernelShark open it)\n"
	      "  schedlat report --why-p999     which decision made the waits above P99.9\n"
	      "  schedlat help COMMAND          the options of a command\n"
	      "  schedlat --version             with the versions of the libraries\n", file);
}

static void print_version(void)
{
	const char *name, *version;
	unsigned int i;

	printf("schedlat %s\n", sl_out_version());
	for (i = 0; (name = sl_out_library(i, &version)); i++)
		printf("  %s %s\n", name, version);
	fputs("  reads: trace.dat version 6 and 7 (plain, zlib, zstd), text traces\n"
	      "  records: tracefs\n", stdout);
}

static const struct command *find(const char *name)
{
	unsigned int i;

	for (i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

#define TYPED_MAX 24	/* longer words are nobody's typing error */

/* Edits (insert, delete, replace, swap of neighbours) between two short words. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int d[TYPED_MAX + 1][TYPED_MAX + 1];
	unsigned int la = (unsigned int)strlen(a), lb = (unsigned int)strlen(b), i, j;

	if (la > TYPED_MAX || lb > TYPED_MAX)
		return UINT_MAX;
	for (i = 0; i <= la; i++) {
		for (j = 0; j <= lb; j++) {
			unsigned int best;

			if (!i || !j) {
				d[i][j] = i + j;
				continue;
			}
			best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	}
	return d[la][lb];
}

static int unknown_command(const char *name)
{
	const struct command *nearest = NULL;
	unsigned int i, best = 4;	/* farther apart than three edits is no suggestion */
	char shown[128];

	for (i = 0; i < NR_COMMANDS; i++) {
		unsigned int edits = distance(name, commands[i].name);

		if (edits < best && edits < strlen(commands[i].name)) {
			best = edits;
			nearest = &commands[i];
		}
	}
	snprintf(shown, sizeof(shown), "%.100s", name);
	if (nearest)
		fprintf(stderr, "schedlat: '%s' is no command; did you mean '%s'?\n", shown,
			nearest->name);
	else
		fprintf(stderr, "schedlat: '%s' is no command (schedlat help lists them)\n", shown);
	return 129;
}

static int help(int argc, char **argv)
{
	const struct command *command;
	char *args[] = { NULL, (char *)"--help", NULL };

	if (argc < 2) {
		usage(stdout);
		return sl_tool_finish("help", 0);
	}
	command = find(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	args[0] = argv[1];
	return command->run(2, args);
}

int main(int argc, char **argv)
{
	const struct command *command;

	/* Only what a character is: a decimal comma has no place in tables and CSV. */
	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		usage(stderr);
		return 129;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		print_version();
		return sl_tool_finish("version", 0);
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(argc - 1, argv + 1);
	command = find(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	return command->run(argc - 1, argv + 1);
}
