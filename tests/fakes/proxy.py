"""A socket between the miner and its engine that stops answering when it is told to."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class Proxy:
    """Passes everything on, both ways. `url` is what `connect` is given."""

    def __init__(self, folder: Path, engine_socket: str) -> None:
        self.path = folder / "engine.sock"
        self.url = f"unix://{self.path}"
        self._engine_socket = engine_socket
        self._flowing = threading.Event()
        self._flowing.set()
        self._is_cut = threading.Event()
        self._open: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        self._passing: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def freeze(self) -> None:
        """From now on nothing comes through, and nobody hangs up."""
        self._flowing.clear()

    def thaw(self) -> None:
        """Go on."""
        self._flowing.set()

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
            far = socket.socket(socket.AF_UNIX)
            far.connect(self._engine_socket)
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
    """One that is over when the block ends."""
    made = Proxy(folder, engine_socket)
    try:
        yield made
    finally:
        made.close()
