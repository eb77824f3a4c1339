#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
The scoreboard: does schedlat name the true cause? Runs the provokers of
tests/workloads, each of which makes one known cause dominate, records them,
and compares. tests/workloads/README.md says how it counts. Needs root, the
tool, the built provokers, and nothing beside Python's own library.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SKIP = 77
# True in any wait, and mostly too short to say anything: an interrupt that happens to fall into it,
# the way to the queue, the moment from the request to stop to the switch. What is beyond this share
# of the time has to be among the provoker's causes. Interrupts have more room, since a hypervisor
# that takes the CPU for a while may do so in one of them.
INCIDENTAL = {"wake-path": 5, "irq": 20, "softirq": 20, "stop-class": 5, "stolen": 100,
              "resched-delayed": 2, "lazy-resched": 2}
# The tool says that it cannot tell.
UNDETERMINED = {"fair-undetermined", "lost-data", "not named"}
PLACES = {"idle-cpu-missed", "stacked-wakeup", "wake-affine", "min-slice-choice", "energy-choice",
          "push-missed", "push-failed", "affinity"}
CONFIDENCES = ("exact", "derived", "unknown")
# What tasks that are not the provoker's do in a wait is not judged; nor is the wait where that is
# more of it than this.
FOREIGN_PERCENT = 10
FEWEST = 5


# Run by the recorder: the provoker begins, and falls silent.
CONDUCTOR = """
import os, signal, sys, time
group, seconds = int(sys.argv[1]), float(sys.argv[2])
os.killpg(group, signal.SIGUSR1)
time.sleep(seconds)
os.killpg(group, signal.SIGUSR2)
"""


class Skipped(Exception):
    """This provoker cannot run here, or its run says nothing."""


class Broken(Exception):
    """Neither the kernel's fault nor the machine's."""


class Provoker:
    """One program of tests/workloads, and what it says of itself."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)
        out = subprocess.run([path, "--about"], capture_output=True, text=True, check=True).stdout
        about = dict(line.split("=", 1) for line in out.splitlines())
        self.causes = about["causes"].split()
        self.parts = {}
        for part in about["parts"].split():
            cause, percent = part.split(":")
            self.parts[cause] = int(percent)
        self.waits = about["waits"]
        self.judge = about["judge"]
        # others may run meanwhile without changing what is true
        self.alone = about["alone"] != "no"
        self.foreign_percent = 0 if about["alone"] == "strictly" else FOREIGN_PERCENT
        self.why = about["why"]
        self.record = about["record"].split()


class Running:
    """The provoker's process: started, ready, ended, its cgroups removed."""

    def __init__(self, provoker, seconds):
        self.threads, self.victims, self.cgroups = {0}, set(), []
        self.process = subprocess.Popen([provoker.path, "-w", "-s", str(seconds)], text=True,
                                        stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        for line in self.process.stdout:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "ready":
                return
            if word in ("victim", "thread"):
                tid = int(rest.split()[0])
                self.threads.add(tid)
                if word == "victim":
                    self.victims.add(tid)
            elif word == "cgroup":
                self.cgroups.append(rest)
            elif word == "skip":
                self.process.wait()
                raise Skipped(rest)
            elif word == "failed":
                self.process.wait()
                raise Broken(f"{provoker.name}: {rest}")
        raise Broken(f"{provoker.name} ended with status {self.process.wait()}")

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.process.stdout.close()


def run_tool(args, seconds=200):
    return subprocess.run(args, capture_output=True, text=True, check=False, timeout=seconds)


def record(opts, provoker, backend, path):
    """
    Records the provoker. It begins when the recorder is at work and falls silent before
    that ends: where it takes all CPUs, the recorder would take minutes to start.
    """
    length = opts.warm_up + opts.seconds
    running = Running(provoker, round(length) + 10)
    try:
        group = running.process.pid
        args = [opts.schedlat, "record", "-q", "--backend", backend, "-o", path, *provoker.record, "--",
                sys.executable, "-S", "-c", CONDUCTOR, str(group), str(length)]
        out = run_tool(args)
    finally:
        running.end()
    if out.returncode == 3:
        raise Skipped(f"backend {backend}: " + first_line(out.stderr))
    if out.returncode:
        raise Broken(f"schedlat record: status {out.returncode}: {first_line(out.stderr)}")
    return running


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0] if lines else "(it said nothing)"


