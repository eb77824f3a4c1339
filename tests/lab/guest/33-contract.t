#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lab: kernels=traced cpus=4 mode=icount seconds=60
# The formats of the running kernel's events are those that are promised. kernel-patches/contract
# is in the guest's /bin.
# shellcheck shell=dash
. /tests/lib.sh

for file in /bin/sched_*.format; do
	[ -f "$file" ] || { ok 1 "the promised formats are in the guest"; break; }
	name=${file##*/}
	name=${name%.format}
	# The number of an event is given out at boot.
	sed '/^ID:/d' /sys/kernel/tracing/events/sched/"$name"/format > $TMPDIR/format
	sed '/^ID:/d' "$file" > $TMPDIR/want
	if ! [ -d /sys/kernel/tracing/events/sched/sched_push_fair ]; then
		# Without short-slice-trace some events are not there, and others lack what it adds at the end.
		[ -d "/sys/kernel/tracing/events/sched/$name" ] || { skip "$name" "this kernel has only part of the series"; continue; }
		sed -i '/^print fmt/d' $TMPDIR/format $TMPDIR/want
		sed -i "$(wc -l < $TMPDIR/format)q" $TMPDIR/want
	fi
	is "$(diff $TMPDIR/want $TMPDIR/format 2>&1)" "" "$name has the promised format"
done
finish
