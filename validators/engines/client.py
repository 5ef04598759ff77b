"""The engine's client: how long each kind of call may take, and how all of them are ended at once.

An engine that accepts calls and never answers is not rare: a daemon that is stuck in its storage
does that. What moves whole images must be waited for; for the rest silence is noticed sooner.
"""

import re
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from socket import SHUT_RDWR
from typing import Any, TypeVar

from docker.api.client import APIClient
from docker.errors import DockerException
from docker.transport.unixconn import UnixHTTPAdapter, UnixHTTPConnectionPool
from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from requests.exceptions import RequestException
from urllib3 import HTTPConnectionPool

ANSWER_S = 300
"""How long one call may take that moves or measures what may be large: a commit, an import, a pull,
the removal of an image or a volume, the sizes of containers and volumes."""

BRIEF_S = 90
"""The same for every other call. Measured, an idle Docker creates a container in 0.01 s, starts it
in 0.16 s and removes it in 0.1 s, a loaded one needs twice that; one whose disk is busy may need
tens of seconds."""

_LONG = re.compile(
    r"POST .*/(commit|images/create|images/load)(\?.*)?"
    r"|DELETE .*/(images|volumes)/.*"
    r"|GET .*/(system/df|containers/json\?.*size=1.*)"
)
_CUT_S, _AGAIN_S = 2.0, 0.05

Line = TypeVar("Line")


class Client(APIClient):
    """Docker's, whose calls may be ended by another thread. `timeout` is the most any may take."""

    def __init__(self, url: str, *, timeout_s: int) -> None:
        self._lines = _Lines()
        self._calls = 0
        self._idle = threading.Condition()
        super().__init__(base_url=url, version="auto", timeout=timeout_s)
        self._end_by(url)

    def send(self, request: PreparedRequest, **kwargs: Any) -> Response:
        """Every call comes through here."""
        own = patience_s(str(request.method), str(request.url))
        kwargs["timeout"] = min(self.timeout, own)
        with self._counted():
            return super().send(request, **kwargs)

    def answers(self) -> bool:
        """Whether it says anything at all."""
        try:
            self.ping()
        except (DockerException, RequestException, OSError):
            return False
        return True

    def settle(self, *, within_s: float) -> None:
        """Wait until no call is under way, but no longer than that."""
        with self._idle:
            self._idle.wait_for(lambda: not self._calls, within_s)

    def cut(self) -> None:
        """End the calls that are under way: who made them sees that the connection is gone.

        Again until there are none, as one may just be connecting.
        """
        until = time.monotonic() + _CUT_S
        with self._idle:
            while self._calls and time.monotonic() < until:
                self._lines.cut()
                self._idle.wait(_AGAIN_S)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._idle:
            self._calls += 1
        try:
            yield
        finally:
            with self._idle:
                self._calls -= 1
                self._idle.notify_all()

    def _end_by(self, url: str) -> None:
        """From now on connections are made by pools that remember them."""
        self.get_adapter(self.base_url).close()
        if url.startswith("unix://"):
            self.mount("http+docker://", _UnixAdapter(url, self._lines))
        else:
            adapter = HTTPAdapter()
            pool = partial(_TcpPool, lines=self._lines)
            adapter.poolmanager.pool_classes_by_scheme = {"http": pool}
            self.mount("http://", adapter)


def patience_s(method: str, url: str) -> int:
    """How long a call may take. Pure."""
    return ANSWER_S if _LONG.fullmatch(f"{method} {url}") else BRIEF_S


class _Lines:
    """Connections that somebody may be using."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: weakref.WeakSet[object] = weakref.WeakSet()

    def known(self, line: Line) -> Line:
        """The same, from now on known, until nobody holds it."""
        with self._lock:
            self._known.add(line)
        return line

    def cut(self) -> None:
        """Whoever reads from one or writes to it sees its end."""
        with self._lock:
            known = list(self._known)
        for line in known:
            connected = getattr(line, "sock", None)  # none while it connects
            if connected is not None:
                with suppress(OSError):  # it has ended already
                    connected.shutdown(SHUT_RDWR)


class _UnixPool(UnixHTTPConnectionPool):
    def __init__(self, url: str, path: str, lines: _Lines) -> None:
        super().__init__(url, path)
        self._lines = lines

    def _new_conn(self) -> Any:  # what urllib3 calls it, it tells type checkers alone
        return self._lines.known(super()._new_conn())


class _UnixAdapter(UnixHTTPAdapter):
    def __init__(self, url: str, lines: _Lines) -> None:
        super().__init__(url.replace("unix://", "http+unix://", 1))
        self._lines = lines

    def get_connection(self, url: bytes | str, proxies: object = None) -> UnixHTTPConnectionPool:  # noqa: ARG002
        with self.pools.lock:
            pool = self.pools.get(url)
            if pool is None:
                pool = self.pools[url] = _UnixPool(str(url), self.socket_path, self._lines)
        return pool


class _TcpPool(HTTPConnectionPool):
    def __init__(self, *args: Any, lines: _Lines, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lines = lines

    def _new_conn(self) -> Any:  # what urllib3 calls it, it tells type checkers alone
        return self._lines.known(super()._new_conn())
