#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What tracepoints cost a function while they are off: cost.py BASE.o PATCHED.o [FUNCTION...]

For objects of x86-64. Counts a function's instructions that can be reached from its entry,
through jumps and into its .cold part, while all tracepoints are off. The place of a
tracepoint is then a nop, counted, and what it would jump to is not followed. What more
there is beyond these nops comes from registers that are used differently, and from code
that is aligned or inlined in another way.
"""
import re
import subprocess
import sys

FUNCTIONS = """wakeup_preempt_fair pick_task_fair pick_eevdf avg_vruntime place_entity
update_curr throttle_cfs_rq unthrottle_cfs_rq select_task_rq_fair select_idle_sibling
select_idle_cpu select_idle_core find_energy_efficient_cpu compute_energy enqueue_task_fair
requeue_delayed_entity set_next_task_fair entity_tick task_tick_fair throttle_cfs_rq_work
hrtick_start_fair prio_changed_fair switched_to_fair""".split()


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def branches(path):
    """The places of tracepoints: {(section, address)}, from the table of static branches."""
    said = re.findall(r"^[0-9a-f]+ R_X86_64_\S+\s+(\S+?)(?:[+-]0x([0-9a-f]+))?$",
                      run("objdump", "-r", "-j", "__jump_table", path), re.M)
    return {(place[0], int(place[1] or "0", 16))
            for place, _, key in zip(said[0::3], said[1::3], said[2::3])
            if key[0].startswith("__tracepoint_")}


def functions(path):
    """{name: {address: (text, length, is a tracepoint)}}; the compiler's suffixes are left off."""
    off, found, code, section, last = branches(path), {}, None, "", None
    for line in run("objdump", "-dr", "--wide", path).splitlines():
        head = re.match(r"[0-9a-f]+ <(\S+)>:$", line)
        insn = re.match(r"\s+([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t?(.*)$", line)
        relocation = re.match(r"\s+[0-9a-f]+: R_\S+\s+(\S+)", line)
        if line.startswith("Disassembly of section "):
            section = line.split()[-1].rstrip(":")
        elif head:
            name = re.sub(r"\.(constprop|isra|part)\.\d+", "", head.group(1))
            code = found.setdefault(name, {})
            last = None
        elif insn and insn.group(3) and code is not None:
            last = int(insn.group(1), 16)
            code[last] = [insn.group(3), len(insn.group(2).split()), (section, last) in off]
        elif relocation and last is not None:
            code[last][0] += " @" + relocation.group(1)
    return found


def count(code, cold):
    """(instructions, tracepoints) that can be reached from the entry."""
    if not code:
        return None
    part = {"": code, "cold": cold or {}}
    seen, todo, total, points = set(), [("", min(code))], 0, 0
    while todo:
        where, address = todo.pop()
        if (where, address) in seen or address not in part[where]:
            continue
        seen.add((where, address))
        text, length, point = part[where][address]
        total += 1
        points += point
        if point:
            todo.append((where, address + length))
            continue
        name = text.split()[0]
        if name.startswith("j"):
            local = re.search(r"\b([0-9a-f]+) <", text)
            if "@" in text and part["cold"] and where == "":
                todo.append(("cold", min(part["cold"])))
            elif local and "@" not in text:
                todo.append((where, int(local.group(1), 16)))
        if not re.match(r"(jmp|ret|ud2)", name):
            todo.append((where, address + length))
    return total, points


def main():
    before, after = functions(sys.argv[1]), functions(sys.argv[2])
    rows = [("function", "base", "patched", "more", "of them nops")]
    for name in sys.argv[3:] or FUNCTIONS:
        old = count(before.get(name), before.get(name + ".cold"))
        new = count(after.get(name), after.get(name + ".cold"))
        if old and new:
            rows.append((name, str(old[0]), str(new[0]), f"{new[0] - old[0]:+d}",
                         f"{new[1] - old[1]:+d}"))
        elif old or new:
            rows.append((name, *(str(x[0]) if x else "inlined" for x in (old, new)), "", ""))
    width = [max(len(row[i]) for row in rows) for i in range(5)]
    for row in rows:
        print("  ".join([row[0].ljust(width[0])]
                        + [cell.rjust(width[i]) for i, cell in enumerate(row[1:], 1)]).rstrip())
    sizes = [run("size", path).splitlines()[1].split()[0] for path in sys.argv[1:3]]
    print("text of the whole file:", *sizes)


main()
