# SPDX-License-Identifier: GPL-2.0-only
"""A headless Chromium, spoken to over its debugging pipe: no port, no other library."""
import base64
import json
import os
import select
import shutil
import struct
import subprocess
import tempfile
import time
import zlib


def find():
    """The browser's path, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Failed(Exception):
    """The browser said no, or nothing."""


class Browser:
    """with Browser() as b: b.open(path); b.run("1 + 1")"""

    def __init__(self, timeout=60):
        self.timeout, self.number, self.buffer, self.events = timeout, 0, b"", []
        self.profile = tempfile.mkdtemp()
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()

        def own_pipes():
            # It reads from 3 and writes to 4; the ends may be these numbers already.
            spare = [os.dup2(to_read, 100), os.dup2(to_write, 101)]
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        self.process = subprocess.Popen(  # pylint: disable=subprocess-popen-preexec-fn
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={self.profile}",
             "--remote-debugging-pipe", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False,
            preexec_fn=own_pipes)
        os.close(to_read)
        os.close(to_write)
        self.session = None
        pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        target = pages[0]["targetId"] if pages else \
            self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise Failed("no answer from the browser")
            data = os.read(self.back, 1 << 20)
            if not data:
                raise Failed("the browser is gone")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + self.timeout
        while True:
            answer = self.receive(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        """Load a file; events of it are collected from here on."""
        self.events = []
        self.call("Page.navigate", url=f"file://{path}")
        until = time.monotonic() + self.timeout
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive(until))

    def run(self, expression):
        """The value of an expression in the page; a promise is waited for."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise Failed(str(done["exceptionDetails"].get("exception", done["exceptionDetails"])))
        return done["result"].get("value")

    def size(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        # Two frames: one for the layout, one for what redraws after it.
        self.run("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def press(self, *keys):
        codes = {"Tab": 9, "Enter": 13, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, " ": 32}
        for key in keys:
            text = {"Enter": "\r", " ": " "}.get(key, "")
            for kind in ("keyDown", "keyUp"):
                self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=codes[key],
                          **({"text": text} if text and kind == "keyDown" else {}))

    def screenshot(self, whole=False):
        """A PNG of what is seen, or of the whole page."""
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole,
                                          **({"clip": self.whole()} if whole else {}))["data"])

    def whole(self):
        found = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": found["width"], "height": found["height"], "scale": 1}

    def complaints(self):
        """Errors of scripts, messages of the console, and requests for anything but the page."""
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled":
                found.append(str(params["args"]))
            elif method == "Log.entryAdded":
                found.append(params["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:", "about:")):
                    found.append(f"asks for {url}")
        return found


def pixels(png):
    """(width, height, rows of bytes, bytes per pixel) of a PNG as Chromium writes it."""
    at, data, head = 8, b"", None
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        head = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else head
        data += body if kind == b"IDAT" else b""
        at += size + 12
    width, height, _, colour = head[:4]
    per = {2: 3, 6: 4}[colour]
    raw, rows, line = zlib.decompress(data), [], bytearray(width * per)
    for y in range(height):
        begin = y * (width * per + 1)
        kind, new = raw[begin], bytearray(raw[begin + 1:begin + 1 + width * per])
        for x in range(width * per if kind else 0):
            left = new[x - per] if x >= per else 0
            up, corner = line[x], line[x - per] if x >= per else 0
            if kind == 4:
                guess = left + up - corner
                best = sorted((abs(guess - v), i) for i, v in enumerate((left, up, corner)))[0][1]
                add = (left, up, corner)[best]
            else:
                add = (0, left, up, (left + up) // 2)[kind]
            new[x] = (new[x] + add) & 0xff
        rows.append(bytes(new))
        line = new
    return width, height, rows, per
