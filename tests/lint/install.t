#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# make install puts down everything that make uninstall takes away; a program can be
# built against what was installed; the shared library exports what it should.
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap

O = os.environ.get("O", os.path.join(tap.TOP, "build"))
LIB = os.path.join(O, "libschedlat.so.0")
if not (tap.tool() and os.path.exists(LIB)):
    tap.skip_all(f"not built in {O}")
os.chdir(tap.TOP)
t = tap.Tap()


def sh(*args, env=None):
    return subprocess.run(args, capture_output=True, text=True, check=False,
                          env={**os.environ, **(env or {})})


def make(*args):
    out = sh("make", "--no-print-directory", f"O={O}", *args)
    if out.returncode:
        for line in (out.stdout + out.stderr).splitlines()[-10:]:
            print(f"# {line}")
    return out.returncode == 0


def tree(top):
    return sorted(os.path.relpath(os.path.join(base, f), top)
                  for base, _, found in os.walk(top) for f in found)


CONSUMER = r"""
#include <schedlat/report.h>
#include <stdio.h>
int main(void)
{
	struct sl_report_params params = {.path = "/nonexistent/file.dat"};
	struct sl_report *report = NULL;
	struct sl_err err = {{0}};
	struct sl_why_spec why;
	int ret = sl_report_run(&params, &report, &err);

	sl_report_free(report);
	printf("%d %d %s %s\n", ret, sl_why_parse("p99.9", &why, &err),
	       sl_cause_descs[SL_CAUSE_WAKE_PATH].id, sl_wait_kind_name(SL_WAIT_WAKE));
	return 0;
}
"""

with tempfile.TemporaryDirectory() as tmp:
    dest = os.path.join(tmp, "dest")
    t.ok(make("install", f"DESTDIR={dest}", "PREFIX=/usr"), "make install works with DESTDIR")
    found = tree(dest)
    want = ["usr/bin/schedlat", "usr/lib/libschedlat.a", "usr/lib/libschedlat.so",
            "usr/lib/libschedlat.so.0", "usr/lib/pkgconfig/schedlat.pc",
            "usr/include/schedlat/report.h", "usr/include/schedlat/wait.h",
            "usr/share/bash-completion/completions/schedlat"]
    want += [f"usr/share/man/man{p[-1]}/{p}" for p in os.listdir("man") if p[-1].isdigit()]
    t.none([w for w in want if w not in found], "everything is installed", )
    t.none([f for f in found if not f.startswith("usr/")], "nothing lies outside the prefix")
    pc = os.path.join(dest, "usr/lib/pkgconfig/schedlat.pc")
    if os.path.exists(pc):
        with open(pc, encoding="utf-8") as file:
            text = file.read()
        t.ok(dest not in text and "prefix=/usr\n" in text and "@" not in text,
             "schedlat.pc names the prefix, not DESTDIR", *text.splitlines())
    t.ok(make("uninstall", f"DESTDIR={dest}", "PREFIX=/usr"), "make uninstall works")
    t.none(tree(dest), "and leaves nothing")

    prefix = os.path.join(tmp, "prefix")
    make("install", f"PREFIX={prefix}")
    pkg = {"PKG_CONFIG_PATH": os.path.join(prefix, "lib/pkgconfig")}
    source = os.path.join(tmp, "consumer.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(CONSUMER)
    for how, extra in (("shared", []), ("static", ["--static"])):
        flags = sh("pkg-config", *extra, "--cflags", "--libs", "schedlat", env=pkg).stdout.split()
        if how == "static":
            flags = [os.path.join(prefix, "lib/libschedlat.a") if f == "-lschedlat" else f
                     for f in flags]
        binary = os.path.join(tmp, how)
        sanitize = [f"-fsanitize={os.environ['SANITIZE']}"] if os.environ.get("SANITIZE") else []
        built = sh("gcc", "-Wall", "-Werror", *sanitize, "-o", binary, source, *flags)
        if not t.ok(built.returncode == 0, f"a program builds against the {how} library",
                    *built.stderr.splitlines()[:20]):
            continue
        out = sh(binary, env={"LD_LIBRARY_PATH": os.path.join(prefix, "lib")})
        t.ok(out.stdout == "-2 0 wake-path wake\n", "and runs: -ENOENT for a missing file",
             repr(out.stdout), out.stderr)

marked = set()
for header in (n for n in tap.files() if n.endswith(".h") and n != "include/schedlat/api.h"):
    for line in re.findall(r"^(?:extern )?SL_API (.*)$", tap.text(header), re.M):
        marked.add(re.search(r"(\w+)(?:\(|\[|;)", line).group(1))
mapped = set(re.findall(r"^\s+(sl_\w+);", tap.text("lib/libschedlat.map"), re.M))
exported = {line.split()[-1].split("@")[0] for line in
            sh("nm", "-D", "--defined-only", LIB).stdout.splitlines() if " A " not in line}
t.none([f"{n}: SL_API but not in the map" for n in sorted(marked - mapped)]
       + [f"{n}: in the map but not SL_API" for n in sorted(mapped - marked)],
       "the version map lists what SL_API marks")
t.none([f"{n}: exported" for n in sorted(exported - mapped)]
       + [f"{n}: not exported" for n in sorted(mapped - exported)],
       "the library exports what the map lists, no more")
t.done()
