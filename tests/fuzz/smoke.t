#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The libFuzzer harness builds, takes its corpus, and finds nothing in a short run.
# make fuzz runs it for longer.
cd "$(dirname "$0")/../.." || exit 1
if ! command -v clang >/dev/null; then
	echo "1..0 # SKIP clang is not installed"
	exit 0
fi
echo "1..2"
if out=$(scripts/fuzz.sh 20 2>&1); then
	echo "ok 1 - 20 s without a finding"
else
	echo "not ok 1 - 20 s without a finding"
fi
runs=$(sed -n 's/.*number_of_executed_units: *\([0-9]*\)/\1/p' <<< "$out" | sort -n | head -n 1)
if [ "${runs:-0}" -ge 1000 ]; then
	echo "ok 2 - at least 1000 inputs were tried"
else
	echo "not ok 2 - at least 1000 inputs were tried"
fi
tail -n 20 <<< "$out" | sed 's/^/# /'
