#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""mkcpio.py DIRECTORY > FILE: an archive that the kernel takes as its initramfs.

The "newc" form of Documentation/driver-api/early-userspace/buffer-format.rst. Everything
belongs to root and has no time, so the same directory gives the same bytes. Archives may
follow each other in one file: that is how a kernel gets the common one and its own.
"""
import os
import stat
import sys

ALIGN = 4


def entry(number, name, mode, data=b""):
    """Header, name and content of one file, each filled up to four bytes."""
    label = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(label), 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + label
    return b"".join(part + b"\0" * (-len(part) % ALIGN) for part in (head, data))


def files(top):
    """Paths below top, a directory before what is in it."""
    for path, directories, names in os.walk(top):
        directories.sort()
        for name in sorted(directories + names):
            yield os.path.join(path, name)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: mkcpio.py DIRECTORY > FILE")
    top, number, out = sys.argv[1], 0, sys.stdout.buffer
    for number, path in enumerate(files(top), 1):
        mode, data = os.lstat(path).st_mode, b""
        if stat.S_ISLNK(mode):
            data = os.readlink(path).encode()
        elif stat.S_ISREG(mode):
            with open(path, "rb") as file:
                data = file.read()
        elif not stat.S_ISDIR(mode):
            sys.exit(f"mkcpio: {path} is neither a file nor a directory nor a link")
        out.write(entry(number, os.path.relpath(path, top), mode, data))
    out.write(entry(0, "TRAILER!!!", 0))


main()
