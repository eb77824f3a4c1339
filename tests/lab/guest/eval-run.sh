#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The guest's side of make lab-eval: runs the tests that the kernel's command line names, once
# each, and leaves what they measured in /out. tests/lab/eval.sh makes it the guest's only test.
#
#	eval_tests=A,D eval_seconds=10 eval_record=5 eval_run=2 eval_features=NO_THIS,NO_THAT
#
# For each test X: X.wake (lines "NAME NS") or X.hist (cyclictest's histogram) or E.time (lines
# "KIND GROUPS SECONDS"); X.slices (schedlat slice, taken while it runs: what the threads
# really had); X.dat, a recording of a second run of X, if eval_record is not 0.
# shellcheck shell=dash disable=SC1091,SC2154
. /tests/lib.sh
. /tests/eval-tests.sh

eval_tests=D eval_seconds=10 eval_record=0 eval_run=1 eval_features=
for word in $(cat /proc/cmdline); do
	case $word in
	# Words without blanks, from eval.sh.
	eval_*=*) export "${word?}" ;;
	esac
done

for feature in $(echo "$eval_features" | tr ',' ' '); do
	run sh -c 'echo "$1" > "$0"' "$features" "$feature"
	ok "$status" "the scheduler's feature $feature" "$said" "there is: $(cat "$features")"
done
cat "$features" > /out/features
# The machine is the same each time; two runs shall not begin at the same phase of its tick.
usleep $((eval_run * 1237 % 4000))
for test in $(echo "$eval_tests" | tr ',' ' '); do
	"eval_$test" "$eval_seconds" ""
	[ "$eval_record" = 0 ] || [ "$test" = E ] || "eval_$test" "$eval_record" record
done
finish
