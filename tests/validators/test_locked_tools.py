"""What builds a project in isolation is locked too: the same tools, or a clear failure."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fakes.installs import LOCK, InstallingEngine, silent
from tests.real_engine import HERE
from tests.validators.samples import (
    RECIPE,
    THING,
    thing_index,
    thing_wheel,
    tree_of,
)
from validators import locks
from validators.engine import TREE, VENV, ContainerEngine
from validators.engines import connect
from validators.environment import build_environment
from validators.errors import EngineUnavailableError
from validators.model import (
    BuildFailure,
    BuildSettings,
    Environment,
    FailureClass,
    Limits,
    Maker,
    Outcome,
    ProjectInstall,
    Recipe,
)

LOGS = Path(__file__).parent / "languages" / "python" / "logs"
AHEAD = "/tmp/miner/aside/bin/python"


def _scripted(engine: InstallingEngine, recipe: Recipe) -> Environment | BuildFailure:
    return build_environment(
        tree_of(),
        recipe,
        patches=(),
        repository="owner/name",
        maker=Maker.MINER,
        engine=engine,
        settings=BuildSettings(),
        progress=silent,
    )


def _projects(engine: InstallingEngine) -> list[str]:
    """The lines that install the project in the environment."""
    lines = engine.installs[0].lines
    return [line for line in lines if "/testbed" in line and "pip freeze" in line]


TOOLS = f"hatchling==1.24.2 \\\n    --hash=sha256:{'0' * 64}\n"
BOUND = "--build-constraints /tmp/miner/tools.txt"
WITH_TOOLS = locks.with_tools(LOCK, TOOLS)


def test_what_builds_the_project_is_locked_beside_what_is_in_the_environment() -> None:
    engine = InstallingEngine(scripts=(), tools=TOOLS.encode())
    recipe = replace(RECIPE, lock=None, cutoff_at=datetime(2024, 5, 6, tzinfo=UTC))
    built = _scripted(engine, recipe)
    assert isinstance(built, Environment)
    assert built.recipe.lock == WITH_TOOLS
    (container,) = engine.installs
    (line,) = [line for line in container.lines if "pip compile" in line and line.endswith(" -")]
    assert "--exclude-newer 2024-05-06T00:00:00Z" in line
    assert "--generate-hashes" in line
    assert container.fed[line] == b"setuptools>=64\nsetuptools-scm\nwheel\n"
    assert container.files["/tmp/miner/tools.txt"].decode() == locks.tools_of(WITH_TOOLS)
    assert all(BOUND in line for line in container.lines if AHEAD in line)
    assert all(BOUND in line for line in _projects(engine))


def test_a_lock_binds_what_builds_the_project_and_one_without_tools_does_not() -> None:
    for lock, bound in ((WITH_TOOLS, True), (LOCK, False)):
        engine = InstallingEngine(scripts=())
        assert isinstance(_scripted(engine, replace(RECIPE, lock=lock)), Environment)
        builds = [line for line in engine.installs[0].lines if AHEAD in line]
        assert [BOUND in line for line in (*builds, *_projects(engine))] == [bound, bound]
        given = [text for line, text in engine.installs[0].fed.items() if "--require-hash" in line]
        assert given == [LOCK.encode()]


@pytest.mark.parametrize(
    "recipe",
    [
        replace(RECIPE, lock=None, build_requirements=("setuptools",)),
        replace(RECIPE, lock=None, project_install=ProjectInstall.NONE),
    ],
)
def test_what_is_not_built_in_isolation_has_no_tools_of_its_own(recipe: Recipe) -> None:
    engine = InstallingEngine(scripts=(), tools=TOOLS.encode())
    built = _scripted(engine, recipe)
    assert isinstance(built, Environment)
    assert built.recipe.lock == LOCK
    lines = engine.installs[0].lines
    assert not any("tools" in line or line.endswith(" -q -") for line in lines)


@pytest.mark.parametrize("tools", [b"", b"\xff", b"hatchling @ git+https://x.invalid/h@1f\n"])
def test_tools_that_are_no_pins_are_those_of_the_date(tools: bytes) -> None:
    built = _scripted(InstallingEngine(scripts=(), tools=tools), replace(RECIPE, lock=None))
    assert isinstance(built, Environment)
    assert built.recipe.lock == LOCK


def test_tools_that_cannot_be_resolved_leave_it_to_the_build_to_say_so() -> None:
    failed = Outcome(exit_code=1, output=b"Because acme-build was not found in the package\n")
    engine = InstallingEngine(
        scripts=(),
        answer=lambda line: failed if "pip compile" in line and line.endswith(" -") else None,
    )
    built = _scripted(engine, replace(RECIPE, lock=None))
    assert isinstance(built, Environment)
    assert built.recipe.lock == LOCK


def test_an_index_that_goes_away_under_the_tools_is_no_verdict() -> None:
    down = Outcome(exit_code=2, output=(LOGS / "index_down.txt").read_bytes())
    engine = InstallingEngine(
        scripts=(),
        answer=lambda line: down if "pip compile" in line and line.endswith(" -") else None,
    )
    with pytest.raises(EngineUnavailableError):
        _scripted(engine, replace(RECIPE, lock=None))


EXCLUDED = Outcome(
    exit_code=1, output=b"Because there is no version of wheel==1 and you require wheel==1\n"
)


def test_a_build_that_asks_for_other_tools_than_its_files_say_gets_them() -> None:
    engine = InstallingEngine(
        scripts=(), tools=TOOLS.encode(), answer=lambda line: EXCLUDED if BOUND in line else None
    )
    built = _scripted(engine, replace(RECIPE, lock=None))
    assert isinstance(built, Environment)
    assert built.recipe.lock == LOCK


def test_a_build_that_cannot_have_the_tools_of_its_lock_fails() -> None:
    engine = InstallingEngine(scripts=(), answer=lambda line: EXCLUDED if BOUND in line else None)
    built = _scripted(engine, replace(RECIPE, lock=WITH_TOOLS))
    assert isinstance(built, BuildFailure)
    assert (built.step, built.failure_class) == ("project", FailureClass.NO_MATCHING_VERSION)


@pytest.fixture(scope="module")
def engine() -> Iterator[ContainerEngine]:
    """The real one."""
    connected = connect(HERE)
    yield connected
    connected.close()


OWN_BACKEND = b"""
import thing, zipfile

