// SPDX-License-Identifier: GPL-2.0-only
/* Format texts of several kernels, and what must not trip over them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "event/bind.h"
#include "event/bytes.h"

#define COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define SWITCH(print_fmt) \
	"name: sched_switch\nID: 372\nformat:\n" COMMON \
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n" \
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n" \
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n" \
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n" \
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n" \
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n" \
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n" \
	"print fmt: " print_fmt "\n"

#define TODAY_MASK "(((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | " \
		   "0x00000010 | 0x00000020 | 0x00000040) + 1) << 1)"

static struct sl_bind bind;

static int bind_text(const char *text, const char *system, const char *name, struct sl_err *err)
{
	const struct sl_event_desc *desc = sl_event_desc_find(system, name);

	assert_non_null(desc);
	return sl_bind_format(text, strlen(text), desc, SL_HOST_BIG_ENDIAN, &bind, err);
}

static void expect_state(uint64_t value, char letter, bool preempted)
{
	uint8_t flag = 9;

	assert_int_equal(sl_bind_state(&bind, value, &flag), letter);
	assert_int_equal(flag, preempted);
	if (value < SL_BIND_STATES)
		assert_int_equal(bind.state.known[value], (unsigned char)letter | flag << 8);
}

static void states_of_6_18(void **state)
{
	(void)state;
	assert_int_equal(bind_text(SWITCH("\"prev_state=%s%s\", (REC->prev_state & (" TODAY_MASK
		" - 1)) ? __print_flags(REC->prev_state & (" TODAY_MASK " - 1), \"|\", "
		"{ 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000004, \"T\" }, "
		"{ 0x00000008, \"t\" }, { 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, "
		"{ 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", REC->prev_state & "
		TODAY_MASK " ? \"+\" : \"\", REC->next_comm"), "sched", "sched_switch", NULL), 0);
	assert_int_equal(bind.fast, SL_BF_SWITCH);
	assert_int_equal(bind.state.plus_mask, 0x100);
	expect_state(0, 'R', false);
	expect_state(0x100, 'R', true);
	expect_state(0x1, 'S', false);
	expect_state(0x2, 'D', false);
	expect_state(0x20, 'Z', false);
	expect_state(0x80, 'I', false);
	expect_state(0x102, 'D', true);
	expect_state(0x41, 'S', false);		/* several bits: the lowest names it */
	expect_state(0x400, 'R', false);	/* a bit that this kernel does not report */
}

static void states_of_4_9(void **state)
{
	(void)state;
	assert_int_equal(bind_text(SWITCH("\"prev_state=%s%s\", REC->prev_state & (2048-1) ? "
		"__print_flags(REC->prev_state & (2048-1), \"|\", { 1, \"S\"} , { 2, \"D\" }, "
		"{ 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, { 64, \"x\" }, "
		"{ 128, \"K\" }, { 256, \"W\" }, { 512, \"P\" }, { 1024, \"N\" }) : \"R\", "
		"REC->prev_state & 2048 ? \"+\" : \"\""), "sched", "sched_switch", NULL), 0);
	assert_int_equal(bind.state.plus_mask, 2048);
	expect_state(16, 'Z', false);
	expect_state(32, 'X', false);
	expect_state(128, 'K', false);
	expect_state(1024, 'N', false);
	expect_state(2048, 'R', true);
	expect_state(2049, 'S', true);
}

/* No list, or one that ends in the middle: what all kernels share, and no guess beyond. */
static void states_of_a_broken_text(void **state)
{
	static const char *const texts[] = {
		SWITCH("\"no list\", REC->prev_pid"),
		SWITCH("__print_flags(REC->prev_state, \"|\", { 1, \"S"),
		SWITCH("__print_flags(REC->prev_state, \"|\", { ((((((((((((((((((((((((((((((((((((("),
		SWITCH("__print_flags(REC->prev_state, \"|\", { 1 << << 2, \"S\" })"),
		SWITCH("REC->prev_state & ? \"+\" : \"\""),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(bind_text(texts[i], "sched", "sched_switch", NULL), 0);
		expect_state(0, 'R', false);
		expect_state(1, 'S', false);
		if (i == 0) {
			expect_state(2, 'D', false);
			expect_state(4, '?', false);
		}
	}
}

