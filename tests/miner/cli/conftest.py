"""A command line of its own: bare environment, own folder, own database."""

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from miner import config
from miner.cli import run
from miner.store import Database


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str


Miner = Callable[..., Answer]


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(config.PREFIX) or name == "GITHUB_TOKEN":
            monkeypatch.delenv(name)
    monkeypatch.setenv("MINER_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


@pytest.fixture
def miner(capsys: pytest.CaptureFixture[str]) -> Miner:
    """Run a command line: `miner("repos", "add", "o/r")`."""

    def call(*words: str) -> Answer:
        capsys.readouterr()
        code = run(words)
        said = capsys.readouterr()
        return Answer(code=code, out=said.out, err=said.err)

    return call


@pytest.fixture
def db(database: Database) -> Database:
    """The empty database in the command line's folder, made."""
    return database
