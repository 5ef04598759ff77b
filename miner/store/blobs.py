"""Content-addressed bytes: payloads, diffs, patches, logs, results. zstd, each content once."""

import hashlib
from collections.abc import Iterable, Mapping

import zstandard
from sqlalchemy import Connection, select

from miner.errors import FatalError
from miner.store.connection import Sql
from miner.store.tables import BLOBS

LEVEL = 6
"""Logs shrink about as far as at 19, ten times faster."""


def address(content: bytes) -> str:
    """The name of a blob."""
    return hashlib.sha256(content).hexdigest()


class Bundle:
    """Blobs on their way into one transaction.

    They are compressed before it begins and written sorted by address, so that two transactions
    that share blobs wait for each other rather than end in a deadlock.
    """

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, object]] = {}

    def add(self, content: bytes) -> str:
        """Take a blob along; its address."""
        sha256 = address(content)
        if sha256 not in self._rows:
            packed = zstandard.ZstdCompressor(level=LEVEL).compress(content)
            self._rows[sha256] = {"sha256": sha256, "size": len(content), "content": packed}
        return sha256

    def save(self, sql: Sql, connection: Connection) -> None:
        """Write what is not there yet. Call it first or right after the fence."""
        rows = [self._rows[sha256] | sql.stamp() for sha256 in sorted(self._rows)]
        if rows:
            connection.execute(sql.insert(BLOBS).on_conflict_do_nothing(), rows)


def read(connection: Connection, sha256s: Iterable[str]) -> Mapping[str, bytes]:
    """Address → content. FatalError for one that is missing or damaged."""
    wanted = sorted(set(sha256s))
    found: dict[str, bytes] = {}
    for start in range(0, len(wanted), 500):
        query = select(BLOBS.c.sha256, BLOBS.c.size, BLOBS.c.content).where(
            BLOBS.c.sha256.in_(wanted[start : start + 500])
        )
        for row in connection.execute(query):
            found[row.sha256] = _unpacked(row.sha256, row.size, row.content)
    missing = set(wanted) - found.keys()
    if missing:
        raise FatalError(f"The blob {min(missing)} is missing; restore the database from a copy.")
    return found


def _unpacked(sha256: str, size: int, packed: bytes) -> bytes:
    try:
        content = zstandard.ZstdDecompressor().decompress(packed, max_output_size=size)
    except zstandard.ZstdError as error:
        raise FatalError(f"The blob {sha256} is damaged; restore the database.") from error
    if address(content) != sha256:
        raise FatalError(f"The blob {sha256} is damaged; restore the database from a copy.")
    return content
