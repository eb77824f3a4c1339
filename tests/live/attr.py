# SPDX-License-Identifier: GPL-2.0-only
"""sched_getattr(2) and sched_setattr(2) without the tool, for the tests of slices."""
import ctypes
import os
import struct
import sys
import threading
import time

# What to do:
#	get TID			size policy flags nice priority runtime
#	slice TID...		the runtimes
#	set TID FIELD=VALUE...
#	lose			print the own slice, give it up, print, and again when it is back
#	threads N		N sleeping threads, slice-0 and so on; prints their ids
#	maker			a thread per 2 ms, each for 300 ms, until killed
libc = ctypes.CDLL(None, use_errno=True)
GET, SET = {"x86_64": (315, 314), "aarch64": (275, 274), "riscv64": (275, 274)}[os.uname().machine]
NAMES = "size policy flags nice priority runtime deadline period".split()
FORM = "IIQiIQQQ"


def get(tid):
    buf = ctypes.create_string_buffer(48)
    if libc.syscall(GET, tid, buf, 48, 0):
        sys.exit(os.strerror(ctypes.get_errno()))
    return dict(zip(NAMES, struct.unpack(FORM, buf.raw)))


def set_attr(tid, **what):
    attr = dict.fromkeys(NAMES, 0) | {"size": 48} | what
    buf = ctypes.create_string_buffer(struct.pack(FORM, *(attr[n] for n in NAMES)))
    if libc.syscall(SET, tid, buf, 0):
        sys.exit(os.strerror(ctypes.get_errno()))


def main(what, *args):
    if what == "get":
        print(*list(get(int(args[0])).values())[:6])
    elif what == "slice":
        print("\n".join(str(get(int(tid))["runtime"]) for tid in args))
    elif what == "set":
        set_attr(int(args[0]), **{k: int(v) for k, v in (a.split("=") for a in args[1:])})
    elif what == "lose":
        print(get(0)["runtime"])
        set_attr(0)
        lost = get(0)["runtime"]
        print(lost)
        for _ in range(100):
            if get(0)["runtime"] != lost:
                break
            time.sleep(0.1)
        print(get(0)["runtime"])
    elif what == "threads":
        def wait(name):
            libc.prctl(15, name)
            time.sleep(300)
        for nr in range(int(args[0])):
            threading.Thread(target=wait, args=(b"slice-%d" % nr,), daemon=True).start()
        print(*sorted(os.listdir("/proc/self/task"), key=int), flush=True)
        time.sleep(300)
    elif what == "maker":
        print("ready", flush=True)
        while True:
            threading.Thread(target=time.sleep, args=(0.3,), daemon=True).start()
            time.sleep(0.002)


if __name__ == "__main__":
    main(*sys.argv[1:])
