# SPDX-License-Identifier: GPL-2.0-only
"""What the lint tests share: TAP output and the list of the project's files."""
import os
import re
import subprocess
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))


class Tap:
    """ok() per check; done() prints the plan and exits."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def ok(self, good, name, *why):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        if not good:
            for line in why:
                print(f"#   {line}")
        return good

    def none(self, findings, name):
        """Passes when the list is empty, else shows it."""
        return self.ok(not findings, name, *findings[:40])

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {why}")

    def done(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)


def skip_all(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def files():
    """Paths of the project's files, relative to the top: what git has or would add."""
    try:
        out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP,
                             capture_output=True, text=True, check=True).stdout
        names = out.splitlines()
    except (OSError, subprocess.CalledProcessError):
        names = []
        for base, dirs, found in os.walk(TOP):
            dirs[:] = [d for d in dirs if d not in (".git", "build")]
            names += [os.path.relpath(os.path.join(base, f), TOP) for f in found]
    return sorted({n for n in names if os.path.isfile(os.path.join(TOP, n))
                   and not os.path.islink(os.path.join(TOP, n))})


def text(name):
    """The file's text, or None when it is not text."""
    with open(os.path.join(TOP, name), "rb") as file:
        data = file.read()
    if b"\0" in data[:8192]:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def tool():
    """Path of the built tool, or None."""
    path = os.environ.get("SCHEDLAT", os.path.join(TOP, "build", "schedlat"))
    return path if os.access(path, os.X_OK) else None


def run(*args, **kwargs):
    """stdout of the tool with these arguments; stderr is dropped unless asked for."""
    return subprocess.run([tool(), *args], capture_output=True, text=True, check=False, **kwargs)


def commands():
    """The commands that -h lists."""
    return set(re.findall(r"^\s+([a-z]+)\s{2,}\S", run("-h").stdout, re.M))


def help_options(command):
    """-x and --long of the option lines of a command's help."""
    options = set()
    for line in run(command, "-h").stdout.splitlines():
        if re.match(r"\s+-", line):
            left = re.split(r"\s{2,}", line.strip())[0]
            options |= set(re.findall(r"(?<![\w-])(--[a-z][\w-]*|-[A-Za-z])(?![\w-])", left))
    return options