def analyse(opts, provoker, running, path):
    tids = ",".join(str(tid) for tid in sorted(running.victims))
    args = [opts.schedlat, "report", "-q", "-i", path, "-j", f"--why={provoker.why}", "-t", tids,
            "--waits", provoker.waits]
    out = run_tool(args)
    if out.returncode:
        raise Broken(f"{shlex.join(args)}: status {out.returncode}: {first_line(out.stderr)}")
    return json.loads(out.stdout)


class Score:
    """Nanoseconds of the judged waits, by what they were given to."""

    def __init__(self):
        self.waits = self.disturbed = self.tainted = 0
        self.total = self.true = self.incidental = self.undetermined = 0
        self.wrong = dict.fromkeys(CONFIDENCES, 0)
        self.given = {}
        self.notes = []

    def give(self, cause, confidence, ns):
        """Books time that the tool gives to a cause."""
        self.given.setdefault(cause, dict.fromkeys(CONFIDENCES, 0))[confidence] += ns
        self.total += ns

    def sort_out(self, provoker):
        """Divides what was given: true, incidental, undetermined, wrong."""
        limits = {**INCIDENTAL, **provoker.parts}
        for cause, by_confidence in self.given.items():
            ns = sum(by_confidence.values())
            if cause in provoker.causes:
                # "unknown" names a cause as a guess: no answer, be it right or not
                self.undetermined += by_confidence["unknown"]
                self.true += ns - by_confidence["unknown"]
            elif cause in UNDETERMINED:
                self.undetermined += ns
            else:
                room = self.total * limits.get(cause, 0) // 100
                for confidence, part in by_confidence.items():
                    fits = min(part, room)
                    room -= fits
                    self.wrong[confidence] += part - fits
                    if cause in provoker.parts:
                        self.true += fits
                    else:
                        self.incidental += fits

    def percent(self, ns):
        return 100 * ns / self.total if self.total else 0

    @property
    def true_percent(self):
        judged = self.total - self.incidental
        return 100 * self.true / judged if judged else 100


def cause_of(segment):
    return segment["reason"] if segment["kind"] == "fair" else segment["kind"]


def is_foreign(segment, threads):
    """Did another task than the provoker's run? An interrupt belongs to nobody."""
    return (segment["occupant"] and segment["occupant"]["tid"] not in threads
            and cause_of(segment) not in ("irq", "softirq", "wake-path"))


def foreign_percent(wait, threads):
    foreign = sum(s["ns"] for s in wait["segments"] if is_foreign(s, threads))
    return 100 * foreign / wait["delay_ns"] if wait["delay_ns"] else 0


def judge_hold(score, wait, provoker, threads):
    for segment in wait["segments"]:
        if not provoker.alone or not is_foreign(segment, threads):
            score.give(cause_of(segment), segment["confidence"], segment["ns"])


def judge_fault(score, wait):
    """What is the primary cause? Its confidence counts for the whole wait."""
    primary = wait["primary"]
    if primary:
        score.give(primary["id"], primary["confidence"], wait["delay_ns"])
    else:
        score.give("not named", "unknown", wait["delay_ns"])


def judge_place(score, wait, provoker, as_primary):
    """A placement cause is named (or primary), or another one is, or none."""
    named = wait["place_causes"]
    if as_primary:
        named = [wait["primary"]["id"]] if wait["primary"] else []
    found = [c for c in provoker.causes if c in named]
    if found:
        score.give(found[0], wait["place_confidence"], wait["delay_ns"])
    elif as_primary and named and named[0] in PLACES:
        score.give(named[0], wait["primary"]["confidence"], wait["delay_ns"])
    else:
        score.give("not named", "unknown", wait["delay_ns"])


def check_wait(wait):
    total = sum(s["ns"] for s in wait["segments"])
    if total != wait["delay_ns"]:
        raise Broken(f"segments of the wait of {wait['tid']} at {wait['start_ns']} add up to "
                     f"{total}, not {wait['delay_ns']}")


