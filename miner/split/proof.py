"""Does a file's part of a diff make of its old content exactly the new one? Told without git for
plain text files, which nearly all are.

A plain part names its file without quotes, changes lines and no mode, and every hunk stands at its
line number. What is not plain (renames, modes, links, binary files, odd names) is left to git.
"""

import hashlib
import re

from miner.git import RawChange
from miner.split.patch import Section

_FILE_MODES = ("100644", "100755")
_PLAIN_PATH = re.compile(r"[^\x00-\x20\"\\\x7f\ud800-\udfff]+")
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@[^\n]*\n")
_NO_NEWLINE = b"\\ No newline at end of file\n"
_NOTHING = "0" * 40


def is_plain(change: RawChange) -> bool:
    """Can `is_proven` tell of this change?"""
    modes = {change.old_mode, change.new_mode} - {"000000"}
    return (
        change.status in ("A", "M", "D")
        and change.path == change.old_path
        and not change.is_binary
        and len(modes) == 1
        and modes <= set(_FILE_MODES)
        and len(change.new_blob) == len(_NOTHING)
        and _PLAIN_PATH.fullmatch(change.path) is not None
    )


def is_proven(section: Section, old: bytes) -> bool:
    """Is `old` with the section applied the blob that git has afterwards? For plain changes."""
    change = section.change
    head = _head(change)
    if not section.text.startswith(head):
        return False
    made = _applied(old, section.text[len(head) :])
    if made is None:
        return False
    if change.status == "D":
        return made == b""
    name = hashlib.sha1(b"blob %d\0" % len(made) + made, usedforsecurity=False)
    return name.hexdigest() == change.new_blob


def _head(change: RawChange) -> bytes:
    """The lines that git writes before the first hunk."""
    path = change.path.encode()
    blobs = f"index {change.old_blob}..{change.new_blob}"
    lines = [b"diff --git a/%s b/%s" % (path, path)]
    if change.status == "A":
        lines += [f"new file mode {change.new_mode}".encode(), blobs.encode()]
    elif change.status == "D":
        lines += [f"deleted file mode {change.old_mode}".encode(), blobs.encode()]
    else:
        lines += [f"{blobs} {change.new_mode}".encode()]
    if change.additions or change.deletions:
        lines += [b"--- /dev/null" if change.status == "A" else b"--- a/" + path]
        lines += [b"+++ /dev/null" if change.status == "D" else b"+++ b/" + path]
    return b"\n".join(lines) + b"\n"


def _applied(old: bytes, hunks: bytes) -> bytes | None:
    """`old` after the hunks, each exactly where it says; None when one does not fit."""
    lines, made, taken, at = _lines(old), [], 0, 0
    while at < len(hunks):
        head = _HUNK.match(hunks, at)
        if head is None:
            return None
        sides = _sides(hunks, head.end())
        if sides is None:
            return None
        before, after, at = sides
        start, count = int(head[1]), int(head[2] or 1)
        begin = start - 1 if count else start  # of an empty side git names the line before
        if begin < taken or len(before) != count or len(after) != int(head[4] or 1):
            return None
        if lines[begin : begin + count] != before:
            return None
        made += lines[taken:begin] + after
        taken = begin + count
    return b"".join(made + lines[taken:])


def _sides(hunks: bytes, at: int) -> tuple[list[bytes], list[bytes], int] | None:
    """A hunk's lines before and after, and where the next one begins; None for an odd line."""
    before: list[bytes] = []
    after: list[bytes] = []
    sides: tuple[list[bytes], ...] = ()
    while at < len(hunks) and not hunks.startswith(b"@@ ", at):
        end = hunks.find(b"\n", at) + 1 or len(hunks)
        line = hunks[at:end]
        at = end
        if line == _NO_NEWLINE:
            for side in sides:
                side[-1] = side[-1].removesuffix(b"\n")
            continue
        sides = {b" ": (before, after), b"-": (before,), b"+": (after,)}.get(line[:1], ())
        if not sides:
            return None
        for side in sides:
            side.append(line[1:])
    return before, after, at


def _lines(content: bytes) -> list[bytes]:
    """Split after LF alone; the last line may have none."""
    parts = content.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
