/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * The command to record: started early, held back until tracing is on.
 */
#ifndef SL_LIVE_COMMAND_H
#define SL_LIVE_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "util/err.h"

struct sl_command {
	pid_t pid;		/* 0: none, or it has been waited for */
	int pid_fd;		/* readable when it has ended; -1: the kernel has no pidfd (< 5.3) */
	int go_fd, result_fd;
	int status;		/* as of waitpid() */
};

/* Fork; the child waits for sl_command_go(). `mask` is the signal mask of the command. */
int sl_command_prepare(char *const *argv, const sigset_t *mask, struct sl_command *ret_command,
		       struct sl_err *err);
/* exec. -ENOENT and the like when that fails; the child is gone then. */
int sl_command_go(struct sl_command *command, const char *name, struct sl_err *err);
/* Has it ended? Fills status once. */
bool sl_command_ended(struct sl_command *command);
/* SIGTERM, then SIGKILL after two seconds; waits for the end. */
void sl_command_end(struct sl_command *command);
void sl_command_clear(struct sl_command *command);

#endif
