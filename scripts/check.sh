#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make check: install what is missing, build, run every tier of tests, twice
# where a sanitizer build can find more. The last line is
#	N passed, N failed, N skipped
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

MAKE=${MAKE:-make}
O=build
SAN=build/sanitize
counts=$(mktemp)
trap 'rm -f "$counts"; tracefs_end' EXIT
export SL_COUNTS=$counts

failed=0
run()
{
	echo "== $1"
	shift
	"$@" || failed=1
}

# Ends the run with a last line of the usual form when nothing can be tested.
give_up()
{
	echo "check: $1"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
}

scripts/deps.sh build check demo || give_up "something the tests need is missing, see above"
jobs=-j$(nproc)
$MAKE --no-print-directory "$jobs" O=$O WERROR="${WERROR:-}" all unit-tests workloads ||
	give_up "the build failed"
$MAKE --no-print-directory "$jobs" O=$SAN WERROR="${WERROR:-}" CFLAGS='-O1 -g' \
	SANITIZE=address,undefined all unit-tests || give_up "the sanitizer build failed"

tracefs_begin || echo "check: live tests will be skipped: $tracefs_why"

run "lint" scripts/run-tests.sh lint
run "unit" scripts/run-tests.sh unit
run "golden" scripts/run-tests.sh golden
run "command line" scripts/run-tests.sh cli
run "live" scripts/run-tests.sh live
run "kernel patches" scripts/run-tests.sh patches
run "lab" scripts/run-tests.sh lab

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:exitcode=99
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:exitcode=99
run "unit, address and undefined sanitizers" env O=$SAN scripts/run-tests.sh unit
run "golden, address and undefined sanitizers" env O=$SAN scripts/run-tests.sh golden
run "damaged files, address and undefined sanitizers" env O=$SAN scripts/run-tests.sh fuzz

awk '{ p += $1; f += $2; s += $3 }
     END { printf "%d passed, %d failed, %d skipped\n", p, f, s }' "$counts" > "$counts.sum"
tracefs_end
cat "$counts.sum"
rm -f "$counts.sum"
exit $failed
