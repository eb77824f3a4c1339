# SPDX-License-Identifier: GPL-2.0-only
"""Read the text form of traces (tests/golden/README.md) in Python.

Written apart from lib/trace/text.c on purpose: a golden trace that goes through
here into a binary file and comes out the same has been read the same way twice.
"""
import re

U64_MAX = (1 << 64) - 1
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
FLAGS = {"-": 0, "d": 1, "l": 2, "N": 4, "h": 8, "s": 16, "p": 32, "z": 64, "b": 128}

# tracepoint: (system, {field: default}); REQUIRED has no default.
REQUIRED = object()
WAKE = {"comm": None, "pid": REQUIRED, "prio": None, "success": 1, "target_cpu": -1}
EVENTS = {
    "sched_switch": ("sched", {"prev_comm": None, "prev_pid": None, "prev_prio": None,
                               "prev_state": None, "next_comm": None, "next_pid": REQUIRED,
                               "next_prio": None}),
    "sched_waking": ("sched", WAKE),
    "sched_wakeup": ("sched", WAKE),
    "sched_wakeup_new": ("sched", WAKE),
    "sched_migrate_task": ("sched", {"comm": None, "pid": REQUIRED, "prio": None,
                                     "orig_cpu": REQUIRED, "dest_cpu": REQUIRED}),
    "sched_process_fork": ("sched", {"parent_pid": None, "child_comm": None,
                                     "child_pid": REQUIRED}),
    "task_newtask": ("task", {"pid": REQUIRED, "comm": None, "clone_flags": 0}),
    "sched_process_exec": ("sched", {"pid": None, "old_pid": None}),
    "sched_process_exit": ("sched", {"comm": None, "pid": None, "prio": None}),
    "task_rename": ("task", {"pid": None, "newcomm": None}),
    "sched_pi_setprio": ("sched", {"comm": None, "pid": REQUIRED, "oldprio": None,
                                   "newprio": REQUIRED}),
    "cpu_idle": ("power", {"state": REQUIRED, "cpu_id": None}),
    "irq_handler_entry": ("irq", {"irq": 0}),
    "irq_handler_exit": ("irq", {"irq": 0}),
    "softirq_entry": ("irq", {"vec": 0}),
    "softirq_exit": ("irq", {"vec": 0}),
    "ipi_entry": ("ipi", {}),
    "ipi_exit": ("ipi", {}),
    "sched_set_need_resched": ("sched", {"cpu": REQUIRED, "tif": REQUIRED}),
    "queue": ("schedlat", {"group": REQUIRED, "qcpu": REQUIRED, "nr_queued": REQUIRED,
                           "min_slice": REQUIRED, "buddy": REQUIRED, "level": 0, "flags": 0,
                           "sum_w_vruntime": 0, "sum_weight": 0, "zero_vruntime": 0}),
    "entity": ("schedlat", {"pid": REQUIRED, "group": REQUIRED, "weight": REQUIRED,
                            "slice": REQUIRED, "role": 0, "level": 0, "flags": 0, "vruntime": 0,
                            "deadline": 0, "lag_or_vprot": 0}),
    "picked_again": ("schedlat", {"pid": REQUIRED}),
    "tick": ("schedlat", {"pid": REQUIRED}),
    "schedlat:meta": ("schedlat", {"key": "", "value": ""}),
    "schedlat:task": ("schedlat", {"comm": None, "pid": REQUIRED, "tgid": None, "policy": 0,
                                   "nice": 0, "phase": 0, "detail": ""}),
}
# Decisions that the kernel tells: what a trace does not need is 0.
for name, fields in {
    "sched_wakeup_preempt": "curr_pid picked_pid best_pid nr_queued preempt why eligible flags slice "
                            "vruntime deadline curr_slice curr_vruntime curr_deadline curr_vprot "
                            "avg_vruntime best_vruntime best_deadline",
    "sched_pick_fair": "curr_pid best_pid nr_queued why eligible flags slice vruntime deadline vprot "
                       "curr_vruntime curr_deadline curr_vprot avg_vruntime best_vruntime "
                       "best_deadline",
    "sched_place_entity": "flags nr_queued rel_deadline lag placed_lag slice vslice weight "
                          "avg_vruntime vruntime deadline",
    "sched_select_task_rq_fair": "prev_cpu target_cpu wake_flags scanned scan_limit path affine why",
    "sched_cfs_throttle": "cgroup quota_ns period_ns nr_queued level",
    "sched_cfs_unthrottle": "cgroup quota_ns period_ns nr_queued level",
    "sched_energy_candidate": "util energy cost pd fits prev best",
    "sched_energy_choice": "cost prev_cost prev_cpu fits prev_fits why",
    "sched_resched_fair": "vruntime deadline vprot lazy pending site tick",
    "sched_lag_decay": "lag decayed_lag delta slept reset",
    "sched_min_slice_choice": "slice min_slice other_min_slice target_cpu other_cpu candidates site",
    "sched_push_fair": "slice min_slice dest_cpu trigger result",
}.items():
    EVENTS[name] = ("sched", {"pid": REQUIRED, "cpu": REQUIRED, **dict.fromkeys(fields.split(), 0)})
