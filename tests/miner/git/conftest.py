"""Real repositories and a mirror of one."""

from pathlib import Path

import pytest

from miner.git import Mirrors
from tests.miner.git.repository import Repository


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "upstream")


@pytest.fixture
def mirrors(tmp_path: Path) -> Mirrors:
    return Mirrors(tmp_path / "mirrors")
