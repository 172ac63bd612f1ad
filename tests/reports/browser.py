"""A real headless Chromium, spoken to over its debugging pipe (no driver, no network, no port)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)
DRAWN = "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r())))"  # two frames later
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--remote-debugging-pipe", "--disable-dev-shm-usage", "--hide-scrollbars")  # fmt: skip


class Browser:
    """One tab. `problems` collects console errors, exceptions, policy violations and every request that
    is not for the page's own file."""

    def __init__(self, send: int, receive: int) -> None:
        self.outgoing, self.incoming = send, receive
        self.count, self.buffer, self.session = 0, b"", ""
        self.problems: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self.count += 1
        message: dict[str, object] = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.outgoing, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result

    def receive(self) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            data = os.read(self.incoming, 1 << 20)
            assert data, "the browser has gone"
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        event: dict[str, Any] = json.loads(message)
        self.note(event.get("method", ""), event.get("params", {}))
        return event

    def note(self, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.problems.append(f"exception: {params['exceptionDetails']}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(f"console: {params['args']}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"log: {params['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                self.problems.append(f"request: {url}")

    def open(self, path: Path, *, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        """Load a page in a window of `width` x `height` CSS pixels, and wait until it is drawn."""
        phone = width < 600
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )
        scheme = "dark" if dark else "light"
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Page.navigate", url=path.as_uri())
        loaded = "document.readyState === 'complete' ? r() : addEventListener('load', () => r())"
        self.run(f"new Promise(r => {{ {loaded} }}).then(() => {DRAWN})")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression (promises are awaited)."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with its own profile, gone at the end."""
    assert CHROMIUM is not None
    to_read, send = os.pipe()
    receive, to_write = os.pipe()

    def wire() -> None:  # the child reads commands from 3 and answers on 4
        os.dup2(to_read, 203)
        os.dup2(to_write, 204)
        os.dup2(203, 3)
        os.dup2(204, 4)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}"]
        process = subprocess.Popen(
            command, close_fds=False, preexec_fn=wire, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_read)
        os.close(to_write)
        try:
            yield Browser(send, receive)
        finally:
            os.close(send)
            os.close(receive)
            process.kill()
            process.wait()
