"""One database: how it is reached, how transactions begin."""

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

from sqlalchemy import Connection, Engine, Table, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from miner import __version__
from miner.errors import ConfigError, RetryableError, was_stopped
from miner.model import Clock
from miner.store.postgres import MIGRATION_S, Lines, PatientConnection, postgres_engine
from miner.store.sentences import BusyError, ContendedError, LostError, sentence
from miner.store.sqlite import pragma, sqlite_engine

POOL_SIZE = 10

TIES = 3
"""How often a transaction that lost a tie is begun anew before it is given up."""

RESTART_S = (0, 1, 2, 4, 8, 15)
"""Pauses between tries of what must not be lost: a server that is started again is back by then."""

BUSY_TRIES = 4
"""The same for a SQLite file that another program holds; each of them waits BUSY_S."""

P = ParamSpec("P")
T = TypeVar("T")


def utc_now() -> datetime:
    """The clock of a database that is given none."""
    return datetime.now(UTC)


def anew(method: Callable[P, T]) -> Callable[P, T]:
    """For a store's method that is one transaction: begun anew, once, when it lost its connection.

    LostError says that nothing of it was stored.
    """

    @wraps(method)
    def tried(*args: P.args, **kwargs: P.kwargs) -> T:
        with suppress(LostError):
            return method(*args, **kwargs)
        return method(*args, **kwargs)

    return tried


class Sql:
    """An open database. Reads see one state; writes are one transaction each.

    `where` names it for people, never with a password.
    """

    def __init__(
        self, url: str, *, clock: Clock = utc_now, pause: Callable[[float], object] = time.sleep
    ) -> None:
        parsed = _parsed(url)
        self.where = _where(parsed)
        self.url = parsed
        self._clock = clock
        self._pause = pause
        self._lines = Lines()
        self.engine = _engine(parsed, self._lines)
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
            with connection.begin() as transaction:
                yield connection
                with self._doubted():
                    transaction.commit()

    def transact(self, work: Callable[[Connection], T]) -> T:
        """`work` in a write transaction of its own, begun anew when the database broke a tie or
        lost its connection."""
        return self._tried(work, pauses_s=(0,), busy_tries=1)

    def persist(self, work: Callable[[Connection], T]) -> T:
        """As `transact`, for what others' work hangs on, or what took long to find out: the
        database may be away for a while. Call it in the main thread: only there Ctrl-C ends it."""
        return self._tried(work, pauses_s=RESTART_S, busy_tries=BUSY_TRIES)

    def _tried(
        self, work: Callable[[Connection], T], *, pauses_s: Iterable[float], busy_tries: int
    ) -> T:
        left, ties = iter(pauses_s), TIES
        while True:
            try:
                with self.write() as connection:
                    return work(connection)
            except ContendedError:
                ties -= 1
                if ties < 0:
                    raise
            except BusyError:
                busy_tries -= 1
                if busy_tries <= 0:
                    raise
            except LostError:
                pause_s = next(left, None)
                if pause_s is None:
                    raise
                self._pause(pause_s)

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
            if self.is_postgres:
                cast("PatientConnection", plain.connection.driver_connection).answer_s = MIGRATION_S
            else:
                pragma(plain, "PRAGMA foreign_keys=OFF")
            connection = plain.execution_options(miner_write=True)
            with connection.begin():
                if self.is_postgres:
                    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7263001)")
                yield connection
            if not self.is_postgres:
                pragma(plain, "PRAGMA foreign_keys=ON")

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

    def going_on(self, now: datetime) -> Clock:
        """A clock that shows `now` at this moment: for what may be begun anew minutes later."""
        began = self._clock()
        return lambda: now + max(self._clock() - began, timedelta())

    @property
    def is_postgres(self) -> bool:
        """PostgreSQL needs row locks where SQLite has one writer at a time."""
        return self.engine.dialect.name == "postgresql"

    def interrupt(self) -> None:
        """What other threads ask of PostgreSQL now fails; SQLite answers by itself."""
        self._lines.interrupt()

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
            if was_stopped(error):  # else it would be begun anew
                raise KeyboardInterrupt from error
            raise sentence(error, self.engine.dialect, self.where) from error

    @contextmanager
    def _doubted(self) -> Iterator[None]:
        """A connection that is lost here leaves it open whether the transaction came to its end:
        it is not begun anew, or its rows might be there twice."""
        try:
            yield
        except DBAPIError as error:
            said = sentence(error, self.engine.dialect, self.where)
            if isinstance(said, LostError):
                raise RetryableError(
                    f"The connection to {self.where} was lost while something was being stored; "
                    "run this again, which sees whether it was."
                ) from error
            raise


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


def _engine(url: URL, lines: Lines) -> Engine:
    try:
        if url.get_backend_name() == "postgresql":
            return postgres_engine(url, pool_size=POOL_SIZE, lines=lines)
        return sqlite_engine(url, pool_size=POOL_SIZE)
    except (ArgumentError, NoSuchModuleError, ImportError, TypeError, ValueError):
        raise ConfigError(
            "The database URL asks for something unknown; write sqlite:///path/to/file.db or "
            "postgresql+psycopg://user:password@host/name."
        ) from None


def sqlite_file(url: str) -> Path | None:
    """The file of a SQLite URL; None for PostgreSQL and for `file:` URIs, which SQLite reads."""
    parsed = _parsed(url)
    name = str(parsed.database)
    if parsed.get_backend_name() != "sqlite" or name.startswith("file:"):
        return None
    return Path(name)
