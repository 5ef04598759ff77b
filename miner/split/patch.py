"""One diff (bytes) → gold patch and test patch, cut on file boundaries, byte-exact.

git's text is only ever cut, never written anew: where a file's section begins is told by a line
`diff --git` at the left edge, which no line of content can be (content lines begin with a sign,
binary ones hold no space). What the files are called comes from git's raw list, which has the same
order; the quoted names in the text are not read. unidiff counts the lines of every section, and the
counts must be those of the raw list: a cut at a wrong place does not get through.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from miner.errors import BadItemError
from miner.git import RawChange
from validators.languages import FileClass
from validators.plural import counted

Classify = Callable[[PurePosixPath], FileClass]

_START = re.compile(rb"^diff --git ", re.MULTILINE)
_HUNK = re.compile(rb"^@@ ", re.MULTILINE)
_LFS_POINTER = re.compile(rb"^[+ -]version https://git-lfs\.github\.com/spec/v1$", re.MULTILINE)
_NO_TASK = frozenset({FileClass.DOCS, FileClass.LOCK, FileClass.CI})
"""Classes that differ between a fix and its backport, and that make no task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One changed file and its bytes of the diff."""

    change: RawChange
    kind: FileClass
    text: bytes = field(repr=False)

    @property
    def is_test(self) -> bool:
        """Does it go into the test patch?"""
        return self.kind is FileClass.TEST

    @property
    def is_lfs(self) -> bool:
        """Is the file's content a pointer to where the real content is?"""
        return _LFS_POINTER.search(self.text) is not None


def classes(changes: Sequence[RawChange], classify: Classify) -> tuple[FileClass, ...]:
    """The class of every changed file, by the path it has afterwards."""
    return tuple(classify(PurePosixPath(change.path)) for change in changes)


def crosses_border(changes: Sequence[RawChange], classify: Classify) -> bool:
    """Does a rename turn a test into something else, or the reverse?

    Its one section would have to be in both patches: compare without looking for renames instead.
    """
    return any(
        change.path != change.old_path
        and (classify(PurePosixPath(change.path)) is FileClass.TEST)
        is not (classify(PurePosixPath(change.old_path)) is FileClass.TEST)
        for change in changes
    )


def cut(diff: bytes, changes: Sequence[RawChange], classify: Classify) -> tuple[Section, ...]:
    """The sections of a diff, one a changed file, in order; joined they are the diff.

    BadItemError when the diff is not one of these changes.
    """
    starts = [match.start() for match in _START.finditer(diff)]
    expected = sum(change.sections for change in changes)
    if len(starts) != expected or (diff and starts[:1] != [0]):
        raise BadItemError(
            f"The diff has {counted(len(starts), 'file')} where git lists {expected} changed ones."
        )
    ends = [*starts[1:], len(diff)]
    sections, at = [], 0
    for change, kind in zip(changes, classes(changes, classify), strict=True):
        last = at + change.sections - 1
        section = Section(change=change, kind=kind, text=diff[starts[at] : ends[last]])
        _check(section)
        sections.append(section)
        at = last + 1
    return tuple(sections)


def gold_patch(sections: Sequence[Section]) -> bytes:
    """The fix without the tests."""
    return b"".join(section.text for section in sections if not section.is_test)


def test_patch(sections: Sequence[Section]) -> bytes:
    """The tests of the fix."""
    return b"".join(section.text for section in sections if section.is_test)


test_patch.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it where imported


def patch_hash(sections: Sequence[Section]) -> str:
    """sha256 of the normalised gold patch: equal for a fix and its backports.

    Counts: paths, what happens to the file, added and removed lines without white space at their
    ends, binary content. Does not count: line numbers, context, blob names, and files of
    documentation, lock files and CI where there are others.
    """
    gold = [section for section in sections if not section.is_test]
    counted = [section for section in gold if section.kind not in _NO_TASK] or gold
    digest = hashlib.sha256()
    for normal in sorted(_normalised(section) for section in counted):
        digest.update(len(normal).to_bytes(8, "big") + normal)
    return digest.hexdigest()


def line_counts(section: Section) -> tuple[int, int]:
    """(added, removed) as unidiff counts them; (0, 0) for what has no lines.

    unidiff gets the hunks under a plain name: it stumbles over names with ` b/` in them.
    """
    added = removed = 0
    for part in _START.split(section.text)[1:]:
        first = _HUNK.search(part)
        if first is None:
            continue
        hunks = part[first.start() :].decode("utf-8", "surrogateescape")
        for file in PatchSet(f"--- a/file\n+++ b/file\n{hunks}"):
            added, removed = added + file.added, removed + file.removed
    return added, removed


def _check(section: Section) -> None:
    """The section's lines are as many as git counted for the file."""
    change = section.change
    try:
        counts = line_counts(section)
    except UnidiffParseError as error:
        raise BadItemError(f"The diff of {change.path!r} cannot be read: {error}.") from error
    if counts != (change.additions or 0, change.deletions or 0):
        raise BadItemError(
            f"The diff of {change.path!r} adds {counted(counts[0], 'line')} and removes "
            f"{counts[1]}; git counts {change.additions} and {change.deletions}."
        )


def _normalised(section: Section) -> bytes:
    change = section.change
    head = (
        f"{change.status}\0{change.old_path}\0{change.path}\0{change.old_mode}\0{change.new_mode}"
    )
    parts = [head.encode("utf-8", "surrogateescape")]
    for part in _START.split(section.text)[1:]:
        first = _HUNK.search(part)
        if first is not None:
            lines = part[first.start() :].split(b"\n")
            parts.extend(line.rstrip() for line in lines if line[:1] in (b"+", b"-"))
        else:
            _, marker, body = part.partition(b"\nGIT binary patch\n")
            parts.append(marker + body)
    return b"\n".join(parts)
