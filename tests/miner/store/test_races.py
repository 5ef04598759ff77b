"""Two at the same time: the second begins when the first has done all but commit."""

import sqlite3
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import cast

import pytest
from sqlalchemy import ColumnElement, func, select, text
from sqlalchemy.engine.interfaces import DBAPICursor

from miner.model import Depth, Examined, Stage
from miner.store import Database
from miner.store.connection import Sql
from miner.store.sqlite import use_wal
from miner.store.tables import RECIPES, REPO_FACTS, REQUESTS, TOMBSTONES
from tests.miner.store.beside import Act, after_first, race
from tests.miner.store.samples import (
    NOW,
    accepted,
    later,
    pull,
    rejection,
    repo,
    with_candidates,
)


def count(url: str, column: ColumnElement[int]) -> int:
    """Rows of a table."""
    sql = Sql(url)
    try:
        with sql.read() as connection:
            return int(connection.execute(select(func.count(column))).scalar_one())
    finally:
        sql.close()


def test_a_watermark_never_goes_back_and_no_depth_is_lost(database: Database, url: str) -> None:
    database.crawl.save_repo(repo(), now=NOW)
    deep = Depth(back_to=later(days=-90))
    race(
        url,
        lambda db: db.crawl.advance(repo(), watermark=later(days=2), etag="2", depth=deep, now=NOW),
        lambda db: db.crawl.advance(repo(), watermark=NOW, etag="1", now=NOW),
    )
    assert database.crawl.watermark(repo()) == later(days=2)
    assert database.crawl.depth(repo()) == deep


@pytest.mark.parametrize("column", [REPO_FACTS.c.id, TOMBSTONES.c.id])
def test_what_is_known_of_a_repository_is_kept_once(
    database: Database, url: str, column: ColumnElement[int]
) -> None:
    database.crawl.save_repo(repo(), now=NOW)
    database.crawl.bury(repo(), reason="deleted", now=NOW)
    before = count(url, column)
    again = repo(name="new/name")
    race(
        url,
        lambda db: db.crawl.save_repo(again, now=NOW),
        lambda db: db.crawl.save_repo(again, now=NOW),
    )
    assert count(url, column) == before + 1


def test_a_rejected_payload_is_kept_once(database: Database, url: str) -> None:
    refused = rejection(5, "malformed_payload", stage=Stage.CRAWL)

    def reject(db: Database) -> None:
        db.crawl.reject(refused, raw=b"{bad")

    database.crawl.reject(rejection(6, "malformed_payload", stage=Stage.CRAWL), raw=b"{bad")
    race(url, reject, reject)
    found = database.admin.evidence("o__r-5")
    assert found is not None
    assert [each.gate for each in found.rejections] == ["malformed_payload"]


@pytest.mark.parametrize(
    "act",
    [
        lambda db: db.admin.watch("o/r"),
        lambda db: db.admin.leave_out("o/fork", reason="it is a fork"),
        lambda db: db.admin.set_gate_policy("strict", "{}", author="ann"),
    ],
)
def test_what_a_person_sets_is_set_once(database: Database, url: str, act: Act) -> None:
    assert database.admin.watches() == ()
    assert race(url, act, act) == (True, False)


def test_what_is_asked_for_already_is_not_asked_for_again(database: Database, url: str) -> None:
    (one,) = with_candidates(database, 1)
    _claim(database, holder="h")
    database.verify.save_examined(accepted(one), holder="h", now=NOW)

    def ask(db: Database) -> int:
        return db.admin.revalidate(examined_before=later(days=1), limit=9, reason="old")

    assert race(url, ask, ask) == (1, 0)
    assert count(url, REQUESTS.c.id) == 1


def test_a_recipe_is_learned_once(database: Database, url: str) -> None:
    first, one, other = with_candidates(database, 1, 2, 3)
    _claim(database, holder="h")
    # its logs are theirs, so that neither waits for the other's
    database.verify.save_examined(_unlearned(accepted(first)), holder="h", now=NOW)
    assert count(url, RECIPES.c.id) == 0
    race(
        url,
        lambda db: db.verify.save_examined(accepted(one), holder="h", now=NOW),
        lambda db: db.verify.save_examined(accepted(other), holder="h", now=NOW),
    )
    assert count(url, RECIPES.c.id) == 1
    assert database.admin.funnel().instances == 3


