"""Ends connections to PostgreSQL from another one, as an administrator or a failover does."""

import threading
from collections.abc import Collection
from typing import cast

import psycopg
from sqlalchemy import Connection
from sqlalchemy.engine import make_url

from miner.store.postgres import PatientConnection


class Killer:
    """Listens to `before_cursor_execute`, and ends the connection that is about to run one of the
    statements of these numbers, from 1, whoever runs it."""

    def __init__(self, server: str, numbers: Collection[int]) -> None:
        self._server = make_url(server).set(drivername="postgresql", query={})
        self._numbers = numbers
        self._lock = threading.Lock()
        self.seen = 0
        self.killed = 0

    def __call__(self, connection: Connection, *_: object) -> None:
        """One more statement."""
        with self._lock:
            self.seen += 1
            mine = self.seen in self._numbers
        if mine:
            self.kill(connection)

    def kill(self, connection: Connection) -> None:
        """End it, and wait until it is gone."""
        driver = cast("PatientConnection", connection.connection.driver_connection)
        plain = self._server.render_as_string(hide_password=False)
        with psycopg.connect(plain, autocommit=True) as other:
            pid = driver.info.backend_pid
            gone = other.execute("SELECT pg_terminate_backend(%s, 20000)", [pid]).fetchone()
        assert gone == (True,)
        self.killed += 1