# Woken together; the others of a stack wait at least so long.
STACK_NS = 1000000
STACKED_NS = 100000


def is_first(wait, waits):
    """Was no other victim woken onto that CPU right before?"""
    return not any(w["wake_cpu"] == wait["wake_cpu"] and w is not wait
                   and 0 <= wait["start_ns"] - w["start_ns"] < STACK_NS for w in waits)


def provoked(provoker, wait, waits):
    """None, or why this wait does not show what the provoker is about."""
    if provoker.judge == "moved" and len({s["cpu"] for s in wait["segments"]} - {-1, None}) < 2:
        return "did not move"
    if "affinity" in provoker.causes and not wait["forbidden_ns"]:
        return "had no other CPU that was free"
    if "stacked-wakeup" in provoker.causes and (wait["delay_ns"] < STACKED_NS or is_first(wait, waits)):
        return "were the first of their stack"
    if "wake-affine" in provoker.causes and wait["wake_cpu"] == wait["prev_cpu"]:
        return "were not pulled (do the CPUs share a cache?)"
    if provoker.judge == "primary" and not wait["avoidable_ns"]:
        return "could have run nowhere else: no CPU was free"
    return None


def judge_loss(report):
    """
    Waits that a gap touches are counted as such, and none that a gap touches is a
    sample. There is no time to judge: what was lost has no true cause.
    """
    loss, score = report["loss"], Score()
    if not loss["total"] and not loss["unknown_gaps"]:
        raise Skipped("no events were lost")
    score.waits = report["counters"]["discarded"]["open_at_loss"]
    if not score.waits:
        raise Broken(f"{loss['total']} events were lost in {loss['gaps']} gaps, and no wait is marked")
    for wait in report["why"]["waits"]:
        check_wait(wait)
        if wait["taints"]:
            exact = sum(s["ns"] for s in wait["segments"] if s["confidence"] == "exact")
        else:
            end = wait["start_ns"] + wait["delay_ns"]
            hit = [r for r in loss["ranges"] if r["cpu"] == wait["wake_cpu"]
                   and r["from_ns"] < end and r["until_ns"] > wait["start_ns"]]
            exact = wait["delay_ns"] if hit else 0
        if exact:
            score.give("attributed in a gap", "exact", exact)
            score.wrong["exact"] += exact
    return score


def throttled_limit(score, report):
    """No group was stopped for longer than the kernel itself says."""
    meta = report["input"]["meta"]
    stopped = [1000 * (int(meta[key[:-5] + "end"]) - int(value)) for key, value in meta.items()
               if re.fullmatch(r"cgroup\./schedlat-quota-.*\.throttled_us\.start", key)
               and key[:-5] + "end" in meta]
    named = score.given.get("throttled")
    if not stopped or not named:
        return
    excess = sum(named.values()) - max(stopped) * 11 // 10
    for confidence in reversed(CONFIDENCES):
        wrong = max(0, min(excess, named[confidence]))
        named[confidence] -= wrong
        excess -= wrong
        if wrong:
            longer = score.given.setdefault("throttled longer than it was",
                                            dict.fromkeys(CONFIDENCES, 0))
            longer[confidence] += wrong


def judge(provoker, running, report, warm_up_ns):
    """Compares one report with what the provoker did."""
    score, unprovoked = Score(), []
    if provoker.judge == "lost":
        return judge_loss(report)
    for wait in report["why"]["waits"]:
        check_wait(wait)
        if wait["start_ns"] < report["input"]["t_start_ns"] + warm_up_ns:
            continue
        if wait["taints"]:
            score.tainted += 1
            continue
        why = provoked(provoker, wait, report["why"]["waits"])
        if why:
            unprovoked.append(why)
            continue
        if provoker.alone and foreign_percent(wait, running.threads) > provoker.foreign_percent:
            score.disturbed += 1
            continue
        score.waits += 1
        if provoker.judge in ("hold", "moved"):
            judge_hold(score, wait, provoker, running.threads)
        elif provoker.judge == "fault":
            judge_fault(score, wait)
        else:
            judge_place(score, wait, provoker, provoker.judge == "primary")
    if score.waits < FEWEST:
        also = f", {len(unprovoked)} {unprovoked[0]}" if unprovoked else ""
        raise Skipped(f"only {score.waits} waits to judge, {score.disturbed} disturbed by other "
                      f"tasks, {score.tainted} no samples{also}")
    if "throttled" in provoker.causes:
        throttled_limit(score, report)
    score.sort_out(provoker)
    return score


