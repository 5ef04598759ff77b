"""Verify: lease a candidate → `validators.examine` through the executor → Instance | Rejection."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from miner.model import Candidate, Examined, StoredRecipe

VERIFIER_VERSION = 1
"""Counts up when verdicts may change: candidates verified by an older version are due again."""

HEARTBEAT_S = 30
"""How often a live lease is prolonged; the store says how long it holds and when to give up."""


class Store(Protocol):
    """What verification reads and leaves. Leases keep two workers off one candidate."""

    def claim(
        self,
        *,
        holder: str,
        version: int,
        policy: str,
        limit: int,
        repo: str | None,
        now: datetime,
    ) -> Sequence[Candidate]:
        """Lease due candidates: newest per instance id, no result for (candidate, verifier
        version, policy, newest maintainer recipe), no live lease, `not_before` passed, attempts
        left. Ends leases that ran out first."""
        ...

    def heartbeat(self, candidate: Candidate, *, holder: str, now: datetime) -> bool:
        """Prolong the lease; False when it is no longer ours."""
        ...

    def recipes(self, repo: str) -> Sequence[StoredRecipe]:
        """Stored recipes of a repository: a maintainer's first, then learned, newest first."""
        ...

    def save_examined(self, examined: Examined, *, holder: str, now: datetime) -> bool:
        """Write result, attempts, runs, logs, learned recipe and end the lease, in one
        transaction and only if the lease is still ours."""
        ...

    def release(
        self, candidate: Candidate, *, holder: str, error: str | None, now: datetime
    ) -> None:
        """End the lease without a result. With `error` it counts as a failed attempt (backs off);
        without (Ctrl-C) it does not."""
        ...
