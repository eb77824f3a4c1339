// SPDX-License-Identifier: LGPL-2.1-only
#include "live/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void child(char *const *argv, const sigset_t *mask, int go_fd, int result_fd)
{
	char go;
	int code;
	ssize_t n;

	do {
		n = read(go_fd, &go, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(0);	/* the recorder gave up */
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	code = errno;
	if (write(result_fd, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

int sl_command_prepare(char *const *argv, const sigset_t *mask, struct sl_command *ret_command,
		       struct sl_err *err)
{
	struct sl_command command = { .pid_fd = -1, .go_fd = -1, .result_fd = -1 };
	int go[2], result[2], code;

	if (pipe2(go, O_CLOEXEC) < 0)
		return sl_err_set(err, -errno, "cannot start '%s': pipe: %s", argv[0], strerror(errno));
	if (pipe2(result, O_CLOEXEC) < 0) {
		code = -errno;
		close(go[0]);
		close(go[1]);
		return sl_err_set(err, code, "cannot start '%s': pipe: %s", argv[0], strerror(-code));
	}
	command.pid = fork();
	if (!command.pid) {
		close(go[1]);
		close(result[0]);
		child(argv, mask, go[0], result[1]);
	}
	code = -errno;
	close(go[0]);
	close(result[1]);
	command.go_fd = go[1];
	command.result_fd = result[0];
	if (command.pid < 0) {
		command.pid = 0;
		sl_command_clear(&command);
		return sl_err_set(err, code, "cannot start '%s': fork: %s", argv[0], strerror(-code));
	}
#ifdef SYS_pidfd_open
	command.pid_fd = syscall(SYS_pidfd_open, command.pid, 0);
	if (command.pid_fd >= 0)
		fcntl(command.pid_fd, F_SETFD, FD_CLOEXEC);
#endif
	*ret_command = command;
	return 0;
}

int sl_command_go(struct sl_command *command, const char *name, struct sl_err *err)
{
	int code = 0;
	ssize_t n;

	do {
		n = write(command->go_fd, "g", 1);
	} while (n < 0 && errno == EINTR);
	/* Ends without a byte when the exec succeeds: the pipe is closed by it. */
	do {
		n = read(command->result_fd, &code, sizeof(code));
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(code))
		return 0;
	waitpid(command->pid, &command->status, 0);
	command->pid = 0;
	return sl_err_set(err, -code, "cannot run '%s': %s", name,
			  code == ENOENT ? "command not found" : strerror(code));
}

bool sl_command_ended(struct sl_command *command)
{
	if (command->pid && waitpid(command->pid, &command->status, WNOHANG) == command->pid)
		command->pid = 0;
	return !command->pid;
}

void sl_command_end(struct sl_command *command)
{
	if (command->go_fd >= 0) {
		close(command->go_fd);	/* one that still waits leaves by itself */
		command->go_fd = -1;
	}
	for (int i = 0; i < 210 && !sl_command_ended(command); i++) {
		if (i == 0)
			kill(command->pid, SIGTERM);
		else if (i == 200)
			kill(command->pid, SIGKILL);
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
}

void sl_command_clear(struct sl_command *command)
{
	if (command->pid_fd >= 0)
		close(command->pid_fd);
	if (command->go_fd >= 0)
		close(command->go_fd);
	if (command->result_fd >= 0)
		close(command->result_fd);
	command->pid_fd = command->go_fd = command->result_fd = -1;
}
