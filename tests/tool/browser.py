"""A headless Chromium for tests of pages, driven over a pair of pipes: no driver, no network."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PROGRAM = os.environ.get("FARVEC_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
PATIENCE_S = 60


class Browser:
    """One page. What the page writes to its console and what it throws is kept in `complaints`."""

    def __init__(self, profile):
        command_read, self.command = os.pipe()
        self.answers, answer_write = os.pipe()
        ends = f"exec 3<&{command_read} 4>&{answer_write}; exec \"$@\""
        self.process = subprocess.Popen(
            ["bash", "-c", ends, "chromium", PROGRAM, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-pipe", f"--user-data-dir={profile}",
             "about:blank"], pass_fds=(command_read, answer_write),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        os.close(command_read)
        os.close(answer_write)
        self.buffer, self.number, self.session, self.complaints, self.requests = b"", 0, None, [], []
        target = self.call("Target.createTarget", url="about:blank", width=1600, height=1200)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        """Returns when none of its processes writes to the profile any more."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        end = time.monotonic() + PATIENCE_S
        while self._lives() and time.monotonic() < end:
            time.sleep(0.02)
        os.close(self.command)
        os.close(self.answers)

    def _lives(self):
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.command, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE_S
        while True:
            answer = self._next(end)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _next(self, end):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0.0, end - time.monotonic()))
            data = os.read(self.answers, 1 << 16) if ready else b""
            if not data:
                raise RuntimeError("the browser does not answer")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        details = event.get("params", {})
        if event.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
            self.complaints.append(details)
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])

    def open(self, path, width=1280, height=900, dark=False):
        """Opens a file, and returns when its scripts have run."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=path.resolve().as_uri())
        end = time.monotonic() + PATIENCE_S
        while self.value("location.protocol + document.readyState") != "file:complete":
            if time.monotonic() > end:
                raise RuntimeError(f"{path} does not load: {self.complaints}")
            time.sleep(0.02)

    def value(self, expression):
        """What JavaScript makes of it; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def point_at(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def picture(self, path, whole=True):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))
