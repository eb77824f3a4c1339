#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Boot a kernel in qemu, run the tests of its initramfs, say what they said. TAP.

The guest has three serial lines and nothing else, no disk and no network: kernel
messages, what the tests say (guest/init frames it with lines that start with @@), and
a tar archive of what they leave in /out; that comes through a virtio port instead when
the kernel has a driver for one, which is a hundred times as fast. Its tests are numbered anew here, one plan for
all. A test of this program's own, per kernel: that it boots, that every test file comes
to its end, that the kernel did not complain (a warning, a stall, a lock report), and that
the guest powered off by itself. When one of these fails the last 50 lines of the kernel
are shown; a guest that hangs is ended after --timeout.

Exit status: 0 all passed or skipped, 1 not, 2 qemu does not start.
"""
import argparse
import os
import pathlib
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time

# What makes a kernel's log one of a sick kernel.
SPLAT = re.compile(
    r"\bBUG\b[: ]|\bWARNING: (CPU|possible|suspicious|bad unlock|at )|\bOops\b|Kernel panic"
    r"|general protection fault|Unable to handle|rcu: .* detected .*stall|soft lockup|hard LOCKUP"
    r"|blocked for more than \d+ seconds|scheduling while atomic|sleeping function called"
    r"|KASAN:|UBSAN:|KFENCE:|KCSAN:|DEBUG_LOCKS_WARN|Call Trace:|Out of memory:")
TEST = re.compile(r"^(not ok|ok)\b\s*\d*\s*(?:- )?(.*)$")
SKIP = re.compile(r"#\s*skip\b", re.IGNORECASE)
# rdrand is emulated by asking the host each time; a clock watchdog does not suit an
# emulated CPU that its host may not run for a while.
APPEND = ("console=ttyS0 panic=-1 oops=panic mitigations=off tsc=reliable "
          "rcupdate.rcu_cpu_stall_timeout=120 watchdog_thresh=60")
TAIL = 50
# --icount: all CPUs in one thread, a fixed time for each instruction, and no waiting for the
# host's clock: nothing that the guest sees depends on how fast this machine is.
ICOUNT = ["-icount", "shift={shift},sleep=off", "-rtc", "base=2026-01-01,clock=vm"]
TCG_ICOUNT = "tcg,thread=single"
# Random numbers that the host makes up would differ from run to run.
CPU_TCG = "max,-rdrand,-rdseed"


class Tap:
    """Results of all that runs in one guest."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.count = self.failed = 0

    def result(self, good, text):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {self.kernel} {text}", flush=True)

    def diag(self, text):
        for line in text.splitlines():
            print(f"# {line}", flush=True)


class Guest:
    """The stream that guest/init writes, line by line."""

    def __init__(self, tap, started):
        self.tap, self.started = tap, started
        self.name = None        # of the test file that runs
        self.seen = self.planned = None
        self.files = 0
        self.release = None
        self.done = False

    def line(self, text):
        if text.startswith("@@ "):
            self.mark(text.split()[1:])
        elif self.name is None:
            self.tap.diag(text)
        elif match := TEST.match(text):
            self.seen += 1
            self.tap.result(match.group(1) == "ok", f"{self.name}: {match.group(2)}")
        elif match := re.match(r"^1\.\.(\d+)(.*)$", text):
            self.planned = int(match.group(1))
            if self.planned == 0 and SKIP.search(match.group(2)):
                self.tap.result(True, f"{self.name} {match.group(2).strip()}")
                self.planned = self.seen
        else:
            self.tap.diag(text.removeprefix("#").strip())

    def mark(self, words):
        what = words[0] if words else ""
        if what == "start":
            self.release = words[1]
            self.tap.result(True, f"boots ({self.release})")
            self.tap.diag(f"{time.monotonic() - self.started:.1f} s until the first test")
        elif what == "begin":
            self.name, self.seen, self.planned = words[1], 0, None
            self.files += 1
        elif what == "end":
            self.end(int(words[2]))
        elif what == "done":
            self.done = True

    def end(self, status):
        """A test file is over: fails unless it had a plan, kept to it, and ended well."""
        if self.name is None:
            return
        if self.planned is None:
            self.tap.result(False, f"{self.name}: came to its end (status {status})")
        elif self.planned != self.seen:
            self.tap.result(False, f"{self.name}: planned {self.planned} tests, ran {self.seen}")
        self.name = None


def qemu_command(args, initrd, console, archive, port):
    kvm = not args.icount and (args.accel == "kvm" or (
        args.accel == "auto" and os.access("/dev/kvm", os.R_OK | os.W_OK)))
    tcg = TCG_ICOUNT if args.icount else args.tcg
    smp = ",".join(filter(None, [str(args.smp), args.topology]))
    command = [args.qemu, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
               "-machine", args.machine, "-smp", smp, "-m", args.memory,
               "-accel", "kvm" if kvm else tcg, "-cpu", args.cpu or ("host" if kvm else CPU_TCG),
               "-kernel", args.kernel, "-initrd", initrd, "-append",
               " ".join(filter(None, [APPEND, args.tests and f"KTESTS={args.tests}",
                                      f"KSECONDS={args.seconds}", args.out and "KOUT=1",
                                      args.append])),
               "-serial", f"file:{console}", "-serial", "stdio", "-serial", f"file:{archive}"]
    if args.icount:
        command += [word.format(shift=args.icount_shift) for word in ICOUNT]
    if args.out:
        command += ["-device", "virtio-serial-pci", "-chardev", f"file,id=out,path={port}",
                    "-device", "virtserialport,chardev=out,name=schedlat.out"]
    return command + args.option


