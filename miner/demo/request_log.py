"""What was asked of the forge: counts a test or a benchmark can hold a crawler to."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from miner.demo.http_messages import Reply, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One answered request. `token` is the token's place, never the token itself."""

    number: int
    at: datetime
    token: int | None
    method: str
    path: str
    resource: str  # "core", "graphql", "search", "git" or "none"
    status: int
    points: int


class RequestLog:
    """Grows while the forge runs; safe to read at any time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._in_flight: dict[int | None, int] = {}
        self._max_in_flight: dict[int | None, int] = {}
        self._number = 0

    @property
    def entries(self) -> Sequence[Entry]:
        """All so far, in the order they were answered."""
        with self._lock:
            return tuple(self._entries)

    def counted(self) -> int:
        """Requests that cost quota: everything but git, 304 and /rate_limit."""
        return sum(entry.points > 0 for entry in self.entries)

    def points(self, resource: str = "graphql") -> int:
        """Points spent of a resource."""
        return sum(entry.points for entry in self.entries if entry.resource == resource)

    def max_in_flight(self) -> int:
        """The most requests any token ever had in flight at once."""
        with self._lock:
            return max(
                (n for token, n in self._max_in_flight.items() if token is not None), default=0
            )

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()
            self._max_in_flight.clear()

    @contextmanager
    def open(self, token: int | None) -> Iterator[int]:
        """A request is being answered; gives its number, from 1."""
        with self._lock:
            self._number += 1
            number = self._number
            flying = self._in_flight.get(token, 0) + 1
            self._in_flight[token] = flying
            self._max_in_flight[token] = max(flying, self._max_in_flight.get(token, 0))
        try:
            yield number
        finally:
            with self._lock:
                self._in_flight[token] -= 1

    def add(  # noqa: PLR0913  the parts of an entry
        self,
        number: int,
        at: datetime,
        token: int | None,
        request: Request,
        reply: Reply,
        *,
        resource: str,
        points: int,
    ) -> None:
        """Note a finished request."""
        entry = Entry(
            number=number,
            at=at,
            token=token,
            method=request.method,
            path=request.path,
            resource=resource,
            status=reply.status,
            points=points,
        )
        with self._lock:
            self._entries.append(entry)
