#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Golden traces against their expectations. TAP.

    tests/golden/golden.t [NAME...]         all, or some

Per trace: the report matches NAME.expect (the language is in README.md); every
wait's segments are contiguous and add up to its delay; the counters add up; two
threads print the same bytes; the text report works; and the same trace as a
binary file gives the same answer. SL_ALL_VARIANTS=1 takes every shape of file
instead of a rotating few.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
import mkdat  # noqa: E402
import sltext  # noqa: E402

SCHEDLAT = os.environ.get("SCHEDLAT", "./schedlat")
DEFAULT_ARGS = {"--why": "0ns", "--waits": "all"}
PER_TRACE = 2
DISCARDS = ("already_running already_queued idle_task not_successful never_queued open_at_loss "
            "inconsistent clock_skew open_at_end exited own_thread filtered").split()
NO_SAMPLE = {"lost-events", "inconsistent", "clock-skew", "open-at-end"}


class Results:
    """What one trace gave; traces run side by side, and are printed in order."""

    def __init__(self):
        self.lines = []

    def ok(self, good, name, why=()):
        self.lines.append((good, name, () if good else tuple(why)))


def run(path, args):
    done = subprocess.run([SCHEDLAT, "report", "-i", str(path), *args], capture_output=True,
                          timeout=120)
    return done.returncode, done.stdout, done.stderr


class Expect:
    def __init__(self, path):
        self.args, self.lines, self.variants = [], [], None
        self.flags = set()
        for line in path.read_text().splitlines():
            words = line.split()
            if not words or words[0] == "#":
                continue
            if words[0] == "args":
                self.args += words[1:]
            elif words[0] == "variants":
                self.variants = words[1]
            elif len(words) == 1:
                self.flags.add(words[0])
            else:
                self.lines.append(line)

    def command(self):
        given = {a.split("=")[0] for a in self.args}
        return ["--json"] + [f"{k}={v}" for k, v in DEFAULT_ARGS.items() if k not in given] + self.args


def ns(text):
    return -sltext.parse_time(text[1:]) if text.startswith("-") else sltext.parse_time(text)


def pairs(words):
    for word in words:
        key, op, value = re.fullmatch(r"([\w.]+)(>=|=)(.*)", word).groups()
        yield key, op, value


def segment_text(seg):
    kind = seg["reason"] if seg["kind"] == "fair" and seg["reason"] != "fair-undetermined" \
        else seg["kind"]
    cpu = "-" if seg["cpu"] is None else seg["cpu"]
    tid = (seg["occupant"] or {}).get("tid")
    decision = seg["decision"] or {"at": None}
    known = ",".join(f"{k.removesuffix('_ns')}={v['tid'] if k == 'rival' else v}"
                     for k, v in decision.items() if v is not None)
    return f"{kind}={seg['ns']}ns@{cpu}/{tid}:{seg['confidence']}{{{known}}}"


def decision_matches(want, decision):
    """at=wakeup,by=700us,...: members of the decision, with or without their _ns."""
    if not decision or want == "-":
        return want == "-" and not decision
    for key, op, value in pairs(want.split(",")):
        have = decision.get(key, decision.get(key + "_ns"))
        if key == "rival":
            have = have["tid"]
        if not same("null" if have is None else have, value):
            return False
    return True


def segment_matches(want, seg):
    kinds, dur, cpu, tid, confidence, decision = re.fullmatch(
        r"([a-z|-]+)=([\w.]+)(?:@([\d-]+))?(?:/(\d+))?(?::(\w+))?(?:\{(.*)\})?", want).groups()
    reason = seg["reason"] if seg["kind"] == "fair" else None
    kind = "fair" if reason == "fair-undetermined" else reason or seg["kind"]
    return kind in kinds.split("|") and seg["ns"] == ns(dur) and \
        (cpu is None or seg["cpu"] == (None if cpu == "-" else int(cpu))) and \
        (tid is None or (seg["occupant"] or {}).get("tid") == int(tid)) and \
        (confidence is None or seg["confidence"] == confidence) and \
        (decision is None or decision_matches(decision, seg["decision"]))