static void missing_fields(void **state)
{
	static const char no_pid[] = "name: sched_waking\nID: 9\nformat:\n" COMMON
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n";
	static const char old_wakeup[] = "name: sched_wakeup\nID: 9\nformat:\n" COMMON
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
		"\tfield:int success;\toffset:32;\tsize:4;\tsigned:1;\n";
	unsigned char rec[36] = { 0 };
	struct sl_bind_strings strings = { 0 };
	struct sl_err err = { "" };
	struct sl_event ev;

	(void)state;
	assert_int_equal(bind_text(no_pid, "sched", "sched_waking", &err), SL_EDATA);
	assert_non_null(strstr(err.msg, "pid"));
	/* No target_cpu: unknown. success as recorded. */
	assert_int_equal(bind_text(old_wakeup, "sched", "sched_wakeup", NULL), 0);
	assert_int_equal(bind.fast, SL_BF_NONE);
	assert_true(sl_bind_decode(&bind, rec, sizeof(rec), &strings, &ev));
	assert_int_equal(ev.wakeup.target_cpu, -1);
	assert_int_equal(ev.wakeup.success, 0);
	assert_false(sl_bind_decode(&bind, rec, sizeof(rec) - 1, &strings, &ev));
}

static void dynamic_names(void **state)
{
	static const char fork[] = "name: sched_process_fork\nID: 9\nformat:\n" COMMON
		"\tfield:__data_loc char[] parent_comm;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:pid_t parent_pid;\toffset:12;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc char[] child_comm;\toffset:16;\tsize:4;\tsigned:0;\n"
		"\tfield:pid_t child_pid;\toffset:20;\tsize:4;\tsigned:1;\n";
	static const char relative[] = "name: sched_process_fork\nID: 9\nformat:\n" COMMON
		"\tfield:pid_t parent_pid;\toffset:12;\tsize:4;\tsigned:1;\n"
		"\tfield:__rel_loc char[] child_comm;\toffset:16;\tsize:4;\tsigned:0;\n"
		"\tfield:pid_t child_pid;\toffset:20;\tsize:4;\tsigned:1;\n";
	struct sl_bind_strings strings = { 0 };
	unsigned char rec[32] = { 0 };
	uint32_t loc = 6u << 16 | 24;
	struct sl_event ev;

	(void)state;
	memcpy(rec + 24, "child\0zz", 8);
	memcpy(rec + 16, &loc, 4);
	assert_int_equal(bind_text(fork, "sched", "sched_process_fork", NULL), 0);
	assert_true(sl_bind_decode(&bind, rec, sizeof(rec), &strings, &ev));
	assert_string_equal(ev.fork.child_comm, "child");
	loc = 6u << 16 | 4;
	memcpy(rec + 16, &loc, 4);
	assert_int_equal(bind_text(relative, "sched", "sched_process_fork", NULL), 0);
	assert_true(sl_bind_decode(&bind, rec, sizeof(rec), &strings, &ev));
	assert_string_equal(ev.fork.child_comm, "child");
	loc = 9u << 16 | 4;		/* one byte past the record */
	memcpy(rec + 16, &loc, 4);
	assert_false(sl_bind_decode(&bind, rec, sizeof(rec), &strings, &ev));
}

static void names_are_padded(void **state)
{
	char full[16], cut[16], want[16] = "fifteen-bytes-x";

	(void)state;
	sl_bind_copy_comm(full, (const unsigned char *)"fifteen-bytes-xyz", 17);
	assert_memory_equal(full, want, 16);
	memset(want, 0, sizeof(want));
	memcpy(want, "ab", 2);
	sl_bind_copy_comm(cut, (const unsigned char *)"ab\0cdefghijklmno", 16);
	assert_memory_equal(cut, want, 16);
	sl_bind_copy_comm(cut, (const unsigned char *)"abc", 2);
	assert_memory_equal(cut, want, 16);
}

/* Every event that this kernel has, were it to be recorded: skipped without tracefs. */
static void formats_of_this_kernel(void **state)
{
	unsigned int bound = 0, i;

	(void)state;
	for (i = 0; i < sl_event_descs_nr; i++) {
		const struct sl_event_desc *d = &sl_event_descs[i];
		char path[256], text[16384];
		struct sl_err err = { "" };
		size_t len;
		FILE *f;

		snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/%s/format", d->system,
			 d->name);
		f = fopen(path, "r");
		if (!f)
			continue;
		len = fread(text, 1, sizeof(text), f);
		fclose(f);
		if (sl_bind_format(text, len, d, SL_HOST_BIG_ENDIAN, &bind, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(bind.kind, d->kind);
		bound++;
	}
	if (!bound)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_of_6_18),
		cmocka_unit_test(states_of_4_9),
		cmocka_unit_test(states_of_a_broken_text),
		cmocka_unit_test(missing_fields),
		cmocka_unit_test(dynamic_names),
		cmocka_unit_test(names_are_padded),
		cmocka_unit_test(formats_of_this_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
