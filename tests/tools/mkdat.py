#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Turn a text trace into a trace.dat of any shape a kernel or trace-cmd has written.

    mkdat.py IN.txt OUT.dat [options]      see --help
    mkdat.py --variants                    names of the ready-made shapes
    mkdat.py IN.txt OUT.dat --as v7-zstd   one of them

Written from trace-cmd.dat(5) and from the ring buffer's own description of itself
(events/header_page, events/header_event), sharing no code with the reader.
"""
import argparse
import shutil
import struct
import subprocess
import sys
import zlib

import sltext

MISSED_EVENTS = 1 << 31
MISSED_STORED = 1 << 30
TYPE_PADDING, TYPE_TIME_EXTEND, TYPE_TIME_STAMP = 29, 30, 31
DELTA_BITS = 27

# Each shape sets options that differ from the default; the golden runner rotates through them.
VARIANTS = {
    "v6": {},
    "v7": {"version": 7},
    "v7-zlib": {"version": 7, "compress": "zlib"},
    "v7-zstd": {"version": 7, "compress": "zstd", "per_page": 2},
    "v6-big": {"endian": "big"},
    "v7-big-zlib": {"version": 7, "endian": "big", "compress": "zlib"},
    "v6-32bit": {"long": 4},
    "v7-big-32bit": {"version": 7, "endian": "big", "long": 4},
    "v6-64k-pages": {"page": 65536},
    "v7-16k-pages": {"version": 7, "page": 16384, "per_page": 3},
    "v6-old-kernel": {"formats": "old"},
    "v7-rt-kernel": {"version": 7, "formats": "rt"},
    "v6-per-page": {"per_page": 1},
    "v7-padding": {"version": 7, "padding": True, "per_page": 4},
    "v6-time-extend": {"stamps": "extend"},
    "v7-absolute": {"version": 7, "stamps": "absolute", "per_page": 3},
    "v6-big-absolute": {"endian": "big", "stamps": "absolute"},
    "v6-unknown": {"unknown": True},
    "v7-instances": {"version": 7, "instances": True},
    "v6-instances": {"instances": True},
}


class Shape:
    """The options of one file."""

    def __init__(self, version=6, compress="none", endian="little", long=8, page=4096,
                 formats="new", per_page=0, padding=False, stamps="delta", unknown=False,
                 instances=False, backwards=False, truncate=None, version_text=None,
                 codec_text=None, only=None):
        self.version, self.compress, self.endian, self.long = version, compress, endian, long
        self.page, self.formats, self.per_page, self.padding = page, formats, per_page, padding
        self.stamps, self.unknown, self.instances = stamps, unknown, instances
        self.backwards, self.truncate = backwards, truncate
        self.version_text, self.codec_text, self.only = version_text, codec_text, only
        self.order = "<" if endian == "little" else ">"

    def pack(self, code, *values):
        return struct.pack(self.order + code, *values)

    def long_code(self):
        return "Q" if self.long == 8 else "I"


# ---- event formats ----------------------------------------------------------------------------

NEW_STATES = [(1, "S"), (2, "D"), (4, "T"), (8, "t"), (0x10, "X"), (0x20, "Z"), (0x40, "P"),
              (0x80, "I")]
OLD_STATES = [(1, "S"), (2, "D"), (4, "T"), (8, "t"), (16, "Z"), (32, "X"), (64, "x"), (128, "K"),
              (256, "W"), (512, "P")]
STATE_PREEMPTED = {"new": 0x100, "rt": 0x100, "old": 1024}


def states_of(shape):
    return OLD_STATES if shape.formats == "old" else NEW_STATES


def switch_print_fmt(shape):
    top = STATE_PREEMPTED[shape.formats]
    if shape.formats == "old":
        mask, flag = "(1024-1)", "1024"
    else:
        most = " | ".join("0x%08x" % bit for bit in [0] + [b for b, _ in NEW_STATES[:-1]])
        mask, flag = f"(((({most}) + 1) << 1) - 1)", f"((({most}) + 1) << 1)"
    table = ", ".join("{ %s, \"%s\" }" % ("0x%08x" % bit if top == 0x100 else bit, letter)
                      for bit, letter in states_of(shape))
    return ('"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d '
            'next_prio=%d", ' + ("__get_str(prev_comm)" if shape.formats == "rt" else "REC->prev_comm") +
            f', REC->prev_pid, REC->prev_prio, (REC->prev_state & {mask}) ? '
            f'__print_flags(REC->prev_state & {mask}, "|", {table}) : "R", '
            f'REC->prev_state & {flag} ? "+" : "", ' +
            ("__get_str(next_comm)" if shape.formats == "rt" else "REC->next_comm") +
            ', REC->next_pid, REC->next_prio')


COMM, LOC, INT, PID, LONG, U32, U64, S64, BOOL, U8, SHORT = (
    "comm", "loc", "int", "pid_t", "long", "u32", "u64", "s64", "bool", "u8", "short")
WAKE = [(COMM, "comm"), (PID, "pid"), (INT, "prio"), (INT, "success"), (INT, "target_cpu")]
CFS = [(U64, "cgroup"), (U64, "quota_ns"), (U64, "period_ns"), (S64, "runtime_left_ns"),
       (INT, "cpu"), (U32, "nr_queued"), (U32, "level"), (PID, "pid")]
# Fields as kernels order them. Those our events do not have are filled with 0 or "".
LAYOUTS = {
    "sched_switch": [(COMM, "prev_comm"), (PID, "prev_pid"), (INT, "prev_prio"),
                     (LONG, "prev_state"), (COMM, "next_comm"), (PID, "next_pid"),
                     (INT, "next_prio")],
    "sched_waking": WAKE, "sched_wakeup": WAKE, "sched_wakeup_new": WAKE,
    "sched_migrate_task": [(LOC, "comm"), (PID, "pid"), (INT, "prio"), (INT, "orig_cpu"),
                           (INT, "dest_cpu")],
    "sched_process_fork": [(LOC, "parent_comm"), (PID, "parent_pid"), (LOC, "child_comm"),
                           (PID, "child_pid")],
    "task_newtask": [(PID, "pid"), (COMM, "comm"), (U64, "clone_flags"), (SHORT, "oom_score_adj")],
    "sched_process_exec": [(LOC, "filename"), (PID, "pid"), (PID, "old_pid")],
    "sched_process_exit": [(COMM, "comm"), (PID, "pid"), (INT, "prio"), (BOOL, "group_dead")],
    "task_rename": [(PID, "pid"), (COMM, "oldcomm"), (COMM, "newcomm"), (SHORT, "oom_score_adj")],
    "sched_pi_setprio": [(LOC, "comm"), (PID, "pid"), (INT, "oldprio"), (INT, "newprio")],
    "cpu_idle": [(U32, "state"), (U32, "cpu_id")],
    "irq_handler_entry": [(INT, "irq"), (LOC, "name")],
    "irq_handler_exit": [(INT, "irq"), (INT, "ret")],
    "softirq_entry": [(U32, "vec")], "softirq_exit": [(U32, "vec")],
    "ipi_entry": [(LOC, "reason")], "ipi_exit": [(LOC, "reason")],
    "sched_set_need_resched": [(INT, "cpu"), (INT, "tif")],
    "queue": [(INT, "group"), (INT, "qcpu"), (INT, "nr_queued"), (INT, "min_slice"),
              (INT, "buddy"), (SHORT, "level"), (SHORT, "flags"), (U64, "sum_w_vruntime"),
              (U64, "sum_weight"), (U64, "zero_vruntime")],
    "entity": [(INT, "pid"), (INT, "group"), (INT, "weight"), (INT, "slice"), (SHORT, "role"),
               (SHORT, "level"), (SHORT, "flags"), (U64, "vruntime"), (U64, "deadline"),
               (U64, "lag_or_vprot")],
    "picked_again": [(INT, "pid")], "tick": [(INT, "pid")],
    "sched_wakeup_preempt": [(COMM, "comm"), (PID, "pid"), (PID, "curr_pid"), (PID, "picked_pid"),
                             (INT, "cpu"), (U32, "nr_queued"), (U8, "preempt"),
                             (U8, "why"), (U8, "eligible"), (U8, "flags"), (U64, "slice"),
                             (U64, "vruntime"), (U64, "deadline"), (U64, "curr_slice"),
                             (U64, "curr_vruntime"), (U64, "curr_deadline"), (U64, "curr_vprot"),
                             (U64, "avg_vruntime"), (U64, "best_vruntime"),
                             (U64, "best_deadline"), (PID, "best_pid")],
    "sched_pick_fair": [(COMM, "comm"), (PID, "pid"), (PID, "curr_pid"), (INT, "cpu"),
                        (U32, "nr_queued"), (U64, "slice"), (U64, "vruntime"), (U64, "deadline"),
                        (U64, "vprot"), (U64, "curr_vruntime"), (U64, "curr_deadline"),
                        (U64, "curr_vprot"), (U64, "avg_vruntime"), (U64, "best_vruntime"),
                        (U64, "best_deadline"), (PID, "best_pid"), (U8, "why"), (U8, "eligible"),
                        (U8, "flags")],
    "sched_place_entity": [(COMM, "comm"), (PID, "pid"), (INT, "cpu"), (INT, "flags"),
                           (U32, "nr_queued"), (S64, "lag"), (S64, "placed_lag"), (U64, "slice"),
                           (U64, "vslice"), (U64, "weight"), (U64, "avg_vruntime"),
                           (U64, "vruntime"), (U64, "deadline"), (U8, "rel_deadline")],
    "sched_select_task_rq_fair": [(COMM, "comm"), (PID, "pid"), (INT, "prev_cpu"),
                                  (INT, "target_cpu"), (INT, "cpu"), (INT, "wake_flags"),
                                  (INT, "scanned"), (INT, "scan_limit"), (U8, "path"),
                                  (U8, "affine"), (U8, "why")],
    "sched_cfs_throttle": CFS, "sched_cfs_unthrottle": CFS,
    "sched_energy_candidate": [(COMM, "comm"), (PID, "pid"), (INT, "pd"), (INT, "cpu"),
                               (INT, "fits"), (U64, "util"), (U64, "spare"), (U64, "base_energy"),
                               (U64, "energy"), (U64, "cost"), (U8, "prev"), (U8, "best"),
                               (U8, "at_once"), (U32, "nr_running"), (U64, "slice"),
                               (U64, "min_slice")],
    "sched_energy_choice": [(COMM, "comm"), (PID, "pid"), (INT, "prev_cpu"), (INT, "cpu"),
                            (INT, "fits"), (U64, "cost"), (U64, "prev_cost"), (INT, "prev_fits"),
                            (U8, "why")],
    "sched_resched_fair": [(COMM, "comm"), (PID, "pid"), (INT, "cpu"), (U8, "lazy"),
                           (U8, "pending"), (U8, "site"), (U8, "tick"), (U64, "vruntime"),
                           (U64, "deadline"), (U64, "vprot")],
    "sched_lag_decay": [(COMM, "comm"), (PID, "pid"), (INT, "cpu"), (S64, "lag"),
                        (S64, "decayed_lag"), (S64, "delta"), (U64, "slept"), (U8, "reset")],
    "sched_min_slice_choice": [(COMM, "comm"), (PID, "pid"), (INT, "target_cpu"), (INT, "cpu"),
                               (INT, "other_cpu"), (U64, "slice"), (U64, "min_slice"),
                               (U64, "other_min_slice"), (U32, "candidates"), (U8, "site")],
    "sched_push_fair": [(COMM, "comm"), (PID, "pid"), (INT, "cpu"), (INT, "dest_cpu"),
                        (U8, "trigger"), (U8, "result"), (U64, "slice"), (U64, "min_slice")],
    "schedlat:meta": [(LOC, "key"), (LOC, "value")],
    "schedlat:task": [(COMM, "comm"), (INT, "pid"), (INT, "tgid"), (INT, "policy"), (INT, "nice"),
                      (INT, "phase"), (LOC, "detail")],
}
C_TYPES = {INT: "int", PID: "pid_t", LONG: "long", U32: "u32", U64: "u64", S64: "s64",
           BOOL: "bool", U8: "u8", SHORT: "short"}
UNRELATED = ("other", "broken_event", 61000)	# described, but its print fmt is nonsense
UNDESCRIBED_ID = 62000


class Format:
    """One tracepoint as this kernel describes and writes it."""

    def __init__(self, shape, name, event_id, without=()):
        self.shape, self.id = shape, event_id
        self.system = sltext.EVENTS[name][0]
        self.name = name.split(":")[-1]
        self.fields, at = [], 8
        if shape.formats == "rt":	# PREEMPT_RT kernels of the 5.x series had two more
            at = 10
        layout = LAYOUTS.get(name, [(INT, "vector")])
        for kind, field in layout:
            if field in without:
                continue
            if shape.formats == "rt" and kind == COMM and self.system == "sched":
                kind = LOC
            size = {COMM: 16, LOC: 4, INT: 4, PID: 4, LONG: shape.long, U32: 4, U64: 8, S64: 8,
                    BOOL: 1, U8: 1, SHORT: 2}[kind]
            align = 1 if kind == COMM else size
            at = (at + align - 1) // align * align
            self.fields.append((kind, field, at, size))
            at += size
        self.size = at

    def text(self):
        common = [("unsigned short", "common_type", 0, 2, 0), ("unsigned char", "common_flags", 2, 1, 0),
                  ("unsigned char", "common_preempt_count", 3, 1, 0), ("int", "common_pid", 4, 4, 1)]
        if self.shape.formats == "rt":
            common += [("unsigned char", "common_migrate_disable", 8, 1, 0),
                       ("unsigned char", "common_preempt_lazy_count", 9, 1, 0)]
        lines = [f"name: {self.name}", f"ID: {self.id}", "format:"]
        lines += [f"\tfield:{t} {n};\toffset:{o};\tsize:{s};\tsigned:{g};" for t, n, o, s, g in common]
        lines.append("")
        args, spec = [], []
        for kind, field, at, size in self.fields:
            if kind == COMM:
                decl, signed = f"char {field}[16]", 0
            elif kind == LOC:
                decl, signed = f"__data_loc char[] {field}", 0
            else:
                decl, signed = f"{C_TYPES[kind]} {field}", int(kind in (INT, PID, LONG, S64, SHORT))
            lines.append(f"\tfield:{decl};\toffset:{at};\tsize:{size};\tsigned:{signed};")
            args.append(f"__get_str({field})" if kind == LOC else f"REC->{field}")
            spec.append(f"{field}=" + ("%s" if kind in (COMM, LOC) else "%d"))
        fmt = switch_print_fmt(self.shape) if self.name == "sched_switch" else \
            ", ".join(['"' + " ".join(spec) + '"'] + args)
        lines += ["", f"print fmt: {fmt}", ""]
        return "\n".join(lines).encode()

    def state(self, text):
        value = 0
        for bit, letter in states_of(self.shape):
            if letter == text[0]:
                value = bit
        if not value and text[0] != "R":
            raise sltext.TextError(f"state {text} does not exist in {self.shape.formats} kernels")
        return value | (STATE_PREEMPTED[self.shape.formats] if text[1:] == "+" else 0)

    def record(self, event):
        shape = self.shape
        out = bytearray(self.size)
        out[0:8] = shape.pack("HBBi", self.id, event.flags, 0, event.pid)
        for kind, field, at, size in self.fields:
            value = event.fields.get(field, b"" if kind in (COMM, LOC) else 0)
            if isinstance(value, str):
                value = value.encode()
            if kind == COMM:
                out[at:at + 16] = value[:15].ljust(16, b"\0")
                continue
            if kind == LOC:		# "offset of the bytes" and their length with the NUL
                out[at:at + 4] = shape.pack("I", len(out) | (len(value) + 1) << 16)
                out += value + b"\0"
                continue
            if field == "prev_state":
                value = self.state(value.decode())
            code = {1: "B", 2: "H", 4: "I", 8: "Q"}[size]
            out[at:at + size] = shape.pack(code, value & ((1 << 8 * size) - 1))
        return bytes(out)


def formats_of(shape, trace):
    """name -> Format. Optional fields exist only where the trace's kernel generation has them."""
    out = {}
    for i, name in enumerate(sorted(trace.has)):
        without = set()
        used = [e.fields for e in trace.events if e.name == name]
        if LAYOUTS.get(name) is WAKE:
            if shape.formats != "old" and all(f["success"] == 1 for f in used):
                without.add("success")
            if shape.formats == "old" and all(f["target_cpu"] == -1 for f in used):
                without.add("target_cpu")
        out[name] = Format(shape, name, 300 + (i * 7) % 101, without)
    return out


