"""A container engine that answers what it is asked before any work; the rest is as told.

It listens on a socket of its own, speaks just enough of Docker's API to be connected to, and does
nothing of what it is asked.
"""

import json
import queue
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn, UnixStreamServer
from typing import Any

from tests.serving import serving

ANSWERS: Mapping[str, object] = {
    "GET /_ping": "OK",
    "GET /version": {"ApiVersion": "1.41", "Components": [{"Name": "Engine"}]},
    "GET /info": {"MemoryLimit": True, "PidsLimit": True, "CpuCfsQuota": True},
    "GET /containers/json": [],
    "GET /v4.0.0/libpod/info": {"host": {"cgroupControllers": ["memory", "pids", "cpu"]}},
}
SOON_S = 20.0
"""After so long something is taken for never asked."""


class FakeDockerd:
    """`url` is what `connect` is given. `asked`: what it was asked and has no answer to, in order.

    `answers` may be changed at any time. Silent, it leaves the rest without an answer for ever.
    """

    def __init__(self, url: str, *, answers: Mapping[str, object], silent: bool) -> None:
        self.url = url
        self.answers = dict(answers)
        self.silent = silent
        self.asked: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.over = threading.Event()

    def wait_for(self, what: str) -> None:
        """Until it is asked that: "POST /containers/create"."""
        while self.asked.get(timeout=SOON_S) != what:
            pass


class _Unix(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    block_on_close = False


class _Tcp(ThreadingMixIn, TCPServer):
    daemon_threads = True
    block_on_close = False


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, daemon: FakeDockerd, *args: Any) -> None:
        self._daemon = daemon
        super().__init__(*args)

    def _answer(self) -> None:
        path = re.sub(r"^/v1[0-9.]+(?=/)", "", self.path.partition("?")[0])
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        what = f"{self.command} {path}"
        known = self._daemon.answers.get(what)
        if known is None:
            self._daemon.asked.put(what)
            if self._daemon.silent:
                self._daemon.over.wait()  # its connection stays open, and nothing is said
                self.close_connection = True
                return
        body = json.dumps({"message": "out of order"} if known is None else known).encode()
        self.send_response(500 if known is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - http.server looks for these names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Nothing is said."""


@contextmanager
def fake_dockerd(
    folder: Path,
    *,
    answers: Mapping[str, object] | None = None,
    silent: bool = False,
    tcp: bool = False,
) -> Iterator[FakeDockerd]:
    """One that knows ANSWERS and `answers`; to the rest it says an error, or nothing."""
    daemon = FakeDockerd("", answers={**ANSWERS, **(answers or {})}, silent=silent)
    handler = partial(_Handler, daemon)
    path = folder / "engine.sock"
    server: TCPServer = _Tcp(("127.0.0.1", 0), handler) if tcp else _Unix(str(path), handler)
    port = server.socket.getsockname()[1] if tcp else None
    daemon.url = f"tcp://127.0.0.1:{port}" if tcp else f"unix://{path}"
    with serving(server):
        try:
            yield daemon
        finally:
            daemon.over.set()
