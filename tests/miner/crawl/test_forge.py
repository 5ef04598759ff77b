"""The crawl against the demo's forge, into a real database: faults, kills, tapes."""

import multiprocessing
import random
import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, ScalarSelect, func, select

from miner.crawl.github import GitHub
from miner.crawl.stage import crawl
from miner.crawl.storing import MirrorKeeper
from miner.crawl.tape import Player, Recorder
from miner.crawl.taped_git import PlayedMirrors, TapedMirrors
from miner.demo import Forge, ForgeData, made_forge, serve
from miner.demo import faults as fault
from miner.demo.synthetic import synthetic
from miner.errors import ConfigError, MinerError
from miner.git import Mirrors
from miner.http import HttpClient, HttpxTransport
from miner.model import IncompleteError, PullRequest, StageReport
from miner.store import Database, open_store, tables, upgrade
from miner.wire import Token, Transport
from tests.fakes.progress import SilentProgress
from tests.miner.crawl.crawling import Order, crawl_until_killed
from tests.miner.store.conftest import BACKENDS, empty_url, url

__all__ = ["BACKENDS", "empty_url", "url"]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
REPOS = ("demo/tally", "demo/ledger")
ONE = REPOS[:1]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> ForgeData:
    return made_forge(tmp_path_factory.mktemp("forge"))


@pytest.fixture
def forge(data: ForgeData) -> Iterator[Forge]:
    with serve(data) as running:
        yield running


def crawled(
    database: Database,
    forge: Forge,
    mirrors: MirrorKeeper,
    *,
    repos: Sequence[str] = ONE,
    transport: Transport | None = None,
) -> StageReport:
    """One crawl that never sleeps."""
    with HttpClient(
        forge.base_url,
        tokens=[Token(forge.token)],
        transport=transport,
        sleep=lambda _: None,
    ) as client:
        return crawl(
            database.crawl,
            source=GitHub(client, now=lambda: NOW),
            mirrors=mirrors,
            repos=repos,
            since=None,
            now=lambda: NOW,
            progress=SilentProgress(),
        )


def stored(database: Database) -> list[PullRequest]:
    """Every newest pull, times of fetching aside."""
    pulls = database.split.due_pulls(policy="none yet", limit=1000, repo=None)
    return sorted(
        (replace(pull, fetched_at=NOW) for pull in pulls), key=lambda p: (p.repo, p.number)
    )


CRAWLED = (
    tables.REPOS,
    tables.REPO_FACTS,
    tables.PULLS,
    tables.PULL_REVERTS,
    tables.WATERMARKS,
    tables.CRAWL_PLACES,
    tables.REJECTIONS,
    tables.BLOBS,
)


def left(database: Database) -> dict[str, list[str]]:
    """All that a crawl left, row by row: times of making and of fetching, failed attempts, row
    numbers and the page size that worked aside.

    A row that names another names it by its place among that table's rows: a sequence of
    PostgreSQL does not give back the numbers that a killed transaction took.
    """
    own = {"id", "made_at", "miner_version", "seen_at", "moved_at", "etag", "content", "back_after"}
    found = {}
    with database.crawl._sql.read() as connection:
        for table in CRAWLED:
            columns = [
                _place(column) if column.name in _NAMED else column
                for column in table.c
                if column.name not in own
            ]
            rows = connection.execute(select(*columns)).all()
            found[table.name] = sorted(_ASIDE.sub("", repr(tuple(row))) for row in rows)
    return found


_NAMED = {"repo_id": tables.REPOS, "pull_id": tables.PULLS}


def _place(column: Column[Any]) -> ScalarSelect[int]:
    """The place, from 1, of the row that a column names by number among the rows of its table."""
    named = _NAMED[column.name].alias()
    return select(func.count()).where(named.c.id <= column).scalar_subquery()


_ASIDE = re.compile(r'"fetched_at":"[^"]*",|127\.0\.0\.1:\d+')  # a forge has any free port


@pytest.fixture(scope="module")
def undisturbed(
    data: ForgeData, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[PullRequest], dict[str, list[str]]]:
    folder = tmp_path_factory.mktemp("calm")
    url = f"sqlite:///{folder}/miner.db"
    upgrade(url)
    with serve(data) as running, open_store(url) as opened:
        crawled(opened, running, Mirrors(folder / "mirrors"))
        return stored(opened), left(opened)


