"""A migrated database, and a real mirror of a small repository."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from miner.git import Mirrors
from miner.store import Database, open_store, upgrade


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file that the migrations made, to be copied."""
    file = tmp_path_factory.mktemp("migrated") / "miner.db"
    upgrade(f"sqlite:///{file}")
    return file


@pytest.fixture
def url(tmp_path: Path, migrated_file: Path) -> str:
    """URL of a migrated database."""
    shutil.copyfile(migrated_file, tmp_path / "miner.db")
    return f"sqlite:///{tmp_path}/miner.db"


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """The same, open."""
    with open_store(url) as opened:
        yield opened


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
