#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# slice: what is set is there, by an independent reader's eyes, and what was there comes back.
test_dir=$(realpath "$(dirname "$0")")
. "$test_dir/lib.sh"
# The interpreter itself: what stands in front of it on some machines takes seconds.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) ||
	skip_all "no python3 to read slices independently"

attr() { "$python" "$test_dir/attr.py" "$@"; }
slice_of() { attr slice "$1"; }

sleep 300 >/dev/null 2>&1 &
pid=$!
trap 'kill $pid $threads $maker $rt $idle $other 2>/dev/null; rm -rf "$tmp"' EXIT
base=$(slice_of $pid)
[ "$base" -gt 0 ] || skip_all "this kernel keeps no slice per thread"
# Had the shell that started this a slice of its own, the rest would compare with that.
attr set $pid runtime=0
base=$(slice_of $pid)

out=$("$SCHEDLAT" slice -p $pid -j | "$python" -c '
import json, sys
d = json.load(sys.stdin)
t = d["threads"][0]
print(d["schema"], d["base_slice_ns"], len(d["threads"]), t["tid"], t["comm"], t["slice_ns"], t["set"], t["policy"], t["nice"], t["mark"], t["outcome"])')
is "$out" "schedlat.slice/1 $base 1 $pid sleep $base default other 0 None None" "the default is shown as such"

out=$("$SCHEDLAT" slice -p $pid 8ms)
is $? 0 "set: status"
is "$out" "slice 8.000 ms: set on 1 thread" "set: what is printed"
is "$(slice_of $pid)" 8000000 "set: an independent reader sees it"
is "$("$SCHEDLAT" slice -t $pid --fields tid,slice,set,mark -x ,)" \
	"$(printf 'tid,slice_ns,set,mark\n%s,8000000,custom,long' $pid)" "and it is shown as custom and long"
out=$("$SCHEDLAT" slice -p $pid 8ms)
is "$out" "slice 8.000 ms: set on 0 threads, 1 had it already" "set again"
out=$("$SCHEDLAT" slice -p $pid 1s 2>&1 >/dev/null)
is "$out" "schedlat slice: asked for 1.000 s, the kernel made it 100.0 ms: it keeps slices between 0.1 and 100 ms" \
	"what the kernel makes of a second is said"
is "$(slice_of $pid)" 100000000 "and is what it is now"
"$SCHEDLAT" slice -q -p $pid 10us
is "$(slice_of $pid)" 100000 "the shortest"
matches "$("$SCHEDLAT" slice -p $pid)" "custom +short" "is marked"

# Everything else stays.
renice -n 7 -p $pid >/dev/null
attr set $pid policy=3 nice=7 flags=1 runtime=3000000
before=$(attr get $pid)
"$SCHEDLAT" slice -q -p $pid 9ms
is "$(attr get $pid)" "${before% *} 9000000" "policy batch, nice 7 and reset-on-fork stay"
"$SCHEDLAT" slice -q -p $pid default
is "$(attr get $pid)" "${before% *} $base" "default: back to the base slice"
"$SCHEDLAT" slice -q -p $pid 9ms
"$SCHEDLAT" slice -q -p $pid 0
is "$(slice_of $pid)" "$base" "so does 0"

# All threads of a process, one thread, names.
coproc THREADS { exec "$python" "$test_dir/attr.py" threads 5; }
threads=$THREADS_PID
read -r -a tids <&"${THREADS[0]}"
is ${#tids[@]} 6 "a process with six threads"
each() { attr slice "${tids[@]}" | sort -n | uniq -c | awk '{ printf "%s%d:%d", s, $2, $1; s = " " }'; }
is "$("$SCHEDLAT" slice -p $threads 5ms)" "slice 5.000 ms: set on 6 threads" "-p is all threads"
is "$(each)" "5000000:6" "and they have it"
is "$("$SCHEDLAT" slice -t "${tids[3]}" 6ms)" "slice 6.000 ms: set on 1 thread" "-t is one"
is "$(each)" "5000000:5 6000000:1" "and only that"
"$SCHEDLAT" slice -q -p $threads -t "${tids[3]},${tids[4]}" 7ms
is "$(each)" "5000000:4 7000000:2" "-p and -t: both must match"
"$SCHEDLAT" slice -q -p $threads --comm 'slice-[34]' 11ms
is "$(each)" "5000000:3 7000000:1 11000000:2" "--comm is the thread's own name"
"$SCHEDLAT" slice -q -p $threads default
is "$(each)" "$base:6" "all back"

# Slices are restored after a command, whatever its end.
"$SCHEDLAT" slice -q -t "${tids[2]}" 3ms
"$SCHEDLAT" slice -q -p $threads 8ms --while -- sh -c "'$python' '$test_dir/attr.py' slice ${tids[2]} ${tids[4]} >seen; exit 37"
is $? 37 "--while: the command's status"
is "$(paste -sd' ' seen)" "8000000 8000000" "the command runs while the slices are set"
is "$(each)" "$(printf '%s\n' "$base:5" 3000000:1 | sort -n | paste -sd' ')" "and then they are as before"
"$SCHEDLAT" slice -q -p $threads 8ms --while -- ./not-there 2>/dev/null
is $? 127 "--while: no such command"
is "$(slice_of "${tids[2]}")" 3000000 "as before, too"
for how in TERM INT; do
	rm -f ready
	# A background job of a script ignores SIGINT; setsid and env make it an ordinary one.
	env --default-signal=INT "$SCHEDLAT" slice -q -p $threads 8ms --while -- \
		sh -c 'trap "exit 9" TERM INT; echo >ready; while :; do sleep 0.05; done' &
	tool=$!
	for _ in $(seq 100); do [ -e ready ] && break; sleep 0.05; done
	is "$(slice_of "${tids[2]}")" 8000000 "$how: set while the command runs"
	kill -$how $tool
	wait $tool
	is $? 9 "$how is the command's, and so is the status"
	is "$(slice_of "${tids[2]}")" 3000000 "$how: the former slice is back"
done
"$SCHEDLAT" slice -q -p $threads 8ms --while -- "$python" "$test_dir/attr.py" set "${tids[2]}" runtime=4000000
is "$(slice_of "${tids[2]}")" 4000000 "what somebody else set meanwhile stays"
"$SCHEDLAT" slice -q -p $threads default

# Threads made while it works, and those that inherit the slice.
"$python" "$test_dir/attr.py" maker >made &
maker=$!
for _ in $(seq 100); do [ -s made ] && break; sleep 0.05; done
sleep 0.3
others() { "$SCHEDLAT" slice -p $maker --fields slice -x , | grep -cvx "$1"; }
"$SCHEDLAT" slice -q -p $maker 6ms
is "$(others 6000000)" 1 "threads that were made meanwhile have it (the heading has not)"
"$SCHEDLAT" slice -q -p $maker default
"$SCHEDLAT" slice -q -p $maker 6ms --while -- sleep 0.7
is "$(others "$base")" 1 "threads made during --while have not kept it"
kill $maker

# What has no slice is left out, with the reason.
sleep 300 >/dev/null 2>&1 &
rt=$!
if chrt -f -p 1 $rt 2>/dev/null; then
	out=$("$SCHEDLAT" slice -p $rt 8ms 2>&1)
	is $? 1 "only a realtime thread: status"
	is "$(head -n 1 <<<"$out")" \
		"schedlat slice: sleep[$rt] not set: a realtime thread (SCHED_FIFO, SCHED_RR) has no slice" \
		"realtime: the reason"
	out=$("$SCHEDLAT" slice -p $rt,$pid 8ms 2>/dev/null)
	is $? 0 "a realtime thread among others: status"
	is "$out" "slice 8.000 ms: set on 1 thread, 1 not set" "and what is printed"
	is "$("$SCHEDLAT" slice -p $rt --fields policy,priority,slice,set -x , | tail -n 1)" "fifo,1,," \
		"it is shown without a slice"
else
	skip "realtime threads" "no realtime policy here"
fi
sleep 300 >/dev/null 2>&1 &
idle=$!
chrt -i -p 0 $idle
out=$("$SCHEDLAT" slice -p $idle 8ms 2>&1)
if [ "$(slice_of $idle)" = 8000000 ]; then
	skip "SCHED_IDLE" "this kernel sets slices for it"
else
	matches "$out" "sleep\[$idle\] not set: the kernel sets no slice for SCHED_IDLE" "SCHED_IDLE: the reason"
fi

# Rights: a stranger may not, an owner may.
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
chmod 755 "$tmp"
cp "$SCHEDLAT" "$tmp/tool"
"$SCHEDLAT" slice -q -p $pid default
if nobody true 2>/dev/null; then
	out=$(nobody ./tool slice -p $pid 8ms 2>&1)
	is $? 1 "another user's thread: status"
	is "$(head -n 1 <<<"$out")" \
		"schedlat slice: sleep[$pid] not set: no right to change a thread of user 0: be that user, or have CAP_SYS_NICE (root)" \
		"another user's thread: the message"
	is "$(slice_of $pid)" "$base" "and it has not changed"
	out=$(nobody ./tool slice -p $pid 8ms --while -- echo ran 2>/dev/null)
	is "$out" "" "nor is a command started"
	matches "$(nobody ./tool slice -p $pid)" "$pid +$pid +batch" "but it can be looked at"
	setpriv --reuid=65534 --regid=65534 --clear-groups sleep 300 >/dev/null 2>&1 &
	other=$!
	for _ in $(seq 100); do [ "$(cat /proc/$other/comm)" = sleep ] && break; sleep 0.05; done
	is "$(nobody ./tool slice -p $other 8ms)" "slice 8.000 ms: set on 1 thread" "an own thread"
else
	skip "rights" "setpriv cannot change the user"
fi

# Nobody there; wrong usage.
message() { "$SCHEDLAT" slice "$@" 2>&1; echo "$?"; }
is "$(message -p 4194999 8ms)" "$(printf 'schedlat slice: there is no process 4194999 (-p)\n1')" "no such process"
is "$(message -t 4194999)" "$(printf 'schedlat slice: there is no thread 4194999 (-t)\n1')" "no such thread"
matches "$(message --comm no-such-name 8ms)" "no thread has a name that matches 'no-such-name'.*1" "no such name"
matches "$(message 8ms)" "set the slice of which threads. Say -p, -t or --comm.*129" "everybody is not meant"
matches "$(message -p $pid 8)" "'8' is not a slice: write it like 8ms or 500us, or default.*129" "a unit is needed"
matches "$(message -p $pid 8ms -- true)" "a command needs --while.*129" "a command without --while"
matches "$(message -p $pid 8ms --while)" "--while needs a slice and a command.*129" "--while without a command"
finish
