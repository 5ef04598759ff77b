"""Split: a stored pull → Candidate | Rejection."""

from collections.abc import Sequence
from typing import Protocol

from miner.model import Candidate, PullRequest, Rejection


class Store(Protocol):
    """What splitting reads and leaves."""

    def due_pulls(self, *, policy: str, limit: int, repo: str | None) -> Sequence[PullRequest]:
        """Newest version of each pull without candidate or rejection for (raw digest, policy)."""
        ...

    def reverted_by(self, pull: PullRequest) -> int | None:
        """The number of a stored pull of the same repository that undoes this one."""
        ...

    def save_split(self, pull: PullRequest, result: Candidate | Rejection, *, policy: str) -> None:
        """Append the result for (raw digest of the pull, policy)."""
        ...
