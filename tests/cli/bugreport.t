#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""schedlat bugreport: the mail, and the small trace that must explain its waits as the whole recording
does. TAP."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
import mkdat  # noqa: E402
import sltext  # noqa: E402
from tap import equal, finish, ok, skip  # noqa: E402

SCHEDLAT = os.path.realpath(os.environ.get("SCHEDLAT", "./schedlat"))
DEMO = HERE.parent / "data" / "demo.dat"
GOLDEN = HERE.parent / "golden"


def schedlat(*args, cwd=None):
    return subprocess.run([SCHEDLAT, *map(str, args)], capture_output=True, text=True, timeout=120, cwd=cwd)


def bugreport(tmp, *args):
    done = schedlat("bugreport", *args, cwd=tmp)
    ok(done.returncode == 0, f"bugreport {' '.join(map(str, args))}", done.stderr)
    return done.stdout


def why_of(path, spec):
    """The why-section of a report as it is printed, without what counts over the whole file."""
    text = schedlat("report", "--json", "--by=comm", f"--why={spec}", "-i", path).stdout
    section = text[text.index('\n "why": '):]
    return re.sub(r'"selected": \d+, ', "", section), json.loads(text)


def spec_of(mail):
    return re.search(r"schedlat report --why=(\d+ns) ", mail).group(1)


def same_why(tmp, mail, recording, trace="schedlat-trimmed.dat"):
    spec = spec_of(mail)
    whole, _ = why_of(recording, spec)
    part, found = why_of(tmp / trace, spec)
    ok(whole == part, f"--why={spec} of the trace is that of the recording, byte for byte",
       "\n".join(a + "\n" + b for a, b in zip(whole.splitlines(), part.splitlines()) if a != b)[:2000])
    return found


