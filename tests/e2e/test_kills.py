"""The whole line killed at seeded points and given again ends in the database of a quiet run."""

import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path

import pytest
from sqlalchemy import Engine, event, select

from miner.demo import Forge, serve, synthetic
from miner.store import open_store, upgrade
from miner.store.connection import Sql
from miner.store.tables import METADATA
from tests.fakes.killer import Killer
from tests.fakes.whole_line import line
from tests.miner.store.conftest import BACKENDS, empty_url, postgres_schema, url

__all__ = ["BACKENDS", "empty_url", "url"]

ROOT = Path(__file__).parents[2]

MOVING = frozenset({"leases", "failures", "passes", "stage_reports"})
"""What tells of attempts rather than of results."""

FETCHED = re.compile(r'"fetched_at":"[^"]*"')
"""The source's own clock."""

OWN_IDS = frozenset({"instance_id", "database_id", "run_id"})

WHOEVER_WAS_FIRST = frozenset({"base_commit"})
"""Of learned recipes: commits that have the same one are told by the first to be verified."""


@pytest.fixture(scope="module")
def forge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forge]:
    """Two repositories with five merged pulls each."""
    data = synthetic(tmp_path_factory.mktemp("forge"), repositories=2, pulls=5)
    with serve(data) as running:
        yield running


def run(url: str, folder: Path, forge: Forge, *, seed: int, kills: int) -> list[int]:
    """Kills that happened, touches of the last run, and of one after it."""
    command = [sys.executable, "-m", "tests.fakes.whole_line", url, str(folder), forge.base_url]
    ended = subprocess.run(
        [*command, forge.token, str(seed), str(kills)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return [int(word) for word in ended.stdout.split()]


def contents(url: str) -> Mapping[str, Counter[str]]:
    """Table → its rows as a multiset, row ids and references aside: they tell an order of work."""
    sql = Sql(url)
    found: dict[str, Counter[str]] = {}
    try:
        with sql.read() as connection:
            for table in METADATA.sorted_tables:
                if table.name in MOVING:
                    continue
                columns = [
                    column
                    for column in table.columns
                    if not (column.name == "id" or column.name.endswith("_id"))
                    or column.name in OWN_IDS
                    if not (table.name == "recipes" and column.name in WHOEVER_WAS_FIRST)
                ]
                rows = connection.execute(select(*columns)).all()
                found[table.name] = Counter(FETCHED.sub("", repr(tuple(row))) for row in rows)
    finally:
        sql.close()
    return found


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory, forge: Forge) -> Mapping[str, Counter[str]]:
    """What an undisturbed run leaves on SQLite."""
    folder = tmp_path_factory.mktemp("quiet")
    url = f"sqlite:///{folder}/miner.db"
    upgrade(url)
    killed, _, again = run(url, folder, forge, seed=0, kills=0)
    assert killed == 0
    assert again > 0
    with open_store(url) as database:
        funnel = database.admin.funnel()
        assert funnel.pulls == 10
        assert funnel.instances > 0
        assert sum(funnel.verify_rejections.values()) > 0
        assert sum(funnel.split_rejections.values()) > 0
        assert funnel.published > 0
        assert funnel.published + sum(funnel.left_out.values()) == funnel.instances
    return contents(url)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(1, 5))
def test_a_line_killed_at_seeded_points_ends_as_a_quiet_one(
    url: str,
    tmp_path: Path,
    forge: Forge,
    quiet: Mapping[str, Counter[str]],
    seed: int,
) -> None:
    killed, _, again = run(url, tmp_path, forge, seed=seed, kills=5)
    assert killed >= 1
    found = contents(url)
    assert {name: rows for name, rows in found.items() if rows != quiet[name]} == {}
    assert again > 0
    with open_store(url) as database:
        assert database.admin.status().work == ()


@pytest.mark.postgres
@pytest.mark.parametrize("seed", range(1, 4))
def test_a_line_whose_connections_are_ended_goes_on_and_ends_as_a_quiet_one(
    postgres_url: str, tmp_path: Path, forge: Forge, quiet: Mapping[str, Counter[str]], seed: int
) -> None:
    """None of them while its transaction ends: of those nothing is known."""
    chance = random.Random(seed)  # noqa: S311  (which statements)
    numbers = list(accumulate(chance.randrange(30, 60) for _ in range(20)))
    killer = Killer(postgres_url, numbers)
    with postgres_schema(postgres_url) as url:
        upgrade(url)
        event.listen(Engine, "before_cursor_execute", killer)
        try:
            line(url, tmp_path, forge.base_url, forge.token)
        finally:
            event.remove(Engine, "before_cursor_execute", killer)
        found = contents(url)
    assert killer.killed >= 3
    assert {name: rows for name, rows in found.items() if rows != quiet[name]} == {}
