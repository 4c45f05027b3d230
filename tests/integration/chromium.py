# SPDX-License-Identifier: Apache-2.0
"""A browser without a window, told what to do over a pipe: Chromium's DevTools protocol, messages
that end with a zero byte.

    with Browser(place) as browser:
        browser.open("http://127.0.0.1:27380/")
        equal(browser.run("document.title"), "...")
        equal(browser.complaints, [])
"""

import base64
import json
import os
import select
import shutil
import subprocess
import time

import harness
from harness import Failure, Skip

# As for a machine that does much else; each answer may take that long.
ANSWER_S = 120


def path():
    found = os.environ.get("CREST_CHROMIUM") or shutil.which("chromium")
    if found is None:
        raise Skip("there is no chromium (Debian: chromium)")
    return found


class Browser:
    def __init__(self, place, *options):
        self.complaints = []  # what the page's scripts failed with, and what a policy blocked
        self.number, self.session, self.rest = 0, None, b""
        theirs, self.to = os.pipe()
        self.back, ours = os.pipe()
        with open(place.folder / "chromium.log", "wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{ours}', "bash", path(), "--headless",
                 "--no-sandbox", "--disable-gpu", "--log-level=3", "--remote-debugging-pipe",
                 f"--user-data-dir={place.folder}/chromium", *options, "about:blank"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(theirs, ours))
        os.close(theirs)
        os.close(ours)

    def __enter__(self):
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log"):
            self.call(part + ".enable")
        return self

    def __exit__(self, *_):
        # of its own processes none may outlive it
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(harness.ANSWER_S)
        except (Failure, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)

    def message(self, until):
        while b"\0" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise Failure(f"the browser has not answered in {ANSWER_S} s")
            part = os.read(self.back, 1 << 16)
            if not part:
                raise Failure(f"the browser ended with status {self.process.wait()}")
            self.rest += part
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + ANSWER_S
        while True:
            answer = self.message(until)
            if answer.get("method") == "Runtime.exceptionThrown":
                self.complaints.append(answer["params"]["exceptionDetails"])
            entry = answer.get("params", {}).get("entry", {})
            if answer.get("method") == "Log.entryAdded" and entry["level"] == "error":
                self.complaints.append(entry["text"])
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)
        harness.wait_for(f"{url} to be whole",
                         lambda: self.run("document.readyState") == "complete")

    def run(self, expression):
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failure(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key):
        """A key, as of a keyboard."""
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      **(text if kind == "keyDown" else {}))

    def picture(self, file):
        """What is seen, as PNG: for people."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
