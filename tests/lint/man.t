#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# The manual pages are well formed, and refer to pages that exist.
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap

t = tap.Tap()
os.chdir(tap.TOP)
pages = sorted(glob.glob("man/*.[1-9]"))
t.ok(len(pages) >= 8, "the pages are there", *pages)

if shutil.which("mandoc"):
    for page in pages:
        out = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True,
                             text=True, check=False)
        t.none(out.stdout.splitlines(), f"mandoc accepts {page}")
elif shutil.which("man"):
    for page in pages:
        out = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page],
                             capture_output=True, text=True, check=False)
        t.none(out.stderr.splitlines(), f"man accepts {page}")
else:
    t.skip("pages are well formed", "neither mandoc nor man is installed")

own = {os.path.basename(p).rsplit(".", 1)[0] for p in pages}
broken = []
for page in pages:
    text = tap.text(page)
    name, section = os.path.basename(page).rsplit(".", 1)
    if not re.search(rf"^\.Dt {name.upper()} {section}$", text, re.M):
        broken.append(f"{page}: .Dt does not say {name.upper()} {section}")
    if ".Sh EXAMPLES" not in text and section == "1":
        broken.append(f"{page}: no EXAMPLES")
    for ref, sec in re.findall(r"^\.Xr (schedlat\S*) (\d)", text, re.M):
        if not os.path.exists(f"man/{ref}.{sec}"):
            broken.append(f"{page}: refers to {ref}({sec})")
t.none(broken, "titles, examples and references hold")
t.ok({"schedlat", "schedlat-causes", "schedlat-events"} <= own, "the three main pages exist")
t.done()
