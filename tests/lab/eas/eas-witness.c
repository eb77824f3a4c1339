// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints "ready" and lets witness.bpf.c write into the trace buffer until SIGTERM.
 * Exit status 77: this kernel has not what it takes, and standard error says what.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "witness.skel.h"

int main(void)
{
	struct witness_bpf *w = witness_bpf__open_and_load();
	sigset_t end;
	int sig, ret;

	if (!w) {
		fprintf(stderr, "eas-witness: the BPF program cannot be loaded: %s\n", strerror(errno));
		return 77;
	}
	ret = witness_bpf__attach(w);
	if (ret) {
		fprintf(stderr, "eas-witness: no tracepoint sched_compute_energy_tp: %s\n", strerror(-ret));
		witness_bpf__destroy(w);
		return 77;
	}
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGINT);
	sigprocmask(SIG_BLOCK, &end, NULL);
	puts("ready");
	fflush(stdout);
	sigwait(&end, &sig);
	witness_bpf__destroy(w);
	return 0;
}
