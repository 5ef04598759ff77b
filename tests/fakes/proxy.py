"""A socket between the miner and its engine or database that stops answering when it is told to."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path


class Proxy:
    """Passes everything on, both ways, to what `reach` connects to. `url`: where it listens."""

    def __init__(
        self, listener: socket.socket, url: str, reach: Callable[[], socket.socket]
    ) -> None:
        self.url = url
        self._listener = listener
        self._reach = reach
        self._flowing = threading.Event()
        self._flowing.set()
        self._is_cut = threading.Event()
        self._open: list[socket.socket] = []
        self._passing: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def freeze(self) -> None:
        """From now on nothing comes through, and nobody hangs up."""
        self._flowing.clear()

    def thaw(self) -> None:
        """Go on."""
        self._flowing.set()

    def mend(self) -> None:
        """New connections hold again."""
        self._is_cut.clear()

    def cut(self) -> None:
        """Every connection ends, and so does each new one."""
        self._is_cut.set()
        self._flowing.set()
        for each in self._open:
            _end(each)

    def close(self) -> None:
        """All of it is over."""
        self.cut()
        _end(self._listener)
        self._accepting.join()
        for thread in self._passing:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self._is_cut.is_set():
                near.close()
                continue
            far = self._reach()
            self._open += [near, far]
            for source, sink in ((near, far), (far, near)):
                thread = threading.Thread(target=self._pass_on, args=(source, sink), daemon=True)
                self._passing.append(thread)
                thread.start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while True:
                self._flowing.wait()  # not read either: who sends much is not rid of it
                part = source.recv(1 << 16)
                self._flowing.wait()
                if not part:
                    sink.shutdown(socket.SHUT_WR)
                    return
                sink.sendall(part)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()


@contextmanager
def proxy(folder: Path, engine_socket: str) -> Iterator[Proxy]:
    """Before an engine's socket, until the block ends."""
    path = folder / "engine.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def reach() -> socket.socket:
        far = socket.socket(socket.AF_UNIX)
        far.connect(engine_socket)
        return far

    with _closed(Proxy(listener, f"unix://{path}", reach)) as made:
        yield made


@contextmanager
def tcp_proxy(host: str, port: int) -> Iterator[Proxy]:
    """Before a server, until the block ends. `url` is "127.0.0.1:PORT"."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"127.0.0.1:{listener.getsockname()[1]}"
    with _closed(Proxy(listener, url, partial(socket.create_connection, (host, port)))) as made:
        yield made


@contextmanager
def _closed(made: Proxy) -> Iterator[Proxy]:
    try:
        yield made
    finally:
        made.close()
