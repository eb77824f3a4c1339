#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=traced cpus=4 mode=icount topo=sockets=1,cores=2,threads=2 seconds=60
# lab: kernels=traced cpus=4 mode=icount topo=sockets=2,cores=2,threads=1 seconds=60
# How a CPU is chosen where CPUs have siblings, and where there are two last-level caches.
# shellcheck shell=dash
. /tests/lib.sh
. /tests/values.sh

has trace-cmd || skip_all "there is no trace-cmd in the guest"
[ -d $tracing/events/sched/sched_select_task_rq_fair ] || skip_all "this kernel has no decision tracepoints"

siblings=$(cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list)
[ "$siblings" = 0 ] || rules="-v smt=1"
echo "# CPU 0 has the siblings $siblings"

# Few tasks that wake each other, one CPU busy with another.
cat > $TMPDIR/light <<'END'
taskset 1 timeout 0.3 sh -c 'while :; do :; done' &
hackbench -g 1 -f 1 -l 50
cyclictest --policy=other -q -t3 -i 1000 -l 30
wait
END
look light sh $TMPDIR/light
provoked select_task_rq_fair idle-target
look heavy hackbench -g 2 -f 5 -l 20
if [ "$siblings" = 0 ]; then
	# Two caches: tasks are not looked for a CPU of the other one.
	is "$(awk '/sched_select_task_rq_fair:/ && / path=fast / {
		split("", f)
		for (i = 1; i <= NF; i++) if (p = index($i, "=")) f[substr($i, 1, p - 1)] = substr($i, p + 1)
		if (f["why"] ~ /^idle-(scan|recent|smt|core)/ && int(f["cpu"] / 2) != int(f["target_cpu"] / 2)) print
	}' $TMPDIR/light.txt $TMPDIR/heavy.txt | head -n 3)" "" "an idle CPU is one of the target's cache"
	# Allowed on the second cache only, as is whoever wakes it.
	look apart taskset c hackbench -g 1 -f 2 -l 20
	is "$(awk '/sched_select_task_rq_fair: *comm=hackbench/ && / cpu=[01] / && !/prev_cpu=[01] / { print }' $TMPDIR/apart.txt | head -n 3)" "" \
		"no CPU is chosen that the task may not run on"
else
	# Which of them depends on who is idle when; the rules for each are in values.awk.
	found=0
	for look in light heavy; do
		for why in idle-prev idle-recent idle-smt idle-core idle-scan; do
			found=$((found + $(count select_task_rq_fair $why)))
		done
	done
	at_least $found 3 "another CPU than the target is found idle"
fi
finish
