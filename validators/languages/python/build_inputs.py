"""Which of a tree's files shape what an install of the project leaves behind."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from validators.languages.python.requirement_files import is_requirement_file

_NAMES = frozenset(
    [
        *("pyproject.toml", "setup.py", "setup.cfg", "MANIFEST.in", "versioneer.py", "PKG-INFO"),
        *("hatch_build.py", "build.py", "_build.py", "CMakeLists.txt", "meson.build"),
        *("Cargo.toml", "Cargo.lock", "pdm_build.py", "pbr.json", "flit.ini"),
    ]
)
_VERSION = re.compile(r"(.*/)?(_*version_*|_*about_*|_*meta(data)?_*)(\.(py|txt))?", re.IGNORECASE)
_DECLARES = re.compile(rb"^\+\+\+ (?:b/)?\"?([^\t\n\"]+)", re.MULTILINE)


def build_inputs(paths: Iterable[str]) -> Sequence[str]:
    """Files whose text an install reads: build scripts, requirements, versions."""
    return tuple(
        path
        for path in sorted(paths)
        if path in _NAMES or is_requirement_file(path) or _VERSION.fullmatch(path)
    )


def packages_of(paths: Iterable[str]) -> Sequence[str]:
    """Top-level packages and modules in the root and in `src`: an editable install lists them."""
    found = set()
    for path in map(PurePosixPath, paths):
        parts = path.parts[1:] if path.parts[:1] in {("src",), ("lib",)} else path.parts
        if path.suffix == ".py" and parts:
            found.add(parts[0])
    return tuple(sorted(found))


def declare_dependencies(patch: bytes) -> bool:
    """Whether a patch touches a file that declares dependencies."""
    touched = (match.decode("utf-8", "replace") for match in _DECLARES.findall(patch))
    return any(
        path in {"pyproject.toml", "setup.py", "setup.cfg"} or is_requirement_file(path)
        for path in touched
    )