def wait_value(wait, key):
    """The value of a key of an expectation, as text that can be compared."""
    if key in ("waking", "wakeup", "run"):
        value = wait[key + "_ns"]
        return "null" if value is None else value
    if key == "waker":
        waker = wait["waker"]
        if not waker or waker["tid"] is None:
            return "null"
        return f"{waker['tid']}/{waker['context']}"
    if key == "primary":
        return wait["primary"]["id"]
    if key == "primary_ns":
        return wait["primary"]["ns"]
    if key == "confidence":
        return wait["primary"]["confidence"]
    if key == "avoidable":
        return wait["avoidable_ns"] or 0
    if key == "place":
        return ",".join(wait["place_causes"]) or "-"
    if key == "taints":
        return ",".join(wait["taints"]) or "-"
    head, _, member = key.partition(".")
    if member:		# selection.why, energy.cost
        value = (wait[head] or {}).get(member)
    else:
        value = wait[key] if key in wait else wait[key + "_ns"]
    return "null" if value is None else value


def same(value, want):
    if isinstance(value, bool):
        return str(value).lower() == want
    if isinstance(value, int) and re.match(r"-?\d", want):
        return value == ns(want)
    return str(value) == want


def check_wait(line, waits, why):
    """Take the wait that the line describes out of waits."""
    # a bar between blanks separates; one inside a word is "either"
    head, segs, more = [p.strip() for p in re.split(r"\s\|(?=\s)", line + " ")]
    _, tid, kind, delay = head.split()
    found = [w for w in waits if w["tid"] == int(tid) and w["kind"] == kind and
             w["delay_ns"] == ns(delay)]
    reasons = []
    for wait in found:
        bad = []
        if segs != "?":
            wanted = segs.split()
            if len(wanted) != len(wait["segments"]) or \
               not all(map(segment_matches, wanted, wait["segments"])):
                bad.append("segments " + " ".join(map(segment_text, wait["segments"])) +
                           f", expected {segs}")
        for key, op, value in pairs(more.split()):
            have = wait_value(wait, key)
            if op == ">=" and not set(value.split(",")) <= set(have.split(",")) or \
               op == "=" and not same(have, value):
                bad.append(f"{key} is {have}, expected {value}")
        if not bad:
            waits.remove(wait)
            return
        reasons += [f"{head}: {b}" for b in bad]
    if found:
        waits.remove(found[0])
    why += reasons or [f"no such wait: {head}; there are " +
                       ", ".join(f"{w['tid']} {w['kind']} {w['delay_ns']}ns" for w in waits)]


def check_numbers(what, have, words, why, default_zero=()):
    seen = set()
    for key, op, value in pairs(words):
        seen.add(key)
        number = have.get(key, have.get(key + "_ns"))
        if value == "?":
            continue
        if op == ">=" and not number >= ns(value) or op == "=" and not same(number, value):
            why.append(f"{what} {key} is {number}, expected {op} {value}")
    for key in default_zero:
        if key not in seen and have.get(key):
            why.append(f"{what} {key} is {have[key]}, expected 0")


