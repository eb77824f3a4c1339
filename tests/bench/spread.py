#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make a recording of many CPUs out of one of few: spread.py COPIES IN.dat OUT.dat

The data of each CPU appears COPIES times, on CPUs of their own, each copy a little
later than the one before. Good for measuring the merge of many streams, and for
nothing else: every task runs in several places. IN is a plain trace.dat of version 6
(trace-cmd convert --file-version 6) of this machine's byte order.
"""
import re
import struct
import sys

SHIFT_NS = 1777         # between copies: no ties, and the order of events differs all the time

CPUCOUNT = 8            # option that repeats the number of CPUs


def main():
    copies, source, target = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    with open(source, "rb") as file:
        data = file.read()
    options = data.index(b"options  \0")
    fly = data.index(b"flyrecord\0", options) + len(b"flyrecord\0")
    cpus = struct.unpack_from("=I", data, options - 4)[0]
    table = [struct.unpack_from("=QQ", data, fly + 16 * n) for n in range(cpus)]
    page = int(re.search(rb"field: char data;\s+offset:(\d+);\s+size:(\d+)", data).group(2)) + 16

    # behind the table stands the name of the clock, with its length
    clock_at = fly + 16 * cpus
    clock = data[clock_at:clock_at + 8 + struct.unpack_from("=Q", data, clock_at)[0]]

    head = bytearray(data[:options - 4] + struct.pack("=I", cpus * copies) + data[options:fly])
    option = options + len(b"options  \0")
    while (kind := struct.unpack_from("=H", head, option)[0]) != 0:
        if kind == CPUCOUNT:
            struct.pack_into("=I", head, option + 6, cpus * copies)
        option += 6 + struct.unpack_from("=I", head, option + 2)[0]
    at = -(-(len(head) + 16 * cpus * copies + len(clock)) // page) * page
    tables, spots = b"", []
    for offset, size in table:
        for copy in range(copies):
            tables += struct.pack("=QQ", at, size)
            spots.append((at, offset, size, copy))
            at += -(-size // page) * page
    with open(target, "wb") as out:
        out.write(bytes(head) + tables + clock)
        for at, offset, size, copy in spots:
            chunk = bytearray(data[offset:offset + size])
            for start in range(0, len(chunk) - 8, page):
                time = struct.unpack_from("=Q", chunk, start)[0]
                struct.pack_into("=Q", chunk, start, time + copy * SHIFT_NS)
            out.seek(at)
            out.write(chunk)
        out.truncate(-(-out.tell() // page) * page)


main()
