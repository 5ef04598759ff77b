"""PostgreSQL as it is connected to: nobody waits for ever for a server that is gone or silent."""

import time
from typing import TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.rows import TupleRow
from sqlalchemy import Dialect, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.pool import ConnectionPoolEntry

ANSWER_S = 300
"""How long one statement may take; a migration's may take longer."""

MIGRATION_S = 24 * 3600

CONNECT_S = 10
"""How long the server may take to answer a new connection."""

_ALIVE = {
    "connect_timeout": CONNECT_S,
    # a machine that vanished says nothing: noticed after a minute, while a statement runs
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}

RV = TypeVar("RV")


class PatientConnection(psycopg.Connection[TupleRow]):
    """The driver's own, which gives up after `answer_s` seconds without an answer, and is closed.

    The server does not see to that: one that is stopped, or has no disk, does nothing at all.
    """

    answer_s: float = ANSWER_S

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """See psycopg. OperationalError when there was no answer in time."""
        began = time.monotonic()
        try:
            return super().wait(gen, interval, self.answer_s if timeout is None else timeout)
        except psycopg.OperationalError:
            if timeout is None and time.monotonic() - began >= self.answer_s:
                self.pgconn.finish()
            raise


def postgres_engine(url: URL, *, pool_size: int) -> Engine:
    """An engine of such connections; what the URL says of them counts first."""
    engine = create_engine(
        url,
        pool_size=pool_size,
        pool_pre_ping=True,
        isolation_level="READ COMMITTED",  # whatever the server's default is
    )
    event.listen(engine, "do_connect", _connect)
    return engine


def _connect(
    _dialect: Dialect, _entry: ConnectionPoolEntry, arguments: list[str], named: dict[str, object]
) -> PatientConnection:
    return PatientConnection.connect(*arguments, **(_ALIVE | named))  # type: ignore[arg-type]  # as the URL says them
