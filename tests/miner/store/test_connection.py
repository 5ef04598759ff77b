"""What goes wrong with a database, in one sentence and without its password."""

import os
import resource
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import OperationalError

from miner.errors import ConfigError, FatalError, MinerError, RetryableError, SchemaOutOfDateError
from miner.store import Database, open_store, upgrade
from miner.store.connection import BUSY_TRIES, Sql
from miner.store.sentences import BusyError, sentence
from tests.miner.store.samples import NOW, later, pull, repo

SECRET = "hunter2"


def said(error: pytest.ExceptionInfo[MinerError]) -> str:
    """The message, after checking that it is one sentence without the secret, causes included."""
    cause: BaseException | None = error.value
    while cause is not None:
        assert SECRET not in str(cause)
        cause = cause.__cause__
    message = str(error.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "url",
    [
        "",
        f"what is {SECRET}",
        f"mysql://me:{SECRET}@host/db",
        f"postgresql://me:{SECRET}@host:port/db",
        "sqlite://",
        "sqlite:///:memory:",
        f"nonsense+driver://me:{SECRET}@host/db",
    ],
)
def test_a_malformed_url_is_told(url: str) -> None:
    with pytest.raises(ConfigError) as error:
        open_store(url)
    assert "database URL" in said(error)


def test_an_unreachable_server_is_told() -> None:
    with pytest.raises(RetryableError) as error:
        open_store(f"postgresql://me:{SECRET}@127.0.0.1:1/db?connect_timeout=2")
    assert "db on 127.0.0.1:1 cannot be reached" in said(error)


def test_a_missing_file_asks_for_the_upgrade_and_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(SchemaOutOfDateError) as error:
        open_store(f"sqlite:///{tmp_path}/no.db")
    assert "miner db upgrade" in said(error)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"Not a database at all, but long enough to look at." * 40)
    for use in (open_store, upgrade):
        with pytest.raises(ConfigError) as error:
            use(f"sqlite:///{tmp_path}/x.db")
        assert "is not a database" in said(error)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ConfigError) as error:
        upgrade(f"sqlite:///{tmp_path}/file/x.db")
    assert "cannot be made" in said(error)


def test_a_directory_instead_of_a_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        open_store(f"sqlite:///{tmp_path}")
    assert "cannot be opened" in said(error)


