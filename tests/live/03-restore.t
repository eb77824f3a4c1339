#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Whatever way a recording ends, tracefs is as it was before.
. "$(dirname "$0")/lib.sh"

before=$(state)

"$SCHEDLAT" record --backend tracefs -q -d 200ms -o a.dat
is $? 0 "-d ends it"
state_is "$before" "tracefs after -d"

"$SCHEDLAT" record --backend tracefs -q -o a.dat -- true
is $? 0 "the command ends it"
state_is "$before" "tracefs after a command"

for signal in INT TERM HUP QUIT USR1 USR2; do
	rm -f b.dat
	env --default-signal="$signal" "$SCHEDLAT" record --backend tracefs -q -o b.dat &
	pid=$!
	wait_for_tracing $pid
	ok $? "records until a signal comes"
	kill -$signal $pid
	wait $pid
	is $? 0 "SIG$signal ends it well"
	[ -s b.dat ]
	ok $? "SIG$signal: the file is there"
	state_is "$before" "tracefs after SIG$signal"
done

rm -f c.dat
out=$("$SCHEDLAT" record --backend tracefs -o c.dat -- /nonexistent/command 2>&1)
is $? 127 "command not found: status"
matches "$out" "^schedlat record: cannot run '/nonexistent/command': command not found$" \
	"command not found: one line"
[ ! -e c.dat ]
ok $? "command not found: no file"
state_is "$before" "tracefs after command not found"
touch not-executable
"$SCHEDLAT" record --backend tracefs -q -o c.dat -- ./not-executable 2>/dev/null
is $? 126 "command not executable: status"
echo precious >c.dat
"$SCHEDLAT" record --backend tracefs -q -o c.dat -- /nonexistent/command 2>/dev/null
is "$(cat c.dat)" precious "command not found: an old file stays what it is"
[ ! -e c.dat.old ]
ok $? "command not found: no .old"

out=$("$SCHEDLAT" record --backend tracefs -d 100ms -o /nonexistent/dir/x.dat 2>&1)
is $? 1 "no such directory: status"
matches "$out" "^schedlat record: .*/nonexistent/dir/x.dat.*No such file" "no such directory: one line"
out=$("$SCHEDLAT" record --backend tracefs -d 100ms -o . 2>&1)
is $? 1 "a directory as output: status"
matches "$out" "is a directory" "a directory as output: message"
out=$("$SCHEDLAT" record --backend tracefs -d 100ms -m 1024G -o d.dat 2>&1)
is $? 1 "too large a buffer: status"
matches "$out" "smaller -m" "too large a buffer: message"
out=$("$SCHEDLAT" record --backend tracefs -d 100ms -C 4095 -o d.dat 2>&1)
is $? 129 "no such CPU: status"
out=$("$SCHEDLAT" record --backend tracefs -d 100ms -p 2147483646 -o d.dat 2>&1)
is $? 1 "no such process: status"
matches "$out" "no process 2147483646" "no such process: message"
state_is "$before" "tracefs after errors"
is "$(ls -A . | grep -c '^\.schedlat')" 0 "no temporary file is left"

# SIGKILL leaves an instance, which the next recording names and removes.
"$SCHEDLAT" record --backend tracefs -q -o e.dat &
pid=$!
wait_for_tracing $pid
kill -KILL $pid
wait $pid 2>/dev/null
[ -d "$TRACEFS/instances/schedlat-$pid" ]
ok $? "SIGKILL leaves the instance"
is "$(state | grep -v '^instance')" "$(grep -v '^instance' <<<"$before")" "and nothing else"
[ ! -e e.dat ]
ok $? "SIGKILL leaves no file"

# One that is alive is left alone.
"$SCHEDLAT" record --backend tracefs -q -o f.dat &
alive=$!
wait_for_tracing $alive
is "$(ls -d "$TRACEFS/instances/schedlat-$pid" 2>/dev/null)" "" "the next recording removed it"
out=$("$SCHEDLAT" record --backend tracefs -d 100ms -o g.dat 2>&1)
[ -d "$TRACEFS/instances/schedlat-$alive" ]
ok $? "a recording that is alive keeps its instance"
kill -INT $alive
wait $alive
is $? 0 "and ends well"
mkdir "$TRACEFS/instances/schedlat-$pid"
out=$("$SCHEDLAT" record --backend tracefs -d 100ms -o g.dat 2>&1)
matches "$out" "removed the tracefs instance 'schedlat-$pid'" "the removal is named"
mkdir "$TRACEFS/instances/schedlat-x$pid" "$TRACEFS/instances/other-$pid"
"$SCHEDLAT" record --backend tracefs -q -d 100ms -o g.dat
is "$(ls -d "$TRACEFS/instances/schedlat-x$pid" "$TRACEFS/instances/other-$pid" | wc -l)" 2 \
	"instances of others are left alone"
rmdir "$TRACEFS/instances/schedlat-x$pid" "$TRACEFS/instances/other-$pid"
state_is "$before" "tracefs at the end"
finish
