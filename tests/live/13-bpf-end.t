#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# However a recording through BPF ends, nothing stays in the kernel; what was lost is told.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v bpftool >/dev/null || skip_all "bpftool is not installed"
trap 'umount "$tmp/small" 2>/dev/null; rm -rf "$tmp"' EXIT

before=$(state)
objects() # PID: "prog 12" and "map 13" of a recorder
{
	sed -n 's/^prog_id:[[:space:]]*/prog /p; s/^map_id:[[:space:]]*/map /p' "/proc/$1"/fdinfo/* 2>/dev/null |
		sort -u
}
wait_for_programs() # PID
{
	local i
	for i in $(seq 200); do
		# the name of its reader is there when recording is about to begin
		[ "$(objects "$1" | grep -c prog)" -gt 5 ] &&
			grep -qs schedlat-read "/proc/$1"/task/*/comm && return 0
		sleep 0.05
	done
	return 1
}
left() # OBJECTS: those that the kernel still has, after a while
{
	local kind id i still
	for i in $(seq 40); do
		still=
		while read -r kind id; do
			bpftool "$kind" show id "$id" >/dev/null 2>&1 && still+="$kind $id;"
		done <<<"$1"
		[ -n "$still" ] || break
		sleep 0.1
	done
	echo "$still"
}

for signal in INT TERM KILL; do
	env --default-signal=INT,TERM "$SCHEDLAT" record --backend bpf -q -o a.dat &
	pid=$!
	wait_for_programs $pid
	held=$(objects $pid)
	within "$(grep -c prog <<<"$held")" 6 100 "SIG$signal: programs are there before"
	kill -$signal $pid
	wait $pid
	status=$?
	is "$(left "$held")" "" "SIG$signal: no program and no map is left"
	[ $signal = KILL ] || is $status 0 "SIG$signal: status"
done
state_is "$before" "tracefs was not touched"
out=$("$SCHEDLAT" record --backend bpf -o b.dat -- /nonexistent/command 2>&1)
is $? 127 "a command that is not there: status"
out=$("$SCHEDLAT" record --backend bpf -q -o b.dat -- sh -c 'exit 37' 2>&1)
is $? 37 "the command's status"
start=$(date +%s%N)
"$SCHEDLAT" record --backend bpf -q -d 300ms -o c.dat -- sleep 60
within $((($(meta c.dat t_stop_ns) - $(meta c.dat t_start_ns)) / 1000000)) 300 2300 "-d 300ms (ms)"
within $((($(date +%s%N) - start) / 1000000)) 300 25000 "and the command comes back (ms)"

# A ring of a page or two: what is lost is printed, stored, and marked where it is missing.
cat >work.sh <<'END'
for i in $(seq 300); do /bin/true; done
END
out=$("$SCHEDLAT" record --backend bpf -m 4k -o d.dat -- bash work.sh 2>&1)
matches "$out" ' ([0-9]+) lost' "a small ring: losses are printed"
lost=${BASH_REMATCH[1]}
sum=0
for ((cpu = 0; cpu < $(nproc --all); cpu++)); do
	sum=$((sum + $(meta d.dat lost.cpu$cpu)))
done
is "$sum" "$lost" "the sum of lost.cpuN is what was printed"
if [ "$lost" -gt 0 ]; then
	matches "$out" "use a larger -m" "and what to do"
	read -r total gaps wakeups told <<<"$("$SCHEDLAT" report -j d.dat | python3 -c '
import json, sys
d = json.load(sys.stdin)
c = d["counters"]
print(d["loss"]["total"], d["loss"]["gaps"], c["wakeups"], c["samples"] + sum(c["discarded"].values()))')"
	within "$total" 1 "$lost" "report: events are missing, no more than were lost"
	within "$gaps" 1 "$lost" "in gaps"
	is "$told" "$wakeups" "every wakeup is a sample or has a reason why not"
	trace-cmd report -i d.dat >d.txt 2>/dev/null
	is $? 0 "trace-cmd reads it"
	within "$(grep -c 'EVENTS DROPPED' d.txt)" 1 "$lost" "and shows that events were dropped"
else
	skip "a small ring" "nothing was lost"
fi

# A full disk: one error, a valid file of what fitted.
mkdir small
if mount -t tmpfs -o size=5M none small 2>/dev/null; then
	out=$("$SCHEDLAT" record -q --backend bpf -d 30s -o small/x.dat -- bash -c \
		'while :; do /bin/true; done' 2>&1)
	is $? 1 "a full disk: status"
	is "$(wc -l <<<"$out")" 1 "a full disk: one line"
	matches "$out" "No space left on device" "a full disk: reason"
	"$SCHEDLAT" report small/x.dat >x.txt 2>&1
	is $? 0 "a full disk: the file can be read"
	within "$(grep -c . x.txt)" 5 100000 "and has a report"
	matches "$(tr -s ' \n' ' ' <x.txt)" "the recording ends early, its disk was full" "that says that it is cut"
	umount small
else
	skip "a full disk" "tmpfs cannot be mounted"
fi
finish
