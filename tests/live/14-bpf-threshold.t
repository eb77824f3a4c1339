#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# record -T without --flight: waits are judged in the kernel, all are counted, the long ones kept.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v perl >/dev/null || skip_all "perl is not installed"
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

# A task that sleeps 200 times, and one of a realtime class that takes its CPU for 5 ms now and then.
cat >work.pl <<'END'
use Time::HiRes qw(time sleep);
sub busy { my $end = time + shift; 1 while time < $end }
my $hog = fork;
if (!$hog) { exec qw(chrt -f 5 perl -MTime::HiRes=time,sleep -e),
	'$0 = "thr-hog"; for (1 .. 40) { my $end = time + 0.005; 1 while time < $end; sleep 0.015 }' }
$0 = "thr-sleeper";
sleep 0.003 for 1 .. 200;
waitpid $hog, 0;
END
out=$(taskset -c 0 "$SCHEDLAT" record -T 2ms -o a.dat -- taskset -c 0 perl work.pl 2>&1)
is $? 0 "record a command"
matches "$out" 'threshold: ([0-9]+) of ([0-9]+) waits' "waits and those above are printed"
above=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
within "$all" 200 100000000 "at least the sleeper's waits were counted"
is "$(meta a.dat backend) $(meta a.dat threshold.ns)" "bpf 2000000" "meta backend, threshold.ns"
is "$(meta a.dat threshold.waits) $(meta a.dat threshold.waits_above)" "$all $above" "meta threshold.waits, waits_above"
is "$(meta a.dat flight)" 1 "the file is known to hold windows only"
trace-cmd report -i a.dat >a.txt 2>a.err
is "$?:$(grep -v '^$' a.err)" "0:" "trace-cmd reads it"
is "$(grep -cE 'UNKNOWN EVENT|FAILED TO PARSE' a.txt)" 0 "and prints every event"
is "$(grep ' meta: *hist\.[0-9]*=' a.txt | sed 's/.* count=\([0-9]*\) .*/\1/' | paste -sd+ | bc)" "$all" \
	"the histograms hold all waits"
is "$(grep ' meta: *hist\.[0-9]*=' a.txt | python3 -c '
import re, sys
bad = 0
for line in sys.stdin:
    count, most = re.search(r"count=(\d+) .*max_ns=(\d+)", line).groups()
    buckets = [b.split(":") for b in re.search(r"buckets=(\S*)", line).group(1).split(",")]
    bad += sum(int(n) for _, n in buckets) != int(count)
    bad += not int(buckets[-1][0]) <= int(most)
print(bad)')" 0 "buckets add up to their thread's count, and end below its longest wait"
sleeper=$(grep ' meta: *hist\.[0-9]*=.* comm=thr-sleeper' a.txt)
# A sleep that is over before the task has left its CPU is no wait: a few on a busy machine.
within "$(sed 's/.* count=\([0-9]*\) .*/\1/' <<<"$sleeper")" 195 220 "every wait of the sleeper was counted"

# What is in the file: the sleeper's waits above 2 ms, and no shorter ones.
"$SCHEDLAT" timehist -j --comm thr-sleeper a.dat >waits.json
read -r kept short <<<"$(python3 -c '
import json
delays = [json.loads(line)["delay_ns"] for line in open("waits.json") if "\"kind\": \"wake\"" in line]
print(len(delays), sum(d < 2000000 for d in delays))')"
long=$(sed 's/.* buckets=\([^ ]*\) .*/\1/' <<<"$sleeper" | tr , '\n' | awk -F: '$1 >= 2097152 { n += $2 } END { print n + 0 }')
echo "# $above of $all waits above; of the sleeper $long in buckets above 2.1 ms, $kept waits in the file"
if [ "$long" -gt 0 ]; then
	within "$kept" 1 220 "long waits of the sleeper are in the file"
else
	skip "long waits of the sleeper are in the file" "the hog was never in its way"
fi
is "$short" 0 "short ones are not"
"$SCHEDLAT" report --why=2ms a.dat >report.txt 2>&1
is $? 0 "report reads it"
matches "$("$SCHEDLAT" report --waits=all a.dat 2>&1)" 'numbers of the kept windows only' \
	"only wake waits are counted beyond the windows, and that is said"
out=$("$SCHEDLAT" record -T 100s -d 200ms -o none.dat 2>&1)
is $? 0 "nothing above the threshold: status"
matches "$out" 'threshold: 0 of [0-9]+ waits' "nothing above the threshold: it is said"
"$SCHEDLAT" report --why=1ms none.dat >none.txt 2>&1
is $? 0 "nothing above the threshold: report reads it"
within "$(sed -n 's/^\([0-9]*\) wakeups = .*/\1/p' none.txt)" 1 100000000 "and has the waits that were counted"
"$SCHEDLAT" report --waits=preempt none.dat >none.txt 2>&1
is $? 2 "the others were not: status"
matches "$(<none.txt)" 'no wait reached the threshold' "and that is said"
finish
