#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the bpf backend records: every reader can read it, and it adds up.
contract=$(realpath "$(dirname "$0")/../../kernel-patches/contract")
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

# Forks, sleeps, and two tasks that compete for CPU 0 through some ticks.
cat >work.sh <<'END'
spin() { local end=$((${EPOCHREALTIME/[.,]/} + 100000)); while ((${EPOCHREALTIME/[.,]/} < end)); do :; done; }
taskset -pc 0 $$ >/dev/null
spin & spin & wait
for i in $(seq 50); do /bin/true; done
END
cat >short.sh <<'END'
for i in $(seq 10); do sleep 0.005; done
END
report_of() # FILE: trace-cmd's lines of events, without the metadata
{
	trace-cmd report -i "$1" 2>/dev/null | grep -vE '^cpus=| (meta|task): '
}
adds_up() # FILE: "wakeups samples+discards" of the report
{
	"$SCHEDLAT" report -j "$1" | python3 -c '
import json, sys
c = json.load(sys.stdin)["counters"]
print(c["wakeups"], c["samples"] + sum(c["discarded"].values()))'
}

out=$("$SCHEDLAT" record --backend bpf -o a.dat -- bash work.sh 2>&1)
is $? 0 "record a command"
matches "$out" 'bpf: ([0-9]+) events in [0-9.]+ [a-z]*s, 0 lost; ring ([0-9]+) KiB for all CPUs \(asked for 8192 per CPU\)' \
	"backend, events, losses and the ring are printed"
events=${BASH_REMATCH[1]} ring=${BASH_REMATCH[2]}
trace-cmd report -i a.dat >all.txt 2>trace-cmd.err
is "$?:$(grep -v '^$' trace-cmd.err)" "0:" "trace-cmd report reads it and has nothing to say"
is "$(meta a.dat buffer.ring_bytes)" $((ring * 1024)) "meta buffer.ring_bytes"
within "$ring" $((8192 * $(nproc))) $((16384 * $(nproc) * 2)) "the ring is 8 MiB per CPU, to a power of two"
is "$(meta a.dat backend)" bpf "meta backend"
is "$(meta a.dat overhead.events)" "$events" "meta overhead.events"
is "$(meta a.dat lost.cpu0)" 0 "meta lost.cpu0"
matches "$(meta a.dat bpf.probes)" '^sched:sched_switch,' "meta bpf.probes"
matches "$(meta a.dat bpf.has_eevdf)" '^[01]$' "meta bpf.has_eevdf"
is "$(meta a.dat bpf.damaged) $(meta a.dat bpf.unknown_records)" "0 0" "every record was understood"
is "$(meta a.dat bpf.unknown_resched)" 0 "every request to stop was understood"
is "$(tr , '\n' <<<"$(meta a.dat bpf.probes)" | wc -l)" \
	$(($("$SCHEDLAT" check | sed -n 's/^ *probes *[0-9]* of \([0-9]*\).*/\1/p') - $(grep -c ' meta: *bpf.missing.' all.txt))) \
	"a probe is attached, or its reason is there"
