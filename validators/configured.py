"""What pytest's configuration in the final state names: plug-ins, settings, files of variables, and
folders to import from. Pure.

A plug-in that options name is imported before our reporter, and a fixture of one is as much a part
of the tests as that of a conftest. So are the settings by which Django's tests run.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from posixpath import normpath

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
_SETTINGS = re.compile(
    r"DJANGO_SETTINGS_MODULE[\"'](?:\]\s*=|\s*,)\s*[\"'](?P<module>[A-Za-z_][\w.]*)[\"']"
)
_MODULE = re.compile(r"[\"']([A-Za-z_][\w.]*)[\"']")


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """`plugins` are modules with slashes for their dots, settings among them, `early` those of them
    that `-p` names; `files` and `folders` are in the tree."""

    plugins: tuple[str, ...] = ()
    early: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def configured(files: Mapping[str, str], conftests: str) -> Configured:
    """What these configuration files (path → text) and conftests (all their text) name.

    All files count, though pytest takes the first that configures it.
    """
    early: list[str] = []
    settings: list[str] = []
    folders: list[str] = []
    variables: list[str] = []
    for path, text in files.items():
        options = pytest_options(path, text)
        given = _words(options.get("addopts"))
        early += plugins_in(given)
        settings += _settings_in(given)
        settings += _words(options.get("DJANGO_SETTINGS_MODULE"))
        folder = PurePosixPath(path).parent
        folders += (str(folder / each) for each in _words(options.get("pythonpath")))
        variables += (normpath(str(folder / each)) for each in _words(options.get("env_files")))
    modules = (*settings, *_plugins_of(conftests), *_settings_of(conftests))
    return Configured(
        plugins=tuple(dict.fromkeys([*early, *(each.replace(".", "/") for each in modules)])),
        early=tuple(dict.fromkeys(early)),
        files=tuple(dict.fromkeys(variables)),
        folders=tuple(dict.fromkeys(folders)),
    )


def plugins_in(options: Sequence[str]) -> Iterator[str]:
    """Modules, with slashes, that pytest's options load as plug-ins."""
    for word, following in pairwise([*options, ""]):
        name = following if word == "-p" else word[2:] if word.startswith("-p") else ""
        if name and not name.startswith("no:"):
            yield name.replace(".", "/")


def _settings_in(options: Sequence[str]) -> Iterator[str]:
    for word, following in pairwise([*options, ""]):
        option, _, value = word.partition("=")
        if option == "--ds" and (value or following):
            yield value or following


def _plugins_of(conftests: str) -> Iterator[str]:
    for found in _PLUGINS.finditer(conftests):
        yield from _MODULE.findall(found["tuple"] or found["list"] or found["one"] or "")


def _settings_of(conftests: str) -> Iterator[str]:
    for found in _SETTINGS.finditer(conftests):
        yield found["module"]


def _words(value: object) -> Sequence[str]:
    if isinstance(value, str):
        return words(value)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