def follow(process, guest, deadline):
    """Read the tests' line until the guest ends. False: it had to be ended."""
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if not selector.select(left):
                continue
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                guest.line(line.decode(errors="replace").rstrip("\r"))
    try:
        process.wait(max(1.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def console_lines(path):
    text = pathlib.Path(path).read_bytes().decode(errors="replace") if os.path.exists(path) else ""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def run(args, work):
    tap, started = Tap(args.name), time.monotonic()
    initrd = os.path.join(work, "initrd")
    archives = [os.path.join(work, name) for name in ("out.tar.gz", "out.tar")]
    console = args.log or os.path.join(work, "console.log")
    with open(initrd, "wb") as out:
        for part in args.initrd:
            out.write(pathlib.Path(part).read_bytes())
    guest = Guest(tap, started)
    with open(os.path.join(work, "qemu.err"), "w+", encoding="utf-8") as errors:
        try:
            process = subprocess.Popen(qemu_command(args, initrd, console, *archives),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=errors)
        except OSError as error:
            print(f"boot: {args.qemu}: {error.strerror}", file=sys.stderr)
            return 2
        # Whoever ends this program ends the guest.
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(1))
        try:
            in_time = follow(process, guest, started + args.timeout)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
        errors.seek(0)
        complaints = [line for line in errors.read().splitlines()
                      if "warning: TCG doesn't support" not in line]

    seconds = time.monotonic() - started
    lines = console_lines(console)
    splats = [line for line in lines if SPLAT.search(line)]
    bad = 0
    if guest.release is None:
        tap.result(False, "boots")
        bad += 1
    if guest.name is not None:
        tap.result(False, f"{guest.name}: came to its end (the guest stopped in it)")
        bad += 1
    elif guest.release and not guest.files:
        tap.result(False, "has tests to run")
    tap.result(not splats, "the kernel did not complain")
    tap.diag("\n".join(splats[:10]))
    well = in_time and guest.done
    tap.result(well, "powers off by itself" if in_time
               else f"powers off by itself (ended after {args.timeout} s)")
    if bad or splats or not well:
        tap.diag("\n".join(complaints[:10]))
        tap.diag(f"the last lines of the kernel{' (all: ' + args.log + ')' if args.log else ''}:")
        tap.diag("\n".join(f"  {line}" for line in lines[-TAIL:]))
    tap.diag(f"{args.name}: {seconds:.1f} s in all")
    for archive in archives:
        if args.out and os.path.exists(archive) and os.path.getsize(archive):
            os.makedirs(args.out, exist_ok=True)
            status = subprocess.run(["tar", "-x", "-f", archive, "-C", args.out,
                                     "--no-same-owner"], check=False).returncode
            tap.result(status == 0, "what the tests left is complete")
    print(f"1..{tap.count}", flush=True)
    return 1 if tap.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", required=True, help="what the results call this kernel")
    parser.add_argument("--qemu", default="qemu-system-x86_64")
    parser.add_argument("--kernel", required=True, help="bzImage")
    parser.add_argument("--initrd", action="append", default=[], required=True,
                        help="archive; several are put one behind the other")
    parser.add_argument("--tests", help="names, separated by commas; default all")
    parser.add_argument("--seconds", type=int, default=120, help="for one test file")
    parser.add_argument("--timeout", type=float, default=400, help="for the whole guest")
    parser.add_argument("--smp", type=int, default=2)
    parser.add_argument("--topology", help="of the CPUs: sockets=2,cores=2,threads=1")
    parser.add_argument("--icount", action="store_true",
                        help="time goes by instructions, not by the clock of this machine")
    parser.add_argument("--icount-shift", type=int, default=0, metavar="N",
                        help="an instruction takes 2^N ns; a guest is through the sooner")
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--machine", default="pc")
    parser.add_argument("--cpu", help=f"default: {CPU_TCG}, under kvm host")
    parser.add_argument("--accel", choices=("auto", "tcg", "kvm"), default="auto")
    parser.add_argument("--tcg", default="tcg,thread=multi", help="how qemu emulates CPUs")
    parser.add_argument("--append", help="more for the kernel's command line")
    parser.add_argument("--option", action="append", default=[], help="more for qemu")
    parser.add_argument("--log", help="keep the kernel's messages here")
    parser.add_argument("--out", help="directory for what the tests leave in /out")
    with tempfile.TemporaryDirectory(prefix="schedlat-boot-") as work:
        sys.exit(run(parser.parse_args(), work))


main()
