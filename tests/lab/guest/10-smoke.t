#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=base,traced cpus=4 mode=icount seconds=100
# lab: kernels=debug cpus=4 mode=multi seconds=200
# Does the guest have what the other tests stand on?
# shellcheck shell=dash
. /tests/lib.sh

tracing=/sys/kernel/tracing
cpus=$(sed -nE 's/.*lab_cpus=([0-9]+).*/\1/p' /proc/cmdline)
is "$(grep -c ^processor /proc/cpuinfo)" "$cpus" "all CPUs are there: $cpus"
# Without them every timer waits for the next tick.
is "$(awk '/hres_active/ { n += $3 } END { print n }' /proc/timer_list)" "$cpus" "each has high resolution timers"
is "$(ls $tracing/events/sched/sched_switch/format)" $tracing/events/sched/sched_switch/format "tracefs"
ok "$(test -s /sys/kernel/btf/vmlinux; echo $?)" "the kernel has its types (BTF)"

features=/sys/kernel/debug/sched/features
contains "$(cat $features)" RUN_TO_PARITY "the scheduler's features can be read"
echo NO_RUN_TO_PARITY > $features
contains "$(cat $features)" NO_RUN_TO_PARITY "and written"
echo RUN_TO_PARITY > $features

preempt=/sys/kernel/debug/sched/preempt
before=$(sed 's/.*(\(.*\)).*/\1/' $preempt)
for model in full lazy; do
	echo $model > $preempt
	contains "$(cat $preempt)" "($model)" "the preemption model can be $model"
done
echo "$before" > $preempt

for controller in cpu cpuset; do
	contains "$(cat /sys/fs/cgroup/cgroup.controllers)" $controller "control groups: $controller"
done
mkdir /sys/fs/cgroup/smoke
ok "$(test -f /sys/fs/cgroup/smoke/cpu.uclamp.min; echo $?)" "control groups: utilisation clamps"
echo "5000 20000" > /sys/fs/cgroup/smoke/cpu.max
is "$(cat /sys/fs/cgroup/smoke/cpu.max)" "5000 20000" "control groups: quota"
rmdir /sys/fs/cgroup/smoke
contains "$(zcat /proc/config.gz)" CONFIG_ENERGY_MODEL=y "the kernel knows its options"

if has fentry; then
	run fentry /bin/fentry.bpf.o
	is "$status" 0 "BPF: a program is called at a function's entry"
	at_least "$said" 10 "BPF: it saw each wakeup"
else
	skip "BPF: a program is called at a function's entry" "tests/lab/fentry.c is not built: make lab-programs"
fi

# Both ways to record, each with a report that names the task.
for backend in tracefs bpf; do
	run schedlat record -v --backend $backend -o /out/smoke-$backend.dat -- \
		cyclictest -q -t 2 -i 3000 -l 200
	is "$status" 0 "$backend: records"
	echo "$said" >/out/smoke-$backend.txt
	[ "$status" = 0 ] || head -n 20 /out/smoke-$backend.txt | sed 's/^/# /'
	run schedlat report --comm cyclictest /out/smoke-$backend.dat
	is "$status" 0 "$backend: reports"
	contains "$said" cyclictest "$backend: the report names cyclictest"
	leaves_nothing "$backend"
done
finish
