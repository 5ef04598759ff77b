"""Compiled modules of a tree, brought along so that repeated runs do not compile them again.

Only what belongs to an unchanged file of the tree is kept: its recorded modification time must be
the tar's. What a patch touched has another time in every run, and Python checks it by seconds and
size alone, so such bytecode never leaves its run.
"""

import io
import struct
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from validators.engine import TREE, Container
from validators.model import Tree

_PATTERN = "*/__pycache__/*.pyc"
_FOLDER = f".{TREE}"  # how the engine names what it packs
_LARGEST_MB = 16
_RUNS = 2
"""Taken from so many runs: where the first could not import much, the second may have."""


@dataclass(slots=True)
class Bytecode:
    """What the first runs of a tree compiled; empty until then, and when there was too much."""

    tar: bytes = b""
    files: int = 0
    looked: int = 0

    def collect(self, container: Container, tree: Tree) -> None:
        """Take from a container in which the tests have run, where that gives more than before."""
        if self.looked == _RUNS:
            return
        self.looked += 1
        found = container.get(TREE, limit_mb=_LARGEST_MB, only=_PATTERN)
        if found is not None:
            kept, files = _belonging(found, _times(tree))
            if files > self.files:
                self.tar, self.files = kept, files


def _times(tree: Tree) -> Mapping[str, int]:
    """Path → modification time in whole seconds, of every regular file."""
    with tarfile.open(fileobj=io.BytesIO(tree.tar)) as archive:
        return {
            member.name.removeprefix("./"): int(member.mtime)
            for member in archive
            if member.isfile()
        }


def _belonging(packed: bytes, times: Mapping[str, int]) -> tuple[bytes, int]:
    """Of a tar of bytecode, what was compiled from files that are as in the tree; how many."""
    kept, files = io.BytesIO(), 0
    try:
        with (
            tarfile.open(fileobj=io.BytesIO(packed)) as archive,
            tarfile.open(fileobj=kept, mode="w") as out,
        ):
            for member in archive:
                content = archive.extractfile(member) if member.isfile() else None
                if content is None:
                    continue
                code = content.read()
                member.name = member.name.removeprefix(f"{_FOLDER}/")
                if _is_of(code, times.get(_source(member.name))):
                    out.addfile(member, io.BytesIO(code))
                    files += 1
    except tarfile.TarError:  # a guest's own output: nothing of it is needed
        return b"", 0
    return kept.getvalue(), files


def _source(name: str) -> str:
    """`a/__pycache__/b.cpython-312.pyc` is compiled from `a/b.py`."""
    path = PurePosixPath(name)
    stem = path.name.partition(".")[0]
    return str(path.parent.parent / f"{stem}.py").removeprefix("./")


def _is_of(code: bytes, modified_at: int | None) -> bool:
    """The header names this time: after the magic number and, since Python 3.7, flags of zero."""
    if modified_at is None or len(code) < 16:
        return False
    first, second = struct.unpack("<II", code[4:12])
    return modified_at in {first, second if first == 0 else first}
