"""Watches what an install writes to disk: this file system has no quota for a container."""

import threading
from collections.abc import Callable
from typing import Protocol

from docker.api.client import APIClient

from validators.engines.confinement import UV_CACHE
from validators.engines.faults import machinery
from validators.errors import EngineUnavailableError
from validators.model import Outcome

_LOOK_S = 2.0
_MB = 1 << 20

# Free space first, as it costs nothing; only when much is gone, what is new in the shared cache.
_FREE = f"/usr/bin/stat --file-system --format='%a %S' {UV_CACHE}"
_NEW = f"/usr/bin/find {UV_CACHE} -newer /run/miner/.copier -type f -printf '%b\\n' 2>/dev/null"
_SUM = f"{_NEW} | /usr/bin/awk '{{ blocks += $1 }} END {{ print blocks * 512 }}'"


class Watched(Protocol):
    """What the watcher needs of a container."""

    id: str
    quiet: threading.Lock

    @property
    def busy(self) -> bool:
        """A command is running."""
        ...

    def overfill(self) -> None:
        """End the guest's processes."""
        ...

    def exec(self, command: tuple[str, ...], *, timeout_s: float, root: bool) -> Outcome:
        """Run a command."""
        ...


class DiskWatcher:
    """Looks every two seconds while a command runs; kills the guest's processes beyond the limit.

    Counted: the container's layer, and what is new in uv's cache. A single file is bounded by the
    container's file size limit anyway.
    """

    def __init__(self, api: APIClient, container: Watched, *, limit_mb: int) -> None:
        self._api = api
        self._container = container
        self._limit = limit_mb * _MB
        self._stop = threading.Event()
        self._free_at_start: int | None = None
        self._thread = threading.Thread(target=self._watch, name="disk", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(_LOOK_S):
            try:
                with self._container.quiet:
                    if self._container.busy and self._overfull():
                        self._container.overfill()
            except EngineUnavailableError:
                return  # the command that runs says the same, to someone who listens

    def _overfull(self) -> bool:
        with machinery("measure a container"):
            found = self._api.containers(size=True, filters={"id": self._container.id})
        size = sum(int(each.get("SizeRw") or 0) for each in found)
        return size > self._limit or self._cache_overfull()

    def _cache_overfull(self) -> bool:
        free = self._number(_FREE, lambda words: int(words[0]) * int(words[1]))
        if free is None:
            return False
        if self._free_at_start is None:
            self._free_at_start = free
        if self._free_at_start - free <= self._limit:
            return False
        return (self._number(_SUM, lambda words: int(words[0])) or 0) > self._limit

    def _number(self, script: str, read: Callable[[list[str]], int]) -> int | None:
        outcome = self._container.exec(("/bin/sh", "-c", script), timeout_s=60, root=True)
        words = outcome.output.split()
        if not outcome.ok or not words:
            return None
        return read([word.decode() for word in words])
