# SPDX-License-Identifier: GPL-2.0-only
"""Read a Perfetto trace, as far as perfetto.proto beside this file describes it.

read() checks what a viewer relies on while it reads: known fields of the right type, names
that were interned before, slices that nest, tracks that are described. What it finds wrong
is in Trace.problems.
"""
import pathlib
import re

SCHEMA = pathlib.Path(__file__).with_suffix(".proto")
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
SCALARS = {"uint64", "int64", "uint32", "int32", "bool"}


def schema():
    """message -> {number: (name, type, repeated)}"""
    messages, fields = {}, None
    for line in SCHEMA.read_text().splitlines():
        found = re.match(r"message (\w+)", line)
        if found:
            fields = messages.setdefault(found.group(1), {})
        found = re.match(r"\s+(optional|repeated) (\w+) (\w+) = (\d+);", line)
        if found:
            many, kind, name, number = found.groups()
            fields[int(number)] = (name, kind, many == "repeated")
    return messages


MESSAGES = schema()


class Malformed(Exception):
    """The bytes are no message."""


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Malformed(f"varint at byte {at}")
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value & (1 << 64) - 1, at


def decode(kind, data):
    """A message as a dict; a field that is not in the schema is an error."""
    message, at, known = {}, 0, MESSAGES[kind]
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number not in known:
            raise Malformed(f"{kind} has no field {number}")
        name, of, many = known[number]
        want = 0 if of in SCALARS else 1 if of == "fixed64" else 2
        if wire != want:
            raise Malformed(f"{kind}.{name}: wire type {wire}, not {want}")
        if wire == 0:
            value, at = varint(data, at)
            if of in ("int32", "int64") and value >> 63:
                value -= 1 << 64
        elif wire == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            size, at = varint(data, at)
            if at + size > len(data):
                raise Malformed(f"{kind}.{name}: {size} bytes do not fit")
            value, at = data[at:at + size], at + size
            value = value.decode() if of == "string" else decode(of, value)
        if many:
            message.setdefault(name, []).append(value)
        elif name in message:
            raise Malformed(f"{kind}.{name} occurs twice")
        else:
            message[name] = value
    return message


class Slice:
    """Of one track: name, when, its notes, and what lies in it."""

    def __init__(self, name, start, notes, event):
        self.name, self.start, self.notes = name, start, notes
        self.ends_flows = event.get("terminating_flow_ids", [])
        self.starts_flows = event.get("flow_ids", [])
        self.end, self.children = None, []

    @property
    def length(self):
        return self.end - self.start


class Track:
    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.name = descriptor.get("name")
        self.thread = descriptor.get("thread")
        self.events = []            # (time, order, event)
        self.slices, self.instants, self.values = [], [], []


class Trace:
    def __init__(self):
        self.tracks, self.problems = {}, []
        self.switches, self.wakings = [], []        # (cpu, event)
        self.processes, self.threads, self.release = {}, {}, None

    def named(self, name):
        return [t for t in self.tracks.values() if t.name == name]

    def of_thread(self, tid):
        """The track of a thread, whether or not its process is known."""
        found = [t for t in self.tracks.values() if t.thread and t.thread["tid"] == tid]
        found += [t for t in self.tracks.values() if t.name and t.name.endswith(f" {tid}")]
        return found[0] if found else None


def build(track, names, problems):
    """Begin and end events, in the order of time as a viewer sorts them, become slices."""
    stack = []
    for time, _, event in sorted(track.events, key=lambda e: e[:2]):
        kind = event["type"]
        if kind == COUNTER:
            if "counter" not in track.descriptor:
                problems.append(f"{track.name}: a value on a track that is no counter")
            track.values.append((time, event["counter_value"]))
        elif kind == END:
            if not stack:
                problems.append(f"{track.name}: an end at {time} without a beginning")
                continue
            stack.pop().end = time
        else:
            notes = {}
            for note in event.get("debug_annotations", []):
                value = [v for k, v in note.items() if k != "name_iid"]
                notes[names["debug_annotation_names"].get(note["name_iid"])] = value[0]
            new = Slice(names["event_names"].get(event["name_iid"]), time, notes, event)
            if new.name is None or None in notes:
                problems.append(f"{track.name}: a name at {time} that is not interned")
            if kind == INSTANT:
                track.instants.append(new)
                continue
            (stack[-1].children if stack else track.slices).append(new)
            stack.append(new)
    if stack:
        problems.append(f"{track.name}: {len(stack)} slices without an end")


def read(data):
    trace, names = Trace(), {"event_names": {}, "debug_annotation_names": {}}
    events, cleared = [], set()
    for order, packet in enumerate(decode("Trace", data).get("packet", [])):
        sequence, flags = packet["trusted_packet_sequence_id"], packet.get("sequence_flags", 0)
        if flags & 1:
            cleared.add(sequence)
        if flags & 2 and sequence not in cleared:
            trace.problems.append(f"packet {order} needs state that is not there")
        for index, entries in packet.get("interned_data", {}).items():
            for entry in entries:
                if entry["iid"] in names[index]:
                    trace.problems.append(f"{index} {entry['iid']} is interned twice")
                names[index][entry["iid"]] = entry["name"]
        descriptor = packet.get("track_descriptor")
        if descriptor:
            if descriptor["uuid"] in trace.tracks:
                trace.problems.append(f"track {descriptor['uuid']:x} is described twice")
            trace.tracks[descriptor["uuid"]] = Track(descriptor)
        event = packet.get("track_event")
        if event:
            if event["track_uuid"] not in trace.tracks:
                trace.problems.append(f"packet {order}: a track that is not described before")
                continue
            trace.tracks[event["track_uuid"]].events.append((packet["timestamp"], order, event))
            events.append(event)
        for item in packet.get("ftrace_events", {}).get("event", []):
            where = trace.switches if "sched_switch" in item else trace.wakings
            where.append((packet["ftrace_events"].get("cpu", 0), item))
        for process in packet.get("process_tree", {}).get("processes", []):
            trace.processes[process["pid"]] = process["cmdline"][0]
        for thread in packet.get("process_tree", {}).get("threads", []):
            trace.threads[thread["tid"]] = (thread["tgid"], thread["name"])
        if "system_info" in packet:
            trace.release = packet["system_info"]["utsname"]["release"]
    for track in trace.tracks.values():
        build(track, names, trace.problems)
    started = [f for e in events for f in e.get("flow_ids", [])]
    ended = [f for e in events for f in e.get("terminating_flow_ids", [])]
    if sorted(started) != sorted(ended) or len(set(started)) != len(started):
        trace.problems.append("flows do not pair")
    return trace
