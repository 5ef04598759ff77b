"""git's index file with a few entries, written and read without a process (gitformat-index, v2)."""

import hashlib
import struct
from collections.abc import Mapping

_HEAD = struct.Struct(">4sII")
_STAT = struct.Struct(">10I")
_NAME_LENGTH = 0xFFF

Entries = Mapping[bytes, tuple[str, str]]
"""Path → (octal mode, object id)."""


def write(entries: Entries) -> bytes:
    """An index with these entries and no stat data; git looks at content when in doubt."""
    parts = [_HEAD.pack(b"DIRC", 2, len(entries))]
    size = 20
    for path, (mode, oid) in sorted(entries.items()):
        name = bytes.fromhex(oid)
        size = len(name)
        head = _STAT.pack(0, 0, 0, 0, 0, 0, int(mode, 8), 0, 0, 0) + name
        flags = struct.pack(">H", min(len(path), _NAME_LENGTH))
        entry = head + flags + path
        parts.append(entry + b"\0" * (8 - len(entry) % 8))
    content = b"".join(parts)
    if size == 20:
        return content + hashlib.sha1(content, usedforsecurity=False).digest()
    return content + hashlib.sha256(content).digest()


def read(content: bytes, *, oid_bytes: int = 20) -> dict[bytes, tuple[str, str]]:
    """The entries of an index. ValueError for another version than 2."""
    signature, version, count = _HEAD.unpack_from(content)
    if (signature, version) != (b"DIRC", 2):
        raise ValueError(f"An index of version {version} cannot be read.")
    found, at = {}, _HEAD.size
    for _ in range(count):
        mode = _STAT.unpack_from(content, at)[6]
        oid = content[at + _STAT.size : at + _STAT.size + oid_bytes].hex()
        name_at = at + _STAT.size + oid_bytes + 2
        end = content.index(b"\0", name_at)
        found[content[name_at:end]] = (f"{mode:06o}", oid)
        length = end - at
        at += length + 8 - length % 8
    return found
