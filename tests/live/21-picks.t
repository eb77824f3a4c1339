#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Under hackbench and short-slice tasks: is the task that the kernel picks the one that its
# own numbers say, as recomputed from the snapshots? Over at least 100,000 switches.
. "$(dirname "$0")/lib.sh"

program=${SCHEDLAT%/*}/tests/unit/test_bpf
[ -x "$program" ] || program=$(dirname "$0")/../../build/tests/unit/test_bpf
[ -x "$program" ] || skip_all "tests/unit/test_bpf is not built"
command -v hackbench >/dev/null && command -v cyclictest >/dev/null ||
	skip_all "hackbench and cyclictest (package rt-tests) are missing"

set -m
nice -n 5 hackbench -g 2 -f 10 -l 100000000 >/dev/null 2>&1 &
load=$!
cyclictest --policy=other -q -t4 -i 1000 -D 100 >/dev/null 2>&1 &
short=$!
trap 'kill -KILL -- -$load -$short 2>/dev/null' EXIT
sleep 0.5
why=$("$SCHEDLAT" slice -p $short 0.5ms 2>&1 >/dev/null) || skip_all "short slices cannot be set here: $why"
"$program" picks 100000