def test_a_crawl_stores_every_merged_pull_with_base_and_diff(
    undisturbed: tuple[list[PullRequest], dict[str, list[str]]],
) -> None:
    pulls, rows = undisturbed
    assert {(p.repo, p.number) for p in pulls} >= {("demo/tally", n) for n in (2, 3, 5, 6)}
    assert all(pull.base.commit and pull.diff for pull in pulls)
    assert [len(rows[name]) for name in ("repos", "pulls", "watermarks")] == [1, len(pulls), 1]
    assert len(rows["blobs"]) > len(pulls)


RESET_AT = datetime(2030, 1, 1, tzinfo=UTC)
FAULTS = {
    "primary 403": fault.primary_limit(reset_at=RESET_AT),
    "primary 429": fault.primary_limit(status=429, reset_at=RESET_AT),
    "secondary 403": fault.secondary_limit(),
    "secondary 403 with Retry-After": fault.secondary_limit(retry_after_s=3),
    "secondary 429": fault.secondary_limit(status=429),
    "secondary 429 with Retry-After": fault.secondary_limit(status=429, retry_after_s=3),
    "reset mid-body": fault.reset_mid_body(),
    "truncated JSON": fault.truncated_json(),
    "500": fault.server_error(500),
    "502": fault.server_error(502),
    "504": fault.server_error(504),
    "revoked": fault.bad_credentials(),
}
GRAPHQL_FAULTS = {
    "graphql primary": fault.graphql_limit(reset_at=RESET_AT),
    "graphql secondary": fault.secondary_limit(status=200),
    "resource limits": fault.resource_limits(),
}
AT = [(name, 1 + place % 5) for place, name in enumerate(FAULTS)]
AT += [(name, 4) for name in GRAPHQL_FAULTS]


@pytest.mark.parametrize(("name", "number"), AT)
def test_a_fault_leaves_no_trace_after_a_rerun(
    name: str,
    number: int,
    forge: Forge,
    database: Database,
    tmp_path: Path,
    undisturbed: tuple[list[PullRequest], dict[str, list[str]]],
) -> None:
    strike = FAULTS.get(name) or GRAPHQL_FAULTS[name]
    forge.faults.add(strike, when=fault.at(number) if name in FAULTS else fault.of("graphql"))
    mirrors = Mirrors(tmp_path / "mirrors")
    told: list[str] = []
    try:
        crawled(database, forge, mirrors)
    except MinerError as error:
        told.append(f"{error!r} {error.__context__!r}")
    assert forge.faults.struck == 1
    assert not any(forge.token in text for text in told)
    crawled(database, forge, mirrors)
    assert (stored(database), left(database)) == undisturbed


def test_a_repository_that_vanishes_while_it_is_crawled_leaves_the_others(
    data: ForgeData, tmp_path: Path, database: Database
) -> None:
    with serve(data) as forge:
        forge.faults.add(fault.delete_repository("demo/tally"), when=fault.of("graphql"))
        with pytest.raises(IncompleteError, match="demo/tally"):
            crawled(database, forge, Mirrors(tmp_path / "mirrors"), repos=REPOS)
    assert {pull.repo for pull in stored(database)} == {"demo/ledger"}


@pytest.mark.parametrize("mirror", ["new", "old"])
def test_a_taped_crawl_is_replayed_offline_to_equal_rows(
    mirror: str, data: ForgeData, tmp_path: Path, database: Database
) -> None:
    tape = tmp_path / "tape.jsonl"
    mirrors = Mirrors(tmp_path / "mirrors")
    with serve(data) as forge:
        if mirror == "old":
            mirrors.update(ONE[0], f"{forge.base_url}/{ONE[0]}.git")
        forge.faults.add(fault.server_error(502), when=fault.of("core"))
        token = Token(forge.token)
        recorder = Recorder(HttpxTransport(), tape, base_url=forge.base_url, secrets=[token])
        crawled(database, forge, TapedMirrors(mirrors, recorder), transport=recorder)
    live = stored(database)
    again = f"sqlite:///{tmp_path}/again.db"
    upgrade(again)
    player = Player(tape)
    played = PlayedMirrors(Mirrors(tmp_path / "elsewhere"), player)
    with open_store(again) as other:
        crawled(other, forge, played, transport=player)  # the forge is gone
        assert (stored(other), left(other)) == (live, left(database))
    assert all(pull.base.commit and pull.diff for pull in live)
    on_tape = [tape, *tape.with_name("tape.jsonl.files").iterdir()]
    assert len(on_tape) > 2
    assert not any(forge.token.encode() in file.read_bytes() for file in on_tape)


