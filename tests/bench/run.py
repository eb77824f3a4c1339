#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""make bench: speed of report, overhead of record, in paired runs.

Runs that are compared alternate within a round, so that a change of the machine's
load falls on both; printed are medians over the rounds, and medians of the ratios
within a round. Recordings are made on the spot and kept in build/bench.

    O=build tests/bench/run.py [rounds]      FEWER=1: three rounds, one million events
    ONLY=read,record,...                     some sections: read memory open streams threads
                                             zstd size record
"""
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
O = os.path.realpath(os.environ.get("O", os.path.join(TOP, "build")))
SCHEDLAT = os.path.join(O, "schedlat")
RUNSTAT = os.path.join(O, "tests/bench/runstat")
PINGPONG = os.path.join(O, "tests/bench/pingpong")
DIR = os.path.join(O, "bench")
FEWER = bool(os.environ.get("FEWER"))
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3 if FEWER else 7
SIZES = {"small": 1_000_000, "large": 2_000_000} if FEWER else {"small": 3_000_000,
                                                                 "large": 6_000_000}
ONLY = [s for s in os.environ.get("ONLY", "").split(",") if s]
median = statistics.median
rows = []


def row(what, figure, goal="", met=None):
    """One line of the result; met None: no goal, or it could not be measured."""
    mark = "" if met is None else "yes" if met else "NO"
    rows.append((what, figure, goal, mark))
    print(f"{what:<44} {figure:<30} {goal:<22} {mark}", flush=True)


class Run:
    """What one run of a command took."""

    def __init__(self, *args, output="/dev/null", okay=(0,)):
        out = subprocess.run([RUNSTAT, output, *args], capture_output=True, text=True, check=False)
        if out.returncode:
            raise RuntimeError(out.stderr.strip())
        wall, user, system, rss, status = map(int, out.stdout.split())
        if status not in okay:
            raise RuntimeError(f"{' '.join(args)}: exit status {status}: {out.stderr.strip()}")
        self.wall_s, self.cpu_s, self.rss_mib = wall / 1e9, (user + system) / 1e9, rss / 1024
        self.stderr = out.stderr


def paired(commands, rounds=ROUNDS):
    """{name: [Run per round]}; the commands alternate, after one warm-up each."""
    result = {name: [] for name in commands}
    for args in commands.values():
        Run(*args)
    for _ in range(rounds):
        for name, args in commands.items():
            result[name].append(Run(*args))
    return result


def wall(runs):
    return median(r.wall_s for r in runs)


def ratio(a, b):
    """Median over rounds of a's wall time by b's."""
    return median(x.wall_s / y.wall_s for x, y in zip(a, b))


def report_json(path):
    out = subprocess.run([SCHEDLAT, "report", "-i", path, "--json"], capture_output=True,
                         text=True, check=True)
    return json.loads(out.stdout)


def events_of(path):
    return report_json(path)["input"]["events"]


def load(loops):
    return ["sh", "-c", "cyclictest --policy=other -q -t2 -i 1000 -D 300 >/dev/null & "
            f"hackbench -g 2 -T -p -l {loops} >/dev/null; kill $!; wait; exit 0"]


def record(path, loops, *options):
    subprocess.run([SCHEDLAT, "record", "--backend", "tracefs", "-o", path, "-m", "64M", "--no-irq",
                    *options, "--",
                    *load(loops)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def recordings():
    """The two recordings, of about the sizes asked for. {name: (path, events)}"""
    os.makedirs(DIR, exist_ok=True)
    result = {}
    per_loop = None
    for name, want in SIZES.items():
        path = os.path.join(DIR, f"{name}-{want // 1_000_000}M.dat")
        if not os.path.exists(path):
            if per_loop is None:
                with tempfile.TemporaryDirectory(dir=DIR) as tmp:
                    probe = os.path.join(tmp, "probe.dat")
                    record(probe, 3000)
                    per_loop = events_of(probe) / 3000
            record(path, int(want / per_loop))
        result[name] = (path, events_of(path))
    return result


def conditions(files):
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")),
                     platform.machine())
    print(f"kernel {platform.release()}, {os.cpu_count()} CPUs, {model}")
    print(f"load {os.getloadavg()[0]:.2f} at the start, {ROUNDS} rounds, page cache warm")
    print("load while recording: hackbench -g 2 -T -p, cyclictest -t2 -i 1000, --no-irq, -m 64M")
    for name, (path, events) in files.items():
        size = os.path.getsize(path)
        lost = report_json(path)["loss"]["total"]
        print(f"{name}: {events:,} events, {size / 1e6:.1f} MB, {size / events:.1f} bytes/event, "
              f"{lost} lost")
    print()
    print(f"{'what':<44} {'figure':<30} {'goal':<22} met")


def bench_read(files):
    """Speed of report, against the profile of trace-cmd on the same file."""
    for name, (path, events) in files.items():
        report = [SCHEDLAT, "report", "-i", path]
        commands = {"percentiles": report, "worst 1 %": [*report, "--why=p99"],
                    "every wait": [*report, "--why=0ns"]}
        other = shutil.which("trace-cmd")
        if other:
            commands["trace-cmd"] = [other, "report", "--profile", "-i", path]
        runs = paired(commands)
        for what, goal in (("percentiles", 45), ("worst 1 %", 35), ("every wait", 25)):
            speed = events / wall(runs[what]) / 1e6
            row(f"report, {what}, {name}", f"{speed:.1f} M events/s", f">= {goal}", speed >= goal)
        if other:
            r = ratio(runs["worst 1 %"], runs["trace-cmd"])
            row(f"worst 1 % / trace-cmd report --profile, {name}",
                f"{r:.3f}x of {wall(runs['trace-cmd']):.2f} s", "<= 0.12x", r <= 0.12)
        else:
            row("worst 1 % / trace-cmd report --profile", "not measured: no trace-cmd")


def bench_memory(files):
    peak = {n: max(r.rss_mib for r in paired({n: [SCHEDLAT, "report", "-i", p, "--why=p99"]},
                                             3)[n]) for n, (p, _) in files.items()}
    for name, mib in peak.items():
        row(f"peak memory, worst 1 %, {name}", f"{mib:.1f} MiB", "<= 16 MiB", mib <= 16)
    growth = peak["large"] / peak["small"] - 1
    row("memory of the larger recording", f"{growth * 100:+.1f} %", "within 10 %", abs(growth) <= .1)


def bench_open(_files):
    """A recording with all its metadata and hardly any events; process start included."""
    path = os.path.join(DIR, "tiny.dat")
    if not os.path.exists(path):
        subprocess.run([SCHEDLAT, "record", "--backend", "tracefs", "-o", path, "-m", "1M", "--",
                        "sleep", "0.05"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    runs = paired({"open": [SCHEDLAT, "report", "-i", path], "start": [SCHEDLAT, "--version"]},
                  ROUNDS * 3)
    ms = wall(runs["open"]) * 1e3
    row("report of a tiny recording", f"{ms:.1f} ms (start {wall(runs['start']) * 1e3:.1f} ms)",
        "<= 10 ms", ms <= 10)


def bench_zstd(files):
    path, events = files["small"]
    packed = path.replace(".dat", ".zstd.dat")
    if not os.path.exists(packed):
        subprocess.run(["trace-cmd", "convert", "-i", path, "-o", packed, "--compression", "zstd"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    runs = paired({"zstd": [SCHEDLAT, "report", "-i", packed, "--why=p99"]})
    speed = events / wall(runs["zstd"]) / 1e6
    row("report of a zstd recording, worst 1 %", f"{speed:.1f} M events/s", ">= 16", speed >= 16)


def bench_threads(files):
    path, events = files["large"]
    report = [SCHEDLAT, "report", "-i", path, "--why=p99"]
    runs = paired({"1": [*report, "--threads=1"], "2": [*report, "--threads=2"]})
    r = 1 / ratio(runs["2"], runs["1"])
    row("two threads against one, worst 1 %",
        f"{r:.2f}x, {events / wall(runs['2']) / 1e6:.1f} M events/s", ">= 1.6x", r >= 1.6)
    out = []
    with tempfile.TemporaryDirectory(dir=DIR) as tmp:
        for n in "12":
            out.append(os.path.join(tmp, n))
            Run(*report, "-n1000", f"--threads={n}", output=out[-1])
        with open(out[0], "rb") as one, open(out[1], "rb") as two:
            same = one.read() == two.read()
    row("output of two threads and of one", "same" if same else "DIFFERENT", "same", same)


def bench_streams(files):
    """The small recording, and one in which each CPU's data stands eight times (spread.py)."""
    path, _ = files["small"]
    plain, wide = path.replace(".dat", ".v6.dat"), path.replace(".dat", ".x8.dat")
    if not os.path.exists(wide):
        subprocess.run(["trace-cmd", "convert", "-i", path, "-o", plain, "--file-version", "6"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run([os.path.join(TOP, "tests/bench/spread.py"), "8", plain, wide], check=True)
    few, many = report_json(plain)["input"], report_json(wide)["input"]
    runs = paired({"few": [SCHEDLAT, "report", "-i", plain],
                   "many": [SCHEDLAT, "report", "-i", wide]})
    few_ns = wall(runs["few"]) * 1e9 / few["events"]
    many_ns = wall(runs["many"]) * 1e9 / many["events"]
    row(f"{many['cpus']} streams against {few['cpus']}",
        f"{many_ns / few_ns:.2f}x, {many_ns:.1f} ns/event", "<= 1.25x", many_ns <= 1.25 * few_ns)


def bench_size(files):
    """Bytes per event, and loss at the highest rate that hackbench reaches."""
    with tempfile.TemporaryDirectory(dir=DIR) as tmp:
        plain, packed = os.path.join(tmp, "p.dat"), os.path.join(tmp, "z.dat")
        loops = 20000 if FEWER else 40000
        for path, options in ((plain, ["-m", "8M"]), (packed, ["-m", "8M", "--compress"])):
            record(path, loops, *options)
        data = report_json(plain)
        events = data["input"]["events"]
        seconds = (data["input"]["t_end_ns"] - data["input"]["t_start_ns"]) / 1e9
        lost = data["loss"]["total"]
        row("lost with -m 8M", f"{lost} at {events / seconds / 1e3:.0f} k events/s", "0", lost == 0)
        size = os.path.getsize(plain) / events
        row("file, plain", f"{size:.1f} bytes/event", "<= 52", size <= 52)
        size = os.path.getsize(packed) / events_of(packed)
        row("file, --compress", f"{size:.1f} bytes/event", "<= 8", size <= 8)


def pingpong():
    """ns per round trip of two processes on CPU 0, without anything around it."""
    out = subprocess.run([PINGPONG], capture_output=True, text=True, check=True)
    return float(out.stdout.split()[0])


def under(*args):
    """The same while something records; the recorder runs on the other CPUs."""
    out = subprocess.run([*args, PINGPONG], capture_output=True, text=True, check=True)
    numbers = [line.split()[0] for line in out.stdout.splitlines() if line[:1].isdigit()]
    return float(numbers[0])


def bench_record(_files):
    if not os.access(PINGPONG, os.X_OK):
        row("record overhead", "not measured: tests/bench/pingpong is not built")
        return
    perf = shutil.which("perf")
    # how to record, and the goals: slowdown, share of what perf sched record adds
    ways = [("tracefs", ["--backend", "tracefs", "--no-irq"], 1.23, 0.30)]
    if can_bpf():
        ways += [("bpf", ["--backend", "bpf", "--no-irq"], 1.25, 0.32),
                 ("bpf, -T 1s", ["--backend", "bpf", "--no-irq", "-T", "1s"], 1.12, None)]
    else:
        row("record, bpf", "not measured: it does not work here (schedlat check)")
    base, theirs, ours = [], [], [[] for _ in ways]
    with tempfile.TemporaryDirectory(dir=DIR) as tmp:
        other = ["perf", "sched", "record", "-o", os.path.join(tmp, "p.data"), "--"]
        for _ in range(ROUNDS):
            before = pingpong()
            for (_name, options, _slow, _added), times in zip(ways, ours):
                times.append(under(SCHEDLAT, "record", "-q", *options, "-o",
                                   os.path.join(tmp, "s.dat"), "--"))
            if perf:
                theirs.append(under(*other))
            base.append((before + pingpong()) / 2)
    for (name, _options, slow_goal, added_goal), times in zip(ways, ours):
        slow = median(o / b for o, b in zip(times, base))
        row(f"record ({name}), pinned pipe ping-pong", f"{slow:.2f}x of {median(base):.0f} ns",
            f"<= {slow_goal:.2f}x", slow <= slow_goal)
        if perf and added_goal:
            added = median((o - b) / (t - b) for o, b, t in zip(times, base, theirs))
            slower = median(t / b for t, b in zip(theirs, base))
            row("added time / that of perf sched record", f"{added:.2f}x (perf: {slower:.2f}x)",
                f"<= {added_goal:.2f}x", added <= added_goal)
    if not perf:
        row("added time / that of perf sched record", "not measured: no perf")
    if can_bpf():
        bench_bpf_alone()


def can_bpf():
    out = subprocess.run([SCHEDLAT, "check"], capture_output=True, text=True, check=False)
    return bool(re.search(r"^bpf +can record", out.stdout, re.M))


def bench_bpf_alone():
    """What the recorder itself takes: idle, and per event under load."""
    with tempfile.TemporaryDirectory(dir=DIR) as tmp:
        path = os.path.join(tmp, "s.dat")
        took = {}
        for seconds in 2, 12:	# what starting and stopping takes is in both
            subprocess.run([SCHEDLAT, "record", "-q", "--backend", "bpf", "-o", path, "-d", f"{seconds}s"],
                           check=True)
            meta = report_json(path)["input"]["meta"]
            took[seconds] = int(meta["overhead.events"]), int(meta["overhead.own_cpu_ns"])
        events, own = (took[12][i] - took[2][i] for i in range(2))
        row("bpf, nothing else runs", f"{own / 1e10:.2%} of a core, {events / 10:.0f} events/s",
            "<= 0.3 %", own / 1e10 <= 0.003)
        subprocess.run([SCHEDLAT, "record", "-q", "--backend", "bpf", "--no-irq", "-o", path, "--",
                        "hackbench", "-g", "2", "-T", "-p", "-l", "5000" if FEWER else "10000"],
                       check=True, stdout=subprocess.DEVNULL)
        data = report_json(path)
        meta = data["input"]["meta"]
        events, own = int(meta["overhead.events"]), int(meta["overhead.own_cpu_ns"])
        seconds = (data["input"]["t_end_ns"] - data["input"]["t_start_ns"]) / 1e9
        lost = sum(int(v) for k, v in meta.items() if k.startswith("lost.cpu"))
        row("bpf, CPU time of the recorder", f"{own / events:.0f} ns/event", "<= 50 ns", own / events <= 50)
        row("bpf, lost with -m 8M", f"{lost} at {events / seconds / 1e3:.0f} k events/s", "0", lost == 0)


def main():
    for need in (SCHEDLAT, RUNSTAT):
        if not os.access(need, os.X_OK):
            sys.exit(f"bench: {need} is not built: make bench")
    try:
        files = recordings()
    except subprocess.CalledProcessError as error:
        sys.exit(f"bench: cannot record here: {' '.join(map(str, error.cmd[:4]))} ... failed")
    conditions(files)
    for section in (bench_read, bench_memory, bench_open, bench_zstd, bench_threads, bench_streams,
                    bench_size, bench_record):
        name = section.__name__.removeprefix("bench_")
        if ONLY and name not in ONLY:
            continue
        try:
            section(files)
        except (RuntimeError, subprocess.CalledProcessError, OSError) as error:
            row(name, f"not measured: {str(error)[:120]}")
    print(f"\nload {os.getloadavg()[0]:.2f} at the end")


main()
