"""Storing beside asking: every repository is an errand, run in a thread.

Asking waits for the network, git for the disk, so a few threads store one repository while the next
is asked about. An errand is its batches in order, then its watermark, and that only when every row
before it is safe.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime
from queue import Queue
from typing import Self

from miner.crawl.source import Told
from miner.crawl.storing import Rows, Shelf
from miner.model import Clock, Depth, Place, Repo

WORKERS = 4
"""Most of a mirror's first fetch is waiting: for the server's pack and for the disk."""

BATCHES_WAITING = 2
"""Of one errand: what is told faster than it is stored waits with the asking."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Pulls to be stored together. `place`, or `depth` for what is read further back: where to go
    on, should this be the last that is."""

    items: Sequence[Told]
    place: Place | None = None
    depth: Depth | None = None


@dataclass(frozen=True, slots=True)
class _End:
    """All was told: the watermark, the source's mark and the depth to set."""

    watermark: datetime | None
    mark: str | None
    depth: Depth | None


class Errand:
    """One repository's batches on their way into the store."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        self._waiting: Queue[Batch | _End | None] = Queue()
        self._room = threading.Semaphore(BATCHES_WAITING)
        self.failed = False

    def put(self, batch: Batch) -> bool:
        """Hand over a batch; False when storing has failed and no more is wanted."""
        if self.failed:  # nobody takes any more: there would be no room ever
            return False
        self._room.acquire()
        self._waiting.put(batch)
        return not self.failed

    def finish(self, *, watermark: datetime | None, mark: str | None, depth: Depth | None) -> None:
        """All was told."""
        self._waiting.put(_End(watermark, mark, depth))

    def abandon(self) -> None:
        """Not all could be told: the rows stay, and the watermark where it is."""
        self._waiting.put(None)

    def take(self) -> Batch | _End | None:
        """The next of what was handed over; waits for it."""
        item = self._waiting.get()
        self._room.release()
        return item

    def fail(self) -> None:
        """Let the asking go on, to see that no more is wanted."""
        self.failed = True
        self._room.release()


class Keeper:
    """Stores errands in threads. Leaving its `with` early ends what is open at the next pull."""

    END_S = 10.0
    """How long that may take before a database that is asked something is taken for silent."""

    def __init__(self, store: Rows, *, shelf: Shelf, now: Clock) -> None:
        self._store = store
        self._shelf = shelf
        self._now = now
        self._closing = threading.Event()
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="crawl")
        self._errands: list[Errand] = []
        self._stored: list[Future[int]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        for errand in tuple(self._errands):
            errand.abandon()
        self._pool.shutdown(wait=False, cancel_futures=True)
        begun = [each for each in self._stored if not each.cancelled()]
        while wait(begun, timeout=self.END_S).not_done:
            self._store.interrupt()  # again, as what lost its connection is begun anew on another
        self._pool.shutdown(wait=True)

    def begin(self, repo: Repo) -> tuple[Errand, Future[int]]:
        """A new errand, and what becomes of it: the number of pulls stored, or the error."""
        errand = Errand(repo)
        self._errands.append(errand)
        stored = self._pool.submit(self._run, errand)
        self._stored.append(stored)
        return errand, stored

    def _run(self, errand: Errand) -> int:
        try:
            return self._store_all(errand)
        except BaseException:
            errand.fail()
            raise
        finally:
            self._errands.remove(errand)

    def _store_all(self, errand: Errand) -> int:
        stored = 0
        while True:
            item = errand.take()
            if item is None or self._closing.is_set():
                return stored
            if isinstance(item, _End):
                self._store.advance(
                    errand.repo,
                    watermark=item.watermark,
                    etag=item.mark,
                    depth=item.depth,
                    now=self._now(),
                )
                return stored
            stored += self._shelf.put(errand.repo, item.items, stopped=self._closing.is_set)
            if not self._closing.is_set():
                self._keep_where_to_go_on(errand.repo, item)

    def _keep_where_to_go_on(self, repo: Repo, stored: Batch) -> None:
        if stored.place is not None:
            self._store.reach(repo, stored.place, now=self._now())
        if stored.depth is not None:
            self._store.deepen(repo, stored.depth, now=self._now())
