#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Options of record: what is refused, and how.
. "$(dirname "$0")/lib.sh"

before=$(state)
refused() # STATUS ERE ARGUMENT...
{
	local want=$1 ere=$2 out status
	shift 2
	out=$("$SCHEDLAT" record "$@" 2>&1 >out.txt)
	status=$?
	is $status "$want" "record $*: status"
	matches "$out" "^schedlat record: .*$ere" "record $*: message"
	is "$(wc -l <<<"$out"):$(cat out.txt)" "1:" "record $*: one line, nothing on stdout"
}
refused 129 "no unit" -m 8
refused 129 "not a size" -m M
refused 129 "not a size" -m 0M
refused 129 "not a size" -m 8Mx
refused 129 "not a size" -m -8M
refused 129 "not a size" -m 99999999999999999999M
refused 129 "10" -d 10
refused 129 "above 0" -d 0s
refused 129 "CPUs" -C a
refused 129 "CPU" -C 0-99999
refused 129 "'x' is not a list of process ids" -p x
refused 129 "'1,' is not a list of thread ids" -t 1,
refused 129 "unknown option '--what'" --what
refused 129 "unknown option '-Z'" -Z
refused 129 "needs a value" -d
refused 129 "auto, tracefs, bpf" --backend perf
refused 129 "needs --threshold" --flight 10s
refused 129 "needs --flight" --backend tracefs -T 500us
refused 129 "a file with a name" -o -
refused 1 "no regular file" -d 100ms -o /dev/null
refused 129 "needs --backend tracefs" --backend bpf --flight 1s -T 1ms
refused 129 "needs --backend bpf" --backend tracefs --only short
refused 129 "is not one of short" --only long
refused 129 "like 12,13" --only pid:x
refused 1 "no such process or thread" --only pid:2147483646
refused 129 "at its start, end" --only 'comm:a*b'
refused 129 "like /a/b" --only cgroup:a

out=$("$SCHEDLAT" record --help 2>err.txt)
is $? 0 "--help: status"
matches "$out" "usage: schedlat record" "--help: on stdout"
is "$(cat err.txt)" "" "--help: nothing on stderr"
"$SCHEDLAT" record --backend tracefs -q -d 100ms -o a.dat
is $? 0 "--backend tracefs"
"$SCHEDLAT" record --backend auto -q -d 100ms -o a.dat
is $? 0 "--backend auto"
"$SCHEDLAT" check -x 2>/dev/null
is $? 129 "check -x: status"
state_is "$before" "tracefs at the end"
finish
