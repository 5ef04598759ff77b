"""What every database must keep: no work twice, no result lost, whoever is killed and when."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess

import pytest
from sqlalchemy import Connection as SqlConnection
from sqlalchemy import func, select

from miner.holder import new_holder
from miner.model import Candidate
from miner.store import Database, open_store
from miner.store.connection import Sql
from miner.store.leases import DEAD, VERIFY, until
from miner.store.tables import CANDIDATES, EXAMINATIONS, INSTANCES, LEASES
from tests.miner.store.beside import somebody_waits
from tests.miner.store.conftest import BACKENDS, empty_url, url
from tests.miner.store.samples import accepted, refused, with_candidates

__all__ = ["BACKENDS", "empty_url", "url"]


def results(url: str) -> Counter[str]:
    """Task → how many examinations; every instance row belongs to one."""
    sql = Sql(url)
    try:
        with sql.read() as connection:
            digests = connection.execute(select(EXAMINATIONS.c.task_digest)).scalars().all()
            accepted_rows = connection.execute(
                select(func.count())
                .select_from(EXAMINATIONS)
                .where(EXAMINATIONS.c.outcome == "instance")
            ).scalar_one()
            instances = connection.execute(select(func.count(INSTANCES.c.id))).scalar_one()
            live = connection.execute(
                select(func.count()).select_from(LEASES).where(LEASES.c.ended_at.is_(None))
            ).scalar_one()
    finally:
        sql.close()
    assert instances == accepted_rows
    assert live == 0
    return Counter(digests)


def taken_over(url: str) -> int:
    """How many leases were ended because their holder was dead."""
    sql = Sql(url)
    try:
        with sql.read() as connection:
            dead = select(func.count()).select_from(LEASES).where(LEASES.c.error == DEAD)
            return int(connection.execute(dead).scalar_one())
    finally:
        sql.close()


def work(url: str, seed: int, told: Callable[[str], object]) -> None:
    """A worker: claims until nothing is due, gives a few claims back, tells what it wrote."""
    chance = random.Random(seed)  # noqa: S311  (which claims are given back)
    with open_store(url) as database:
        while claimed := database.verify.claim(
            holder=(holder := new_holder()),
            version=1,
            policy="quick",
            limit=3,
            repo=None,
            now=datetime.now(UTC),
        ):
            for one in claimed:
                now = datetime.now(UTC)
                examined = accepted(one) if one.pull_number % 3 else refused(one)
                if chance.random() < 0.1:
                    database.verify.release(one, holder=holder, error=None, now=now)
                elif database.verify.save_examined(examined, holder=holder, now=now):
                    told(one.instance_id)


def test_threads_never_do_the_same_work_twice(database: Database, url: str) -> None:
    total = 60
    with_candidates(database, *range(1, total + 1))
    wrote: list[str] = []  # appending is atomic
    threads = [threading.Thread(target=work, args=(url, n, wrote.append)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # a worker ends when another holds all that is left, and may give it back just then
    work(url, 6, wrote.append)
    assert sorted(wrote) == sorted(f"o__r-{number}" for number in range(1, total + 1))
    assert set(results(url).values()) == {1}


def test_a_claim_that_lost_a_race_claims_what_is_left(database: Database, url: str) -> None:
    """The other's leases are written after this claim has read what is due, and before its own."""
    with_candidates(database, 1, 2, 3, 4)
    first = database.verify.due(
        version=1, policy="quick", limit=2, repo=None, now=datetime.now(UTC)
    )
    mine: list[str] = []
    other = Sql(url)
    try:
        with other.write() as connection:
            now = datetime.now(UTC)
            for one in first:
                _lease(other, connection, one, now=now)
            me = threading.Thread(target=lambda: mine.extend(_claimed(database, limit=2)))
            me.start()
            while other.is_postgres and not somebody_waits(url):
                assert me.is_alive()
                me.join(0.01)
    finally:
        other.close()
    me.join()
    taken = {one.instance_id for one in first}
    assert sorted(mine) == sorted({f"o__r-{number}" for number in range(1, 5)} - taken)


def _lease(sql: Sql, connection: SqlConnection, one: Candidate, *, now: datetime) -> None:
    found = connection.execute(
        select(CANDIDATES.c.id, CANDIDATES.c.task_digest).where(
            CANDIDATES.c.instance_id == one.instance_id
        )
    ).one()
    sql.add(
        connection,
        LEASES,
        kind=VERIFY,
        subject=found.task_digest,
        version=1,
        policy="quick",
        recipe_id=0,
        request_id=0,
        candidate_id=found.id,
        holder="other-machine/1/1/other",
        claimed_at=now,
        heartbeat_at=now,
        lease_until=until(now),
    )


def _claimed(database: Database, *, limit: int) -> list[str]:
    claimed = database.verify.claim(
        holder=new_holder(),
        version=1,
        policy="quick",
        limit=limit,
        repo=None,
        now=datetime.now(UTC),
    )
    return [one.instance_id for one in claimed]


@pytest.mark.parametrize("seed", range(3))
def test_processes_killed_at_any_moment_lose_nothing_and_repeat_nothing(
    database: Database,
    url: str,
    seed: int,
) -> None:
    total = 120
    with_candidates(database, *range(1, total + 1))
    chance = random.Random(seed)  # noqa: S311  (when who is killed)
    wrote: list[str] = []
    for step in range(8):
        pairs = [_start(url, seed * 100 + step * 2 + n) for n in range(2)]
        for process, pipe in pairs:
            for _ in range(chance.randrange(4)):
                told = _told(pipe)
                assert told  # so much is left that none may end by itself
                wrote += told
                pipe.send("go on")
            time.sleep(chance.random() / 200)  # the moment is what is tested
            process.kill()
        for process, pipe in pairs:
            process.join()
            while said := _told(pipe):
                wrote += said
            pipe.close()
    work(url, seed, wrote.append)
    found = results(url)
    assert (len(found), set(found.values())) == (total, {1})
    assert max(Counter(wrote).values()) == 1
    assert database.admin.status().parked == ()
    assert taken_over(url) > 0  # else nobody was killed with work in hand


def _start(url: str, seed: int) -> "tuple[ForkProcess, Connection]":
    """A forked worker, and the pipe through which it tells what it wrote and waits for a word.

    Else a quick one would have done all the work before it is killed.
    """
    forks = get_context("fork")
    ours, theirs = forks.Pipe()

    def told(instance_id: str) -> None:
        theirs.send(instance_id)
        theirs.recv()

    process = forks.Process(target=work, args=(url, seed, told))
    process.start()
    theirs.close()
    return process, ours


def _told(pipe: "Connection[str, str]") -> list[str]:
    """The next instance id; nothing when the worker is gone."""
    try:
        return [pipe.recv()]
    except (EOFError, OSError):
        return []
