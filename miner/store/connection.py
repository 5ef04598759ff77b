"""One database: how it is reached, how transactions begin."""

import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, Engine, Table, create_engine, event, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry

from miner import __version__
from miner.errors import ConfigError, RetryableError
from miner.model import Clock
from miner.store.sentences import ContendedError, sentence

BUSY_TIMEOUT_S = 30
"""How long a writer waits for another process's write on SQLite."""

CONNECT_TIMEOUT_S = 10
"""How long PostgreSQL may take to answer."""

POOL_SIZE = 10

TIES = 3
"""How often a transaction that lost a tie is begun anew before it is given up."""

_FILE = "miner_file"
"""Where a connection remembers its file: its path, and which file that was."""

T = TypeVar("T")


def utc_now() -> datetime:
    """The clock of a database that is given none."""
    return datetime.now(UTC)


class Sql:
    """An open database. Reads see one state; writes are one transaction each.

    `where` names it for people, never with a password.
    """

    def __init__(self, url: str, *, clock: Clock = utc_now) -> None:
        parsed = _parsed(url)
        self.where = _where(parsed)
        self.url = parsed
        self._clock = clock
        self.engine = _engine(parsed)
        # threads that wait for SQLite's one writer would sleep longer and longer between tries
        self._turn: AbstractContextManager[object] = (
            nullcontext() if self.is_postgres else threading.RLock()
        )

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent look; nothing is written."""
        with self._said(), self.engine.connect() as plain:
            # else PostgreSQL shows each statement what was written before it
            whole = {"isolation_level": "REPEATABLE READ"} if self.is_postgres else {}
            connection = plain.execution_options(**whole)
            with connection.begin():
                yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction: all of it or nothing. SQLite waits here for other writers.

        On PostgreSQL each statement sees what others wrote before it; see `alone`.
        """
        with self._said(), self._turn, self.engine.connect() as plain:
            connection = plain.execution_options(miner_write=True)
            with connection.begin():
                yield connection

    def transact(self, work: Callable[[Connection], T]) -> T:
        """`work` in a write transaction of its own, begun anew when the database broke a tie."""
        for _ in range(TIES):
            with suppress(ContendedError), self.write() as connection:
                return work(connection)
        with self.write() as connection:
            return work(connection)

    def alone(self, connection: Connection, *subject: object) -> None:
        """From here to its end this transaction is the only one that is alone with the subject.

        For what is read to decide what is written: two that read at once would both write. SQLite
        has one writer anyway.
        """
        if self.is_postgres:
            digest = hashlib.sha256(repr(subject).encode("utf-8", "backslashreplace")).digest()
            key = int.from_bytes(digest[:8], "big", signed=True)
            connection.execute(select(func.pg_advisory_xact_lock(key)))

    @contextmanager
    def migration(self) -> Iterator[Connection]:
        """One transaction for migrations, one migrating process at a time.

        On SQLite a batch migration copies tables; with foreign keys on, dropping the old one would
        delete the rows that refer to it (alembic's documentation on batch mode).
        """
        with self._said(), self.engine.connect() as plain:
            if not self.is_postgres:
                _pragma(plain, "PRAGMA foreign_keys=OFF")
            connection = plain.execution_options(miner_write=True)
            with connection.begin():
                if self.is_postgres:
                    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7263001)")
                yield connection
            if not self.is_postgres:
                _pragma(plain, "PRAGMA foreign_keys=ON")

    def insert(self, table: Table) -> postgresql.Insert | sqlite.Insert:
        """An INSERT that knows ON CONFLICT."""
        return postgresql.insert(table) if self.is_postgres else sqlite.insert(table)

    def add(self, connection: Connection, table: Table, **values: object) -> int:
        """Append one row with its envelope; its id."""
        statement = self.insert(table).values(values | self.stamp()).returning(table.c.id)
        return int(connection.execute(statement).scalar_one())

    def add_new(self, connection: Connection, table: Table, **values: object) -> int | None:
        """As `add`, unless a unique key says that the row is there already: then None."""
        statement = self.insert(table).values(values | self.stamp())
        new = connection.execute(statement.on_conflict_do_nothing().returning(table.c.id))
        row = new.scalar_one_or_none()
        return None if row is None else int(row)

    def stamp(self) -> dict[str, object]:
        """The envelope of a row."""
        return {"made_at": self._clock(), "miner_version": __version__}

    @property
    def is_postgres(self) -> bool:
        """PostgreSQL needs row locks where SQLite has one writer at a time."""
        return self.engine.dialect.name == "postgresql"

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    @contextmanager
    def _said(self) -> Iterator[None]:
        """The driver's error → one of ours: threads and stages know no others."""
        try:
            yield
        except PoolTimeoutError as error:
            raise RetryableError(
                f"All connections to {self.where} are in use; run this again with fewer workers."
            ) from error
        except DBAPIError as error:
            raise sentence(error, self.engine.dialect, self.where) from error


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, ValueError):
        raise ConfigError(
            "The database URL cannot be read; write sqlite:///path/to/file.db or "
            "postgresql+psycopg://user:password@host/name."
        ) from None
    if backend not in {"sqlite", "postgresql"}:
        raise ConfigError(
            f"The database URL names {backend!r}; use sqlite:/// or postgresql+psycopg://."
        )
    if backend == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    elif parsed.database in {None, "", ":memory:"}:
        raise ConfigError("The database URL names no file; write sqlite:///path/to/file.db.")
    return parsed