# ---- ring-buffer pages ------------------------------------------------------------------------

def entry_head(shape, type_len, delta):
    """The first 32 bits: two bit-fields, laid out from the low bits (little) or the high ones."""
    if shape.endian == "little":
        return shape.pack("I", type_len | delta << 5)
    return shape.pack("I", type_len << DELTA_BITS | delta)


class PageWriter:
    """One CPU's sub-buffers."""

    def __init__(self, shape):
        self.shape = shape
        self.head = 8 + shape.long
        self.pages, self.data, self.start, self.last, self.count = [], None, 0, 0, 0
        self.missed = None		# None, or a count (U64_MAX: unknown) for the next page

    def close(self):
        if self.data is None:
            return
        commit = len(self.data)
        room = self.shape.page - self.head - commit
        tail = b""
        if self.page_missed is not None:
            commit |= MISSED_EVENTS
            if self.page_missed != sltext.U64_MAX and room >= self.shape.long:
                commit |= MISSED_STORED
                tail = self.shape.pack(self.shape.long_code(), self.page_missed)
        page = self.shape.pack("Q", self.start) + \
            self.shape.pack(self.shape.long_code(), commit) + self.data + tail
        if self.page_missed is None and room >= 8 and len(self.pages) % 2:
            # Kernels leave the rest of a page as it was: it must not be read.
            page += entry_head(self.shape, 0, 77) + b"\xff" * 4
        self.pages.append(page.ljust(self.shape.page, b"\0"))
        self.data = None

    def open(self, ts):
        self.close()
        self.data, self.start, self.last, self.count = b"", ts, ts, 0
        self.page_missed, self.missed = self.missed, None

    def stamp(self, ts):
        """Entries that carry the time from self.last to ts, and the delta left for the event."""
        shape, delta = self.shape, ts - self.last
        if shape.stamps == "absolute":
            low = ts & ((1 << 59) - 1)
            return entry_head(shape, TYPE_TIME_STAMP, low & ((1 << DELTA_BITS) - 1)) + \
                shape.pack("I", low >> DELTA_BITS), 0
        if shape.stamps == "extend" or delta >= 1 << DELTA_BITS:
            return entry_head(shape, TYPE_TIME_EXTEND, delta & ((1 << DELTA_BITS) - 1)) + \
                shape.pack("I", delta >> DELTA_BITS), 0
        return b"", delta

    def discarded(self):
        """An event that its writer gave up: skipped by length. Its delta is never 0."""
        return entry_head(self.shape, TYPE_PADDING, 1) + self.shape.pack("I", 8) + b"\xee" * 4

    def entry(self, payload, delta):
        payload = payload.ljust((len(payload) + 3) // 4 * 4, b"\0")
        if len(payload) <= 28 * 4 and len(payload):
            return entry_head(self.shape, len(payload) // 4, delta) + payload
        return entry_head(self.shape, 0, delta) + self.shape.pack("I", len(payload) + 4) + payload

    def add(self, ts, payload):
        shape = self.shape
        full = shape.per_page and self.count >= shape.per_page
        if self.data is None or self.missed is not None or full or ts < self.last or \
           (ts - self.last) >> 59:
            self.open(ts)
        for _ in range(2):
            before, delta = self.stamp(ts)
            entry = self.entry(payload, delta)
            extra = self.discarded() if shape.padding and self.count % 2 and delta > 1 else b""
            if extra:
                entry = self.entry(payload, delta - 1)
            if len(self.data) + len(before) + len(entry) + len(extra) + 2 * shape.long + self.head \
               <= shape.page:
                break
            self.open(ts)
        else:
            raise sltext.TextError("an event does not fit a page")
        self.data += extra + before + entry
        self.last = ts
        self.count += 1

    def finish(self):
        self.close()
        return b"".join(self.pages)


def header_page_text(shape):
    head = 8 + shape.long
    return (f"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
            f"\tfield: local_t commit;\toffset:8;\tsize:{shape.long};\tsigned:1;\n"
            f"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
            f"\tfield: char data;\toffset:{head};\tsize:{shape.page - head};\tsigned:0;\n").encode()


HEADER_EVENT = (b"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
                b"\tarray       :   32 bits\n\n\tpadding     : type == 29\n"
                b"\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n")


def second_instance(trace, event):
    """Events that a second instance may hold: not scheduling, and no tie on its CPU."""
    same = sum(1 for e in trace.events if e.cpu == event.cpu and e.ts == event.ts)
    return event.system not in ("sched", "schedlat", "task", None) and same == 1


def cpu_data(shape, trace, formats, instance=0):
    """cpu -> bytes of one buffer instance."""
    writers = {cpu: PageWriter(shape) for cpu in sorted(trace.cpus)}
    junk = 0
    for event in trace.events:
        writer = writers[event.cpu]
        if shape.instances and (instance == 1) != second_instance(trace, event):
            continue
        if event.name == "lost":
            writer.missed = event.fields["count"]
            continue
        if shape.unknown and writer.count % 2:
            event_id = UNRELATED[2] if junk % 2 else UNDESCRIBED_ID
            writer.add(event.ts, shape.pack("HBBi", event_id, 0, 0, event.pid) + b"\xff" * 12)
            junk += 1
        writer.add(event.ts, formats[event.name].record(event))
    out = {cpu: writer.finish() for cpu, writer in writers.items()}
    if shape.backwards:		# the last page of each CPU claims to be 1 us older
        for cpu, data in out.items():
            if len(data) >= 2 * shape.page:
                at = len(data) - shape.page
                start, = struct.unpack_from(shape.order + "Q", data, at)
                out[cpu] = data[:at] + shape.pack("Q", start - shape.backwards) + data[at + 8:]
    return out


# ---- the file ---------------------------------------------------------------------------------

def compress(shape, data):
    if shape.compress == "zlib":
        return zlib.compress(data)
    if not shutil.which("zstd"):
        raise sltext.TextError("the zstd program is missing")
    return subprocess.run(["zstd", "-q", "-c", "--no-check"], input=data, stdout=subprocess.PIPE,
                          check=True).stdout


def counted(shape, code, items):
    return shape.pack(code, len(items)) + b"".join(items)


def blob(shape, code, data):
    return shape.pack(code, len(data)) + data


def header_info(shape):
    page = header_page_text(shape)
    return b"header_page\0" + blob(shape, "Q", page) + b"header_event\0" + blob(shape, "Q", HEADER_EVENT)


def event_formats(shape, formats):
    systems = {}
    for fmt in formats.values():
        systems.setdefault(fmt.system, []).append(fmt.text())
    if shape.unknown:
        other = Format(shape, "irq_handler_entry", UNRELATED[2])
        other.system, other.name = UNRELATED[0], UNRELATED[1]
        text = other.text()
        at = text.index(b"print fmt:")
        systems["other"] = [text[:at] + b'print fmt: "%s ((", REC->nothing ? {{ : __secret(\n']
    return counted(shape, "I", [name.encode() + b"\0" +
                                counted(shape, "I", [blob(shape, "Q", text) for text in texts])
                                for name, texts in sorted(systems.items())])


def cmdlines(trace):
    names = {e.fields["next_pid"]: e.fields["next_comm"] for e in trace.events
             if e.name == "sched_switch"}
    return b"".join(b"%d %s\n" % (pid, comm) for pid, comm in sorted(names.items())
                    if comm.isascii() and comm.decode("ascii").isprintable())


def clock_text(trace):
    clocks = ["local", "global", "counter", "uptime", "perf", "mono", "mono_raw", "boot", "tai"]
    return " ".join(f"[{c}]" if c == trace.clock else c for c in clocks).encode() + b"\0"


def common_options(shape, trace):
    out = []
    if shape.version == 6 and trace.clock != "unknown":
        out.append((4, clock_text(trace)))
    if trace.kernel:
        out.append((5, f"Linux golden {trace.kernel} #1 SMP x86_64\0".encode()))
    return out


def option(shape, option_id, data):
    return shape.pack("HI", option_id, len(data)) + data


def align(data, page):
    return data.ljust((len(data) + page - 1) // page * page, b"\0")


def instances_of(shape, trace, formats):
    out = [(b"", cpu_data(shape, trace, formats))]
    if shape.instances:
        out.append((b"second", cpu_data(shape, trace, formats, 1)))
    return out


def start_of_file(shape):
    version = shape.version_text or str(shape.version)
    return b"\x17\x08\x44tracing" + version.encode() + b"\0" + \
        bytes([shape.endian == "big", shape.long]) + shape.pack("I", shape.page)


def file_v6(shape, trace, formats):
    instances = instances_of(shape, trace, formats)
    nr_cpus = max(trace.cpus) + 1
    head = start_of_file(shape) + header_info(shape) + shape.pack("I", 0) + \
        event_formats(shape, formats) + shape.pack("I", 0) + shape.pack("I", 0) + \
        blob(shape, "Q", cmdlines(trace)) + shape.pack("I", nr_cpus) + b"options  \0"
    # Two passes: offsets are known once the length of the head is.
    offsets = [0] * len(instances)
    for _ in range(2):
        out = head
        for option_id, data in common_options(shape, trace):
            out += option(shape, option_id, data)
        for i, (name, _) in enumerate(instances[1:], 1):
            out += option(shape, 3, shape.pack("Q", offsets[i]) + name + b"\0")
        out += shape.pack("H", 0)
        for i, (_, cpus) in enumerate(instances):
            offsets[i] = len(out)
            table_end = len(out) + 10 + 16 * nr_cpus + 8 + len(clock_text(trace))
            at, table, body = len(align(bytes(table_end), shape.page)), b"", b""
            for cpu in range(nr_cpus):
                data = cpus.get(cpu, b"")
                table += shape.pack("QQ", at, len(data))
                body += data
                at += len(data)
            # What the option announces follows the first table, with its length.
            if i == 0 and trace.clock != "unknown":
                table += blob(shape, "Q", clock_text(trace))
            out = align(out + b"flyrecord\0" + table, shape.page) + body
    return out


class SectionWriter:
    """Version 7: sections anywhere, found through options."""

    def __init__(self, shape):
        self.shape = shape
        codec = shape.codec_text or shape.compress
        self.out = start_of_file(shape) + codec.encode() + b"\0" + \
            (b"" if codec == "none" else b"1.0") + b"\0"
        self.first_options = len(self.out)
        self.out += shape.pack("Q", 0)
        self.options = []

    def section(self, section_id, data):
        flags = 0
        if self.shape.compress != "none":
            packed = compress(self.shape, data)
            data, flags = self.shape.pack("II", len(packed), len(data)) + packed, 1
        self.options.append((section_id, self.shape.pack("Q", len(self.out))))
        self.out += self.shape.pack("HHIQ", section_id, flags, 0, len(data)) + data

    def buffer(self, name, clock, cpus):
        shape = self.shape
        start, compressed = len(self.out), shape.compress != "none"
        table, body = [], b""
        at = start + 16 if compressed else len(align(bytes(start + 16), shape.page))
        body_start = at
        for cpu, data in sorted(cpus.items()):
            if compressed and data:
                half = (len(data) // shape.page + 1) // 2 * shape.page
                chunks = [c for c in (data[:half], data[half:]) if c]
                data = counted(shape, "I", [shape.pack("II", len(p), len(c)) + p for c, p in
                                            ((c, compress(shape, c)) for c in chunks)])
            table.append(shape.pack("IQQ", cpu, at, len(data)))
            body += data
            at += len(data)
        self.options.append((3, shape.pack("Q", start) + name + b"\0" + clock.encode() + b"\0" +
                             shape.pack("I", shape.page) + counted(shape, "I", table)))
        size = at - start - 16
        self.out += shape.pack("HHIQ", 3, int(compressed), 0, size)
        self.out = self.out.ljust(body_start, b"\0") + body

    def finish(self):
        shape = self.shape
        body = b"".join(option(shape, i, d) for i, d in self.options) + \
            option(shape, 0, shape.pack("Q", 0))
        where = len(self.out)
        self.out += shape.pack("HHIQ", 0, 0, 0, len(body)) + body
        return self.out[:self.first_options] + shape.pack("Q", where) + \
            self.out[self.first_options + 8:]


def file_v7(shape, trace, formats):
    writer = SectionWriter(shape)
    writer.options += common_options(shape, trace)
    writer.section(16, header_info(shape))
    writer.section(17, shape.pack("I", 0))
    writer.section(18, event_formats(shape, formats))
    writer.section(19, shape.pack("I", 0))
    writer.section(20, shape.pack("I", 0))
    writer.section(21, blob(shape, "Q", cmdlines(trace)))
    for name, cpus in instances_of(shape, trace, formats):
        writer.buffer(name, trace.clock, cpus)
    return writer.finish()


def make(trace, shape):
    """The bytes of a trace.dat."""
    formats = formats_of(shape, trace)
    if shape.only:
        formats = {n: f for n, f in formats.items() if n in shape.only}
        trace.events = [e for e in trace.events if e.name in shape.only]
    data = (file_v7 if shape.version == 7 else file_v6)(shape, trace, formats)
    return data if shape.truncate is None else data[:shape.truncate]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    ap.add_argument("input", nargs="?")
    ap.add_argument("output", nargs="?")
    ap.add_argument("--variants", action="store_true", help="list the names for --as")
    ap.add_argument("--as", dest="variant", choices=VARIANTS, metavar="VARIANT")
    ap.add_argument("--version", type=int, choices=(6, 7))
    ap.add_argument("--compress", choices=("none", "zlib", "zstd"), help="version 7 only")
    ap.add_argument("--endian", choices=("little", "big"))
    ap.add_argument("--long", type=int, choices=(4, 8), help="bytes of a long")
    ap.add_argument("--page", type=int, help="bytes of a sub-buffer")
    ap.add_argument("--formats", choices=("new", "old", "rt"), help="kernel generation")
    ap.add_argument("--per-page", type=int, help="at most that many events per sub-buffer")
    ap.add_argument("--padding", action="store_true", default=None, help="discarded events")
    ap.add_argument("--stamps", choices=("delta", "extend", "absolute"))
    ap.add_argument("--unknown", action="store_true", default=None,
                    help="records without a description, and one whose print fmt is broken")
    ap.add_argument("--instances", action="store_true", default=None,
                    help="interrupt and idle events in a second buffer instance")
    ap.add_argument("--backwards", type=int, metavar="NS",
                    help="the last page of each CPU starts that much earlier than it should")
    ap.add_argument("--truncate", type=int, metavar="BYTES")
    ap.add_argument("--version-text", help="write another version string")
    ap.add_argument("--codec-text", help="write another compression name")
    ap.add_argument("--only", nargs="+", metavar="EVENT", help="leave all other events out")
    args = vars(ap.parse_args())
    if args.pop("variants"):
        print("\n".join(VARIANTS))
        return 0
    source, target, variant = args.pop("input"), args.pop("output"), args.pop("variant")
    if not source or not target:
        ap.error("IN.txt and OUT.dat are needed")
    options = dict(VARIANTS[variant]) if variant else {}
    options.update({k: v for k, v in args.items() if v is not None})
    try:
        data = make(sltext.read(source), Shape(**options))
    except sltext.TextError as why:
        print(f"mkdat.py: {why}", file=sys.stderr)
        return 1
    with open(target, "wb") as out:
        out.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
