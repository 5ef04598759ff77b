"""Looks for words in all files that a container's process can read; prints the paths.

Run in containers, as `python - WORD…`: standard library only. What is packed is looked at unpacked.
"""

import gzip
import io
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

KERNELS = {b"/proc", b"/sys", b"/dev"}


def parts(content: bytes) -> Iterator[bytes]:
    """A file as it is, and what is packed in it: zip, gzip, git's objects."""
    yield content
    try:
        if content.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                for each in archive.infolist():
                    yield each.filename.encode()
                    yield archive.read(each)
        elif content.startswith(b"\x1f\x8b"):
            yield gzip.decompress(content)
        elif content.startswith(b"\x78"):
            yield zlib.decompress(content)
    except (zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError):
        return  # it only looks packed


def has_one(path: bytes, words: tuple[bytes, ...]) -> bool:
    """Whether a word is in a file's content, or in a link's target."""
    if os.path.islink(path):  # noqa: PTH114 - names are bytes
        content = [os.readlink(path)]  # noqa: PTH115
    elif os.path.isfile(path) and os.access(path, os.R_OK):  # noqa: PTH113
        content = list(parts(Path(os.fsdecode(path)).read_bytes()))
    else:
        content = []
    return any(word in part for part in content for word in words)


def found(words: tuple[bytes, ...]) -> Iterator[bytes]:
    """Paths of files, folders and links with a word in their name or in what they hold."""
    for folder, folders, files in os.walk(b"/"):
        folders[:] = [name for name in folders if folder + name not in KERNELS]
        for name in (*folders, *files):
            path = os.path.join(folder, name)  # noqa: PTH118
            if any(word in name for word in words) or has_one(path, words):
                yield path


if __name__ == "__main__":
    for hit in found(tuple(map(os.fsencode, sys.argv[1:]))):
        sys.stdout.write(f"{hit!r}\n")
