"""SQLite as it is opened: one writer at a time, and never a file that nobody will find again."""

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.pool import ConnectionPoolEntry

from miner.errors import ConfigError

BUSY_S = 30
"""How long a writer waits for another process's write."""

_FILE = "miner_file"
"""Where a connection remembers its file: its path, and which file that was."""


def sqlite_engine(url: URL, *, pool_size: int) -> Engine:
    """An engine whose connections with the option `miner_write` take the writer's lock at once."""
    engine = create_engine(
        url, pool_size=pool_size, connect_args={"timeout": BUSY_S, "isolation_level": None}
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def pragma(connection: Connection, words: str) -> None:
    """Outside of a transaction, where SQLAlchemy would begin one."""
    cursor = connection.connection.cursor()
    try:
        cursor.execute(words)
    finally:
        cursor.close()


def _prepare(connection: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
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
    until = time.monotonic() + BUSY_S
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


def _begin(connection: Connection) -> None:
    # A transaction that reads first and writes later would fail with "database is locked" without
    # waiting, so writers take the lock at once; readers do not, or everything would queue.
    write = connection.get_execution_options().get("miner_write", False)
    if write:
        _refuse_what_is_gone(connection)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
