"""The miner or its containers killed while tests run: nobody else's are swept, same verdicts after.

The engine's own events say when a run of ours has begun; nothing is timed.
"""

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from docker.api.client import APIClient

from miner.demo import Forge, ForgeData, serve
from tests.e2e.conftest import Machine, machine
from tests.real_engine import HERE, LIMITS, containers, end
from validators.base_images import base_image
from validators.engines import connect
from validators.engines.ownership import OWNER_LABEL, parse
from validators.model import BuildSettings
from validators.run import RUN_LABEL

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.timeout(600)]

INSTANCE = "demo__xmltodict-2"
TASKS = "tasks.jsonl"


class Runs:
    """The runs that begin on the engine, as it tells them."""

    def __init__(self, api: APIClient, phase: str) -> None:
        wanted = {"type": "container", "label": f"{RUN_LABEL}={phase}"}
        self._events = api.events(decode=True, filters=wanted)
        self._seen: set[str] = set()

    def next(self, process: "subprocess.Popen[str]") -> str:
        """The next container of that process in which a command has begun."""
        for event in self._events:
            actor = event["Actor"]
            owner = parse(actor["Attributes"].get(OWNER_LABEL, ""))
            begun = event["Action"].partition(":")[0] in {"exec_start", "exec"}
            ours = owner is not None and owner.pid == process.pid
            if begun and ours and actor["ID"] not in self._seen:
                self._seen.add(actor["ID"])
                return str(actor["ID"])
        raise AssertionError("the engine tells no more")

    def close(self) -> None:
        """Listen no longer."""
        self._events.close()


@contextmanager
def runs(phase: str) -> Iterator[Runs]:
    """Listen to the engine."""
    api = APIClient(base_url=HERE or "unix:///var/run/docker.sock", version="auto")
    listening = Runs(api, phase)
    try:
        yield listening
    finally:
        listening.close()
        api.close()


def owned(process: "subprocess.Popen[str]") -> list[str]:
    """What of a process's is on the engine, running or not."""
    api = APIClient(base_url=HERE or "unix:///var/run/docker.sock", version="auto")
    try:
        found = api.containers(all=True, filters={"label": OWNER_LABEL})
    finally:
        api.close()
    owners = [(str(each["Id"]), parse(each["Labels"][OWNER_LABEL])) for each in found]
    return [name for name, owner in owners if owner is not None and owner.pid == process.pid]


@pytest.fixture(scope="module")
def forge(forge_data: ForgeData) -> Iterator[Forge]:
    """All the demo's repositories, served."""
    with serve(forge_data) as served:
        yield served


