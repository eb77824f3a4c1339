#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# The figures and tables of make lab-eval, on examples that were worked out by hand.
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "lint"), str(HERE / "eval")]
sys.dont_write_bytecode = True
import tap
from figures import (Runs, Samples, alike, as_base, change, not_slower, not_worse_in_pairs,
                     ratio_at_most, signed)

t = tap.Tap()


def same(got, want, name):
    t.ok(got == want, name, f"got:  {got}", f"want: {want}")


# 1 .. 1000: a percentile is the value of its rank; the sum is 500500.
same(Samples.of(range(1, 1001)).row(), [1000, 500.5, 500, 900, 990, 999, 1000], "1 to 1000")
# Of ten the rank is rounded up: 0.99 * 10 = 9.9 is the tenth.
same(Samples.of([5, 1, 4, 2, 3, 10, 9, 8, 7, 6]).row(), [10, 5.5, 5, 9, 10, 10, 10], "ten, in disorder")
same(Samples.of([7]).row(), [1, 7, 7, 7, 7, 7, 7], "one sample")
same(Samples.of([]).row(), [0, None, None, None, None, None, None], "no sample: nothing is known")
# 98 of 3, one of 50, one of 400: the 99th of 100 is 50, the 99.9th the 100th; 744 / 100.
same(Samples({3: 98, 50: 1, 400: 1, 9: 0}).row(), [100, 7.44, 3, 3, 50, 400, 400], "a histogram")

same((change(906, 293), signed(change(906, 293))), (100 * 613 / 906, "(+68 %)"), "less is better, +")
same(signed(change(841, 960)), "(-14 %)", "more is worse, -")
same(signed(change(1000, 1001)), "(0 %)", "no sign on nothing")
same((change(0, 5), change(None, 5), signed(None)), (None, None, ""), "no change from nothing")

runs = Runs([3, 1, 8])
same((runs.median, runs.low, runs.high, runs.mean, runs.sd), (3, 1, 8, 4, 13 ** 0.5), "several runs")
same((Runs([2]).sd, Runs([]).median), (None, None), "one run has no spread")


def verdict(got, met, name):
    t.ok(got.met is met, f"{name} ({got})", f"got {got.met}")


verdict(ratio_at_most("x", 600, 200, 1 / 3, "a third"), True, "a third is met at its limit")
verdict(ratio_at_most("x", 600, 200.1, 1 / 3, "a third"), False, "and missed beyond it")
verdict(ratio_at_most("x", None, 200, 1 / 3, "a third"), None, "and not told without samples")
verdict(alike([100, 130, 101, 120], 1.3, "alike"), True, "alike at the limit")
verdict(alike([100, 131, 101, 120], 1.3, "alike"), False, "not alike")
# Differences -2, +1, -1, +5, -3: the middle one is -1, though the sum is 0.
verdict(not_worse_in_pairs("x", [10, 10, 10, 10, 10], [8, 11, 9, 15, 7]), True, "pairs: not worse")
verdict(not_worse_in_pairs("x", [10, 10, 10, 10, 10], [8, 11, 11, 15, 7]), False, "pairs: worse")
verdict(not_worse_in_pairs("x", [10] * 4, [8] * 4), None, "four pairs are not enough")
# 1.0 and 1.2: sd 0.141; 1.1 and 1.3 are 0.1 slower, 1.2 and 1.6 are 0.3 slower with sd 0.283.
verdict(not_slower("x", [1.0, 1.2], [1.1, 1.3]), True, "slower within the spread")
verdict(not_slower("x", [1.0, 1.2], [1.2, 1.6]), False, "slower beyond the spread")
verdict(not_slower("x", [1.0], [0.5]), None, "one run has no spread to compare with")
verdict(as_base("x", [600, 620, 640], [650, 655, 660]), True, "as base: 35 apart, spread 40")
verdict(as_base("x", [600, 620, 640], [661, 662, 663]), False, "not as base: 42 apart, spread 40")

# The whole program on runs that were made up.
CONDITIONS = """cpus=4
mode=icount
turn_us=40
seconds=10
record=0
kernel=7.3.4-{side}
series={side}
commit=abc1234
features=
qemu=10.0.2
host=2 x a CPU
"""
with tempfile.TemporaryDirectory() as work:
    for run in range(1, 6):
        for side, late in (("base", 600), ("series", 60 + run)):
            path = pathlib.Path(work) / "4-icount" / str(run) / side
            path.mkdir(parents=True)
            (path / "conditions").write_text(CONDITIONS.format(side=side))
            lines = [f"short-{n} {late * 1000}" for n in range(4)] * 10
            lines += [f"normal-{n:02} 1200000" for n in range(16)] + ["missed short-0 0"]
            (path / "D.wake").write_text("\n".join(lines))
            (path / "A.hist").write_text(f"000050 000099\n# Max Latencies: 0{late}00\n"
                                         "# Histogram Overflows: 00001\n")
            (path / "E.time").write_text(f"process 4 0.{late}\nprocess 4 0.{late}\n")
    # A run that only one kernel has done is no pair.
    alone = pathlib.Path(work) / "4-icount" / "6" / "base"
    alone.mkdir(parents=True)
    (alone / "conditions").write_text(CONDITIONS.format(side="base"))
    (alone / "A.hist").write_text("000001 000001\n# Histogram Overflows: 00000\n")
    done = subprocess.run([HERE / "eval.py", work], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    text = done.stdout
    squeezed = " ".join(text.split())
    t.ok(done.returncode == 0, "eval.py reads what the guests left", done.stderr)
    for want in ("Median (P50) 63.0 (+90 %) 63.0 (+90 %)", "P50 in the runs 61.0..65.0",
                 "met: D, own: short-3: P50 at most a third of base: 600.0 -> 63.0 us, 0.10 of base",
                 "met: D, own: normal tasks: P50 at most 10 % worse", "Total Samples 100 100..100 100",
                 # The largest is 60000 on base, 6100 .. 6500 with the series: the median pair -53700.
                 "met: A: Maximum not worse: series - base in the median -53700.0 us of 5 pairs",
                 "process, 4 groups 0.600 0.000 0.630 (-5 %) 0.015 10, 10",
                 # 0.03 slower; ten values, two of each 0.61 .. 0.65: sd 0.0149.
                 "MISSED: E: process, 4 groups not slower: 0.030 s slower (-5 %), spread 0.015 s",
                 "4 vCPUs; -icount, an instruction takes 1 ns, each vCPU has its turn within 40 us;",
                 "base: 7.3.4-base (patches: abc1234); series: 7.3.4-series", "; 5 runs of each."):
        t.ok(" ".join(want.split()) in squeezed, f"the tables have: {want}", text)
t.done()