def check_expect(expect, doc):
    why = []
    waits = list(doc["why"]["waits"]) if doc["why"] else []
    if "samples-only" in expect.flags:
        waits = [w for w in waits if not NO_SAMPLE & set(w["taints"])]
    counters = dict(doc["counters"], **doc["counters"]["discarded"])
    ignored = set()
    for line in expect.lines:
        word, *rest = line.split()
        if word == "wait":
            check_wait(line, waits, why)
        elif word == "has-wait":
            if not any(w["tid"] == int(rest[0]) and w["kind"] == rest[1] and
                       w["delay_ns"] == ns(rest[2]) for w in waits):
                why.append(f"no such wait: {line}")
        elif word == "may-also":
            ignored.add(int(rest[0]))
        elif word == "count":
            check_numbers("counter", counters, rest, why, DISCARDS + ["preempt_waits", "fork_waits"])
        elif word == "group":
            found = [g for g in doc["groups"] if g["tid"] == int(rest[0]) and g["kind"] == rest[1]]
            if len(found) != 1:
                why.append(f"{len(found)} groups for {rest[0]} {rest[1]}")
            else:
                have = {k: "null" if v is None else v for k, v in found[0].items()}
                check_numbers(f"group {rest[0]} {rest[1]}", have, rest[2:], why)
        elif word == "cause":
            found = [c for c in doc["why"]["causes"] if c["id"] == rest[0]]
            have = dict(found[0], **found[0]["confidence"]) if found else {"ns": 0, "count": 0}
            check_numbers(f"cause {rest[0]}", have, rest[1:], why)
        elif word in ("loss", "why", "input"):
            check_numbers(word, doc[word], rest, why)
        elif word in ("not_assessable", "assessable"):
            listed = {n["id"] for n in doc["why"]["not_assessable"]}
            wrong = [r for r in rest if (r in listed) != (word == "not_assessable")]
            if wrong:
                why.append(f"{word}: not so for {' '.join(wrong)}")
        elif word in ("no-delay-above", "no-sample-above"):
            for wait in doc["why"]["waits"]:
                if wait["delay_ns"] > ns(rest[0]) and \
                   (word == "no-delay-above" or not NO_SAMPLE & set(wait["taints"])):
                    why.append(f"a wait of {wait['delay_ns']} ns, expected none above {rest[0]}")
        else:
            why.append(f"unknown expectation: {line}")
    left = [w for w in waits if w["tid"] not in ignored]
    if "any-waits" not in expect.flags and left:
        why += [f"unexpected wait {w['tid']} {w['kind']} {w['delay_ns']}ns: " +
                " ".join(map(segment_text, w["segments"])) for w in left]
    return why


def check_always(doc, raw):
    """What holds in every report of every trace."""
    why = []
    counters = doc["counters"]
    if counters["wakeups"] != counters["samples"] + sum(counters["discarded"].values()):
        why.append(f"wakeups {counters['wakeups']} != samples {counters['samples']} + "
                   f"{counters['discarded']}")
    wake = sum(g["count"] for g in doc["groups"] if g["kind"] == "wake")
    if "wake" in doc["definition"]["waits"] and wake != counters["samples"]:
        why.append(f"groups hold {wake} wake samples, counters say {counters['samples']}")
    length = doc["input"]["t_end_ns"] - doc["input"]["t_start_ns"]
    for wait in doc["why"]["waits"] if doc["why"] else ():
        what = f"wait {wait['tid']} {wait['kind']} {wait['delay_ns']}ns"
        at = wait["start_ns"]
        for seg in wait["segments"]:
            if seg["start_ns"] != at or seg["ns"] <= 0:
                why.append(f"{what}: segment {segment_text(seg)} starts at {seg['start_ns']}, "
                           f"not {at}")
            at = seg["start_ns"] + seg["ns"]
        for who, cpu in [(wait["waker"], (wait["waker"] or {}).get("cpu"))] + \
                        [(seg["occupant"], seg["cpu"]) for seg in wait["segments"]]:
            if who and who["tid"] == 0 and who["comm"] != f"swapper/{cpu}":
                why.append(f"{what}: the idle task of CPU {cpu} is called {who['comm']}")
        if sum(s["ns"] for s in wait["segments"]) != wait["delay_ns"]:
            why.append(f"{what}: segments sum to {sum(s['ns'] for s in wait['segments'])}")
        if wait["run_ns"] is not None and wait["run_ns"] - wait["start_ns"] != wait["delay_ns"]:
            why.append(f"{what}: run - start is {wait['run_ns'] - wait['start_ns']}")
        if wait["tid"] == 0:
            why.append("pid 0 waits")
        if wait["delay_ns"] > length:
            why.append(f"{what}: longer than the recording ({length} ns)")
        if wait["avoidable_ns"] and wait["avoidable_ns"] > wait["delay_ns"]:
            why.append(f"{what}: avoidable {wait['avoidable_ns']}")
    if doc["why"]:
        held = sum(c["ns"] for c in doc["why"]["causes"] if c["family"] != "place")
        if held != doc["why"]["total_ns"]:
            why.append(f"causes sum to {held}, the waits to {doc['why']['total_ns']}")
        delays = [w["delay_ns"] for w in doc["why"]["waits"]]
        if delays != sorted(delays, reverse=True):
            why.append("waits are not sorted by delay")
    return why + clean_text(raw, b"\n")


