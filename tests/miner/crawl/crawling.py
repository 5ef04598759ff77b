"""One crawl of a forge in a process of its own, that ends itself by SIGKILL at a given point."""

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import event

from miner.crawl.github import GitHub
from miner.crawl.stage import crawl
from miner.git import Mirrors
from miner.http import HttpClient, HttpxTransport
from miner.store import open_store
from miner.store.crawl import CrawlStore
from miner.wire import Request, Response, Token, Transport
from tests.fakes.progress import SilentProgress


@dataclass
class Bomb:
    """Goes off at the `fuse`-th point of its kind, before the point or after it."""

    fuse: int
    after: bool

    def before_point(self) -> None:
        """A point is about to be passed."""
        self.fuse -= 1
        if self.fuse == 0 and not self.after:
            os.kill(os.getpid(), signal.SIGKILL)

    def after_point(self) -> None:
        """A point was passed."""
        if self.fuse == 0 and self.after:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class BombedTransport:
    """The network, with a bomb at a request."""

    inner: Transport
    bomb: Bomb

    def send(self, request: Request) -> Response:
        """See Transport."""
        self.bomb.before_point()
        response = self.inner.send(request)
        self.bomb.after_point()
        return response

    def stream(self, request: Request) -> Iterator[bytes]:
        """See Transport."""
        return self.inner.stream(request)

    def close(self) -> None:
        """See Transport."""
        self.inner.close()


WRITES = {"write": "INSERT", "place": "INSERT INTO crawl_places"}
"""Kinds of points in the database, by how the statement begins."""


def plant(bomb: Bomb, store: CrawlStore, *, at: str) -> None:
    """A bomb at every statement that begins so, also in the middle of a transaction."""

    def before(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith(at):
            bomb.before_point()

    def after(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith(at):
            bomb.after_point()

    event.listen(store._sql.engine, "before_cursor_execute", before)
    event.listen(store._sql.engine, "after_cursor_execute", after)


@dataclass(frozen=True)
class Order:
    """What to crawl, and where the bomb is: ("request" | one of WRITES, fuse, after)."""

    base_url: str
    token: str
    database: str
    mirrors: str
    repos: tuple[str, ...]
    bomb: tuple[str, int, bool]
    output: str


def crawl_until_killed(order: Order) -> None:
    """Crawl; all output goes to a file."""
    sys.stdout = sys.stderr = Path(order.output).open("w")  # noqa: SIM115 - it dies with us
    kind, fuse, after = order.bomb
    bomb, dud = Bomb(fuse, after), Bomb(0, after=False)
    transport = BombedTransport(HttpxTransport(), bomb if kind == "request" else dud)
    with (
        HttpClient(order.base_url, tokens=[Token(order.token)], transport=transport) as client,
        open_store(order.database) as store,
    ):
        if kind in WRITES:
            plant(bomb, store.crawl, at=WRITES[kind])
        crawl(
            store.crawl,
            source=GitHub(client),
            mirrors=Mirrors(Path(order.mirrors)),
            repos=order.repos,
            since=None,
            now=lambda: datetime.now(UTC),
            progress=SilentProgress(),
        )