# ---- the whole ----

def add(total, score):
    for key in ("waits", "disturbed", "tainted", "total", "true", "incidental", "undetermined"):
        setattr(total, key, getattr(total, key) + getattr(score, key))
    for confidence in CONFIDENCES:
        total.wrong[confidence] += score.wrong[confidence]
    for cause, by_confidence in score.given.items():
        mine = total.given.setdefault(cause, dict.fromkeys(CONFIDENCES, 0))
        for confidence, ns in by_confidence.items():
            mine[confidence] += ns


def run_one(opts, provoker, backend):
    """All runs of a provoker under one backend."""
    total, skipped = Score(), None
    for run in range(opts.runs):
        path = os.path.join(opts.dir, f"{provoker.name}.{backend}.{run}.dat")
        try:
            running = record(opts, provoker, backend, path)
            score = judge(provoker, running, analyse(opts, provoker, running, path),
                          opts.warm_up * 1e9)
        except Skipped as why:
            skipped = str(why)
            continue
        finally:
            for old in (path, path + ".old"):
                if not opts.keep and os.path.exists(old):
                    os.unlink(old)
        add(total, score)
    if not total.waits:
        raise Skipped(skipped)
    return total


HEAD = (f"{'provoker':18} {'backend':8} {'waits':>6} {'time':>9} {'true':>7} "
        f"{'wrong: exact':>13} {'derived':>8} {'unknown':>8} {'undet.':>7} {'incid.':>7}")


def line(name, backend, score):
    wrong = [score.percent(score.wrong[c]) for c in CONFIDENCES]
    return (f"{name:18} {backend:8} {score.waits:6} {score.total / 1e6:6.0f} ms {score.true_percent:6.1f}% "
            f"{wrong[0]:12.1f}% {wrong[1]:7.1f}% {wrong[2]:7.1f}% "
            f"{score.percent(score.undetermined):6.1f}% {score.percent(score.incidental):6.1f}%")


def misses(provoker, score):
    """What else was named, where that is worth a line."""
    found = []
    for cause, by_confidence in sorted(score.given.items(), key=lambda g: -sum(g[1].values())):
        for confidence, ns in by_confidence.items():
            true = cause in provoker.causes and confidence != "unknown"
            if not true and score.percent(ns) >= 1:
                found.append(f"{cause} ({confidence}) {score.percent(ns):.1f} %")
    return found


def as_json(name, backend, score):
    return {"provoker": name, "backend": backend, "waits": score.waits, "total_ns": score.total,
            "true_ns": score.true, "wrong_ns": score.wrong, "undetermined_ns": score.undetermined,
            "incidental_ns": score.incidental, "disturbed": score.disturbed,
            "tainted": score.tainted, "true_percent": round(score.true_percent, 2),
            "given_ns": score.given}


def parse():
    build = os.environ.get("O", os.path.join(TOP, "build"))
    p = argparse.ArgumentParser(description="Run the provokers and compare what schedlat says with "
                                            "what they do.")
    p.add_argument("--schedlat", default=os.environ.get("SCHEDLAT", os.path.join(build, "schedlat")),
                   help="the tool")
    p.add_argument("--workloads", default=os.path.join(build, "tests", "workloads"),
                   help="directory of the built provokers")
    p.add_argument("--only", metavar="NAME[,NAME]", help="these provokers only")
    p.add_argument("--backend", metavar="NAME[,NAME]", default="tracefs,bpf")
    p.add_argument("--runs", type=int, default=1, metavar="N", help="of each, added up")
    p.add_argument("--seconds", type=float, default=2.5, metavar="S", help="judged part of a recording")
    p.add_argument("--warm-up", type=float, default=0.7, metavar="S", help="of it, that is not judged")
    p.add_argument("--json", metavar="FILE", help="write the results there as well")
    p.add_argument("--keep", metavar="DIR", help="leave the recordings there")
    p.add_argument("--list", action="store_true", help="print the provokers and end")
    return p.parse_args()


