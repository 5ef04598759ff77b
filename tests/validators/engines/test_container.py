"""A container's report: whole, or said to be missing. And whose disk is full."""

import socket
import threading
from collections.abc import Sequence
from typing import Any, cast

import pytest
from docker.api.client import APIClient

from tests.validators.engines.test_channel import open_channel
from tests.validators.engines.test_streams import _Reply, frame
from validators.engines.commands import Ended
from validators.engines.container import DockerContainer, Wardrobe
from validators.engines.streams import HeadAndTail
from validators.errors import EngineUnavailableError
from validators.model import Limits


class Api:
    """An engine whose container runs, and in which every command succeeds at once."""

    def __init__(self) -> None:
        self.killed = threading.Event()

    def inspect_container(self, _: str) -> dict[str, Any]:
        """It runs."""
        return {"State": {"Running": True, "OOMKilled": False}}

    def exec_create(self, _: str, argv: Sequence[str], **__: object) -> dict[str, str]:
        """The only command of these tests ends the guest's processes."""
        assert argv[-1] == "kill -9 -1"
        return {"Id": "exec"}

    def exec_start(self, _: str, *, socket: bool) -> object:  # noqa: ARG002 - the client's name
        """A connection with nothing on it."""
        self.killed.set()
        return nothing()

    def exec_inspect(self, _: str) -> dict[str, object]:
        """It ended well."""
        return {"Running": False, "ExitCode": 0}


class Disk(Api):
    """An engine whose root has so much room, in blocks and their size, as `stat` tells them."""

    def __init__(self, free: bytes) -> None:
        super().__init__()
        self.free = free

    def exec_create(self, _: str, argv: Sequence[str], **__: object) -> dict[str, str]:
        """The only command of these tests asks for the room on the root."""
        assert (argv[0], argv[-1]) == ("/usr/bin/stat", "/")
        return {"Id": "exec"}

    def exec_start(self, _: str, *, socket: bool) -> object:  # noqa: ARG002 - the client's name
        """What is free."""
        return nothing(frame(self.free))


def nothing(said: bytes = b"") -> object:
    """A hijacked connection that is closed already, after so much was said."""
    ours, theirs = socket.socketpair()
    theirs.sendall(said)
    theirs.close()
    reader = ours.makefile("rb")
    hijacked = reader.raw
    hijacked._response = _Reply(reader)  # type: ignore[attr-defined]
    ours.close()
    return hijacked


def container(api: Api, kills: str, *, answers: bool, when_killed: bool = False) -> DockerContainer:
    """One that answers always, once its guest was killed, or never."""

    def answer(theirs: socket.socket, mark: bytes) -> None:
        if answers or (when_killed and api.killed.is_set()):
            theirs.sendall(frame(b"line\n" + mark + kills.encode() + mark))

    env = Wardrobe(guest={}, root={})
    made = DockerContainer(cast("APIClient", api), "id", open_channel(answer), Limits(), env)
    made.drain_s = 10.0 if answers else 0.5
    return made


def test_a_report_that_is_here_ends_nobody() -> None:
    api = Api()
    assert container(api, "0", answers=True).report() == b"line\n"
    assert not api.killed.is_set()


def test_a_guest_that_writes_without_end_is_ended_for_the_report() -> None:
    api = Api()
    assert container(api, "0", answers=False, when_killed=True).report() == b"line\n"


def test_a_running_container_without_an_answer_is_the_machines_failure() -> None:
    api = Api()
    with pytest.raises(EngineUnavailableError, match="did not hand over its report"):
        container(api, "0", answers=False).report()
    assert api.killed.is_set()


def test_a_host_without_memory_is_told_with_the_report_at_the_latest() -> None:
    assert container(Api(), "3", answers=True).report() == b"line\n"
    with pytest.raises(EngineUnavailableError, match="ran out of memory"):
        container(Api(), "-3", answers=True).report()


FULL = b"OSError: [Errno 28] No space left on device"


@pytest.mark.parametrize(
    ("free", "exit_code", "output", "machines"),
    [
        (b"10 4096\n", 1, FULL, True),
        (b"1000000 4096\n", 1, FULL, False),  # it filled what is its own
        (b"", 1, FULL, False),  # what cannot be told is nobody's fault
        (b"10 4096\n", 0, FULL, False),  # only words
        (b"10 4096\n", 1, b"1 failed", False),
    ],
)
def test_a_full_disk_of_the_host_is_never_the_guests(
    free: bytes, exit_code: int, output: bytes, machines: bool
) -> None:
    filled = container(Disk(free), "0", answers=True)
    kept = HeadAndTail(1024)
    kept.write(output)
    ended = Ended(exit_code=exit_code, duration_s=1.0)
    if machines:
        with pytest.raises(EngineUnavailableError, match="disk of the container engine is full"):
            filled.outcome(ended, kept)
    else:
        assert filled.outcome(ended, kept).output == output
