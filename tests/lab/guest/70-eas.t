#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=eas cpus=8 mode=icount append=lab_eas=4:256,3:640,1:1024 append=sched_verbose seconds=240
# Four small CPUs, three middle ones, a large one, and an energy model: does the scheduler place
# by energy, and do the numbers of its decisions follow from the model?
# shellcheck shell=dash
. /tests/lib.sh
. /tests/eas.sh

tracing=/sys/kernel/tracing
domains=/sys/kernel/debug/sched/domains
table=/out/eas-model trace=/out/eas-trace

grep -q 'lab_eas=4:256,3:640,1:1024' /proc/cmdline || skip_all "this guest was not told lab_eas=4:256,3:640,1:1024"
[ -d "$energy_model/cpu0" ] || skip_all "this kernel has no lab_eas driver: tests/lab/eas"
has eas-load || skip_all "eas-load is not built"

# What the kernel says of itself.
is "$(cat /proc/sys/kernel/sched_energy_aware)" 1 "energy-aware scheduling is on (sched_energy_aware)"
dmesg > /out/eas-dmesg
ok "$(grep -q 'sched_energy_set: starting EAS' /out/eas-dmesg; echo $?)" "the scheduler says that it starts EAS"
contains "$(grep 'root_domain 0-7:.*pd0' /out/eas-dmesg | tail -n 1)" \
	"pd7:{ cpus=7 nr_pstate=4 } pd4:{ cpus=4-6 nr_pstate=4 } pd0:{ cpus=0-3 nr_pstate=4 }" \
	"the root domain has the three performance domains"
for cpu in 0 4 7; do
	contains "$(cat $domains/cpu$cpu/domain*/flags)" SD_ASYM_CPUCAPACITY_FULL "CPU $cpu: a domain with all capacities"
	is "$(cat /sys/devices/system/cpu/cpu$cpu/cpufreq/scaling_governor)" schedutil "CPU $cpu: schedutil"
done

# The model is the one asked for: capacities, and a cost that is 10 * power / performance.
em_table > $table
is "$(awk '{ top[$1 "-" $2] = $3 } END { for (d in top) print d, top[d] }' $table | sort | tr '\n' ' ')" \
	"0-3 256 4-6 640 7-7 1024 " "the model has the capacities of the command line"
is "$(awk '$6 != int($5 * 10 / $3)' $table)" "" "each state's cost is its power over its performance"
is "$(awk '$1 == last && $6 <= cost { print } { last = $1; cost = $6 }' $table)" "" "faster states cost more"
sed 's/^/# model /' $table

# Three small tasks, a large one, one that will ask for performance that it does not use, one that
# will be let go from the large CPU. Utilization: 15 three times, 614, 10, 15. Two of the small ones on
# one CPU must not take it beyond its lowest frequency, or a middle CPU is cheaper for the second.
eas-load 100 small1:300:20000 small2:300:20000 small3:300:20000 large:12000:20000 \
	boosted:200:20000 freed:300:20000 > $TMPDIR/load 2>&1 &
load=$!
sleep 2
cat $TMPDIR/load
tid() { awk -v name="$1" '$1 == name { print $2; exit }' $TMPDIR/load; }
boosted=$(tid boosted) freed=$(tid freed)
[ -n "$freed" ] || { ok 1 "eas-load starts" "$(cat $TMPDIR/load)"; finish; }

# A witness: the kernel's own tracepoint of the energy computation, as text between the events.
events="sched/sched_wakeup power/cpu_frequency"
witness=
if has eas-witness; then
	eas-witness > $TMPDIR/witness 2>&1 &
	witness=$!
	until grep -q . $TMPDIR/witness; do
		sleep 0.1
		kill -0 $witness 2>/dev/null || break
	done
	grep -q ready $TMPDIR/witness || witness=
fi
traced=
[ -d $tracing/events/sched/sched_energy_choice ] && traced=1 &&
	events="$events sched/sched_energy_candidate sched/sched_energy_choice"
echo 8192 > $tracing/buffer_size_kb
for event in $events; do
	echo 1 > "$tracing/events/$event/enable"
done
phase() { echo "$1" > $tracing/trace_marker; }
# What the commands below take is work as well: only what comes before is undisturbed.
phase settled
sleep 0.7
# Several times: the programs run here may overload a CPU, and until the next balancing nobody is
# placed by energy.
for i in 1 2 3 4 5 6; do
	phase pinned
	taskset -p 80 "$freed" >/dev/null	# CPU 7
	sleep 0.06
	phase freed
	taskset -p ff "$freed" >/dev/null
	sleep 0.08
done
phase boosted
eas-load -m "$boosted" 800
sleep 0.5
taskset -p 7f "$boosted" >/dev/null	# all but CPU 7
sleep 0.3
phase end
for event in $events; do
	echo 0 > "$tracing/events/$event/enable"
