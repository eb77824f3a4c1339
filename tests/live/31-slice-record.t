#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# record --slice: the command's threads have it, those made later and those that lost it, too.
test_dir=$(realpath "$(dirname "$0")")
. "$test_dir/lib.sh"
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) ||
	skip_all "no python3 to read slices independently"
attr() { "$python" "$test_dir/attr.py" "$@"; }
[ "$(attr slice $$)" -gt 0 ] || skip_all "this kernel keeps no slice per thread"

# The value of the last metadata key of this name.
last_meta() { trace-cmd report -i "$1" 2>/dev/null | sed -n "s/.* meta: *$2=//p" | tail -n 1; }

out=$("$SCHEDLAT" record -o a.dat --slice 8ms -- sh -c "'$python' '$test_dir/attr.py' slice 0; exit 7" 2>note)
is $? 7 "the command's status"
is "$out" 8000000 "a child of the command has the slice from its start"
matches "$(cat note)" "slice 8.00 ms: set before the command started" "one note says so"
is "$(last_meta a.dat slice.asked_ns) $(last_meta a.dat slice.ns)" "8000000 8000000" "it is stored"
matches "$(trace-cmd report -i a.dat 2>/dev/null | grep -oE 'slice\.[0-9]+=[0-9]+@[0-9]+')" \
	"^slice\.[0-9]+=8000000@$(last_meta a.dat t_start_ns)$" "with the time when it took effect"
is "$(attr slice $$)" "$(attr slice $PPID)" "this shell has not got it"

# A program that sets its attributes anew, without a slice.
out=$("$SCHEDLAT" record -q -o b.dat --slice 6ms -- "$python" "$test_dir/attr.py" lose)
is "$(sed -n 1p <<<"$out")" 6000000 "it has the slice"
within "$(sed -n 2p <<<"$out")" 1 5999999 "it gives it up"
is "$(sed -n 3p <<<"$out")" 6000000 "and has it again"
within "$(last_meta b.dat slice.again)" 1 100 "how often it was set again is stored"
again=$(trace-cmd report -i b.dat 2>/dev/null | grep -oE 'slice\.[0-9]+=6000000@[0-9]+' | tail -n 1)
within "${again#*@}" "$(last_meta b.dat t_start_ns)" "$(last_meta b.dat t_stop_ns)" "and when"

# The usual measurement, whose thread asks for its policy itself.
if command -v cyclictest >/dev/null; then
	"$SCHEDLAT" record -q -o c.dat --slice 8ms -- cyclictest --policy=other -q -t2 -i 3777 -D 3 >/dev/null 2>&1 &
	tool=$!
	seen=
	for _ in $(seq 60); do
		sleep 0.1
		pid=$(pgrep -P $tool -x cyclictest) || continue
		read -r -a tids <<<"$(ls "/proc/$pid/task" 2>/dev/null | paste -sd' ')"
		[ ${#tids[@]} -eq 3 ] || continue
		sleep 0.6
		seen=$(attr slice "${tids[@]}" | paste -sd' ')
		break
	done
	wait $tool
	is "$seen" "8000000 8000000 8000000" "all threads of cyclictest have it while it runs"
	is "$("$SCHEDLAT" report -i c.dat --comm cyclictest --fields slice -x , | sort -u | paste -sd' ')" \
		"8000000 slice_ns" "and the report shows it"
else
	skip "cyclictest" "not installed"
fi

message() { "$SCHEDLAT" record "$@" 2>&1; echo "$?"; }
matches "$(message --slice 8ms -d 1s)" "--slice needs a command.*129" "--slice without a command"
matches "$(message --slice 8 -- true)" "'8' is not a slice: write it like 8ms.*129" "--slice without a unit"
if chrt -f 1 true 2>/dev/null; then
	matches "$(message -o d.dat --slice 8ms -- chrt -f 1 sleep 1)" \
		"not on 1, first (chrt|sleep): a realtime thread" "a thread that becomes realtime is named"
fi
finish
