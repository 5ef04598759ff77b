"""`miner doctor`: is everything there that a command would need?"""

import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from miner.cli import exits
from miner.cli.options import JsonOption
from miner.cli.speech import say_json, table
from miner.cli.wiring import House
from miner.errors import MinerError
from miner.store import check
from validators.errors import ValidatorError

FREE_GB = 5
"""Less free disk than this is told: environments are a few hundred megabytes each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at. Not needed ones do not make the answer a no."""

    what: str
    good: bool
    text: str
    needed: bool = True


def doctor(as_json: JsonOption = False) -> None:
    """Check this machine: engine, git, database, disk, token, certificates. Exit 1 on trouble."""
    house = House.of_environment()
    findings = list(examine(house))
    if as_json:
        say_json([{"what": f.what, "good": f.good, "text": f.text} for f in findings])
    else:
        table(
            "Doctor",
            ["what", "", "finding"],
            [[f.what, "ok" if f.good else ("NO" if f.needed else "–"), f.text] for f in findings],
        )
    if any(f.needed and not f.good for f in findings):
        raise typer.Exit(exits.DIFFERS)


def examine(house: House) -> Iterator[Finding]:
    """Every finding, the cheapest first."""
    yield Finding(what="python", good=True, text=platform.python_version())
    git = shutil.which("git")
    yield Finding(what="git", good=git is not None, text=git or "not found; install git")
    yield _disk(house.data_dir)
    yield _found("database", lambda: f"revision {check(house.settings.database)}")
    yield _found("engine", lambda: _engine(house))
    tokens = len(house.settings.github_tokens)
    yield Finding(
        what="token",
        good=tokens > 0,
        needed=False,
        text=f"{tokens} given" if tokens else "none: needed to crawl GitHub (GITHUB_TOKEN)",
    )
    if tokens:
        yield _found("api", lambda: _api(house))


def _found(what: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(what=what, good=True, text=look())
    except (MinerError, ValidatorError) as error:
        return Finding(what=what, good=False, text=str(error))


def _engine(house: House) -> str:
    with house.engine() as engine:
        return engine.name


def _api(house: House) -> str:
    with house.client() as client:
        answer = client.get("/rate_limit")
    return f"{house.settings.github_url} answers ({answer.status})"


def _disk(folder: Path) -> Finding:
    place = next(path for path in (folder, *folder.parents) if path.exists())
    free_gb = shutil.disk_usage(place).free / 1e9
    text = f"{free_gb:.0f} GB free below {place}"
    if free_gb < FREE_GB:
        text += f"; {FREE_GB} GB or more are needed"
    return Finding(what="disk", good=free_gb >= FREE_GB, text=text)
