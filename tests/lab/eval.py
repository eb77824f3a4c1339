#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The tables of make lab-eval, from what the guests left (tests/lab/eval.sh): Markdown.

For each number of CPUs and mode: the tests with their conditions, base and series side by
side, the causes of the tail as schedlat report has them, and what the series is judged by.
Figures are those that were measured: medians over the runs, with the smallest and the largest.
"""
import argparse
import collections
import json
import pathlib
import statistics
import subprocess
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "eval"))
from figures import (ROWS, Runs, Samples, Verdict, alike, as_base, change, not_slower,
                     not_worse_in_pairs, ratio_at_most, signed)

SHORT = [f"short-{n}" for n in range(4)]
P50, P99, P999, MAX = (ROWS.index(r) for r in ("Median (P50)", "99th Percentile",
                                               "99.9th Percentile", "Maximum"))
TITLES = {
    "A": "cyclictest alone (period 3.777 ms, slice 8 ms)",
    "B": "cyclictest (as A) with two rt-app tasks per CPU: 8.177 ms busy, 17.777 ms asleep, "
         "slice 16 ms",
    "C": "cyclictest (as A) with hackbench: 1 group, threads, pipes, slice 16 ms",
    "D": "four tasks with a slice of 1 ms, sixteen with 16 ms, released together each 7.777 ms, "
         "0.5 ms of CPU each, SIS_UTIL off",
    "E": "hackbench, pipes, 50 loops, default slice: seconds, mean and standard deviation",
}
# Which waits are explained, and of whom: in D the median is what the series is for.
EXPLAINED = {"A": ("cyclictest", "p99"), "B": ("cyclictest", "p99"), "C": ("cyclictest", "p99"),
             "D": ("short-*", "p50")}
MODES = {
    "icount": "-icount, an instruction takes 1 ns",
    "icount4": "-icount, an instruction takes 4 ns",
    "multi": "without -icount: a host thread per CPU, the host's clock and load",
}
TOP = 6


class Run:
    """What one guest left."""

    def __init__(self, path, schedlat):
        self.path, self.schedlat = path, schedlat
        self.conditions = dict(line.split("=", 1) for line in
                               (path / "conditions").read_text().splitlines())
        self._reports = {}

    def cyclictest(self, test):
        """Its histogram, in us; None where the test was not run."""
        path = self.path / f"{test}.hist"
        if not path.exists():
            return None
        counted, overflow, largest = {}, 0, 0
        for line in path.read_text().splitlines():
            words = line.split()
            if line.startswith("# Max Latencies:"):
                largest = int(words[-1])
            elif line.startswith("# Histogram Overflows:"):
                overflow = int(words[-1])
            elif words and words[0].isdigit():
                counted[int(words[0])] = int(words[1])
        # Where the histogram ends only the largest is known.
        if overflow > 1:
            raise SystemExit(f"eval: {path}: {overflow} samples are beyond the histogram")
        if overflow:
            counted[largest] = 1
        return Samples(counted)

    def wakes(self):
        """By task, in us: what the tasks of D measured; "normal" is all sixteen."""
        path = self.path / "D.wake"
        if not path.exists():
            return None
        values, missed = collections.defaultdict(list), 0
        for line in path.read_text().splitlines():
            words = line.split()
            if words[0] == "missed":
                missed += int(words[2])
            else:
                values[words[0].split("-")[0] if words[0].startswith("normal") else words[0]].append(
                    int(words[1]) / 1000)
        tasks = {name: Samples.of(v) for name, v in values.items()}
        tasks["missed"] = missed
        return tasks

    def hackbench(self):
        path = self.path / "E.time"
        if not path.exists():
            return None
        seconds = collections.defaultdict(list)
        for line in path.read_text().splitlines():
            kind, groups, value = line.split()
            seconds[kind, int(groups)].append(float(value))
        return seconds

    def report(self, test, comm, quantile):
        """schedlat report of its recording, or None."""
        path = self.path / f"{test}.dat"
        key = test, comm, quantile
        if path.exists() and key not in self._reports:
            done = subprocess.run([self.schedlat, "report", "-i", path, "--by", "comm", "--comm",
                                   comm, f"--why={quantile}", "-j"], capture_output=True, text=True,
                                  check=False)
            if done.returncode:
                raise SystemExit(f"eval: schedlat report of {path}: {done.stderr.strip()}")
            self._reports[key] = json.loads(done.stdout)
        return self._reports.get(key)


def figure(value, digits=1):
    return "n/a" if value is None else f"{value:.{digits}f}"


def pair(base, series, digits=1):
    """base, and series with its change."""
    return figure(base, digits), f"{figure(series, digits)} {signed(change(base, series))}".rstrip()


def spread(runs, digits=1):
    return "" if runs.low is None else f"{runs.low:.{digits}f}..{runs.high:.{digits}f}"


def columns(rows):
    """Lines of a table: the first column to the left, the others to the right."""
    widths = [max(len(str(row[i])) for row in rows if i < len(row)) for i in range(max(map(len, rows)))]
    return ["  ".join(str(cell).ljust(w) if i == 0 else str(cell).rjust(w)
                      for i, (cell, w) in enumerate(zip(row, widths))).rstrip() for row in rows]


def by_row(samples):
    """For each of ROWS the figure of each run; samples has one for each run."""
    return [Runs(column) for column in zip(*(s.row() for s in samples))]


def wrapped(text):
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False)


class Set:
    """All runs with the same number of CPUs in the same mode."""

    def __init__(self, name, sides):
        self.name, self.sides = name, sides
        self.conditions = {side: runs[0].conditions for side, runs in sides.items() if runs}
        self.lines, self.verdicts = [], []

    def of(self, what, *args):
        """For each side what its runs have, without those that have nothing."""
        found = {side: [getattr(run, what)(*args) for run in runs] for side, runs in self.sides.items()}
        found = {side: [f for f in values if f is not None] for side, values in found.items()}
        return found if any(found.values()) else None

    def table(self, rows):
        self.lines += ["", *("    " + line for line in columns(rows))]

    def conditions_line(self, runs):
        """What every table says of how it was measured."""
        one = next(iter(self.conditions.values()))
        parts = [f"{one['cpus']} vCPUs", MODES[one["mode"]]]
        if one["mode"] != "multi":
            parts[-1] += (f", each vCPU has its turn within {one['turn_us']} us" if one["turn_us"] != "0"
                          else ", a busy vCPU has its turn until the next timer")
        for side, c in self.conditions.items():
            what = f"{side}: {c['kernel']} (patches: {c['commit']})"
            parts.append(what + (f" with {c['features']}" if c["features"] else ""))
        parts.append(f"{runs} runs of each" + (", in turn" if one["mode"] == "multi" and len(self.sides) > 1 else ""))
        return "; ".join(parts) + ". Figures are medians of the runs."

    def cyclictest(self, test):
        found = self.of("cyclictest", test)
        if not found:
            return
        base = by_row(found["base"])
        series = by_row(found["series"]) if found.get("series") else None
        self.heading(test, len(found["base"]))
        rows = [["us", "base", "runs"] + (["series", "runs"] if series else [])]
        for i, name in enumerate(ROWS):
            digits = 1 if i == 1 else 0
            cells = [name, figure(base[i].median, digits), spread(base[i], digits)]
            if series:
                text = pair(base[i].median, series[i].median, digits)[1] if i else figure(series[i].median, 0)
                cells += [text, spread(series[i], digits)]
            rows.append(cells)
        self.table(rows)
        if series and test in "AC" and not self.features():
            for i in (P999, MAX):
                self.verdicts.append(not_worse_in_pairs(f"{test}: {ROWS[i]}", base[i].values,
                                                        series[i].values))
        elif series and self.features():
            self.verdicts += [as_base(f"{test}: {ROWS[i]}", base[i].values, series[i].values)
                              for i in (P50, P99)]
        self.causes(test)

    def features(self):
        return self.conditions.get("series", {}).get("features")

    def heading(self, test, runs):
        self.lines += ["", f"### {test}", "", *wrapped(f"{test}: {TITLES[test]}."), "",
                       *wrapped(self.conditions_line(runs))]

    def per_task(self, base, series, names):
        """Of each task a column: base above, series below."""
        self.table([["base, us", *names]] + [
            [row, *(figure(base[n][i].median, 0 if i == 0 else 1) for n in names)]
            for i, row in enumerate(ROWS)] + [
            [f"  {label} in the runs", *(spread(base[n][i]) for n in names)]
            for i, label in ((P50, "P50"), (P99, "P99"))])
        if not series:
            return
        self.table([["series, us", *names]] + [
            [row, *(figure(series[n][i].median, 0) if i == 0 else
                    pair(base[n][i].median, series[n][i].median)[1] for n in names)]
            for i, row in enumerate(ROWS)] + [
            [f"  {label} in the runs", *(spread(series[n][i]) for n in names)]
            for i, label in ((P50, "P50"), (P99, "P99"))])

    def judge_tasks(self, how, base, series):
        if self.features():
            self.verdicts += [as_base(f"D, {how}: {n}: {ROWS[i]}", base[n][i].values, series[n][i].values)
                              for n in (*SHORT, "normal") for i in (P50, P99)]
            return
        for n in SHORT:
            self.verdicts.append(ratio_at_most(f"D, {how}: {n}: P50", base[n][P50].median,
                                               series[n][P50].median, 1 / 3, "at most a third of base"))
            self.verdicts.append(ratio_at_most(f"D, {how}: {n}: P99", base[n][P99].median,
                                               series[n][P99].median, 1 / 2, "at most half of base"))
        self.verdicts.append(alike([series[n][P50].median for n in SHORT], 1.3,
                                   f"D, {how}: the four P50 within 1.3 times of each other"))
        self.verdicts.append(ratio_at_most(f"D, {how}: normal tasks: P50", base["normal"][P50].median,
                                           series["normal"][P50].median, 1.1, "at most 10 % worse"))

    def short_tasks(self):
        found = self.of("wakes")
        if not found:
            return
        names = [*SHORT, "normal"]
        own = {side: {n: by_row([run[n] for run in runs]) for n in names}
               for side, runs in found.items() if runs}
        self.heading("D", len(found["base"]))
        missed = ", ".join(f"{side} {sum(run['missed'] for run in runs)}" for side, runs in found.items())
        self.lines += ["", *wrapped(
            "As the tasks measured it, from the instant their timer was set for to their first clock "
            "reading; nothing was recorded. Releases missed because a task was still busy: "
            f"{missed}.")]
        self.per_task(own["base"], own.get("series"), names)
        if "series" in own:
            self.judge_tasks("own", own["base"], own["series"])
        self.waits(names)
        self.causes("D")

    def waits(self, names):
        """The same by schedlat's wait, from the recorded runs."""
        found = self.of("report", "D", "[sn]*-[0-9]*", "p99")
        if not found:
            return
        keys = ("count", "avg_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")
        waits = {}
        for side, reports in found.items():
            per_run = []
            for report in reports:
                groups = {g["comm"]: [g[k] if k == "count" else g[k] and g[k] / 1000 for k in keys]
                          for g in report["groups"] if g["kind"] == "wake"}
                normal = [v for c, v in groups.items() if c.startswith("normal")]
                # Of sixteen tasks the middle one: their waits are not kept one by one here.
                groups["normal"] = [statistics.median(column) for column in zip(*normal)]
                per_run.append(groups)
            if per_run:
                waits[side] = {n: [Runs(c) for c in zip(*(run[n] for run in per_run))] for n in names}
        self.lines += ["", *wrapped(
            "As schedlat has it, from sched_waking until the task runs, in a second run of the same that "
            f"was recorded (tracefs; {len(found['base'])} of the runs); normal: the median of the "
            "sixteen.")]
        self.per_task(waits["base"], waits.get("series"), names)
        if "series" in waits:
            self.judge_tasks("schedlat", waits["base"], waits["series"])

    def hackbench(self):
        found = self.of("hackbench")
        if not found:
            return
        self.heading("E", len(found["base"]))
        rows = [["s", "base", "sd", "series", "sd", "n"]]
        for key in sorted({k for run in found["base"] for k in run}):
            base = [v for run in found["base"] for v in run[key]]
            series = [v for run in found.get("series", []) for v in run[key]]
            b, s = Runs(base), Runs(series)
            name = f"{key[0]}, {key[1]} group{'s' if key[1] > 1 else ''}"
            rows.append([name, figure(b.mean, 3), figure(b.sd, 3), pair(b.mean, s.mean, 3)[1],
                         figure(s.sd, 3), f"{len(base)}, {len(series)}"])
            if series:
                judge = as_base if self.features() else not_slower
                self.verdicts.append(judge(f"E: {name}", base, series, *(["s"] if self.features() else [])))
        self.table(rows)

    def causes(self, test):
        """What held the tasks, in waits beyond a percentile, in the recorded runs."""
        comm, quantile = EXPLAINED[test]
        found = self.of("report", test, comm, quantile)
        if not found:
            return
        rows = [[f"waits of {comm} above {quantile.upper()}"], ["", "ms", "share"]]
        for side, reports in found.items():
            if not reports:
                continue
            sums, families = collections.Counter(), {}
            for report in reports:
                for cause in report["why"]["causes"]:
                    sums[cause["id"]] += cause["ns"]
                    families[cause["id"]] = cause["family"]
            total = sum(report["why"]["total_ns"] for report in reports)
            waits = sum(report["why"]["count"] for report in reports)
            limit = Runs([report["why"]["threshold_ns"] / 1000 for report in reports]).median
            rows.append([f"{side}: {waits} waits above {figure(limit)} us", figure(total / 1e6, 3), "100.0 %"])
            for place in (False, True):
                top = [c for c, _ in sums.most_common() if (families[c] == "place") == place][:TOP]
                rows += [[f"  {'placement: ' if place else ''}{c}", figure(sums[c] / 1e6, 3),
                          f"{100 * sums[c] / total:.1f} %"] for c in top if total]
        self.lines += ["", *wrapped(
            "What held them, as schedlat report says (placement: time that another CPU could have "
            "saved, which is also in the lines above it):")]
        self.table(rows)

    def text(self):
        for test in "ABC":
            self.cyclictest(test)
        self.short_tasks()
        self.hackbench()
        one = next(iter(self.conditions.values()))
        head = [f"## {one['cpus']} vCPUs, {MODES[one['mode']]}", "",
                f"qemu {one['qemu']} on {one['host']}; {one['seconds']} s of the guest's time per run."]
        if self.verdicts:
            head += ["", *(f"- {v}" for v in self.verdicts)]
        return "\n".join(head + self.lines)


