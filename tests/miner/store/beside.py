"""What another process does at the very moment that hurts."""

import threading
from collections.abc import Callable

from sqlalchemy import Connection, event, text
from sqlalchemy.engine import ExecutionContext
from sqlalchemy.engine.interfaces import DBAPICursor

from miner.store import Database
from miner.store.connection import Sql

Act = Callable[[Database], object]


def race(url: str, first: Act, second: Act) -> tuple[object, object]:
    """What both say. The first commits once the second waits for it, or has come to its end."""
    sql = Sql(url)
    said: list[object] = []
    beside = threading.Thread(target=lambda: said.append(second(Database(sql))))

    def before_commit(connection: Connection) -> None:
        if connection.get_execution_options().get("miner_write") and beside.ident is None:
            beside.start()
            while sql.is_postgres and beside.is_alive() and not somebody_waits(url):
                beside.join(0.01)

    leading = Sql(url)
    event.listen(leading.engine, "commit", before_commit)
    try:
        led = first(Database(leading))
        beside.join()
    finally:
        leading.close()
        sql.close()
    return led, *said  # type: ignore[return-value]  # of a thread that failed nothing


def somebody_waits(url: str) -> bool:
    """Somebody waits for another's transaction on this PostgreSQL."""
    sql = Sql(url)
    try:
        with sql.read() as connection:
            waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return bool(connection.execute(waiting).scalar_one())
    finally:
        sql.close()


def after_first(sql: Sql, start: str, act: Callable[[DBAPICursor], object]) -> None:
    """Act once, right after the first statement that starts so."""
    left = [act]

    def look(
        _: Connection, cursor: DBAPICursor, statement: str, *_rest: ExecutionContext | object
    ) -> None:
        if left and statement.startswith(start):
            left.pop()(cursor)

    event.listen(sql.engine, "after_cursor_execute", look)
