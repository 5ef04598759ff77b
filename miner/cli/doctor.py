"""`miner doctor`: is everything there that a command would need?"""

import platform
import shutil
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from miner.cli import exits
from miner.cli.options import JsonOption
from miner.cli.speech import say_json, table
from miner.cli.wiring import House
from miner.errors import ConfigError, MinerError
from miner.git import version as git_version
from miner.http import HttpxTransport
from miner.store import check
from miner.wire import Request, place
from validators.errors import ValidatorError
from validators.plural import counted

FREE_GB = 5
"""Less free disk than this is told: environments are a few hundred megabytes each."""

INDEX = "https://pypi.org/simple"
ASKED_FOR = "pytest"
"""A project that every index installs are made from must have."""

INDEX_S = 20.0
JSON_INDEX = "application/vnd.pypi.simple.v1+json"
"""PEP 691: only so does an index tell dates (PEP 700)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at. Not needed ones do not make the answer a no."""

    what: str
    good: bool
    text: str
    needed: bool = True


def doctor(as_json: JsonOption = False) -> None:
    """Check this machine: git, disk, database, engine, certificates, index, token. 1: trouble."""
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
    yield _found("git", git_version)
    yield _disk(house.data_dir)
    yield _found("database", lambda: f"revision {check(house.settings.database)}")
    yield _found("engine", lambda: _engine(house))
    yield _found("certificates", lambda: _certificates(house.settings.ca_bundle))
    yield _found("index", lambda: _index(house))
    yield _tokens(house)
    if house.settings.github_tokens or house.settings.github_apps:
        yield _found("api", lambda: _api(house))


def _found(what: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(what=what, good=True, text=look())
    except (MinerError, ValidatorError) as error:
        return Finding(what=what, good=False, text=str(error))


def _engine(house: House) -> str:
    with house.engine() as engine:
        return engine.name


def _certificates(bundle: Path | None) -> str:
    authorities = ssl.create_default_context(cafile=bundle).cert_store_stats()["x509_ca"]
    if not authorities:
        raise ConfigError("no authority is trusted; set MINER_CA_BUNDLE to your CA file.")
    return f"{counted(authorities, 'authority')} of {bundle or 'the system'}"


def _index(house: House) -> str:
    """Does the index answer, and with the dates that installs as of a day need?"""
    url = f"{(house.settings.index_url or INDEX).rstrip('/')}/{ASKED_FOR}/"
    transport = HttpxTransport(ca_bundle=house.settings.ca_bundle, timeout_s=INDEX_S)
    try:
        answer = transport.send(Request(method="GET", url=url, headers={"accept": JSON_INDEX}))
    finally:
        transport.close()
    if answer.status != 200:
        raise ConfigError(f"{place(url)} answered {answer.status}; check MINER_INDEX_URL.")
    if b'"upload-time"' not in answer.body:
        raise ConfigError(
            f"{place(url)} does not say when files were uploaded; "
            "set MINER_INDEX_URL to an index that does (PEP 700)."
        )
    return f"{place(url)} answers, with dates"


def _tokens(house: House) -> Finding:
    """The keys of Apps are read here; whether GitHub takes them, the API says."""
    try:
        tokens, apps = len(house.settings.github_tokens), len(house.settings.apps())
    except ConfigError as error:
        return Finding(what="token", good=False, text=str(error))
    if not tokens and not apps:
        text = "none: needed to crawl GitHub (GITHUB_TOKEN)"
        return Finding(what="token", good=False, needed=False, text=text)
    counted = ((tokens, "given"), (apps, "of App installations"))
    text = ", ".join(f"{count} {kind}" for count, kind in counted if count)
    return Finding(what="token", good=True, text=text)


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
