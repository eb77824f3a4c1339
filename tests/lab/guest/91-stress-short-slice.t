#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=debug cpus=4 mode=multi topo=sockets=2,cores=2,threads=1 seconds=2600
# Does every task keep running, and the debug kernel keep quiet, with all scheduler tracepoints on, under
# hackbench, stress-ng's scheduler stressors, and a storm of affinities, slices, groups with
# quota and CPUs that come and go? For one minute; lab_storm=MINUTES on the command line.
# shellcheck shell=dash
. /tests/lib.sh

tracing=/sys/kernel/tracing
minutes=$(sed -nE 's/.*lab_storm=([0-9]+).*/\1/p' /proc/cmdline)
seconds=$((${minutes:-1} * 60))
splats() { dmesg | grep -cE 'BUG|WARNING|KASAN|possible .* detected|INFO: (task|rcu)'; }

echo 1 > $tracing/events/sched/enable
is "$(cat $tracing/events/sched/enable)" 1 "all tracepoints of the scheduler are on"

# What runs beside the storm, until it is over. Each is a process group that is ended as one.
loads()
{
	while :; do hackbench -g 2 -l 200 -p >/dev/null 2>&1; done &
	while :; do
		for stressor in affinity clone futex hrtimers nanosleep pthread race-sched resched schedpolicy \
			sleep switch vfork yield; do
			timeout -s KILL 60 stress-ng --$stressor 2 --timeout 5s --temp-path /tmp >/dev/null 2>&1
		done
	done
}

# A test that cannot fail proves nothing: one of its tasks is stopped.
watchdog()
{
	sched-storm -s 8 -l 2 >"$TMPDIR/storm" 2>&1 &
	storm=$!
	sleep 1
	kill -STOP "$(sed -n 's/^pids: \([0-9]*\) .*/\1/p' "$TMPDIR/storm")"
	wait $storm
	is $? 1 "a task that is stopped is found out"
	contains "$(cat "$TMPDIR/storm")" "stuck: task 0 (spins)" "and named"
}

if has sched-storm && has stress-ng && has hackbench; then
	watchdog
	setsid sh -c "$(sed -n '/^loads()/,/^}/p' "$0"); loads" &
	load=$!
	run sched-storm -s "$seconds" -l 60
	kill -KILL -$load
	wait $load
	echo "$said" | sed 's/^/# /'
	ok "$status" "every task keeps running for $seconds s: none is without progress for 60 s"
	for change in affinity slice nice group hotplug; do
		at_least "$(echo "$said" | sed -nE "s/^changes:.* $change ([0-9]+) .*/\1/p")" 3 "$change was changed"
	done
else
	skip "every task keeps running" "no sched-storm, stress-ng or hackbench"
fi
is "$(splats)" 0 "the kernel had nothing to say"
is "$(grep -c processor /proc/cpuinfo)" "$(nproc --all)" "all CPUs are back"
echo 0 > $tracing/events/sched/enable
: > $tracing/trace
finish