def form(mail):
    ok(max(map(len, mail.splitlines())) <= 76, "no line is longer than 76 columns",
       "\n".join(line for line in mail.splitlines() if len(line) > 76))
    ok(mail.isascii() and not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", mail), "plain ASCII")
    ok(not re.search(r"[ \t]$", mail, re.M), "no blanks at the end of a line")


def demo(tmp):
    mail = bugreport(tmp, "-i", DEMO)
    form(mail)
    for label, value in (("Kernel:", r"Linux vm 6\.18\.44-generic .*x86_64"), ("Commit:", "n/a"), ("HZ:", "250"),
                         ("Features:", "n/a"), ("Base slice ns:", "n/a"), ("cpufreq:", "n/a"),
                         ("cpuidle:", "none / menu"), ("sched_ext:", "not built in"), ("Hypervisor:", "yes"),
                         ("CPUs:", "online 0-1, possible 0-1, isolated none"), ("Preemption:", "none as built.*"),
                         ("Recorded with:", "schedlat record --compress -q -o demo5.dat -- bash")):
        ok(re.search(rf"^{re.escape(label)} +{value}$", mail, re.M), f"{label} {value}", mail[:2500])
    for line in (r"^Lost: +0 events on 2 CPUs", r"^Own: +recording took 20\.30 ms of CPU time",
                 r"^5376 wakeups = 5346 samples", r"^Wait: +wake, from sched_waking", r"^  ineligible +\d"):
        ok(re.search(line, mail, re.M), f"it has {line}", mail)
    report = json.loads(schedlat("report", "--json", "--by=comm", "-i", DEMO).stdout)
    groups = {g["comm"]: g for g in report["groups"]}
    rows = (("Total Samples", "count"), ("Average", "avg_ns"), ("Median (P50)", "p50_ns"), ("90th Percentile", "p90_ns"),
            ("99th Percentile", "p99_ns"), ("99.9th Percentile", "p999_ns"), ("Maximum", "max_ns"))
    for name, key in rows:
        want = [groups[c][key] for c in ("hackbench", "cyclictest")]
        shown = want if key == "count" else [f"{(v + 50) // 100 / 10:.1f}" for v in want]
        ok(re.search(rf"^  {re.escape(name)} +{shown[0]} +{shown[1]} ", mail, re.M), f"row {name}: {shown}", mail)
    worst = json.loads(schedlat("report", "--json", "--why", "-i", DEMO).stdout)["why"]["waits"][:3]
    for rank, wait in enumerate(worst, 1):
        waker = f"woken by {wait['waker']['comm']} {wait['waker']['tid']}"
        ok(re.search(rf"^  {rank}\. {wait['comm']} {wait['tid']}: {wait['delay_ns'] / 1e6:.3f} ms", mail, re.M) and
           waker in " ".join(mail.split()), f"wait {rank} with its waker", mail)
    ok(mail.count("slice 1.400 ms against 1.400 ms") + mail.count("against\n        1.400 ms") >= 3,
       "what was compared, with both slices", mail)
    ok("explains these waits exactly as the whole recording does (checked)" in mail, "the trace is complete", mail)
    trace = tmp / "schedlat-trimmed.dat"
    size = trace.stat().st_size
    ok(size < DEMO.stat().st_size / 2 and f"{size} bytes" in mail and f"{DEMO.stat().st_size} bytes" in " ".join(mail.split()),
       "it is small, and both sizes are told", f"{size} of {DEMO.stat().st_size}\n{mail[-700:]}")
    found = same_why(tmp, mail, DEMO)
    ok(len(found["why"]["waits"]) == 3 and not any(w["taints"] for w in found["why"]["waits"]),
       "three waits, none of them tainted by what was left out")
    equal((found["loss"]["total"], found["loss"]["unknown_gaps"], found["input"]["meta"]["trimmed.lost"]), (0, 0, "0"),
          "what was left out is no loss")
    text = schedlat("report", "--why=1ms", "-i", trace).stdout
    ok(re.search(r"^Lost: +0 events; a copy of 3 windows of a recording, which had lost 0;", text, re.M), "and text says so",
       text[:600])
    ok(schedlat("diff", DEMO, trace).returncode == 2, "diff refuses a copy of parts")
    if shutil.which("trace-cmd"):
        done = subprocess.run(["trace-cmd", "report", "-i", str(trace)], capture_output=True, text=True, timeout=60)
        events = int(re.search(r"(\d+) events in \d+ window", " ".join(mail.split())).group(1))
        lines = sum(1 for line in done.stdout.splitlines() if re.search(r"\d+\.\d+: (?!meta:|task:)", line))
        ok(abs(lines - events) <= events // 100, "trace-cmd prints its events", f"{lines} of {events}\n{done.stderr}")
    else:
        skip("trace-cmd", "not installed")
    # what is left out of a copy can be copied again
    again = bugreport(tmp, "-i", trace, "--trace", "again.dat")
    ok("explains these waits exactly" in again, "a copy of the copy", again[-600:])


def example(tmp):
    """tests/data/bugreport.txt and .dat: what this wrote of a real run, as it was sent."""
    mail = bugreport(tmp, "-q", "-i", DEMO, "--trace", "bugreport.dat")
    kept = (DEMO.parent / "bugreport.txt").read_text()

    def comparable(text):
        text = text.split("Not assessable", 1)[0]	# grows with what can be told
        return re.sub(r"/\S*/demo\.dat|demo\.dat|: \d+ bytes", "", re.sub(r"\s+", " ", text))
    equal(comparable(mail), comparable(kept), "the mail of the example is what is written today")
    shutil.copy(DEMO.parent / "bugreport.dat", tmp / "kept.dat")
    same_why(tmp, kept, DEMO, "kept.dat")


def three_windows(tmp):
    """Three long waits of one task with a second between them, on two CPUs, the other idle and silent."""
    lines = ["# schedlat text 1", "@cpus 0-1", "@task 100 cyclic", "@task 200 hog",
             "0 0 sched_switch 9 S -> 200", "0 1 sched_switch 9 S -> 0"]
    now = 1_000_000
    for i in range(3000):
        us = (700, 900, 800)[i // 1000] if i % 1000 == 500 else 20
        lines += [f"{now}ns 0//h sched_waking 100 cpu=0", f"{now + 1000}ns 0//h sched_wakeup 100 cpu=0",
                  f"{now + us * 1000}ns 0 sched_switch 200 R -> 100",
                  f"{now + us * 1000 + 5000}ns 0 sched_switch 100 S -> 200"]
        now += 1_000_000
    path = tmp / "three.txt"
    path.write_text("\n".join(lines) + "\n")
    trace = sltext.read(path)
    whole = tmp / "three.dat"
    whole.write_bytes(mkdat.make(trace, mkdat.Shape(version=7, per_page=40)))
    mail = bugreport(tmp, "-i", whole, "--trace", "three-trimmed.dat")
    form(mail)
    equal(re.findall(r"^  \d\. cyclic 100: (\S+ us)", mail, re.M), ["900.0 us", "800.0 us", "700.0 us"],
          "the three worst, longest first")
    ok(re.search(r"in 3 windows", " ".join(mail.split())), "three windows", mail[-600:])
    found = same_why(tmp, mail, whole, "three-trimmed.dat")
    equal([w["delay_ns"] for w in found["why"]["waits"]], [900000, 800000, 700000], "their delays")
    equal((found["loss"]["total"], found["loss"]["gaps"], found["loss"]["unknown_gaps"]), (0, 2, 0),
          "two gaps on the busy CPU, nothing lost")
    ok(all(w["taints"] == [] for w in found["why"]["waits"]), "no wait is tainted", found["why"])
    ok(found["input"]["events"] < 100, "few events are left", found["input"]["events"])
    equal(re.search(r"^Recorded with: +(.*)$", mail, re.M).group(1), "n/a", "what is not recorded is n/a")
    for label in ("Commit:", "Config:", "Preemption:", "HZ:", "CPUs:", "Hypervisor:", "Cgroup:", "sched_ext:"):
        ok(re.search(rf"^{label} +n/a$", mail, re.M), f"{label} n/a, never this machine's", mail[:900])


def redacted(tmp):
    plain = bugreport(tmp, "-q", "-i", DEMO, "--trace", "plain.dat")
    mail = bugreport(tmp, "-q", "-i", DEMO, "--redact", "--trace", "redacted.dat")
    form(mail)
    names = ["hackbench", "cyclictest", "service-worker", "kdamond", "runtime-workers", "bash", "load.sh", "Linux vm",
             "ttyS0", "schedlat-r"]
    shown = schedlat("report", "-v", "--json", "--why=0ns", "-i", tmp / "redacted.dat").stdout
    for what, text in (("the mail", mail), ("the trace", shown)):
        ok(not [n for n in names if n in text], f"no name is left in {what}", [n for n in names if n in text])
    if shutil.which("trace-cmd"):
        done = subprocess.run(["trace-cmd", "report", "-i", str(tmp / "redacted.dat")], capture_output=True, text=True,
                              timeout=60)
        left = [n for n in names if n in done.stdout]
        ok(done.stdout.count("\n") > 100 and not left, "nor for trace-cmd", left)
    spec = spec_of(mail)
    before = why_of(tmp / "plain.dat", spec)[1]["why"]["waits"]
    after = why_of(tmp / "redacted.dat", spec)[1]["why"]["waits"]
    table = {}
    for a, b in zip(before, after):
        for x, y in [(a["comm"], b["comm"]), (a["waker"]["comm"], b["waker"]["comm"])] + \
                [(s["occupant"]["comm"], t["occupant"]["comm"]) for s, t in zip(a["segments"], b["segments"])
                 if s["occupant"]]:
            table.setdefault(x, set()).add(y)
    ok(all(len(v) == 1 for v in table.values()) and len(set(map(tuple, table.values()))) == len(table),
       "one substitute per name", table)
    ok(f"1. {after[0]['comm']} {after[0]['tid']}" in mail, "the same in mail and trace", mail)
    equal([(w["tid"], w["delay_ns"], w["primary"]) for w in before], [(w["tid"], w["delay_ns"], w["primary"]) for w in after],
          "waits and causes are the same")
    ok("names are replaced" in " ".join(mail.split()) and "explains these waits exactly" in mail, "and the mail says so", mail)
    equal(plain.count("\n") > 60 and plain.count("hackbench") > 5, True, "without it the names are there")


def limits(tmp):
    mail = bugreport(tmp, "-q", "-i", DEMO, "--size=1k", "--trace", "none.dat")
    ok(re.search(r"^Trace\n  none: none\.dat", mail, re.M) and not (tmp / "none.dat").exists(),
       "windows that do not fit: no trace, and why", mail[-400:])
    mail = bugreport(tmp, "-q", "-i", GOLDEN / "path-and-queue.txt")
    ok("none:" in mail and "it is a text trace" in " ".join(mail.split()), "a text trace is not copied", mail[-400:])
    mail = bugreport(tmp, "-q", "-i", DEMO, "--comm", "cyclictest", "-o", "mail.txt", "--trace", "c.dat")
    equal(mail, "", "-o: nothing on standard output")
    mail = (tmp / "mail.txt").read_text()
    ok(re.search(r"^  1\. cyclictest \d+: 4\.413 ms", mail, re.M) and "tasks named cyclictest" in mail, "--comm", mail)
    big = mkdat.make(sltext.read(GOLDEN / "path-and-queue.txt"), mkdat.Shape(version=7, endian="big"))
    (tmp / "big.dat").write_bytes(big)
    mail = bugreport(tmp, "-q", "-i", tmp / "big.dat")
    ok("another byte order" in " ".join(mail.split()), "a recording of a big-endian machine: mail, no trace", mail[-400:])


def refused(tmp, args, status, *words):
    done = schedlat("bugreport", *args, cwd=tmp)
    problems = [f"no '{w}'" for w in words if w not in done.stderr]
    if done.returncode != status or done.stdout or done.stderr.count("\n") != 1:
        problems.append(f"exit {done.returncode}, {len(done.stdout)} bytes on stdout")
    ok(not problems, f"refused with {status}: {' '.join(words)}", "\n".join(problems + [done.stderr]))


def bad_input(tmp):
    refused(tmp, [tmp / "nowhere.dat"], 1, "nowhere.dat", "No such file")
    (tmp / "empty.dat").write_bytes(b"")
    refused(tmp, ["-i", "empty.dat"], 2, "empty.dat")
    (tmp / "cut.dat").write_bytes(DEMO.read_bytes()[:3000])
    refused(tmp, ["-i", "cut.dat"], 2, "cut.dat")
    refused(tmp, ["-i", DEMO, "--trace", DEMO], 129, "recording itself")
    os.symlink(tmp / "three.dat", tmp / "link.dat")
    refused(tmp, ["-i", "three.dat", "--trace", "link.dat"], 129, "recording itself")
    refused(tmp, ["--size=5", "-i", DEMO], 129, "--size", "500k")
    refused(tmp, ["--why=5", "-i", DEMO], 129, "'5'")
    refused(tmp, ["--nonsense"], 129, "--nonsense")
    refused(tmp, ["--no-irq", "-i", DEMO], 129, "command behind --")
    refused(tmp, [DEMO, DEMO], 129, "one recording")
    refused(tmp, ["-i", DEMO, "-o", "/nowhere/mail"], 1, "/nowhere/mail")
    whole = mkdat.make(sltext.read(tmp / "three.txt"), mkdat.Shape(version=6, per_page=40))
    (tmp / "half.dat").write_bytes(whole[:-len(whole) // 4])
    done = schedlat("bugreport", "-q", "-i", "half.dat", cwd=tmp)
    ok(done.returncode == 0 and "truncated" in done.stdout, "a truncated recording: a mail that says so", done.stderr)


with tempfile.TemporaryDirectory() as name:
    top = pathlib.Path(name)
    for part in (demo, example, three_windows, redacted, limits, bad_input):
        part(top)
finish()
