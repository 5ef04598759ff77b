"""A container's report: whole, or said to be missing."""

import socket
import threading
from collections.abc import Sequence
from typing import Any, cast

import pytest
from docker.api.client import APIClient

from tests.validators.engines.test_channel import open_channel
from tests.validators.engines.test_streams import _Reply, frame
from validators.engines.container import DockerContainer, Wardrobe
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


def nothing() -> object:
    """A hijacked connection that is closed already."""
    ours, theirs = socket.socketpair()
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
