"""Compiled modules of a tree, brought along so that repeated runs do not compile them again.

Python checks bytecode by its source's modification time in seconds and by its size alone. So in
every run a file's time says what is in it: an unchanged file has that of the tree's tar, a patched
module one that is made from the patches that touch it (`stamps`). Only what names such a time is
kept, and it is brought only where the file has the same time again: the bytecode of one state
never serves another.
"""

import hashlib
import io
import struct
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import PurePosixPath
from time import time

from validators.archive import guests_members, pack
from validators.engine import END_GUEST, TREE, Container
from validators.model import Tree
from validators.patching import touched_paths

_PATTERN = "*/__pycache__/*.pyc"
_FOLDER = f".{TREE}"  # how the engine names what it packs
_LARGEST_MB = 16
_RUNS = 2
"""Taken from so many runs, the first before and the first after the fix."""

_STAMPS_S = 1_000_000
"""Times of patched modules are from the twelve days after the commit.

Not from before it: what a project makes of a module when that is newer, it would not make again.
"""

_END_S = 30.0
_EARLIEST_S = 315_532_800  # zip archives know nothing before 1980
_HOUR_S = 3600


def stamps(tree: Tree, patches: Sequence[bytes]) -> Mapping[str, int]:
    """Modification time, in seconds, of each Python file that the patches touch.

    The same wherever the same patches touch it in the same tree, so that its content is the same.
    Later than that of every unchanged file, as in a checkout to which patches are applied, and
    past: a commit too young for that gets none, and bytecode of what is patched is not kept.
    Older than other patched files: only for trees of which nothing is built after patching.
    """
    committed_s = int(tree.committed_at.timestamp())
    if not _EARLIEST_S <= committed_s < time() - _STAMPS_S - _HOUR_S:
        return {}
    touching: dict[str, list[bytes]] = {}
    for patch in patches:
        for path in touched_paths(patch):
            if path.endswith(".py"):
                touching.setdefault(path, []).append(patch)
    delays: dict[tuple[bytes, ...], int] = {}
    for found in touching.values():
        if tuple(found) not in delays:
            digest = hashlib.sha256(b"\0".join([tree.commit.encode(), *found])).digest()
            delays[tuple(found)] = int.from_bytes(digest[:8]) % _STAMPS_S
    return {path: committed_s + 1 + delays[tuple(found)] for path, found in touching.items()}


class Bytecode:
    """What the first runs of a tree compiled; empty until then, and when there was too much."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._kept: dict[tuple[str, int], bytes] = {}
        self._looked = 0

    def tar(self, patches: Sequence[bytes]) -> bytes:
        """What is known of the tree with these patches on; no byte when that is nothing."""
        if not self._kept:
            return b""
        times = self._of(patches)
        return pack(
            {
                name: code
                for (name, time_s), code in self._kept.items()
                if times.get(_source(name)) == time_s
            }
        )

    def collect(self, container: Container, patches: Sequence[bytes]) -> None:
        """Take from a container in which the tests have run with these patches on."""
        if self._looked == _RUNS:
            return
        self._looked += 1
        # What the tests left running could write into what is read here, or hold it up.
        container.exec(END_GUEST, timeout_s=_END_S)
        found = container.get(TREE, limit_mb=_LARGEST_MB, only=_PATTERN)
        if found is not None:
            self._kept |= _belonging(found, self._of(patches))

    def _of(self, patches: Sequence[bytes]) -> Mapping[str, int]:
        """Path → modification time of the files that have a known one with these patches on."""
        return {**self._times, **stamps(self._tree, patches)}

    @cached_property
    def _times(self) -> Mapping[str, int]:
        """Path → modification time in whole seconds, of every regular file."""
        with tarfile.open(fileobj=io.BytesIO(self._tree.tar)) as archive:
            return {
                member.name.removeprefix("./"): int(member.mtime)
                for member in archive
                if member.isfile()
            }


def _belonging(packed: bytes, times: Mapping[str, int]) -> Mapping[tuple[str, int], bytes]:
    """Of a tar of bytecode, what was compiled from files as they should be; by name and time."""
    kept = {}
    with suppress(tarfile.TarError):  # a guest's own output: nothing of it is needed
        for path, code in guests_members(packed):
            name = path.removeprefix(f"{_FOLDER}/")
            time_s = times.get(_source(name))
            if code is not None and time_s is not None and _is_of(code, time_s):
                kept[name, time_s] = code
    return kept


def _source(name: str) -> str:
    """`a/__pycache__/b.cpython-312.pyc` is compiled from `a/b.py`; empty for another name."""
    path = PurePosixPath(name)
    if path.parent.name != "__pycache__" or path.suffix != ".pyc":
        return ""
    stem = path.name.partition(".")[0]
    return str(path.parent.parent / f"{stem}.py").removeprefix("./")


def _is_of(code: bytes, modified_at: int) -> bool:
    """The header names this time: after the magic number and, since Python 3.7, flags of zero."""
    if len(code) < 16:
        return False
    first, second = struct.unpack("<II", code[4:12])
    return modified_at in {first, second if first == 0 else first}
