"""Seals show what was changed, and what was changed and put back."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.engine import Script
from tests.fakes.local import LocalContainer
from validators.engine import END_GUEST
from validators.errors import EngineUnavailableError
from validators.guarded import (
    DATA,
    changed,
    close,
    closed_folders,
    guarded_paths,
    laid_folders,
    lay,
    look,
    look_again,
    refilled,
    renewed,
    sealed,
    touched,
)
from validators.languages import LANGUAGES
from validators.model import Outcome
from validators.surroundings import Surroundings

PATHS = ("gone.py", "link.py", "tests/a b.py", "tests/data.json", "tests/ü\n.py")


@pytest.fixture
def container(tmp_path: Path) -> LocalContainer:
    """A tree with tests and their data; one guarded path is a dangling link, one is not there."""
    (tmp_path / "tests").mkdir()
    for path in PATHS[2:]:
        (tmp_path / path).write_text(f"text of {path}")
    (tmp_path / "link.py").symlink_to("nowhere")
    return LocalContainer(Script(), folder=tmp_path)


def rewritten(folder: Path) -> None:
    (folder / "tests/a b.py").write_text("other")


def removed(folder: Path) -> None:
    (folder / "tests/a b.py").unlink()


def a_pipe(folder: Path) -> None:
    removed(folder)
    os.mkfifo(folder / "tests/a b.py")


def put_back(folder: Path) -> None:
    other = folder / "tests/other"
    other.write_text((folder / "tests/a b.py").read_text())
    other.replace(folder / "tests/a b.py")


def test_what_nobody_touched_keeps_its_seals(container: LocalContainer) -> None:
    before = sealed(look(container, PATHS), PATHS)
    assert [path for path, seal in before.each.items() if seal.digest] == [*PATHS[2:3], PATHS[4]]
    again = look(container, PATHS)
    assert (changed(before, again), touched(before, again)) == ((), ())
    assert renewed(before, again) == before


@pytest.mark.parametrize("change", [rewritten, removed, a_pipe])
def test_another_content_is_a_change(
    container: LocalContainer, change: Callable[[Path], None]
) -> None:
    before = sealed(look(container, PATHS), PATHS)
    change(container.folder)
    assert changed(before, look(container, PATHS)) == ("tests/a b.py",)


def test_what_is_changed_and_put_back_was_touched(container: LocalContainer) -> None:
    before = sealed(look(container, PATHS), PATHS)
    put_back(container.folder)
    after = look(container, PATHS)
    assert (changed(before, after), touched(before, after)) == ((), ("tests/a b.py",))


def test_what_appears_where_nothing_was_is_a_change(container: LocalContainer) -> None:
    before = sealed(look(container, PATHS), PATHS)
    (container.folder / "gone.py").write_text("")
    (container.folder / "link.py").unlink()
    (container.folder / "link.py").symlink_to("elsewhere")
    after = look(container, PATHS)
    assert changed(before, after) == ("gone.py",)
    assert touched(before, after) == ("gone.py", "link.py")


def test_data_is_sealed_together(container: LocalContainer) -> None:
    before = sealed(look(container, PATHS), PATHS)
    (container.folder / "tests/data.json").unlink()
    after = look(container, PATHS)
    assert (changed(before, after), touched(before, after)) == ((), (DATA,))


FOLDERS = ("tests/.", "tests/__pycache__", "tests/a b.py")


def test_a_folder_that_is_moved_and_put_back_was_touched(container: LocalContainer) -> None:
    before = sealed(look(container, FOLDERS), FOLDERS)
    (container.folder / "tests").rename(container.folder / "kept")
    (container.folder / "kept").rename(container.folder / "tests")
    after = look(container, FOLDERS)
    assert (changed(before, after), touched(before, after)) == ((), ("tests/.",))
    assert refilled(before, after) == ("tests/.",)


def test_what_is_put_into_a_folder_is_no_touch_of_it(container: LocalContainer) -> None:
    before = sealed(look(container, FOLDERS), FOLDERS)
    assert refilled(before, look(container, FOLDERS)) == ()
    (container.folder / "tests/new.txt").write_text("")
    after = look(container, FOLDERS)
    assert (touched(before, after), refilled(before, after)) == ((), ("tests/.",))


def test_nothing_is_put_where_bytecode_would_be_without_a_trace(container: LocalContainer) -> None:
    closed = container.folder / "tests/__pycache__"
    closed.mkdir()
    (closed / "test_a.cpython-312.pyc").write_bytes(b"old")
    assert close(container, ("tests/__pycache__", "none/__pycache__")).ok
    assert (closed.stat().st_mode & 0o777, [*closed.iterdir()]) == (0o555, [])
    before = sealed(look(container, FOLDERS), FOLDERS)
    assert touched(before, look(container, FOLDERS)) == ()
    closed.chmod(0o755)
    (closed / "test_a.cpython-312.pyc").write_bytes(b"new")
    (closed / "test_a.cpython-312.pyc").unlink()
    closed.chmod(0o555)
    assert touched(before, look(container, FOLDERS)) == ("tests/__pycache__",)


def test_closed_is_where_bytecode_of_required_tests_would_be() -> None:
    paths = {"calc.py", "a/tests/test_a.py", "a/conftest.py", "a/tests/data/x.py", "b/test_b.py"}
    surroundings = Surroundings(
        language=LANGUAGES["python"],
        packages=(),
        final_paths=frozenset({*paths, "b/__pycache__/committed.pyc"}),
        held=frozenset({"a/tests/test_a.py", "b/test_b.py", "gone.py", "x.json"}),
    )
    assert closed_folders(surroundings) == ("a/__pycache__", "a/tests/__pycache__")


IN_PACKAGE = (
    *("pkg/__init__.py", "pkg/sub/core.py", "pkg/tests/__init__.py", "pkg/tests/test_a.py"),
    *("pkg/tests/helpers/__init__.py", "pkg/tests/data/x.py", "pkg/tests/data/p/__init__.py"),
    *("tests/test_b.py", "tests/support/__init__.py", "tests/support/deep/__init__.py"),
)


def in_package() -> Surroundings:
    """Tests inside the package and outside."""
    return Surroundings(
        language=LANGUAGES["python"],
        packages=(),
        final_paths=frozenset(IN_PACKAGE),
        held=frozenset({"pkg/tests/test_a.py", "tests/test_b.py"}),
    )


def test_laid_is_where_other_bytecode_will_be_and_not_among_data() -> None:
    """`pkg/sub` holds no test: nothing seals it."""
    folders = ("pkg", "pkg/tests/helpers", "tests/support", "tests/support/deep")
    assert laid_folders(in_package()) == tuple(f"{folder}/__pycache__" for folder in folders)


@pytest.mark.parametrize("is_laid", [True, False])
def test_imports_put_nothing_into_folders_whose_bytecode_has_its_place(
    tmp_path: Path, *, is_laid: bool
) -> None:
    for path in IN_PACKAGE:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    container, surroundings = LocalContainer(Script(), folder=tmp_path), in_package()
    close(container, closed_folders(surroundings))
    if is_laid:
        lay(container, (*laid_folders(surroundings), "none/__pycache__"))
    paths = guarded_paths(surroundings)
    before = sealed(look(container, paths), paths)
    modules = "pkg.sub.core, pkg.tests.helpers, tests.support.deep"
    environment = {key: text for key, text in os.environ.items() if key[:6] != "PYTHON"}
    code = f"import sys; sys.dont_write_bytecode = False; import {modules}"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    assert list((tmp_path / "pkg/__pycache__").iterdir())
    assert bool(refilled(before, look(container, paths))) is not is_laid


def test_what_cannot_be_looked_at_is_no_seal_and_later_a_change(container: LocalContainer) -> None:
    before = sealed(look(container, PATHS), PATHS)
    blind = Outcome(exit_code=1, output=b"")
    with pytest.raises(EngineUnavailableError, match="could not be looked at"):
        sealed(blind, PATHS)
    assert changed(before, blind) == ("gone.py", "link.py", "tests/a b.py", "tests/ü\n.py")
    assert renewed(before, blind) == before


@dataclass(slots=True)
class Obstructed(LocalContainer):
    """Its first looks end as told, the others are looks."""

    outcomes: list[Outcome] = field(default_factory=list)

    def exec(self, command: Sequence[str], **rest: Any) -> Outcome:
        """`kill -9 -1` would end this test."""
        if command == END_GUEST:
            return Outcome(exit_code=0, output=b"")
        if self.outcomes:
            return self.outcomes.pop(0)
        return LocalContainer.exec(self, command, **rest)


LATE = Outcome(exit_code=137, output=b"", timed_out=True)
KILLED = Outcome(exit_code=137, output=b"")


@pytest.mark.parametrize("first", [LATE, KILLED])
def test_a_look_in_vain_is_tried_again_without_the_guest(
    container: LocalContainer, first: Outcome
) -> None:
    before = sealed(look(container, PATHS), PATHS)
    slow = Obstructed(Script(), folder=container.folder, outcomes=[first])
    assert changed(before, look_again(slow, before)) == ()


@pytest.mark.parametrize("outcomes", [[LATE, LATE], [LATE, KILLED], [KILLED, LATE]])
def test_a_slow_machine_is_no_change(container: LocalContainer, outcomes: list[Outcome]) -> None:
    seen = look(container, PATHS)
    slow = sealed(replace(seen, duration_s=150.0), PATHS)
    with pytest.raises(EngineUnavailableError, match="too busy"):
        look_again(Obstructed(Script(), outcomes=[*outcomes]), slow)
    with pytest.raises(EngineUnavailableError, match="too busy"):
        look_again(Obstructed(Script(), outcomes=[*outcomes]), renewed(slow, seen))
    quick = sealed(replace(seen, duration_s=1.0), PATHS)
    guilty = renewed(quick, replace(seen, duration_s=150.0))
    assert changed(guilty, look_again(Obstructed(Script(), outcomes=[*outcomes]), guilty))


def test_no_guards_are_sealed_too(container: LocalContainer) -> None:
    assert list(sealed(look(container, ()), ()).each) == [DATA]


def test_guarded_are_tests_data_the_script_that_runs_them_and_places_before_them() -> None:
    paths = frozenset({"calc.py", "run.py", "tests/test_a.py", "tests/a.json", "conftest.py"})
    surroundings = Surroundings(
        language=LANGUAGES["python"], packages=(), final_paths=paths, test_cmd="python run.py"
    )
    rivals = {"run/__init__.py", "tests/test_a/__init__.py", "conftest/__init__.py", "tests/."}
    assert guarded_paths(surroundings) == tuple(sorted((paths - {"calc.py"}) | rivals))
