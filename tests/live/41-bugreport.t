#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bugreport -- command: recorded and reported in one go, with what this machine is.
test_dir=$(realpath "$(dirname "$0")")
. "$test_dir/lib.sh"

# shellcheck disable=SC2016
command='for i in 1 2 3; do (while :; do :; done) & done
for i in $(seq 60); do sleep 0.01; done
kill $(jobs -p); exit 3'
"$SCHEDLAT" bugreport -q --no-irq --trace small.dat -o mail.txt -- bash -c "$command" 2>/dev/null
is $? 0 "the report's status, not the command's"
[ -s schedlat.dat ]; ok $? "the recording is kept"
[ -s small.dat ] && [ "$(stat -c %s small.dat)" -lt 1000000 ]; ok $? "the trace has less than 1 MB"
is "$(LC_ALL=C grep -cP '[^\x0a\x20-\x7e]' mail.txt)" 0 "plain ASCII"
within "$(awk '{ if (length > n) n = length } END { print n }' mail.txt)" 40 76 "columns"
matches "$(cat mail.txt)" "Kernel: +Linux $(uname -n | cut -c1-8)" "the kernel"
matches "$(cat mail.txt)" "CPUs: +online $(cat /sys/devices/system/cpu/online)," "the CPUs"
matches "$(cat mail.txt)" "Cgroup: +/" "a cgroup"
matches "$(tr -s ' \n' ' ' <mail.txt)" "Recorded with: schedlat record -o schedlat.dat -q --no-irq -- bash -c for i" \
	"the command line"
matches "$(tr -s ' \n' ' ' <mail.txt)" "explains ([0-3] of )?these" "what the trace explains"
spec=$(sed -n 's/.*--why=\([0-9]*ns\).*/\1/p' mail.txt)
"$SCHEDLAT" report --why="$spec" small.dat >report.txt
is $? 0 "the trace is read with the --why of the mail"
first=$(sed -n 's/^  1\. \(.*\), ran at.*/\1/p' mail.txt)
matches "$(cat report.txt)" "1\. ${first:-?}" "and has the worst wait: $first"

"$SCHEDLAT" bugreport -q -i none.dat -- /nowhere/program >out 2>err
is $? 127 "a command that cannot be run: record's status"
[ ! -s out ]; ok $? "and no mail"
finish