for vector in ("local_timer", "reschedule", "call_function", "call_function_single", "irq_work"):
    for end in ("entry", "exit"):
        EVENTS[f"{vector}_{end}"] = ("irq_vectors", {"vector": 0})

# words without "=": fields before "->", field behind it
POSITIONS = {
    "sched_switch": (["prev_pid"], "next_pid"),
    "sched_waking": (["pid"], None),
    "sched_wakeup": (["pid"], None),
    "sched_wakeup_new": (["pid"], None),
    "sched_migrate_task": (["pid", "orig_cpu"], "dest_cpu"),
    "sched_process_fork": (["parent_pid"], "child_pid"),
    "task_newtask": (["pid"], None),
    "sched_process_exec": (["pid"], None),
    "sched_process_exit": (["pid"], None),
    "task_rename": (["pid"], "newcomm"),
    "sched_pi_setprio": (["pid", "oldprio"], "newprio"),
    "cpu_idle": (["state"], None),
    "irq_handler_entry": (["irq"], None),
    "irq_handler_exit": (["irq"], None),
    "softirq_entry": (["vec"], None),
    "softirq_exit": (["vec"], None),
    "sched_set_need_resched": (["cpu", "tif"], None),
    "queue": (["group", "qcpu"], None),
    "entity": (["pid", "role"], None),
    "picked_again": (["pid"], None),
    "tick": (["pid"], None),
    "sched_cfs_throttle": (["cgroup", "cpu"], None),
    "sched_cfs_unthrottle": (["cgroup", "cpu"], None),
    **{name: (["pid", "cpu"], None) for name in (
        "sched_wakeup_preempt", "sched_pick_fair", "sched_place_entity",
        "sched_select_task_rq_fair", "sched_energy_candidate", "sched_energy_choice",
        "sched_resched_fair", "sched_lag_decay", "sched_min_slice_choice", "sched_push_fair")},
    "schedlat:meta": (["key", "value"], None),
    "schedlat:task": (["pid"], None),
}
ALIASES = {
    "queue": {"nr": "nr_queued", "sum": "sum_w_vruntime", "load": "sum_weight",
              "zero": "zero_vruntime"},
    "entity": {"lag": "lag_or_vprot", "vprot": "lag_or_vprot"},
    "sched_switch": {"prev": "prev_pid", "state": "prev_state", "next": "next_pid"},
    "sched_waking": {"cpu": "target_cpu"},
    "sched_wakeup": {"cpu": "target_cpu"},
    "sched_wakeup_new": {"cpu": "target_cpu"},
    "sched_process_fork": {"parent": "parent_pid", "child": "child_pid"},
    "task_newtask": {"flags": "clone_flags"},
    "cpu_idle": {"cpu": "cpu_id"},
}
STRINGS = {"comm", "prev_comm", "next_comm", "child_comm", "newcomm", "key", "value", "detail",
           "prev_state"}


class TextError(Exception):
    pass


class Event:
    def __init__(self, ts, cpu, name, system=None):
        self.ts, self.cpu, self.name, self.system = ts, cpu, name, system
        self.pid, self.flags, self.fields = 0, 0, {}

    def __repr__(self):
        return f"<{self.ts} cpu{self.cpu} pid{self.pid} {self.name} {self.fields}>"


class Trace:
    def __init__(self):
        self.clock, self.kernel, self.cpus = "mono", None, set()
        self.events, self.has = [], set()
        self.expects = []


