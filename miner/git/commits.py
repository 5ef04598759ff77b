"""What a commit says of itself."""

from dataclasses import dataclass
from datetime import UTC, datetime

from miner.git.change import split_nul

FORMAT = "--format=%H%n%P%n%ct%n%B"
"""For `git log -z`: what `parse_headers` reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitHeader:
    """A commit without its tree. `parents`: first parent first. `committed_at` is UTC."""

    oid: str
    parents: tuple[str, ...]
    committed_at: datetime
    message: str


def parse_headers(output: bytes) -> tuple[CommitHeader, ...]:
    """Read `git log -z` with FORMAT."""
    return tuple(_header(record) for record in split_nul(output + b"\0") if record)


def _header(record: bytes) -> CommitHeader:
    oid, parents, seconds, message = record.decode("utf-8", "replace").split("\n", 3)
    return CommitHeader(
        oid=oid,
        parents=tuple(parents.split()),
        committed_at=datetime.fromtimestamp(int(seconds), tz=UTC),
        message=message,
    )
