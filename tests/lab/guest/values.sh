# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# What the tests of the tracepoints' values share: record, let values.awk check every event.

tracing=/sys/kernel/tracing
sched_debug=/sys/kernel/debug/sched
events="sched_switch sched_wakeup sched_wakeup_new sched_waking sched_migrate_task sched_wakeup_preempt
	sched_pick_fair sched_place_entity sched_select_task_rq_fair sched_resched_fair sched_cfs_throttle
	sched_cfs_unthrottle"

feature() { echo "$1" > $sched_debug/features; }

# Record COMMAND and check all events. awk's variables are in $rules. The events as text are in
# $TMPDIR/NAME.txt, what values.awk says in $TMPDIR/NAME.out. All events begin and end at once, so
# that none is without those around it: trace-cmd record turns them on one by one.
look() # NAME COMMAND...
{
	look=$1
	shift
	echo 0 > $tracing/tracing_on
	echo mono > $tracing/trace_clock
	echo 12288 > $tracing/buffer_size_kb
	for event in $events; do
		echo 1 > $tracing/events/sched/$event/enable
	done
	echo > $tracing/trace
	echo 1 > $tracing/tracing_on
	"$@" > $TMPDIR/$look.said 2>&1
	look_status=$?
	echo 0 > $tracing/tracing_on
	trace-cmd extract -o $TMPDIR/$look.dat > $TMPDIR/extract 2>&1
	echo 0 > $tracing/events/enable
	# A provoker that got SIGTERM or could not run is told by its words.
	if grep -q '^skip' $TMPDIR/$look.said; then
		skip "$look" "$(grep -m 1 '^skip' $TMPDIR/$look.said)"
		return
	fi
	is "$look_status" 0 "$look: runs"
	trace-cmd report -t -l -i $TMPDIR/$look.dat > $TMPDIR/$look.txt 2> /dev/null
	is "$(grep -cE 'EVENTS DROPPED|OVERRUN' $TMPDIR/$look.txt)" 0 "$look: nothing is lost"
	# shellcheck disable=SC2086
	awk ${rules:-} -f /tests/values.awk $TMPDIR/$look.txt > $TMPDIR/$look.out 2>&1
	is "$(grep -A 3 '^bad' $TMPDIR/$look.out | cut -c 1-600)" "" "$look: each event agrees with the rules of its reason"
	at_least "$(grep -c '^rule' $TMPDIR/$look.out)" 20 "$look: rules were applied"
	grep '^count' $TMPDIR/$look.out | sort | awk -v name="$look" '{ t = t " " $2 ":" $3 "=" $4 } END { print "# " name ":" t }'
	sed -n '/^held/s/^/# /p' $TMPDIR/$look.out | head -n 5
	rm -f $TMPDIR/$look.dat
}

# How many events with that reason there were.
count() { awk -v e="$1" -v w="$2" '$1 == "count" && $2 == e && $3 == w { n = $4 } END { print n + 0 }' $TMPDIR/$look.out; }

provoked() # EVENT REASON [LEAST]
{
	at_least "$(count "$1" "$2")" "${3:-1}" "$look: $1 says $2"
}
