"""What lies between an earlier `--since` and what was read of a repository."""

from datetime import datetime, timedelta
from typing import Protocol

from miner.model import Depth, Repo

OVERLAP = timedelta(hours=1)
"""Read again before the watermark: an index may lag behind the times it tells."""


class Marks(Protocol):
    """How far a repository was read, in both directions."""

    def watermark(self, repo: Repo) -> datetime | None:
        """`updated_at` of the newest pull whose whole page was stored."""
        ...

    def depth(self, repo: Repo) -> Depth:
        """How far back the repository was read."""
        ...


def lacks(marks: Marks, repo: Repo, *, since: datetime | None) -> bool:
    """Is something missing between `since` and what was read? None asks for nothing.

    Of what an earlier version read only the newest is known.
    """
    if since is None:
        return False
    watermark = marks.watermark(repo)
    known = marks.depth(repo).back_to or (watermark and watermark - OVERLAP)
    return known is None or since < known
