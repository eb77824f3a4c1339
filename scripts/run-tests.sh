#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run test programs that speak TAP: scripts/run-tests.sh TIER|FILE...
#
# A tier is unit, golden, cli, live, lint, tools, or any directory under tests/
# with *.t; unit means the programs built from tests/unit/test_*.c. Each file is
# judged by prove; its line shows what it had. Of files that fail everything is
# shown but what passed, and each skip with its reason. The last line is
#	N passed, N failed, N skipped
# where a file that crashes, or prints a wrong plan, counts as one more failure.
# Exit 1 when anything failed, or nothing ran.
#
# The programs run in the top directory and find in the environment:
#	SCHEDLAT  the tool's path        O  the build directory        SL_COUNTS  (this script's)
set -euo pipefail
cd "$(dirname "$0")/.."

O=$(realpath -m "${O:-build}")
SCHEDLAT=${SCHEDLAT:-$O/schedlat}
export O SCHEDLAT CMOCKA_MESSAGE_OUTPUT=TAP PYTHONDONTWRITEBYTECODE=1
# Adds "passed failed skipped" to this file instead of printing the last line.
counts=${SL_COUNTS:-}

passed=0 failed=0 skipped=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT

files()
{
	case $1 in
	unit) for c in tests/unit/test_*.c; do [ -e "$c" ] && echo "$O/${c%.c}"; done ;;
	*.t | */test_*) echo "$1" ;;
	*) find "tests/$1" -maxdepth 1 -name '*.t' 2>/dev/null | LC_ALL=C sort ;;
	esac
}

# What a TAP stream says: passed failed skipped.
count()
{
	awk '
	/^(not )?ok [0-9-]/ {
		if (tolower($0) ~ /# *skip/) s++
		else if ($1 == "not" && tolower($0) !~ /# *todo/) f++
		else p++
	}
	/ skipped: / { s++ }
	END { print p + 0, f + 0, s + 0 }' "$1"
}

run()
{
	local name p f s begin tenths verdict status=0
	local -a exec=()

	name=${1#"$O/"}
	begin=${EPOCHREALTIME/./}
	# prove guesses an interpreter for *.t; a program is run as it is
	[[ $1 == *.t ]] || exec=(--exec '')
	prove --verbose --merge "${exec[@]}" "$1" >"$out" 2>&1 || status=$?
	tenths=$(((${EPOCHREALTIME/./} - begin) / 100000))
	read -r p f s < <(count "$out")
	if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then
		f=1
	fi
	verdict=ok
	if [ "$f" -gt 0 ]; then
		verdict=FAIL
		grep -vE '^ok [0-9]' "$out" | sed 's/^/    /'
	fi
	printf '%-4s %-44s %4d passed %3d failed %3d skipped %4d.%d s\n' "$verdict" "$name" \
		"$p" "$f" "$s" $((tenths / 10)) $((tenths % 10))
	grep -iE '^(not )?ok .*# *skip|skipped: ' "$out" | sed -E 's/^/     /' || true
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

[ $# -gt 0 ] || set -- unit golden cli live lint
for what; do
	while read -r file; do
		run "$file"
	done < <(files "$what")
done

if [ $((passed + failed + skipped)) -eq 0 ]; then
	echo "run-tests: no test found in: $*" >&2
	failed=1
fi
if [ -n "$counts" ]; then
	echo "$passed $failed $skipped" >> "$counts"
else
	echo "$passed passed, $failed failed, $skipped skipped"
fi
[ "$failed" -eq 0 ]
