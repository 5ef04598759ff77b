"""What git says of the files changed between two commits."""

from collections.abc import Iterator
from dataclasses import dataclass, field

_SUBMODULE = "16"


@dataclass(frozen=True, slots=True, kw_only=True)
class RawChange:
    """One changed file. Paths are git's bytes, decoded as UTF-8 with surrogateescape.

    `status`: A added, M modified (content or mode), D deleted, R renamed, T another kind of file
    (a file that became a symlink …). `additions` and `deletions` are None for what git calls
    binary. `old_path` differs from `path` for renames only. Modes are git's octal strings.
    """

    status: str
    path: str
    old_path: str
    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str
    additions: int | None
    deletions: int | None

    @property
    def is_binary(self) -> bool:
        """git shows no lines of it."""
        return self.additions is None

    @property
    def is_submodule(self) -> bool:
        """Before or after, the path is a commit of another repository."""
        return _SUBMODULE in (self.old_mode[:2], self.new_mode[:2])

    @property
    def sections(self) -> int:
        """Its `diff --git` sections: another kind of file is a removal and a new one."""
        return 2 if self.status == "T" else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The changed files of two commits and git's own diff of them, in the same order."""

    changes: tuple[RawChange, ...]
    diff: bytes = field(repr=False)


def parse(output: bytes) -> tuple[tuple[RawChange, ...], bytes]:
    """Read `--raw -z --numstat [-p]`: the changes, and what follows them (the patch text)."""
    fields, raws = _Fields(output), []
    while fields.at(b":"):
        raws.append(_raw(fields))
    changes = tuple(_counted(raw, fields) for raw in raws)
    rest = fields.rest()
    return changes, rest.removeprefix(b"\0")


class _Fields:
    """NUL-terminated fields, one after the other."""

    def __init__(self, output: bytes) -> None:
        self._output = output
        self._at = 0

    def at(self, prefix: bytes) -> bool:
        return self._output.startswith(prefix, self._at)

    def next(self) -> bytes:
        end = self._output.index(b"\0", self._at)
        found = self._output[self._at : end]
        self._at = end + 1
        return found

    def rest(self) -> bytes:
        return self._output[self._at :]


@dataclass(frozen=True, slots=True)
class _Raw:
    status: str
    modes: tuple[str, str]
    blobs: tuple[str, str]
    old_path: str
    path: str


def _raw(fields: _Fields) -> _Raw:
    """One `:oldmode newmode oldblob newblob status` record with its one or two paths."""
    old_mode, new_mode, old_blob, new_blob, status = fields.next()[1:].decode().split(" ")
    old_path = path = text(fields.next())
    if status[0] in "RC":
        path = text(fields.next())
    return _Raw(status, (old_mode, new_mode), (old_blob, new_blob), old_path, path)


def _counted(raw: _Raw, fields: _Fields) -> RawChange:
    """A raw record with the counts of its numstat record (they come in the same order)."""
    added, deleted, path = fields.next().split(b"\t", 2)
    if not path:  # a rename: both paths follow
        fields.next()
        path = fields.next()
    if text(path) != raw.path:
        raise ValueError(f"git lists {raw.path!r} and counts {text(path)!r} at the same place")
    return RawChange(
        status=raw.status[0],
        path=raw.path,
        old_path=raw.old_path,
        old_mode=raw.modes[0],
        new_mode=raw.modes[1],
        old_blob=raw.blobs[0],
        new_blob=raw.blobs[1],
        additions=None if added == b"-" else int(added),
        deletions=None if deleted == b"-" else int(deleted),
    )


def text(path: bytes) -> str:
    """A path of git's as str; `os.fsencode`-like round trip, whatever this machine's locale."""
    return path.decode("utf-8", "surrogateescape")


def raw_bytes(path: str) -> bytes:
    """The bytes of a path made by `text`."""
    return path.encode("utf-8", "surrogateescape")


def split_nul(output: bytes) -> Iterator[bytes]:
    """The fields of a NUL-terminated list."""
    yield from output.split(b"\0")[:-1]
