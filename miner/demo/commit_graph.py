"""Questions about commits answered from memory; git itself answers what is not simple. Pure."""

import heapq
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

_LINEAR_STEPS = 300


class Commit(Protocol):
    """What is needed of a commit."""

    @property
    def parents(self) -> Sequence[str]:
        """Ids of its parents."""
        ...

    @property
    def committed_at(self) -> datetime:
        """When it was committed."""
        ...


_ONE, _OTHER, _STALE = 1, 2, 4


def merge_base(commits: Mapping[str, Commit], one: str, other: str) -> str | None:
    """The one best common ancestor; None when there are several, none, or commits are missing.

    Git's own way (paint_down_to_common): newest first, each side its colour, until all that is
    left to look at lies behind a common ancestor.
    """
    colours = {one: _ONE}
    colours[other] = colours.get(other, 0) | _OTHER
    queue = [(-_time(commits, oid), oid) for oid in colours]
    heapq.heapify(queue)
    found: dict[str, None] = {}
    while any(not colours[oid] & _STALE for _, oid in queue):
        _, oid = heapq.heappop(queue)
        if oid not in commits:
            return None
        colour = colours[oid]
        if colour & (_ONE | _OTHER) == _ONE | _OTHER:
            if not colour & _STALE:
                found[oid] = None
            colour |= _STALE
        for parent in commits[oid].parents:
            if colours.get(parent, 0) & colour != colour:
                colours[parent] = colours.get(parent, 0) | colour
                heapq.heappush(queue, (-_time(commits, parent), parent))
    best = [oid for oid in found if not colours[oid] & _STALE]
    return best[0] if len(best) == 1 else None


def linear_branch(commits: Mapping[str, Commit], fork: str, head: str) -> tuple[str, ...] | None:
    """Commits after `fork` up to `head`, oldest first; None when a merge lies between."""
    chain: list[str] = []
    at = head
    for _ in range(_LINEAR_STEPS):
        if at == fork:
            return tuple(reversed(chain))
        commit = commits.get(at)
        if commit is None or len(commit.parents) != 1:
            return None
        chain.append(at)
        at = commit.parents[0]
    return None


def _time(commits: Mapping[str, Commit], oid: str) -> float:
    commit = commits.get(oid)
    return commit.committed_at.timestamp() if commit else 0.0
