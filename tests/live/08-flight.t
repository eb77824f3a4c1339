#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Flight mode keeps what surrounds long waits, and says what it did not keep.
. "$(dirname "$0")/lib.sh"
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"
command -v python3 >/dev/null || skip_all "python3 is not installed"

before=$(state)
# A realtime task takes CPU 0 for 150 ms every second; a sleeper there is kept waiting.
cat >late.py <<'P'
import os, signal, sys, time
signal.alarm(60)
cpu = min(os.sched_getaffinity(0))
os.sched_setaffinity(0, {cpu})
if sys.argv[1] == "hog":
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    while True:
        time.sleep(1)
        end = time.monotonic() + 0.15
        while time.monotonic() < end:
            pass
else:
    while True:
        time.sleep(0.002)
P
python3 late.py hog &
hog=$!
python3 late.py sleeper &
sleeper=$!
trap 'kill $hog $sleeper 2>/dev/null; rm -rf "$tmp"' EXIT
for _ in $(seq 50); do
	policy=$(chrt -p $hog 2>/dev/null)
	[[ $policy != *FIFO* ]] || break
	sleep 0.1
done
[[ $policy == *FIFO* ]] || skip_all "no realtime tasks here"

out=$("$SCHEDLAT" record --backend tracefs --flight 2s --threshold 100ms -d 5s -o a.dat 2>&1)
is $? 0 "record --flight"
matches "$out" 'flight: ([0-9]+) of ([0-9]+) waits above the threshold, ([0-9]+) windows, ([0-9]+) events kept' \
	"what was kept is printed"
above=${BASH_REMATCH[1]} waits=${BASH_REMATCH[2]} windows=${BASH_REMATCH[3]} kept=${BASH_REMATCH[4]}
"$SCHEDLAT" record --backend tracefs -q -d 5s -o full.dat
kill $hog $sleeper

within "$above" 3 1000000 "waits above the threshold"
# On a machine so busy that other tasks wait that long all the time, everything is a window.
busy=
((above <= 6)) || busy="other tasks wait as long: $above waits of 100 ms in 5 s"
quiet() # NAME VALUE MIN MAX
{
	if [[ $busy ]]; then skip "$1" "$busy"; else within "$2" "$3" "$4" "$1"; fi
}
quiet "windows: merged where they overlap" "$windows" 3 "$above"
within "$waits" $((above + 500)) 100000000 "waits in all"
is "$(meta a.dat flight)" 1 "meta flight"
is "$(meta a.dat flight.threshold_ns)" 100000000 "meta flight.threshold_ns"
is "$(meta a.dat flight.windows)" "$windows" "meta flight.windows"
is "$(meta a.dat flight.waits_above)" "$above" "meta flight.waits_above"
dropped=$(meta a.dat flight.events_dropped)
quiet "meta flight.events_dropped" "$dropped" 1 100000000
is $((dropped + kept)) "$(meta a.dat overhead.events)" "kept and dropped events are all events"
is "$(trace-cmd report -i a.dat 2>/dev/null | grep -c '\[[0-9]*\].* [0-9.]*: [a-z_]*: ' )" \
	$((kept + $(trace-cmd report -i a.dat 2>/dev/null | grep -cE ' (meta|task): '))) \
	"trace-cmd sees the events that were kept"
quiet "the gaps are marked" "$(trace-cmd report -i a.dat 2>/dev/null | grep -c 'EVENTS DROPPED')" \
	"$((windows - 1))" 100000

# Every late wakeup of the sleeper is there, whole.
late=$("$SCHEDLAT" report -i a.dat --json --why=100ms | python3 -c "
import json, sys
d = json.load(sys.stdin)
late = [w for w in d['why']['waits'] if w['tid'] == $sleeper and not w['taints'] and w['delay_ns'] >= 100000000]
print(len(late), sum(w['delay_ns'] == sum(s['ns'] for s in w['segments']) for w in late),
      sum(w['primary']['id'] == 'rt-class' for w in late))")
read -r found whole rt <<<"$late"
within "$found" 3 5 "the late wakeups are in the file"
is "$whole" "$found" "their segments sum to them"
is "$rt" "$found" "and the cause is known: rt-class"
matches "$("$SCHEDLAT" report -i a.dat)" "flight recording" "the report says that these are no numbers of the whole run"

out=$("$SCHEDLAT" record --backend tracefs --flight 1s --threshold 10s -d 2s -o none.dat 2>&1)
is $? 0 "nothing above the threshold: status"
is "$(meta none.dat flight.events_kept)" 0 "nothing above the threshold: nothing kept"
within "$(stat -c %s none.dat)" 1000 1000000 "nothing above the threshold: a small file"
trace-cmd report -i none.dat >/dev/null 2>&1
is $? 0 "nothing above the threshold: trace-cmd reads it"
state_is "$before" "tracefs at the end"
finish
