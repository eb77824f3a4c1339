#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# Every file: licence line, size, width, no paths of one machine, nothing left undone.
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap

# Files that cannot hold a licence line: data, licence texts, documents of the top directory,
# patches (what they add to the kernel has one), what is not ours (third_party/README.md names its licence).
NO_SPDX = re.compile(r"(^LICENSES/|^COPYING$|\.md$|\.expect$|^tests/(data|golden|fuzz/corpus)/.*\.(dat|txt|bin)$"
                     r"|^tests/fuzz/corpus/|\.in$|^\.gitignore$|\.json$|\.csv$|\.gz$|\.zst$"
                     r"|\.patch$|^kernel-patches/(series$|contract/)|^third_party/)")
CODE = re.compile(r"^(?!third_party/).*\.(c|h|S|def|py|sh|t|mk|bash|js|css|html)$|^Makefile$|^\.ci/run$")
# Directories that exist on one machine only; a temporary file is made by mktemp or TMPDIR.
MACHINE = re.compile(r"(?<![\w.$}*])/(work|root|farm|home/\w+|tmp)/\S*")
MACHINE_OK = re.compile(r"mktemp|TMPDIR|P_tmpdir|/tmp/\$|XXXXXX")
UNDONE = re.compile(r"\b(TODO|FIXME|XXX|HACK|NotImplemented)\b")

t = tap.Tap()
names = tap.files()
me = os.path.relpath(os.path.abspath(__file__), tap.TOP)
texts = {n: tap.text(n) for n in names}
texts = {n: s for n, s in texts.items() if s is not None}

missing, wrong = [], []
for name, content in texts.items():
    if NO_SPDX.search(name):
        continue
    want = "LGPL-2.1-only" if re.match(r"(lib|include)/", name) else "GPL-2.0-only"
    lines = content.splitlines()
    head = lines[1] if lines and lines[0].startswith("#!") and len(lines) > 1 else "".join(lines[:1])
    found = re.search(r"SPDX-License-Identifier: (.*?)(?: \*/| -->)?$", head)
    # The kernel only lets programs under the GPL use what ours uses.
    if re.search(r"\.bpf\.[ch]$", name):
        want = "LGPL-2.1-only OR GPL-2.0-only"
    if not found:
        missing.append(name)
    elif found.group(1) != want:
        wrong.append(f"{name}: {found.group(1)}, should be {want}")
t.none(missing, "the first line names the licence")
t.none(wrong, "lib/ and include/ are LGPL-2.1-only, BPF programs also GPL-2.0-only, the rest GPL-2.0-only")

code = {n: s for n, s in texts.items() if CODE.search(n)}
t.none([f"{n}: {s.count(chr(10))} lines" for n, s in code.items() if s.count("\n") > 1000],
       "no source past 1000 lines")


def width(line):
    return len(line.expandtabs(8))


t.none([f"{n}:{i}: {width(line)} columns" for n, s in code.items()
        for i, line in enumerate(s.splitlines(), 1)
        if width(line) > 120 and '"' not in line],
       "no line past 120 columns unless a string would be broken (100 is the aim)")
t.none([f"{n}:{i}" for n, s in code.items() for i, line in enumerate(s.splitlines(), 1)
        if line != line.rstrip()], "no blanks at the end of a line")
t.none([n for n, s in texts.items()
        if s and not s.endswith("\n") and not n.startswith(("tests/", "third_party/"))],
       "every text ends with a newline")
t.none([f"{n}:{i}: {MACHINE.search(line).group(0)}" for n, s in texts.items() if n != me
        and not n.startswith("tests/fuzz/corpus/")
        for i, line in enumerate(s.splitlines(), 1)
        if MACHINE.search(line) and not MACHINE_OK.search(line)], "no paths of one machine")
t.none([f"{n}:{i}: {UNDONE.search(line).group(0)}" for n, s in texts.items()
        if n not in (me, "CONTRIBUTING.md") and not n.startswith(("LICENSES/", "tests/fuzz/corpus/"))
        for i, line in enumerate(s.splitlines(), 1) if UNDONE.search(line)
        # What surrounds the changes of a patch is the kernel's own text.
        and not (n.endswith(".patch") and line[:1] in (" ", "-"))], "nothing is left undone")
t.none([n for n in names if re.search(r"(\.sh|\.t|^\.ci/run)$", n)
        and (texts.get(n) or "").startswith("#!")
        and not os.access(os.path.join(tap.TOP, n), os.X_OK)], "scripts can be run")
big = [f"{n}: {os.path.getsize(os.path.join(tap.TOP, n)) >> 10} KiB" for n in names
       if os.path.getsize(os.path.join(tap.TOP, n)) > (1 << 20)]
t.none(big, "no file past 1 MiB")
t.done()
