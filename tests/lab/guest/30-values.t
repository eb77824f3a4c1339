#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=traced cpus=4 mode=icount seconds=300
# The values of the events on wakeups, picks, placements, CPUs and requests to stop: each event of
# each workload has to agree with the rules in values.awk.
# shellcheck shell=dash
. /tests/lib.sh
. /tests/values.sh

has trace-cmd || skip_all "there is no trace-cmd in the guest"
[ -d $tracing/events/sched/sched_pick_fair ] || skip_all "this kernel has no decision tracepoints"

# All tasks equal: the load is known by their number.
echo 0 > /proc/sys/kernel/sched_autogroup_enabled
rules="-v equal=1 -v tick=0.004"
look equal hackbench -g 1 -l 30
provoked pick_fair only
provoked pick_fair leftmost
provoked pick_fair search
provoked wakeup_preempt picked
provoked wakeup_preempt protected
provoked wakeup_preempt deadline
provoked wakeup_preempt fork
provoked place_entity new
provoked place_entity kept
provoked select_task_rq_fair idle-target
provoked select_task_rq_fair scan-limit
provoked resched_fair wakeup
provoked resched_fair protection
at_least "$(grep -c '^rule.*place: the lag is inflated' $TMPDIR/equal.out)" 1 "equal: the inflation of lags was worked out"
rules=

# One task on one CPU of four: no CPU is chosen for it.
look pinned taskset 2 hackbench -g 1 -f 5 -l 40
is "$(awk '/sched_wakeup:/ && /hackbench/ { w++ } /sched_select_task_rq_fair: *comm=hackbench/ { s++ }
	END { print (w >= 5 && !s) ? "none" : w + 0 " wakeups, " s + 0 " choices" }' $TMPDIR/pinned.txt)" none \
	"pinned: no event where no CPU is chosen"

# A victim that would have been picked, but for the protection of the running task's slice: the wait
# until the request or the switch is what was left, as time on the CPU by the running task's weight.
rules="-v tick=0.004"
look protection /workloads/slice-protection -s 1
provoked wakeup_preempt protected 3
at_least "$(sed -n 's/^rule \([0-9]*\) protection: who leaves.*/\1/p' $TMPDIR/protection.out)" 3 \
	"protection: waits ended, none later than was said"
# Two hogs with long slices take turns: the one that has begun its turn is behind the average, and
# protected. A task with a short slice, so an earlier deadline, wakes up meanwhile.
cat > $TMPDIR/turns <<'END'
taskset 2 sh -c 'while :; do :; done' &
hogs=$!
taskset 2 sh -c 'while :; do :; done' &
hogs="$hogs $!"
for hog in $hogs; do
	schedlat slice 30ms -q -p $hog
done
cyclictest --policy=other -q -t1 -a 1 -i 11300 -l 40
kill $hogs
END
feature NO_PREEMPT_SHORT
look turns sh $TMPDIR/turns
feature PREEMPT_SHORT
provoked wakeup_preempt protected 3
at_least "$(sed -n 's/^rule \([0-9]*\) protection: is over.*/\1/p' $TMPDIR/turns.out)" 3 "turns: waits ended by a request"
at_least "$(grep -c '^held' $TMPDIR/turns.out)" 1 "turns: protections ended when it was said"
look herd /workloads/equal-herd -s 1
provoked wakeup_preempt deadline
provoked resched_fair deadline
rules=
echo 1 > /proc/sys/kernel/sched_autogroup_enabled

look batch /workloads/batch-wakee -s 1
provoked wakeup_preempt policy
look idle /workloads/idle-wakee -s 1
provoked wakeup_preempt idle-wakee
look lag /workloads/negative-lag -s 1
provoked wakeup_preempt ineligible
look buddy /workloads/short-buddy -s 1
provoked pick_fair buddy

feature NO_WAKEUP_PREEMPTION
look feature hackbench -g 1 -f 2 -l 20
provoked wakeup_preempt feature
is "$(count wakeup_preempt picked)" 0 "feature: nothing is picked"
feature WAKEUP_PREEMPTION

feature NO_PREEMPT_SHORT
look resched hackbench -g 1 -l 20
provoked wakeup_preempt resched
feature PREEMPT_SHORT

rules="-v buddies=1"
feature NEXT_BUDDY
look sync hackbench -g 1 -l 20
provoked wakeup_preempt sync
provoked pick_fair buddy
feature NO_NEXT_BUDDY
rules=

cp $TMPDIR/*.out /out
finish
