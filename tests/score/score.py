#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
The scoreboard: does schedlat name the true cause? Runs the provokers of
tests/workloads, each of which makes one known cause dominate, records them,
and compares. tests/workloads/README.md says how it counts. Needs root, the
tool, the built provokers, and nothing beside Python's own library.
"""
import argparse
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "record.sh")
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
LEAST = 95
# Where this is recorded, what the fair class compared is.
DECISION_EVENT = "sched:sched_pick_fair"


class Skipped(Exception):
    """This provoker cannot run here, or its run says nothing."""


class Broken(Exception):
    """Neither the kernel's fault nor the machine's."""


class Provoker:
    """One program of tests/workloads, and what it says of itself: its --about, on the kernel it ran on."""

    def __init__(self, name, text, flat):
        about = dict(line.split("=", 1) for line in text.splitlines())
        self.name = name
        self.causes, self.parts = set(), {}
        # Without an answer to whether the kernel has one flat queue both are true.
        for prefix in {True: ["flat_"], False: [""], None: ["", "flat_"]}[flat]:
            self.causes |= set((about[prefix + "causes"] or about["causes"]).split())
            for part in (about[prefix + "parts"] or about["parts"]).split():
                cause, percent = part.split(":")
                self.parts[cause] = max(int(percent), self.parts.get(cause, 0))
        self.waits = about["waits"]
        self.judge = about["judge"]
        # others may run meanwhile without changing what is true
        self.alone = about["alone"] != "no"
        self.foreign_percent = 0 if about["alone"] == "strictly" else FOREIGN_PERCENT
        self.why = about["why"]


class Recording:
    """What record.sh left of one run."""

    def __init__(self, directory, name, backend, run):
        self.base = os.path.join(directory, f"{name}.{backend}.{run}")
        self.about_path = os.path.join(directory, name + ".about")
        self.threads, self.victims = {0}, set()
        self.path = self.base + ".dat"
        self.name, self.backend = name, backend

    def read(self):
        """Who ran, and the warm-up; raises Skipped or Broken where there is nothing to judge."""
        for line in text_of(self.base + ".said").splitlines():
            word, _, rest = line.partition(" ")
            if word in ("victim", "thread"):
                tid = int(rest.split()[0])
                self.threads.add(tid)
                if word == "victim":
                    self.victims.add(tid)
            elif word == "skip":
                raise Skipped(rest)
            elif word == "failed":
                raise Broken(rest)
        if not os.path.exists(self.base + ".end"):
            raise Broken("was not recorded")
        status, warm_up, *said = text_of(self.base + ".end").splitlines()
        if status == "3":
            raise Skipped(f"backend {self.backend}: " + first_line("\n".join(said)))
        if status != "0" or not self.victims:
            raise Broken(f"schedlat record: status {status}: " + first_line("\n".join(said)))
        return float(warm_up) * 1e9

    def remove(self):
        for suffix in (".dat", ".dat.old", ".said", ".end"):
            if os.path.exists(self.base + suffix):
                os.unlink(self.base + suffix)


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def run_tool(args, seconds=200, **more):
    return subprocess.run(args, capture_output=True, text=True, check=False, timeout=seconds, **more)


def record(opts, name, backend, run):
    """By the same script as in a guest. What became of it is in its files."""
    out = run_tool([RECORD, opts.dir, os.path.join(opts.workloads, name), backend, str(run),
                    str(opts.warm_up), str(opts.seconds)],
                   env={**os.environ, "SCHEDLAT": opts.schedlat})
    if out.returncode not in (0, SKIP):
        raise Broken(first_line(out.stdout + out.stderr))


class Commented:
    """Lines that are no results are comments, so that all of it is TAP."""

    def __init__(self, out):
        self.out = out

    def write(self, text):
        for part in text.splitlines(keepends=True):
            result = part.startswith(("ok ", "not ok ")) or part == "\n"
            self.out.write(part if result else "# " + part)

    def flush(self):
        self.out.flush()


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0] if lines else "(it said nothing)"


def analyse(opts, provoker, recording):
    tids = ",".join(str(tid) for tid in sorted(recording.victims))
    args = [opts.schedlat, "report", "-q", "-i", recording.path, "-j", f"--why={provoker.why}",
            "-t", tids, "--waits", provoker.waits]
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


def judge(provoker, recording, report, warm_up_ns):
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
        if provoker.alone and foreign_percent(wait, recording.threads) > provoker.foreign_percent:
            score.disturbed += 1
            continue
        score.waits += 1
        if provoker.judge in ("hold", "moved"):
            judge_hold(score, wait, provoker, recording.threads)
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


def run_one(opts, name, backend, runs):
    """All runs of a provoker under one backend. Says as well whether the fair class's decisions were seen."""
    total, skipped, decisions = Score(), None, False
    for run in runs:
        recording = Recording(opts.dir, name, backend, run)
        try:
            if not opts.from_dir:
                record(opts, name, backend, run)
            warm_up_ns = recording.read()
            provoker = Provoker(name, text_of(recording.about_path), opts.flat)
            report = analyse(opts, provoker, recording)
            decisions |= sees_decisions(report)
            score = judge(provoker, recording, report, warm_up_ns)
        except Skipped as why:
            skipped = str(why)
            continue
        finally:
            if not opts.keep and not opts.from_dir:
                recording.remove()
        add(total, score)
    if not total.waits:
        raise Skipped(skipped)
    return provoker, total, decisions


