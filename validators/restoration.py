"""What of a model's patch is put back before its tests are run: pure rules, by path and section.

Restored to base + test patch + gold are test files, every file that configures how tests run, and
the test sections of shared configuration. Removed is what the patch adds at such places, and what
would shadow the runner, the standard library or an installed package. What remains is the model's.
"""

import configparser
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from validators.languages.base import FileClass, Language

CONFIGURATION = frozenset(
    [
        "conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
        "sitecustomize.py",
        "usercustomize.py",
        ".coveragerc",
        ".env",
    ]
)
"""Files that change what a test run does, wherever they lie."""

SHARED = frozenset(["pyproject.toml", "setup.cfg", "tox.ini"])
"""Files of which only the test sections are put back."""

_PLUGIN_FOLDER = re.compile(r".+\.(egg-info|dist-info)")
_INI_SECTION = re.compile(r"(tool:)?pytest|nosetests|unittest|coverage:.*")
_TOML_TABLES = (("tool", "pytest"), ("project", "entry-points", "pytest11"))
_HEADER = re.compile(r"^\[{1,2}\s*([^\]]+?)\s*\]{1,2}\s*(#.*)?$")
_RUNNER = frozenset(["pytest", "_pytest", "pluggy", "py", "iniconfig", "unittest", "django"])
_ROOTS = ("", "src", "lib", "python")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One path on which the model's tree and the final state differ.

    `in_model` and `in_final` say where it exists.
    """

    path: str
    in_model: bool
    in_final: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do in the model's tree, in this order: remove, restore, merge. Paths are sorted."""

    remove: tuple[str, ...] = ()
    restore: tuple[str, ...] = ()
    merge: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the rules need to know: the language, installed packages, the final state's paths.

    `installed` is what lies in site-packages: modules are often not called like their package.
    `source_paths` are the folders on the import path, relative to the tree.
    """

    language: Language
    packages: tuple[str, ...]
    installed: tuple[str, ...] = ()
    final_paths: frozenset[str]
    source_paths: tuple[str, ...] = ()


def plan(changes: Sequence[Change], surroundings: Surroundings) -> Plan:
    """Sort the differences between the model's tree and the final state."""
    remove: dict[str, str] = {}
    restore: list[str] = []
    merge: list[str] = []
    for change in sorted(changes, key=lambda each: each.path):
        if PurePosixPath(change.path).name in SHARED:
            merge.append(change.path)
        elif change.in_final and is_protected(change.path, surroundings.language):
            restore.append(change.path)
        elif not change.in_final and (reason := _unwanted(change.path, surroundings)):
            remove[change.path] = reason
    parents = {str(parent) for path in restore for parent in PurePosixPath(path).parents}
    for change in changes:  # a file or link where the tests need a folder
        if not change.in_final and change.path in parents:
            remove.setdefault(change.path, "stands where tests are")
    return Plan(
        remove=tuple(sorted(remove)),
        restore=tuple(restore),
        merge=tuple(merge),
        notes=(
            *(f"removed {path}: {reason}" for path, reason in sorted(remove.items())),
            *(f"restored {path}" for path in restore),
        ),
    )


def is_protected(path: str, language: Language) -> bool:
    """Test files and test configuration, by path."""
    pure = PurePosixPath(path)
    return (
        pure.name in CONFIGURATION
        or pure.suffix == ".pth"
        or any(_PLUGIN_FOLDER.fullmatch(part) for part in pure.parts)
        or language.classify(pure) is FileClass.TEST
    )


def _unwanted(path: str, surroundings: Surroundings) -> str | None:
    """Why a file that only the model has is removed, or None."""
    pure = PurePosixPath(path)
    if pure.name in CONFIGURATION or pure.suffix == ".pth":
        return "configures how tests run"
    if any(_PLUGIN_FOLDER.fullmatch(part) for part in pure.parts):
        return "declares plug-ins"
    if pure.suffix == ".pyc" or "__pycache__" in pure.parts:
        return "bytecode"
    if surroundings.language.classify(pure) is FileClass.TEST:
        return "stands at a test path"
    return _shadowed(path, surroundings)


def _shadowed(path: str, surroundings: Surroundings) -> str | None:
    """A new top-level module that hides one of the standard library's or of an installed one."""
    modules = _module_names(surroundings)
    for root in {*_ROOTS, *(each.strip("/.") for each in surroundings.source_paths)}:
        prefix = f"{root}/" if root else ""
        if not path.startswith(prefix):
            continue
        name = path[len(prefix) :].split("/", maxsplit=1)[0].split(".", maxsplit=1)[0]
        if name not in modules:
            continue
        known = (f"{prefix}{name}.", f"{prefix}{name}/")
        if not any(each.startswith(known) for each in surroundings.final_paths):
            return f"would shadow the module {name}"
    return None


def _module_names(surroundings: Surroundings) -> frozenset[str]:
    packages = {
        re.split(r"[=@<> \[]", line, maxsplit=1)[0].lower().replace("-", "_")
        for line in surroundings.packages
    }
    modules = {
        name.partition(".")[0]
        for name in surroundings.installed
        if not name.endswith((".dist-info", ".egg-info", ".pth", ".libs"))
    }
    return sys.stdlib_module_names | _RUNNER | packages | modules


def merged(name: str, *, model: str, final: str) -> str | None:
    """The model's text of a shared file with the final state's test sections.

    None when its test sections are the final state's already: then the file stays as it is. When
    sections cannot be told apart safely, the final state's text is taken whole.
    """
    sections = _toml_tables if name.endswith(".toml") else _ini_sections
    ours, wanted = sections(model), sections(final)
    if wanted is None:  # unreadable in the final state too: nothing is gained by touching it
        return None if ours is None else final
    if ours == wanted:
        return None
    mixed = _without_test_sections(model) + "\n" + _only_test_sections(final)
    return mixed if sections(mixed) == wanted else final


def _ini_sections(text: str) -> Mapping[str, Mapping[str, str]] | None:
    parser = configparser.RawConfigParser(strict=False, delimiters=("=", ":"), default_section="")
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    found = {name: dict(parser[name]) for name in parser.sections() if _INI_SECTION.fullmatch(name)}
    entry_points = "options.entry_points"
    if parser.has_option(entry_points, "pytest11"):
        found[entry_points] = {"pytest11": parser.get(entry_points, "pytest11")}
    return found


def _toml_tables(text: str) -> Mapping[str, object] | None:
    try:
        parsed: object = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    found: dict[str, object] = {}
    for path in _TOML_TABLES:
        table: object = parsed
        for key in path:
            table = table.get(key) if isinstance(table, dict) else None
        if table is not None:
            found[".".join(path)] = table
    return found


def _blocks(text: str) -> list[tuple[str, str]]:
    """(section name, text with its header), in order; the part before the first header is ""."""
    blocks: list[tuple[str, str]] = [("", "")]
    for line in text.splitlines(keepends=True):
        header = _HEADER.match(line.rstrip("\r\n"))
        if header is not None:
            blocks.append((re.sub(r"[\"'\s]", "", header[1]), line))
        else:
            name, body = blocks[-1]
            blocks[-1] = (name, body + line)
    return blocks


def _is_test_section(name: str) -> bool:
    dotted = [".".join(path) for path in _TOML_TABLES]
    return bool(_INI_SECTION.fullmatch(name)) or any(
        name == table or name.startswith(f"{table}.") for table in dotted
    )


def _without_test_sections(text: str) -> str:
    return "".join(body for name, body in _blocks(text) if not _is_test_section(name))


def _only_test_sections(text: str) -> str:
    return "".join(body for name, body in _blocks(text) if _is_test_section(name))
