"""What text files look like after a git patch, told without git: for reading manifests only.

The patches of a task apply to its tree exactly, so hunks are taken at their line numbers. What
cannot be followed (a binary, a patch of other text) leaves its file as it was.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
_NO_NEWLINE = b"\\ No newline"


def patched(files: Mapping[str, bytes], patches: Sequence[bytes]) -> Mapping[str, bytes]:
    """`files` after all `patches`, with those they add and without those they remove."""
    after = dict(files)
    for patch in patches:
        for section in _sections(patch):
            _apply(after, section)
    return after


def _sections(patch: bytes) -> Iterator[list[bytes]]:
    """The lines of each file's part."""
    section: list[bytes] = []
    for line in patch.split(b"\n"):
        if line.startswith(b"diff --git ") and section:
            yield section
            section = []
        section.append(line)
    yield section


def _apply(files: dict[str, bytes], section: list[bytes]) -> None:
    head = _head(section)
    hunks = section[len(head) :]
    old = _path(head, b"--- ", b"rename from ")
    new = _path(head, b"+++ ", b"rename to ")
    before = files.get(old, b"") if old is not None else b""
    if old is not None and new != old and any(line.startswith(b"rename ") for line in head):
        files.pop(old, None)
    if new is None:
        if old is not None and hunks:
            files.pop(old, None)
        return
    after = _with_hunks(before, hunks) if hunks else before
    if after is not None:
        files[new] = after


def _head(section: list[bytes]) -> list[bytes]:
    """What stands before the first hunk."""
    starts = [number for number, line in enumerate(section) if line.startswith(b"@@ ")]
    return section[: starts[0]] if starts else section


def _path(head: Sequence[bytes], *marks: bytes) -> str | None:
    for line in head:
        for mark in marks:
            if line.startswith(mark):
                name = line[len(mark) :].rstrip(b"\t\r").decode("utf-8", "surrogateescape")
                return None if name == "/dev/null" else re.sub(r"^[ab]/", "", name)
    return None


def _with_hunks(before: bytes, lines: Sequence[bytes]) -> bytes | None:
    """`before` with the hunks applied; None when it is not the text they were made for."""
    old = _lines(before)
    new: list[bytes] = []
    at = 0
    for sign, line in _signed(lines):
        if sign == b"@":
            match = _HUNK.match(line)
            # a hunk of no old lines stands after the line it names
            start = int(match.group(1)) - (match.group(2) != b"0") if match else -1
            if not at <= start <= len(old):
                return None
            new += old[at:start]
            at = start
        elif sign == b"+":
            new.append(line)
        else:
            if at >= len(old) or old[at] != line:
                return None
            new += [line] if sign == b" " else []
            at += 1
    return b"".join([*new, *old[at:]])


def _signed(lines: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """(sign, text with its newline); a line that has none is marked by the one after it."""
    for line, following in zip(lines, [*lines[1:], b""], strict=True):
        sign = line[:1]
        if sign == b"@":
            yield sign, line
        elif sign in {b"+", b"-", b" "}:
            yield sign, line[1:] + (b"" if following.startswith(_NO_NEWLINE) else b"\n")


def _lines(text: bytes) -> list[bytes]:
    """Lines with their newlines, cut at those alone."""
    return re.findall(rb"[^\n]*\n|[^\n]+", text)
