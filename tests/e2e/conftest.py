"""One run of the whole demo a session, and a small forge for everything else."""

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from miner import config
from miner.cli import run
from miner.demo import Forge, ForgeData, build_forge, made_forge, serve
from tests.fakes.progress import SilentProgress
from validators.certificates import system_certificates

DEMO_S = 1200


@dataclass(frozen=True)
class Finished:
    """A command that ended."""

    code: int
    out: str
    err: str
    seconds: float


@dataclass(frozen=True)
class Machine:
    """A folder and an environment in which `miner` is run as a user would."""

    folder: Path
    env: Mapping[str, str]

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """A running command; its progress comes as lines on stderr."""
        return subprocess.Popen(
            [sys.executable, "-m", "miner", *words],
            cwd=self.folder,
            env={**self.env, "PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, timeout_s: float = 600) -> Finished:
        """The command, to its end."""
        began = time.monotonic()
        process = self.start(*words)
        try:
            out, err = process.communicate(timeout=timeout_s)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        return Finished(process.returncode, out, err, time.monotonic() - began)

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.folder / "miner.db"


def machine(folder: Path, **settings: str) -> Machine:
    """A bare environment but for `settings` and the engine under test."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name == "MINER_ENGINE" or not name.startswith((config.PREFIX, "GITHUB_TOKEN"))
    }
    folder.mkdir(parents=True, exist_ok=True)
    return Machine(folder=folder, env={**env, "MINER_DATA_DIR": str(folder), **settings})


@dataclass(frozen=True)
class Demo:
    """The finished demo: how it ended, and where its database is."""

    ended: Finished
    home: Machine  # `miner demo` again
    inside: Machine  # other commands on the demo's own database


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """`miner demo` in an empty folder."""
    home = machine(tmp_path_factory.mktemp("demo"))
    ended = home.run("demo", timeout_s=DEMO_S)
    return Demo(ended=ended, home=home, inside=machine(home.folder / "demo"))


@pytest.fixture(scope="session")
def forge_data(tmp_path_factory: pytest.TempPathFactory) -> ForgeData:
    """The demo's repositories (fetched once a session)."""
    return build_forge(
        tmp_path_factory.mktemp("forge"),
        ca_bundle=system_certificates(),
        progress=SilentProgress(),
    )


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Forge]:
    """The made repositories alone: they need no package index."""
    with serve(made_forge(tmp_path / "made")) as forge:
        yield forge


@dataclass(frozen=True)
class Miner:
    """`miner` in this process: quicker than a new one each time."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def set(self, **settings: str) -> None:
        """Environment variables from now on."""
        for name in [name for name in os.environ if name.startswith(config.PREFIX)]:
            if name in settings:
                self.monkeypatch.delenv(name)
        for name, value in settings.items():
            self.monkeypatch.setenv(name, value)

    def run(self, *words: str) -> Finished:
        """The command, to its end."""
        self.capsys.readouterr()
        code = run(words)
        said = self.capsys.readouterr()
        return Finished(code=code, out=said.out, err=said.err, seconds=0)

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.folder / "miner.db"


Inside = Callable[..., Miner]


@pytest.fixture
def miner(made: Forge, tmp_path: Path, inside: Inside) -> Miner:
    """Commands in this process, on an upgraded database, against the made repositories."""
    return inside(
        tmp_path / "home",
        MINER_GITHUB_URL=made.base_url,
        GITHUB_TOKEN=made.token,
        MINER_POLICY="quick",
    )


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Inside]:
    """Make a `Miner` in a folder of its own."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def build(folder: Path, **settings: str) -> Miner:
        found = Miner(folder=folder, monkeypatch=monkeypatch, capsys=capsys)
        found.set(**dict(machine(folder, **settings).env))
        assert found.run("db", "upgrade").code == 0
        return found

    yield build
    root.handlers[:], root.level = handlers, level
