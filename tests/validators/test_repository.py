"""A tree becomes a repository of one commit, with the bytes it has."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from validators.model import Tree
from validators.repository import repository_lines

TREE = Tree(
    commit="c" * 40,
    committed_at=datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC),
    tar=b"",
    nearest_tag="v1.0",
)


def run(folder: Path, line: str) -> subprocess.CompletedProcess[bytes]:
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C"}
    command = ["/bin/bash", "-c", line]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)


def made(folder: Path) -> subprocess.CompletedProcess[bytes]:
    return run(folder, " && ".join(repository_lines(TREE)))


def test_it_has_one_commit_with_the_trees_date_and_tag(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    assert made(tmp_path).returncode == 0
    said = run(tmp_path, "git log --format='%aI %cI %D' && git describe && git status --short")
    assert said.stdout.decode().splitlines() == [
        "2024-01-02T03:04:05+00:00 2024-01-02T03:04:05+00:00 HEAD -> main, tag: v1.0",
        "v1.0",
    ]


@pytest.mark.parametrize(
    "attributes", ["* text=auto eol=lf\n", "* working-tree-encoding=UTF-16\n", "* ident\n"]
)
def test_no_attribute_changes_bytes_or_keeps_a_file_out(tmp_path: Path, attributes: str) -> None:
    content = b"\xff $Id: 1$\r\n"
    (tmp_path / ".gitattributes").write_text(attributes)
    (tmp_path / "a.txt").write_bytes(content)
    assert made(tmp_path).returncode == 0
    assert run(tmp_path, "git show HEAD:a.txt").stdout == content


def test_a_line_that_fails_is_not_hidden_by_the_tag(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("in the way")
    assert made(tmp_path).returncode != 0
