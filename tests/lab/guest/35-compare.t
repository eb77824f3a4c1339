#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=traced cpus=4 mode=icount seconds=90
# The same workload by the decision tracepoints and by BPF programs that look at the runqueues, at
# the same time. ../compare.py compares what they say, where there is python.
# shellcheck shell=dash
. /tests/lib.sh

schedlat check 2>&1 | grep -q '^bpf  *can record' || skip_all "this kernel cannot record by BPF"
mkdir -p /out/compare
# All tasks in one group: their weights do not change, so that virtual times can be compared.
echo 0 > /proc/sys/kernel/sched_autogroup_enabled
schedlat record --backend tracefs -o /out/compare/tracefs.dat -- \
	schedlat record --backend bpf -o /out/compare/bpf.dat -- hackbench -g 1 -l 60 > $TMPDIR/said 2>&1
is $? 0 "recorded by both"
sed 's/^/# /' $TMPDIR/said
finish