def build_wheel(folder, settings=None, metadata=None):
    info = "sample-1.dist-info"
    with zipfile.ZipFile(f"{folder}/sample-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("sample.py", f"BUILT_BY = {thing.SAYS!r}\\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: sample\\nVersion: 1\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\n")
        wheel.writestr(f"{info}/RECORD", "sample.py,,\\n")
    return "sample-1-py3-none-any.whl"
"""
OWN_BUILD = (
    b"[build-system]\nrequires = ['thing']\nbuild-backend = 'own'\nbackend-path = ['.']\n"
    b"[project]\nname = 'sample'\nversion = '1'\n"
)


def _built_by(
    engine: ContainerEngine, wheels: Mapping[str, bytes], lock: str | None = None
) -> tuple[str, str] | BuildFailure:
    """The lock of a project that thing builds, and what thing said when it did."""
    made = build_environment(
        tree_of({**thing_index(wheels), "own.py": OWN_BACKEND, "pyproject.toml": OWN_BUILD}),
        Recipe(language="python", python="3.12", project_install=ProjectInstall.PLAIN, lock=lock),
        patches=(),
        repository="owner/changed-tools",
        maker=Maker.GRADER,
        engine=engine,
        settings=BuildSettings(index_url=f"file://{TREE}/index"),
        progress=silent,
    )
    if isinstance(made, BuildFailure):
        return made
    try:
        with engine.run(made.image, Limits()) as container:
            look = f"cat {VENV}/lib/*/site-packages/sample.py"
            outcome = container.exec(("/bin/sh", "-c", look), timeout_s=60)
    finally:
        engine.remove_image(made.image)
    assert made.packages == ("sample==1",) or not made.packages
    return made.recipe.lock or "", outcome.output.decode()


@pytest.mark.docker
@pytest.mark.timeout(300)
def test_a_lock_gives_the_tools_of_a_build_or_a_clear_failure(engine: ContainerEngine) -> None:
    first = _built_by(engine, {"1.0": THING})
    assert not isinstance(first, BuildFailure), first
    lock, said = first
    assert (locks.without_tools(lock), "thing==1.0 " in lock, "first" in said) == ("", True, True)
    later = {"1.0": THING, "1.1": thing_wheel("1.1", "second")}
    anew = _built_by(engine, later)
    assert not isinstance(anew, BuildFailure), anew
    assert "second" in anew[1]  # so the index did change
    assert _built_by(engine, later, lock) == first
    gone = _built_by(engine, {"1.1": thing_wheel("1.1", "second")}, lock)
    assert isinstance(gone, BuildFailure), gone
    assert (gone.step, gone.failure_class) == ("project", FailureClass.NO_MATCHING_VERSION)
    another = _built_by(engine, {"1.0": thing_wheel("1.0", "another")}, lock)
    assert isinstance(another, BuildFailure), another
    assert b"hash" in another.outcome.output.lower()
