"""The version that a base commit belongs to: "major.minor", as the field groups instances."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

UNKNOWN = "0.0"
FILES_READ_AT_MOST = 8

_NUMBER = re.compile(r"(?<!\d)(\d+)(?:[._](\d+))?")
METADATA_PATHS = ("pyproject.toml", "setup.cfg", "setup.py", "PKG-INFO")
_MODULES = ("__init__.py", "__version__.py", "_version.py", "version.py", "__about__.py")
_ASSIGNED = re.compile(
    r"^[ \t]*(?:__version__|version|VERSION|Version)[ \t]*(?::[ \t]*str[ \t]*)?[=:]"
    r"[ \t]*['\"]?v?(\d+)\.(\d+)",
    re.MULTILINE,
)


def version_of_tag(tag: str) -> str | None:
    """ "8.1" for "v8.1.7", "release-8.1" or "8_1_0"; "3.0" for "v3"."""
    found = _NUMBER.search(tag)
    return f"{int(found[1])}.{int(found[2] or 0)}" if found else None


def module_paths(paths: Sequence[str]) -> tuple[str, ...]:
    """Which modules may say the version, the shortest paths first."""
    modules = [
        path
        for path in paths
        if PurePosixPath(path).name in _MODULES and len(PurePosixPath(path).parts) in (2, 3)
    ]
    modules.sort(key=lambda path: (len(PurePosixPath(path).parts), path))
    return tuple(modules[:FILES_READ_AT_MOST])


def version_of_files(texts: Mapping[str, str], *, paths: Sequence[str]) -> str:
    """The first literal version in those of `paths` that are there; UNKNOWN when there is none."""
    for path in paths:
        found = _ASSIGNED.search(texts.get(path, ""))
        if found is not None:
            return f"{int(found[1])}.{int(found[2])}"
    return UNKNOWN
