// SPDX-License-Identifier: GPL-2.0-only
/*
 * Provokes: group-level
 *
 * The hog and the victim are in different cgroups, both on one CPU. With nested queues
 * they are never compared with each other: their groups are. The victim is a heavy
 * user of its group's share, so that the group often has to wait for the other one.
 * On a kernel with one flat queue per CPU (7.3: place_entity(), se->h_load) both are compared
 * as tasks, whatever groups they are in, and the fair causes are true as they come.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt.h"

static const struct rt_about about = {
	.causes = "group-level",
	.flat_causes = "ineligible later-deadline slice-protection",
};

static void victim(void *arg)
{
	(void)arg;
	while (rt_more()) {
		rt_burn(6 * RT_MS);
		rt_sleep_until(rt_now() + RT_MS);
	}
}

int main(int argc, char **argv)
{
	struct rt_spec hog = { .comm = "group-hog", .pinned = true, .slice_ns = 3 * RT_MS,
			       .run = rt_spin };
	int ends[2];

	rt_begin(argc, argv, &about);
	hog.cpu = rt_cpu(0);
	if (pipe(ends))
		rt_die("no pipe");
	fflush(stdout);
	if (!fork()) {
		/* prints its thread as the parent does, and ends with it */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		rt_cgroup_enter("hog", 0, 0);
		rt_start(&hog);
		exit(rt_run());
	}
	close(ends[1]);
	rt_relay(ends[0]);
	rt_cgroup_enter("victim", 0, 0);
	rt_start(&(struct rt_spec){ .comm = "v-group-level", .victim = true, .pinned = true,
				    .cpu = rt_cpu(0), .slice_ns = 3 * RT_MS, .run = victim });
	return rt_run();
}
