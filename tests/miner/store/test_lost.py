"""PostgreSQL taken away in the middle of things: nothing is lost, nothing is there twice.

On the real server: connections are ended from another one, or a socket of ours between us and the
server falls silent.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from select import select
from typing import cast

import pytest
from sqlalchemy import Connection, Engine, event, func, text
from sqlalchemy import select as select_from
from sqlalchemy.engine import make_url

from miner.errors import MinerError, RetryableError
from miner.model import Evaluation, EvaluationState
from miner.store import Database, upgrade
from miner.store.connection import RESTART_S, Sql
from miner.store.postgres import PatientConnection
from miner.store.sentences import LostError
from miner.store.tables import BLOBS, EVALUATIONS, LEASES, METADATA, PULLS
from miner.verify.stage import VERIFIER_VERSION
from tests.fakes.killer import Killer
from tests.fakes.proxy import Proxy, tcp_proxy
from tests.miner.store.conftest import postgres_schema
from tests.miner.store.samples import NOW, POLICY, accepted, candidate, pull, repo
from validators.model import Flaw, Grade, Tally

pytestmark = pytest.mark.postgres

GRADE = Evaluation(
    dataset="d",
    run_id="r",
    instance_id="o__r-1",
    model_name_or_path="m",
    patch_hash="p",
    state=EvaluationState.UNRESOLVED,
    grade=Grade(
        resolved=False,
        applied=False,
        flaw=Flaw.EMPTY_PATCH,
        fail_to_pass=Tally(passed=0, failed=1),
        pass_to_pass=Tally(passed=0, failed=0),
    ),
    detail="",
    evaluated_at=NOW,
)


@pytest.fixture
def own_url(postgres_url: str) -> Iterator[str]:
    """A migrated schema of its own."""
    with postgres_schema(postgres_url) as made:
        upgrade(made)
        yield made


@pytest.fixture
def sql(own_url: str) -> Iterator[Sql]:
    opened = Sql(own_url, pause=never)
    yield opened
    opened.close()


@pytest.fixture
def distant(through: str) -> Iterator[Sql]:
    """The same, past a socket of ours."""
    opened = Sql(through, pause=never)
    yield opened
    opened.close()


def never(seconds: float) -> None:
    """Nobody waits here but for what is tried again at once."""
    assert not seconds


@contextmanager
def killing(engine: Engine, server: str, number: int) -> Iterator[Killer]:
    """While the block lasts."""
    killer = Killer(server, {number})
    event.listen(engine, "before_cursor_execute", killer)
    try:
        yield killer
    finally:
        event.remove(engine, "before_cursor_execute", killer)


def examine(database: Database) -> object:
    """A claimed task gets its result."""
    (claimed,) = database.verify.claim(
        holder="me", version=VERIFIER_VERSION, policy="quick", limit=1, repo=None, now=NOW
    )
    assert database.verify.heartbeat(claimed, holder="me", now=NOW)
    return database.verify.save_examined(accepted(claimed), holder="me", now=NOW)


def grade(database: Database) -> object:
    """A grade is stored and found."""
    database.evaluate.save_evaluation(GRADE, row_hash="h", grader_version=1)
    return database.evaluate.cached_evaluation(row_hash="h", patch_hash="p", grader_version=1)


def crawl(database: Database) -> object:
    """A repository with two pulls."""
    database.crawl.save_repo(repo(), now=NOW)
    database.crawl.save_pulls([(pull(2), b"{}"), (pull(3), b"{}")])
    database.crawl.advance(repo(), watermark=NOW, etag=None, now=NOW)
    return database.crawl.watermark(repo())


def rows(database: Database) -> dict[str, int]:
    """How many of each."""
    tables = (BLOBS, EVALUATIONS, LEASES, PULLS)
    with database._sql.read() as connection:
        return {
            table.name: connection.execute(
                select_from(func.count()).select_from(table)
            ).scalar_one()
            for table in tables
        }


@pytest.mark.parametrize("work", [examine, grade, crawl])
def test_a_connection_that_is_ended_anywhere_is_made_anew_and_nothing_is_there_twice(
    sql: Sql, postgres_url: str, work: Callable[[Database], object]
) -> None:
    """Undisturbed first; then one statement after the other, until there are no more."""
    found: list[tuple[object, dict[str, int]]] = []
    database, number, killed = Database(sql), 0, 1
    while killed:
        empty(sql)
        prepare(database)
        with killing(sql.engine, postgres_url, number) as killer:
            answer = work(database)
        found.append((answer, rows(database)))
        killed = killer.killed if number else 1
        number += 1
    assert len(found) > 3
    assert all(each == found[0] for each in found)


def empty(sql: Sql) -> None:
    """No row is left."""
    names = ", ".join(table.name for table in METADATA.sorted_tables)
    with sql.write() as connection:
        connection.execute(text(f"TRUNCATE {names} CASCADE"))


def prepare(database: Database) -> None:
    """One task is due."""
    database.crawl.save_repo(repo(), now=NOW)
    database.crawl.save_pulls([(pull(), b"{}")])
    database.split.save_split(pull(), candidate(), policy=POLICY)


def said(error: pytest.ExceptionInfo[MinerError]) -> str:
    """One sentence, exit code 75."""
    message = str(error.value)
    assert error.value.exit_code == 75
    assert message.endswith(".")
    assert "\n" not in message
    return message


def test_a_connection_that_is_ended_with_its_transaction_is_told_and_not_begun_anew(
    sql: Sql, postgres_url: str
) -> None:
    """Nobody knows whether the rows are there: the next run looks."""
    database, killer = Database(sql), Killer(postgres_url, ())

    def kill(connection: Connection) -> None:
        if not killer.killed and connection.get_execution_options().get("miner_write"):
            killer.kill(connection)

    event.listen(sql.engine, "commit", kill)
    with pytest.raises(RetryableError) as error:
        grade(database)
    assert not isinstance(error.value, LostError)
    assert "was lost while something was being stored; run this again" in said(error)
    assert rows(database)["evaluations"] == 0
    assert grade(database) is not None
    assert rows(database)["evaluations"] == 1


@pytest.fixture
def between(postgres_url: str) -> Iterator[Proxy]:
    server = make_url(postgres_url)
    with tcp_proxy(str(server.host), server.port or 5432) as made:
        yield made


@pytest.fixture
def through(own_url: str, between: Proxy) -> str:
    """The same database, past a socket of ours."""
    host, _, port = between.url.partition(":")
    url = make_url(own_url).set(host=host, port=int(port))
    return url.update_query_dict({"connect_timeout": "5"}).render_as_string(hide_password=False)


def test_a_server_that_is_away_for_a_while_does_not_cost_a_result(
    distant: Sql, between: Proxy
) -> None:
    waited: list[float] = []

    def pause(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 3:
            between.mend()

    distant._pause = pause
    database = Database(distant)
    prepare(database)
    between.cut()
    with pytest.raises(RetryableError) as error:  # cheap: it is not waited for
        database.crawl.watched()
    assert "cannot be reached" in said(error)
    database.evaluate.save_evaluation(GRADE, row_hash="h", grader_version=1)
    assert waited == list(RESTART_S[:3])
    assert rows(database)["evaluations"] == 1


def test_a_server_that_stays_away_is_told_in_the_end(distant: Sql, between: Proxy) -> None:
    waited: list[float] = []
    distant._pause = waited.append
    between.cut()
    with pytest.raises(RetryableError) as error:
        Database(distant).evaluate.save_evaluation(GRADE, row_hash="h", grader_version=1)
    assert "cannot be reached" in said(error)
    assert waited == list(RESTART_S)


def test_a_connection_that_falls_silent_is_given_up_and_the_next_one_tried(
    distant: Sql, between: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the usual patience this test would not end in its time."""
    database = Database(distant)
    prepare(database)
    monkeypatch.setattr(PatientConnection, "answer_s", 1.0)

    event.listen(distant.engine, "before_cursor_execute", lambda *_: between.freeze(), once=True)
    with pytest.raises(RetryableError) as error:
        crawl(database)
    assert "cannot be reached" in said(error)
    between.thaw()
    monkeypatch.undo()
    assert crawl(database) == NOW
    assert rows(database)["pulls"] == 3


