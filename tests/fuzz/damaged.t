#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Damaged recordings: 200 truncations and 2000 bit flips, the same ones every time, and the
seeds and earlier findings of fuzzing. TAP.

Whatever the file holds, the report ends by itself with status 0, 1 or 2, prints
either a report that adds up or one line that names the file, and no sanitizer
finds anything (make check runs this with the address and undefined sanitizers).
"""
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
import mkdat  # noqa: E402
import sltext  # noqa: E402

SCHEDLAT = os.environ.get("SCHEDLAT", "./schedlat")
CORPUS = HERE / "corpus" / "fuzz_report"
TRUNCATIONS, FLIPS = 200, 2000
NAMES = {"cut": "cut", "flipped": "with a flipped bit", "seed": "of the fuzzing corpus"}
SHAPES = {
    "v6": ("softirq-with-nested-irq", {"version": 6}),
    "v7": ("lost-on-its-cpu", {"version": 7, "stamps": "absolute", "per_page": 3}),
    "v7-zstd": ("migrated-while-queued", {"version": 7, "compress": "zstd"}),
    "v6-instances": ("softirq-with-nested-irq", {"version": 6, "instances": True,
                                                 "endian": "big", "long": 4}),
}


def originals():
    for name, (golden, options) in SHAPES.items():
        trace = sltext.read(HERE.parent / "golden" / f"{golden}.txt")
        yield name, mkdat.make(trace, mkdat.Shape(page=512, **options))


def damages():
    """(name, bytes): fixed seed, evenly over the shapes."""
    dice = random.Random(20240229)
    files = list(originals())
    for i in range(TRUNCATIONS):
        name, data = files[i % len(files)]
        at = dice.randrange(len(data))
        yield f"{name} cut at {at}", data[:at]
    for i in range(FLIPS):
        name, data = files[i % len(files)]
        at, bit = dice.randrange(len(data)), dice.randrange(8)
        flipped = bytearray(data)
        flipped[at] ^= 1 << bit
        yield f"{name} bit {bit} of byte {at} flipped", bytes(flipped)
    for path in sorted(CORPUS.iterdir()):
        yield f"seed {path.name}", path.read_bytes()[1:]    # behind the harness's own byte


def judge(path):
    """What is wrong with the report of this file, or nothing."""
    try:
        done = subprocess.run([SCHEDLAT, "report", "--json", "--why=0ns", "--waits=all", "-i",
                               str(path)], capture_output=True, timeout=30)
    except subprocess.TimeoutExpired:
        return "hangs"
    err = done.stderr.decode(errors="replace")
    if "Sanitizer" in err or "runtime error" in err:
        return err[:2000]
    if done.returncode not in (0, 1, 2):
        return f"exit {done.returncode}: {err[:500]}"
    if done.returncode:
        if done.stdout:
            return f"exit {done.returncode} and something on stdout"
        if err.count("\n") != 1 or path.name not in err:
            return f"exit {done.returncode} without one line that names the file: {err[:500]}"
        return None
    try:
        doc = json.loads(done.stdout)
    except ValueError as bad:
        return f"exit 0, but {bad}"
    counters = doc["counters"]
    if counters["wakeups"] != counters["samples"] + sum(counters["discarded"].values()):
        return f"counters do not add up: {counters}"
    for wait in doc["why"]["waits"]:
        if sum(s["ns"] for s in wait["segments"] or ()) != wait["delay_ns"]:
            return f"segments do not add up: {wait}"
    return None


def one(job):
    (name, data), tmp, number = job
    path = pathlib.Path(tmp) / f"damaged-{number}.dat"
    path.write_bytes(data)
    why = judge(path)
    path.unlink()
    return name, why


def main():
    bad = {"cut": [], "flipped": [], "seed": []}
    with tempfile.TemporaryDirectory() as tmp, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [(damage, tmp, i) for i, damage in enumerate(damages())]
        for name, why in pool.map(one, jobs):
            if why:
                bad[next(what for what in bad if what in name)].append((name, why))
        keep = os.environ.get("SL_KEEP_DAMAGED")
        if keep:
            data = dict(damages())
            for i, (name, _) in enumerate(sum(bad.values(), [])):
                pathlib.Path(keep, f"{i} {name}.dat").write_bytes(data[name])
    counts = {"cut": TRUNCATIONS, "flipped": FLIPS, "seed": len(list(CORPUS.iterdir()))}
    print(f"1..{len(counts)}")
    for number, (what, count) in enumerate(counts.items(), 1):
        print(f"{'not ok' if bad[what] else 'ok'} {number} - {count} files {NAMES[what]}: no crash, no hang, "
              "no finding")
        for name, why in bad[what][:10]:
            print(f"# {name}:")
            for line in why.splitlines():
                print(f"#   {line}")


main()
