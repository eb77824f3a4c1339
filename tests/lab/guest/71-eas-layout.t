#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=eas cpus=4 mode=icount append=lab_eas=2:430,2:1024 append=sched_verbose seconds=30
# lab: kernels=eas cpus=4 mode=icount append=lab_eas=4:256,3:640,1:1024 seconds=30
# Another layout, and one that does not fit the machine: told, and the machine stays what it is.
# shellcheck shell=dash
. /tests/lib.sh
. /tests/eas.sh

aware=/proc/sys/kernel/sched_energy_aware
dmesg > /out/eas-layout-dmesg
says() { grep -oE "$1" /out/eas-layout-dmesg | tail -n 1; }

if grep -q 'lab_eas=2:430,2:1024' /proc/cmdline; then
	is "$(cat $aware)" 1 "2:430,2:1024: energy-aware scheduling is on"
	contains "$(says 'root_domain 0-3:.*pd0.*')" "pd2:{ cpus=2-3 nr_pstate=4 } pd0:{ cpus=0-1 nr_pstate=4 }" \
		"two performance domains"
	is "$(em_table | awk '{ top[$1 "-" $2] = $3 } END { for (d in top) print d, top[d] }' | sort | tr '\n' ' ')" \
		"0-1 430 2-3 1024 " "with the capacities of the command line"
elif grep -q 'lab_eas=4:256,3:640,1:1024' /proc/cmdline; then
	contains "$(says 'lab_eas: .*')" "describes 8 CPUs, the machine has 4" "8 CPUs asked for, 4 there: an error"
	is "$(cat $aware)" "" "no energy-aware scheduling"
	is "$(ls $energy_model)" "" "no energy model"
	ok "$([ -d /sys/devices/system/cpu/cpu0/cpufreq ]; echo $((! $?)))" "no frequencies"
else
	skip_all "this guest was not told lab_eas="
fi
finish