def _unlearned(examined: Examined) -> Examined:
    """As if its tree had proposed the recipe."""
    instance = examined.instance
    assert instance is not None
    recipe = replace(instance.environment.recipe, origin="declared")
    environment = replace(instance.environment, recipe=recipe)
    return replace(examined, instance=replace(instance, environment=environment))


def test_a_version_that_was_read_earlier_and_stored_later_is_not_the_newest(
    database: Database,
) -> None:
    """Two crawls that cross each other, or a tape that is older than the database."""
    newer = pull(title="Better", raw_digest="raw-7-2", updated_at=NOW)
    older = pull(raw_digest="raw-7-1", updated_at=later(days=-1))
    database.crawl.save_repo(repo(), now=NOW)
    for version in (newer, older):
        database.crawl.save_pulls([(version, b"{}")])
    due = database.split.due_pulls(policy="p", limit=9, repo=None)
    assert [each.title for each in due] == ["Better"]
    database.split.save_split(older, rejection(7), policy="p")  # begun before the newer one came
    database.split.save_split(newer, rejection(7, "docs_only"), policy="p")
    assert database.admin.funnel().split_rejections == {"docs_only": 1}


def test_a_look_shows_one_state(database: Database) -> None:
    pulls = text("SELECT count(*) FROM pulls")
    database.crawl.save_repo(repo(), now=NOW)
    with database._sql.read() as connection:
        before = connection.execute(pulls).scalar_one()
        database.crawl.save_pulls([(pull(), b"{}")])
        assert connection.execute(pulls).scalar_one() == before == 0
    with database._sql.read() as connection:
        assert connection.execute(pulls).scalar_one() == 1


ON_POSTGRES = pytest.mark.parametrize(
    "empty_url", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)
"""SQLite has one writer: nothing comes between the statements of one."""


@ON_POSTGRES
def test_a_lock_whose_holder_leaves_just_now_is_taken(database: Database, url: str) -> None:
    """Between the refused claim and the look at who is in the way."""
    holder = database.admin.passes
    assert holder.lock("pass", holder="m/1/1/a", now=NOW) is None
    sql = Sql(url)
    after_first(
        sql, "INSERT INTO leases", lambda _: holder.unlock("pass", holder="m/1/1/a", now=NOW)
    )
    assert Database(sql).admin.passes.lock("pass", holder="m/2/1/b", now=NOW) is None
    assert [work.holder for work in database.admin.status().work] == ["m/2/1/b"]
    assert database.admin.passes.lock("pass", holder="m/3/1/c", now=NOW) == "m/2/1/b"
    sql.close()


@ON_POSTGRES
@pytest.mark.parametrize(
    ("start", "act"),
    [
        ("UPDATE leases", lambda db: db.admin.passes.lock("pass", holder="m/1/1/a", now=NOW)),
        ("INSERT INTO pulls", lambda db: db.crawl.save_pulls([(pull(), b"{}")])),
        ("INSERT INTO leases", lambda db: _claim(db, holder="h")),
    ],
)
def test_what_locks_several_rows_is_begun_anew_after_a_tie(
    database: Database, url: str, start: str, act: Act
) -> None:
    with_candidates(database, 1)
    broken = "DO $$ BEGIN RAISE EXCEPTION 'tie' USING ERRCODE = 'deadlock_detected'; END $$"
    sql = Sql(url)
    after_first(sql, start, lambda cursor: cursor.execute(broken))
    act(Database(sql))
    sql.close()


@pytest.mark.parametrize("holds", ["a first table", "the switch"])
def test_a_database_that_another_makes_now_is_waited_for(tmp_path: Path, holds: str) -> None:
    file = tmp_path / "new.db"
    other = sqlite3.connect(file, isolation_level=None)
    mine = sqlite3.connect(file, timeout=0, isolation_level=None)
    waited: list[float] = []

    def pause(seconds: float) -> None:
        waited.append(seconds)
        other.execute("COMMIT")

    other.execute("BEGIN EXCLUSIVE" if holds == "the switch" else "BEGIN IMMEDIATE")
    use_wal(cast("DBAPICursor", mine.cursor()), pause=pause)
    assert len(waited) == 1
    assert mine.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
    other.close()
    mine.close()


def _claim(database: Database, *, holder: str, now: datetime = NOW) -> int:
    return len(
        database.verify.claim(holder=holder, version=1, policy="quick", limit=9, repo=None, now=now)
    )
