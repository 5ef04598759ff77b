"""Stopped at any stage, by any signal, the same command again ends in the same database."""

import signal
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from miner.demo import Forge, ForgeData, serve
from miner.publish.stage import plan
from miner.store import open_store
from tests.e2e.conftest import Machine, machine
from tests.fakes.proxy import proxy
from tests.real_engine import HERE
from validators.engines.client import BRIEF_S

pytestmark = [pytest.mark.docker, pytest.mark.network, pytest.mark.timeout(600)]

RUN = ("run", "--repo", "demo/parse", "--repo", "demo/tally", "--repo", "demo/xmltodict")
STORIES = ("leases", "passes", "stage_reports", "failures")
"""Tables that tell what went on, not what is."""


@pytest.fixture(scope="module")
def forge(forge_data: ForgeData) -> Iterator[Forge]:
    """All the demo's repositories, served."""
    with serve(forge_data) as served:
        yield served


def fresh(folder: Path, forge: Forge) -> Machine:
    """A machine with an empty database."""
    found = machine(
        folder,
        MINER_GITHUB_URL=forge.base_url,
        GITHUB_TOKEN=forge.token,
        MINER_POLICY="quick",
    )
    assert found.run("db", "upgrade").code == 0
    return found


def facts(home: Machine) -> tuple[object, ...]:
    """What the database holds: the funnel, the rows of every table, what would be published."""
    connection = sqlite3.connect(home.database)
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    names = sorted(name for (name,) in connection.execute(query) if name not in STORIES)
    counts = [
        (name, connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0])  # noqa: S608
        for name in names
        if name != "blobs"  # logs hold times: their number differs
    ]
    connection.close()
    with open_store(f"sqlite:///{home.database}") as store:
        drawn, _ = plan(
            store.publish,
            name="2026-01-01",
            window=(None, None),
            dockerfile=lambda instance: instance.environment.recipe.python,
            now=datetime(2026, 1, 1, tzinfo=UTC),
        )
        return store.admin.funnel(), tuple(counts), drawn.content_hash


@pytest.fixture(scope="module")
def undisturbed(forge: Forge, tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    """What an undisturbed run ends in."""
    home = fresh(tmp_path_factory.mktemp("undisturbed"), forge)
    ended = home.run(*RUN)
    assert ended.code == 0, ended.err
    assert '"instances": 2' in home.run("funnel", "--json").out
    return facts(home)


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        ("crawl begins", signal.SIGINT, 130),
        ("crawl 1/", signal.SIGTERM, 130),
        ("split 2:", signal.SIGINT, 130),
        ("verify begins", signal.SIGINT, 130),
        ("verify 1/", signal.SIGTERM, 130),
        ("verify begins", signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_stopped_and_run_again(
    tmp_path: Path,
    forge: Forge,
    undisturbed: tuple[object, ...],
    line: str,
    number: signal.Signals,
    code: int,
) -> None:
    home = fresh(tmp_path, forge)
    process = home.start(*RUN)
    assert process.stderr is not None
    for said in process.stderr:
        if said.startswith(line):
            process.send_signal(number)
            break
    _, rest = process.communicate(timeout=300)
    assert process.returncode == code, rest
    if code == 130:
        assert rest.endswith("stopped; run again to go on\n")
        assert "Traceback" not in rest
    again = home.run(*RUN)
    assert again.code == 0, again.err
    assert facts(home) == undisturbed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_beside_an_engine_that_is_silent_and_run_again(
    tmp_path: Path, forge: Forge, undisturbed: tuple[object, ...], number: signal.Signals
) -> None:
    """What was asked of it would be waited for longer than this test waits for the end."""
    home = fresh(tmp_path, forge)
    with proxy(
        tmp_path, (HERE or "unix:///var/run/docker.sock").removeprefix("unix://")
    ) as between:
        through = replace(home, env={**home.env, "MINER_ENGINE": between.url})
        process = through.start(*RUN)
        assert process.stderr is not None
        for said in process.stderr:
            if said.startswith("verify 1/"):
                between.freeze()
                process.send_signal(number)
                break
        _, rest = process.communicate(timeout=BRIEF_S - 30)
    assert process.returncode == 130, rest
    assert rest.endswith("stopped; run again to go on\n")
    assert "Traceback" not in rest
    again = home.run(*RUN)
    assert again.code == 0, again.err
    assert facts(home) == undisturbed
