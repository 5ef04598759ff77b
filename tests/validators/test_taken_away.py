"""What is taken away while a suite has its turn: nothing is decided, and the next try is as ever.

On the real engine, reached through a socket of ours; the turn says when tests are about to run.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from docker.api.client import APIClient
from docker.errors import APIError

from tests.fakes.proxy import Proxy, proxy
from tests.toy import Repository, Toy, environment_of, grading_task_of, task_of
from validators.engines import DockerEngine, connect
from validators.engines.ownership import SESSION_LABEL
from validators.errors import EngineUnavailableError
from validators.evaluation import grade
from validators.model import QUICK, Grade, Image, Verdict
from validators.verification import verify

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]

TOY = Toy(
    base={"calc.py": "def double(x):\n    return x\n"},
    tests={
        "test_calc.py": "from calc import double\n\n\n"
        "def test_two():\n    assert double(2) == 4\n\n\n"
        "def test_zero():\n    assert double(0) == 0\n"
    },
    gold={"calc.py": "def double(x):\n    return 2 * x\n"},
    fail_to_pass=("test_calc.py::test_two",),
    pass_to_pass=("test_calc.py::test_zero",),
)


@dataclass
class Turn:
    """Does something when the tests of that number are about to run, from 1."""

    number: int
    then: Callable[[], None]
    taken: int = 0
    given_back: int = 0

    def __enter__(self) -> None:
        self.taken += 1
        if self.taken == self.number:
            self.then()

    def __exit__(self, *_: object) -> None:
        self.given_back += 1


@dataclass(frozen=True)
class Bench:
    """A toy to verify and grade, on any connection."""

    image: Image
    repository: Repository

    def verified(self, engine: DockerEngine, turn: Turn) -> Verdict:
        return verify(
            task_of(TOY, self.repository), environment_of(self.image), test_files=["test_calc.py"],
            engine=engine, policy=QUICK, progress=print, turn=turn,
        )  # fmt: skip

    def graded(self, engine: DockerEngine, turn: Turn) -> Grade:
        task = grading_task_of(TOY, self.repository)
        return grade(
            task, environment_of(self.image), model_patch=task.patch, engine=engine,
            progress=print, turn=turn,
        )  # fmt: skip


@pytest.fixture
def bench(toy_image: Image, tmp_path: Path) -> Bench:
    return Bench(image=toy_image, repository=Repository(tmp_path / "toy", TOY.base))


@pytest.fixture
def address(engine_address: str | None) -> str:
    """The engine's own socket, past the proxy."""
    return engine_address or "unix:///var/run/docker.sock"


@pytest.fixture
def between(tmp_path: Path, address: str) -> Iterator[Proxy]:
    with proxy(tmp_path, address.removeprefix("unix://")) as made:
        yield made


@pytest.fixture
def through(between: Proxy, address: str) -> Iterator[DockerEngine]:
    """The engine through the proxy, with little patience; nothing of it is left."""
    connected = connect(between.url)
    connected._api.timeout = 2
    yield connected
    between.thaw()
    connected.close()
    for container_id in of_session(connected, address):
        _ended(container_id, address, remove=True)


def of_session(engine: DockerEngine, address: str) -> list[str]:
    """The containers of that connection, asked past it."""
    api = APIClient(base_url=address, version="auto")
    try:
        label = f"{SESSION_LABEL}={engine._session}"
        return [str(each["Id"]) for each in api.containers(all=True, filters={"label": label})]
    finally:
        api.close()


def _ended(container_id: str, address: str, *, remove: bool = False) -> None:
    """Killed past our own code, unless it is gone already."""
    api = APIClient(base_url=address, version="auto")
    try:
        with suppress(APIError):
            if remove:
                api.remove_container(container_id, force=True)
            else:
                api.kill(container_id)
    finally:
        api.close()


@pytest.mark.parametrize("how", ["silent", "gone", "killed"])
@pytest.mark.parametrize("work", [Bench.verified, Bench.graded], ids=["verified", "graded"])
def test_nothing_is_decided_and_the_next_try_is_as_if_nothing_had_been(
    bench: Bench,
    between: Proxy,
    through: DockerEngine,
    address: str,
    work: Callable[[Bench, DockerEngine, Turn], Verdict | Grade],
    how: str,
) -> None:
    def kill() -> None:
        for container_id in of_session(through, address):
            _ended(container_id, address)

    ways = {"silent": between.freeze, "gone": between.cut, "killed": kill}
    number = 2 if work is Bench.verified else 1
    turn = Turn(number, ways[how])
    with pytest.raises(EngineUnavailableError):
        work(bench, through, turn)
    assert turn.taken == turn.given_back == number
    undisturbed, connected = Turn(0, lambda: None), connect(address)
    found = work(bench, connected, undisturbed)
    connected.close()
    if isinstance(found, Verdict):
        assert (found.fail_to_pass, found.pass_to_pass) == (TOY.fail_to_pass, TOY.pass_to_pass)
    else:
        assert found.resolved
    assert undisturbed.taken == undisturbed.given_back > 0
