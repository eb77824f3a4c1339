#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=base cpus=1 mode=icount seconds=30 append=lab_topo=one
# lab: kernels=base cpus=4 mode=icount topo=sockets=1,cores=2,threads=2 seconds=30 append=lab_topo=smt
# lab: kernels=base cpus=4 mode=icount topo=sockets=2,cores=2,threads=1 seconds=30 append=lab_topo=llc
# lab: kernels=base cpus=8 mode=multi topo=sockets=2,cores=2,threads=2 seconds=60 append=lab_topo=both
# Does the kernel see the siblings and caches that the guest was asked to have?
# shellcheck shell=dash
. /tests/lib.sh

cpu=/sys/devices/system/cpu
echo Y > /sys/kernel/debug/sched/verbose # what makes the domains readable
topo=$(sed -nE 's/.*lab_topo=([a-z]+).*/\1/p' /proc/cmdline)
cpus=$(sed -nE 's/.*lab_cpus=([0-9]+).*/\1/p' /proc/cmdline)
online=0-$((cpus - 1))
[ "$cpus" -gt 1 ] || online=0
is "$(cat $cpu/online)" $online "CPUs that are online"

siblings() { cat $cpu/cpu"$1"/topology/thread_siblings_list; }
# Who shares the last of the caches.
llc()
{
	for index in $cpu/cpu"$1"/cache/index*; do
		echo "$(cat "$index/level") $(cat "$index/shared_cpu_list")"
	done | sort -n | tail -n 1 | cut -d ' ' -f 2
}
domains() { cat /sys/kernel/debug/sched/domains/cpu"$1"/domain*/name 2>/dev/null | tr '\n' ' '; }

case $topo in
one)
	is "$(siblings 0)" 0 "a CPU without siblings"
	;;
smt)
	is "$(siblings 0) $(siblings 3)" "0-1 2-3" "siblings"
	is "$(llc 0) $(llc 3)" "0-3 0-3" "one last-level cache"
	is "$(domains 0)" "SMT MC " "scheduling domains"
	;;
llc)
	is "$(siblings 0) $(siblings 3)" "0 3" "no siblings"
	is "$(llc 0) $(llc 3)" "0-1 2-3" "two last-level caches"
	is "$(domains 0)" "MC PKG " "scheduling domains"
	;;
both)
	is "$(siblings 0) $(siblings 7)" "0-1 6-7" "siblings"
	is "$(llc 0) $(llc 7)" "0-3 4-7" "two last-level caches"
	is "$(domains 0)" "SMT MC PKG " "scheduling domains"
	;;
*)
	ok 1 "lab_topo=$topo is known here"
	;;
esac
finish
