"""Bytecode that is brought along belongs to unchanged files and to nothing else."""

import io
import os
import py_compile
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fakes.engine import FakeContainer, FakeEngine, Script, passing
from tests.toy import environment_of, tar_of
from validators.bytecode import Bytecode
from validators.errors import EngineUnavailableError
from validators.model import Flaw, Image, Outcome, Phase, Run, Tree
from validators.run import make_ready, run_ready
from validators.trial import Trial

WHEN = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("kept", "patched"):
        path = tmp_path / "pkg" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("x = 1\n")
        os.utime(path, (WHEN.timestamp(), WHEN.timestamp()))
    return tmp_path


def collected(project: Path, tree: Tree) -> set[str]:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path in project.rglob("*.pyc"):
            tar.add(path, "./" + str(path.relative_to(project)))
    bytecode = Bytecode()
    build = Outcome(exit_code=0, output=buffer.getvalue())
    bytecode.collect(FakeContainer(Script(build=build)), tree)
    if not bytecode.tar:
        return set()
    with tarfile.open(fileobj=io.BytesIO(bytecode.tar)) as tar:
        return {Path(name).name.partition(".")[0] for name in tar.getnames()}


def test_only_bytecode_of_unchanged_files_is_kept(project: Path) -> None:
    tree = Tree(commit="c", committed_at=WHEN, tar=tar_of(project))
    patched = project / "pkg" / "patched.py"
    patched.write_text("y = 2\n")  # same size, another second
    (project / "pkg" / "added.py").write_text("z = 3\n")
    for path in (project / "pkg").glob("*.py"):
        py_compile.compile(str(path), doraise=True)
    assert collected(project, tree) == {"kept"}


def test_bytecode_that_finds_no_room_is_the_builds_failure(project: Path) -> None:
    full = Outcome(exit_code=2, output=b"tar: m.pyc: Cannot write: No space left on device\n")
    engine = FakeEngine([Script(records=passing("t.py::a"), put=full)])
    run = run_with_bytecode(project, engine)
    assert (run.flaw, run.results) == (Flaw.BUILD_FAILED, {})
    assert "No space left on device" in run.detail
    assert not engine.tested


def test_a_machine_too_slow_for_bytecode_decides_nothing(project: Path) -> None:
    slow = Outcome(exit_code=137, output=b"", timed_out=True)
    engine = FakeEngine([Script(records=passing("t.py::a"), put=slow)])
    with pytest.raises(EngineUnavailableError, match="in time"):
        run_with_bytecode(project, engine)
    assert engine.open == 0


def run_with_bytecode(project: Path, engine: FakeEngine) -> Run:
    """A run made ready before another run's bytecode was there."""
    tree = Tree(commit="c", committed_at=WHEN, tar=tar_of(project))
    environment = environment_of(Image(digest="sha256:1", tag="t:1"))
    ready = make_ready(tree, environment, Trial(phase=Phase.AFTER), selection=(), engine=engine)
    try:
        return run_ready(ready, bytecode=Bytecode(tar=b"a tar", collected=True))
    finally:
        ready.leave()


def test_garbage_from_a_guest_is_nothing(project: Path) -> None:
    tree = Tree(commit="c", committed_at=WHEN, tar=tar_of(project))
    cache = project / "pkg" / "__pycache__"
    cache.mkdir()
    (cache / "kept.cpython-312.pyc").write_bytes(b"no bytecode at all")
    assert collected(project, tree) == set()
    bytecode = Bytecode()
    output = Outcome(exit_code=0, output=b"tar: not a tar\n" * 100)
    bytecode.collect(FakeContainer(Script(build=output)), tree)
    assert bytecode.tar == b""
    assert bytecode.collected
