"""Whose database is it? Asked before anything is written: another program's is left as it is."""

import sqlite3
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, inspect

from miner.errors import ConfigError

OURS = frozenset({"blobs", "repos", "watches"})
"""Tables that every version of ours has had."""

_REVISION = "alembic_version"


def refuse_foreign_file(file: Path) -> None:
    """ConfigError when a SQLite file holds tables, and not ours. Nothing is written to it.

    What cannot be looked into is told when the database is opened.
    """
    try:
        address = f"file:{quote(str(file.resolve()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables = {str(name) for (name,) in rows}
    except sqlite3.Error:
        return
    if tables - {_REVISION} and not is_ours(tables):
        raise _foreign(str(file))


def refuse_foreign_revision(connection: Connection, where: str) -> None:
    """ConfigError when a database of unknown revision is not a newer one of ours."""
    if not is_ours(inspect(connection).get_table_names()):
        raise _foreign(where)


def is_ours(tables: Collection[str]) -> bool:
    """Are our tables among them?"""
    return set(tables) >= OURS


def _foreign(where: str) -> ConfigError:
    return ConfigError(
        f"The database {where} is another program's; name another one in MINER_DATABASE_URL."
    )