basename -s .format "$contract"/*.format >told
is "$(grep -cx sched_pick_fair told)" 1 "the contract of the kernel patches has its events"
is "$("$SCHEDLAT" check | sed -n '/^ *events /,/^ *decisions /p' | grep -wFf told)" "" \
	"check does not miss the events of kernel-patches among those of stock kernels"

grep -vE '^cpus=| (meta|task): ' all.txt >a.txt
is "$(wc -l <a.txt)" "$events" "and sees as many events as were counted"
is "$(grep -cE 'UNKNOWN EVENT|FAILED TO PARSE|Error:|ERROR' a.txt)" 0 "and prints every one of them"
for event in sched_switch sched_waking sched_wakeup sched_wakeup_new sched_process_fork \
	sched_process_exec sched_process_exit task_newtask task_rename; do
	within "$(grep -c " $event: " a.txt)" 1 100000000 "has $event"
done
within "$(grep -cE ' (local_timer_entry|softirq_entry|irq_handler_entry|ipi_entry): ' a.txt)" 1 \
	100000000 "has interrupts"
if [ "$(meta a.dat bpf.has_eevdf)" = 1 ]; then
	within "$(grep -cE ' entity: +WAKEE level=0 .* vruntime=[0-9]+ deadline=[0-9]+ slice=[0-9]+' a.txt)" \
		1 100000000 "wakees are shown with their virtual times"
	within "$(grep -cE ' entity: +(NEXT|PREV) level=0 ' a.txt)" 1 100000000 "and so are next and prev"
else
	is "$(grep -cE ' (queue|entity): ' a.txt)" 0 "no snapshots without EEVDF"
fi
for pair in has_queue:queue probes.*sched_set_need_resched_tp:need_resched probes.*sched_exit_tp:picked_again; do
	key=${pair%:*} event=${pair#*:}
	if grep -qE " meta: *bpf.${key/probes/probes=}(=1)?" all.txt; then
		within "$(grep -c " $event: " a.txt)" 1 100000000 "has $event"
	else
		skip "has $event" "this kernel does not show it"
	fi
done
if grep -q ' queue: ' a.txt && grep -q ' local_timer_exit: ' a.txt; then
	within "$(grep -c ' tick: ' a.txt)" 1 100000000 "two tasks on one CPU: has tick"
else
	skip "two tasks on one CPU: has tick" "no queues, or no local timer vector"
fi
# Snapshots stand right before their event, on its CPU, with its time.
is "$(awk '{ match($0, /\[[0-9]+\]/); cpu = substr($0, RSTART, RLENGTH)
	match($0, /[0-9]+\.[0-9]+: /); at = substr($0, RSTART, RLENGTH)
	part = $0 ~ / (queue|entity): /
	if (open[cpu] && at != open[cpu]) bad++
	open[cpu] = part ? at : "" } END { print bad + 0 }' a.txt)" 0 "snapshots have the time of their event"
# Without the plugin for sched_switch, which has letters of its own.
trace-cmd report -N -i a.dat 2>/dev/null | grep ' sched_switch: ' >switches.txt
is "$(grep -vcE ' prev_state=(R|R\+|[SDTtXZPI](\|[SDTtXZPI])*) ==> ' switches.txt)" 0 "states at switches are letters"
within "$(grep -c ' prev_state=R+ ==> ' switches.txt)" 1 100000000 \
	"tasks that were preempted are marked"
# shellcheck disable=SC2046
is $(adds_up a.dat) "every wakeup is a sample or has a reason why not"
out=$("$SCHEDLAT" report a.dat)
matches "$out" 'recorded by schedlat \(bpf\)' "report names the backend"
own=$(meta a.dat own_tids)
is "$(grep -E " sched_(waking|wakeup): .* pid=(${own//,/|}) " a.txt | wc -l)" 0 "our own wakeups are not recorded"

"$SCHEDLAT" record -q -o auto.dat -- true
is "$(meta auto.dat backend)" bpf "auto is bpf where it works"
"$SCHEDLAT" record -q --flight 1s -T 100ms -d 200ms -o auto.dat
is "$(meta auto.dat backend)" tracefs "and tracefs with --flight"
"$SCHEDLAT" record -q --backend bpf --no-irq -o f.dat -- bash short.sh
report_of f.dat >f.txt
is "$(grep -cE ': (local_timer|irq_handler|softirq|reschedule|ipi)_' f.txt)" 0 "--no-irq has no interrupts"
within "$(grep -c ' sched_switch: ' f.txt)" 1 100000000 "--no-irq has switches"
"$SCHEDLAT" record -q --backend bpf --compress -o z.dat -- bash short.sh
# shellcheck disable=SC2046
is $(adds_up z.dat) "--compress can be read"
within "$(awk -v b="$(stat -c %s z.dat)" -v e="$(meta z.dat overhead.events)" 'BEGIN { print b / e }')" 1 60 \
	"--compress makes it small"
if [ "$(nproc --all)" -gt 1 ]; then
	"$SCHEDLAT" record -q --backend bpf -C 1 -o g.dat -- bash short.sh
	is "$(report_of g.dat | sed -n 's/^.\{16\}-[0-9]* *\[\([0-9]*\)\].*/\1/p' | sort -u)" 001 "-C 1 has only CPU 1"
	is "$(meta g.dat cpus_recorded)" 1 "meta cpus_recorded"
else
	skip "-C 1 has only CPU 1" "one CPU"
fi
out=$("$SCHEDLAT" record --backend bpf -C 4095 -d 100ms -o x.dat 2>&1)
matches "$? $out" '^129 .*no such CPU' "-C with a CPU that is not there"

# Filters on the wakee.
"$SCHEDLAT" record -q --backend bpf --only 'comm:sle*' -o only.dat -- bash short.sh
report_of only.dat >only.txt
is "$(grep -E ' sched_(waking|wakeup|wakeup_new): ' only.txt | grep -vcE 'comm=sle| sle[^ ]*:[0-9]+ \[')" 0 \
	"--only comm: no other wakee"
within "$(grep -cE ' sched_waking: +comm=sle' only.txt)" 1 1000 "--only comm: these wakees"
is "$(meta only.dat only)" 'comm:sle*' "meta only"
out=$("$SCHEDLAT" record --backend bpf --only comm:nobody-is-me -o none.dat -- bash short.sh 2>&1)
matches "$out" "no wakeup matched --only" "nothing matched: it is said"
sleep 20 & sleeper=$!
out=$("$SCHEDLAT" record --backend bpf --only pid:$sleeper --only comm:sleep -d 100ms -o none.dat 2>&1)
kill $sleeper
is "$(meta none.dat only)" "pid:$sleeper;comm:sleep" "several filters"
finish
