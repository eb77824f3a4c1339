# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2154 # lib.sh has them
# The tests A to E of make lab-eval, for eval-run.sh. Each is eval_X SECONDS HOW: with HOW empty it
# measures, with HOW=record the same is recorded and its own figures come with the prefix "rec-".
# Slices are set by schedlat slice, from outside, before anything is measured.

cpus=$(nproc)
load=
features=/sys/kernel/debug/sched/features


# Sets the slice of threads that are there.
set_slice() # TEST GLOB SLICE
{
	run schedlat slice -q --comm "$2" "$3"
	ok "$status" "$1: $2 has a slice of $3" "$said"
}

# A command whose threads inherit a slice: neither cyclictest nor hackbench nor rt-app changes it.
with_slice() # SLICE COMMAND...
{
	# shellcheck disable=SC2016 # for that shell
	sh -c 'schedlat slice -q -p $$ "$1" || exit; shift; exec "$@"' sh "$@"
}

# What they really have, once they are there.
note_slices() # TEST GLOB
{
	for _ in $(seq 50); do
		schedlat slice --comm "$2" -x , --fields comm,slice,set >"$TMPDIR/slices" 2>&1 && break
		usleep 100000
	done
	at_least "$(grep -c custom "$TMPDIR/slices")" 1 "$1: $2: the slice is set"
	grep -v '^comm' "$TMPDIR/slices" >>/out/"$prefix$1".slices
}

recorder() # TEST COMMAND...
{
	rec_test=$1
	shift
	# Without interrupts: they are not what differs, and there are many in an emulated machine.
	schedlat record -q --backend tracefs --no-irq -m 16M -o /out/"$rec_test".dat -- "$@"
}

# cyclictest as test $1 says, for $2 seconds, recorded if $3. $load is what runs beside it.
cyclic()
{
	prefix=${3:+rec-}
	# Beside hackbench the recorder would take minutes to start and to end: the load waits
	# until it is at work, and ends first.
	[ -z "$3" ] || [ -z "$load" ] || kill -STOP "$load"
	with_slice 8ms cyclictest -q -t 1 -p 0 --policy=other -i 3777 -h 100000 -D "$(($2 + 1))s" \
		--histfile "$TMPDIR/hist" >"$TMPDIR/cyclictest" 2>&1 &
	task=$!
	if [ -n "$3" ]; then
		# shellcheck disable=SC2016 # for that shell
		run recorder "$1" sh -c '[ -z "$1" ] || kill -CONT "$1"; sleep "$0"
			[ -z "$1" ] || kill -KILL "$1"' "$2" "$load"
		ok "$status" "$1: recorded" "$said"
	else
		usleep 500000
		note_slices "$1" cyclictest
	fi
	wait $task
	ok $? "$1: cyclictest" "$(cat "$TMPDIR/cyclictest")"
	# Of the lines "US COUNT" those that count something; and the comments: the largest, the rest.
	awk '/^#/ || $2 > 0' "$TMPDIR/hist" >"/out/$prefix$1.hist"
}

# A: cyclictest alone.
eval_A() { cyclic A "$1" "$2"; }

# B: with two tasks per CPU that run for 8.177 ms and sleep for 17.777 ms. By the clock: how long
# an instruction takes in an emulated machine depends on how many CPUs are busy.
eval_B()
{
	cat >"$TMPDIR/load.json" <<-JSON
	{ "tasks": { "load": { "instance": $((2 * cpus)), "loop": -1, "runtime": 8177, "sleep": 17777 } },
	  "global": { "duration": -1, "calibration": 100, "default_policy": "SCHED_OTHER",
		"lock_pages": false, "log_size": "disable", "logdir": "$TMPDIR" } }
	JSON
	with_slice 16ms rt-app "$TMPDIR/load.json" >"$TMPDIR/load" 2>&1 &
	load=$!
	note_slices B load
	sed 's/^/# /' "$TMPDIR/load"
	cyclic B "$1" "$2"
	kill -KILL $load 2>/dev/null
	wait $load
	load=
}

# C: with hackbench, one group, threads and pipes.
eval_C()
{
	with_slice 16ms hackbench -g 1 -T -p -l 100000000 >"$TMPDIR/load" 2>&1 &
	load=$!
	note_slices C hackbench
	# It makes a hundred times the events of the others.
	seconds=$1
	[ -z "$2" ] || seconds=1
	cyclic C "$seconds" "$2"
	kill -KILL $load 2>/dev/null
	wait $load
	load=
}

# E: hackbench, three times each.
eval_E()
{
	for round in 1 2 3; do
		for groups in 1 4 8 16; do
			for kind in process thread; do
				run hackbench --pipe --$kind -g $groups -l 50
				ok "$status" "E: $kind, $groups groups, round $round" "$said"
				echo "$said" | sed -n "s/^Time: /$kind $groups /p" >>/out/E.time
			done
		done
	done
}

# Waits until a program of ours has said "ready".
ready() # FILE
{
	for _ in $(seq 300); do
		grep -q '^ready$' "$1" && return
		usleep 20000
	done
	return 1
}

# D: four tasks with short slices and sixteen with long ones released together.
eval_D()
{
	prefix=${2:+rec-}
	was=$(grep -ow -e SIS_UTIL -e NO_SIS_UTIL "$features")
	echo NO_SIS_UTIL >"$features"
	eval-wake -w -s $(($1 + 60)) "/out/${prefix}D.wake" >"$TMPDIR/D.said" &
	task=$!
	ready "$TMPDIR/D.said"
	ok $? "D: the tasks are there" "$(cat "$TMPDIR/D.said")"
	set_slice D 'short-*' 1ms
	set_slice D 'normal-*' 16ms
	note_slices D '[sn]*-[0-9]*'
	if [ -n "$2" ]; then
		# The tasks begin once the recorder is at work, and are silent when it ends.
		# shellcheck disable=SC2016 # for that shell
		run recorder D sh -c 'kill -USR1 "$0"; sleep "$1"; kill -USR2 "$0"' $task "$1"
		ok "$status" "D: recorded" "$said"
	else
		kill -USR1 $task
		sleep "$1"
	fi
	kill -TERM $task
	wait $task
	ok $? "D: measured" "$(cat "$TMPDIR/D.said")"
	echo "$was" >"$features"
}
