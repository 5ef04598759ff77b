"""What an isolated build of a project asks the index for, as far as its files say. Pure.

A back-end may ask for more when it builds. What is known here bounds the versions of what it gets:
a name too many does no harm.
"""

from collections.abc import Mapping, Sequence

from packaging.requirements import InvalidRequirement, Requirement

from validators.languages.python.manifest import read_manifest
from validators.languages.python.requirement_files import requirement_name

_READ = ("pyproject.toml", "setup.cfg", "setup.py")
_USUAL = ("setuptools>=40.8",)
"""What installers take where a project says nothing."""

_ASKED_FOR = {
    "setuptools": ("wheel",),
    "hatchling": ("editables",),
    "pdm-backend": ("editables",),
}
"""What these ask for when they build a wheel, or one for editing."""


def build_tools(files: Mapping[str, bytes]) -> Sequence[str]:
    """Requirements of the isolated build of a tree of these files. None is an address."""
    texts = {path: files[path].decode("utf-8", "replace") for path in _READ if path in files}
    manifest = read_manifest(texts)
    requires = (*(manifest.build_requires or _USUAL), *manifest.setup_requires)
    named = tuple(line for line in dict.fromkeys(requires) if _is_of_index(line))
    names = {requirement_name(line) for line in named}
    asked = (each for name, more in _ASKED_FOR.items() if name in names for each in more)
    return (*named, *(name for name in dict.fromkeys(asked) if name not in names))


def _is_of_index(line: str) -> bool:
    try:
        return Requirement(line).url is None
    except InvalidRequirement:
        return False
