#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The examples of manual pages do what they say: each is run in a directory that has the files that
it names. TAP."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from tap import finish, ok  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEDLAT = pathlib.Path(os.environ.get("SCHEDLAT", TOP / "build/schedlat")).resolve()
DEMO = TOP / "tests/data/demo.dat"
# page: what its examples read
PAGES = {
    "schedlat-diff.1": ["base.dat", "new.dat"] + [f"{side}{i}.dat" for side in ("base", "new") for i in range(1, 5)],
    "schedlat-bugreport.1": ["schedlat.dat"],
}


def examples(page):
    """Commands of the EXAMPLES, lines that end in a backslash joined."""
    body = (TOP / "man" / page).read_text().split(".Sh EXAMPLES", 1)[1].split("\n.Sh ", 1)[0]
    found = []
    for block in re.findall(r"^\.Bd .*?\n(.*?)^\.Ed", body, re.M | re.S):
        found += re.sub(r" *\\e\n *", " ", block).replace("\\-", "-").splitlines()
    return [line for line in found if not line.startswith("#")]	# that needs root


def listing(directory):
    """(name, size, time) of its files."""
    return {(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in os.scandir(directory) if f.is_file()}


for page, inputs in PAGES.items():
    with tempfile.TemporaryDirectory() as tmp:
        bin_dir = pathlib.Path(tmp) / "bin"
        bin_dir.mkdir()
        (bin_dir / "schedlat").symlink_to(SCHEDLAT)
        for name in inputs:
            shutil.copy(DEMO, pathlib.Path(tmp) / name)
        commands = examples(page)
        ok(commands, f"{page} has examples")
        for command in commands:
            before = listing(tmp)
            done = subprocess.run(["bash", "-c", command], cwd=tmp, capture_output=True, text=True, timeout=120,
                                  env={**os.environ, "PATH": f"{bin_dir}:{os.environ['PATH']}"})
            written = [size for _, size, _ in listing(tmp) - before]
            ok(done.returncode == 0 and (done.stdout or written) and all(written), f"{page}: {command}",
               f"exit {done.returncode}\n{done.stderr}")
finish()
