"""A real browser with JavaScript off, driven by its debugging protocol: it loads, types and clicks.

Only the DOM and input domains are used, as a person's eyes and hands would be; nothing runs in the page.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import websocket

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run", "--hide-scrollbars",
    "--disable-dev-shm-usage", "--remote-debugging-port=0", "--remote-allow-origins=*",
)  # fmt: skip
PATIENCE_SECONDS = 30.0


def executable() -> str | None:
    """Return where a Chromium is, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Chromium:
    """One tab of a browser that was started for it."""

    def __init__(self, address: str) -> None:
        self._socket = websocket.create_connection(address, timeout=PATIENCE_SECONDS, suppress_origin=True)
        self._number = 0
        self._events: list[str] = []
        self._session: str | None = None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "DOM"):
            self._call(f"{domain}.enable")
        self._call("Emulation.setScriptExecutionDisabled", value=True)

    def resize(self, width: int, height: int = 900) -> None:
        """Be a window, or below 600 pixels a phone, of that size."""
        phone = width < 600
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )

    def load(self, url: str) -> None:
        """Go to an address and wait until it is there."""
        self._events.clear()
        self._call("Page.navigate", url=url)
        self._wait("Page.loadEventFired")

    def text(self) -> str:
        """Return the page's source as the browser holds it."""
        return str(self._call("DOM.getOuterHTML", nodeId=self._root())["outerHTML"])

    def has(self, selector: str) -> bool:
        """Whether something on the page matches."""
        return bool(self._find(selector))

    def click(self, selector: str) -> None:
        """Click on the first match, where it is on the screen."""
        node = self._find(selector)
        assert node, f"there is no {selector}"
        self._call("DOM.scrollIntoViewIfNeeded", nodeId=node)
        (quad, *_) = self._call("DOM.getContentQuads", nodeId=node)["quads"]
        x, y = sum(quad[0::2]) / 4, sum(quad[1::2]) / 4
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def follow(self, selector: str) -> None:
        """Click on what leads to another page and wait until it is there."""
        self._events.clear()
        self.click(selector)
        self._wait("Page.loadEventFired")

    def type(self, selector: str, text: str) -> None:
        """Put text into a field in place of what is there."""
        self.click(selector)
        for kind in ("keyDown", "keyUp"):
            self._call(
                "Input.dispatchKeyEvent", type=kind, key="a", code="KeyA", modifiers=2, commands=["selectAll"]
            )
        self._call("Input.insertText", text=text)

    def width(self) -> float:
        """Return how wide the page's content is, in CSS pixels."""
        return float(self._call("Page.getLayoutMetrics")["cssContentSize"]["width"])

    def picture(self, height: float | None = None) -> bytes:
        """Return the page, or its top, as a PNG."""
        size = self._call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": height or size["height"], "scale": 1}
        picture = self._call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(picture["data"])

    def close(self) -> None:
        """End the browser in order."""
        with contextlib.suppress(websocket.WebSocketException, OSError):
            self._session = None
            self._call("Browser.close")
        self._socket.close()

    def _root(self) -> int:
        return int(self._call("DOM.getDocument", depth=0)["root"]["nodeId"])

    def _find(self, selector: str) -> int:
        return int(self._call("DOM.querySelector", nodeId=self._root(), selector=selector)["nodeId"])

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._socket.send(json.dumps(message))
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result

    def _wait(self, event: str) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while event not in self._events:
            assert time.monotonic() < end, f"{event} does not come"
            self._receive()

    def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._socket.recv())
        if "method" in message:
            self._events.append(message["method"])
        return message


@contextlib.contextmanager
def chromium(path: str) -> Iterator[Chromium]:
    """Start a browser with a profile of its own; end it and everything it started."""
    profile = Path(tempfile.mkdtemp(prefix="stud-ledger-browser-"))
    command = [path, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            browser = Chromium(_address(process))
            try:
                yield browser
            finally:
                browser.close()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    shutil.rmtree(profile, ignore_errors=True)


def _address(process: subprocess.Popen[str]) -> str:
    """Read where the browser listens from what it says when it starts."""
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("DevTools listening on "):
            return line.removeprefix("DevTools listening on ").strip()
    raise RuntimeError("the browser has ended without listening")
