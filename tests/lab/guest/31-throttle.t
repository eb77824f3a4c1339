#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=traced cpus=4 mode=icount seconds=60
# A group with a quota: its throttling by the events, by cpu.stat, by what was set.
# shellcheck shell=dash
. /tests/lib.sh
. /tests/values.sh

has trace-cmd || skip_all "there is no trace-cmd in the guest"
group=/sys/fs/cgroup/outer/limited
mkdir -p $group
echo +cpu > /sys/fs/cgroup/outer/cgroup.subtree_control
echo "10000 40000" > $group/cpu.max

# Two tasks on different CPUs share the quota.
cat > $TMPDIR/burn <<'END'
echo 0 > /sys/fs/cgroup/outer/limited/cgroup.procs
taskset 1 timeout 0.5 sh -c 'while :; do :; done' &
taskset 2 timeout 0.5 sh -c 'while :; do :; done' &
wait
echo 0 > /sys/fs/cgroup/cgroup.procs
END
look quota sh $TMPDIR/burn
grep '^group' $TMPDIR/quota.out | sed 's/^/# /'
inode=$(stat -c %i $group)
is "$(awk -v id="$inode" '$1 == "group" && ($3 != id || $4 != 2 || $5 != 10000000 || $6 != 40000000)' $TMPDIR/quota.out)" "" \
	"the group is the directory's inode $inode at depth 2, with its quota and period"
told=$(awk '$1 == "group" && $2 == "throttle" { n += $7 } END { print n + 0 }' $TMPDIR/quota.out)
stat=$(awk '$1 == "nr_throttled" { print $2 }' $group/cpu.stat)
at_least "$told" 5 "the group was throttled ($told times)"
# nr_throttled counts periods in which a CPU was throttled; each CPU has its own events.
periods=$(awk '/sched_cfs_throttle:/ { for (i = 3; i <= 6; i++) if ($i ~ /^[0-9]+\.[0-9]+:$/) t = $i + 0
	if (!n || t - last > 0.012) n++; last = t } END { print n + 0 }' $TMPDIR/quota.txt)
ok "$([ $((periods - stat)) -le 1 ] && [ $((stat - periods)) -le 1 ]; echo $?)" \
	"in as many periods as cpu.stat says ($periods, $stat)" "events: $periods" "nr_throttled: $stat"
again=$(awk '$1 == "group" && $2 == "unthrottle" { n += $7 } END { print n + 0 }' $TMPDIR/quota.out)
ok "$([ $((told - again)) -le 2 ] && [ $((told - again)) -ge 0 ]; echo $?)" "and put back as often ($again)"
cp $TMPDIR/quota.txt $TMPDIR/quota.out /out
rmdir $group /sys/fs/cgroup/outer
finish
