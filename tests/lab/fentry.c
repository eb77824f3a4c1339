// SPDX-License-Identifier: GPL-2.0-only
/*
 * fentry OBJECT: load and attach fentry.bpf.c, sleep ten times, print how many wakeups it saw.
 * Fails, with libbpf's words, where the kernel's function tracer cannot call BPF programs.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int fail(const char *what, long error)
{
	fprintf(stderr, "fentry: %s: %s\n", what, strerror((int)-error));
	return 1;
}

int main(int argc, char **argv)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	struct bpf_program *program;
	struct bpf_object *object;
	struct bpf_link *link;
	uint32_t key = 0;
	uint64_t count;
	int error;

	if (argc != 2) {
		fputs("usage: fentry OBJECT\n", stderr);
		return 1;
	}
	object = bpf_object__open_file(argv[1], NULL);
	error = (int)libbpf_get_error(object);
	if (error)
		return fail(argv[1], error);
	error = bpf_object__load(object);
	if (error)
		return fail("load", error);
	program = bpf_object__find_program_by_name(object, "lab_fentry");
	link = bpf_program__attach(program);
	error = (int)libbpf_get_error(link);
	if (error)
		return fail("attach", error);
	for (int i = 0; i < 10; i++)
		nanosleep(&pause, NULL);
	error = bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(object, "lab_count"), &key, &count);
	if (error)
		return fail("lab_count", error);
	printf("%" PRIu64 "\n", count);
	bpf_link__destroy(link);
	bpf_object__close(object);
	return 0;
}
