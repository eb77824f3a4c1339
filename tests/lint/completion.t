#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# bash completes every command and every option that -h shows, and no other.
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap

if not tap.tool():
    tap.skip_all("the tool is not built")
os.chdir(tap.TOP)
t = tap.Tap()


def complete(*words):
    """What bash offers for the last of these words."""
    script = ('. completion/schedlat.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _schedlat; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    path = os.path.dirname(tap.tool()) + ":" + os.environ["PATH"]
    out = subprocess.run(["bash", "-c", script, "bash", "schedlat", *words], capture_output=True,
                         text=True, check=False, env={**os.environ, "PATH": path})
    return set(out.stdout.split())


commands = tap.commands()
t.ok(commands and complete("") == commands | {"-h", "--help", "--version"}, "commands",
     f"offered: {sorted(complete(''))}", f"in -h: {sorted(commands)}")
for command in sorted(commands):
    offered, known = complete(command, "-"), tap.help_options(command)
    t.none([f"{o}: in -h, not completed" for o in sorted(known - offered)]
           + [f"{o}: completed, not in -h" for o in sorted(offered - known)],
           f"options of {command}")
t.ok(complete("list", "") == {"causes", "events", "columns"}, "what can be listed")
t.ok(complete("report", "--from", "=", "w") == {"waking", "wakeup"}, "values behind =")
t.ok(complete("report", "--by", "c") == {"comm", "cgroup", "class"}, "values behind a blank")
t.ok("p999" in complete("report", "-s", "p9"), "columns for -s")
t.ok("held-by" in complete("timehist", "--fields", "h"), "columns for --fields of timehist")
t.ok("held-by" in complete("export", "--fields", "h"), "columns for --fields of export")
t.ok(complete("export", "--format", "=", "") == {x.strip(",") for x in re.search(
     r"--format=FORMAT (.*)", tap.run("export", "--help").stdout).group(1).replace(" or ", " ").split()},
     "formats")
t.ok("policy" in complete("slice", "-s", "pol"), "columns for -s of slice")
t.ok("base-min" in complete("diff", "--fields", "base"), "columns for --fields of diff")
t.ok("sleep" in complete("record", "--", "slee"), "a command behind --")
t.done()
