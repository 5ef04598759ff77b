"""Which instances go into a snapshot, and why others do not. Pure."""

import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from miner.model import Candidate, Instance, Split
from miner.publish.families import families

NAME = re.compile(r"\d{4}-\d{2}-\d{2}(-[a-z0-9]+)?")
"""Snapshot names: a date, and a suffix when a day has several."""


def is_name(name: str) -> bool:
    """Does it look like a snapshot's name, and is its day in the calendar?"""
    try:
        return bool(NAME.fullmatch(name)) and bool(date.fromisoformat(name[:10]))
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """`members` sorted by id; `excluded`: instance id → reason."""

    members: tuple[tuple[Instance, Split], ...]
    excluded: tuple[tuple[str, str], ...]


def select(
    instances: Sequence[Instance],
    *,
    window: tuple[date | None, date | None],
    earlier: Sequence[Candidate] = (),
) -> Selection:
    """Every accepted, well-formed instance of the window, each fix once (the earliest merge).

    A fix is told again by a backport or a second try: the same patch or the same issue. `earlier`
    are the tasks merged before the window, whose copies are nothing new. All members bear the label
    `test`: a task set for measuring models has no other use.
    """
    refused = [(each, _outside(each, window) or unfit(each)) for each in instances]
    fit = [instance for instance, reason in refused if reason is None]
    copies = {
        copy: why
        for family in families([*earlier, *(instance.candidate for instance in fit)])
        for copy, why in family.copies.items()
    }
    ids = {instance.candidate.instance_id for instance in fit}
    excluded = [(each.candidate.instance_id, reason) for each, reason in refused if reason]
    excluded += [(copy, why) for copy, why in copies.items() if copy in ids]
    members = [each for each in fit if each.candidate.instance_id not in copies]
    return Selection(
        members=tuple(
            (each, Split.TEST) for each in sorted(members, key=lambda m: m.candidate.instance_id)
        ),
        excluded=tuple(sorted(excluded)),
    )


def unfit(instance: Instance) -> str | None:
    """Why no grader could use this instance, or None.

    Truncated ids live on for ever in published sets, so they are refused before publishing.
    """
    candidate, verdict = instance.candidate, instance.verdict
    if not verdict.accepted:
        return f"not accepted: {verdict.flaw}"
    if not verdict.fail_to_pass:
        return "FAIL_TO_PASS is empty"
    if instance.environment.recipe.lock is None:
        return "its environment has no lock"
    broken = _first(_malformed(test) for test in (*verdict.fail_to_pass, *verdict.pass_to_pass))
    if broken:
        return broken
    for name, patch in (("patch", candidate.patch), ("test_patch", candidate.test_patch)):
        if not patch_parses(patch):
            return f"{name} does not parse"
    return None


def patch_parses(patch: bytes) -> bool:
    """Is it a diff with at least one file?

    Where unidiff cannot follow a legal path (` b/` in a name: python-unidiff#93) git's own headers
    are enough: the split stage has applied these very bytes.
    """
    text = io.StringIO(patch.decode("utf-8", "surrogateescape"), newline="\n")
    try:
        return len(PatchSet(text)) > 0
    except UnidiffParseError:
        return patch.startswith(b"diff --git ") and b" b/" in _path_of(patch)


def _path_of(patch: bytes) -> bytes:
    """What stands before the last ` b/` of the first header: holds another one when paths do."""
    return patch.split(b"\n", 1)[0].removeprefix(b"diff --git ").rpartition(b" b/")[0]


def _malformed(test: str) -> str | None:
    if not test.strip():
        return "a test id is blank"
    if test.count("[") > test.count("]"):
        return f"test id looks cut off: {test[:120]}"
    return None


def _first(reasons: Iterable[str | None]) -> str | None:
    return next((reason for reason in reasons if reason), None)


def _outside(instance: Instance, window: tuple[date | None, date | None]) -> str | None:
    start, end = window
    merged = instance.candidate.merged_at.date()
    if (start and merged < start) or (end and merged > end):
        return "merged outside the window"
    return None
