#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""schedlat diff: numbers worked out by hand, what is noise and what is not, what cannot be
compared. TAP."""
import csv
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from tap import equal, finish, ok  # noqa: E402

SCHEDLAT = os.environ.get("SCHEDLAT", "./schedlat")
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"


def diff(*args):
    return subprocess.run([SCHEDLAT, "diff", *map(str, args)], capture_output=True, text=True,
                          timeout=120)


def compared(*args):
    """The JSON of a comparison, and its groups by name."""
    done = diff("--json", *args)
    if done.returncode:
        ok(False, f"diff {' '.join(map(str, args))}", done.stderr)
        sys.exit(1)
    found = json.loads(done.stdout)
    return found, {g["comm"]: g for g in found["groups"]}


def trace(path, waits, comm="cyclic", head="", waking="sched_waking"):
    """One CPU. A wait is (us, who): `rt` or the fair `hog` runs meanwhile."""
    lines = ["# schedlat text 1", "@cpus 0", f"@task 100 {comm}", "@task 200 hog", "@task 300 rt 49",
             "0 0 sched_switch 9 S -> 300", head]
    now, running = 10_000, 300
    for us, who in waits:
        wanted = 300 if who == "rt" else 200
        if running != wanted:
            lines.append(f"{now - 1000}ns 0 sched_switch {running} S -> {wanted}")
        if waking:
            lines.append(f"{now}ns 0//h {waking} 100 cpu=0")
        lines.append(f"{now}ns 0//h sched_wakeup 100 cpu=0")
        now += round(us * 1000)
        lines.append(f"{now}ns 0 sched_switch {wanted} S -> 100")
        now += 10_000
        lines.append(f"{now}ns 0 sched_switch 100 S -> {wanted}")
        now += 10_000
        running = wanted
    path.write_text("\n".join(lines) + "\n")
    return path


def by_hand(tmp):
    """A: 10 20 .. 100 us behind rt. B: 5 10 .. 45 us behind rt, 120 us behind the hog.
    Averages 550/10 and (225 + 120)/10; the fifth is 50 and 25, the ninth 90 and 45."""
    a = trace(tmp / "a.txt", [(10 * i, "rt") for i in range(1, 11)])
    b = trace(tmp / "b.txt", [(5 * i, "rt") for i in range(1, 10)] + [(120, "hog")])
    whole, groups = compared(a, b)
    equal(whole["schema"], "schedlat.diff/1", "the schema")
    equal(whole["definition"], {"from": "waking", "waits": ["wake"]}, "the definition")
    equal([s["files"][0]["file"] for s in whole["sides"]], [str(a), str(b)], "the files of the sides")
    sides = groups["cyclic"]["sides"]
    want = {"count": (10, 10, None), "avg_ns": (55000, 34500, 373), "p50_ns": (50000, 25000, 500),
            "p90_ns": (90000, 45000, 500), "p99_ns": (100000, 120000, -200),
            "p999_ns": (100000, 120000, -200), "max_ns": (100000, 120000, -200)}
    for key, numbers in want.items():
        rows = [s["rows"][key] for s in sides]
        equal((rows[0]["median"], rows[1]["median"], rows[1]["change_permille"]), numbers, key)
    causes = [{c["id"]: c for c in s["causes"]} for s in sides]
    equal(sorted(causes[0]), ["fair-undetermined", "rt-class"], "the causes of either side, on both")
    equal([(c["rt-class"]["ns"], c["rt-class"]["count"], c["rt-class"]["ns_per_1000"],
            c["rt-class"]["count_per_1000"]) for c in causes],
          [(550000, 10, 55000000, 1000.0), (225000, 9, 22500000, 900.0)], "rt-class, in all and per 1000")
    equal([(c["fair-undetermined"]["ns"], c["fair-undetermined"]["count_per_1000"]) for c in causes],
          [(0, 0.0), (120000, 100.0)], "fair-undetermined")
    equal([(s["tail_waits"], s["tail_total_ns"]) for s in sides], [(1, 100000), (1, 120000)],
          "the tail of so few is the worst wait")
    equal([s["cause_total_ns"] for s in sides], [550000, 345000], "causes add up to the waits")
    test = whole["sides"][1]["test"]
    equal((test["values"], test["significant"]), (0, None), "10 waits are too few to test")

    text = diff(a, b).stdout
    for line in (r"^ +Total Samples +10 +10$", r"^ +Average +55\.000 +34\.500 +\(\+37\.3 %\)$",
                 r"^ +Median \(P50\) +50\.000 +25\.000 +\(\+50\.0 %\)$",
                 r"^ +90th Percentile +90\.000 +45\.000 +\(\+50\.0 %\)$",
                 r"^ +99th Percentile +100\.000 +120\.000 +\(-20\.0 %\)$",
                 r"^ +99\.9th Percentile +100\.000 +120\.000 +\(-20\.0 %\)$",
                 r"^ +Maximum +100\.000 +120\.000 +\(-20\.0 %\)$",
                 r"^ +rt-class +55000\.0 +22500\.0 +-32500\.0 +1000\.0 +900\.0$",
                 r"^ +fair-undetermined +0\.0 +12000\.0 +\+12000\.0 +0\.0 +100\.0$",
                 r"^ +Above P99\.9 \(A 1 wait, B 1\): \+20\.00 us per wait, of which "
                 r"fair-undetermined \+120\.0 us,\s+rt-class\s+-100\.0 us$",
                 r"^Test: +none: no group has 10 waits in each of 9 and 9 stretches",
                 r"^Result: not tested, so differences may be noise"):
        ok(re.search(line, text, re.M), f"text: {line}", text)
    ok(all(len(line) <= 100 for line in text.splitlines()), "at most 100 columns", text)

    rows = list(csv.DictReader(io.StringIO(diff("-x", ",", a, b).stdout)))
    rows = {r["what"]: r for r in rows if r["comm"] == "cyclic"}
    equal((rows["p90_ns"]["base"], rows["p90_ns"]["value"], rows["p90_ns"]["change_permille"], rows["p90_ns"]["p"]),
          ("90000", "45000", "500", ""), "a line of the CSV")
    equal((rows["rt-class"]["base"], rows["rt-class"]["value"], rows["rt-class"]["change_permille"],
           rows["rt-class"]["base_waits_milli"], rows["rt-class"]["waits_milli"]),
          ("55000000", "22500000", "591", "1000000", "900000"), "a cause in the CSV")
    equal(diff("-x", ";", "--fields", "what,value", a, b).stdout.splitlines()[:2], ["what;value", "count;10"],
          "--fields")
    # the tail above P50: the five longest; A 60..100 rt, B 30..45 rt and 120 behind the hog
    _, groups = compared("--tail=p50", a, b)
    equal([(s["tail_waits"], s["tail_total_ns"]) for s in groups["cyclic"]["sides"]],
          [(5, 400000), (5, 270000)], "--tail=p50")
    _, groups = compared("--by=all", a, b)
    equal(len(groups), 1, "--by=all has one group")

    c = trace(tmp / "c.txt", [(10 * i, "rt") for i in range(2, 12)])
    whole, groups = compared(a, b, c)
    equal([s["rows"]["avg_ns"]["change_permille"] for s in groups["cyclic"]["sides"]], [None, 373, -182],
          "three sides: each against the first; 65 instead of 55 us")
    text = diff(a, b, c).stdout
    ok("A against B" in text and "A against C" in text, "text: one comparison after the other", text)


def one_side_only(tmp):
    a = trace(tmp / "two-groups.txt", [(20, "rt")] * 3,
              head="1us 0//h sched_waking 500 cpu=0\n1us 0//h sched_wakeup 500 cpu=0\n"
                   "3us 0 sched_switch 300 S -> 500\n5us 0 sched_switch 500 S -> 300")
    b = trace(tmp / "one-group.txt", [(40, "rt")] * 3)
    whole, _ = compared(a, b)
    only = [g for g in whole["groups"] if g["comm"] != "cyclic"]
    equal(len(only), 1, "a group of one side is listed")
    sides = only[0]["sides"]
    equal((sides[0]["rows"]["count"]["median"], sides[1]["rows"]["count"]["median"],
           sides[1]["rows"]["p99_ns"]["median"], sides[1]["rows"]["p99_ns"]["change_permille"],
           sides[1]["causes"][0]["ns"], sides[1]["cause_waits"]), (1, None, None, None, None, None),
          "its side without waits has null, never 0")
    ok(re.search(r"^Waits only in A, so n/a: ", diff(a, b).stdout, re.M), "and text says n/a", diff(a, b).stdout)
    c = trace(tmp / "other.txt", [(40, "rt")] * 3, comm="other")
    done = diff(b, c)
    ok(done.returncode == 2 and "no group has waits on every side" in done.stderr and not done.stdout,
       "no group in common: exit 2", done.stderr)
    equal(diff("--by=all", b, c).returncode, 0, "--by=all compares them")
    done = diff("--comm", "nobody", b, c)
    equal(done.returncode, 2, "a filter that nothing passes: exit 2")


def noisy(rng, n, centre, who="rt"):
    """Waits like those of a real task: skewed, and alike when they follow each other."""
    drift, waits = 0.0, []
    for _ in range(n):
        drift = 0.9 * drift + 0.1 * rng.gauss(0, 1)
        waits.append((centre * 2.718 ** (0.5 * rng.gauss(0, 1) + drift), who))
    return waits


def significance(tmp):
    rng = random.Random(7)
    found, significant = [], 0
    for pair in range(20):
        files = [trace(tmp / f"same-{pair}-{i}.txt", noisy(rng, 300, 50)) for i in (0, 1)]
        whole, _ = compared(*files)
        found.append(whole["sides"][1]["test"]["significant"])
        significant += found[-1] != 0
    ok(significant <= 2, "of 20 pairs of the same thing at least 18 have no significant difference", found)

    slow = [(us * 4, who) for us, who in noisy(rng, 300, 50)]
    a = trace(tmp / "fast.txt", noisy(rng, 300, 50))
    whole, groups = compared(a, trace(tmp / "slow.txt", slow))
    test = whole["sides"][1]["test"]
    equal((test["units"], test["base_units"], test["side_units"], test["exact"], test["relabellings"]),
          ("stretches", 9, 9, True, 48620), "one file each: 9 stretches of it")
    p50 = groups["cyclic"]["sides"][1]["rows"]["p50_ns"]
    ok(p50["significant"] and p50["p"] < 0.001, "four times as long is significant", p50)
    ok(groups["cyclic"]["sides"][1]["causes"][0]["significant"], "and so is its cause")
    ok(re.search(r"^Result: \d+ of \d+ values differ significantly", diff(a, tmp / "slow.txt").stdout, re.M),
       "and text says so")

    # A cause that comes in makes the tail: every tenth wait is behind the hog, and long.
    b = [(us, who) if i % 10 else (1000 + us, "hog") for i, (us, who) in enumerate(noisy(rng, 300, 50))]
    whole, groups = compared(a, trace(tmp / "hogged.txt", b))
    side = groups["cyclic"]["sides"][1]
    ok(side["rows"]["p99_ns"]["significant"] and not side["rows"]["p50_ns"]["significant"],
       "a new cause of the tail: P99 moved, the median did not", side["rows"])
    equal([c["id"] for c in side["causes"] if c["significant"]], ["fair-undetermined"],
          "and the cause that moved is the one that came in")

    def many(name, centres):
        return ",".join(str(trace(tmp / f"{name}{i}.txt", noisy(rng, 60, c))) for i, c in enumerate(centres))
    base, same, worse = many("base", [50, 55, 45, 52]), many("like", [51, 46, 54, 50]), many("worse", [98, 110, 105, 92])
    whole, groups = compared("--a", base, "--b", same)
    test = whole["sides"][1]["test"]
    equal((test["units"], test["base_units"], test["relabellings"], test["significant"]),
          ("recordings", 4, 70, 0), "4 against 4 files: the files are the evidence; alike: nothing significant")
    whole, groups = compared("--a", base, "--b", worse)
    avg = groups["cyclic"]["sides"][1]["rows"]["avg_ns"]
    ok(avg["significant"] and abs(avg["p"] - 2 / 70) < 1e-9 and
       abs(whole["sides"][1]["test"]["least_p"] - 2 / 70) < 1e-9, "4 against 4 twice as long: p is 2 in 70", avg)
    rows = [s["rows"]["p50_ns"] for s in groups["cyclic"]["sides"]]
    ok(all(r["min"] < r["median"] < r["max"] for r in rows), "a median with its spread", rows)
    ok("recordings" in diff("--a", base, "--b", worse).stdout and
       re.search(r"\[\d+\.\d+ \.\. \d+\.\d+\]", diff("--a", base, "--b", worse).stdout), "text shows it too")


def medians(tmp):
    """Files of one wait each: 10 20 60 us against 30 50 us. Medians 20 and (30 + 50) / 2."""
    def files(name, values):
        return ",".join(str(trace(tmp / f"{name}{v}.txt", [(v, "rt")])) for v in values)
    _, groups = compared("--a", files("m", [60, 10, 20]), "--b", files("n", [50, 30]))
    rows = [s["rows"] for s in groups["cyclic"]["sides"]]
    equal([(r["p50_ns"]["median"], r["p50_ns"]["min"], r["p50_ns"]["max"], r["count"]["median"]) for r in rows],
          [(20000, 10000, 60000, 1), (40000, 30000, 50000, 1)], "medians of three and of two files")
    equal(rows[1]["p50_ns"]["change_permille"], -1000, "40 instead of 20 us is -100 %")


def refused(args, status, *words):
    done = diff(*args)
    problems = [f"no '{w}'" for w in words if w not in done.stderr]
    if done.returncode != status or done.stdout or done.stderr.count("\n") != 1:
        problems.append(f"exit {done.returncode}, {len(done.stdout)} bytes on stdout")
    ok(not problems, f"refused with {status}: {' '.join(words)}", "\n".join(problems + [done.stderr]))


def bad_input(tmp):
    waits = [(10, "rt")] * 5
    plain, other = trace(tmp / "plain.txt", waits), trace(tmp / "other-plain.txt", waits)
    refused([plain], 129, "two recordings")
    refused([], 129, "two recordings")
    refused([plain, tmp / "nowhere.dat"], 1, "nowhere.dat", "No such file")
    refused([plain, plain], 129, "plain.txt", "same file")
    os.symlink(plain, tmp / "link.txt")
    refused([plain, tmp / "link.txt"], 129, "link.txt", "same file")
    refused(["--a", f"{plain},{plain}", "--b", other], 129, "same file")
    refused(["--a", plain], 129, "--a and --b")
    refused(["--a", plain, "--b", other, plain], 129, "--a and --b")
    refused(["--a", f"{plain},", "--b", other], 129, "empty")
    refused(["--tail=5ms", plain, other], 129, "--tail")
    refused(["-j", "-x", ",", plain, other], 129, "-j and -x")
    refused(["--fields=p", plain, other], 129, "--fields")
    refused(["--by=colour", plain, other], 129, "colour")
    empty = tmp / "empty.dat"
    empty.write_bytes(b"")
    refused([plain, empty], 2, "empty.dat")
    refused([plain, pathlib.Path("/dev/null")], 2, "/dev/null")
    demo = (GOLDEN.parent / "data" / "demo.dat").read_bytes()
    cut = tmp / "cut.dat"
    cut.write_bytes(demo[:3000])
    refused([plain, cut], 2, "cut.dat")
    silent = tmp / "silent.txt"
    silent.write_text("# schedlat text 1\n@cpus 0\n0 0 sched_switch 9 S -> 0\n")
    refused([plain, silent], 2, "silent.txt", "wakeup")


def definitions(tmp):
    waits = [(10, "rt")] * 5
    plain = trace(tmp / "def-plain.txt", waits)
    # no sched_waking at all: waits start at sched_wakeup
    wakeup = trace(tmp / "def-wakeup.txt", waits, waking=None)
    refused([plain, wakeup], 2, "def-plain.txt", "sched_waking", "def-wakeup.txt", "sched_wakeup", "--from=wakeup")
    equal(diff("--from=wakeup", plain, wakeup).returncode, 0, "--from=wakeup compares them")
    only = trace(tmp / "def-only.txt", waits, head="0 0 schedlat:meta only comm:cyclic")
    refused([plain, only], 2, "--only", "comm:cyclic", "all tasks")
    targets = trace(tmp / "def-targets.txt", waits, head="0 0 schedlat:meta target_tids 100")
    refused([plain, targets], 2, "-p or -t", "--all")
    equal(diff("--all", plain, targets).returncode, 0, "--all compares them")
    flight = trace(tmp / "def-flight.txt", waits, head="0 0 schedlat:meta flight 1")
    refused([plain, flight], 2, "def-flight.txt", "flight")
    above = (GOLDEN / "threshold-histograms.txt").read_text()
    (tmp / "def-above.txt").write_text(above)
    (tmp / "def-above2.txt").write_text(above.replace("threshold.ns 500000", "threshold.ns 400000"))
    (tmp / "def-above3.txt").write_text(above + "# the same thing once more\n")
    refused([plain, tmp / "def-above.txt"], 2, "def-above.txt", "waits of at least", "-T")
    refused([tmp / "def-above.txt", tmp / "def-above2.txt"], 2, "500", "400", "-T")
    done = diff(tmp / "def-above.txt", tmp / "def-above3.txt")
    ok(done.returncode == 0 and "counts of their waits only" in done.stdout and
       "causes are of waits of at least 500.0 us" in done.stdout, "two with the same threshold are compared",
       done.stdout + done.stderr)


def outputs(tmp):
    a, b = tmp / "a.txt", tmp / "b.txt"
    with open("/dev/full", "w") as full:
        done = subprocess.run([SCHEDLAT, "diff", str(a), str(b)], stdout=full, stderr=subprocess.PIPE, timeout=60)
    ok(done.returncode == 1 and done.stderr.count(b"\n") == 1, "to a full disk: exit 1, one line", done.stderr)
    odd = trace(tmp / "odd,\n.txt", [(10, "rt")] * 3)
    done = diff(odd, b)
    ok(done.returncode == 0 and "\\x0a" in done.stdout, "a file name with a newline is escaped", done.stdout[:300])


with tempfile.TemporaryDirectory() as name:
    top = pathlib.Path(name)
    for part in (by_hand, one_side_only, significance, medians, bad_input, definitions, outputs):
        part(top)
finish()
