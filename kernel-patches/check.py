#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What of the patches can be checked without compiling: check.py SOURCE

Prints "ok TEXT" and "not ok TEXT"; check.sh numbers them. SOURCE stays untouched: the
files that the patches change are copied.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TRACE = "include/trace/events/sched.h"
SIZES = {"char": 1, "u8": 1, "int": 4, "u32": 4, "pid_t": 4, "u64": 8, "s64": 8}
SIGNED = {"int", "pid_t", "s64"}
COMM_LEN = 16
HEAD = """\
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;
"""


def result(good, text, why=""):
    print(("ok " if good else "not ok ") + text)
    if not good:
        for line in str(why).splitlines()[:40]:
            print("# " + line)
    return good


class Patch:
    """One file of format-patch: head, message, notes, diff."""

    def __init__(self, name):
        self.name = name
        self.path = HERE / name
        text = self.path.read_text()
        head, _, rest = text.partition("\n\n")
        self.head = re.sub(r"\n[ \t]+", " ", head)
        message, _, rest = rest.partition("\n---\n")
        self.message = message
        notes, _, diff = ("\n" + rest).partition("\ndiff --git ")
        self.notes = notes
        self.diff = diff and "diff --git " + diff

    def header(self, key):
        found = re.search(rf"^{key}: (.*)$", self.head, re.M)
        return found.group(1) if found else ""

    def subject(self):
        return re.sub(r"^\[PATCH[^]]*\]\s*", "", self.header("Subject"))

    def files(self):
        return re.findall(r"^diff --git a/(\S+)", self.diff, re.M)

    def explained(self):
        """The kinds of checkpatch.pl's remarks that the notes give a reason for."""
        return set(re.findall(r"^\s*checkpatch ([A-Z_]+): \S", self.notes, re.M))


def series():
    lines = (HERE / "series").read_text().splitlines()
    return [Patch(line) for line in lines if line.strip() and not line.startswith("#")]


def check_series(patches):
    named = {patch.name for patch in patches}
    there = {str(p.relative_to(HERE)) for p in HERE.glob("*/[0-9]*.patch")
             if not p.name.startswith("0000-")}
    result(named == there, "series names each patch, and no other", named ^ there)
    for group in sorted({patch.name.split("/")[0] for patch in patches}):
        mine = [patch for patch in patches if patch.name.startswith(group + "/")]
        total = len(mine)
        wrong = [patch.name for number, patch in enumerate(mine, 1)
                 if not pathlib.Path(patch.name).name.startswith(f"{number:04d}-")
                 or f"[PATCH {number:0{len(str(total))}}/{total}]" not in patch.head]
        result(not wrong, f"{group}: numbered 1 to {total} in the order of series", wrong)
        cover = HERE / group / "0000-cover-letter.patch"
        text = cover.read_text() if cover.exists() else ""
        words = " ".join(text.split())
        missing = [patch.subject() for patch in mine if patch.subject() not in words]
        result(text and not missing, f"{group}: the cover letter has each subject",
               missing or f"no {cover}")
        result("***" not in text, f"{group}: the cover letter is written")


def check_form(patch):
    lines = patch.message.splitlines()
    signed = [line for line in lines if line.startswith("Signed-off-by: ")]
    why = [line for line in lines if line and not re.match(r"[A-Z][a-z-]+-by: ", line)]
    wrong = []
    if not re.match(r"(\S+( \S+)?: )+[A-Z]", patch.subject()):
        wrong.append(f"subject: {patch.subject()!r}")
    if len(why) < 3:
        wrong.append("a message of less than three lines does not say why")
    if not signed or signed[-1] != f"Signed-off-by: {patch.header('From')}":
        wrong.append(f"not signed off by {patch.header('From')}")
    long = [line for line in lines if len(line) > 75]
    result(not wrong and not long, f"{patch.name}: subject, why, signed off", wrong + long)


def check_style(patch, source):
    run = subprocess.run(
        ["perl", "scripts/checkpatch.pl", "--strict", "--show-types", "--no-summary",
         "--no-color", str(patch.path)], cwd=source, capture_output=True, text=True, check=False)
    said = re.findall(r"^(ERROR|WARNING|CHECK):([A-Z_]+):", run.stdout, re.M)
    grave = [f"{level}: {kind}" for level, kind in said if level != "CHECK"]
    open_ = sorted({kind for _, kind in said} - patch.explained())
    idle = sorted(patch.explained() - {kind for _, kind in said})
    if not said and run.returncode not in (0, 1):
        grave.append(run.stderr)
    result(not grave and not open_,
           f"{patch.name}: checkpatch.pl --strict: no error, no warning, all checks explained",
           "\n".join(grave + open_) + "\n" + run.stdout)
    result(not idle, f"{patch.name}: explains only what checkpatch.pl says", idle)


def check_apply(patches, source, work):
    """Applies all to a copy of what they change. True when that went well."""
    for name in {name for patch in patches for name in patch.files()}:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        if (source / name).exists():
            shutil.copy(source / name, work / name)
    for patch in patches:
        run = subprocess.run(
            ["patch", "-p1", "--fuzz=0", "--batch", "--forward", "--no-backup-if-mismatch",
             "-i", str(patch.path)], cwd=work, capture_output=True, text=True, check=False)
        moved = re.findall(r"offset (-?\d+) lines?", run.stdout)
        if not result(run.returncode == 0, f"{patch.name}: applies without fuzz"
                      + (f" ({len(moved)} hunks moved)" if moved else ""),
                      run.stdout + run.stderr):
            return False
    return True


