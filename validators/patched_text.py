"""What text files look like after a git patch, told without git: for reading manifests only.

The patches of a task apply to its tree exactly, so hunks are taken at their line numbers. What
cannot be followed (a binary, a patch of other text) leaves its file as it was.
"""

import re
from collections.abc import Mapping, Sequence

from validators.unified import FileDiff, applied, file_diffs


def patched(files: Mapping[str, bytes], patches: Sequence[bytes]) -> Mapping[str, bytes]:
    """`files` after all `patches`, with those they add and without those they remove."""
    after = dict(files)
    for patch in patches:
        for diff in file_diffs(patch):
            _apply(after, diff)
    return after


def _apply(files: dict[str, bytes], diff: FileDiff) -> None:
    old = _path(diff.head, b"--- ", b"rename from ")
    new = _path(diff.head, b"+++ ", b"rename to ")
    before = files.get(old, b"") if old is not None else b""
    if old is not None and new != old and any(line.startswith(b"rename ") for line in diff.head):
        files.pop(old, None)
    if new is None:
        if old is not None and diff.hunks:
            files.pop(old, None)
        return
    after = applied(before, diff.hunks)
    if after is not None:
        files[new] = after


def _path(head: Sequence[bytes], *marks: bytes) -> str | None:
    for line in head:
        for mark in marks:
            if line.startswith(mark):
                name = line[len(mark) :].rstrip(b"\t\r\n").decode("utf-8", "surrogateescape")
                return None if name == "/dev/null" else re.sub(r"^[ab]/", "", name)
    return None
