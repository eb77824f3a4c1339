/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands. Each is one file, cmd-NAME.c, and one line of the table in
 * schedlat.c. argv[0] is the command's name; the return value is the exit
 * status: 0 ok, 1 failed, 2 data unusable, 3 backend asked for by name does not
 * work, 129 usage.
 */
#ifndef TOOLS_CMDS_H
#define TOOLS_CMDS_H

int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_timehist(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_bugreport(int argc, char **argv);
int cmd_slice(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_list(int argc, char **argv);

#endif
