"""Tars for containers, which `Container.put` unpacks, and tars out of them. Pure."""

import io
import tarfile
from collections.abc import Iterable, Iterator, Mapping


def pack(files: Mapping[str, bytes], *, mode: int = 0o644, folders: Iterable[str] = ()) -> bytes:
    """A tar of path → content, all with that mode.

    `folders` are in it with a mode that anyone can read through; others are made as they are
    needed, and those that are there stay as they are. Paths are as in a patch (surrogateescape).
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", errors="surrogateescape") as tar:
        for folder in folders:
            member = tarfile.TarInfo(folder)
            member.type, member.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(member)
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(content), mode
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def guests_members(packed: bytes) -> Iterator[tuple[str, bytes | None]]:
    """Names of a tar that a guest may have made, each with the content of a plain file, or None.

    Contents together are never longer than the tar: nothing is decompressed, and a file with holes
    (whose length is only claimed) counts as no plain one. Raises tarfile.TarError where it cannot
    be read, whatever tarfile raises there.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as tar:
            for member in tar:
                yield member.name, _content(tar, member, room=len(packed))
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        message = f"the tar cannot be read: {type(error).__name__}"
        raise tarfile.ReadError(message) from error


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo, *, room: int) -> bytes | None:
    plain = member.type in {tarfile.REGTYPE, tarfile.AREGTYPE} and not member.issparse()
    if not plain or not 0 <= member.size <= room:
        return None
    opened = tar.extractfile(member)
    return None if opened is None else opened.read()
