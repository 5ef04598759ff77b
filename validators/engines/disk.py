"""Watches what an install writes to disk: this file system has no quota for a container."""

import re
import threading
from contextlib import suppress
from math import prod
from typing import Protocol

from docker.api.client import APIClient

from validators.engines.confinement import UV_CACHE
from validators.engines.faults import beside, machinery
from validators.errors import EngineUnavailableError
from validators.model import Outcome

_LOOK_S = 2.0
_MB = 1 << 20
_NUMBER = re.compile(rb"\d+(\.\d+)?(e\+\d+)?")

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

    def look(self, command: tuple[str, ...], *, timeout_s: float) -> Outcome:
        """Run a command beside the others, as root."""
        ...


class DiskWatcher:
    """Looks every two seconds while a command runs; kills the guest's processes beyond the limit.

    Counted: the container's layer, and what is new in uv's cache. A single file is bounded by the
    container's file size limit anyway. A look that fails is followed by the next one: one answer
    that was late must not leave the disk without a limit for the rest of an install.
    """

    def __init__(
        self, api: APIClient, container: Watched, *, limit_mb: int, look_s: float = _LOOK_S
    ) -> None:
        self._api = api
        self._container = container
        self._limit = limit_mb * _MB
        self._look_s = look_s
        self._stop = threading.Event()
        self._free_at_start: float | None = None
        self._thread = beside(self._watch, name="disk")

    def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(self._look_s):
            # an engine that is gone is told by the command that runs, to someone who listens
            with suppress(EngineUnavailableError), self._container.quiet:
                if self._container.busy and self._overfull():
                    self._container.overfill()

    def _overfull(self) -> bool:
        with machinery("measure a container"):
            found = self._api.containers(size=True, filters={"id": self._container.id})
        size = sum(int(each.get("SizeRw") or 0) for each in found)
        return size > self._limit or self._cache_overfull()

    def _cache_overfull(self) -> bool:
        free = self._product(_FREE)
        if free is None:
            return False
        if self._free_at_start is None:
            self._free_at_start = free
        if self._free_at_start - free <= self._limit:
            return False
        return (self._product(_SUM) or 0) > self._limit

    def _product(self, script: str) -> float | None:
        """What the numbers printed make when multiplied; None when it printed something else.

        mawk, Debian's awk, prints what is beyond 2 GB as 5.12e+09.
        """
        outcome = self._container.look(("/bin/sh", "-c", script), timeout_s=60)
        numbers = [float(word) for word in outcome.output.split() if _NUMBER.fullmatch(word)]
        return prod(numbers) if outcome.ok and numbers else None
