#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# Shell scripts pass shellcheck and parse; Python compiles.
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap

t = tap.Tap()
os.chdir(tap.TOP)
shell, python = [], []
for name in tap.files():
    if not re.search(r"\.(sh|t|bash|py)$|^\.ci/run$", name):
        continue
    first = (tap.text(name) or "").split("\n", 1)[0]
    if name.endswith(".py") or "python" in first:
        python.append(name)
    elif "perl" not in first:
        shell.append(name)

bad = []
for name in shell:
    out = subprocess.run(["bash", "-n", name], capture_output=True, text=True, check=False)
    bad += out.stderr.splitlines()
t.none(bad, f"{len(shell)} shell scripts parse")

bad = []
for name in python:
    try:
        compile(tap.text(name), name, "exec")
    except SyntaxError as error:
        bad.append(f"{name}:{error.lineno}: {error.msg}")
t.none(bad, f"{len(python)} Python programs compile")

if shutil.which("shellcheck"):
    # SC2154, SC2034: variables shared with a sourced file; SC2010: names here are our own
    out = subprocess.run(["shellcheck", "-S", "warning", "-e", "SC2154,SC2034,SC2010", "-x",
                          "-f", "gcc", *shell],
                         capture_output=True, text=True, check=False)
    t.none(out.stdout.splitlines(), "shellcheck has nothing to say")
else:
    t.skip("shellcheck has nothing to say", "shellcheck is not installed")
t.done()
