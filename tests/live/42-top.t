#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# top as text and JSON: options, numbers, the provoked cause within three frames, the tracefs fallback.
top=$(realpath "$(dirname "$0")/../..") # lib.sh changes the directory
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip_all "python3 is not installed"
before=$(state)

out=$("$SCHEDLAT" top </dev/null 2>&1)
is $? 129 "without a terminal: status"
matches "$out" 'no terminal here: --batch' "and what to do"
for args in "-T 0ms" "-I 1ms" "-n 0 -j" "-s size --batch" "--screen=tasks -j" "--batch --screen=x" "-p x --batch" \
	"--backend=perf --batch" "-T 5 -j"; do
	# shellcheck disable=SC2086
	out=$("$SCHEDLAT" top $args 2>&1)
	is "$?:$(wc -l <<<"$out")" 129:1 "top $args: a usage error, in one line"
done
"$SCHEDLAT" top --batch -- /no/such/command >/dev/null 2>&1
is $? 127 "a command that is not there"
"$SCHEDLAT" top --batch -- sh -c 'kill -SEGV $$' >out.txt 2>&1
is $? 139 "the status of a command that crashes"
matches "$(<out.txt)" 'schedlat top \(bpf\)' "and a frame until then"

# A thread with a hostile name and a short slice, whose waits are counted.
cat >short.py <<'END'
import ctypes, os, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(15, b"\x1b[2Jw\xff", 0, 0, 0)
attr = ctypes.create_string_buffer(struct.pack("IIQiIQQQ", 48, 0, 0, 0, 0, 500000, 0, 0))
if libc.syscall(314, os.getpid(), attr, 0):
    sys.exit(1)
end = time.time() + 60
while time.time() < end:
    time.sleep(0.002)
END
python3 short.py &
short=$!
"$SCHEDLAT" top -j -n 3 -I 500ms >frames.json 2>err.txt
is "$?:$(<err.txt)" 0: "JSON: three frames"
python3 - $short >found.txt <<'END'
import json, sys
frames = [json.loads(line) for line in open("frames.json")]
rows = [t for f in frames for t in f["tasks"] if t["tid"] == int(sys.argv[1])]
last = rows[-1] if rows else None
print(len(frames), all(f["schema"] == "schedlat.top/1" for f in frames), [f["frame"] for f in frames] == [1, 2, 3])
print(bool(rows), last and last["short"], last and last["slice_ns"], last and last["class"])
print(last and 50 < last["count"] < 2000, last and 0 < last["p50_ns"] <= last["p99_ns"] <= last["max_ns"])
print(all(t["short"] for f in frames for t in f["tasks"]), frames[-1]["threads"] >= len(frames[-1]["tasks"]))
a = frames[-1]["all"]
parts = sum(a[k] for k in ("path_ns", "idle_ns", "fair_ns", "rt_ns", "dl_ns", "moved_ns"))
print(a["sum_ns"] and abs(parts - a["sum_ns"]) <= a["sum_ns"] / 20)
print(sum(f["cpus"][0]["now_count"] for f in frames) > 0, all(c["tid"] is not None for c in frames[-1]["cpus"] if c["now_count"]))
END
is "$(sed -n 1p found.txt)" "3 True True" "frames: number, schema, order"
if [ "$(sed -n 's/ .*//;2p' found.txt)" = True ]; then
	is "$(sed -n 2p found.txt)" "True True 500000 fair" "the thread with a short slice is shown"
	is "$(sed -n 3p found.txt)" "True True" "its waits are counted, its percentiles in order"
	is "$(sed -n 4p found.txt)" "True True" "no other is"
	is "$(sed -n 5p found.txt)" "True" "what went on in all waits adds up to them"
else
	skip "the thread with a short slice is shown" "the kernel has no slices per thread, or it never ran"
