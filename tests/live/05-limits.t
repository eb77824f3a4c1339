#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A flood of events, a full disk, a buffer that is too small.
. "$(dirname "$0")/lib.sh"
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

command -v python3 >/dev/null || skip_all "python3 is not installed"

# On every CPU a pair of processes that wake each other; it ends by itself. They are nice: pairs of
# full weight can keep everything else off the CPUs for tens of seconds (seen on 6.18).
cat >flood.py <<'P'
import os, signal
os.setpgid(0, 0)
os.nice(19)
signal.alarm(30)
for cpu in os.sched_getaffinity(0):
    there, back = os.pipe(), os.pipe()
    for mine, other in ((there, back), (back, there)):
        if os.fork():
            continue
        signal.alarm(30)
        os.sched_setaffinity(0, {cpu})
        if mine is there:
            os.write(other[1], b"x")
        while os.read(mine[0], 1):
            os.write(other[1], b"x")
signal.pause()
P
flood=
start_flood() { python3 flood.py & flood=$!; sleep 0.5; }
end_flood() { [ -z "$flood" ] || kill -- -$flood 2>/dev/null; wait $flood 2>/dev/null; flood=; }
trap 'end_flood; umount "$tmp/small" 2>/dev/null; rm -rf "$tmp"' EXIT
before=$(state)

start_flood
start=$(date +%s%N)
out=$("$SCHEDLAT" record --backend tracefs -d 2s -o a.dat 2>&1)
status=$?
all=$((($(date +%s%N) - start) / 1000000))
end_flood
within $((($(meta a.dat t_stop_ns) - $(meta a.dat t_start_ns)) / 1000000)) 2000 4000 \
	"-d 2s under a flood ends within two seconds more (ms)"
# Set-up and the file take their time on a loaded machine, but no hang.
within $all 2000 25000 "and the command comes back (ms)"
is $status 0 "and well"
matches "$out" ' 0 lost' "8 MiB per CPU lose nothing"

# Too small a buffer: what is lost is printed, stored, and marked where it is missing.
start_flood
out=$("$SCHEDLAT" record --backend tracefs -m 64k -d 1s -o b.dat 2>&1)
end_flood
matches "$out" ' ([0-9]+) lost' "a small buffer: losses are printed"
lost=${BASH_REMATCH[1]}
sum=0
for ((cpu = 0; cpu < $(nproc --all); cpu++)); do
	sum=$((sum + $(meta b.dat lost.cpu$cpu)))
done
is "$sum" "$lost" "the sum of lost.cpuN is what was printed"
if [ "$lost" -gt 0 ]; then
	matches "$out" "use a larger -m" "and what to do"
	within "$(trace-cmd report -i b.dat 2>/dev/null | grep -c 'EVENTS DROPPED')" 1 1000000 \
		"trace-cmd sees the gaps"
	trace-cmd report -i b.dat --stat 2>/dev/null >stat.txt
	is "$(sed -n 's/^overrun: //p' stat.txt | awk '{ s += $1 } END { print s + 0 }')" "$lost" \
		"and the statistics"
else
	skip "gaps are marked" "this machine keeps up with a 64 KiB buffer"
fi
state_is "$before" "tracefs after a flood"

# A full disk: one error, and a file that holds what fitted.
for compress in "" --compress; do
	mkdir -p small
	mount -t tmpfs -o size=3m none small || { skip "full disk $compress" "no mount"; continue; }
	start_flood
	start=$(date +%s%N)
	# shellcheck disable=SC2086
	out=$("$SCHEDLAT" record --backend tracefs -q $compress -m 1M -d 30s -o small/x.dat 2>&1)
	status=$?
	ms=$((($(date +%s%N) - start) / 1000000))
	end_flood
	if ((status == 0 && ms >= 29000)); then
		# The pairs of the flood can keep every other fair task off the CPUs for its 30 s.
		skip "full disk $compress" "the flood starved the recorder, nothing filled the disk"
		umount small
		continue
	fi
	is $status 1 "full disk $compress: status"
	within "$ms" 1 29000 "full disk $compress: it ends early (ms)"
	is "$(wc -l <<<"$out")" 1 "full disk $compress: one line"
	matches "$out" "No space left on device" "full disk $compress: the reason"
	within "$(trace-cmd report -i small/x.dat 2>/dev/null | grep -c ' sched_switch: ')" 1000 100000000 \
		"full disk $compress: trace-cmd reads what fitted"
	is "$(meta small/x.dat truncated)" 1 "full disk $compress: the file says that it is cut"
	"$SCHEDLAT" report -i small/x.dat >/dev/null
	is $? 0 "full disk $compress: it can be analysed"
	state_is "$before" "full disk $compress: tracefs"
	umount small
done
mount -t tmpfs -o size=1m none small && {
	out=$("$SCHEDLAT" record --backend tracefs -q -d 1s -o small/x.dat 2>&1)
	is $? 1 "no room at all: status"
	is "$(wc -l <<<"$out")" 1 "no room at all: one line"
	is "$(ls -A small)" "" "no room at all: nothing is left"
	umount small
}
state_is "$before" "tracefs at the end"
finish
