"""The disk's limit holds for the whole install, whatever the engine answers meanwhile."""

# ruff: noqa: ARG002 - a fake takes what the Protocol hands it

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

import pytest
from docker.api.client import APIClient
from docker.errors import APIError

from validators.engines.disk import DiskWatcher
from validators.errors import EngineUnavailableError
from validators.model import Outcome

MB = 1 << 20
KILLED_WITHIN_S = 100


@dataclass
class Engine:
    """Says one size a look, the last for ever; an exception is raised."""

    sizes: list[int | Exception]

    def containers(self, **asked: object) -> Sequence[dict[str, int]]:
        said = self.sizes.pop(0) if len(self.sizes) > 1 else self.sizes[0]
        if isinstance(said, Exception):
            raise said
        return [{"SizeRw": said}]


@dataclass
class Installing:
    """A container in which a command runs; `free` and `new` are what is printed about its cache."""

    free: list[bytes | Exception] = field(default_factory=lambda: [b"1000 1048576\n"])
    new: bytes = b"0\n"
    killed: threading.Event = field(default_factory=threading.Event)
    quiet: threading.Lock = field(default_factory=threading.Lock)
    id: str = "c0ffee"
    busy: bool = True

    def overfill(self) -> None:
        self.killed.set()

    def look(self, command: tuple[str, ...], *, timeout_s: float) -> Outcome:
        if "awk" in command[-1]:
            return Outcome(exit_code=0, output=self.new)
        said = self.free.pop(0) if len(self.free) > 1 else self.free[0]
        if isinstance(said, Exception):
            raise said
        return Outcome(exit_code=0, output=said)


@contextmanager
def watched(container: Installing, *sizes: int | Exception, limit_mb: int = 100) -> Iterator[None]:
    api = cast(APIClient, Engine(list(sizes)))
    watcher = DiskWatcher(api, container, limit_mb=limit_mb, look_s=0.001)
    try:
        yield
    finally:
        watcher.close()


def test_too_much_on_disk_is_killed() -> None:
    container = Installing()
    with watched(container, 1 * MB, 101 * MB):
        assert container.killed.wait(KILLED_WITHIN_S)


def test_an_answer_that_failed_does_not_end_the_watch() -> None:
    container = Installing()
    with watched(container, APIError("500 Server Error"), 101 * MB):
        assert container.killed.wait(KILLED_WITHIN_S)


def test_a_command_that_failed_does_not_end_the_watch() -> None:
    container = Installing(free=[EngineUnavailableError("late")])
    with watched(container, 1 * MB, 101 * MB):
        assert container.killed.wait(KILLED_WITHIN_S)


@pytest.mark.parametrize("new", [b"5242880000\n", b"5.24288e+09\n"])
def test_a_full_cache_is_killed_however_awk_prints_its_size(new: bytes) -> None:
    container = Installing(free=[b"9000 1048576\n", b"4000 1048576\n"], new=new)
    with watched(container, 1 * MB, limit_mb=4096):
        assert container.killed.wait(KILLED_WITHIN_S)
