#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Is the task that this kernel picks the one that its own numbers say? By the part of
# tests/unit/test_bpf.c that recomputes picks; the rest of it takes too long here.
. /tests/lib.sh
has test_bpf || skip_all "tests/unit/test_bpf is not built"
grep -q PLACE_LAG /sys/kernel/debug/sched/features || skip_all "this kernel has no EEVDF"

test_bpf >"$TMPDIR/picks" 2>&1 &
pid=$!
for i in $(seq 1000); do
	grep -q 'recomputed pick' "$TMPDIR/picks" && break
	kill -0 $pid 2>/dev/null || break
	sleep 0.1
done
kill -KILL $pid 2>/dev/null
wait $pid 2>/dev/null
grep -E '^# *(pick|EEVDF)' "$TMPDIR/picks"
line=$(grep 'recomputed pick' "$TMPDIR/picks")
if [ -n "$line" ]; then
	[ "${line#ok}" != "$line" ]
	ok $? "${line#*- }"
else
	skip "the recomputed pick" "too slow here: $(tail -n 1 "$TMPDIR/picks")"
fi
finish
