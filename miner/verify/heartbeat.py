"""Keeps leases alive from a thread of its own while their work goes on elsewhere."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from miner.errors import MinerError


class Heartbeat:
    """Beats for every name that is alive. A beat that fails is tried again at the next one."""

    def __init__(self, beat: Callable[[str], object], *, every_s: float) -> None:
        self._beat = beat
        self._every_s = every_s
        self._alive: set[str] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()

    def add(self, name: str) -> None:
        """Beat for it from now on."""
        with self._lock:
            self._alive.add(name)

    def remove(self, name: str) -> None:
        """Beat for it no longer."""
        with self._lock:
            self._alive.discard(name)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Beat while the block lasts."""
        thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._every_s):
            with self._lock:
                names = sorted(self._alive)
            for name in names:
                # the database may be away for a moment; a lease holds for ten beats
                with suppress(MinerError):
                    self._beat(name)
