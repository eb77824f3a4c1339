#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=traced cpus=4 mode=icount seconds=60
# trace-cmd can record and print each of the new events.
# shellcheck shell=dash
. /tests/lib.sh
. /tests/values.sh

has trace-cmd || skip_all "there is no trace-cmd in the guest"
group=/sys/fs/cgroup/limited
mkdir $group
echo "5000 20000" > $group/cpu.max
cat > $TMPDIR/load <<'END'
hackbench -g 1 -f 4 -l 10
echo 0 > /sys/fs/cgroup/limited/cgroup.procs
timeout 0.1 sh -c 'while :; do :; done'
echo 0 > /sys/fs/cgroup/cgroup.procs
END
for event in sched_wakeup_preempt sched_pick_fair sched_place_entity sched_select_task_rq_fair \
	sched_resched_fair sched_cfs_throttle sched_cfs_unthrottle sched_energy_candidate sched_energy_choice; do
	trace-cmd record -q -e $event -o $TMPDIR/one.dat sh $TMPDIR/load > $TMPDIR/said 2>&1
	is $? 0 "$event: trace-cmd record"
	trace-cmd report -i $TMPDIR/one.dat 2>&1 | grep -E "$event" > $TMPDIR/text
	case $event in
	sched_energy_*) # this machine has no energy model: 70-eas has
		is "$(wc -l < $TMPDIR/text)" 0 "$event: none where no energy model is"
		continue ;;
	esac
	at_least "$(wc -l < $TMPDIR/text)" 1 "$event: there are some"
	is "$(grep -m 3 -E 'UNKNOWN|FAILED|(why|site|path|flags|wake_flags)=(-?[0-9]|0x| |$)' $TMPDIR/text)" "" \
		"$event: reasons are words"
	echo "# $(head -n 1 $TMPDIR/text | cut -c 1-400)"
done
rmdir $group
finish