def _where(url: URL) -> str:
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    port = f":{url.port}" if url.port else ""
    return f"{url.database or ''} on {url.host or 'the local server'}{port}"


def _engine(url: URL) -> Engine:
    try:
        if url.get_backend_name() == "postgresql":
            return create_engine(
                url,
                pool_size=POOL_SIZE,
                pool_pre_ping=True,
                isolation_level="READ COMMITTED",  # whatever the server's default is
                connect_args={"connect_timeout": CONNECT_TIMEOUT_S},
            )
        engine = create_engine(
            url,
            pool_size=POOL_SIZE,
            connect_args={"timeout": BUSY_TIMEOUT_S, "isolation_level": None},
        )
    except (ArgumentError, NoSuchModuleError, ImportError, TypeError, ValueError):
        raise ConfigError(
            "The database URL asks for something unknown; write sqlite:///path/to/file.db or "
            "postgresql+psycopg://user:password@host/name."
        ) from None
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    try:
        # Readers must not stop the writer; NORMAL is durable against kills, and consistent
        # (not durable) against power cuts: https://www.sqlite.org/wal.html
        use_wal(cursor)
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA database_list")
        file = Path(cursor.fetchall()[0][2] or os.devnull)  # it has no name where it is no file
    finally:
        cursor.close()
    entry.info[_FILE] = (file, _identity(file))


def use_wal(cursor: DBAPICursor, *, pause: Callable[[float], object] = time.sleep) -> None:
    """Leave WAL on, which a file remembers.

    While another connection does the same, or makes the first tables, SQLite refuses without
    waiting for it.
    """
    until = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            pause(0.05)
        else:
            return


def _identity(file: Path) -> tuple[int, int] | None:
    """Which file that is, whatever its name; None when there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _refuse_what_is_gone(connection: Connection) -> None:
    """ConfigError when the file was moved, deleted or replaced since it was opened.

    SQLite would go on writing to what it holds open, and nobody would ever find that again.
    """
    file, opened = connection.info[_FILE]
    if _identity(file) != opened:
        raise ConfigError(
            f"The database {file} was moved, deleted or replaced while it was in use; put it back "
            "with its -wal file, then run this again."
        )


def _pragma(connection: Connection, words: str) -> None:
    # outside of a transaction, where SQLAlchemy would begin one
    cursor = connection.connection.cursor()
    try:
        cursor.execute(words)
    finally:
        cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first and writes later would fail with "database is locked" without
    # waiting, so writers take the lock at once; readers do not, or everything would queue.
    write = connection.get_execution_options().get("miner_write", False)
    if write:
        _refuse_what_is_gone(connection)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def sqlite_file(url: str) -> Path | None:
    """The file of a SQLite URL; None for PostgreSQL and for `file:` URIs, which SQLite reads."""
    parsed = _parsed(url)
    name = str(parsed.database)
    if parsed.get_backend_name() != "sqlite" or name.startswith("file:"):
        return None
    return Path(name)
