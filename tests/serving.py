"""A server of the standard library, answering in a thread while a test runs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer
from typing import TypeVar

Server = TypeVar("Server", bound=BaseServer)

_POLL_S = 0.02  # how long an ended server may go on; the default is half a second


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """`server` answers inside the block; after it, however it ends, socket and thread are gone."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(_POLL_S,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
