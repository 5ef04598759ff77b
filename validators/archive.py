"""A tar of files for a container: `Container.put` unpacks it. Pure."""

import io
import tarfile
from collections.abc import Iterable, Mapping


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
