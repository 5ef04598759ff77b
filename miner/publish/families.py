"""Which candidates are one fix told several times: backports, forward ports, second tries.

A snapshot should count a family once, and a model that has seen one member has seen them all.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from miner.model import Candidate

SAME_ISSUE = "same issue"
SAME_PATCH = "same patch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Two or more instance ids, first merged first, and what binds each to those before."""

    members: tuple[str, ...]
    copies: Mapping[str, str]
    """Every member but the first → "same patch as" or "same issue as" an earlier one."""

    @property
    def first(self) -> str:
        """The one merged first: the others are its copies."""
        return self.members[0]


def families(candidates: Iterable[Candidate]) -> tuple[Family, ...]:
    """Group by a shared issue of one repository or by the same normalised gold patch (of any
    repository: forks and renames bring the same fix). Patches themselves are not needed.

    Sorted by the first member's id; a candidate in no family is in none of them.
    """
    ordered = sorted(candidates, key=lambda each: (each.merged_at, each.instance_id))
    leader: dict[Hashable, Hashable] = {}
    for candidate in ordered:
        roots = [_root(leader, key) for _, key in _keys(candidate)]
        leader.update((root, roots[0]) for root in roots)
    groups: dict[Hashable, list[Candidate]] = {}
    for candidate in ordered:
        _, key = next(_keys(candidate))
        groups.setdefault(_root(leader, key), []).append(candidate)
    found = [_family(group) for group in groups.values() if len(group) > 1]
    return tuple(sorted(found, key=lambda family: family.first))


def _root(leader: dict[Hashable, Hashable], key: Hashable) -> Hashable:
    """The key that stands for all that are bound to `key`."""
    while leader.setdefault(key, key) != key:
        leader[key] = leader[leader[key]]
        key = leader[key]
    return key


def _family(group: Sequence[Candidate]) -> Family:
    return Family(
        members=tuple(candidate.instance_id for candidate in group),
        copies={
            candidate.instance_id: _bond(candidate, group[:place], group)
            for place, candidate in enumerate(group)
            if place
        },
    )


def _bond(candidate: Candidate, before: Sequence[Candidate], group: Sequence[Candidate]) -> str:
    """What binds it to the first member that it shares something with: one merged before it, or,
    where only a later one binds it to the family, that."""
    keys = {key: reason for reason, key in _keys(candidate)}
    for other in (*before, *group):
        shared = [keys[key] for _, key in _keys(other) if key in keys]
        if shared and other is not candidate:
            reason = SAME_PATCH if SAME_PATCH in shared else SAME_ISSUE
            return f"{reason} as {other.instance_id}"
    raise AssertionError(f"{candidate.instance_id} is in a family it shares nothing with.")


def _keys(candidate: Candidate) -> Iterator[tuple[str, Hashable]]:
    for number in candidate.issue_numbers:
        yield SAME_ISSUE, (candidate.repo_id, number)
    yield SAME_PATCH, candidate.patch_hash
