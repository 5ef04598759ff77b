"""The commands of an install."""

import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from validators import installation
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
    assert installation.without_project(lock) == "pytest==8.0 \\\n    --hash=sha256:00\n"


def test_names_are_quoted_for_the_shell() -> None:
    recipe = replace(RECIPE, apt=("gcc", "x; rm -rf /"))
    assert "'x; rm -rf /'" in " ".join(installation.apt_lines(recipe))
    tree = Tree(
        commit="c", committed_at=datetime(2024, 1, 1, tzinfo=UTC), tar=b"", nearest_tag="v1; true"
    )
    assert "'v1; true'" in " ".join(installation.tree_lines(tree))


@pytest.mark.parametrize(("line", "code"), [("true", 0), ("(exit 7)", 7)])
def test_what_runs_beside_changes_no_end(line: str, code: int, tmp_path: Path) -> None:
    both = installation.beside(line, f"sleep 0.2; echo done > {tmp_path}/other; false")
    ended = subprocess.run(["/bin/bash", "-c", both], check=False)
    assert ended.returncode == code
    assert (tmp_path / "other").read_text() == "done\n"
