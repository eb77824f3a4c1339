#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What tracepoints cost a function while they are off: cost.py BASE.o PATCHED.o [FUNCTION...]

Counts the instructions of a function that can be reached, and how many of those are the
five-byte nops that a static branch is while it is off: a function's entry is followed
through jumps, into its .cold part too, but not into what only a live static branch
jumps to. What the patches add beyond nops, by moving registers about, shows as the rest.
"""
import re
import subprocess
import sys

FUNCTIONS = """wakeup_preempt_fair pick_task_fair pick_eevdf avg_vruntime place_entity
update_curr throttle_cfs_rq unthrottle_cfs_rq select_task_rq_fair select_idle_sibling
select_idle_cpu select_idle_core find_energy_efficient_cpu compute_energy enqueue_task_fair
requeue_delayed_entity set_next_task_fair entity_tick task_tick_fair throttle_cfs_rq_work
hrtick_start_fair prio_changed_fair switched_to_fair""".split()


def functions(path):
    """{name: {address: (text, bytes)}}; the compiler's suffixes are left off."""
    out = subprocess.run(["objdump", "-dr", "--wide", path],
                         capture_output=True, text=True, check=True).stdout
    found, code = {}, None
    for line in out.splitlines():
        head = re.match(r"[0-9a-f]+ <(\S+)>:$", line)
        insn = re.match(r"\s+([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t?(.*)$", line)
        relocation = re.match(r"\s+[0-9a-f]+: R_\S+\s+(\S+)", line)
        if head:
            name = re.sub(r"\.(constprop|isra|part)\.\d+", "", head.group(1))
            code = found.setdefault(name, {})
            last = None
        elif insn and code is not None:
            if not insn.group(3):
                continue
            last = int(insn.group(1), 16)
            code[last] = [insn.group(3), len(insn.group(2).split())]
        elif relocation and last is not None:
            code[last][0] += " @" + relocation.group(1)
    return found


def count(code, cold):
    """(instructions, nops of static branches) that can be reached from the entry."""
    if not code:
        return None
    part = {"": code, "cold": cold or {}}
    seen, todo, total, nops = set(), [("", min(code))], 0, 0
    while todo:
        where, address = todo.pop()
        if (where, address) in seen or address not in part[where]:
            continue
        seen.add((where, address))
        text, size = part[where][address]
        total += 1
        nops += bool(size == 5 and text.startswith("nop"))
        name = text.split()[0]
        follow = not re.match(r"(jmp|ret|ud2)", name)
        if name.startswith("j"):
            target = re.search(r"@(\S+?\.cold)\S*?(?:\+0x([0-9a-f]+))?(?:-0x4)?$", text)
            local = re.search(r"\b([0-9a-f]+) <", text)
            if ".cold" in text and part["cold"]:
                todo.append(("cold", min(part["cold"])))
            elif "@.text" in text or "@" not in text:
                if local:
                    todo.append((where, int(local.group(1), 16)))
            del target
        if follow:
            todo.append((where, address + size))
    return total, nops


def main():
    before, after = functions(sys.argv[1]), functions(sys.argv[2])
    rows = [("function", "base", "patched", "more", "of them nops")]
    for name in sys.argv[3:] or FUNCTIONS:
        old = count(before.get(name), before.get(name + ".cold"))
        new = count(after.get(name), after.get(name + ".cold"))
        if not old and not new:
            continue
        if not old or not new:
            rows.append((name, *("inlined" if not x else str(x[0]) for x in (old, new)), "", ""))
            continue
        rows.append((name, str(old[0]), str(new[0]), f"{new[0] - old[0]:+d}",
                     f"{new[1] - old[1]:+d}"))
    width = [max(len(row[i]) for row in rows) for i in range(5)]
    for row in rows:
        print("  ".join([row[0].ljust(width[0])]
                        + [cell.rjust(width[i]) for i, cell in enumerate(row[1:], 1)]))
    for path in sys.argv[1:3]:
        size = subprocess.run(["size", path], capture_output=True, text=True, check=True).stdout
        print("text of", path.rsplit("/", 1)[-1], size.splitlines()[1].split()[0])


main()
