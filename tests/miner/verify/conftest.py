"""A migrated database, and a real mirror of a small repository."""

import subprocess
from pathlib import Path

import pytest

from miner.git import Mirrors


@pytest.fixture(scope="session")
def origin(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A repository with one commit: where it is, and the commit."""
    folder = tmp_path_factory.mktemp("origin")
    (folder / "core.py").write_text("def double(x):\n    return x\n", "utf-8")

    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        ran = subprocess.run(
            ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
        )
        return ran.stdout.strip()

    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    return folder, git("rev-parse", "HEAD")


@pytest.fixture
def mirrors(tmp_path: Path, origin: tuple[Path, str]) -> Mirrors:
    """Its mirror as o/r."""
    mirrors = Mirrors(tmp_path / "mirrors")
    mirrors.update("o/r", str(origin[0]))
    return mirrors


@pytest.fixture
def commit(origin: tuple[Path, str]) -> str:
    """The commit in the mirror."""
    return origin[1]
