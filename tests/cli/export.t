#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""export: every format holds the waits of the report, to the ns; what the golden traces say by
hand; what is refused. TAP."""
import csv
import datetime
import io
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
import perfetto  # noqa: E402
from tap import finish, ok, skip  # noqa: E402

SCHEDLAT = os.environ.get("SCHEDLAT", "./schedlat")
GOLDEN = HERE.parent / "golden"
DEMO = HERE.parent / "data" / "demo.dat"
WAIT_NAME = re.compile(r"(wake|preempt|fork) wait(?:: ([\w-]+))?$")


def schedlat(*args):
    return subprocess.run([SCHEDLAT, *map(str, args)], capture_output=True, timeout=120,
                          check=False)


def export(kind, path, *args):
    done = schedlat("export", f"--format={kind}", "-i", path, *args)
    if done.returncode or done.stderr:
        raise RuntimeError(f"export --format={kind} {path}: {done.returncode} {done.stderr}")
    return done.stdout


def trace_of(path, *args):
    return perfetto.read(export("perfetto", path, *args))


def report(path, *args):
    return json.loads(schedlat("report", "-i", path, "--json", *args).stdout)


def end_of(wait):
    return wait["start_ns"] + wait["delay_ns"]


def reason(seg):
    return seg["reason"] if seg["kind"] == "fair" else seg["kind"]


def shape(wait):
    """What every format must agree on."""
    return (wait["tid"], wait["start_ns"], wait["delay_ns"],
            tuple((reason(s), s["start_ns"], s["ns"]) for s in wait["segments"]))


# ---- each format against the report ----

def perfetto_shapes(trace):
    """The same from the slices, with what does not hold in any trace."""
    shapes, problems = [], list(trace.problems)
    for track in trace.tracks.values():
        for wait in track.slices:
            if not WAIT_NAME.match(wait.name or ""):
                continue
            if sum(s.length for s in wait.children) != wait.length:
                problems.append(f"{track.name}: the segments of {wait.start} are not the wait")
            if wait.notes["delay_ns"] != wait.length or any(s.children for s in wait.children):
                problems.append(f"{track.name}: the slice of {wait.start} is not its note")
            shapes.append((wait.notes["tid"], wait.start, wait.length,
                           tuple((s.name, s.start, s.length) for s in wait.children)))
    return sorted(shapes), problems


def csv_waits(text):
    return list(csv.DictReader(io.StringIO(text.decode())))


def csv_shape(row):
    at, segments = int(row["start_ns"]), []
    for word in row["segments"].split():
        cause, ns = re.match(r"([\w-]+)=(\d+)@(?:\d+|-)/(?:\d+|-):(?:exact|derived|unknown)$",
                             word).groups()
        segments.append((cause, at, int(ns)))
        at += int(ns)
    return int(row["tid"]), int(row["start_ns"]), int(row["delay_ns"]), tuple(segments)


def folded_lines(text):
    lines = {}
    for line in text.decode().splitlines():
        stack, ns = line.rsplit(" ", 1)
        assert stack not in lines
        lines[stack] = int(ns)
    return lines


def compare(path):
    """None, or how a format differs from the report on this trace."""
    args = ["--waits=all"]
    done = schedlat("report", "-i", path, "--json", "--why=0ns", *args)
    if done.returncode:
        return None     # refused by report: refused by export, see below
    why = json.loads(done.stdout)["why"]
    want = sorted(map(shape, why["waits"]))
    have, problems = perfetto_shapes(trace_of(path, *args))
    if have != want:
        problems.append(f"perfetto: {have} is not {want}")
    rows = csv_waits(export("csv", path, *args))
    if sorted(map(csv_shape, rows)) != want:
        problems.append(f"csv: {[csv_shape(r) for r in rows]} is not {want}")
    ends = [int(r["start_ns"]) + int(r["delay_ns"]) for r in rows]
    if ends != sorted(ends):
        problems.append("csv: not in the order the waits end")
    lines = folded_lines(export("folded", path, *args))
    if sum(lines.values()) != why["total_ns"]:
        problems.append(f"folded: {sum(lines.values())} is not {why['total_ns']}")
    for cause in why["causes"]:
        ns = sum(n for s, n in lines.items() if s.split(";")[1] == cause["id"])
        if cause["family"] != "place" and ns != cause["ns"]:
            problems.append(f"folded: {cause['id']} is {ns}, not {cause['ns']}")
    jsonl = export("jsonl", path, *args)
    if jsonl != schedlat("timehist", "-j", "-i", path, *args).stdout:
        problems.append("jsonl: not what timehist -j prints")
    if sorted(shape(json.loads(line)) for line in jsonl.splitlines()) != want:
        problems.append("jsonl: other waits")
    return problems or None


# One in five, others each day; SL_ALL_VARIANTS=1: all of them.
traces = sorted(GOLDEN.glob("*.txt"))
if not os.environ.get("SL_ALL_VARIANTS"):
    traces = traces[datetime.date.today().toordinal() % 5::5]
wrong = {t.name: found for t in traces if (found := compare(t))}
ok(not wrong and len(traces) > 20, f"{len(traces)} golden traces: every format has the report's "
   "waits and segments", wrong)
found = compare(DEMO)
ok(not found, "the same of a real recording", *(found or ()))

# ---- selection ----

want = sorted(map(shape, report(DEMO, "--why-p999")["why"]["waits"]))
ok(want and perfetto_shapes(trace_of(DEMO, "--why-p999"))[0] == want,
   "perfetto: a percentile chooses the report's outliers")
rows = csv_waits(export("csv", DEMO, "--why-p999"))
ok(sorted(map(csv_shape, rows)) == want and rows == sorted(rows, key=lambda r: int(r["end_ns"])),
   "csv: the same, in the order they end")
rows = csv_waits(export("csv", DEMO, "-T", "1ms", "--comm", "cyclictest"))
ok({r["comm"] for r in rows} == {"cyclictest"} and min(int(r["delay_ns"]) for r in rows) >= 10**6
   and len(rows) == report(DEMO, "--why=1ms", "--comm", "cyclictest")["why"]["count"],
   "-T and --comm", len(rows))
start = report(DEMO)["input"]["t_start_ns"]
window = f"{(start + 10**8) / 1e9:.6f},{(start + 2 * 10**8) / 1e9:.6f}"
trace = trace_of(DEMO, "--time", window, "--comm", "cyclictest")
waits = [s for t in trace.tracks.values() for s in t.slices if WAIT_NAME.match(s.name or "")]
times = [e["timestamp"] for _, e in trace.switches]
ok(waits and all(start + 10**8 - 1000 <= w.end < start + 2 * 10**8 + 1000 for w in waits),
   "--time chooses waits")
ok(sorted(times)[2] >= min(w.start for w in waits) and max(times) <= max(w.end for w in waits),
   "and who ran meanwhile: of two CPUs one switch each before it")
text = export("csv", DEMO, "-T", "1ms", "-x", ";", "--fields=tid,delay").decode().splitlines()
ok(text[0] == "tid;delay_ns;segments" and re.match(r'\d+;\d+;"[a-z]', text[1]),
   "csv: -x and --fields", *text[:2])

# ---- golden traces by hand ----

trace = trace_of(GOLDEN / "path-and-queue.txt")
track = trace.of_thread(100)
wait = track.slices[0]
parts = [(s.name, s.start, s.end, s.notes.get("occupant_comm")) for s in wait.children]
ok(track.name == "cyclic 100" and (wait.name, wait.start, wait.end) ==
   ("wake wait: fair-undetermined", 10000, 43000), "path-and-queue: 10 to 43 us", track.name, wait.name)
ok(parts == [("wake-path", 10000, 13000, None), ("fair-undetermined", 13000, 43000, "hog")],
   "path-and-queue: 3 us on the way, 30 us behind hog", parts)
source = trace.named("wakeups by interrupts and idle, CPU 0")[0].instants[0]
ok((source.start, source.name, source.notes["wakee"]) == (10000, "wakes", "cyclic")
   and source.starts_flows == wait.ends_flows, "path-and-queue: a flow from the interrupt on CPU 0")
ok(trace.named("tasks queued, CPU 1")[0].values == [(10000, 0), (13000, 1), (43000, 0)],
   "path-and-queue: one task queued on CPU 1 from 13 to 43 us",
   trace.named("tasks queued, CPU 1")[0].values)
ok([(c, e["timestamp"], e["sched_switch"]["next_pid"]) for c, e in trace.switches] ==
   [(0, 0, 0), (1, 0, 200), (1, 43000, 100)], "path-and-queue: who ran, until the wait ends",
   trace.switches)
ok([(c, e["timestamp"], e["sched_waking"]["pid"]) for c, e in trace.wakings] == [(0, 10000, 100)],
   "path-and-queue: sched_waking")
ok(trace.named("unknown process"), "no process is made up")

trace = trace_of(GOLDEN / "waker-is-the-waking-task.txt")
source = trace.of_thread(300).instants[0]
ok(source.start == 10000 and source.starts_flows == trace.of_thread(100).slices[0].ends_flows != [],
   "a flow from the track of the waking thread")
trace = trace_of(GOLDEN / "lost-on-its-cpu.txt")
gap = trace.named("lost events, CPU 1")[0].slices[0]
ok((gap.start, gap.end, gap.notes["lost_events"]) == (20000, 30000, 1234), "a gap is a slice",
   gap.start, gap.end, gap.notes)
trace = trace_of(GOLDEN / "preempted-three-times.txt", "--waits=preempt")
ok([(s.name, s.length, s.children[0].notes["occupant_tid"]) for s in trace.of_thread(100).slices] ==
   [("preempt wait: fair-undetermined", 10000, who) for who in (200, 201, 202)], "preempt waits")

lines = folded_lines(export("folded", GOLDEN / "two-wait-behind-one.txt"))
ok(lines == {"first;fair-undetermined;hog": 10000, "first;fair-undetermined;second": 12000,
             "second;fair-undetermined;hog": 8000}, "folded: who was behind whom", lines)
lines = folded_lines(export("folded", GOLDEN / "path-and-queue.txt"))
ok(lines == {"cyclic;wake-path": 3000, "cyclic;fair-undetermined;hog": 30000},
   "folded: nobody ran on the way to the queue", lines)
row = csv_waits(export("csv", GOLDEN / "path-and-queue.txt"))[0]
ok(row["segments"] == "wake-path=3000@-/-:exact fair-undetermined=30000@1/200:unknown"
   and row["end_ns"] == "43000" and row["waker_context"] == "hardirq", "csv: the segments", row)

# ---- a real recording ----

trace = trace_of(DEMO)
ok(trace.release and trace.release.startswith("6.18."), "the kernel's release", trace.release)
names = {t.thread["tid"]: t.thread["thread_name"] for t in trace.tracks.values() if t.thread}
ok(names.get(16243) == "cyclictest" and trace.of_thread(16243).thread["pid"] == 16237,
   "threads are in their processes", names)
ok(trace.processes.get(16237) == "cyclictest" and trace.threads[16243] == (16237, "cyclictest"),
   "processes have names")
note = trace.named("schedlat")[0].slices[0].notes
ok(note["from"] == "waking" and note["waits"] == "wake" and note["lost_events_in_all"] == 0
   and note["exported_waits"] == report(DEMO, "--why=0ns")["why"]["count"], "what was measured", note)
counts = [v for cpu in (0, 1) for _, v in trace.named(f"tasks queued, CPU {cpu}")[0].values]
ok(max(counts) > 1 and min(counts) == 0, "queues have lengths")
letters = {e["sched_switch"]["prev_state"] for _, e in trace.switches}
ok({0, 1, 0x100} <= letters <= {0, 1, 2, 0x10, 0x20, 0x40, 0x80, 0x100}, "task states", letters)

with tempfile.TemporaryDirectory() as name:
    tmp = pathlib.Path(name)
    # An implementation of the encoding that is not ours.
    if shutil.which("protoc"):
        data = export("perfetto", DEMO, "--why-p999")
        done = subprocess.run(["protoc", f"--proto_path={perfetto.SCHEMA.parent}", "--decode=Trace",
                               perfetto.SCHEMA.name], input=data, capture_output=True, timeout=120)
        text = done.stdout.decode()
        unknown = [x for x in text.splitlines() if re.match(r"\s*\d+[: ]", x)]
        ok(done.returncode == 0 and not unknown and text.count("\npacket {") + 1 ==
           len(perfetto.decode("Trace", data)["packet"]), "protoc reads the same", done.stderr, unknown[:5])
    else:
        skip("protoc reads the same", "protobuf-compiler is not installed")

    # Names that would break a format.
    hostile = tmp / "hostile.txt"
    source = (GOLDEN / "path-and-queue.txt").read_text()
    hostile.write_text(source.replace("@task 100 cyclic", '@task 100 "a;b, \\"c"').replace(
        "@task 200 hog", '@task 200 "\\xff;\\x0a\\x1b[0m"'))
    lines = folded_lines(export("folded", hostile))
    ok(list(lines) == ['a\\x3bb, "c;wake-path', 'a\\x3bb, "c;fair-undetermined;\\xff\\x3b\\x0a\\x1b[0m'],
       "folded: a semicolon in a name is none of the format", lines)
    row = csv_waits(export("csv", hostile))[0]
    ok(row["comm"] == 'a;b, "c' and row["occupant_comm"] == "\\xff;\\x0a\\x1b[0m", "csv: quoted", row)
    wait = trace_of(hostile).of_thread(100).slices[0]
    ok(wait.notes["occupant_comm"] == "\\xff;\\x0a\\x1b[0m", "perfetto: escaped", wait.notes)

    # -o: whole or not at all.
    target = tmp / "out.csv"
    done = schedlat("export", "--format=csv", "-i", DEMO, "-o", target)
    ok(done.returncode == 0 and not done.stdout and target.read_bytes() == export("csv", DEMO)
       and os.listdir(tmp) == ["hostile.txt", "out.csv"] or sorted(os.listdir(tmp)) ==
       ["hostile.txt", "out.csv"], "-o writes the same and nothing else", os.listdir(tmp))
    target.write_text("mine")
    broken = tmp / "broken.dat"
    broken.write_bytes(DEMO.read_bytes()[:5000])
    for kind in ("perfetto", "folded", "csv", "jsonl"):
        done = schedlat("export", f"--format={kind}", "-i", broken, "-o", target)
        ok(done.returncode == 2 and done.stderr.count(b"\n") == 1 and b"broken.dat" in done.stderr
           and target.read_text() == "mine" and len(os.listdir(tmp)) == 3,
           f"{kind}: an unusable recording leaves the old file", done)
        done = schedlat("export", f"--format={kind}", "-i", broken)
        ok(done.returncode == 2 and not done.stdout, f"{kind}: and nothing on standard output", done)
    done = schedlat("export", "--format=csv", "-i", tmp / "none.dat")
    ok(done.returncode == 1 and b"none.dat" in done.stderr and not done.stdout, "no such file", done)
    done = schedlat("export", "--format=csv", "-i", DEMO, "-o", tmp / "no" / "where.csv")
    ok(done.returncode == 1 and b"where.csv" in done.stderr, "no such directory", done)
    copy = tmp / "copy.dat"
    shutil.copy(DEMO, copy)
    done = schedlat("export", "--format=csv", "-i", copy, "-o", f"{tmp}/./copy.dat")
    ok(done.returncode == 129 and copy.read_bytes() == DEMO.read_bytes(),
       "the recording is never overwritten", done)
    done = schedlat("export", "--format=csv", "-i", DEMO, "-o", "/dev/full")
    ok(done.returncode == 1 and b"/dev/full" in done.stderr, "a full disk is an error", done)

for args, word in ((["--format=svg"], b"perfetto"), ([], b"--format"), (["--format=csv", "-x", ""], b"-x"),
                   (["--format=folded", "--fields=tid"], b"csv"), (["--format=jsonl", "-x", ","], b"csv"),
                   (["--format=csv", "--fields=nothing"], b"valid"), (["--format=csv", "--json"], b"json"),
                   (["--format=csv", "-T", "5"], b"unit")):
    done = schedlat("export", "-i", DEMO, *args)
    ok(done.returncode == 129 and not done.stdout and done.stderr.count(b"\n") == 1
       and word in done.stderr, f"refused: {' '.join(args) or 'no format'}", done)

main, side = pty.openpty()
done = subprocess.run([SCHEDLAT, "export", "--format=perfetto", "-i", str(DEMO)], stdout=side,
                      stderr=subprocess.PIPE, timeout=60, check=False)
ok(done.returncode == 129 and b"-o FILE" in done.stderr, "binary data does not go to a terminal", done)
os.close(main)
os.close(side)
two = [export(kind, DEMO, "--threads=2") == export(kind, DEMO) for kind in
       ("perfetto", "folded", "csv", "jsonl")]
ok(all(two), "two threads write the same bytes", two)
finish()
