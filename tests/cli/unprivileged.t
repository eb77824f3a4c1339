#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# report, timehist, list and --help need no rights; record says which right is missing. TAP.
cd "$(dirname "$0")/../.." || exit 1
schedlat=${SCHEDLAT:-./schedlat}
golden=tests/golden/path-and-queue.txt
number=0

ok()
{
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2"
		sed 's/^/#   /' "$tmp/err" "$tmp/out" | head -20
	fi
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
chmod 755 "$tmp"
# A copy that nobody may read, wherever the checkout lies.
cp "$schedlat" "$tmp/schedlat"
cp "$golden" "$tmp/trace.txt"
chmod 755 "$tmp/schedlat"
chmod 644 "$tmp/trace.txt"
as=()
if [ "$(id -u)" -eq 0 ]; then
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all)
	if ! "${as[@]}" true 2>/dev/null; then
		echo "1..0 # skipped: setpriv cannot drop root here"
		exit 0
	fi
fi
# shellcheck disable=SC2317 # called through "run"
run()
{
	(cd / && "${as[@]}" env LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}" "$tmp/schedlat" "$@") \
		>"$tmp/out" 2>"$tmp/err"
}

run report -i "$tmp/trace.txt"
ok $? "report"
run report --json -i "$tmp/trace.txt" && grep -q '"delay_ns"\|"groups"' "$tmp/out"
ok $? "report --json"
run timehist -i "$tmp/trace.txt" && grep -q cyclic "$tmp/out"
ok $? "timehist"
for what in causes events columns; do
	run list "$what" && [ "$(wc -l <"$tmp/out")" -gt 5 ]
	ok $? "list $what"
done
run --help && [ -s "$tmp/out" ] && ! [ -s "$tmp/err" ]
ok $? "--help"

# Unreadable: the system's reason, status 1.
chmod 600 "$tmp/trace.txt"
run report -i "$tmp/trace.txt"
[ $? -eq 1 ] && grep -qi 'permission denied' "$tmp/err" && ! [ -s "$tmp/out" ]
ok $? "an unreadable file is named, exit 1"

touch "$tmp/writable.dat"
chmod 666 "$tmp/writable.dat"
run record -o "$tmp/writable.dat" -d 100ms
status=$?
[ $status -ne 0 ] && [ "$(wc -l <"$tmp/err")" -ge 1 ] && grep -qiE 'tracefs|tracing' "$tmp/err" &&
	grep -qiE 'root|sudo|permission|cap_|right|mount' "$tmp/err"
ok $? "record says which right is missing"
run check
grep -qiE 'root|permission|right|denied|mount' "$tmp/out" "$tmp/err"
ok $? "check says which right is missing"
echo "1..$number"