def expand(text, macros):
    """The arguments of TP_printk with what our own macros stand for."""
    for _ in range(4):
        for name, (argument, body) in macros.items():
            if argument is None:
                text = re.sub(rf"\b{name}\b", lambda _: body, text)
            else:
                text = re.sub(rf"\b{name}\(([^()]*)\)",
                              lambda m: re.sub(rf"\b{argument}\b", lambda _: m.group(1), body),
                              text)
    return text


def squeeze(text):
    """Without space that means nothing, outside of strings."""
    parts = re.split(r'("(?:[^"\\]|\\.)*")', text)
    return "".join(part if i % 2 else re.sub(r"\s+", "", part) for i, part in enumerate(parts))


class Events:
    """The events of a trace header, as the text of the header has them."""

    def __init__(self, text, extra):
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        extra = re.sub(r"/\*.*?\*/", "", extra, flags=re.S)
        joined = re.sub(r"\\\n\s*", " ", text + "\n" + extra)
        self.macros = {}
        for name, argument, body in re.findall(
                r"^#define (show_sched_\w+|SCHED_\w+)(?:\((\w+)\))?[ \t]+(.*)$", joined, re.M):
            self.macros[name] = (argument or None, body.strip())
        for body in re.findall(r"^enum \w+ \{(.*?)^\};", extra, re.S | re.M):
            for number, name in enumerate(re.findall(r"(\w+)\s*,", body)):
                self.macros[name] = (None, str(number))
        self.classes = {}
        self.events = {}
        for kind, name, body in re.findall(
                r"^(TRACE_EVENT|DECLARE_EVENT_CLASS)\((\w+),(.*?)^\);", text, re.S | re.M):
            (self.events if kind == "TRACE_EVENT" else self.classes)[name] = body
        for cls, name in re.findall(r"^DEFINE_EVENT\((\w+),\s*(\w+),", text, re.M):
            if cls in self.classes:
                self.events[name] = self.classes[cls]

    def words(self, name):
        """The words that an event prints for the values of its fields."""
        body = self.events[name]
        used = [macro for macro in self.macros if macro.startswith("show_sched_")
                and re.search(rf"\b{macro}\(", body)]
        return {word for macro in used
                for word in re.findall(r'"([a-z-]+)"', self.macros[macro][1])}

    def format(self, name):
        """What /sys/kernel/tracing/events/sched/NAME/format says, without the ID."""
        body = self.events[name]
        lines, offset = [f"name: {name}\nformat:\n{HEAD}\n"], 8
        for kind, ctype, field, _ in re.findall(
                r"__(field|array)\(\s*(\w+),\s*(\w+)\s*(?:,\s*(\w+)\s*)?\)", body):
            size = SIZES[ctype]
            offset = (offset + size - 1) // size * size
            count = f"[{COMM_LEN}]" if kind == "array" else ""
            whole = size * (COMM_LEN if kind == "array" else 1)
            lines.append(f"\tfield:{ctype} {field}{count};\toffset:{offset};\tsize:{whole};"
                         f"\tsigned:{int(ctype in SIGNED)};\n")
            offset += whole
        printk = re.search(r"TP_printk\((.*)\)\s*$", body.strip(), re.S).group(1)
        string, _, arguments = printk.partition('",')
        arguments = expand(arguments, self.macros).replace("__entry->", "REC->")
        lines.append(f'\nprint fmt: {string}", {arguments}\n')
        return "".join(lines)


def check_contract(work, source):
    before = Events((source / TRACE).read_text(), "").events
    header = work / "include/linux/sched/decision.h"
    after = Events((work / TRACE).read_text(), header.read_text() if header.exists() else "")
    new = sorted(set(after.events) - set(before))
    contract = {path.stem: path.read_text() for path in (HERE / "contract").glob("*.format")}
    result(new and set(new) == set(contract), "contract/ has each new event, and no other",
           set(new) ^ set(contract))
    pages = [(work / name).read_text() for name in
             {str(p.relative_to(work)) for p in work.glob("Documentation/**/*.rst")}
             if not (source / name).exists()]
    for name in new:
        result(squeeze(contract.get(name, "")) == squeeze(after.format(name)),
               f"contract: {name} is what the header makes of it", after.format(name))
        section = [s for page in pages for s in re.split(r"\n(?=\S+\n[-=~]{3,}\n)", page)
                   if re.search(rf"\b{name}\b", s)]
        fields = set(re.findall(r"__(?:field|array)\(\s*\w+,\s*(\w+)", after.events[name]))
        missing = sorted(word for word in after.words(name) | fields
                         if not any(re.search(rf"(?<![\w-]){word}(?![\w-])", s) for s in section))
        result(section and not missing, f"documentation: {name}, its fields and words", missing)


def check_states(work):
    """The functions that map utilization to performance states, out of the patched header."""
    header = (work / "include/linux/energy_model.h").read_text()
    found = [re.search(rf"^static inline int\n{name}\(.*?^}}\n", header, re.S | re.M) for name in
             ("em_pd_get_efficient_state", "em_pd_get_previous_state")]
    if not all(found):
        result(False, "energy model: both functions are in the header")
        return
    (work / "em-functions.h").write_text("\n".join(match.group(0) for match in found))
    build = subprocess.run(["gcc", "-O2", "-I", str(work), "-o", str(work / "em-states"),
                            str(HERE / "em-states.c")], capture_output=True, text=True, check=False)
    run = build if build.returncode else subprocess.run(
        [str(work / "em-states")], capture_output=True, text=True, check=False)
    result(run.returncode == 0, "energy model: a utilization has one state, by both functions",
           run.stdout + run.stderr)


def main():
    source = pathlib.Path(sys.argv[1])
    patches = series()
    check_series(patches)
    for patch in patches:
        check_form(patch)
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        if check_apply(patches, source, work):
            check_contract(work, source)
            check_states(work)
    for patch in patches:
        check_style(patch, source)


main()
