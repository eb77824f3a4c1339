#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# Every cause has a provoker in tests/workloads, or a reason why it has none.
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap

if not tap.tool():
    tap.skip_all("the tool is not built")
os.chdir(tap.TOP)
t = tap.Tap()
causes = {c["id"] for c in json.loads(tap.run("list", "causes", "--json").stdout)["causes"]}
readme = tap.text("tests/workloads/README.md")
listed = readme.split("## No provoker", 1)[1]
without = {c for line in re.findall(r"^- ([^:]*):", listed, re.M) for c in re.findall(r"`([\w-]+)`", line)}
table = readme.split("\n## ", 1)[0]

provoked, wrong, missing = set(), [], []
for path in sorted(glob.glob("tests/workloads/*.c")):
    name = os.path.basename(path)[:-2]
    if name == "rt":
        continue
    text = tap.text(path)
    head = re.search(r"^ \* Provokes: (.*)$", text, re.M)
    code = re.search(r'\.causes = "([^"]*)"', text)
    if not head or not code or head.group(1) != code.group(1):
        wrong.append(f"{path}: Provokes: and .causes differ")
        continue
    provoked |= set(code.group(1).split())
    parts = re.search(r'\.parts = "([^"]*)"', text)
    named = set(code.group(1).split()) | {p.split(":")[0] for p in (parts.group(1) if parts else "").split()}
    wrong += [f"{path}: no cause is called {c}" for c in sorted(named - causes)]
    if not re.search(rf"^\| .*\b{re.escape(name)}\b.* \|.*\|.*\|$", table, re.M):
        missing.append(name)
t.none(wrong, "a provoker's header says what its code says")
t.none(missing, "every provoker is in the README's table")
t.none(sorted(causes - provoked - without), "every cause has a provoker, or a reason for none")
t.none(sorted((provoked & without) | (without - causes)), "reasons are given for causes without provoker only")
t.done()