def sees_decisions(report):
    """Does the recording hold what the fair class compared?"""
    meta = report["input"]["meta"]
    return meta.get("bpf.has_queue") == "1" or DECISION_EVENT in meta.get("events_enabled", "")


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
    p.add_argument("--from", dest="from_dirs", metavar="DIR", action="append", default=[],
                   help="record nothing: judge what record.sh has left there; may be repeated, for one kernel")
    p.add_argument("--tap", metavar="NAME", help="print results as TAP, the kernel being called NAME")
    p.add_argument("--list", action="store_true", help="print the provokers and end")
    p.set_defaults(flat=None, kernel=None, from_dir=None)
    return p.parse_args()


def found(opts):
    """Names, and for each of the backends its runs: what can be recorded, or what was."""
    if opts.from_dir:
        runs = {}
        for file in os.listdir(opts.from_dir):
            match = re.fullmatch(r"(.+)\.([a-z]+)\.(\d+)\.said", file)
            if match:
                name, backend, run = match.groups()
                runs.setdefault(name, {}).setdefault(backend, []).append(int(run))
        if not runs:
            sys.exit(f"score: {opts.from_dir} holds nothing that record.sh has left")
    else:
        runs = {n: {b: range(opts.runs) for b in opts.backend.split(",")}
                for n in os.listdir(opts.workloads)
                if "." not in n and os.access(os.path.join(opts.workloads, n), os.X_OK)}
    names = sorted(runs)
    if opts.only:
        wanted = opts.only.split(",")
        unknown = set(wanted) - set(names)
        if unknown:
            sys.exit(f"score: no provoker is called {', '.join(sorted(unknown))}")
        names = [n for n in names if n in wanted]
    wanted = opts.backend.split(",")
    return {n: {b: sorted(runs[n][b]) for b in wanted if b in runs[n]} for n in names}


def usable(opts, backend):
    """None, or why this backend cannot record here."""
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "try.dat")
        out = run_tool([opts.schedlat, "record", "-q", "--backend", backend, "-d", "10ms", "-o", path])
        if out.returncode:
            return first_line(out.stderr)
        learn_flat(opts, path)
        return None


def learn_flat(opts, path):
    """Has this recording's kernel one flat queue of fair tasks? Snapshots show it."""
    out = run_tool([opts.schedlat, "report", "-q", "-i", path, "-j"])
    if out.returncode == 0:
        meta = json.loads(out.stdout)["input"]["meta"]
        opts.kernel = (meta.get("uname", "").split() + [None] * 3)[2]
        if "bpf.has_flat" in meta:
            opts.flat = meta["bpf.has_flat"] == "1"


def verdict(totals, seeing):
    """What is asked for, and whether it is so. Who saw what was compared has to be right as well."""
    asked = []
    for backend, total in totals.items():
        wrong = total.percent(total.wrong["exact"])
        asked.append((not total.wrong["exact"], f"{backend}: {wrong:.2f} % are wrong and called exact"))
        if backend in seeing and total.waits:
            asked.append((total.true_percent >= LEAST,
                          f"{backend}: {total.true_percent:.1f} % are true, of at least {LEAST} %"))
    return asked


