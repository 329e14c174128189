"""A browser for the tests: headless Chromium over its debugging pipe, nothing but the standard library.

Chromium started with ``--remote-debugging-pipe`` reads commands on file descriptor 3 and writes answers and
events on 4, each a JSON text that ends with a zero byte. `Browser` opens pages in it; `Page` evaluates
JavaScript and collects console messages, errors and network requests.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]


def find_chromium():
    """Path of a Chromium, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((path for path in map(shutil.which, names) if path), None)


class Browser:
    """A running Chromium; a context manager."""

    def __init__(self, program):
        self._profile = tempfile.mkdtemp(prefix="surewood-chromium-")
        commands_out, self._commands = os.pipe()
        self._answers, answers_in = os.pipe()
        self._process = subprocess.Popen(
            # a shell puts the pipe's ends where Chromium looks for them
            ["bash", "-c", f'exec "$@" 3<&{commands_out} 4>&{answers_in}', "chromium", program, *FLAGS,
             f"--user-data-dir={self._profile}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(commands_out, answers_in),
        )  # fmt: skip
        os.close(commands_out)
        os.close(answers_in)
        self._left, self._next, self._answered, self.pages = b"", 0, {}, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", timeout=5)
            self._process.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait(10)
        finally:
            os.close(self._commands)
            os.close(self._answers)
            shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method, session=None, timeout=60, **params):
        """Send a command and return its result."""
        self._next += 1
        number = self._next
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + timeout
        while number not in self._answered:
            self.listen(end - time.monotonic())
        answer = self._answered.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer.get("result", {})

    def listen(self, timeout):
        """Read what Chromium has to say; events go to their page."""
        if timeout <= 0 or not select.select([self._answers], [], [], timeout)[0]:
            raise TimeoutError("Chromium did not answer in time")
        chunk = os.read(self._answers, 1 << 20)
        if not chunk:
            raise OSError("Chromium has ended")
        *whole, self._left = (self._left + chunk).split(b"\0")
        for text in whole:
            message = json.loads(text)
            if "id" in message:
                self._answered[message["id"]] = message
            elif message.get("sessionId") in self.pages:
                self.pages[message["sessionId"]].hear(message["method"], message["params"])

    def open(self, path, *, width=1200, height=900, dark=False, scale=1):
        """Open a file and wait until its charts are drawn."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session, target)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        page.resize(width, height, scale)
        page.set_dark(dark)
        page.call("Page.navigate", url=Path(path).resolve().as_uri())
        page.wait("document.documentElement && document.documentElement.dataset.ready === 'true'")
        return page


class Page:
    """One open page."""

    def __init__(self, browser, session, target):
        self._browser, self._session, self._target = browser, session, target
        self.problems, self.requests, self.dialogs = [], [], []

    def call(self, method, **params):
        return self._browser.call(method, self._session, **params)

    def hear(self, event, params):
        if event == "Runtime.exceptionThrown":
            self.problems.append(str(params["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(str(params["args"]))
        elif event == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif event == "Page.javascriptDialogOpening":
            self.dialogs.append(params["message"])

    def evaluate(self, expression):
        """Value of a JavaScript expression; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, condition, timeout=60):
        """Wait until a JavaScript condition holds."""
        end = time.monotonic() + timeout
        while not self.evaluate(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise TimeoutError(f"still not: {condition}")
            time.sleep(0.05)

    def resize(self, width, height, scale=1):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=width < 600,
        )

    def set_dark(self, dark):
        value = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def screenshot(self, path, whole=True):
        """Save a picture of the whole page, or of the window."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole, format="png")
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def print(self):
        """The page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)
        self._browser.pages.pop(self._session, None)