def parse_time(text, n=0):
    base, _, step = text.partition("+")
    if step:
        if not step.endswith("*n"):
            raise TextError(f"bad sum '{text}'")
        return parse_time(base) + parse_time(step[:-2]) * n
    found = re.fullmatch(r"(\d+)(?:\.(\d*))?([a-z]*)", text)
    if not found or (found[3] or "ns") not in UNITS or (found[2] and not found[3]):
        raise TextError(f"bad time '{text}'")
    scale = UNITS[found[3] or "ns"]
    frac = (found[2] or "")[:len(str(scale)) - 1]
    return int(found[1]) * scale + (int(frac) * scale // 10**len(frac) if frac else 0)


def words(line):
    """[(key or None, bytes, quoted)] up to a comment."""
    out, text, at = [], line.encode() + b" ", 0
    while True:
        while text[at:at + 1].strip(b" \t\r") == b"" and at < len(text):
            at += 1
        if at >= len(text) or text[at:at + 1] == b"#":
            return out
        key, value, quoted = None, b"", False
        while (c := text[at:at + 1]) not in (b" ", b"\t", b"\r"):
            at += 1
            if c == b"=" and key is None and value:
                key, value = value.decode(), b""
            elif c == b'"':
                quoted = True
                end = re.compile(rb'((?:[^"\\]|\\x[0-9a-fA-F]{2}|\\["\\])*)"').match(text, at)
                if not end:
                    raise TextError("a quote is not closed, or has an unknown escape")
                value += re.sub(rb"\\(x..|.)", lambda m: bytes([int(m[1][1:], 16)])
                                if len(m[1]) == 3 else m[1], end[1])
                at = end.end()
            else:
                value += c
        out.append((key, value, quoted))


def canonical(name):
    if name in EVENTS:
        return name
    system, _, short = name.partition(":")
    if short in EVENTS and EVENTS[short][0] == system:
        return short
    raise TextError(f"unknown event '{name}'")


class Parser:
    def __init__(self):
        self.trace, self.tasks, self.running, self.last = Trace(), {}, {}, {}

    def directive(self, name, args):
        values = [value.decode("latin-1") for _, value, _ in args]
        if name == "@clock":
            self.trace.clock = values[0]
        elif name == "@kernel":
            self.trace.kernel = values[0]
        elif name == "@cpus":
            for part in values[0].split(","):
                first, _, last = part.partition("-")
                self.trace.cpus.update(range(int(first), int(last or first) + 1))
        elif name == "@task":
            pid = int(values[0])
            self.tasks[pid] = {"comm": args[1][1][:15],
                               "prio": int(values[2]) if len(values) > 2 else 120,
                               "tgid": int(values[3]) if len(values) > 3 else pid}
        elif name == "@running":
            self.running[int(values[0])] = int(values[1])
            self.trace.cpus.add(int(values[0]))
        elif name == "@has":
            self.trace.has.update(canonical(v) for v in values)
        else:
            raise TextError(f"unknown directive {name}")

    def comm(self, pid, cpu):
        if pid in self.tasks:
            return self.tasks[pid]["comm"]
        return b"" if pid else b"swapper/%d" % cpu

    def prio(self, pid):
        return self.tasks[pid]["prio"] if pid in self.tasks else 120

    def lost(self, event, args):
        event.fields = {"from": self.last.get(event.cpu, 0), "until": event.ts, "count": U64_MAX}
        for key, value, _ in args:
            value = value.decode()
            if value == "end":
                event.fields[key] = U64_MAX
            elif value != "unknown":
                event.fields[key] = parse_time(value)

    def given(self, event, args):
        fields, name = {}, event.name
        known = EVENTS[name][1]
        before, after = POSITIONS.get(name, ([], None))
        before, arrow = list(before), False
        for key, value, quoted in args:
            if key is None and value == b"->" and not quoted:
                arrow = True
                continue
            if key is None:
                if name == "sched_switch" and value[:1].isalpha():
                    key = "prev_state"
                else:
                    key = after if arrow else before.pop(0)
            key = ALIASES.get(name, {}).get(key, key)
            if key not in known:
                raise TextError(f"{name} has no field {key}")
            fields[key] = value if key in STRINGS else int(value, 0)
        return fields

    def complete(self, event, fields, explicit_pid):
        name = event.name
        if name == "sched_switch" and "prev_pid" in fields and not explicit_pid:
            event.pid = fields["prev_pid"]
        implied = {"prev_pid": event.pid, "parent_pid": event.pid, "cpu_id": event.cpu}
        if name in ("sched_process_exec", "sched_process_exit", "task_rename"):
            implied["pid"] = event.pid
        out = {}
        for field, default in EVENTS[name][1].items():
            if field in fields:
                out[field] = fields[field]
            elif default is REQUIRED:
                raise TextError(f"{name} needs {field}")
            else:
                out[field] = implied.get(field, default)
        pid = out.get("pid")
        for field in out:
            if out[field] is not None:
                continue
            owner = {"prev": out.get("prev_pid"), "next": out.get("next_pid"),
                     "child": out.get("child_pid")}.get(field.split("_")[0], pid)
            if field == "prev_state":
                if out["prev_pid"]:
                    raise TextError("sched_switch needs a state")
                out[field] = b"R"
            elif field == "child_comm" and owner not in self.tasks:
                out[field] = self.comm(out["parent_pid"], event.cpu)
            elif field.endswith("comm"):
                out[field] = self.comm(owner, event.cpu)
            elif field in ("oldprio", "prio", "prev_prio", "next_prio"):
                out[field] = self.prio(owner)
            elif field == "old_pid":
                out[field] = pid
            elif field == "tgid":
                out[field] = self.tasks[pid]["tgid"] if pid in self.tasks else -1
            else:
                raise TextError(f"{name}: no default for {field}")
        for field in ("comm", "prev_comm", "next_comm", "child_comm", "newcomm"):
            if field in out:
                out[field] = out[field][:15]
        event.fields = out

    def event(self, ts, cpu_text, args):
        cpu, *rest = cpu_text.split("/")
        event = Event(ts, int(cpu), args[0][1].decode())
        explicit = bool(rest and rest[0])
        event.pid = int(rest[0]) if explicit else self.running.get(event.cpu, 0)
        for letter in rest[1] if len(rest) > 1 else "":
            event.flags |= FLAGS[letter]
        if event.name == "lost":
            self.lost(event, args[1:])
            return event
        event.name = canonical(event.name)
        event.system = EVENTS[event.name][0]
        self.complete(event, self.given(event, args[1:]), explicit)
        self.last[event.cpu] = ts
        fields = event.fields
        if event.name == "sched_switch":
            self.running[event.cpu] = fields["next_pid"]
        if event.name == "task_rename" and fields["pid"] in self.tasks:
            self.tasks[fields["pid"]]["comm"] = fields["newcomm"]
        if event.name == "sched_pi_setprio" and fields["pid"] in self.tasks:
            self.tasks[fields["pid"]]["prio"] = fields["newprio"]
        return event


def read(path):
    """A Trace of the file, its events in time order. TextError names the line."""
    parser, lines, repeat = Parser(), [], None
    number = 0
    try:
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            parts = words(line.rstrip("\n"))
            if not parts:
                continue
            first = parts[0][1].decode()
            if first == "@repeat":
                repeat = (int(parts[1][1]), parse_time(parts[2][1].decode()), [])
            elif first == "@end":
                count, step, body = repeat
                repeat = None
                for n in range(count):
                    for body_number, body_parts in body:
                        ts = parse_time(body_parts[0][1].decode(), n) + n * step
                        lines.append((ts, body_number, body_parts))
            elif first.startswith("@"):
                parser.directive(first, parts[1:])
            elif repeat:
                repeat[2].append((number, parts))
            else:
                lines.append((parse_time(first), number, parts))
        keyed = [(ts, int(parts[1][1].split(b"/")[0]), i, number, parts)
                 for i, (ts, number, parts) in enumerate(lines)]
        for ts, cpu, _, number, parts in sorted(keyed, key=lambda k: k[:3]):
            parser.trace.cpus.add(cpu)
            parser.trace.events.append(parser.event(ts, parts[1][1].decode(), parts[2:]))
    except (TextError, ValueError, KeyError, IndexError, TypeError) as why:
        raise TextError(f"{path}:{number}: {why}") from why
    trace = parser.trace
    trace.has.update(e.name for e in trace.events if e.name != "lost")
    return trace
