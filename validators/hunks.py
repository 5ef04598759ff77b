"""Single hunks of a patch: how many there are, and the patch without one of them. Pure, bytes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from validators.patching import file_patches

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_WHOLE = re.compile(rb"^(new file|deleted file|rename |copy |GIT binary|Binary )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _File:
    header: bytes
    hunks: tuple[bytes, ...]

    @property
    def is_whole(self) -> bool:
        """Added, deleted, renamed or binary: left out as one piece."""
        return not self.hunks or _WHOLE.search(self.header) is not None


def hunk_paths(patch: bytes) -> tuple[str, ...]:
    """The path of the file of each piece that can be left out, in order.

    Pieces are hunks, and whole files that are added, deleted or moved.
    """
    return tuple(
        path
        for each in _files(patch)
        for path in file_patches(each.header)[0].paths[-1:] or ("",)
        for _ in range(1 if each.is_whole else len(each.hunks))
    )


def without_hunk(patch: bytes, number: int) -> bytes:
    """The patch without its piece `number`, from 0. Other pieces keep their line numbers."""
    kept: list[bytes] = []
    at = 0
    for each in _files(patch):
        size = 1 if each.is_whole else len(each.hunks)
        inside = number - at
        at += size
        if not 0 <= inside < size:
            kept.append(each.header + b"".join(each.hunks))
        elif size > 1:
            hunks = each.hunks[:inside] + each.hunks[inside + 1 :]
            kept.append(each.header + b"".join(hunks))
    return b"".join(kept)


def _files(patch: bytes) -> Sequence[_File]:
    return tuple(_file(lines) for lines in _split(patch))


def _split(patch: bytes) -> Iterator[list[bytes]]:
    """The lines of each file; hunk bodies are counted off, so content is never a header."""
    lines: list[bytes] = []
    left = [0, 0]
    for line in _lines(patch):
        if max(left) <= 0 and line.startswith(b"diff --git ") and lines:
            yield lines
            lines = []
        lines.append(line)
        left = _left(line, left)
    if lines:
        yield lines


def _lines(patch: bytes) -> list[bytes]:
    """Lines by newline alone: a lone carriage return is content."""
    parts = patch.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _left(line: bytes, left: list[int]) -> list[int]:
    """How many old and new lines of the open hunk are still to come."""
    if max(left) > 0:
        old = line[:1] not in {b"+", b"\\"}
        new = line[:1] not in {b"-", b"\\"}
        return [left[0] - old, left[1] - new]
    hunk = _HUNK.match(line)
    if hunk is None:
        return left
    return [int(count) if count is not None else 1 for count in hunk.groups()]


def _file(lines: list[bytes]) -> _File:
    header: list[bytes] = []
    hunks: list[list[bytes]] = []
    left = [0, 0]
    for line in lines:
        if max(left) <= 0 and _HUNK.match(line):
            hunks.append([line])
        elif hunks:
            hunks[-1].append(line)
        else:
            header.append(line)
        left = _left(line, left)
    return _File(b"".join(header), tuple(b"".join(hunk) for hunk in hunks))
