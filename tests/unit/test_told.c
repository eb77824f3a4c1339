// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel patches promise (kernel-patches/contract) and what we make of it: every
 * format can be bound, the words have our numbers, and a record's values arrive.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event/bind.h"
#include "event/bytes.h"
#include "event/told.h"

/* The promise for an event, with the ID line that only a running kernel has. */
static char *format_of(const char *name)
{
	char path[256], *text = calloc(1, 16384), *at;
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "kernel-patches/contract/%s.format", name);
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s: cannot be read from the top of the checkout", path);
	len = fread(text, 1, 8192, f);
	assert_true(len > 0 && len < 8192);
	fclose(f);
	at = strchr(text, '\n');
	assert_non_null(at);
	memmove(at + 1 + strlen("ID: 700\n"), at + 1, strlen(at + 1) + 1);
	memcpy(at + 1, "ID: 700\n", strlen("ID: 700\n"));
	return text;
}

static void every_promise_can_be_bound(void **state)
{
	unsigned int bound = 0;

	(void)state;
	for (unsigned int i = 0; i < sl_event_descs_nr; i++) {
		const struct sl_event_desc *d = &sl_event_descs[i];
		struct sl_bind bind;
		struct sl_err err = { "" };
		char *text;

		if (d->kind < SL_EV_WAKEUP_PREEMPT || d->kind > SL_EV_PUSH)
			continue;
		text = format_of(d->name);
		if (sl_bind_format(text, strlen(text), d, SL_HOST_BIG_ENDIAN, &bind, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(bind.kind, d->kind);
		free(text);
		bound++;
	}
	assert_int_equal(bound, SL_EV_PUSH - SL_EV_WAKEUP_PREEMPT + 1);
}

/* "{ 3, "word" }" behind __print_symbolic(REC->FIELD, ...: all of them, and no more. */
static void words_are(const char *event, const char *field, const char *(*name)(int), int nr)
{
	char *text = format_of(event), start[64], *at, *end;
	int seen = 0;

	snprintf(start, sizeof(start), "__print_symbolic(REC->%s,", field);
	at = strstr(text, start);
	assert_non_null(at);
	end = strchr(at, ')');
	assert_non_null(end);
	for (at = strchr(at, '{'); at && at < end; at = strchr(at + 1, '{')) {
		char word[32];
		int number;

		assert_int_equal(sscanf(at, "{ %d, \"%31[a-z-]\" }", &number, word), 2);
		assert_int_equal(number, seen);
		if (!name(number) || strcmp(name(number), word))
			fail_msg("%s.%s %d: the kernel says %s, we %s", event, field, number, word,
				 name(number) ? name(number) : "nothing");
		seen++;
	}
	assert_int_equal(seen, nr);
	assert_null(name(nr));
	assert_null(name(-1));
	free(text);
}

static void words_have_the_kernels_numbers(void **state)
{
	(void)state;
	words_are("sched_wakeup_preempt", "why", sl_preempt_why_name, SL_PREEMPT_NR);
	words_are("sched_pick_fair", "why", sl_pick_why_name, SL_PICK_NR);
	words_are("sched_select_task_rq_fair", "path", sl_select_path_name, SL_PATH_NR);
	words_are("sched_select_task_rq_fair", "why", sl_select_why_name, SL_SELECT_NR);
	words_are("sched_energy_choice", "why", sl_energy_why_name, SL_ENERGY_NR);
	words_are("sched_resched_fair", "site", sl_resched_site_name, SL_SITE_NR);
	words_are("sched_min_slice_choice", "site", sl_min_slice_site_name, SL_MIN_SLICE_NR);
	words_are("sched_push_fair", "trigger", sl_push_trigger_name, SL_TRIGGER_NR);
	words_are("sched_push_fair", "result", sl_push_result_name, SL_PUSH_NR);
}

/* A record with every byte its own number: each wide member has the bytes of its field. */
static void wide_values_arrive(void **state)
{
	const struct sl_event_desc *d = sl_event_desc_of(SL_EV_PICK);
	char *text = format_of("sched_pick_fair");
	struct sl_bind_strings strings = { 0 };
	unsigned char rec[256];
	struct sl_bind bind;
	struct sl_event ev;
	uint64_t want;

	(void)state;
	for (unsigned int i = 0; i < sizeof(rec); i++)
		rec[i] = (unsigned char)i;
	assert_int_equal(sl_bind_format(text, strlen(text), d, SL_HOST_BIG_ENDIAN, &bind, NULL), 0);
	assert_false(sl_bind_decode(&bind, rec, bind.min_bytes - 1u, &strings, &ev));
	assert_true(sl_bind_decode(&bind, rec, bind.min_bytes, &strings, &ev));
	assert_int_equal(ev.kind, SL_EV_PICK);
	assert_int_equal((uintptr_t)ev.pick.wide % 8, 0);
	for (unsigned int i = 0; i < bind.nr_fields; i++) {
		if (!bind.fields[i].wide)
			continue;
		memcpy(&want, rec + bind.fields[i].src, 8);
		assert_memory_equal((const char *)ev.pick.wide + bind.fields[i].dst, &want, 8);
	}
	/* The next one does not take its place. */
	want = ev.pick.wide->vruntime;
	rec[bind.fields[0].src] ^= 0xff;
	assert_true(sl_bind_decode(&bind, rec, sizeof(rec), &strings, &(struct sl_event){ 0 }));
	assert_int_equal(ev.pick.wide->vruntime, want);
	sl_bind_strings_release(&strings);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_promise_can_be_bound),
		cmocka_unit_test(words_have_the_kernels_numbers),
		cmocka_unit_test(wide_values_arrive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
