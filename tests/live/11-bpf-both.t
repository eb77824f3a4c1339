#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Both backends over the same workload: the same waits, as long as each other.
#
# Each backend takes its own timestamps, one after the other in the same
# tracepoint. So the two delays of a wait differ by what passes between two
# probes at its start, and again at its end: some us, and once in a while
# whatever a hypervisor takes in between.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v perl >/dev/null || skip_all "perl is not installed"

# One thread that sleeps 300 times, one that is in its way on the same CPU.
cat >work.pl <<'END'
$0 = "both-" . shift;
if ($0 eq "both-sleeper") { select(undef, undef, undef, 0.002) for 1 .. 300 }
else { my $end = time + 2; while (time < $end) { 1 for 1 .. 10000; select(undef, undef, undef, 0.0003) } }
END
taskset -c 0 "$SCHEDLAT" record --backend tracefs -q -m 16M -o tracefs.dat -- \
	"$SCHEDLAT" record --backend bpf -q -m 16M -o bpf.dat -- \
	taskset -c 0 sh -c 'perl work.pl other & perl work.pl sleeper; wait'
is $? 0 "two recorders at once"
is "$(meta tracefs.dat backend) $(meta bpf.dat backend)" "tracefs bpf" "one of each"
lost=0
for file in tracefs.dat bpf.dat; do
	for ((cpu = 0; cpu < $(nproc --all); cpu++)); do
		lost=$((lost + $(meta $file lost.cpu$cpu)))
	done
done
is "$lost" 0 "nothing was lost"

for file in tracefs bpf; do
	"$SCHEDLAT" timehist -j --comm both-sleeper $file.dat >$file.json
	"$SCHEDLAT" report -j --comm both-sleeper $file.dat >$file.report
done
compared=$(python3 - <<'END'
import bisect
import json
waits, unclear = {}, {}
for name in "tracefs", "bpf":
    with open(name + ".json") as lines:
        waits[name] = sorted((json.loads(line) for line in lines if '"kind": "wake"' in line),
                             key=lambda w: w["run_ns"])
    with open(name + ".report") as report:
        discarded = json.load(report)["counters"]["discarded"]
        unclear[name] = sum(n for why, n in discarded.items() if why not in ("filtered", "own_thread"))
a, b = waits["tracefs"], waits["bpf"]
# The same wait: begins within a ms of the other's beginning; they are 2 ms apart.
begins = [w["waking_ns"] for w in b]
pairs, alone = [], 0
for x in a:
    i = bisect.bisect_left(begins, x["waking_ns"] - 1000000)
    if i < len(b) and begins[i] <= x["waking_ns"] + 1000000:
        pairs.append((x, b[i]))
    else:
        alone += 1
alone += len(b) - len(pairs)
apart = sorted(abs(x["delay_ns"] - y["delay_ns"]) for x, y in pairs) or [0]
where = sum((x["tid"], x["wake_cpu"], x["run_cpu"]) != (y["tid"], y["wake_cpu"], y["run_cpu"])
            for x, y in pairs)
print(len(a), len(b), alone, unclear["tracefs"] + unclear["bpf"], where, apart[len(apart) // 2],
      apart[len(apart) * 95 // 100], apart[-1])
END
)
read -r nr_tracefs nr_bpf alone unclear elsewhere median p95 worst <<<"$compared"
echo "# $nr_tracefs and $nr_bpf waits; their delays differ by: P50 $median ns, P95 $p95 ns, at most $worst ns"
within "$nr_tracefs" 280 310 "the sleeper's waits"
# Some kernels leave a switch out now and then; such a wait is no sample in that recording.
within "$alone" 0 "$unclear" "the same waits in both, but for those that a recording itself calls unclear"
is "$elsewhere" 0 "of the same thread, on the same CPUs"
within "$p95" 0 50000 "19 of 20 delays within 50 us"
within "$worst" 0 20000000 "all delays within 20 ms, which a hypervisor may take"
finish
