"""The forge on a loopback port: `with serve(data) as forge: …`."""

import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

from miner.demo.application import Application
from miner.demo.faults import Faults
from miner.demo.forge import ForgeData
from miner.demo.http_messages import Reply, Request
from miner.demo.overlay import with_all_refs
from miner.demo.request_log import RequestLog
from miner.demo.world import World
from miner.errors import ConfigError

DEMO_TOKEN = "ghp_" + "demo" * 9  # opens nothing but this forge
_IDLE_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Forge:
    """A running forge. `base_url` is the root of REST, of `/graphql` and of git over HTTP."""

    base_url: str
    token: str = field(repr=False)
    requests: RequestLog
    faults: Faults
    world: World


@contextmanager
def serve(  # noqa: PLR0913  what a test may want to choose
    data: ForgeData,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tokens: Sequence[str] = (DEMO_TOKEN,),
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    faults: Faults | None = None,
    limits: Mapping[str, int] | None = None,
    requests: RequestLog | None = None,
) -> Iterator[Forge]:
    """Serve until the block ends. `port` 0: any free one.

    ConfigError when the port is taken, a repository is missing, or a pull names a commit that its
    repository does not have.
    """
    with with_all_refs(data) as whole, _bound(host, port) as server:
        base_url = f"http://{host}:{server.server_address[1]}"
        server.application = Application(
            World(whole),
            base_url=base_url,
            tokens=tokens,
            clock=clock,
            faults=faults,
            limits=limits,
            requests=requests,
        )
        with _running(server):
            yield Forge(
                base_url=base_url,
                token=tokens[0],
                requests=server.application.requests,
                faults=server.application.faults,
                world=server.application.world,
            )


def _bound(host: str, port: int) -> "_Server":
    try:
        return _Server((host, port), _Handler)
    except OSError as error:
        raise ConfigError(f"{host}:{port} cannot be served: {error.strerror}.") from error


@contextmanager
def _running(server: "_Server") -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="forge")
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.close_connections()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # closed and joined, so that nothing outlives `serve`
    block_on_close = True
    request_queue_size = 64
    application: Application

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(address, handler)

    def track(self, connection: socket.socket, *, is_open: bool) -> None:
        """Remember a connection while its handler lives."""
        with self._open_lock:
            (self._open.add if is_open else self._open.discard)(connection)

    def close_connections(self) -> None:
        """Wake handlers that wait for a next request."""
        with self._open_lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # the other side was first

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no error of ours; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "forge"
    timeout = _IDLE_S
    wbufsize = 1 << 16  # headers and body leave together
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.track(self.connection, is_open=True)

    def finish(self) -> None:
        self.server.track(self.connection, is_open=False)
        super().finish()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Say nothing: `requests` is the log."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        request = Request(
            method=self.command,
            path=unquote(parts.path),
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            query_string=parts.query,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self._body(),
        )
        self._send(self.server.application.reply(request))

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            return b"".join(self._chunks_in())
        return self.rfile.read(int(self.headers.get("content-length", "0")))

    def _chunks_in(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.chunks is not None:
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for chunk in reply.chunks:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.write(b"0\r\n\r\n")
            return
        if reply.status != 304:
            self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        if reply.cut_after is not None:
            self.wfile.write(reply.body[: reply.cut_after])
            self._reset()
            return
        self.wfile.write(reply.body)

    def _reset(self) -> None:
        """Send what is written, then RST."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
