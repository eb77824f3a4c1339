#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make fuzz: run every harness of tests/fuzz under libFuzzer: scripts/fuzz.sh SECONDS
#
# The corpus under tests/fuzz/corpus is read, never written; new inputs collect
# in build/fuzz-corpus. A finding is left in build/ and named. Exit 1 on a finding.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-300}
if ! command -v clang >/dev/null; then
	echo "fuzz: clang is missing: apt-get install clang" >&2
	exit 1
fi
${MAKE:-make} --no-print-directory -j"$(nproc)" O=build/fuzz CC=clang CFLAGS='-O1 -g' \
	SANITIZE=address,undefined,fuzzer-no-link fuzzers

status=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for harness in build/fuzz/tests/fuzz/fuzz_*; do
	[[ $harness != *.d ]] || continue
	name=${harness##*/}
	mkdir -p "build/fuzz-corpus/$name"
	seeds=()
	[ -d "tests/fuzz/corpus/$name" ] && seeds=("tests/fuzz/corpus/$name")
	echo "== $name, $seconds s"
	"$harness" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=60 -max_len=262144 \
		-print_final_stats=1 -artifact_prefix="build/$name-" \
		"build/fuzz-corpus/$name" "${seeds[@]}" >"$log" 2>&1 || status=1
	grep -E 'ERROR|SUMMARY|Test unit written|number_of_executed|average_exec|DONE|runtime error' \
		"$log" || tail -n 5 "$log"
done
exit $status