def test_a_database_that_may_only_be_read_is_told(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    upgrade(url)
    with open_store(f"sqlite:///file:{tmp_path}/x.db?mode=ro&uri=true") as opened:
        assert opened.crawl.watched() == ()
        with pytest.raises(ConfigError) as error:
            opened.admin.watch("o/r")
    assert "may only be read" in said(error)


def test_a_full_disk_is_told_and_nothing_is_half_written(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    upgrade(url)
    sql = Sql(url)
    database = Database(sql)
    database.crawl.save_repo(repo(), now=NOW)
    with sql.read() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        connection.execute(text(f"PRAGMA max_page_count={pages}"))
    noise = os.urandom(300_000)
    with pytest.raises(RetryableError) as error:  # on the same connection: there is but one
        database.crawl.save_pulls([(pull(), noise)])
    database.close()
    assert "is full; free some space" in said(error)
    with open_store(url) as opened:
        assert opened.admin.status().pulls == 0


def test_a_disk_that_fills_in_the_middle_is_told_and_the_next_try_goes_on(tmp_path: Path) -> None:
    """A limit of a file's size stands for the disk: the system refuses to write on."""
    url = f"sqlite:///{tmp_path}/x.db"
    upgrade(url)
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    with open_store(url) as opened:
        opened.crawl.save_repo(repo(), now=NOW)
        size = max(file.stat().st_size for file in tmp_path.iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 4096, usual[1]))
        try:
            with pytest.raises(RetryableError) as error:
                opened.crawl.save_pulls([(pull(), os.urandom(300_000))])
            assert opened.admin.status().pulls == 0
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        assert "The disk failed under the database" in said(error)
        opened.crawl.save_pulls([(pull(), os.urandom(300_000))])
    with open_store(url) as opened:
        assert opened.admin.status().pulls == 1


def test_a_disk_without_any_room_is_called_full_and_not_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There SQLite cannot make the files beside its own, and says that the disk failed."""
    failed = OperationalError("INSERT", {}, sqlite3.OperationalError("disk I/O error"))
    where = str(tmp_path / "x.db")
    assert "check it and run this again" in str(sentence(failed, sqlite.dialect(), where))
    monkeypatch.setattr(
        shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9 << 20, 9 << 20, 0)
    )
    told = sentence(failed, sqlite.dialect(), where)
    assert told.exit_code == 75
    assert "is full; free some space" in str(told)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_gone_while_it_is_used_is_told(tmp_path: Path, replaced: bool) -> None:
    """SQLite itself would write on into nowhere."""
    file = tmp_path / "miner.db"
    upgrade(f"sqlite:///{file}")
    with open_store(f"sqlite:///{file}") as database:
        database.crawl.save_repo(repo(), now=NOW)
        file.rename(tmp_path / "moved.db")
        if replaced:
            file.touch()
        with pytest.raises(ConfigError) as error:
            database.crawl.save_repo(repo(name="o/other"), now=NOW)
        assert f"{file} was moved, deleted or replaced" in said(error)
        (tmp_path / "moved.db").rename(file)
        database.crawl.save_repo(repo(name="o/other"), now=NOW)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("INSERT INTO watches (name) VALUES (NULL)", "name"),  # IntegrityError
        ("SELECT * FROM no_such_table", "no_such_table"),
    ],
)
def test_what_no_version_should_ask_is_told_as_well(
    database: Database, statement: str, words: str
) -> None:
    with pytest.raises(FatalError) as error, database._sql.write() as connection:
        connection.execute(text(statement))
    assert "`miner db check`" in said(error)
    assert words in said(error)


def test_a_connection_that_was_closed_under_us_is_told(database: Database) -> None:
    def look() -> None:
        with database._sql.read() as connection:
            driver = connection.connection.dbapi_connection
            assert driver is not None
            driver.close()
            connection.execute(text("SELECT 1"))

    with pytest.raises(MinerError) as error:
        look()
    said(error)


def test_a_reader_does_not_wait_for_a_writer(database: Database) -> None:
    with database._sql.write() as connection:
        connection.execute(text("DELETE FROM signals"))
        assert database.crawl.watched() == ()


def test_writers_wait_for_each_other(database: Database) -> None:
    database.crawl.save_repo(repo(), now=NOW)
    errors: list[BaseException] = []

    def write(number: int) -> None:
        try:
            for step in range(5):
                database.crawl.save_pulls([(pull(number * 100 + step), b"same")])
                database.crawl.advance(repo(), watermark=later(minutes=step), etag=None, now=NOW)
        except MinerError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert database.admin.status().pulls == 40
    assert database.crawl.watermark(repo()) == later(minutes=4)


def test_what_took_long_to_find_out_waits_longer_for_a_file_that_another_program_holds(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path}/x.db"
    upgrade(url)
    sql = Sql(url)
    tries: list[str] = []

    def held(_: Connection) -> None:
        tries.append("try")
        raise BusyError("It is held.")

    with pytest.raises(BusyError):
        sql.transact(held)
    assert len(tries) == 1
    with pytest.raises(BusyError):
        sql.persist(held)
    assert len(tries) == 1 + BUSY_TRIES
    sql.close()


def test_ctrl_c_is_obeyed_though_the_connection_fails_on_the_way_out(database: Database) -> None:
    """Else the transaction would be begun anew."""

    def stopped(connection: Connection) -> None:
        try:
            raise KeyboardInterrupt
        finally:
            connection.execute(text("SELECT nonsense"))

    with pytest.raises(KeyboardInterrupt):
        database._sql.transact(stopped)


def test_a_naive_time_is_refused(database: Database) -> None:
    with pytest.raises(Exception, match="without a zone"):
        database.crawl.record_failure("o/r", error="x", now=NOW.replace(tzinfo=None))


@pytest.mark.postgres
def test_a_wrong_database_or_user_is_told(postgres_url: str) -> None:
    base = postgres_url.rpartition("/")[0]
    with pytest.raises(ConfigError) as error:
        open_store(f"{base}/no_such_database")
    assert "does not exist" in said(error)


@pytest.mark.postgres
def test_a_tie_between_transactions_is_begun_anew(postgres_url: str) -> None:
    sql = Sql(postgres_url)
    both = threading.Barrier(2, timeout=100)
    tries: list[str] = []

    def lock(first: int, second: int) -> None:
        def work(connection: Connection) -> None:
            tries.append("try")
            connection.execute(text(f"SELECT pg_advisory_xact_lock({first})"))
            if len(tries) <= 2:
                both.wait()
            connection.execute(text(f"SELECT pg_advisory_xact_lock({second})"))

        sql.transact(work)

    threads = [threading.Thread(target=lock, args=pair) for pair in ((71, 72), (72, 71))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sql.close()
    assert len(tries) == 3
