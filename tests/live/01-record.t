#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A recording holds what was asked for, and says what it is.
. "$(dirname "$0")/lib.sh"
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

busy() { for _ in $(seq 200); do /bin/true; done; }
export -f busy

out=$("$SCHEDLAT" record --backend tracefs -o a.dat -- bash -c busy 2>&1)
is $? 0 "record a command"
matches "$out" '([0-9]+) events in [0-9.]+ [a-z]*s, ([0-9]+) lost' "events and losses are printed"
events=${BASH_REMATCH[1]} lost=${BASH_REMATCH[2]}
matches "$out" "wrote a.dat, $(stat -c %s a.dat) bytes" "the size that is printed is the size"
trace-cmd report -i a.dat >a.txt 2>a.err
is $? 0 "trace-cmd report reads it"
is "$(grep -c ' \(meta\|task\): ' a.txt)" "$(grep -c '^ *schedlat-[0-9].* \(meta\|task\): ' a.txt)" \
	"all metadata is schedlat's"
is "$(grep -c ': ' a.txt)" $((events + $(grep -c ' \(meta\|task\): ' a.txt))) \
	"trace-cmd sees as many events as were counted"
for event in sched_switch sched_waking sched_wakeup sched_process_fork sched_process_exec \
	sched_process_exit task_newtask task_rename; do
	within "$(grep -c " $event: " a.txt)" 1 100000000 "has $event"
done
within "$(grep -cE ' (local_timer_entry|irq_handler_entry|softirq_entry|ipi_entry): ' a.txt)" 1 \
	100000000 "has interrupts"
is "$(head -n 2 a.txt | grep -c ' meta: ')" 1 "metadata comes first"

is "$(meta a.dat backend)" tracefs "meta backend"
is "$(meta a.dat clock)" mono "meta clock"
is "$(meta a.dat 'lost.cpu0')" 0 "meta lost.cpu0" # the buffers hold all of this
is "$lost" 0 "nothing was lost"
is "$(meta a.dat overhead.events)" "$events" "meta overhead.events"
is "$(meta a.dat command_exit_status)" 0 "meta command_exit_status"
is "$(meta a.dat cpus_online)" "$(cat /sys/devices/system/cpu/online)" "meta cpus_online"
matches "$(meta a.dat command_line)" '^schedlat record --backend tracefs -o a.dat -- bash -c busy$' "meta command_line"
matches "$(meta a.dat uname)" "$(uname -r)" "meta uname"
matches "$(meta a.dat events_enabled)" 'sched:sched_switch,.*irq:softirq_exit' "meta events_enabled"
is "$(meta a.dat target_pids)" "" "no target_pids without -p"
start=$(meta a.dat t_start_ns) stop=$(meta a.dat t_stop_ns)
within "$start" 1 "$stop" "t_start_ns is before t_stop_ns"
first=$(grep -m1 ' sched_switch: ' a.txt | sed 's/.* \([0-9]*\)\.\([0-9]*\): sched_switch.*/\1\2/')
within "$first" $((start / 1000 - 1)) $((stop / 1000 + 1)) "events lie between them"

own=$(meta a.dat own_tids)
within "$(grep -c ' task: .* own=1' a.txt)" 2 1000 "own threads are marked"
is "$(grep ' task: .* phase=0 .*own=1' a.txt | sed 's/.* pid=\([0-9]*\) .*/\1/' | sort -n | paste -sd,)" \
	"$(tr , '\n' <<<"$own" | sort -n | paste -sd,)" "own_tids are the threads marked at the start"
is "$(grep ' task: .* pid=1 .*phase=0' a.txt | grep -c 'tgid=1 policy=0 .* cpus=[0-9,-]* cgroup=/')" 1 \
	"tasks: process 1 with policy, CPUs and cgroup"
within "$(grep -c ' task: .* phase=1' a.txt)" 10 100000 "tasks at the end"
chrt -b 0 nice -n 5 sleep 30 &
sleeper=$!
"$SCHEDLAT" record --backend tracefs -q -d 100ms -o b.dat
kill $sleeper
matches "$(trace-cmd report -i b.dat 2>/dev/null | grep " task: .*pid=$sleeper .*phase=0")" \
	'policy=3 nice=5' "policy and nice of a batch task"

echo old >c.dat
out=$("$SCHEDLAT" record --backend tracefs -d 100ms -o c.dat 2>&1)
is "$(cat c.dat.old)" old "an old file is kept as .old"
out=$("$SCHEDLAT" record --backend tracefs -q -d 100ms -o d.dat 2>&1)
is "$out" "" "-q says nothing"
(mkdir sub && cd sub && "$SCHEDLAT" record --backend tracefs -q -d 100ms && [ -s schedlat.dat ])
is $? 0 "schedlat.dat is the default"

# An effective size is at least what was asked for, less than two sub-buffers more.
for size in 512k 3M; do
	bytes=$(numfmt --from=iec "${size^^}")
	out=$("$SCHEDLAT" record --backend tracefs -m $size -d 100ms -o e.dat 2>&1)
	got=$(meta e.dat buffer.bytes)
	within "$got" "$bytes" $((bytes + 4 * 4096)) "-m $size: the effective size"
	is "$(meta e.dat buffer.asked_bytes)" "$bytes" "-m $size: what was asked for"
	matches "$out" "buffer $((got / 1024)) KiB per CPU \(asked for $((bytes / 1024))\)" "-m $size is printed"
done

"$SCHEDLAT" record --backend tracefs -q --no-irq -o f.dat -- bash -c busy
is "$(trace-cmd report -i f.dat 2>/dev/null | grep -cE ': (local_timer|irq_handler|softirq|reschedule|ipi)_')" 0 \
	"--no-irq has no interrupts"
within "$(trace-cmd report -i f.dat 2>/dev/null | grep -c ' sched_switch: ')" 1 100000000 "--no-irq has switches"

if [ "$(nproc --all)" -gt 1 ]; then
	"$SCHEDLAT" record --backend tracefs -q -C 1 -o g.dat -- bash -c busy
	is "$(trace-cmd report -i g.dat 2>/dev/null | grep -vE ' (meta|task): ' |
		sed -n 's/^.\{16\}-[0-9]* *\[\([0-9]*\)\].*/\1/p' | sort -u)" 001 "-C 1 has only CPU 1"
	is "$(meta g.dat cpus_recorded)" 1 "meta cpus_recorded"
else
	skip "-C 1 has only CPU 1" "one CPU"
fi

"$SCHEDLAT" record --backend tracefs -q -o h.dat -- bash -c 'for i in 1 2 3 4 5; do busy; done'
"$SCHEDLAT" record --backend tracefs -q --compress -o z.dat -- bash -c 'for i in 1 2 3 4 5; do busy; done'
per() { awk -v b="$(stat -c %s "$1")" -v e="$(meta "$1" overhead.events)" 'BEGIN { print b / e }'; }
within "$(per z.dat)" 1 20 "--compress makes it small"
is "$(trace-cmd report -i z.dat 2>/dev/null | grep -c ' sched_process_fork: ')" \
	"$(trace-cmd report -i z.dat 2>/dev/null | grep -c ' task_newtask: ')" "--compress can be read"
finish
