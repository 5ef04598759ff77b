"""The files of a commit as a tar: same commit, same bytes, on every machine."""

import io
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from miner.errors import BadItemError
from miner.git.change import split_nul, text

TREE_LIMIT_MB = 512
_EARLIEST_S = 315_532_800  # 1980: zip knows nothing older, and wheels are zips


class UnusableTreeError(BadItemError):
    """No container can be given this tree, on whatever machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """One path of a commit: a file, a symlink ("120000") or a submodule ("160000")."""

    path: str
    mode: str
    blob: str
    size: int = 0


def parse_entries(output: bytes) -> tuple[TreeEntry, ...]:
    """Read `ls-tree -r -l -z`."""
    entries = []
    for record in split_nul(output):
        meta, path = record.split(b"\t", 1)
        mode, _, blob, size = meta.decode().split()
        entries.append(
            TreeEntry(path=text(path), mode=mode, blob=blob, size=0 if size == "-" else int(size))
        )
    return tuple(entries)


def tree_names(content: bytes, *, oid_bytes: int) -> frozenset[str]:
    """The names in a tree object, one folder's."""
    names, at = [], 0
    while at < len(content):
        end = content.index(b"\0", at)
        names.append(text(content[at:end].partition(b" ")[2]))
        at = end + 1 + oid_bytes
    return frozenset(names)


def check(entries: Sequence[TreeEntry]) -> None:
    """UnusableTreeError for trees too large to hand out or with paths that leave their folder."""
    size = sum(entry.size for entry in entries)
    if size > TREE_LIMIT_MB * 1024 * 1024:
        raise UnusableTreeError(
            f"The tree has {size // 1024 // 1024} MB of files; more than {TREE_LIMIT_MB} MB "
            "are not handed to a container."
        )
    for entry in entries:
        for part in entry.path.split("/"):
            if part in ("", ".", "..") or part.lower() == ".git":
                raise UnusableTreeError(f"The tree has the unsafe path {entry.path!r}.")


def pack(
    entries: Sequence[TreeEntry], *, read: Callable[[str], bytes], committed_at: datetime
) -> bytes:
    """A GNU tar (its long names are raw bytes) of `entries` with their folders, sorted.

    Submodules are empty folders. Owner is 0, every time is the commit's.
    """
    mtime = max(int(committed_at.timestamp()), _EARLIEST_S)
    made: set[str] = set()
    stream = io.BytesIO()
    with tarfile.open(
        fileobj=stream,
        mode="w",
        format=tarfile.GNU_FORMAT,
        encoding="utf-8",
        errors="surrogateescape",
    ) as tar:
        for entry in sorted(entries, key=lambda each: each.path):
            for folder in _folders(entry):
                if folder not in made:
                    made.add(folder)
                    tar.addfile(_member(folder, tarfile.DIRTYPE, 0o755, mtime))
            _add(tar, entry, read=read, mtime=mtime)
    return stream.getvalue()


def _folders(entry: TreeEntry) -> list[str]:
    """The folders above an entry, outermost first, and a submodule's own."""
    parts = entry.path.split("/")
    if entry.mode != "160000":
        parts = parts[:-1]
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]


def _add(
    tar: tarfile.TarFile, entry: TreeEntry, *, read: Callable[[str], bytes], mtime: int
) -> None:
    if entry.mode == "160000":
        return
    content = read(entry.blob)
    if entry.mode == "120000":
        link = _member(entry.path, tarfile.SYMTYPE, 0o777, mtime)
        link.linkname = text(content)
        tar.addfile(link)
        return
    mode = 0o755 if entry.mode == "100755" else 0o644
    member = _member(entry.path, tarfile.REGTYPE, mode, mtime)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def _member(path: str, kind: bytes, mode: int, mtime: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.type, member.mode, member.mtime = kind, mode, mtime
    return member