def test_a_tape_whose_packs_are_gone_says_so(
    data: ForgeData, tmp_path: Path, database: Database
) -> None:
    tape = tmp_path / "tape.jsonl"
    with serve(data) as forge:
        recorder = Recorder(HttpxTransport(), tape, base_url=forge.base_url, secrets=[])
        mirrors = TapedMirrors(Mirrors(tmp_path / "mirrors"), recorder)
        crawled(database, forge, mirrors, transport=recorder)
    for pack in tape.with_name("tape.jsonl.files").glob("*.pack"):
        pack.unlink()
    again = f"sqlite:///{tmp_path}/again.db"
    upgrade(again)
    player = Player(tape)
    played = PlayedMirrors(Mirrors(tmp_path / "elsewhere"), player)
    with open_store(again) as other, pytest.raises(ConfigError, match="pack is missing"):
        crawled(other, forge, played, transport=player)


@pytest.fixture(scope="module")
def vast(tmp_path_factory: pytest.TempPathFactory) -> ForgeData:
    """One repository of more than a batch of pulls."""
    return synthetic(tmp_path_factory.mktemp("vast"), repositories=1, pulls=VAST)


VAST = 250
VAST_REPO = ("synth/r000",)


def test_a_vast_first_crawl_that_is_killed_is_not_paid_for_twice(
    vast: ForgeData, url: str, tmp_path: Path, processes: ForkServerContext
) -> None:
    calm = f"sqlite:///{tmp_path}/calm.db"
    upgrade(calm)
    with serve(vast) as forge, open_store(calm) as database:
        crawled(database, forge, Mirrors(tmp_path / "calm"), repos=VAST_REPO)
        wanted, once = left(database), forge.requests.points()
    with serve(vast) as forge, open_store(url) as database:
        order = Order(
            base_url=forge.base_url,
            token=forge.token,
            database=url,
            mirrors=str(tmp_path / "mirrors"),
            repos=VAST_REPO,
            bomb=("place", 2, False),  # the first one is kept, and the second one's rows
            output=str(tmp_path / "output.txt"),
        )
        child = processes.Process(target=crawl_until_killed, args=(order,))
        child.start()
        child.join(150)
        assert child.exitcode == -signal.SIGKILL
        (repo,) = [database.crawl.known(name) for name in VAST_REPO]
        assert repo is not None
        assert database.crawl.place(repo) is not None
        assert database.crawl.watermark(repo) is None
        before = forge.requests.points()
        crawled(database, forge, Mirrors(tmp_path / "mirrors"), repos=VAST_REPO)
        assert left(database) == wanted
        assert forge.requests.points() - before < once * 0.75  # 150 of 250 pulls and a page


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Children forked from a server that has everything imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.miner.crawl.crawling"])
    return context


@pytest.mark.parametrize("seed", range(20))
def test_killed_at_any_point_and_run_again_ends_the_same(
    seed: int,
    forge: Forge,
    url: str,
    tmp_path: Path,
    undisturbed: tuple[list[PullRequest], dict[str, list[str]]],
    processes: ForkServerContext,
) -> None:
    rng = random.Random(seed)  # noqa: S311 - a seeded fault point
    kind, points = rng.choice([("request", 5), ("write", 5)])
    order = Order(
        base_url=forge.base_url,
        token=forge.token,
        database=url,
        mirrors=str(tmp_path / "mirrors"),
        repos=ONE,
        bomb=(kind, rng.randint(1, points), rng.random() < 0.5),
        output=str(tmp_path / "output.txt"),
    )
    child = processes.Process(target=crawl_until_killed, args=(order,))
    child.start()
    child.join(150)
    assert child.exitcode == -signal.SIGKILL
    with open_store(url) as database:
        crawled(database, forge, Mirrors(tmp_path / "mirrors"))
        assert (stored(database), left(database)) == undisturbed
    files = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) > 10  # mirrors, output and, if it is a file, the database
    assert not any(forge.token.encode() in data for data in files)
