#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# The manual pages and the tool say the same: commands, options, causes, events,
# columns, counters, taints. Each in both directions.
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap

if not tap.tool():
    tap.skip_all("the tool is not built")
os.chdir(tap.TOP)
t = tap.Tap()


def same(name, tool, man):
    """Two sets of names are equal, and not empty."""
    t.none([f"{x}: in the tool, not in the page" for x in sorted(tool - man)]
           + [f"{x}: in the page, not in the tool" for x in sorted(man - tool)]
           + ([] if tool else ["the tool prints none"]), name)


def section(page, title, level="Sh"):
    """The source of one section of a page."""
    text = tap.text(f"man/{page}")
    end = r"(?=^\.Sh |\Z)" if level == "Sh" else r"(?=^\.S[sh] |\Z)"
    found = re.search(rf"^\.{level} {re.escape(title)}.*?\n(.*?){end}", text, re.M | re.S)
    return found.group(1) if found else ""


def items(source):
    """Names of .It Sy a , b lines."""
    names = set()
    for line in re.findall(r"^\.It Sy (.*)$", source, re.M):
        names |= {w for w in line.split() if w != ","}
    return names


def man_options(page):
    """-x and --long of the .It lines of a page's OPTIONS."""
    options = set()
    for line in re.findall(r"^\.It (Fl .*)$", section(page, "OPTIONS"), re.M):
        options |= {f"--{w}" for w in re.findall(r"Fl Fl ([\w-]+)", line)}
        options |= {f"-{w}" for w in re.findall(r"(?<!Fl )Fl ([A-Za-z])\b(?!-)", line)}
    return options


commands = tap.commands()
same("commands in schedlat(1)", commands, items(section("schedlat.1", "COMMANDS")))
pages = {os.path.basename(p)[len("schedlat-"):-2] for p in glob.glob("man/schedlat-*.1")}
same("a manual page per command", commands, pages)
for command in sorted(commands & pages):
    same(f"options of {command}", tap.help_options(command), man_options(f"schedlat-{command}.1"))


def listed(what):
    return json.loads(tap.run("list", what, "--json").stdout)



causes = {c["id"] for c in listed("causes")["causes"]}
same("causes in schedlat-causes(7)", causes, items(section("schedlat-causes.7", "CAUSES")))
events = {f"{e['system']}:{e['name']}" for e in listed("events")["events"]}
same("events in schedlat-events(7)", events, items(section("schedlat-events.7", "EVENTS")))
titles = {"group": "A row per group", "cause": "A row per cause", "wait": "A row per wait",
          "bucket": "A row per range of the histogram"}
columns = listed("columns")["columns"]
for name, title in titles.items():
    same(f"columns of a {name} in schedlat-report(1)",
         {c["name"] for c in columns if c["set"] == name},
         items(section("schedlat-report.1", title, "Ss")))

same("columns of a diff in schedlat-diff(1)",
     {c["name"] for c in columns if c["set"] == "diff"},
     items(section("schedlat-diff.1", "Columns", "Ss")))
same("columns of a thread in schedlat-slice(1)",
     {c["name"] for c in columns if c["set"] == "thread"},
     items(section("schedlat-slice.1", "Columns", "Ss")))

# Examples are run: each line of an EXAMPLES block that begins with the command itself.
RUN = ("report", "timehist", "export")


def examples(command):
    blocks = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", section(f"schedlat-{command}.1", "EXAMPLES"),
                        re.M | re.S)
    lines = [line.replace("\\e", "\\") for b in blocks for line in b.splitlines()]
    return [line for line in lines if line.startswith(f"schedlat {command} ")]


for command in RUN:
    failed, found = [], examples(command)
    with tempfile.TemporaryDirectory() as tmp:
        for name in ("schedlat.dat", "trace.dat"):
            shutil.copy("tests/data/demo.dat", os.path.join(tmp, name))
        for line in found:
            missing = [w[0] for w in map(str.split, line.split("|")[1:]) if not shutil.which(w[0])]
            if missing:
                print(f"# not run, {missing[0]} is not installed: {line}")
                continue
            path = os.path.dirname(tap.tool()) + ":" + os.environ["PATH"]
            out = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=tmp, text=True,
                                 env={**os.environ, "PATH": path}, capture_output=True, check=False)
            if out.returncode or out.stderr:
                failed.append(f"{line}: exit {out.returncode}: {out.stderr.strip()}")
    t.none(failed + ([] if found else ["there are none"]), f"the examples of {command} run")

readme = re.search(r"^<!-- example -->\n```\n\$ ./schedlat (.*?)\n(.*?)```$",
                   tap.text("README.md"), re.M | re.S)
if t.ok(readme, "the README has an example"):
    out = tap.run(*readme.group(1).split()).stdout
    t.none([f"README: {a!r}, now: {b!r}" for a, b in
            zip(readme.group(2).splitlines() + [""], out.splitlines() + [""]) if a != b]
           + ([] if readme.group(2).count("\n") == out.count("\n") else ["other number of lines"]),
           "the README's example is what the tool prints (else: scripts/update-readme.sh)")

golden = sorted(glob.glob("tests/golden/*.txt"))
if golden:
    report = json.loads(tap.run("report", "-i", golden[0], "--json", "--why=0ns").stdout)
    same("counters in schedlat-causes(7)", set(report["counters"]["discarded"]),
         items(section("schedlat-causes.7", "COUNTERS")))
    page = section("schedlat-report.1", "JSON")
    known = set(re.findall(r"[a-z]\w+", page))
    keys = set(report) | {k for b in ("tool", "input", "definition", "loss", "counters", "why")
                          for k in report[b]}
    for group in report["groups"][:1]:
        keys |= set(group)
    for wait in report["why"]["waits"][:1]:
        keys |= set(wait) | set(wait["segments"][0] if wait["segments"] else ())
    t.none(sorted(keys - known), "every JSON key is in schedlat-report(1)")
else:
    t.skip("counters and JSON keys", "no golden trace")
t.done()
