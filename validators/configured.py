"""What pytest's configuration in the final state names: plug-ins, and folders to import from. Pure.

A plug-in that options name is imported before our reporter, and a fixture of one is as much a part
of the tests as that of a conftest.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

from validators.languages.python.documents import words
from validators.sections import pytest_options

CONFIGURATIONS = (
    *("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"),
    *("pyproject.toml", "tox.ini", "setup.cfg"),
)
"""Where pytest looks in the folder that it starts in."""

_PLUGINS = re.compile(
    r"^pytest_plugins\b[^=\n]*=\s*"
    r"(?:\((?P<tuple>[^)]{,9999})\)|\[(?P<list>[^\]]{,9999})\]|(?P<one>.*))",
    re.MULTILINE,
)
_MODULE = re.compile(r"[\"']([A-Za-z_][\w.]*)[\"']")


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """`plugins` are modules with slashes for their dots, `early` those of them that options name;
    `folders` are in the tree."""

    plugins: tuple[str, ...] = ()
    early: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def configured(files: Mapping[str, str], conftests: str) -> Configured:
    """What these configuration files (path → text) and conftests (all their text) name.

    All files count, though pytest takes the first that configures it.
    """
    early: list[str] = []
    folders: list[str] = []
    for path, text in files.items():
        options = pytest_options(path, text)
        early += plugins_in(_words(options.get("addopts")))
        folder = PurePosixPath(path).parent
        folders += (str(folder / each) for each in _words(options.get("pythonpath")))
    named = (each.replace(".", "/") for each in _plugins_of(conftests))
    return Configured(
        plugins=tuple(dict.fromkeys([*early, *named])),
        early=tuple(dict.fromkeys(early)),
        folders=tuple(dict.fromkeys(folders)),
    )


def plugins_in(options: Sequence[str]) -> Iterator[str]:
    """Modules, with slashes, that pytest's options load as plug-ins."""
    for word, following in pairwise([*options, ""]):
        name = following if word == "-p" else word[2:] if word.startswith("-p") else ""
        if name and not name.startswith("no:"):
            yield name.replace(".", "/")


def _plugins_of(conftests: str) -> Iterator[str]:
    for found in _PLUGINS.finditer(conftests):
        yield from _MODULE.findall(found["tuple"] or found["list"] or found["one"] or "")


def _words(value: object) -> Sequence[str]:
    if isinstance(value, str):
        return words(value)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
