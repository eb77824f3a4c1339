// SPDX-License-Identifier: LGPL-2.1-only
#include "live/slice_change.h"

#include <errno.h>
#include <stdlib.h>

static int compare_tids(const void *a, const void *b)
{
	const struct sl_slice_done *x = a, *y = b;

	return (x->thread.tid > y->thread.tid) - (x->thread.tid < y->thread.tid);
}

/* Among the first `nr` items, which are sorted. */
static struct sl_slice_done *find(const struct sl_slice_change *change, size_t nr, int32_t tid)
{
	const struct sl_slice_done key = { .thread.tid = tid };

	return nr ? bsearch(&key, change->items, nr, sizeof(key), compare_tids) : NULL;
}

/* Room for one more behind the others; NULL: out of memory. */
static struct sl_slice_done *next_item(struct sl_slice_change *change)
{
	if (change->nr == change->room) {
		size_t room = change->room ? change->room * 2 : 64;
		struct sl_slice_done *grown = realloc(change->items, room * sizeof(*grown));

		if (!grown)
			return NULL;
		change->items = grown;
		change->room = room;
	}
	return &change->items[change->nr];
}

static uint64_t wanted(const struct sl_slice_change *change)
{
	return change->asked_ns ? sl_slice_clamp(change->asked_ns) : change->base.ns;
}

/* A guess is good enough to tell default from custom, not to call what the kernel did wrong. */
static uint64_t sure_base(const struct sl_slice_change *change)
{
	return change->base.from == SL_SLICE_FROM_MOST ? 0 : change->base.ns;
}

static void set(struct sl_slice_change *change, struct sl_slice_done *done, bool first)
{
	struct sl_slice_attr before;

	done->outcome = sl_slice_set(done->thread.tid, change->asked_ns, sure_base(change), &before,
				     &done->after, &done->error);
	if (before.slice_ns)
		done->thread.attr = before;
	done->inherited = !first && done->outcome == SL_SLICE_UNCHANGED;
}

/*
 * One look: how many threads were new, or -errno. Without `apply` only those
 * that have the wanted slice already are taken, as having inherited it.
 */
static int look(struct sl_slice_change *change, bool apply, struct sl_err *err)
{
	const size_t known = change->nr;
	struct sl_slice_list list;
	int nr_new = 0, r = sl_slice_scan(&change->select, known > 0, &list, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < list.nr; i++) {
		const struct sl_slice_thread *thread = &list.items[i];
		struct sl_slice_done *done = find(change, known, thread->tid);

		if (done && done->thread.start_ticks == thread->start_ticks)
			continue;
		if (!apply && thread->attr.slice_ns != wanted(change))
			continue;
		/* A thread that has the id of one that ended takes its place. */
		if (!done) {
			done = next_item(change);
			if (!done) {
				r = sl_err_set(err, -ENOMEM, "cannot list the threads: out of memory");
				break;
			}
			change->nr++;
		}
		*done = (struct sl_slice_done){ .thread = *thread, .after = thread->attr };
		if (apply) {
			set(change, done, !known);
		} else {
			done->outcome = SL_SLICE_UNCHANGED;
			done->inherited = true;
		}
		nr_new++;
	}
	sl_slice_list_clear(&list);
	if (nr_new)
		qsort(change->items, change->nr, sizeof(*change->items), compare_tids);
	return r < 0 ? r : nr_new;
}

int sl_slice_change_apply(struct sl_slice_change *change, struct sl_err *err)
{
	int r = 1;

	for (unsigned int i = 0; r > 0 && i < SL_SLICE_ROUNDS; i++)
		r = look(change, true, err);
	change->unsettled = r > 0;
	return r < 0 ? r : 0;
}

unsigned int sl_slice_change_count(const struct sl_slice_change *change,
				   enum sl_slice_outcome outcome)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < change->nr; i++)
		nr += change->items[i].outcome == outcome;
	return nr;
}

/* The slice to give back; 0: the base slice. */
static uint64_t former(const struct sl_slice_change *change, const struct sl_slice_done *done)
{
	uint64_t ns = done->thread.attr.slice_ns;

	if (done->inherited) {
		ns = 0;
		for (size_t i = 0; i < change->nr && !ns; i++)
			if (change->items[i].thread.tgid == done->thread.tgid &&
			    change->items[i].outcome == SL_SLICE_SET)
				ns = change->items[i].thread.attr.slice_ns;
	}
	return ns == change->base.ns ? 0 : ns;
}

static void restore(struct sl_slice_change *change, struct sl_slice_done *done,
		    struct sl_slice_restored *sum)
{
	struct sl_slice_thread now;
	struct sl_slice_attr before, after;
	enum sl_slice_outcome outcome;
	uint64_t ns;
	int error;

	if (done->settled || (done->outcome != SL_SLICE_SET && !done->inherited))
		return;
	done->settled = true;
	ns = former(change, done);
	if (!sl_slice_read_thread(done->thread.tgid, done->thread.tid, &now) ||
	    now.start_ticks != done->thread.start_ticks) {
		outcome = SL_SLICE_GONE;
	} else if (now.attr.slice_ns != done->after.slice_ns) {
		sum->changed++;
		outcome = SL_SLICE_NOT_TRIED;
	} else {
		outcome = sl_slice_set(done->thread.tid, ns, sure_base(change), &before, &after, &error);
	}
	if (outcome == SL_SLICE_SET || outcome == SL_SLICE_UNCHANGED) {
		sum->restored++;
	} else if (outcome == SL_SLICE_GONE) {
		sum->gone++;
	} else if (outcome != SL_SLICE_NOT_TRIED && !sum->failed++) {
		sum->first_failed = *done;
		sum->first_failed.outcome = outcome;
		sum->first_failed.error = error;
	}
}

int sl_slice_change_restore(struct sl_slice_change *change, struct sl_slice_restored *ret_restored,
			    struct sl_err *err)
{
	struct sl_slice_restored sum = { 0 };
	int r = 0, fresh = 1;

	/* A thread that still has the slice can hand it on while others are restored. */
	for (unsigned int round = 0; round < SL_SLICE_ROUNDS && fresh > 0; round++) {
		fresh = wanted(change) == change->base.ns ? 0 : look(change, false, err);
		if (fresh < 0)
			r = fresh;
		for (size_t i = 0; i < change->nr; i++)
			restore(change, &change->items[i], &sum);
	}
	*ret_restored = sum;
	return r;
}

void sl_slice_change_clear(struct sl_slice_change *change)
{
	free(change->items);
	change->items = NULL;
	change->nr = change->room = 0;
}
