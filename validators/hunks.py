"""Single hunks of a patch: how many there are, and the patch without one of them. Pure, bytes."""

import re

from validators.patching import file_patch
from validators.unified import FileDiff, file_diffs

_WHOLE = re.compile(rb"new file|deleted file|rename |copy |GIT binary|Binary ")


def hunk_paths(patch: bytes) -> tuple[str, ...]:
    """The path of the file of each piece that can be left out, in order.

    Pieces are hunks, and whole files that are added, deleted or moved.
    """
    return tuple(
        path
        for each in file_diffs(patch)
        for path in file_patch(each).paths[-1:] or ("",)
        for _ in range(_pieces(each))
    )


def without_hunk(patch: bytes, number: int) -> bytes:
    """The patch without its piece `number`, from 0. Other pieces keep their line numbers."""
    kept: list[bytes] = []
    at = 0
    for each in file_diffs(patch):
        size = _pieces(each)
        left_out = number - at
        at += size
        if size == 1 and left_out == 0:
            continue
        kept += each.head
        kept += [
            hunk.text for place, hunk in enumerate(each.hunks) if size == 1 or place != left_out
        ]
    return b"".join(kept)


def _pieces(diff: FileDiff) -> int:
    """Added, deleted, renamed or binary: left out as one piece."""
    is_whole = not diff.hunks or any(_WHOLE.match(line) for line in diff.head)
    return 1 if is_whole else len(diff.hunks)