def provokers(opts):
    names = sorted(n for n in os.listdir(opts.workloads)
                   if "." not in n and os.access(os.path.join(opts.workloads, n), os.X_OK))
    if opts.only:
        wanted = opts.only.split(",")
        unknown = set(wanted) - set(names)
        if unknown:
            sys.exit(f"score: no provoker is called {', '.join(sorted(unknown))}")
        names = [n for n in names if n in wanted]
    return [Provoker(os.path.join(opts.workloads, n)) for n in names]


def usable(opts, backend):
    """None, or why this backend cannot record here."""
    with tempfile.TemporaryDirectory() as tmp:
        out = run_tool([opts.schedlat, "record", "-q", "--backend", backend, "-d", "10ms",
                        "-o", os.path.join(tmp, "try.dat")])
    return None if out.returncode == 0 else first_line(out.stderr)


def verdict(totals):
    """What is not good enough."""
    bad = []
    for backend, total in totals.items():
        if total.wrong["exact"]:
            bad.append(f"{backend}: {total.percent(total.wrong['exact']):.2f} % are wrong and called exact")
        if backend == "bpf" and total.waits and total.true_percent < 95:
            bad.append(f"bpf: {total.true_percent:.1f} % are true, fewer than 95 %")
    return bad


def main():
    opts = parse()
    if not os.access(opts.schedlat, os.X_OK) or not os.path.isdir(opts.workloads):
        sys.exit(f"score: {opts.schedlat} or {opts.workloads} is not there: run make score")
    if opts.list:
        for provoker in provokers(opts):
            print(f"{provoker.name:18} {' '.join(provoker.causes)}")
        return 0
    opts.dir = opts.keep or tempfile.mkdtemp(prefix="schedlat-score.")
    os.makedirs(opts.dir, exist_ok=True)
    results, skipped, broken, totals = [], [], [], {}
    try:
        backends = []
        for backend in opts.backend.split(","):
            why = usable(opts, backend)
            if why:
                skipped.append(("all", backend, why))
            else:
                backends.append(backend)
        print(HEAD)
        for provoker in provokers(opts):
            for backend in backends:
                try:
                    score = run_one(opts, provoker, backend)
                except Skipped as why:
                    skipped.append((provoker.name, backend, str(why)))
                    continue
                except Broken as why:
                    broken.append((provoker.name, backend, str(why)))
                    continue
                print(line(provoker.name, backend, score), flush=True)
                for miss in misses(provoker, score):
                    print(f"{'':18} {'':8}   also: {miss}")
                if score.disturbed:
                    print(f"{'':18} {'':8}   not judged: {score.disturbed} waits that others disturbed")
                results.append(as_json(provoker.name, backend, score))
                add(totals.setdefault(backend, Score()), score)
    finally:
        if not opts.keep:
            shutil.rmtree(opts.dir, ignore_errors=True)
    for backend, total in totals.items():
        print(line("all", backend, total))
    for name, backend, why in skipped:
        print(f"skipped: {name} ({backend}): {why}")
    for name, backend, why in broken:
        print(f"broken: {name} ({backend}): {why}")
    bad = verdict(totals)
    if not results:
        bad.append("nothing was judged")
    for what in bad:
        print(f"not good enough: {what}")
    print(f"{len(results)} judged, {len(skipped)} skipped, {len(broken)} broken")
    if opts.json:
        with open(opts.json, "w", encoding="utf-8") as file:
            json.dump({"schema": "schedlat.score/1", "kernel": os.uname().release, "results": results,
                       "skipped": [dict(zip(("provoker", "backend", "why"), s)) for s in skipped],
                       "broken": [dict(zip(("provoker", "backend", "why"), b)) for b in broken],
                       "bad": bad}, file, indent=1)
    return 1 if bad or broken else 0


if __name__ == "__main__":
    sys.exit(main())
