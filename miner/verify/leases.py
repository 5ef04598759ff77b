"""The leases of one pass: claimed, kept alive, and ended with a result or without."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from typing import Protocol

from miner.errors import FatalError, MinerError
from miner.holder import Heartbeat, new_holder
from miner.model import Candidate, Clock, Examined

HEARTBEAT_S = 30
"""How often a live lease is prolonged; the store says how long it holds and when to give up."""

Unread = Callable[[str, FatalError], object]
"""Told the instance id of a candidate that cannot be read, and why."""


class LeaseRows(Protocol):
    """What leasing reads and leaves. Leases keep two workers off one candidate."""

    def claim(  # noqa: PLR0913  (for whom, of what, and when)
        self,
        *,
        holder: str,
        version: int,
        policy: str,
        limit: int,
        repo: str | None,
        now: datetime,
        unread: Unread,
    ) -> Sequence[Candidate]:
        """Lease due candidates: newest per instance id, no result for (candidate, verifier
        version, policy, newest maintainer recipe), no live lease, `not_before` passed, attempts
        left. Ends leases that ran out first, and with an error those of what cannot be read."""
        ...

    def count_due(
        self, *, version: int, policy: str, limit: int, repo: str | None, now: datetime
    ) -> int:
        """How many could be claimed now, up to `limit`."""
        ...

    def heartbeat(self, candidate: Candidate, *, holder: str, now: datetime) -> bool:
        """Prolong the lease; False when it is no longer ours."""
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


class Leases:
    """What this process holds. Under `kept_alive()` every lease is prolonged until it ends."""

    def __init__(self, store: LeaseRows, *, now: Clock) -> None:
        self._store = store
        self._now = now
        self._holder = new_holder()
        self._held: dict[str, Candidate] = {}
        self._aside: dict[str, str] = {}  # why a held one is not tried again in this pass
        self._heartbeat = Heartbeat(self._beat, every_s=HEARTBEAT_S)

    def kept_alive(self) -> AbstractContextManager[None]:
        """Beats while the block lasts."""
        return self._heartbeat.running()

    def count(self, *, version: int, policy: str, repo: str | None, limit: int) -> int:
        """How many are due, up to `limit`; others may take some of them."""
        return self._store.count_due(
            version=version, policy=policy, limit=limit, repo=repo, now=self._now()
        )

    def claim(
        self, *, version: int, policy: str, repo: str | None, limit: int, unread: Unread
    ) -> Sequence[Candidate]:
        """Up to `limit` due candidates, leased; none: nothing is due that can be read."""
        claimed = self._store.claim(
            holder=self._holder,
            version=version,
            policy=policy,
            limit=limit,
            repo=repo,
            now=self._now(),
            unread=unread,
        )
        for candidate in claimed:
            self._held[candidate.instance_id] = candidate
            self._heartbeat.add(candidate.instance_id)
        return claimed

    def end_with(self, examined: Examined) -> bool:
        """Store a result; False when the lease was lost and another's counts."""
        kept = self._store.save_examined(examined, holder=self._holder, now=self._now())
        self._let_go(examined.candidate)
        return kept

    def release(self, candidate: Candidate, error: str | None) -> None:
        """End a lease without a result; see `LeaseRows.release`."""
        self._store.release(candidate, holder=self._holder, error=error, now=self._now())
        self._let_go(candidate)

    def set_aside(self, candidate: Candidate, error: str) -> None:
        """It will not fare better in this pass: its lease is kept until the end, so that a registry
        that is silent for a night costs it one attempt, not all."""
        self._aside[candidate.instance_id] = error

    def release_all(self) -> None:
        """End what is still held. What cannot be ended runs out, or its holder is seen to be dead.

        After the first of those it is left at that: a database that is silent keeps nobody waiting.
        """
        with suppress(MinerError):
            for candidate in list(self._held.values()):
                self.release(candidate, self._aside.get(candidate.instance_id))

    def _let_go(self, candidate: Candidate) -> None:
        self._heartbeat.remove(candidate.instance_id)
        self._held.pop(candidate.instance_id, None)

    def _beat(self, name: str) -> None:
        candidate = self._held.get(name)
        if candidate is not None:
            self._store.heartbeat(candidate, holder=self._holder, now=self._now())