fi
is "$(sed -n 6p found.txt)" "True True" "CPUs: waits, and who runs where a wait has ended"
LC_ALL=C "$SCHEDLAT" top --batch -n 1 -a -I 500ms --screen=all >text.txt 2>&1
is $? 0 "text: status"
is "$(LC_ALL=C grep -c $'[\x01-\x09\x0b-\x1f\x7f-\xff]' text.txt)" 0 "no byte of a name reaches the terminal"
is "$(LC_ALL=C awk 'length > 100' text.txt | wc -l)" 0 "no line has more than 100 columns"
matches "$(<text.txt)" 'x1b.2Jw' "the name is escaped"
for words in 'task +tid cls' 'held by +now' 'CPU +idle running' 's ago task'; do
	matches "$(<text.txt)" "$words" "screen with '$words'"
done

# The examples of the manual page, but for those that need a terminal.
while read -r command; do
	out=$(PATH="$(dirname "$SCHEDLAT"):$PATH" timeout 60 bash -c "$command" 2>&1)
	is "$?:$([ -n "$out" ] && echo said)" 0:said "example: $command"
done < <(sed -n '/^\.Sh EXAMPLES/,/^\.Sh D/p' "$top/man/schedlat-top.1" |
	grep -E '^schedlat top .*(batch|-j)' | tr -d '\\')
kill $short 2>/dev/null
wait $short 2>/dev/null

# The provoked cause is the dominant one within three frames.
named() # PROVOKER
{
	local pid victims
	"$O/tests/workloads/$1" -s 40 >said.txt 2>&1 &
	pid=$!
	for _ in $(seq 100); do
		grep -q '^ready' said.txt && break
		kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	victims=$(awk '$1 == "victim" { print $2 }' said.txt | paste -sd,)
	[ -n "$victims" ] && "$SCHEDLAT" top -j -n 3 -T 100us -t "$victims" >frames.json 2>&1
	kill $pid 2>/dev/null
	wait $pid 2>/dev/null
	[ -n "$victims" ] || return 2
	causes=$("$O/tests/workloads/$1" --about | sed -n 's/^causes=//p') python3 -c '
import json, os, sys
frames = [json.loads(line) for line in open("frames.json")]
rows = [t for f in frames for t in f["tasks"] if t["cause"]]
print("#", sys.argv[1], [(f["judged"]["count"], [t["cause"] for t in f["tasks"]]) for f in frames])
sys.exit(not any(t["cause"] in os.environ["causes"].split() for t in rows))' "$1"
}
if [ -x "${O:-}/tests/workloads/rt-hog" ]; then
	good=0 tried=0
	for name in rt-hog deadline-hog batch-wakee equal-herd softirq-flood long-syscall slice-protection \
		negative-lag; do
		named $name || named $name
		case $? in
		0) good=$((good + 1)) tried=$((tried + 1)) ;;
		2) echo "# $name: $(grep -m 1 '^skip' said.txt)" ;;
		*) tried=$((tried + 1)) ;;
		esac
		[ $good -lt 6 ] || break
	done
	if [ $tried -lt 6 ]; then
		skip "six provokers: the provoked cause dominates within three frames" "only $tried of them run here"
	elif [ $good -lt 6 ] && awk -v n="$(nproc)" '{ exit !($1 > n) }' /proc/loadavg; then
		skip "six provokers: the provoked cause dominates within three frames" \
			"$good of $tried did; others load this machine: $(cut -d' ' -f1 /proc/loadavg)"
	else
		within $good 6 8 "six provokers: the provoked cause dominates within three frames"
	fi
else
	skip "provokers" "they are not built: make workloads"
fi

# Without BPF: the same numbers from a tracefs instance, and what is missing is said.
"$SCHEDLAT" top --backend=tracefs --batch -n 2 -a -I 500ms >fs.txt 2>&1
is $? 0 "tracefs: status"
matches "$(<fs.txt)" 'schedlat top \(tracefs\)' "tracefs: it says so"
matches "$(<fs.txt)" 'missing without bpf' "and what is missing"
"$SCHEDLAT" top --backend=tracefs -j -n 3 -a -I 500ms >fs.json 2>&1
is "$(python3 -c '
import json
frames = [json.loads(line) for line in open("fs.json")]
print(frames[-1]["backend"], frames[-1]["all"]["count"] > 0, frames[-1]["all"]["fair_ns"],
      all(t["waiting"] is None for t in frames[-1]["tasks"]))')" "tracefs True None True" \
	"tracefs: waits are counted, what is not known is null"
state_is "$before" "tracefs is as before"
finish
