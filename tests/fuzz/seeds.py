#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write the seed corpus of fuzz_report: seeds.py DIR

Small golden traces as text and in every shape of trace.dat that mkdat.py knows,
each behind the byte by which the harness chooses its parameters.
"""
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
import mkdat  # noqa: E402
import sltext  # noqa: E402

GOLDEN = HERE.parent / "golden"
TEXT = ["path-and-queue", "lost-on-its-cpu", "preempted-three-times", "softirq-with-nested-irq",
        "fair-server-before-realtime", "stacked-on-a-fresh-wakee", "process-filter",
        "names-with-control-bytes", "percentiles-of-10", "asked-to-stop-by-event",
        "preempted-by-another-group", "groups-compared-at-the-wakeup", "moved-and-seen-when-picked",
        "asked-to-stop-and-another-picked", "buddy-by-its-shorter-slice", "virtual-time-wraps",
        "throttled-with-its-group", "lost-between-snapshots"]
BINARY = ["migrated-while-queued", "softirq-with-nested-irq", "lost-on-its-cpu",
          "preempted-by-another-group", "picked-again-in-between"]


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for i, name in enumerate(TEXT):
        data = (GOLDEN / f"{name}.txt").read_bytes()
        (out / f"text-{name}").write_bytes(bytes([i * 9 % 128]) + data)
    for i, (variant, options) in enumerate(mkdat.VARIANTS.items()):
        name = BINARY[i % len(BINARY)]
        if "instances" in variant:	# cannot hold lost events
            name = BINARY[1]
        trace = sltext.read(GOLDEN / f"{name}.txt")
        data = mkdat.make(trace, mkdat.Shape(**dict(options, page=512)))  # small pages: less that means nothing
        (out / f"dat-{variant}").write_bytes(bytes([i * 11 % 128]) + data)


main()
