#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make demo: record about ten seconds of cyclictest under hackbench and explain the
# slowest wakeups. Without the right to trace, explain tests/data/demo.dat instead.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh

SHIPPED=tests/data/demo.dat
scripts/deps.sh build demo || [ -x build/schedlat ] || exit 1
${MAKE:-make} --no-print-directory -j"$(nproc)" O=build all

dir=$(mktemp -d "${TMPDIR:-/tmp}/schedlat-demo.XXXXXX")
trap 'tracefs_end; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
recording=$dir/demo.dat

# The load ends with the measurement, not before it and not after it. In a process group of its
# own, but in the same session: sessions are groups of the scheduler, which compete as such.
cat > "$dir/load.sh" <<'LOAD'
set -m
hackbench -g 1 -l 100000000 > /dev/null 2>&1 &
load=$!
cyclictest --policy=other -q -t1 -i 3777 -D 8
kill -- -$load 2> /dev/null
wait $load
exit 0
LOAD

show()
{
	printf '\n$ ./schedlat %s\n' "$*"
	./schedlat "$@"
}

explain()
{
	show report -i "$1" --comm cyclictest --why-p999
}

# Without tracefs there are BPF programs, and the other way round: record says what is missing.
tracefs_begin || true
if ! command -v cyclictest >/dev/null || ! command -v hackbench >/dev/null; then
	echo "Nothing is recorded here: cyclictest and hackbench (package rt-tests) are missing."
elif show record -o "$recording" -- bash "$dir/load.sh"; then
	explain "$recording"
	exit 0
else
	echo "Nothing is recorded here: schedlat record failed, see its message above."
fi
echo "This explains $SHIPPED instead, a recording of the same load made on another machine."
explain "$SHIPPED"