@pytest.fixture(scope="module")
def split(forge: Forge, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """One candidate, not verified yet."""
    home = machine(
        tmp_path_factory.mktemp("split"),
        MINER_GITHUB_URL=forge.base_url,
        GITHUB_TOKEN=forge.token,
        MINER_POLICY="quick",
    )
    for words in (("db", "upgrade"), ("crawl", "--repo", "demo/xmltodict"), ("split",)):
        ended = home.run(*words)
        assert ended.code == 0, ended.err
    return home


def copied(of: Machine, folder: Path) -> Machine:
    """The same machine in another folder."""
    shutil.copytree(of.folder, folder / "home")
    return Machine(folder=folder / "home", env={**of.env, "MINER_DATA_DIR": str(folder / "home")})


@pytest.fixture(scope="module")
def verified(split: Machine, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """The candidate verified undisturbed, published and exported; not graded yet."""
    home = copied(split, tmp_path_factory.mktemp("verified"))
    for words in (("verify",), ("publish", "--name", "2026-01-01"), ("export", "--out", TASKS)):
        ended = home.run(*words)
        assert ended.code == 0, ended.err
    return home


@pytest.fixture
def candidate(split: Machine, verified: Machine, tmp_path: Path) -> Machine:
    """A copy to verify; its environment is on the engine."""
    return copied(split, tmp_path / "candidate")


@pytest.fixture
def instance(verified: Machine, tmp_path: Path) -> Machine:
    """A copy to grade on."""
    return copied(verified, tmp_path / "instance")


def verdict(home: Machine) -> dict[str, object]:
    """Of the only examination."""
    shown = json.loads(home.run("show", INSTANCE, "--json").out)
    (examination,) = shown["examinations"]
    left = ("run_flake_rates", "flake_rates")
    return {name: what for name, what in examination["verdict"].items() if name not in left}


def failures(home: Machine) -> list[str]:
    """Of the machinery, as stored."""
    shown = json.loads(home.run("show", INSTANCE, "--json").out)
    return [error for _, error in shown["failures"]]


def states(home: Machine) -> list[str]:
    """Of the stored grades, the newest of each run."""
    shown = json.loads(home.run("show", INSTANCE, "--json").out)
    return [grade["state"] for grade in shown["grades"]]


@pytest.fixture
def anothers() -> Iterator[str]:
    """A label whose container belongs to a miner that lives: this process."""
    engine = connect(HERE)
    image, _ = base_image(engine, "3.12", settings=BuildSettings(), progress=print)
    with engine.run(image, LIMITS, labels={"miner.test": "anothers"}):
        yield "miner.test=anothers"
    engine.close()


def killed(home: Machine, phase: str, *words: str) -> "subprocess.Popen[str]":
    """A command that is killed while tests of that phase run; what it left is still there."""
    with runs(phase) as beginning:
        process = home.start(*words)
        beginning.next(process)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    assert owned(process)
    return process


def ended_well(home: Machine, *words: str) -> None:
    """The same command again: done, and nothing is left of it."""
    process = home.start(*words)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert owned(process) == []


@pytest.mark.parametrize("phase", ["before", "after"])
def test_verification_killed_in_a_run_comes_to_the_same_verdict(
    candidate: Machine, verified: Machine, anothers: str, phase: str
) -> None:
    dead = killed(candidate, phase, "verify")
    ended_well(candidate, "verify")
    assert owned(dead) == []
    assert len(containers(None, anothers, running=True)) == 1
    assert verdict(candidate) == verdict(verified)
    assert failures(candidate) == ["lost: the holder died"]


def test_grading_killed_in_its_run_comes_to_the_same_grade(
    instance: Machine, anothers: str
) -> None:
    words = ("evaluate", TASKS, "--gold")
    dead = killed(instance, "model", *words)
    assert states(instance) == []
    ended_well(instance, *words)
    assert owned(dead) == []
    assert len(containers(None, anothers, running=True)) == 1
    assert states(instance) == ["resolved"]


@pytest.mark.parametrize(
    ("words", "phase", "number"),
    [
        (("verify",), "before", signal.SIGINT),
        (("verify",), "after", signal.SIGTERM),
        (("evaluate", TASKS, "--gold"), "model", signal.SIGINT),
    ],
)
def test_stopped_in_a_run_nothing_is_left_and_the_same_command_goes_on(
    candidate: Machine,
    instance: Machine,
    words: tuple[str, ...],
    phase: str,
    number: signal.Signals,
) -> None:
    home = candidate if words == ("verify",) else instance
    with runs(phase) as beginning:
        process = home.start(*words)
        beginning.next(process)
        process.send_signal(number)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert err.endswith("stopped; run again to go on\n")
    assert owned(process) == []
    assert failures(home) == []
    ended_well(home, *words)


def with_killed_containers(
    home: Machine, phase: str, *words: str, times: int = 1
) -> tuple[int, str]:
    """The command's end when so many containers of that phase are killed from outside."""
    with runs(phase) as beginning:
        process = home.start(*words)
        for _ in range(times):
            end(HERE, beginning.next(process))
        _, err = process.communicate(timeout=300)
    assert owned(process) == []
    return process.returncode, err


@pytest.mark.parametrize("phase", ["before", "after"])
def test_a_run_whose_container_is_killed_from_outside_is_no_verdict_and_tried_again(
    candidate: Machine, verified: Machine, phase: str
) -> None:
    code, err = with_killed_containers(candidate, phase, "verify")
    assert code == 0, err
    (failure,) = failures(candidate)
    assert "from outside" in failure
    assert f"{INSTANCE}: stays due: {failure}" in err
    assert verdict(candidate) == verdict(verified)


def test_a_grade_whose_container_is_killed_from_outside_is_tried_again(instance: Machine) -> None:
    code, err = with_killed_containers(instance, "model", "evaluate", TASKS, "--gold")
    assert code == 0, err
    assert states(instance) == ["resolved"]


def test_a_grade_whose_containers_are_all_killed_says_nothing_of_the_model(
    instance: Machine,
) -> None:
    words = ("evaluate", TASKS, "--gold")
    code, err = with_killed_containers(instance, "model", *words, times=2)
    assert code == 75, err
    assert states(instance) == ["infrastructure"]
    ended_well(instance, *words)
    assert states(instance) == ["resolved"]


@pytest.mark.parametrize("words", [("verify",), ("evaluate", TASKS, "--gold")])
def test_a_database_that_goes_away_in_a_run_is_told_and_nothing_runs_on(
    candidate: Machine, instance: Machine, tmp_path: Path, words: tuple[str, ...]
) -> None:
    home, phase = (candidate, "before") if words == ("verify",) else (instance, "model")
    with runs(phase) as beginning:
        process = home.start(*words)
        beginning.next(process)
        home.database.rename(tmp_path / "moved.db")
        _, err = process.communicate(timeout=300)
    assert process.returncode == 2, err
    assert err.splitlines()[-1].startswith(f"miner: The database {home.database} was moved")
    assert owned(process) == []
    (tmp_path / "moved.db").rename(home.database)
    ended_well(home, *words)
    assert home.run("db", "check").code == 0