def test_what_another_thread_asks_of_a_silent_server_can_be_ended(
    distant: Sql, between: Proxy
) -> None:
    """With the usual patience this test would not end in its time."""
    database = Database(distant)
    frozen = threading.Event()

    def freeze(*_: object) -> None:
        between.freeze()
        frozen.set()

    event.listen(distant.engine, "before_cursor_execute", freeze, once=True)
    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(database.crawl.watched)
        assert frozen.wait(20)
        while not waiting.done():  # once more, as it may just have been about to ask
            database.crawl.interrupt()
            wait([waiting], timeout=0.05)
        with pytest.raises(RetryableError) as error:
            waiting.result()
    assert "cannot be reached" in said(error)


def test_what_a_person_ends_in_the_server_is_told(sql: Sql) -> None:
    """A statement that is broken off, or takes longer than the server lets it."""

    def slow(connection: Connection) -> None:
        connection.execute(text("SET LOCAL statement_timeout = 1"))
        connection.execute(text("SELECT pg_sleep(20)"))

    with pytest.raises(RetryableError) as error:
        sql.transact(slow)
    assert "broke off a statement" in said(error)


def test_a_transaction_that_idles_too_long_for_the_server_is_begun_anew(sql: Sql) -> None:
    tries: list[int] = []

    def idle(connection: Connection) -> None:
        tries.append(1)
        if len(tries) == 1:
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 1"))
            driver = cast("PatientConnection", connection.connection.driver_connection)
            select([driver.fileno()], [], [])  # until the server has said its last word
        connection.execute(text("SELECT 1"))

    sql.transact(idle)
    assert len(tries) == 2
