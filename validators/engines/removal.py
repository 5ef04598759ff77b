"""Containers are removed beside what comes next: for a removal an engine takes as long as a start.

Each begins at once, and begins with a kill: what is left uses no CPU, however long the rest takes.
There are never more than a few, so an engine that lags behind slows down those who leave.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial

from validators.engines.faults import beside
from validators.errors import EngineUnavailableError

AT_ONCE = 4


class Removals:
    """The removals of one engine that are under way, each in a thread of its own.

    No pool: one that cannot start a thread raises, and yet keeps what it was given for later. The
    program's end waits for none of them, `close` does: what an engine that fell silent keeps is
    swept by the next start.
    """

    def __init__(self) -> None:
        self._room = threading.BoundedSemaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._under_way: set[Future[None]] = set()
        self._closed = False
        self._failed: BaseException | None = None

    def begin(self, removal: Callable[[], None]) -> None:
        """Start one; waits while AT_ONCE are under way. What it raises is told by the next `check`.

        After `close` it is done, and its failure told, at once. Where the machine has no thread
        left it is done at once, too.
        """
        self._room.acquire()
        going_on: Future[None] = Future()
        with self._lock:
            closed = self._closed
            if not closed:
                self._under_way.add(going_on)
        if closed:
            self._carry_out(removal)
            return
        work = partial(self._beside, removal, going_on)
        try:
            beside(work, name="remove")
        except EngineUnavailableError:
            work()

    def check(self) -> None:
        """Raise the first failure that was not told yet: an engine that keeps what it shall remove
        is given no more."""
        with self._lock:
            failed, self._failed = self._failed, None
        if failed is not None:
            raise failed

    def settle(self) -> None:
        """Wait until all have ended that are under way now."""
        with self._lock:
            under_way = set(self._under_way)
        wait(under_way)

    def close(self) -> None:
        """Wait for all, and start no more."""
        with self._lock:
            self._closed = True
        self.settle()

    def _beside(self, removal: Callable[[], None], going_on: "Future[None]") -> None:
        try:
            self._carry_out(removal)
        except Exception as error:  # noqa: BLE001 - told by the next `check`
            with self._lock:
                self._failed = self._failed or error
        finally:
            with self._lock:
                self._under_way.discard(going_on)
            going_on.set_result(None)

    def _carry_out(self, removal: Callable[[], None]) -> None:
        try:
            removal()
        finally:
            self._room.release()