def load(directory, schedlat):
    """Sets in the order of their names; of runs only those that all sides have."""
    for path in sorted(p for p in directory.iterdir() if p.is_dir()):
        sides = {}
        for side in ("base", "series"):
            found = [run / side for run in sorted(path.iterdir(), key=lambda p: int(p.name))
                     if (run / side / "conditions").exists()]
            if found:
                sides[side] = found
        if "base" not in sides:
            continue
        both = set.intersection(*({run.parent for run in found} for found in sides.values()))
        yield Set(path.name, {side: [Run(run, schedlat) for run in found if run.parent in both]
                              for side, found in sides.items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path, help="EVAL_KEEP of tests/lab/eval.sh")
    parser.add_argument("--schedlat", default="schedlat")
    parser.add_argument("--head", help="what stands above the tables")
    args = parser.parse_args()
    sets = list(load(args.directory, args.schedlat))
    if not sets:
        raise SystemExit(f"eval: {args.directory} has no run that is complete")
    texts = [s.text() for s in sets]
    if args.head:
        print(args.head + "\n")
    print("\n\n".join(texts))
    verdicts: list[Verdict] = [v for s in sets for v in s.verdicts]
    if verdicts:
        met = collections.Counter(v.met for v in verdicts)
        print(f"\n{met[True]} met, {met[False]} missed, {met[None]} cannot be told.")


main()
