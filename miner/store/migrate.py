"""Alembic from code: upgrade, downgrade, check.

The migrations are a top-level folder beside the packages: `migrations/` of a checkout, also when it
is installed editable. A wheel carries the same folder to the same place, beside `miner`.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

import miner
from miner.errors import ConfigError, SchemaOutOfDateError
from miner.store.connection import Sql, sqlite_file
from miner.store.ownership import refuse_foreign_file, refuse_foreign_revision


def upgrade(url: str, *, revision: str = "head") -> str:
    """Bring a database to `revision`, making it when it is a new SQLite file; the revision.

    SchemaOutOfDateError when a newer version made it; ConfigError when it cannot be opened.
    """
    _make_folder(url)
    return _move(url, partial(command.upgrade, revision=revision)) or ""


def downgrade(url: str, *, revision: str) -> str:
    """Take a database back to `revision` ("base": empty, then the answer is empty too)."""
    return _move(url, partial(command.downgrade, revision=revision)) or ""


def check(url: str) -> str:
    """The revision of a database that fits this version; SchemaOutOfDateError otherwise."""
    sql = Sql(url)
    try:
        return check_open(sql)
    finally:
        sql.close()


def check_open(sql: Sql) -> str:
    """As `check`, for an open database."""
    file = _file(sql)
    if file is not None and file.is_file():
        refuse_foreign_file(file)
    if file is not None and not file.exists():
        raise SchemaOutOfDateError(
            f"There is no database {sql.where} yet; run `miner db upgrade` to make it."
        )
    with sql.read() as connection:
        current = _current(connection)
        _refuse_newer(sql, connection, current)
    head = _scripts().get_current_head()
    if current == head and head is not None:
        return head
    if current is None:
        raise SchemaOutOfDateError(
            f"The database {sql.where} is empty; run `miner db upgrade` to make its tables."
        )
    raise SchemaOutOfDateError(
        f"The database {sql.where} was made by an older version; run `miner db upgrade`."
    )


def _move(url: str, step: Callable[[Config], None]) -> str | None:
    sql = Sql(url)
    file = _file(sql)
    try:
        if file is not None and file.is_file():
            refuse_foreign_file(file)
        with sql.migration() as connection:
            _refuse_newer(sql, connection, _current(connection))
            config = _config()
            config.attributes["connection"] = connection
            step(config)
            return _current(connection)
    finally:
        sql.close()


def _current(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _make_folder(url: str) -> None:
    file = sqlite_file(url)
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"The folder {file.parent} cannot be made ({error.strerror}); choose another place."
        ) from error


def _file(sql: Sql) -> Path | None:
    return sqlite_file(sql.url.render_as_string(hide_password=False))


def _refuse_newer(sql: Sql, connection: Connection, current: str | None) -> None:
    known = {script.revision for script in _scripts().walk_revisions()}
    if current is not None and current not in known:
        refuse_foreign_revision(connection, sql.where)
        raise SchemaOutOfDateError(
            f"The database {sql.where} was made by a newer version; install that version."
        )


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    folder = Path(miner.__file__).parent.parent / "migrations"
    if not (folder / "env.py").is_file():
        raise ConfigError(f"The migrations are missing at {folder}; install the project again.")
    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
