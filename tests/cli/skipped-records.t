#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a file holds that cannot be delivered as it stands is counted and reported; the rest of
the report stays as it is. Also: data beyond 4 GiB in a sparse file. TAP."""
import json
import os
import pathlib
import struct
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
PAGE = 4096
number = 0


def ok(good, name, why=""):
    global number
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {name}")
    for line in str(why).splitlines() if not good else ():
        print(f"#   {line}")


def report(path, *args):
    done = subprocess.run([SCHEDLAT, "report", *args, "-i", str(path)], capture_output=True,
                          timeout=120)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def document(path):
    status, out, err = report(path, "--json", "--why=0ns")
    return json.loads(out) if status == 0 else {"failed": err}


def build(golden, **options):
    return mkdat.make(sltext.read(GOLDEN / f"{golden}.txt"), mkdat.Shape(**options))


def same_waits(a, b):
    return a.get("groups") == b.get("groups") and a.get("why") == b.get("why") and "groups" in a


def unknown_events(tmp):
    plain, path = tmp / "plain.dat", tmp / "unknown.dat"
    plain.write_bytes(build("two-wait-behind-one"))
    path.write_bytes(build("two-wait-behind-one", unknown=True))
    base, doc = document(plain), document(path)
    ok(same_waits(base, doc), "records without a description change nothing", doc.get("failed"))
    skipped = doc.get("input", {}).get("skipped", {})
    # mkdat.py adds one before every second record of each CPU, in turn without description and
    # of an event whose print fmt is nonsense: CPU 0 holds 5 records, CPU 1 holds 4.
    total = skipped.get("unknown_events", 0) + skipped.get("unbound_events", 0)
    ok(skipped.get("unbound_events", 0) > 0 and skipped.get("unknown_events", 0) > 0 and
       total == count_added(), "they are counted", f"{skipped}, {count_added()} were added")
    status, _, err = report(path)
    ok(status == 0 and err.count("\n") <= 1, "a broken print fmt elsewhere is no matter", err)


def count_added():
    trace = sltext.read(GOLDEN / "two-wait-behind-one.txt")
    written = {}
    added = 0
    for event in trace.events:
        if written.get(event.cpu, 0) % 2:
            added += 1
            written[event.cpu] += 1
        written[event.cpu] = written.get(event.cpu, 0) + 1
    return added


def backwards(tmp):
    path = tmp / "backwards.dat"
    # the last of the two pages of each CPU starts before the first one ends (by 2 and 8 us)
    path.write_bytes(build("two-wait-behind-one", per_page=3, backwards=10000))
    doc = document(path)
    skipped = doc.get("input", {}).get("skipped", {})
    ok(skipped.get("backwards", 0) > 0, "time stamps that go backwards are counted",
       doc.get("failed") or skipped)
    length = doc["input"]["t_end_ns"] - doc["input"]["t_start_ns"]
    ok(all(w["delay_ns"] <= length for w in doc["why"]["waits"]),
       "and no wait is longer than the recording")
    status, out, _ = report(path)
    ok(status == 0 and b"backward" in out, "and the text report says so", out.decode())


def truncated(tmp):
    whole = build("two-wait-behind-one", per_page=3)
    path = tmp / "truncated.dat"
    path.write_bytes(whole[:-PAGE - 100])
    status, out, err = report(path, "--json")
    doc = json.loads(out) if status == 0 else {}
    skipped = doc.get("input", {}).get("skipped", {})
    ok(status == 2 or skipped.get("truncated_bytes") == PAGE + 100,
       "a file cut in its data says how much is missing", f"exit {status} {skipped} {err}")


def beyond_4_gib(tmp):
    """The data of CPU 1 moved behind 5 GiB of nothing."""
    whole = bytearray(build("two-wait-behind-one"))
    table = whole.index(b"flyrecord\0") + 10
    offset, size = struct.unpack_from("<QQ", whole, table + 16)
    data = bytes(whole[offset:offset + size])
    far = 5 << 30
    struct.pack_into("<Q", whole, table + 16, far)
    path = tmp / "far.dat"
    with open(path, "wb") as out:
        out.write(whole[:offset])
        out.seek(far)
        out.write(data)
    plain = tmp / "near.dat"
    plain.write_bytes(build("two-wait-behind-one"))
    ok(same_waits(document(plain), document(path)), "data beyond 4 GiB is found there",
       document(path).get("failed"))
    ok(path.stat().st_blocks * 512 < 1 << 20, "(the test file is sparse)")


def main():
    with tempfile.TemporaryDirectory() as name:
        tmp = pathlib.Path(name)
        unknown_events(tmp)
        backwards(tmp)
        truncated(tmp)
        beyond_4_gib(tmp)
    print(f"1..{number}")


main()
