#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A recording through BPF: it loads, records and leaves nothing; what it says of the
# kernel's fair class is what the kernel says.
. /tests/lib.sh
has cyclictest || skip_all "no cyclictest"
has trace-cmd || skip_all "no trace-cmd"
cd /out || exit

run schedlat check
matches "$said" "^bpf +can record" "check: bpf can record"
echo "$said" | sed -n '/^bpf/,/^perf/p' | grep -v ^perf | sed 's/^/# /'

run schedlat record -v --backend bpf -o bpf.dat -- cyclictest -q -l 300 -i 2000 -t 2
is "$status" 0 "record ends as cyclictest did"
[ "$status" -eq 0 ] || { echo "$said" | sed 's/^/# /'; finish; }
view bpf.dat
is "$(meta backend)" bpf "meta backend"
is "$(meta lost.cpu0),$(meta lost.cpu1)" 0,0 "nothing was lost"
is "$(meta bpf.damaged),$(meta bpf.unknown_records)" 0,0 "every record was understood"
run schedlat report bpf.dat
is "$status" 0 "report reads it"
contains "$said" "(bpf)" "report says how it was recorded"
at_least "$(schedlat report --comm cyclictest --fields count -s count -x , bpf.dat | sed -n 2p)" 290 \
	"a thread of cyclictest waited after each of its sleeps"
at_least "$(events sched_switch)" 600 "has switches"
at_least "$(events sched_waking)" 600 "has wakeups"
at_least "$(events local_timer_entry)" 10 "has timer interrupts"

# PLACE_LAG came with EEVDF.
if grep -q PLACE_LAG /sys/kernel/debug/sched/features; then
	is "$(meta bpf.has_eevdf),$(meta bpf.has_queue)" 1,1 "EEVDF, its queues can be read"
	switches=$(events sched_switch)
	at_least "$(grep -c ' entity: *NEXT ' "$TMPDIR/view")" $((switches / 4)) \
		"tasks that were picked have snapshots"
	at_least "$(grep -c ' entity: *WAKEE ' "$TMPDIR/view")" 500 \
		"tasks that were woken have snapshots"
	at_least "$(events queue)" 500 "has snapshots of queues"
else
	is "$(meta bpf.has_eevdf),$(meta bpf.has_queue)" 0,0 "no EEVDF, and that is known"
	is "$(events '(queue|entity)')" 0 "no snapshots"
	contains "$(meta bpf.why_no_queue)" "not EEVDF" "the recording says why"
	run schedlat check
	contains "$said" "not EEVDF" "check says so too"
fi
flat=0
[ "$(meta bpf.fields | grep -c h_load)" -eq 0 ] || flat=1
is "$(meta bpf.has_flat)" $flat "one flat queue: where tasks have a flattened weight"
# Bare tracepoints are not listed in tracefs, but each has a symbol.
grep ' __tracepoint_sched_' /proc/kallsyms >"$TMPDIR/points"
for point in sched_set_need_resched_tp sched_exit_tp; do
	there=1
	grep -q " __tracepoint_$point\$" "$TMPDIR/points" || there=0
	is "$(meta bpf.probes | grep -c "sched:$point")" $there "$point: used where the kernel has it"
done
leaves_nothing bpf

# Killed in the middle: the kernel takes all of it back.
schedlat record -q --backend bpf -o killed.dat -d 60s >/dev/null 2>&1 &
pid=$!
has bpftool || finish
for i in $(seq 100); do
	[ -n "$(bpftool prog show)" ] && break
	sleep 0.1
done
sleep 0.5
kill -KILL $pid
wait $pid 2>/dev/null
for i in $(seq 50); do
	[ -z "$(bpftool prog show)$(bpftool map show)" ] && break
	sleep 0.1
done
leaves_nothing "after SIGKILL"
rm -f killed.dat* ./*.tmp* .schedlat*
finish
