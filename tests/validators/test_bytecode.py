"""Bytecode that is brought along belongs to unchanged files and to nothing else."""

import io
import os
import py_compile
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.fakes.engine import FakeContainer, Script
from tests.toy import tar_of
from validators.bytecode import Bytecode
from validators.model import Tree

WHEN = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("kept", "patched"):
        path = tmp_path / "pkg" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("x = 1\n")
        os.utime(path, (WHEN.timestamp(), WHEN.timestamp()))
    return tmp_path


def packed_of(project: Path) -> bytes:
    """The bytecode of a project as a container hands it out."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path in project.rglob("*.pyc"):
            tar.add(path, "./testbed/" + str(path.relative_to(project)))
    return buffer.getvalue()


def collected(project: Path, tree: Tree) -> set[str]:
    bytecode = Bytecode()
    bytecode.collect(FakeContainer(Script(packed=packed_of(project))), tree)
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


def test_garbage_from_a_guest_is_nothing(project: Path) -> None:
    tree = Tree(commit="c", committed_at=WHEN, tar=tar_of(project))
    cache = project / "pkg" / "__pycache__"
    cache.mkdir()
    (cache / "kept.cpython-312.pyc").write_bytes(b"no bytecode at all")
    assert collected(project, tree) == set()
    bytecode = Bytecode()
    for packed in (b"tar: not a tar\n" * 100, None):
        bytecode.collect(FakeContainer(Script(packed=packed)), tree)
    assert bytecode.tar == b""


def test_the_second_run_may_give_more_and_the_third_is_not_asked(project: Path) -> None:
    """Before the fix a test module often imports nothing: the run after it compiles the package."""
    tree = Tree(commit="c", committed_at=WHEN, tar=tar_of(project))
    bytecode = Bytecode()
    counts = []
    for names in ((), ("kept",), ("kept", "patched")):
        for name in names:
            py_compile.compile(str(project / "pkg" / f"{name}.py"), doraise=True)
        bytecode.collect(FakeContainer(Script(packed=packed_of(project))), tree)
        counts.append(bytecode.files)
    assert counts == [0, 1, 1]
