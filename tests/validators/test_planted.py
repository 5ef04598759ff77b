"""What a build may leave in a tree, and what not."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.engine import Script
from tests.fakes.local import LocalContainer
from validators.languages import LANGUAGES
from validators.planted import Planting, layout, planting, remove
from validators.surroundings import Surroundings

SURROUNDINGS = Surroundings(
    language=LANGUAGES["python"],
    packages=("packaging==24.0",),
    installed=("zope", "zope/interface"),
    final_paths=frozenset(
        {"calc/__init__.py", "setup.cfg", "tests/conftest.py", "types.py", "zope/mine.py"}
    ),
    source_paths=("code",),
)
BEFORE = {
    "calc/__init__.py": "",
    "setup.cfg": "[metadata]\nname = a\n[tool:pytest]\naddopts = -ra\n",
    "tests/conftest.py": "x = 1\n",
    "calc.egg-info/entry_points.txt": "[console_scripts]\na = calc:a\n",
}


def after(folder: Path, files: Mapping[str, str | None]) -> Planting:
    """What is found when a build leaves these files; None removes one."""
    write(folder, BEFORE)
    container = LocalContainer(Script(), folder=folder)
    before = layout(container, SURROUNDINGS)
    assert before is not None
    write(folder, files)
    return planting(before, layout(container, SURROUNDINGS), SURROUNDINGS)


def write(folder: Path, files: Mapping[str, str | None]) -> None:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            target.unlink()
        else:
            target.write_text(text)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"calc/_speed.so": "", "build/lib/calc/__init__.py": "", "calc/version.py": "v = 1"},
        {"setup.cfg": BEFORE["setup.cfg"] + "[egg_info]\ntag_build =\n"},
        {"calc.egg-info/entry_points.txt": "[console_scripts]\nb = calc:b\n"},
        {"code/new.egg-info/entry_points.txt": "[console_scripts]\nb = calc:b\n"},
        {"types.py": ""},  # the project's own
        {"packaging/notes.txt": ""},  # a folder without a module hides nothing
        {"calc/json.py": ""},
        {"zope/calc/__init__.py": "", "zope/notes.txt": ""},
    ],
)
def test_honest_builds(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert after(tmp_path, files) == Planting()


@pytest.mark.parametrize(
    "path",
    [
        *("conftest.py", "calc/conftest.py", "pytest.ini", "code/sitecustomize.py", "x.pth"),
        *("zope/interface.py", "code/zope/interface/__init__.py"),
        *(".env", "json.py", "json.cpython-312-x86_64-linux-gnu.so", "code/packaging/__init__.py"),
    ],
)
def test_what_is_new_is_removed(tmp_path: Path, path: str) -> None:
    found = after(tmp_path, {path: ""})
    assert found == Planting(new=(path,))
    container = LocalContainer(Script(), folder=tmp_path)
    assert remove(container, found.new).ok
    assert not (tmp_path / path).exists()
    assert (tmp_path / "tests/conftest.py").exists()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/conftest.py", "x = 2\n"),
        ("tests/conftest.py", None),
        ("setup.cfg", "[tool:pytest]\naddopts = -p evil\n"),
        ("setup.cfg", None),
        ("tox.ini", "[pytest]\naddopts = -p evil\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-p evil'\n"),
        ("calc.egg-info/entry_points.txt", "[pytest11]\nevil = evil\n"),
        ("x.egg-info/entry_points.txt", "[pytest11]\nevil = evil\n"),
    ],
)
def test_what_is_changed_is_told(tmp_path: Path, path: str, text: str | None) -> None:
    assert after(tmp_path, {path: text}) == Planting(changed=(path,))


@pytest.mark.parametrize(
    "path",
    [
        *("tests/conftest.so", "tests/conftest.cpython-312-x86_64-linux-gnu.so"),
        *("tests/conftest/__init__.abi3.so", "tests/conftest/__init__.pyc"),
    ],
)
def test_what_would_be_imported_instead_of_a_test_is_removed(tmp_path: Path, path: str) -> None:
    assert path in after(tmp_path, {path: ""}).new


def test_configuration_that_the_test_command_names_is_looked_at(tmp_path: Path) -> None:
    known = replace(
        SURROUNDINGS,
        final_paths=frozenset({"ci/[a].cfg"}),
        test_cmd="pytest -c ci/[a].cfg",
    )
    write(tmp_path, {"ci/[a].cfg": "[pytest]\n"})
    container = LocalContainer(Script(), folder=tmp_path)
    before = layout(container, known)
    write(tmp_path, {"ci/[a].cfg": "[pytest]\naddopts = -p evil\n"})
    assert planting(before, layout(container, known), known) == Planting(changed=("ci/[a].cfg",))


def test_bytecode_is_removed_whoever_made_it(tmp_path: Path) -> None:
    write(tmp_path, {"tests/__pycache__/old.pyc": "", "data/old.pyc": ""})
    found = after(tmp_path, {"calc/__pycache__/a.pyc": "", "tests/new.pyc": ""})
    assert found == Planting(bytecode=("calc/__pycache__", "tests/__pycache__", "tests/new.pyc"))


def test_tests_behind_a_link_are_a_change(tmp_path: Path) -> None:
    """Their bytecode could lie where nothing is looked for."""
    write(tmp_path, BEFORE)
    container = LocalContainer(Script(), folder=tmp_path)
    before = layout(container, SURROUNDINGS)
    (tmp_path / "tests").rename(tmp_path / "moved")
    (tmp_path / "tests").symlink_to("moved")
    assert "tests" in planting(before, layout(container, SURROUNDINGS), SURROUNDINGS).changed


def test_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"evil/__init__.py": ""})
    write(tmp_path, BEFORE)
    container = LocalContainer(Script(), folder=tmp_path)
    before = layout(container, SURROUNDINGS)
    (tmp_path / "json").symlink_to("evil")
    (tmp_path / "conftest.py").symlink_to("evil/__init__.py")
    (tmp_path / "tox.ini").symlink_to("setup.cfg")
    found = planting(before, layout(container, SURROUNDINGS), SURROUNDINGS)
    assert found == Planting(new=("conftest.py", "json"), changed=("tox.ini",))


def test_what_cannot_be_seen_is_a_change(tmp_path: Path) -> None:
    seen = layout(LocalContainer(Script(), folder=tmp_path), SURROUNDINGS)
    assert seen is not None
    for found in (planting(seen, None, SURROUNDINGS), planting(None, seen, SURROUNDINGS)):
        assert found.changed
