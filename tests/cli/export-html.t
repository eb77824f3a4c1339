#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""export --format=html: the page holds the report, asks for nothing from outside, and no name in
a recording becomes part of it. In headless Chromium, where there is one: charts, tables, keys,
light and dark, wide and narrow. TAP. SL_SCREENSHOTS=dir keeps the pictures."""
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tools"))
import cdp  # noqa: E402
from tap import finish, ok, skip  # noqa: E402

SCHEDLAT = os.environ.get("SCHEDLAT", "./schedlat")
TOP = HERE.parent.parent
GOLDEN = HERE.parent / "golden"
DEMO = HERE.parent / "data" / "demo.dat"
KEEP = os.environ.get("SL_SCREENSHOTS")


def schedlat(*args):
    return subprocess.run([SCHEDLAT, *map(str, args)], capture_output=True, timeout=120,
                          check=False)


def export(path, *args):
    done = schedlat("export", "--format=html", "-i", path, *args)
    if done.returncode or done.stderr:
        raise RuntimeError(f"{path}: {done.returncode} {done.stderr}")
    return done.stdout.decode()


def block(page, name):
    return json.loads(re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page,
                                re.S).group(1))


class Elements(html.parser.HTMLParser):
    """What a browser makes of it: elements, and what they load."""

    def __init__(self, page):
        super().__init__()
        self.names, self.links = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "action", "data", "poster", "srcset")]


page = export(DEMO)
report = json.loads(schedlat("report", "-i", DEMO, "--json", "--why=p99", "--by", "comm").stdout)
held = block(page, "report")
ok({k: held[k] for k in held if k != "why"} == {k: report[k] for k in report if k != "why"},
   "the page holds what report --json prints, of waits by name")
ok({k: v for k, v in held["why"].items() if k != "waits"} ==
   {k: v for k, v in report["why"].items() if k != "waits"}, "and its causes of the waits above P99")
ok([(w["tid"], w["start_ns"], w["delay_ns"]) for w in held["why"]["waits"]] ==
   [(w["tid"], w["start_ns"], w["delay_ns"]) for w in report["why"]["waits"]]
   and all(sum(s["ns"] for s in w["segments"]) == w["delay_ns"] for w in held["why"]["waits"]),
   "and these waits, whose segments add up")
kind, = block(page, "distribution")
whole = json.loads(schedlat("report", "-i", DEMO, "--json", "--by", "all").stdout)["groups"][0]
ok(all(kind[k] == whole[k] for k in ("kind", "count", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"))
   and sum(r[2] for r in kind["ranges"]) == kind["count"]
   and all(a[1] <= b[0] for a, b in zip(kind["ranges"], kind["ranges"][1:])),
   "the distribution is of all waits", {k: v for k, v in kind.items() if k != "ranges"}, whole)
kind, = block(export(GOLDEN / "path-and-queue.txt"), "distribution")
ok(kind["ranges"] == [[32768, 36864, 1]], "33 us lie in the first eighth above 2^15 ns", kind["ranges"])
few = export(DEMO, "--why=0ns", "-n", "5")
why = block(few, "report")["why"]
ok(len(why["waits"]) == 5 and why["count"] == 5346 and len(few) < 250000,
   "-n bounds the page, the causes are of all waits", len(why["waits"]), why["count"], len(few))
ok(page == export(DEMO), "the same page each time")

# ---- nothing from outside, nothing of a name ----

links = Elements(page).links
ok(set(links) == {"data:,", "#waits"}, "no link leads out of the page", links)
code = re.sub(r"/\*.*?\*/", "", page, flags=re.S)
loads = re.findall(r"fetch\(|XMLHttpRequest|WebSocket|EventSource|importScripts|\bimport[ (]|sendBeacon|url\(|@import", code)
ok(not loads and "default-src 'none'" in page, "nothing loads anything, and nothing may", loads)
ok("eval(" not in code and "innerHTML" not in re.sub(r"var uPlot=.*", "", code),
   "the page's own script sets names as text")
ok((TOP / "third_party/uplot/LICENSE").read_text() in page, "the page has the licence of uPlot")
EVIL = ["</script><b>x", "<!--<script>", "<img src=x>&lt;", "');alert(1)//"]
with tempfile.TemporaryDirectory() as name:
    tmp = pathlib.Path(name)
    golden = (GOLDEN / "two-wait-behind-one.txt").read_text()
    hostile = []
    for i in range(0, len(EVIL), 2):
        path = tmp / f"hostile{i}.txt"
        path.write_text(golden.replace("@task 100 first", f'@task 100 "{EVIL[i]}"')
                        .replace("@task 200 hog", f'@task 200 "{EVIL[i + 1]}"')
                        .replace("0     0     sched_switch", f'0 0 schedlat:meta x "{EVIL[0]}"\n'
                                 "0     0     sched_switch", 1))
        hostile.append((path, export(path, "--why=0ns")))
    plain = Elements(export(GOLDEN / "two-wait-behind-one.txt", "--why=0ns")).names
    for path, text in hostile:
        ok(Elements(text).names == plain and text.lower().count("</script") == 5,
           f"names make no elements ({path.name})", text.lower().count("</script"))
    comm = block(hostile[0][1], "report")["why"]["waits"][0]["comm"]
    ok(comm == EVIL[0], "and come back as they were", comm)

    for args, word in ((["--format=csv", "-n", "3"], b"html"), (["--format=jsonl", "--by", "tid"], b"html"),
                       (["--format=html", "--fields=tid"], b"csv"), (["--format=html", "-n", "x"], b"-n")):
        done = schedlat("export", "-i", DEMO, *args)
        ok(done.returncode == 129 and not done.stdout and word in done.stderr, f"refused: {' '.join(args)}", done)

    # ---- in a browser ----

    def shown(browser, id_):
        return browser.run(f"document.getElementById('{id_}').textContent")

    def save(browser, title):
        png = browser.screenshot()
        if KEEP:
            pathlib.Path(KEEP).mkdir(parents=True, exist_ok=True)
            (pathlib.Path(KEEP) / f"{title}.png").write_bytes(browser.screenshot(True))
        return png

    def drawn(browser, chart):
        """Pixels of a chart that are not empty."""
        return browser.run(f"(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data"
                           f".filter((v, i) => i % 4 === 3 && v).length)"
                           f"(document.querySelector('#{chart}-chart canvas'))")

    def examine(b):
        file = tmp / "page.html"
        file.write_text(export(DEMO, "-n", "20"))
        b.size(1280, 900)
        b.open(file)
        ok(not b.complaints(), "no error, no request", *b.complaints())
        ok(b.run("document.querySelectorAll('#waits tbody tr').length") == 20, "a row per wait")
        note = shown(b, "waits-note")
        ok("20 longest of these 53 waits" in note, "the page says what it leaves out", note)
        ok("above P99 = 2.967 ms" in shown(b, "causes-note") and "193.8 ms in all" in shown(b, "causes-note"),
           "what the causes are of", shown(b, "causes-note"))
        row = b.run("[...document.querySelectorAll('#causes tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        ok(len(row) == len(held["why"]["causes"]) and row[0][:4] == ["ineligible", "fair", "96.67 ms", "49.9 %"],
           "causes with time and share", row[:1])
        figures = b.run("[...document.querySelectorAll('#figures td')].map(c => c.textContent)")
        ok(figures == ["5,346", "20.23 us", "1.174 ms", "2.967 ms", "4.527 ms", "5.579 ms"], "percentiles", figures)
        ok(all(drawn(b, c) > 1000 for c in ("distribution", "cdf", "timeline")), "three charts are drawn")
        marks = b.run("[...document.querySelectorAll('#timeline-legend polygon')].map(p => p.getAttribute('points'))")
        ok(len(marks) == 3 and len(set(marks)) == 3, "marks differ in shape, not only in colour")

        # Only keys from here on: skip link, sorting, opening a row, a chart.
        b.press("Tab")
        ok(b.run("document.activeElement.className") == "skip", "the first stop leads to the table")
        b.run("document.querySelector('#waits thead button').focus()")
        b.press("Enter")
        first = b.run("document.querySelector('#waits tbody th').textContent")
        ok(b.run("document.querySelector('#waits th').getAttribute('aria-sort')") == "ascending"
           and "cyclictest" in first, "Enter on a heading sorts", first)
        b.run("document.querySelectorAll('#waits thead button')[1].focus()")
        b.press("Enter")
        b.run("document.querySelector('#waits tbody button').focus()")
        b.press(" ")
        longest = held["why"]["waits"][0]
        lines = b.run("[...document.querySelectorAll('.parts tbody tr')].map(r => [...r.cells].map(c => c.textContent))")
        ok(len(lines) == len(longest["segments"]) and [line[3] for line in lines] ==
           [s["reason"] or s["kind"] for s in longest["segments"]], "a row opens: its segments", lines[:3])
        b.run("document.getElementById('timeline-chart').focus()")
        b.press("Home", "ArrowRight")
        second = sorted(held["why"]["waits"][:20], key=lambda w: w["start_ns"] + w["delay_ns"])[1]
        said = shown(b, "timeline-readout")
        ok(f"{second['comm']} {second['tid']} waited" in said and second["primary"]["id"] in said,
           "arrow keys walk through the timeline", said)
        b.press("Enter")
        ok(b.run("document.activeElement.closest('tr').classList.contains('chosen')")
           and b.run("document.activeElement.getAttribute('aria-expanded')") == "true" and str(second["tid"]) in b.run("document.activeElement.closest('tr').textContent"),
           "Enter goes to the row of the wait and opens it")
        b.run("document.getElementById('cdf-chart').focus()")
        b.press("End")
        ok("100 % of wake waits took at most 5.579 ms" in shown(b, "cdf-readout"), "the whole distribution",
           shown(b, "cdf-readout"))
        b.run("(f => (f.value = 'cyclictest', f.dispatchEvent(new Event('input'))))(document.getElementById('filter'))")
        rows = b.run("[...document.querySelectorAll('#waits tbody th')].map(c => c.textContent)")
        ok(rows and len(rows) < 20, "rows are filtered", rows)
        b.run("document.querySelector('#timeline-legend button').click()")
        ok(b.run("document.querySelector('#timeline-legend button').getAttribute('aria-pressed')") == "false",
           "a cause can be hidden")

        backs = []
        for width, dark in ((1280, False), (1280, True), (400, False), (400, True)):
            title = f"{width}-{'dark' if dark else 'light'}"
            b.open(file)
            b.size(width, 500, dark)
            wide, height, rows, per = cdp.pixels(save(b, title))
            colours = {r[x:x + per] for r in rows[::3] for x in range(0, len(r), 3 * per)}
            backs.append(tuple(rows[height - 1][:3]))
            over = b.run("document.documentElement.scrollWidth")
            ok(wide == width and len(colours) > 8 and over <= width and all(
                drawn(b, c) > 500 for c in ("distribution", "cdf", "timeline")) and not b.complaints(),
               f"{title}: drawn, and no wider than the window", len(colours), over, *b.complaints())
        ok(backs[0] == backs[2] == (255, 255, 255) and backs[1] == backs[3] and sum(backs[1]) < 150,
           "light and dark", backs)
        for path, text in hostile:
            file.write_text(text)
            b.open(file)
            evil = EVIL[hostile.index((path, text)) * 2]
            ok(not b.complaints() and evil in shown(b, "waits")
               and b.run("document.querySelectorAll('b, img, #waits script').length") == 0,
               f"{path.name}: shown as text", *b.complaints())
        file.write_text(export(DEMO, "--waits=all", "--why=1ms"))
        b.open(file)
        ok(not b.complaints() and len(b.run("[...document.querySelectorAll('#figures tbody th')].map(c => c.textContent)")) > 1,
           "several kinds of waits", *b.complaints())
        file.write_text(export(GOLDEN / "path-and-queue.txt", "--time", "5,6"))
        b.open(file)
        ok(not b.complaints() and "none" in shown(b, "timeline-note"), "no wait at all", *b.complaints())
        file.write_text(export(GOLDEN / "clock-beyond-59-bits.txt", "--why=0ns"))
        b.open(file)
        ok(not b.complaints(), "a clock that is beyond what a number is exact for", *b.complaints())

    if cdp.find():
        with cdp.Browser() as browser:
            examine(browser)
    else:
        skip("the page in a browser", "chromium is not installed")
finish()
