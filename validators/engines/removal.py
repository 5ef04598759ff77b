"""Containers are removed beside what comes next: for a removal an engine takes as long as a start.

Each begins at once, and begins with a kill: what is left uses no CPU, however long the rest takes.
There are never more than a few, so an engine that lags behind slows down those who leave.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

AT_ONCE = 4


class Removals:
    """The removals of one engine that are under way, each in a thread of its own."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="remove")
        self._room = threading.BoundedSemaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._under_way: set[Future[None]] = set()
        self._failed: BaseException | None = None

    def begin(self, removal: Callable[[], None]) -> None:
        """Start one; waits while AT_ONCE are under way. What it raises is told by the next `check`.

        After `close` it is done, and its failure told, at once.
        """
        self._room.acquire()
        try:
            going_on = self._pool.submit(self._carry_out, removal)
        except RuntimeError:  # closed meanwhile
            self._carry_out(removal)
            return
        with self._lock:
            self._under_way.add(going_on)
        going_on.add_done_callback(self._ended)

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
        self._pool.shutdown()

    def _carry_out(self, removal: Callable[[], None]) -> None:
        try:
            removal()
        except BaseException as error:
            with self._lock:
                self._failed = self._failed or error
            raise
        finally:
            self._room.release()

    def _ended(self, removal: "Future[None]") -> None:
        with self._lock:
            self._under_way.discard(removal)
