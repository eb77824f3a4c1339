#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Put the output of the example into README.md, between its two marks. tests/lint/docs.t
# fails when the two differ.
set -euo pipefail
cd "$(dirname "$0")/.."

schedlat=${SCHEDLAT:-build/schedlat}
new=$(mktemp)
trap 'rm -f "$new"' EXIT
{
	sed '/^<!-- example -->$/q' README.md
	echo '```'
	echo '$ ./schedlat report -i tests/data/demo.dat --comm cyclictest --why-p999'
	"$schedlat" report -i tests/data/demo.dat --comm cyclictest --why-p999
	echo '```'
	sed -n '/^<!-- end of the example -->$/,$p' README.md
} > "$new"
cat "$new" > README.md