def clean_text(raw, allowed):
    try:
        raw.decode()
    except UnicodeDecodeError as bad:
        return [f"invalid UTF-8: {bad}"]
    wild = {c for c in raw if (c < 0x20 or c == 0x7f) and c not in allowed}
    return [f"control bytes in the output: {sorted(wild)}"] if wild else []


def comparable(raw):
    """The document without what describes the file itself."""
    doc = json.loads(raw)
    del doc["input"]
    return doc


def variants_for(index, expect, trace):
    names = [n for n in mkdat.VARIANTS if not expect.variants or n.startswith(expect.variants)]
    if any(e.name == "lost" for e in trace.events):
        names = [n for n in names if "instances" not in n]
    if expect.variants == "none":
        return []
    if os.environ.get("SL_ALL_VARIANTS"):
        return names
    return list(dict.fromkeys(names[(index * PER_TRACE + i) % len(names)]
                              for i in range(PER_TRACE)))


def difference(a, b, path=""):
    """The first place where two documents differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in a:
            if a[key] != b.get(key):
                return difference(a[key], b.get(key), f"{path}.{key}")
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y:
                return difference(x, y, f"{path}[{i}]")
    return f"{path}: {json.dumps(b)[:200]}, as text {json.dumps(a)[:200]}"


def one(job):
    name, index, tmp = job
    results = Results()
    ok = results.ok
    path = HERE / f"{name}.txt"
    expect = Expect(HERE / f"{name}.expect")
    args = expect.command()
    status, raw, err = run(path, args)
    if status:
        ok(False, f"{name}: expectation", [f"exit {status}: {err.decode(errors='replace')[:500]}"])
        return results.lines
    try:
        doc = json.loads(raw)
    except ValueError as bad:
        ok(False, f"{name}: expectation", [f"no JSON: {bad}"])
        return results.lines
    why = check_always(doc, raw)
    ok(not why, f"{name}: sums and counters", why)
    why = check_expect(expect, doc)
    ok(not why, f"{name}: expectation", why)
    threads = run(path, args + ["--threads", "2"])
    ok(threads[:2] == (0, raw), f"{name}: two threads print the same",
       [f"exit {threads[0]}, {threads[2].decode(errors='replace')[:300]}"])
    plain = run(path, [a for a in args if a != "--json"])
    why = clean_text(plain[1], b"\n\t")
    ok(plain[0] == 0 and plain[1] and not why, f"{name}: text report",
       why + [f"exit {plain[0]}, {plain[2].decode(errors='replace')[:300]}"])
    for variant in variants_for(index, expect, sltext.read(path)):
        dat = pathlib.Path(tmp) / f"{name}.{variant}.dat"
        dat.write_bytes(mkdat.make(sltext.read(path), mkdat.Shape(**mkdat.VARIANTS[variant])))
        status, binary, err = run(dat, args)
        if status:
            ok(False, f"{name}: as {variant}", [f"exit {status}: {err.decode(errors='replace')[:300]}"])
            continue
        left, right = comparable(raw), comparable(binary)
        ok(left == right, f"{name}: as {variant}", [difference(left, right)])
        dat.unlink()
    return results.lines


def main():
    names = sorted(p.stem for p in HERE.glob("*.txt"))
    chosen = sys.argv[1:] or names
    number = 0
    with tempfile.TemporaryDirectory() as tmp, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for lines in pool.map(one, [(name, names.index(name), tmp) for name in chosen]):
            for good, what, why in lines:
                number += 1
                print(f"{'ok' if good else 'not ok'} {number} - {what}", flush=True)
                for line in why:
                    print(f"#   {line}")
    print(f"1..{number}")


main()
