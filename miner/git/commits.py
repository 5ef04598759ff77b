"""What a commit says of itself."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

_COMMITTED_AT = re.compile(rb"^committer [^\n]*> (-?\d+) [+-]\d+$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitHeader:
    """A commit without its tree. `parents`: first parent first. `committed_at` is UTC."""

    oid: str
    parents: tuple[str, ...]
    committed_at: datetime
    message: str


def parse_commit(oid: str, content: bytes) -> CommitHeader:
    """Read a commit object. ValueError when it has no committer's time that a clock can show."""
    head, _, message = content.partition(b"\n\n")
    found = _COMMITTED_AT.search(head)
    if found is None:
        raise ValueError(f"Commit {oid} does not say when it was made")
    return CommitHeader(
        oid=oid,
        parents=tuple(
            line.removeprefix(b"parent ").decode()
            for line in head.split(b"\n")
            if line.startswith(b"parent ")
        ),
        committed_at=datetime.fromtimestamp(int(found[1]), tz=UTC),
        message=message.decode("utf-8", "replace"),
    )
