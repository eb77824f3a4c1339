# SPDX-License-Identifier: GPL-2.0-only
"""TAP, as the tests written in Python print it."""
import sys

number = failed = 0


def ok(good, name, *why):
    """One line; where it is not good, why: one thing or several, of which 30 lines are shown."""
    global number, failed
    number += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {name}")
    for line in "\n".join(map(str, why)).splitlines()[:30] if not good else ():
        print(f"#   {line}")


def equal(got, want, name):
    ok(got == want, name, f"got:  {got!r}", f"want: {want!r}")


def skip(name, reason):
    ok(True, f"{name} # SKIP {reason}")


def finish():
    """The plan; the exit status says whether something failed."""
    print(f"1..{number}")
    sys.exit(1 if failed else 0)
