"""Does a file's part of a diff make of its old content exactly the new one? Told without git for
plain text files, which nearly all are.

A plain part names its file without quotes, changes lines and no mode, and every hunk stands at its
line number. What is not plain (renames, modes, links, binary files, odd names) is left to git.
"""

import hashlib
import re

from miner.git import RawChange
from miner.split.patch import Section
from validators.unified import applied, file_diffs

_FILE_MODES = ("100644", "100755")
_PLAIN_PATH = re.compile(r"[^\x00-\x20\"\\\x7f\ud800-\udfff]+")
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
    diffs = file_diffs(section.text)
    if len(diffs) != 1 or b"".join(diffs[0].head) != _head(change):
        return False
    made = applied(old, diffs[0].hunks)
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
