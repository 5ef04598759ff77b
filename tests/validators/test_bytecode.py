"""Bytecode that is brought along belongs to unchanged files and to nothing else."""

import io
import os
import py_compile
import tarfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.fakes.engine import FakeContainer, Script
from tests.toy import tar_of
from validators.archive import pack
from validators.bytecode import Bytecode, stamps
from validators.engine import END_GUEST
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


def collected(project: Path, tree: Tree, *patches: bytes) -> set[str]:
    bytecode = Bytecode(tree)
    bytecode.collect(FakeContainer(Script(packed=packed_of(project))), patches)
    return brought(bytecode, *patches)


def brought(bytecode: Bytecode, *patches: bytes) -> set[str]:
    """The modules whose bytecode a run with these patches gets."""
    packed = bytecode.tar(patches)
    if not packed:
        return set()
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        return {Path(name).name.partition(".")[0] for name in tar.getnames()}


def patch_of(*paths: str, line: str = "x = 2") -> bytes:
    """A patch that gives each file that one line."""
    return "".join(
        f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-x = 1\n+{line}\n"
        for path in paths
    ).encode()


def test_only_bytecode_of_files_of_the_state_is_kept(project: Path) -> None:
    tree = Tree(commit="c", committed_at=WHEN, tar=tar_of(project))
    patched = project / "pkg" / "patched.py"
    patched.write_text("y = 2\n")  # same size, another second
    (project / "pkg" / "added.py").write_text("z = 3\n")
    for path in (project / "pkg").glob("*.py"):
        py_compile.compile(str(path), doraise=True)
    assert collected(project, tree) == {"kept"}
    assert collected(project, tree, patch_of("pkg/patched.py")) == {"kept"}


def test_bytecode_of_a_patched_file_serves_the_same_patch_alone(project: Path) -> None:
    tree = Tree(commit="c", committed_at=WHEN, tar=tar_of(project))
    tests, fix = patch_of("pkg/patched.py"), patch_of("pkg/kept.py")
    for name, time_s in stamps(tree, (tests,)).items():
        os.utime(project / name, (time_s, time_s))
    for path in (project / "pkg").glob("*.py"):
        py_compile.compile(str(path), doraise=True)
    bytecode = Bytecode(tree)
    bytecode.collect(FakeContainer(Script(packed=packed_of(project))), (tests,))
    assert brought(bytecode, tests) == {"kept", "patched"}
    assert brought(bytecode) == {"kept"}
    assert brought(bytecode, tests, fix) == {"patched"}
    assert brought(bytecode, patch_of("pkg/patched.py", line="x = 3")) == {"kept"}
    assert brought(bytecode, tests, patch_of("pkg/patched.py", line="x = 3")) == {"kept"}


def test_a_patched_module_has_a_time_after_the_commit_that_its_patches_give_it() -> None:
    """Later than unchanged files: what a project makes of newer sources is made again."""
    tree = Tree(commit="c", committed_at=WHEN, tar=b"")
    one, other = patch_of("a.py", "data.txt"), patch_of("b.py")
    found = stamps(tree, (one, other))
    assert set(found) == {"a.py", "b.py"}
    assert all(0 < time_s - WHEN.timestamp() <= 1_000_000 for time_s in found.values())
    assert stamps(tree, (one,)) == {"a.py": found["a.py"]}
    assert stamps(replace(tree, commit="d"), (one,)) != stamps(tree, (one,))
    ancient = replace(tree, committed_at=datetime(1979, 1, 1, tzinfo=UTC))
    assert stamps(ancient, (one,)) == {}


def test_a_commit_of_today_gives_no_times_of_the_future() -> None:
    tree = Tree(commit="c", committed_at=datetime.now(UTC) - timedelta(days=10), tar=b"")
    assert stamps(tree, (patch_of("a.py"),)) == {}
    older = replace(tree, committed_at=datetime.now(UTC) - timedelta(days=13))
    (time_s,) = stamps(older, (patch_of("a.py"),)).values()
    assert time_s < datetime.now(UTC).timestamp()


def test_garbage_from_a_guest_is_nothing(project: Path) -> None:
    tree = Tree(commit="c", committed_at=WHEN, tar=tar_of(project))
    cache = project / "pkg" / "__pycache__"
    cache.mkdir()
    (cache / "kept.cpython-312.pyc").write_bytes(b"no bytecode at all")
    assert collected(project, tree) == set()
    bytecode = Bytecode(tree)
    for packed in (b"tar: not a tar\n" * 100, None):
        bytecode.collect(FakeContainer(Script(packed=packed)), ())
    assert bytecode.tar(()) == b""


def test_the_second_run_may_give_more_and_the_third_is_not_asked(project: Path) -> None:
    """Before the fix a test module often imports nothing: the run after it compiles the package."""
    tree = Tree(commit="c", committed_at=WHEN, tar=tar_of(project))
    bytecode = Bytecode(tree)
    known = []
    for names in ((), ("kept",), ("kept", "patched")):
        for name in names:
            py_compile.compile(str(project / "pkg" / f"{name}.py"), doraise=True)
        bytecode.collect(FakeContainer(Script(packed=packed_of(project))), ())
        known.append(brought(bytecode))
    assert known == [set(), {"kept"}, {"kept"}]


def test_only_names_of_bytecode_are_brought(project: Path) -> None:
    """A guest says what its files are called: what is brought must not stand anywhere else."""
    tree = Tree(commit="c", committed_at=WHEN, tar=tar_of(project))
    py_compile.compile(str(project / "pkg" / "kept.py"), doraise=True)
    code = next(project.rglob("*.pyc")).read_bytes()
    names = (
        "pkg/other/kept.py",
        "pkg/__pycache__/kept.so",
        "pkg/../kept.pyc",
        "../__pycache__/x.pyc",
    )
    packed = pack({f"./testbed/{name}": code for name in names})
    bytecode = Bytecode(tree)
    bytecode.collect(FakeContainer(Script(packed=packed)), ())
    assert bytecode.tar(()) == b""


def test_what_a_guest_left_running_is_ended_before_its_files_are_read(project: Path) -> None:
    tree = Tree(commit="c", committed_at=WHEN, tar=tar_of(project))
    container = FakeContainer(Script(packed=None))
    Bytecode(tree).collect(container, ())
    assert container.commands == [END_GUEST]


def test_a_crafted_archive_is_nothing(project: Path) -> None:
    """Neither the miner's memory nor its run ends by it."""
    tree = Tree(commit="c", committed_at=WHEN, tar=tar_of(project))
    member = tarfile.TarInfo("././@LongLink")
    member.type, member.size = tarfile.GNUTYPE_LONGNAME, 5
    chain = (member.tobuf(tarfile.GNU_FORMAT) + b"aaaa\0".ljust(512, b"\0")) * 3000
    bytecode = Bytecode(tree)
    bytecode.collect(FakeContainer(Script(packed=chain)), ())
    assert bytecode.tar(()) == b""
