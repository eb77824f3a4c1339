#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Input that cannot be analysed: one line on stderr that names the file and the reason, nothing
on stdout, exit 2 (1 when the system refused). TAP."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
import mkdat  # noqa: E402
import sltext  # noqa: E402

SCHEDLAT = os.environ.get("SCHEDLAT", "./schedlat")
GOLDEN = HERE.parent / "golden"
number = 0


def ok(good, name, why=""):
    global number
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {name}")
    for line in str(why).splitlines() if not good else ():
        print(f"#   {line}")


def schedlat(*args, **kwargs):
    return subprocess.run([SCHEDLAT, *map(str, args)], capture_output=True, timeout=60, **kwargs)


def refused(name, path, status, *reasons, command="report"):
    """The command refuses the file for one of the reasons."""
    for extra in ([], ["--json"]) if command == "report" else ([],):
        done = schedlat(command, *extra, "-i", path)
        err = done.stderr.decode(errors="replace")
        problems = []
        if done.returncode != status:
            problems.append(f"exit {done.returncode}, expected {status}")
        if done.stdout:
            problems.append(f"stdout has {len(done.stdout)} bytes")
        if err.count("\n") != 1:
            problems.append("stderr is not one line")
        if pathlib.Path(path).name not in err:
            problems.append("the file is not named")
        if not any(reason.lower() in err.lower() for reason in reasons):
            problems.append(f"none of {reasons} is given as the reason")
        ok(not problems, " ".join([command, *extra, "refuses", name]), "\n".join(problems + [err]))


def dat(tmp, name, golden="path-and-queue", **options):
    path = tmp / name
    path.write_bytes(mkdat.make(sltext.read(GOLDEN / f"{golden}.txt"), mkdat.Shape(**options)))
    return path


def text(tmp, name, body):
    path = tmp / name
    path.write_text("# schedlat text 1\n" + body)
    return path


def files(tmp):
    refused("a missing file", tmp / "nowhere.dat", 1, "No such file")
    refused("a missing file", tmp / "nowhere.dat", 1, "No such file", command="timehist")
    # a directory is not something the system refused to open
    done = schedlat("report", "-i", tmp)
    err = done.stderr.decode()
    ok(done.returncode in (1, 2) and not done.stdout and err.count("\n") == 1 and
       "directory" in err and tmp.name in err, "report refuses a directory", err)
    for name, data, reasons in (
            ("an empty file", b"", ["empty"]),
            ("one byte", b"\x17", ["not a trace", "not a recording", "not", "too short"]),
            ("a text file", b"hello, this is a letter\n" * 50, ["not"]),
            ("random bytes", bytes((i * 7919) % 251 for i in range(5000)), ["not"]),
            ("perf.data", b"PERFILE2" + b"\0" * 200, ["perf.data"]),
            ("perf.data of the other byte order", b"2ELIFREP" + b"\0" * 200, ["perf.data"])):
        path = tmp / (name.replace(" ", "-") + ".bin")
        path.write_bytes(data)
        refused(name, path, 2, *reasons)
    done = schedlat("report", "-i", tmp / "perf.data.bin")
    ok(b"not yet" in done.stderr or b"trace.dat" in done.stderr or b"schedlat record" in done.stderr,
       "what to do about perf.data is said", done.stderr.decode())


def trace_files(tmp):
    refused("trace.dat version 9", dat(tmp, "nine.dat", version_text="9"), 2, "version")
    refused("trace.dat version 5", dat(tmp, "five.dat", version_text="5"), 2, "version")
    refused("an unknown compression", dat(tmp, "codec.dat", version=7, codec_text="brotli"), 2,
            "brotli", "compression")
    refused("a clock that counts no time", dat_with_clock(tmp, "counter"), 2, "clock")
    whole = dat(tmp, "whole.dat").read_bytes()
    for length in (5, 11, 17, 40, 200, 1000):
        path = tmp / f"header-{length}.dat"
        path.write_bytes(whole[:length])
        refused(f"a header cut at {length}", path, 2, "ends", "short", "truncated", "not")
    refused("no sched events", dat(tmp, "nosched.dat", golden="interrupt-inside",
                                   only=["irq_handler_entry", "irq_handler_exit"]), 2, "sched")
    refused("no sched_switch", dat(tmp, "noswitch.dat", only=["sched_waking", "sched_wakeup"]), 2,
            "sched_switch")
    refused("no wakeup event", dat(tmp, "nowakeup.dat", only=["sched_switch"]), 2, "wak")


