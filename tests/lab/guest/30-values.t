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
rules="-v equal=1"
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
look pinned taskset 2 hackbench -g 1 -f 2 -l 20
is "$(awk '/sched_wakeup:/ && /hackbench/ { w++ } /sched_select_task_rq_fair: comm=hackbench/ { s++ }
	END { print w > 20 && !s ? "none" : w + 0 " wakeups, " s + 0 " choices" }' $TMPDIR/pinned.txt)" none \
	"pinned: no event where no CPU is chosen"

echo 1 > /proc/sys/kernel/sched_autogroup_enabled

# A victim that would have been picked, but for the protection of the running task's slice.
look protection /workloads/slice-protection -s 1
provoked wakeup_preempt protected
# What was left of the protection, as time on the CPU, is the wait until the request or the switch, but
# for a tick: the weight is that which the running task was last placed with.
is "$(awk '
	FNR == NR { if ($1 == "protected" && $3 ~ /^v-/) { t[$2, $6] = $7; who[$2, $6] = $4; n++ } next }
	{ for (i = 3; i <= 6; i++) if ($i ~ /^[0-9]+\.[0-9]+:$/) { T = $i; sub(/:/, "", T); break } }
	/sched_wakeup_preempt:/ && / why=protected / {
		match($0, / pid=[0-9]+/); pid = substr($0, RSTART + 5, RLENGTH - 5)
		if ((pid, T) in t) { since = T; left = t[pid, T]; curr = who[pid, T]; open = 1 }
	}
	open && /sched_resched_fair:/ && $0 ~ " pid=" curr " " {
		wait = (T - since) * 1e9
		seen++
		# The weight of the running task is at least its share of one tick before.
		if (match($0, /vprot=[0-9]+/) && wait > left * 16 + 4e6) print "left " left " waited " wait
		open = 0
	}
	open && /sched_switch:/ && $0 ~ "(prev_pid=" curr " |:" curr " \\[.*==>)" { open = 0; seen++ }
	END { if (!n || !seen) print "no protected victim" }' $TMPDIR/protection.out $TMPDIR/protection.txt)" "" \
	"protection: ends as it was said"

look batch /workloads/batch-wakee -s 1
provoked wakeup_preempt policy
look idle /workloads/idle-wakee -s 1
provoked wakeup_preempt idle-wakee
look lag /workloads/negative-lag -s 1
provoked wakeup_preempt ineligible
look herd /workloads/equal-herd -s 1
provoked wakeup_preempt deadline
provoked resched_fair deadline
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
