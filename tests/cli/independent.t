#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Wakeup latencies recomputed from the text of trace-cmd report. TAP.

    tests/cli/independent.t [FILE.dat]      a recording to use instead of a fresh one

Another program decodes the recording and a few lines here pair wakeups with switches
and take percentiles; both must agree with schedlat to the nanosecond, for every
thread. A fresh recording has at least 300,000 events; it needs tracing rights.
"""
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SCHEDLAT = os.environ.get("SCHEDLAT", "./schedlat")
EVENTS_NEEDED = 300000
LINE = re.compile(r"-(\d+)\s+\[(\d+)\]\s+(?:\S+\s+)?(\d+)\.(\d{9}): (\w+): +(.*)")
SWITCH = re.compile(r"prev_comm=.* prev_pid=(\d+) prev_prio=-?\d+ prev_state=(\S+) ==> "
                    r"next_comm=.* next_pid=(\d+) next_prio=")
PID = re.compile(r"comm=.* pid=(\d+) prio=")
number = 0


def ok(good, name, why=()):
    global number
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {name}")
    for line in why if not good else ():
        print(f"#   {line}")


def skip(why):
    print(f"1..0 # skipped: {why}")
    sys.exit(0)


def record(path):
    """A recording with enough events, or the reason why there is none."""
    for loops in (100000, 250000):
        if shutil.which("perf"):
            load = ["perf", "bench", "sched", "pipe", "-l", str(loops)]
        elif shutil.which("hackbench"):
            load = ["hackbench", "-g", "2", "-l", str(loops // 100)]
        else:
            return "neither perf nor hackbench is installed"
        done = subprocess.run([SCHEDLAT, "record", "-o", path, "--", *load], capture_output=True,
                              text=True, timeout=120)
        if done.returncode:
            return done.stderr.strip().splitlines()[-1]
        found = re.search(r"(\d+) events", done.stderr)
        if found and int(found[1]) >= EVENTS_NEEDED:
            return None
    return f"the load gave only {found[1] if found else 'no'} events"


class Task:
    def __init__(self):
        self.runs = False
        self.waking = None      # a wakeup that waits for the task to run, or for its wakeup event
        self.queued = False     # runnable without running
        self.delays = []


def waits(path):
    """tid -> delays in ns, from sched_waking to the switch that runs the task."""
    tasks, current = {}, {}
    text = subprocess.Popen(["trace-cmd", "report", "-N", "-t", "-i", path], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, errors="replace")
    last, lines = 0, 0
    for line in text.stdout:
        found = LINE.search(line)
        if not found:
            continue
        context, cpu, seconds, fraction, name, rest = found.groups()
        now = int(seconds) * 10**9 + int(fraction)
        assert now >= last, "trace-cmd report is not in time order"
        last = now
        if name in ("meta", "task"):
            continue                        # written by the recorder, on behalf of no CPU
        # The task in whose context an event is recorded runs there. Now and then a kernel does not
        # record a switch: whoever was believed to run sleeps, and how long the other one waited
        # is unknown.
        if current.get(cpu, context) != context:
            tasks[current[cpu]].runs = False
            found = tasks.setdefault(context, Task())
            found.runs, found.waking, found.queued = True, None, False
        current[cpu] = context
        tasks.setdefault(context, Task()).runs = True
        lines += name.startswith("sched_")
        if name == "sched_switch":
            prev, state, following = SWITCH.match(rest).groups()
            out, into = tasks.setdefault(prev, Task()), tasks.setdefault(following, Task())
            current[cpu] = following
            out.runs = False
            out.queued = state.startswith("R")
            if out.queued:
                out.waking = None           # it was woken before it had gone to sleep
            if into.waking is not None and not into.runs:
                into.delays.append(now - into.waking)
            into.waking, into.runs, into.queued = None, True, False
        elif name in ("sched_waking", "sched_wakeup"):
            task = tasks.setdefault(PID.match(rest)[1], Task())
            if task.queued:
                continue                    # preempted: it waits already
            if name == "sched_waking":
                task.waking = now           # a second one without a switch replaces the first
            elif task.runs:
                task.waking = None          # woken while it ran
            elif task.waking is None:
                task.waking = now
    text.wait()
    return {int(t): task.delays for t, task in tasks.items() if t != "0" and task.delays}, lines


def nearest_rank(ordered, per_mille):
    return ordered[math.ceil(per_mille * len(ordered) / 1000) - 1]


def main():
    with tempfile.TemporaryDirectory() as tmp:
        path = sys.argv[1] if len(sys.argv) > 1 else str(pathlib.Path(tmp, "trace.dat"))
        if not shutil.which("trace-cmd"):
            skip("trace-cmd is not installed")
        if len(sys.argv) == 1:
            why = record(path)
            if why:
                skip(f"no recording: {why}")
        done = subprocess.run([SCHEDLAT, "report", "--json", "--exact", "-i", path],
                              capture_output=True, timeout=120)
        doc = json.loads(done.stdout)
        ours, lines = waits(path)
        ok(len(sys.argv) > 1 or doc["input"]["events"] >= EVENTS_NEEDED,
           f"{doc['input']['events']} events, {lines} of them scheduling")
        own = {int(tid) for tid in re.findall(r"\d+", doc["input"]["meta"].get("own_tids", ""))}
        theirs = {g["tid"]: g for g in doc["groups"] if g["kind"] == "wake"}
        names = set(ours) - own
        ok(names == set(theirs), f"the same {len(names)} threads",
           [f"only schedlat: {sorted(set(theirs) - names)}",
            f"only trace-cmd: {sorted(names - set(theirs))}"])
        compared, wrong = 0, []
        for tid in sorted(names & set(theirs)):
            ordered = sorted(ours[tid])
            group = theirs[tid]
            mine = {"count": len(ordered), "min_ns": ordered[0], "max_ns": ordered[-1],
                    "p50_ns": nearest_rank(ordered, 500), "p90_ns": nearest_rank(ordered, 900),
                    "p99_ns": nearest_rank(ordered, 990), "p999_ns": nearest_rank(ordered, 999)}
            for key, value in mine.items():
                compared += 1
                if group[key] != value:
                    wrong.append(f"tid {tid} {key}: schedlat {group[key]}, trace-cmd's text {value}")
        ok(not wrong and compared, f"{compared} figures equal to the ns", wrong[:40])
    print(f"1..{number}")


main()
