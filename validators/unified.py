"""Unified diffs, read line by line: bytes in, files and hunks out. Pure.

This is the one place that tells headers, hunks and content apart. Hunk bodies are counted off, so
content that looks like a header is content. Every line is kept with its newline (a lone carriage
return is content): what is read can be put together again.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_BODY = frozenset({b" ", b"-", b"+", b"\\", b"\n", b"\r"})  # some tools cut an empty line's blank
_NO_NEWLINE = b"\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """`lines` are its body, marks for a missing newline with it; `rest` is what follows, up to the
    next hunk or file. The numbers are those of its head, the line with the `@@`."""

    head: bytes
    lines: tuple[bytes, ...]
    rest: tuple[bytes, ...]
    old_start: int
    old_count: int
    new_count: int

    @property
    def text(self) -> bytes:
        """All of it, as it was."""
        return b"".join((self.head, *self.lines, *self.rest))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDiff:
    """One file's part: what stands before its first hunk, and its hunks."""

    head: tuple[bytes, ...]
    hunks: tuple[Hunk, ...]

    @property
    def outside(self) -> Iterator[bytes]:
        """Every line that is in no hunk: `patch` looks for names in all of them."""
        yield from self.head
        for hunk in self.hunks:
            yield from hunk.rest


def file_diffs(patch: bytes) -> tuple[FileDiff, ...]:
    """The parts of a patch, in order. A file begins at `diff --git`, without git at its `---`."""
    files: list[tuple[list[bytes], list[_Open]]] = []
    for place, line in _placed(patch):
        if place is _Place.FILE:
            files.append(([line] if line else [], []))
            continue
        head, hunks = files[-1]
        if place is _Place.HUNK:
            hunks.append((line, [], []))
        elif place is _Place.BODY:
            hunks[-1][1].append(line)
        else:
            (hunks[-1][2] if hunks else head).append(line)
    return tuple(
        FileDiff(head=tuple(head), hunks=tuple(_closed(hunk) for hunk in hunks))
        for head, hunks in files
    )


def applied(old: bytes, hunks: Sequence[Hunk]) -> bytes | None:
    """`old` after the hunks, each exactly where it says it is; None when one does not fit."""
    lines, made, taken = _lines(old), [], 0
    for hunk in hunks:
        sides = None if hunk.rest else _sides(hunk.lines)
        if sides is None:
            return None
        before, after = sides
        # of an empty side git names the line before
        begin = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        end = begin + hunk.old_count
        if (len(before), len(after)) != (hunk.old_count, hunk.new_count):
            return None
        if not taken <= begin <= len(lines) or lines[begin:end] != before:
            return None
        made += lines[taken:begin] + after
        taken = end
    return b"".join(made + lines[taken:])


class _Place(Enum):
    FILE = auto()  # the first line of a file's part; b"" where that is a hunk
    HEAD = auto()
    HUNK = auto()
    BODY = auto()


_Open = tuple[bytes, list[bytes], list[bytes]]
"""A hunk that is being read: head, lines, rest."""


def _placed(patch: bytes) -> Iterator[tuple[_Place, bytes]]:
    """Every line with its place."""
    old = new = 0
    inside = started = named = False
    for line in _lines(patch):
        sign = line[:1]
        if ((old > 0 or new > 0) and sign in _BODY) or (inside and sign == b"\\"):
            old -= sign not in {b"+", b"\\"}
            new -= sign not in {b"-", b"\\"}
            yield _Place.BODY, line
            continue
        old = new = 0
        hunk = _HUNK.match(line)
        inside = hunk is not None
        if hunk is not None:
            old, new = int(hunk[2] or 1), int(hunk[4] or 1)
            if not started:
                yield _Place.FILE, b""
            started = True
            yield _Place.HUNK, line
            continue
        if not started or line.startswith(b"diff --git ") or (named and line.startswith(b"--- ")):
            started, named = True, False
            yield _Place.FILE, line
        else:
            yield _Place.HEAD, line
        named = named or line.startswith(b"+++ ")


def _closed(hunk: _Open) -> Hunk:
    head, lines, rest = hunk
    numbers = _HUNK.match(head)
    start, old, _, new = numbers.groups() if numbers is not None else (b"0",) * 4
    return Hunk(
        head=head,
        lines=tuple(lines),
        rest=tuple(rest),
        old_start=int(start),
        old_count=int(old or 1),
        new_count=int(new or 1),
    )


def _sides(lines: Sequence[bytes]) -> tuple[list[bytes], list[bytes]] | None:
    """A hunk's lines before and after it; None for an odd line."""
    before: list[bytes] = []
    after: list[bytes] = []
    sides: tuple[list[bytes], ...] = ()
    for line in lines:
        if line == _NO_NEWLINE:
            for side in sides:
                side[-1] = side[-1].removesuffix(b"\n")
            continue
        sides = {b" ": (before, after), b"-": (before,), b"+": (after,)}.get(line[:1], ())
        if not sides:
            return None
        for side in sides:
            side.append(line[1:])
    return before, after


def _lines(text: bytes) -> list[bytes]:
    """Lines with their newlines, cut at those alone; the last one may have none."""
    parts = text.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
