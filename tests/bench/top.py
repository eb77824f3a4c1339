#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
What schedlat top costs: CPU time and memory of its process while hackbench runs, and
whether it grows. Needs root, the built tool and hackbench; not part of make check.

    tests/bench/top.py --schedlat build/schedlat --seconds 600
"""
import argparse
import json
import os
import signal
import subprocess
import sys


def load(niceness):
    """hackbench over and over, in a session of its own."""
    loop = "while :; do hackbench -s 512 -l 2000 -g 2 -f 4; done"
    return subprocess.Popen(["nice", "-n", str(niceness), "sh", "-c", loop], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True)


def median(values):
    return sorted(values)[len(values) // 2] if values else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--schedlat", default="build/schedlat")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--nice", type=int, default=5, help="of the load")
    parser.add_argument("--growth", type=float, default=10, help="percent that is allowed after the first minute")
    parser.add_argument("options", nargs="*", help="of schedlat top, behind --")
    opts = parser.parse_args()
    hackbench = load(opts.nice)
    frames = []
    try:
        top = subprocess.Popen([opts.schedlat, "top", "-j", "-d", f"{opts.seconds}s", *opts.options],
                               stdout=subprocess.PIPE, text=True)
        for line in top.stdout:
            frame = json.loads(line)
            frames.append(frame)
            if frame["frame"] % 60 == 1:
                own = frame["own"]
                print(f"{frame['run_ns'] / 1e9:6.0f} s: {own['cpu_permille'] / 10:5.1f} % of a CPU, "
                      f"{own['rss_bytes'] / 2**20:5.1f} MiB, {own['lost']} lost, {frame['threads']} threads, "
                      f"{frame['all']['count']} waits, {frame['judged']['count']} judged", flush=True)
        status = top.wait()
    finally:
        os.killpg(hackbench.pid, signal.SIGKILL)
        hackbench.wait()
    if status or not frames:
        print(f"schedlat top: status {status}, {len(frames)} frames")
        return 1
    cost = [f["own"]["cpu_permille"] / 10 for f in frames[1:]]
    settled = [f["own"]["rss_bytes"] / 2**20 for f in frames if f["run_ns"] > min(60, opts.seconds / 4) * 1e9]
    third = max(1, len(settled) // 3)
    first, last = median(settled[:third]), median(settled[-third:])
    print(f"{len(frames)} frames: CPU median {median(cost):.1f} %, most {max(cost):.1f} %; RSS {first:.1f} MiB in the "
          f"first third, {last:.1f} MiB in the last, most {max(settled):.1f} MiB; {frames[-1]['own']['lost']} lost")
    if last > first * (1 + opts.growth / 100):
        print("it grows")
        return 1
    return 0


sys.exit(main())
