// SPDX-License-Identifier: GPL-2.0-only
/*
 * runstat OUTPUT COMMAND [ARGUMENT ...]: run a command with its standard output
 * going to a file, and print what it took:
 *	wall_ns user_ns sys_ns maxrss_kib exit_status
 *
 * A process of its own because the peak memory that wait4() reports includes
 * that of the program which forked: measured from an interpreter it is never
 * below the interpreter's.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t timeval_ns(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * 1000000000u + (uint64_t)tv.tv_usec * 1000u;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	uint64_t begin, end;
	int status, fd;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: runstat OUTPUT COMMAND [ARGUMENT ...]\n");
		return 129;
	}
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	begin = now_ns();
	pid = fork();
	if (pid < 0) {
		perror("fork");
		return 1;
	}
	if (!pid) {
		dup2(fd, STDOUT_FILENO);
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &usage) < 0) {
		perror("wait4");
		return 1;
	}
	end = now_ns();
	printf("%llu %llu %llu %ld %d\n", (unsigned long long)(end - begin),
	       (unsigned long long)timeval_ns(usage.ru_utime),
	       (unsigned long long)timeval_ns(usage.ru_stime), usage.ru_maxrss,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
