"""Which files and modules a test command names by its options and its variables: pure.

Configuration, plug-ins and settings, which decide how tests run as much as any conftest does.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from posixpath import normpath

from validators.engine import TREE
from validators.languages.python.documents import words

PYTEST = ("pytest", "py.test")
"""How words of a test command end that start pytest."""

_OPTION = re.compile(
    r"-(?P<short>[cp])(?P<joined>.+)?"
    r"|--(?P<long>config-file|rcfile|cov-config|ds|settings)(=(?P<value>.+))?",
    re.DOTALL,
)
_DISCOVERY = re.compile(r"(-[st]|--(start|top-level)-directory)(=?(?P<value>.+))?")
_NAME_FILES = frozenset({"c", "config-file", "rcfile", "cov-config"})
_ASSIGNMENT = re.compile(r"(?P<name>\w+)=(?P<value>.*)", re.DOTALL)
_OPTIONS_OF_PYTEST = "PYTEST_ADDOPTS"
_OF_FILES = frozenset({"COVERAGE_RCFILE", "COVERAGE_PROCESS_START", "BASH_ENV"})
_OF_MODULES = frozenset({"DJANGO_SETTINGS_MODULE", "PYTEST_PLUGINS"})


@dataclass(frozen=True, slots=True)
class _Name:
    """A path as it was written, or a module with dots."""

    value: str
    is_file: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """`files` are paths in the tree, `modules` have slashes for their dots and no ending."""

    files: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()


def named(test_cmd: str, env_vars: Sequence[tuple[str, str]]) -> Named:
    """What the command's own words name (`-c x.ini`, `-px.y`, `--ds=x.y`, `NAME=value`), and the
    variables that it is given."""
    names = [*_of_words(words(test_cmd), runs_pytest=False)]
    for name, value in env_vars:
        names += _of_variable(name, value)
    files = (normpath(each.value.removeprefix(f"{TREE}/")) for each in names if each.is_file)
    modules = (each.value.replace(".", "/") for each in names if not each.is_file)
    return Named(files=frozenset(filter(_is_inside, files)), modules=frozenset(modules))


def _is_inside(path: str) -> bool:
    """`-c /dev/null` names nothing of the tree."""
    return path.partition("/")[0] not in {"", ".", ".."}


def folders(test_cmd: str) -> frozenset[str]:
    """Folders, as they are written, from which the command's tests are imported: where it goes
    to first, and where unittest's discovery starts."""
    given = words(test_cmd)
    found = set()
    for word, following in pairwise([*given, ""]):
        option = _DISCOVERY.fullmatch(word)
        if option is not None and "discover" in given:
            found.add(option["value"] or following)
        elif word in {"cd", "discover"} and following and not following.startswith("-"):
            found.add(following)
    return frozenset(found)


def _of_words(words: Sequence[str], *, runs_pytest: bool) -> Iterator[_Name]:
    """`-c` and `-p` are Python's own until pytest is named."""
    for word, following in pairwise([*words, ""]):
        runs_pytest = runs_pytest or word.endswith(PYTEST)
        if (assigned := _ASSIGNMENT.fullmatch(word)) is not None:
            yield from _of_variable(assigned["name"], assigned["value"])
        found = _OPTION.fullmatch(word)
        if found is None or (found["short"] and not runs_pytest):
            continue
        name = found["short"] or found["long"]
        value = found["joined"] or found["value"] or following
        yield _Name(value, name in _NAME_FILES)


def _of_variable(name: str, value: str) -> Iterator[_Name]:
    if name in _OF_FILES:
        yield _Name(value, is_file=True)
    elif name in _OF_MODULES:
        yield from (_Name(each.strip(), is_file=False) for each in value.split(","))
    elif name == _OPTIONS_OF_PYTEST:
        given = (word for word in words(value) if not word.startswith(f"{_OPTIONS_OF_PYTEST}="))
        yield from _of_words([*given], runs_pytest=True)
