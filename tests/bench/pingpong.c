// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two processes on one CPU that wake each other through pipes: every round trip
 * is two wakeups and two switches. What recording adds to it is the cost of the
 * recorded events, without the noise of a load that schedules itself.
 *
 *	pingpong [ROUND_TRIPS [CPU]]	prints ns per round trip
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	const long trips = argc > 1 ? atol(argv[1]) : 200000;
	const int cpu = argc > 2 ? atoi(argv[2]) : 0;
	int there[2], back[2];
	double start_ns;
	char byte = 0;
	pid_t child;

	if (trips <= 0 || cpu < 0 || cpu >= CPU_SETSIZE) {
		fprintf(stderr, "usage: pingpong [ROUND_TRIPS [CPU]]\n");
		return 129;
	}
	pin(cpu);
	if (pipe(there) || pipe(back))
		die("pipe");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1)
			if (write(back[1], &byte, 1) != 1)
				break;
		_exit(0);
	}
	close(there[0]);
	start_ns = now_ns();
	for (long i = 0; i < trips; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			die("pipe");
	printf("%.0f\n", (now_ns() - start_ns) / trips);
	close(there[1]);
	waitpid(child, NULL, 0);
	return 0;
}