done
cat $tracing/trace > $trace
[ -z "$witness" ] || kill $witness
# One for the analyser, of the same load.
run schedlat record --backend tracefs --no-irq -o /out/eas.dat -- sleep 1
recorded=$status
[ "$recorded" = 0 ] || echo "$said" | sed 's/^/# /'
kill $load
wait $load
is $? 0 "the load ends well"
grep periods $TMPDIR/load | sed 's/^/# /'

em_check $table $trace > /out/eas-check
grep -E '^(bad|count|seen)' /out/eas-check | sed 's/^/# /'
count() { awk -v key="$1" '$1 == "count" && $2 == key { print $3 }' /out/eas-check; }
# Of the choices for a task in a phase with that reason: how many went to these CPUs, or which share.
why() # number|share PHASE COMM WHY CPUS [PREV]
{
	awk -v what="$1" -v phase="$2" -v comm="$3" -v why="$4" -v cpus="$5" -v prev="${6:-any}" '
		$1 == "why" && $2 == phase && $3 == comm && (why == "any" || $4 == why) && (prev == "any" || $5 == prev) {
			if (index(" " cpus " ", " " $6 " ")) here += $7; else other += $7
		} END {
			if (what == "share") print here + other ? int(100 * here / (here + other)) : -1
			else print here + 0
		}' /out/eas-check
}

if [ -n "$witness" ]; then
	at_least "$(count energies)" 100 "the kernel computes energies"
else
	skip "the kernel computes energies" "no witness: $(cat $TMPDIR/witness 2>&1)"
fi
is "$(count bad)" 0 "every number follows from the model, every choice from the numbers"
matches "$(grep cpu_frequency: $trace)" 'state=600000 cpu_id=0' "the small CPUs run at their lowest frequency"
is "$(grep -o 'state=[0-9]* ' $trace | sort -u | tr -d ' ' | cut -c 7- |
	while read -r khz; do awk '{ print $4 }' $table | grep -qx "$khz" || echo "$khz"; done)" "" \
	"all frequencies are those of the model"
if [ -z "$traced" ]; then
	skip "decisions" "this kernel has no sched_energy_choice"
	finish
fi
at_least "$(count candidates)" 100 "candidates are traced"
is "$(count witnessed)" "$([ -n "$witness" ] && count computed || echo 0)" \
	"each of them as the kernel's own tracepoint shows it"
at_least "$(count choices)" 100 "choices are traced"
at_least "$(count enqueued)" 100 "the tasks are woken where the choice says"
# The arithmetic must be able to fail: one wrong number in one event, and it says so.
spoil() # EVENT FIELD NEW
{
	awk -v event=" $1: " -v field=" $2=" -v new="$3" '
		!done && index($0, event) && match($0, field "[0-9]+") {
			old = substr($0, RSTART + length(field), RLENGTH - length(field))
			$0 = substr($0, 1, RSTART - 1) field (new == "+1" ? old + 1 : new) substr($0, RSTART + RLENGTH)
			done = 1
		}
		{ print }' $TMPDIR/some > $TMPDIR/spoiled
	cmp -s $TMPDIR/some $TMPDIR/spoiled && ok 1 "$1 has $2"
	em_check $table $TMPDIR/spoiled > $TMPDIR/spoiled.said
	[ "$(awk '$1 == "count" && $2 == "bad" { print $3 }' $TMPDIR/spoiled.said)" -gt 0 ]
	ok $? "a wrong $2 of $1 is noticed"
}
head -n 600 $trace > $TMPDIR/some
for field in energy base_energy cost pd cpu; do
	spoil sched_energy_candidate $field +1
done
spoil sched_energy_candidate util 1
spoil sched_energy_choice cpu +1
spoil sched_energy_choice prev_cpu +1
for name in small1 small2 small3; do
	at_least "$(why share settled $name any "0 1 2 3")" 90 "$name stays on the small CPUs"
done
at_least "$(why share settled large any 7)" 90 "large stays on the large CPU"
at_least "$(why number settled large prev 7)" 20 "because nothing else fits: prev"
at_least "$(why number freed freed cheaper "0 1 2 3 4 5 6" 7)" 1 "freed leaves the large CPU: cheaper"
at_least "$(why number boosted boosted fits-better 7)" 1 "boosted asks for performance: the large CPU fits better"
at_least "$(why number boosted boosted more-capacity "4 5 6")" 1 "and without that one the middle ones: more capacity"

is "$recorded" 0 "schedlat records"
has trace-cmd || { skip "what is in the recording" "no trace-cmd"; finish; }
view /out/eas.dat
at_least "$(events sched_energy_choice)" 50 "the recording has choices"
at_least "$(events sched_energy_candidate)" 100 "and candidates"
em_check $table "$TMPDIR/view" > $TMPDIR/recorded
grep '^bad' $TMPDIR/recorded | sed 's/^/# /'
contains "$(cat $TMPDIR/recorded)" "count bad 0" "their numbers follow from the model as well"
finish
