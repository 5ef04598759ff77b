"""Each kind of call has its time, and whatever is asked of a silent engine can be ended."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from tests.fakes.dockerd import FakeDockerd, fake_dockerd
from validators.engines import DockerEngine, connect
from validators.engines.client import ANSWER_S, BRIEF_S, patience_s
from validators.engines.container import DockerContainer
from validators.errors import EngineUnavailableError
from validators.model import Image, Limits

pytestmark = pytest.mark.timeout(60)  # less than any call is waited for that nobody ends

LIMITS = Limits()
IMAGE = Image(digest="sha256:1", tag="t:1")
CREATE = "POST /containers/create"


@pytest.mark.parametrize(
    ("call", "long"),
    [
        ("POST http+docker://localhost/v1.41/containers/create", False),
        ("POST http+docker://localhost/v1.41/containers/a/start", False),
        ("GET http+docker://localhost/v1.41/containers/a/json", False),
        ("DELETE http+docker://localhost/v1.41/containers/a?v=True&force=True", False),
        ("POST http+docker://localhost/v1.41/exec/a/start", False),
        ("GET http+docker://localhost/v1.41/images/json?filters=x", False),
        ("GET http+docker://localhost/v1.41/containers/json?limit=-1&size=0", False),
        ("GET http://10.0.0.1:2375/v1.41/containers/json?limit=-1&size=1&trunc_cmd=0", True),
        ("GET http://10.0.0.1:2375/v1.41/system/df", True),
        ("POST http+docker://localhost/v1.41/commit?container=a&repo=b", True),
        ("POST http+docker://localhost/v1.41/images/create?fromImage=python&tag=3.12-slim", True),
        ("POST http+docker://localhost/v1.41/images/create?repo=a&tag=b&fromSrc=-", True),
        ("DELETE http+docker://localhost/v1.41/images/sha256:1?force=False", True),
        ("DELETE http+docker://localhost/v1.41/volumes/a?force=False", True),
    ],
)
def test_what_moves_or_measures_much_is_waited_for_longer(call: str, long: bool) -> None:
    method, _, url = call.partition(" ")
    assert patience_s(method, url) == (ANSWER_S if long else BRIEF_S)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FakeDockerd]:
    with fake_dockerd(tmp_path, silent=True) as started:
        yield started


@pytest.fixture
def engine(daemon: FakeDockerd) -> Iterator[DockerEngine]:
    connected = connect(daemon.url)
    connected.SILENT_S, connected.GRACE_S = 1, 0
    yield connected
    connected.close()


def run(engine: DockerEngine) -> None:
    """A container is begun."""
    with engine.run(IMAGE, LIMITS):
        pass


def remove(engine: DockerEngine) -> None:
    """A container that is over is removed beside, and the next one waits for that."""
    engine._removals.begin(partial(engine._remove, "a"))  # type: ignore[arg-type]  # what it returns is not looked at
    engine._removals.settle()
    engine._removals.check()


CALLS: list[tuple[Callable[[DockerEngine], object], str]] = [
    (run, CREATE),
    (remove, "DELETE /containers/a"),
    (lambda engine: engine.find("t:1"), "GET /images/t:1/json"),
    (lambda engine: engine.caches(), "GET /volumes"),
    (lambda engine: engine.images(label="a"), "GET /images/json"),
]


@pytest.mark.parametrize("all_of_it", [True, False], ids=["silent", "answers pings"])
@pytest.mark.parametrize(("call", "asked"), CALLS, ids=[asked for _, asked in CALLS])
def test_what_a_silent_engine_was_asked_ends_when_the_engine_is_closed(
    daemon: FakeDockerd,
    engine: DockerEngine,
    call: Callable[[DockerEngine], object],
    asked: str,
    all_of_it: bool,
) -> None:
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(call, engine)
        daemon.wait_for(asked)
        if all_of_it:
            daemon.answers.clear()
        engine.close()
        with pytest.raises(EngineUnavailableError):
            waiting.result()


class Left:
    """A container that is still there."""

    def __init__(self, name: str) -> None:
        self.id = name

    def give_up(self) -> None:
        """Nothing runs in it."""


@pytest.mark.parametrize(("all_of_it", "removals"), [(True, 0), (False, 1)])
def test_a_silent_engine_is_not_asked_for_one_removal_after_the_other(
    daemon: FakeDockerd, engine: DockerEngine, all_of_it: bool, removals: int
) -> None:
    engine._live.update({name: cast("DockerContainer", Left(name)) for name in "abc"})
    if all_of_it:
        daemon.answers.clear()
    else:
        engine.SILENT_S = 5  # a busy machine is not taken for a silent engine
    engine.close()
    asked = [daemon.asked.get() for _ in range(daemon.asked.qsize())]
    assert sum(each.startswith("DELETE") for each in asked) == removals


def test_what_is_begun_after_the_end_of_a_silent_engine_ends_too(
    daemon: FakeDockerd, engine: DockerEngine
) -> None:
    daemon.answers.clear()
    engine.close()
    with pytest.raises(EngineUnavailableError, match="did not answer in time"):
        run(engine)


def test_an_engine_by_tcp_can_be_left_as_well(tmp_path: Path) -> None:
    with fake_dockerd(tmp_path, silent=True, tcp=True) as daemon:
        engine = connect(daemon.url)
        engine.GRACE_S = 0
        with ThreadPoolExecutor(1) as other:
            waiting = other.submit(run, engine)
            daemon.wait_for(CREATE)
            engine.close()
            with pytest.raises(EngineUnavailableError):
                waiting.result()
