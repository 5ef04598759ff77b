"""Crawl: watched repository → watermark → merged pulls, base commit and diff → store."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from miner.model import PullRequest, Rejection, Repo


class Store(Protocol):
    """What crawling reads and leaves. A watermark moves only after its rows are safe."""

    def watched(self) -> Sequence[str]:
        """Names of the watched repositories, in the order they were added."""
        ...

    def known(self, name: str) -> Repo | None:
        """A repository as last saved, by its present name, else by one it had before."""
        ...

    def save_repo(self, repo: Repo, *, now: datetime) -> None:
        """Insert or update by (source, database_id); a new name keeps the old rows.

        Ends a tombstone: the repository is there again.
        """
        ...

    def watermark(self, repo: Repo) -> datetime | None:
        """`updated_at` of the newest pull whose whole page was stored."""
        ...

    def etag(self, repo: Repo) -> str | None:
        """The source's mark of the last complete crawl."""
        ...

    def has_pull(self, repo: Repo, *, number: int, raw_digest: str) -> bool:
        """Is this very version of the pull stored already?"""
        ...

    def save_pull(self, pull: PullRequest, *, raw: bytes) -> None:
        """Append this version of the pull (same raw digest: nothing happens) and its payload."""
        ...

    def advance(
        self, repo: Repo, *, watermark: datetime | None, etag: str | None, now: datetime
    ) -> None:
        """Move the watermark after all rows up to it are stored; never backwards."""
        ...

    def record_failure(self, repo: str, *, error: str, now: datetime) -> None:
        """Append a failed attempt of the machinery; the repository stays due."""
        ...

    def reject(self, rejection: Rejection, *, raw: bytes) -> None:
        """Append a no of the crawl with the payload it is about; the same again: nothing."""
        ...

    def bury(self, repo: Repo, *, reason: str, now: datetime) -> None:
        """Append a tombstone ("deleted", "dmca", "tos" …): exports leave the repository out."""
        ...
