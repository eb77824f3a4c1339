#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares what the decision tracepoints said with what BPF programs saw of the same runqueues.

    compare.py DIRECTORY [PREFIX]

DIRECTORY has bpf.dat and tracefs.dat, recorded at the same time on one machine by the two backends of
schedlat. Prints TAP; PREFIX begins each name. Each event that has its counterpart is compared; for each
rule is printed how often.

Linux 7.3.4: wakeup_preempt_fair() changes current's vprot after its decision and nothing else before
sched_wakeup. Between the pick and sched_switch, set_next_task_fair() gives the picked task its new
flattened weight, and with that other virtual times; what depends on them is compared where they are
the same still. Its snapshot has prev in the tree already, so that the sums are over the same tasks.
"""
import bisect
import re
import subprocess
import sys

NICE_0_LOAD = 1 << 20
LINE = re.compile(r"\[(\d+)\]\s+(?:\S+\s+)?(\d+)\.(\d{9}):\s+(\S+):\s*(.*)$")
FIELD = re.compile(r"(\w+)=(\S+)")
SWITCH = re.compile(r":(\d+) \[-?\d+\] \S+ ==> .*:(\d+) \[(-?\d+)\]")
WOKEN = re.compile(r":(\d+) \[-?\d+\].* CPU:(\d+)")
CLOSE = 200_000         # ns between a decision and the event that its snapshot belongs to


def signed(x):
    x &= (1 << 64) - 1
    return x - (1 << 64) if x >> 63 else x


def fields(text):
    return {k: int(v) if re.fullmatch(r"-?\d+", v) else v for k, v in FIELD.findall(text)}


def has(entity, flag):
    return flag in str(entity.get("flags", "")).split("|")


def read(path):
    """(time, cpu, event, text) of each line."""
    report = subprocess.run(["trace-cmd", "report", "-t", "-i", path], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, errors="replace", check=True)
    for line in report.stdout.splitlines():
        m = LINE.search(line)
        if m:
            yield int(m[2]) * 10**9 + int(m[3]), int(m[1]), m[4], m[5]


def snapshots(path):
    """Of each wakeup and switch: (time, cpu, event, text, queue, {role: entity})."""
    queue, roles = {}, {}
    for time, cpu, event, text in read(path):
        if event == "queue":
            queue[cpu] = fields(text)
            roles[cpu] = {}
        elif event == "entity":
            roles.setdefault(cpu, {})[text.split()[0]] = fields(text)
        elif event in ("sched_wakeup", "sched_switch"):
            yield time, cpu, event, text, queue.pop(cpu, None), roles.pop(cpu, {})
        elif event not in ("sched_waking", "sched_migrate_task"):
            queue.pop(cpu, None)
            roles.pop(cpu, None)


def average(queue, curr):
    """avg_vruntime(): curr, which may be None, is not in the sums."""
    if has(queue, "avg"):
        return queue["zero_vruntime"]
    total, weight = queue["sum_w_vruntime"], queue["sum_weight"]
    if curr and has(curr, "on_rq"):
        total += curr["weight"] * signed(curr["vruntime"] - queue["zero_vruntime"])
        weight += curr["weight"]
    return queue["zero_vruntime"] + (total // weight if weight else 0)


class Rules:
    def __init__(self):
        self.seen, self.bad, self.example = {}, {}, {}

    def want(self, rule, good, *what):
        self.seen[rule] = self.seen.get(rule, 0) + 1
        if not good:
            self.bad[rule] = self.bad.get(rule, 0) + 1
            if self.bad[rule] <= 3:
                self.example.setdefault(rule, []).append(" | ".join(map(str, what)))

    def same(self, rule, told, seen, *what):
        self.want(rule, signed(told - seen) == 0, f"told {told}", f"seen {seen}", *what)


class Decisions:
    """Decisions of one kind by a key, to find the last one before a time."""
    def __init__(self):
        self.by = {}

    def add(self, key, time, f):
        times, values = self.by.setdefault(key, ([], []))
        times.append(time)
        values.append(f)

    def before(self, key, time):
        times, values = self.by.get(key, ([], []))
        i = bisect.bisect_right(times, time) - 1
        if i < 0 or time - times[i] > CLOSE:
            return None
        return times[i], values[i]


def earliest(v, entities):
    """The deadline that a pick without protection takes; None if nobody is eligible."""
    able = [e["deadline"] for e in entities if e and signed(e["vruntime"] - v) <= 0]
    return min(able, key=lambda d: signed(d - v)) if able else None


def wakeup(r, told, queue, roles):
    wakee, curr, best = roles["WAKEE"], roles["CURR"], roles.get("BEST")
    for name in ("vruntime", "deadline", "slice"):
        r.same(f"wakeup: the wakee's {name}", told[name], wakee[name], told, wakee)
        r.same(f"wakeup: current's {name}", told["curr_" + name], curr[name], told, curr)
    v = average(queue, curr)
    r.same("wakeup: the average vruntime", told["avg_vruntime"], v, told, queue, curr)
    r.want("wakeup: eligible", bool(told["eligible"]) == (signed(wakee["vruntime"] - v) <= 0), told, queue)
    # What the decision did to the protection afterwards.
    left = signed(told["curr_vprot"] - told["curr_vruntime"])
    if told["preempt"]:
        r.same("wakeup: a preempted task's protection is cancelled",
               told["curr_vruntime"] if left > 0 else told["curr_vprot"], curr["lag_or_vprot"], told, curr)
    elif told["why"] in ("feature", "resched", "throttled", "sync"):
        r.same("wakeup: protection stays", told["curr_vprot"], curr["lag_or_vprot"], told, curr)
    else:
        quantum = queue["min_slice"] * NICE_0_LOAD // curr["weight"]
        start = min(signed(told["curr_vruntime"] - v), 0) + v
        r.want("wakeup: protection stays, or ends a shortest slice from here",
               curr["lag_or_vprot"] == told["curr_vprot"] or
               (signed(curr["lag_or_vprot"] - told["curr_vprot"]) < 0 and
                abs(signed(curr["lag_or_vprot"] - start) - quantum) <= 2 + quantum // 100000),
               told, queue, curr)
    # Who is later than a wakee that is not eligible is not in the snapshot.
    later = not told["eligible"] and signed(told["best_deadline"] - wakee["deadline"]) >= 0
    if told["best_pid"] and told["nr_queued"] > 1 and (best or not later):
        d = earliest(v, [wakee, best, curr if has(curr, "on_rq") else None])
        r.want("wakeup: the best one's deadline", d == told["best_deadline"], d, told, queue, roles)


def pick(r, told, queue, roles, prev):
    following, best, was = roles["NEXT"], roles.get("BEST"), roles.get("PREV")
    r.same("pick: the next task's slice", told["slice"], following["slice"], told, following)
    if was and told["curr_pid"] == prev == was["pid"] and has(was, "on_rq"):
        for name in ("vruntime", "deadline"):
            r.same(f"pick: current's {name}", told["curr_" + name], was[name], told, was)
    if told["vruntime"] != following["vruntime"] or told["deadline"] != following["deadline"]:
        r.seen["reweighted"] = r.seen.get("reweighted", 0) + 1
        return
    v = average(queue, following)
    r.same("pick: the average vruntime", told["avg_vruntime"], v, told, queue, following)
    if told["nr_queued"] == 1:
        return
    if told["best_pid"] == told["pid"]:
        r.want("pick: nobody eligible is before the best",
               not best or signed(best["deadline"] - following["deadline"]) >= 0, told, best)
    else:
        r.want("pick: the best one's deadline",
               (best or following)["deadline"] == told["best_deadline"], told, best)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: compare.py DIRECTORY [PREFIX]")
    where, prefix = sys.argv[1], "".join(word + " " for word in sys.argv[2:])
    wakeups, picks = Decisions(), Decisions()
    for time, cpu, event, text in read(f"{where}/tracefs.dat"):
        if event == "sched_wakeup_preempt":
            f = fields(text)
            wakeups.add((f["pid"], f["cpu"]), time, f)
        elif event == "sched_pick_fair":
            f = fields(text)
            if not has(f, "picked-delayed"):
                picks.add((f["pid"], cpu), time, f)
    r = Rules()
    used = set()
    for time, cpu, event, text, queue, roles in snapshots(f"{where}/bpf.dat"):
        if event == "sched_wakeup":
            m = WOKEN.search(text)
            if not (m and queue and "WAKEE" in roles and "CURR" in roles):
                continue
            found = wakeups.before((int(m[1]), int(m[2])), time)
            key = found and ("w", m[1], m[2], found[0])
            if found and key not in used and found[1]["curr_pid"] == roles["CURR"]["pid"]:
                used.add(key)
                wakeup(r, found[1], queue, roles)
        else:
            m = SWITCH.search(text)
            if not (m and queue and "NEXT" in roles):
                continue
            found = picks.before((int(m[2]), cpu), time)
            key = found and ("p", m[2], cpu, found[0])
            if found and key not in used:
                used.add(key)
                pick(r, found[1], queue, roles, int(m[1]))
    print(f"# {prefix}{r.seen.pop('reweighted', 0)} picks were reweighted before their switch")
    compared = {kind: sum(1 for k in used if k[0] == kind) for kind in "wp"}
    tests = [(f"{compared['w']} wakeups and {compared['p']} picks were told and seen",
              compared["w"] >= 20 and compared["p"] >= 50, [])]
    tests += [(f"{rule} ({n})", rule not in r.bad,
               [f"{r.bad.get(rule, 0)} of {n} differ"] + r.example.get(rule, []))
              for rule, n in sorted(r.seen.items())]
    for i, (name, good, more) in enumerate(tests, 1):
        print(f"{'ok' if good else 'not ok'} {i} - {prefix}{name}")
        if not good:
            for line in more:
                print("# " + line[:1500])
    print(f"1..{len(tests)}")
    return 0 if all(good for _, good, _ in tests) else 1


if __name__ == "__main__":
    sys.exit(main())
