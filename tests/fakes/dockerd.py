"""A container engine that answers what it is asked before any work; the rest is as told.

It listens on a socket of its own, speaks just enough of Docker's API to be connected to, and does
nothing of what it is asked.
"""

import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer

from tests.serving import serving

ANSWERS: Mapping[str, object] = {
    "GET /_ping": "OK",
    "GET /version": {"ApiVersion": "1.41", "Components": [{"Name": "Engine"}]},
    "GET /info": {"MemoryLimit": True, "PidsLimit": True, "CpuCfsQuota": True},
    "GET /containers/json": [],
}


class FakeDockerd(ThreadingMixIn, UnixStreamServer):
    """`url` is what `connect` is given. `asked` is what was asked beyond ANSWERS, in order."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, folder: Path, *, answers: Mapping[str, object], silent: bool) -> None:
        path = folder / "engine.sock"
        self.url = f"unix://{path}"
        self.answers = answers
        self.silent = silent
        self.asked: list[str] = []
        self.over = threading.Event()
        super().__init__(str(path), _Handler)

    def server_close(self) -> None:
        """Whoever waits for an answer sees the end."""
        self.over.set()
        super().server_close()


class _Handler(BaseHTTPRequestHandler):
    server: FakeDockerd
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        path = re.sub(r"^/v[0-9.]+(?=/)", "", self.path.partition("?")[0])
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        what = f"{self.command} {path}"
        known = self.server.answers.get(what)
        if known is None:
            self.server.asked.append(what)
            if self.server.silent:
                self.server.over.wait()
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
    folder: Path, *, answers: Mapping[str, object] | None = None, silent: bool = False
) -> Iterator[FakeDockerd]:
    """One that knows ANSWERS and `answers`; to the rest it says an error, or nothing."""
    with serving(
        FakeDockerd(folder, answers={**ANSWERS, **(answers or {})}, silent=silent)
    ) as server:
        yield server
