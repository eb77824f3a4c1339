#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=eas cpus=8 mode=icount append=lab_eas=4:256,3:640,1:1024 seconds=120
# The energy-aware choice of the short-slice series: all CPUs of a domain are candidates, cost comes first, and of
# CPUs that cost the same one is chosen where the task's slice lets it run at once. Each with its scheduler feature off.
# shellcheck shell=dash
. /tests/lib.sh
. /tests/eas.sh

tracing=/sys/kernel/tracing
features=/sys/kernel/debug/sched/features
table=/out/slice-model trace=/out/slice-trace

[ -d "$energy_model/cpu0" ] || skip_all "this guest has no energy model: lab_eas="
grep -q EAS_SLICE $features || skip_all "this kernel has no EAS_SLICE"
has eas-load || skip_all "eas-load is not built"
em_table > $table

# Utilization 51 on two small CPUs each, which are busy half of the time at their lowest frequency; on CPU 0 with
# slices shorter than those of the task that is looked at, on CPU 1 with longer ones. That one may use only these two.
eas-load 60 near:1000:20000 far:1000:20000 probe:100:7777 > $TMPDIR/load 2>&1 &
load=$!
sleep 1
tid() { awk -v name="$1" '$1 == name { print $2; exit }' $TMPDIR/load; }
near=$(tid near) far=$(tid far) probe=$(tid probe)
[ -n "$probe" ] || { ok 1 "eas-load starts" "$(cat $TMPDIR/load)"; finish; }
taskset -p 1 "$near" > /dev/null
taskset -p 2 "$far" > /dev/null
taskset -p 3 "$probe" > /dev/null
schedlat slice -t "$near" 200us > /dev/null && schedlat slice -t "$far" 16ms > /dev/null &&
	schedlat slice -t "$probe" 2ms > /dev/null
is $? 0 "slices can be set"

echo 16384 > $tracing/buffer_size_kb
for event in sched_wakeup sched_energy_candidate sched_energy_choice; do
	echo 1 > $tracing/events/sched/$event/enable
done
for phase in slice cost base slice; do
	case $phase in
	slice) echo EAS_COST > $features; echo EAS_SLICE > $features ;;
	cost) echo NO_EAS_SLICE > $features ;;
	base) echo NO_EAS_COST > $features ;;
	esac
	sleep 0.1
	echo $phase > $tracing/trace_marker
	sleep 1
	echo between > $tracing/trace_marker
done
echo 0 > $tracing/events/enable
cat $tracing/trace > $trace
kill $load
wait $load

for phase in slice cost base; do
	awk -v phase=$phase '/tracing_mark_write: / { on = $NF == phase } on || /tracing_mark_write/' \
		$trace > $TMPDIR/$phase
	em_check $table $TMPDIR/$phase > $TMPDIR/$phase.check
	grep -E '^(bad|count choices|seen|cost)' $TMPDIR/$phase.check | sed "s/^/# $phase: /"
done
# Of the choices for the task in a phase with that reason, from one CPU to another; "any" is any.
moves() # PHASE WHY PREV CPU
{
	awk -v why="$2" -v prev="$3" -v cpu="$4" '$1 == "why" && $3 == "probe" && (why == "any" || $4 == why) &&
		(prev == "any" || $5 == prev) && (cpu == "any" || $6 == cpu) { n += $7 } END { print n + 0 }' $TMPDIR/$1.check
}
mean() { awk '$1 == "cost" { n += $3; sum += $3 * $4 } END { print n ? int(sum / n) : -1 }' $TMPDIR/$1.check; }
candidates() { grep -c "sched_energy_candidate: comm=probe" $TMPDIR/$1; }

for phase in slice cost; do
	is "$(grep -c '^bad' $TMPDIR/$phase.check)" 0 "$phase: every choice is the cheapest, and of those the least busy"
done
at_least "$(moves slice any any any)" 200 "choices for the task"
is "$(candidates slice)" $((2 * $(moves slice any any any))) "both CPUs are candidates for each"
at_least "$(moves slice slice 0 1)" 5 "CPU 1 is chosen as all slices are longer there"
is "$(moves cost slice any any)" 0 "not with EAS_SLICE off"
is "$(moves base slice any any)" 0 "nor with both off"
is "$(moves base less-busy any any)" 0 "with both off, a CPU that costs the same is never a reason to move"
# The choice among CPUs that cost the same costs nothing.
sum=$(mean slice) base=$(mean base)
echo "# mean cost of a choice: $sum with both features, $(mean cost) with EAS_COST, $base with none"
at_least $((base + base / 20)) "$sum" "the features do not make choices dearer"
finish
