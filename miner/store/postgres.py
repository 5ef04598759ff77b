"""PostgreSQL as it is connected to: nobody waits for ever for a server that is gone or silent."""

import os
import threading
import time
import weakref
from contextlib import suppress
from socket import SHUT_RDWR, socket
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

    def interrupt(self) -> None:
        """Whoever waits for an answer on it sees its end, now and from another thread."""
        with (
            suppress(psycopg.OperationalError, OSError),  # it is closed already
            socket(fileno=os.dup(self.fileno())) as line,
        ):
            line.shutdown(SHUT_RDWR)


class Lines:
    """The connections of an engine that may be open."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: weakref.WeakSet[PatientConnection] = weakref.WeakSet()

    def connect(
        self,
        _dialect: Dialect,
        _entry: ConnectionPoolEntry,
        arguments: list[str],
        named: dict[str, object],
    ) -> PatientConnection:
        """For SQLAlchemy's `do_connect`; what the URL says counts first."""
        made = PatientConnection.connect(*arguments, **(_ALIVE | named))  # type: ignore[arg-type]  # as the URL says them
        with self._lock:
            self._known.add(made)
        return made

    def interrupt(self) -> None:
        """End them all: what is asked on them fails as on a server that went away."""
        with self._lock:
            known = list(self._known)
        for line in known:
            line.interrupt()


def postgres_engine(url: URL, *, pool_size: int, lines: Lines) -> Engine:
    """An engine of such connections, which `lines` knows from then on."""
    engine = create_engine(
        url,
        pool_size=pool_size,
        pool_pre_ping=True,
        isolation_level="READ COMMITTED",  # whatever the server's default is
    )
    event.listen(engine, "do_connect", lines.connect)
    return engine
