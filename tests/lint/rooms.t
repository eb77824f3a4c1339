#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# Data flows one way: a room of lib/ includes only rooms before it.
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap

ROOMS = "util event trace live sched wait why stats report top out".split()
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)


def wrong(name, quote, target):
    """Why this include is not allowed, or None."""
    parts = name.split("/")
    head = target.split("/")[0]
    if re.search(r"n?curses", target) and not name.startswith("tools/tui/"):
        return "ncurses is for tools/tui only"
    if quote == "<" or head == "schedlat":
        return None
    if parts[0] == "include":
        return "a public header includes schedlat/ only"
    if "/" not in target:
        return None
    if target.startswith("."):
        return "paths with dots hide what is included"
    if parts[0] == "lib":
        if head not in ROOMS:
            return f"{head} is no room of lib/"
        if ROOMS.index(head) > ROOMS.index(parts[1]):
            return f"{parts[1]} comes before {head}"
    elif parts[0] == "tools" and head == "tests":
        return "tools do not use tests"
    return None


t = tap.Tap()
sources = [n for n in tap.files() if re.search(r"\.(c|h|def)$", n)]
rooms = sorted({n.split("/")[1] for n in sources if n.startswith("lib/")})
t.none([r for r in rooms if r not in ROOMS], "every directory of lib/ is a known room")
found, seen = [], 0
for name in sources:
    for quote, target in INCLUDE.findall(tap.text(name) or ""):
        seen += 1
        why = wrong(name, quote, target)
        if why:
            found.append(f"{name}: {target}: {why}")
t.none(found, "includes go to rooms before, never behind")
t.ok(seen > 50, "includes were found at all", f"{seen} includes in {len(sources)} files")

# The check itself: each of these must be refused.
bad = [("lib/trace/x.c", '"', "why/why.h"), ("lib/util/x.h", '"', "event/event.h"),
       ("lib/out/x.c", "<", "ncurses.h"), ("lib/wait/x.c", '"', "../sched/task.h"),
       ("include/schedlat/x.h", '"', "util/err.h")]
t.none([str(b) for b in bad if not wrong(*b)], "the rule refuses what it must refuse")
t.done()
