#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# diff of recordings with a known change: three tasks that never sleep and one that does, on one CPU, with
# slices of 20 ms, and with 1 ms. The long ones are protected for 20 ms, so the sleeper waits for that;
# with the short ones protection hardly ever holds, and the longest waits are shorter.
test_dir=$(realpath "$(dirname "$0")")
. "$test_dir/lib.sh"
. "$test_dir/cgroup.sh"
needs_bpf
command -v python3 >/dev/null || skip_all "no python3"
alone || skip_all "no cgroup with the cpu controller can be made"
trap 'alone_end; rm -rf "$tmp"' EXIT

cat >sleeper.py <<'END'
import os, time
end = time.monotonic() + 1.5
while time.monotonic() < end:
    until = time.monotonic() + .003
    while time.monotonic() < until:
        pass
    time.sleep(.002)
END
cat >load.sh <<'END'
for _ in 1 2 3; do
	(while :; do :; done) &
done
python3 sleeper.py
kill $(jobs -p)
END
status=0 long='' short=''
for i in 1 2 3 4 5; do	# in turn, as what else happens changes with time
	"$SCHEDLAT" record -q -o "long$i.dat" --slice 20ms -- taskset -c 0 bash load.sh 2>/dev/null || status=1
	"$SCHEDLAT" record -q -o "short$i.dat" --slice 1ms -- taskset -c 0 bash load.sh 2>/dev/null || status=1
	long+=,long$i.dat short+=,short$i.dat
done
ok "$status" "ten recordings"
"$SCHEDLAT" diff --json --comm 'python3*' --a "${long#,}" --b "${short#,}" >diff.json
is $? 0 "diff of five and five"
value() { python3 -c "
import json
whole = json.load(open('diff.json'))
group = whole['groups'][0]
sides = group['sides']
causes = [{c['id']: c for c in s['causes']} for s in sides]
print($1)"; }
is "$(value "whole['sides'][1]['test']['units']")" recordings "the recordings are the evidence"
within "$(value "causes[0]['slice-protection']['ns_per_1000']")" 20000000 100000000000 \
	"with 20 ms slice protection holds more than 20 us per wait"
is "$(value "causes[1]['slice-protection']['ns'] * 5 < causes[0]['slice-protection']['ns']")" True \
	"with 1 ms less than a fifth of that"
is "$(value "causes[1]['slice-protection']['significant']")" True "that is significant"
is "$(value "sides[1]['rows']['p99_ns']['change_permille'] > 0")" True "P99 is better"
[ "$bad" -eq 0 ] || "$SCHEDLAT" diff --comm 'python3*' --a "${long#,}" --b "${short#,}" | sed 's/^/# /'
finish
