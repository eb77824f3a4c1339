#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=debug cpus=4 mode=multi topo=sockets=2,cores=2,threads=1 seconds=2400
# Does the debug kernel keep quiet, with every scheduler tracepoint on, while all provokers
# run and stress-ng's scheduler stressors for ten minutes (lab_stress=SECONDS: another time)?
# What the kernel finds wrong it writes in its log, and that fails the guest.
# shellcheck shell=dash
. /tests/lib.sh
. /tests/score.sh

tracing=/sys/kernel/tracing
seconds=$(sed -nE 's/.*lab_stress=([0-9]+).*/\1/p' /proc/cmdline)
seconds=${seconds:-600}
# The kernel's verdict so far.
splats() { dmesg | grep -cE 'BUG|WARNING|KASAN|possible .* detected|INFO: (task|rcu)'; }

matches "$(zcat /proc/config.gz | grep -cE '^CONFIG_(PROVE_LOCKING|KASAN|DEBUG_ATOMIC_SLEEP)=y')" '^3$' \
	"the kernel checks locks, memory and sleeping"
echo 1 > $tracing/events/sched/enable
is "$(cat $tracing/events/sched/enable)" 1 "all tracepoints of the scheduler are on"

for provoker in /workloads/*; do
	name=$(basename "$provoker")
	# Both are lists of words.
	# shellcheck disable=SC2046
	undo=$(score_set $("$provoker" --about | sed -n 's/^needs=//p'))
	run timeout 60 "$provoker" -s 2
	# shellcheck disable=SC2086
	score_set $undo >/dev/null
	case $status in
	0) ok 0 "$name runs" ;;
	77) skip "$name runs" "$(echo "$said" | sed -n 's/^skip //p')" ;;
	*) ok 1 "$name runs" "status $status" "$said" ;;
	esac
done
is "$(splats)" 0 "the kernel had nothing to say to the provokers"

if has stress-ng; then
	# softlockup keeps every CPU at real-time priority until it ends: nothing else would run.
	# netlink-*, kill and loadavg do nothing to the scheduler here.
	list="affinity clone cyclic daemon eventfd exec exit-group fifo fork forkheavy futex hrtimers
		mq msg mutex nanosleep nice poll pthread race-sched resched schedpolicy sem sem-sysv session
		sleep spawn switch vfork wait yield zombie"
	count=$(echo "$list" | wc -w)
	each=$((seconds / count > 0 ? seconds / count : 1))
	begin=$(cut -d. -f1 /proc/uptime)
	for stressor in $list; do
		run timeout -s KILL $((each + 60)) stress-ng --"$stressor" 2 --timeout ${each}s --temp-path /tmp
		[ "$status" -eq 0 ] || echo "# $stressor: status $status: $(echo "$said" | tail -n 1)"
	done
	at_least $(($(cut -d. -f1 /proc/uptime) - begin)) $((each * count)) \
		"stress-ng's scheduler stressors ran for $((each * count)) s"
	is "$(splats)" 0 "the kernel had nothing to say to them"
else
	skip "stress-ng's scheduler stressors" "no stress-ng"
fi
echo 0 > $tracing/events/sched/enable
: > $tracing/trace
finish