def dat_with_clock(tmp, clock):
    trace = sltext.read(GOLDEN / "path-and-queue.txt")
    trace.clock = clock
    path = tmp / f"clock-{clock}.dat"
    path.write_bytes(mkdat.make(trace, mkdat.Shape(version=7)))
    return path


def text_files(tmp):
    refused("an empty text trace", text(tmp, "empty.txt", ""), 2, "no events")
    refused("a text trace with an error", text(tmp, "error.txt", "5us 0 sched_nonsense\n"), 2,
            "error.txt:2")
    refused("text without sched_switch", text(tmp, "noswitch.txt", "5 0 sched_wakeup 7 cpu=0\n"), 2,
            "sched_switch")
    refused("wakeups and switches that never pair",
            text(tmp, "nopairs.txt", "".join(
                f"{i}0us 0 sched_switch 5 S -> 0\n{i}1us 0 sched_wakeup {100 + i} cpu=0\n"
                for i in range(1, 9))), 2, "pair", "never")


def outputs(tmp):
    good = GOLDEN / "path-and-queue.txt"
    for args in (["report"], ["report", "--json"], ["report", "-x", ","], ["timehist"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([SCHEDLAT, *args, "-i", str(good)], stdout=full,
                                  stderr=subprocess.PIPE, timeout=60)
        ok(done.returncode == 1 and done.stderr.count(b"\n") == 1,
           f"{' '.join(args)} to a full disk exits 1 with one line",
           f"exit {done.returncode}: {done.stderr.decode()}")
    for args in (["--help"], ["list", "causes"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([SCHEDLAT, *args], stdout=full, stderr=subprocess.PIPE, timeout=60)
        ok(done.returncode == 1, f"{' '.join(args)} to a full disk exits 1", done.returncode)
    # a reader that has had enough is no error to shout about
    done = subprocess.run(["bash", "-c", f'"{SCHEDLAT}" report --json --why=0ns -i '
                           f'"{GOLDEN}/at-least-a-duration.txt" 2>"{tmp}/err" | head -c 1 >/dev/null'],
                          timeout=60)
    err = (tmp / "err").read_text()
    ok(err.count("\n") <= 1 and "Sanitizer" not in err, "a closed pipe ends quietly", err)


def usage():
    good = GOLDEN / "path-and-queue.txt"
    for args in (["report", "--nonsense"], ["report", "--why=5"], ["report", "--why=p101"],
                 ["report", "--time=5"], ["report", "--waits=sometimes"], ["report", "-p", "abc"],
                 ["report", "-t", "-5"], ["report", "-C", "0-99999"], ["report", "--by=colour"],
                 ["report", "-s", "colour"], ["timehist", "--above", "500"], ["nonsense"], []):
        done = schedlat(*args, *(["-i", good] if len(args) > 1 else []))
        ok(done.returncode == 129 and not done.stdout and done.stderr,
           f"'{' '.join(args)}' is wrong usage: 129",
           f"exit {done.returncode}: {done.stderr.decode()}")
    for args in (["--help"], ["-h"], ["report", "--help"], ["report", "-h"], ["timehist", "-h"],
                 ["record", "-h"], ["check", "-h"], ["list", "-h"]):
        done = schedlat(*args)
        ok(done.returncode == 0 and len(done.stdout) > 100 and not done.stderr,
           f"'{' '.join(args)}' is on stdout and exits 0",
           f"exit {done.returncode}: {done.stderr.decode()}")


def main():
    with tempfile.TemporaryDirectory() as name:
        tmp = pathlib.Path(name)
        files(tmp)
        trace_files(tmp)
        text_files(tmp)
        outputs(tmp)
        usage()
    print(f"1..{number}")


main()
