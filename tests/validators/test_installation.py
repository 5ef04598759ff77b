"""The commands of an install."""

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote

import pytest

from validators import installation, locks
from validators.engine import VENV
from validators.model import ProjectInstall, Recipe, Tree

RECIPE = Recipe(
    language="python",
    python="3.12",
    requirements=(".[test]", "-r requirements/test.txt", "pytest>=8"),
    cutoff_at=datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC),
    cutoff_exempt=(("setuptools", datetime(2024, 12, 31, tzinfo=UTC)),),
)


def test_relative_requirements_are_under_the_tree() -> None:
    assert installation.requirements_text(RECIPE, tree="/tree") == (
        "/tree[test]\n-r /tree/requirements/test.txt\npytest>=8\n"
    )


def test_groups_and_the_project_are_those_of_the_tree_that_is_resolved() -> None:
    recipe = replace(RECIPE, requirements=("-e .", "--group test", "pytest"))
    assert installation.requirements_text(recipe, tree="/tree") == "/tree\npytest\n"
    line = installation.resolve_line(recipe, "in", "out", tree="/tree")
    assert " --group /tree/pyproject.toml:test " in line


@pytest.mark.parametrize("path", ["../x.txt", "/etc/passwd", "a/../../x"])
def test_a_file_outside_the_tree_is_refused(path: str) -> None:
    with pytest.raises(installation.OutsideTreeError):
        installation.requirements_text(replace(RECIPE, requirements=(f"-r {path}",)))


def test_every_step_that_may_build_is_bound_to_the_date() -> None:
    dates = (
        "--exclude-newer 2024-05-06T07:08:09Z"
        " --exclude-newer-package setuptools=2024-12-31T00:00:00Z"
    )
    assert dates in installation.resolve_line(RECIPE, "in", "out")
    assert dates in installation.install_line(RECIPE, "lock")
    assert dates in (installation.project_line(RECIPE) or "")


def test_installs_check_every_hash() -> None:
    assert "--require-hashes" in installation.install_line(RECIPE, "lock")


def test_the_project_is_installed_as_the_recipe_says() -> None:
    lines = {
        install: installation.project_line(replace(RECIPE, project_install=install))
        for install in ProjectInstall
    }
    assert (lines[ProjectInstall.EDITABLE] or "").endswith("-e /testbed")
    assert (lines[ProjectInstall.PLAIN] or "").endswith("--no-deps /testbed")
    assert lines[ProjectInstall.NONE] is None


@pytest.mark.parametrize(
    "line",
    ["-e file:///testbed", "/testbed", ".", "pkg @ file:///testbed", "file:///testbed[test]"],
)
def test_the_project_is_no_part_of_its_lock(line: str) -> None:
    lock = f"{line}\npytest==8.0 \\\n    --hash=sha256:00\n"
    assert locks.without_project(lock) == "pytest==8.0 \\\n    --hash=sha256:00\n"


def test_what_a_lock_takes_from_repositories_is_told() -> None:
    lock = "a==1 \\\n    --hash=sha256:00\nb @ git+https://x.invalid/b@1f\nc @ https://x.invalid/c.zip\n"
    assert locks.addresses(lock) == ["b @ git+https://x.invalid/b@1f"]


def test_files_of_requirements_are_told_relative_to_the_tree() -> None:
    lines = ("-r needs/test.txt", ".", "-c /testbed/c.txt", "--requirement=./x.in", "six")
    paths = installation.requirement_paths(replace(RECIPE, requirements=lines))
    assert paths == ("needs/test.txt", "c.txt", "x.in")


def test_names_are_quoted_for_the_shell() -> None:
    recipe = replace(RECIPE, apt=("gcc", "x; rm -rf /"))
    assert "'x; rm -rf /'" in " ".join(installation.apt_lines(recipe))
    option = replace(RECIPE, apt=("-oDPkg::Pre-Invoke::=id",))
    assert " -- -oDPkg::Pre-Invoke::=id" in " ".join(installation.apt_lines(option))
    tree = Tree(
        commit="c", committed_at=datetime(2024, 1, 1, tzinfo=UTC), tar=b"", nearest_tag="v1; true"
    )
    assert "'v1; true'" in " ".join(installation.tree_lines(tree))


def _shell(line: str, *, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["/bin/bash", "-c", line], input=given, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("line", "other", "code"), [("cat", "true", 0), ("exit 7", "true", 7), ("cat", "exit 3", 3)]
)
def test_two_at_once_fail_when_either_does(line: str, other: str, code: int) -> None:
    ended = _shell(installation.together(line, other), given=b"in")
    assert ended.returncode == code
    assert ended.stdout == (b"in" if line == "cat" else b"")


def test_two_at_once_end_together(tmp_path: Path) -> None:
    line = installation.together("true", f"sleep 0.2; echo done >{tmp_path}/other")
    assert _shell(line).returncode == 0
    assert (tmp_path / "other").read_text() == "done\n"


@pytest.mark.parametrize(
    ("lines", "code", "said"),
    [
        (("echo a", "echo b; true"), 0, b"a\n\0b\n"),
        (("echo a", "exit 4", "echo c"), 4, b"a\n\0"),
        (("exit 5", "echo b"), 5, b""),
    ],
)
def test_the_zero_bytes_tell_which_line_failed(
    lines: tuple[str, ...], code: int, said: bytes
) -> None:
    ended = _shell(installation.in_turn(*lines))
    assert (ended.returncode, ended.stdout) == (code, said)


@pytest.mark.parametrize("install", [ProjectInstall.EDITABLE, ProjectInstall.PLAIN])
def test_what_is_built_ahead_is_the_project_of_the_recipe(install: ProjectInstall) -> None:
    recipe = replace(RECIPE, project_install=install)
    whole = installation.project_line(recipe) or ""
    ahead = installation.ahead_line(recipe, "/aside")
    assert ahead.endswith(whole.replace("/opt/venv/", "/aside/"))
    assert "/opt/venv" not in ahead
    given = whole.rpartition("--no-deps ")[2]
    assert installation.built_line(recipe) == (
        f"printf '%s\\n' {quote(given)} | {whole.removesuffix(given)}-r -"
    )


def test_all_but_tests_of_packages_is_compiled(tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    for path in ("a/__init__.py", "a/tests/test_a.py", "b c.py", *(f"n/{n}.py" for n in range(70))):
        (lib / path).parent.mkdir(parents=True, exist_ok=True)
        (lib / path).write_text("x = 1\n")
    (lib / "broken.py").write_text("x =\n")
    line = installation.compile_line().replace(f"{VENV}/bin/python", sys.executable)
    assert _shell(line.replace(VENV, str(tmp_path))).returncode == 0
    made = {path.name.partition(".")[0] for path in lib.rglob("*.pyc")}
    assert made == {"__init__", "b c", *map(str, range(70))}