def choose(opts):
    """The backends that are there, and why others are not."""
    backends, skipped = [], []
    for backend in opts.backend.split(","):
        if opts.from_dir:
            paths = sorted(glob.glob(os.path.join(glob.escape(opts.from_dir), f"*.{backend}.*.dat")))
            why = None if paths else "no recording"
            if paths:
                learn_flat(opts, paths[0])
        else:
            why = usable(opts, backend)
        if why:
            skipped.append(("all", backend, why))
        else:
            backends.append(backend)
    return backends, skipped


def show(provoker, backend, score):
    print(line(provoker.name, backend, score), flush=True)
    for miss in misses(provoker, score):
        print(f"{'':18} {'':8}   also: {miss}")
    if score.disturbed:
        print(f"{'':18} {'':8}   not judged: {score.disturbed} waits that others disturbed")


def main():
    opts = parse()
    if opts.tap:
        sys.stdout = Commented(sys.stdout)
    if not os.access(opts.schedlat, os.X_OK) or not (opts.from_dirs or os.path.isdir(opts.workloads)):
        sys.exit(f"score: {opts.schedlat} or {opts.workloads} is not there: run make score")
    for directory in opts.from_dirs:
        if not os.path.isdir(directory):
            sys.exit(f"score: {directory} is no directory")
    if opts.list:
        for name in found(opts):
            print(name)
        return 0
    results, broken, skipped, totals, seeing = [], [], [], {}, set()
    for number, opts.from_dir in enumerate(opts.from_dirs or [None]):
        all_runs = found(opts)
        opts.dir = opts.from_dir or opts.keep or tempfile.mkdtemp(prefix="schedlat-score.")
        os.makedirs(opts.dir, exist_ok=True)
        try:
            backends, missing = choose(opts)
            skipped += missing
            if not number:
                print(f"kernel {opts.kernel or 'unknown'}{', one flat queue' if opts.flat else ''}")
                print(HEAD)
            for name, runs in all_runs.items():
                for backend in [b for b in backends if b in runs]:
                    try:
                        provoker, score, decisions = run_one(opts, name, backend, runs[backend])
                    except Skipped as why:
                        skipped.append((name, backend, str(why)))
                        continue
                    except Broken as why:
                        broken.append((name, backend, str(why)))
                        continue
                    show(provoker, backend, score)
                    results.append(as_json(name, backend, score))
                    add(totals.setdefault(backend, Score()), score)
                    if decisions:
                        seeing.add(backend)
        finally:
            if not opts.keep and not opts.from_dir:
                shutil.rmtree(opts.dir, ignore_errors=True)
    for backend, total in totals.items():
        print(line("all", backend, total))
    judged = {(r["provoker"], r["backend"]) for r in results}
    skipped = [s for s in dict.fromkeys(skipped) if s[:2] not in judged]
    for name, backend, why in skipped:
        print(f"skipped: {name} ({backend}): {why}")
    for name, backend, why in broken:
        print(f"broken: {name} ({backend}): {why}")
    asked = verdict(totals, seeing) + [(bool(results), f"{len(results)} were judged"),
                                       (not broken, f"{len(broken)} are broken")]
    bad = [what for good, what in asked if not good]
    for number, (good, what) in enumerate(asked, 1):
        if opts.tap:
            print(f"{'ok' if good else 'not ok'} {number} - {opts.tap}: {what}")
        elif not good:
            print(f"not good enough: {what}")
    print(f"{len(results)} judged, {len(skipped)} skipped, {len(broken)} broken")
    if opts.json:
        with open(opts.json, "w", encoding="utf-8") as file:
            json.dump({"schema": "schedlat.score/1", "kernel": opts.kernel, "results": results,
                       "skipped": [dict(zip(("provoker", "backend", "why"), s)) for s in skipped],
                       "broken": [dict(zip(("provoker", "backend", "why"), b)) for b in broken],
                       "bad": bad}, file, indent=1)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
