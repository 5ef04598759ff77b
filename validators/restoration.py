"""What of a model's patch is put back before its tests are run: pure rules, by path and section.

Restored to base + test patch + gold are test files, every file that configures how tests run, and
the test sections of shared configuration. Removed is what the patch adds at such places, and what
would shadow the runner, the standard library or an installed package. What remains is the model's.
"""

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import PurePosixPath
from posixpath import normpath

from validators.languages.base import FileClass, Language
from validators.naming import PYTEST, named

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
        ".coveragerc.toml",
        ".env",
    ]
)
"""Files that change what a test run does, wherever they lie."""

SHARED = frozenset(["pyproject.toml", "setup.cfg", "tox.ini"])
"""Files of which only the test sections are put back, unless they are data of the tests."""

_AT_START = frozenset(["sitecustomize", "usercustomize"])
"""Modules that Python imports by itself before anything else, from wherever they can be."""

_PLUGIN_FOLDER = re.compile(r".*\.(egg-info|dist-info)", re.IGNORECASE)
"""As importlib.metadata takes them: in any case, and with nothing before the dot."""

_RUNNER = frozenset(
    [
        *("pytest", "_pytest", "pluggy", "py", "iniconfig", "unittest", "django"),
        *_AT_START,
    ]
)
_RETIRED = (
    ((3, 12), frozenset(["asynchat", "asyncore", "distutils", "imp", "smtpd"])),
    (
        (3, 13),
        frozenset(
            [
                *("aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3"),
                *("mailcap", "msilib", "nis", "nntplib", "ossaudiodev", "pipes", "sndhdr"),
                *("spwd", "sunau", "telnetlib", "uu", "xdrlib"),
            ]
        ),
    ),
)
"""Modules that the standard library had before that Python; this interpreter may not know them."""

_ENDS = (".py", "/__init__.py")
_MODULES = (".py", ".pyx", ".pyi", ".c", ".so", ".pyd")
_ROOTS = ("", "src", "lib", "python")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One path on which the model's tree and the final state differ; it exists in one at least."""

    path: str
    in_final: bool
    in_model: bool = True


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
    `source_paths` are the folders on the import path, relative to the tree. `python` is the
    environment's version, "3.12". `test_cmd` may name a script of the tree: that runs the tests;
    `env_vars` are the variables it is given. `plugins` are modules, with slashes, that pytest's
    configuration names. `fixed` is what the gold patch touches; `held` are more files of the tests:
    what the test patch touches, and where the required tests are.
    """

    language: Language
    packages: tuple[str, ...]
    installed: tuple[str, ...] = ()
    final_paths: frozenset[str]
    source_paths: tuple[str, ...] = ()
    python: str = ""
    test_cmd: str = ""
    env_vars: tuple[tuple[str, str], ...] = ()
    plugins: tuple[str, ...] = ()
    fixed: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()

    @property
    def scripts(self) -> frozenset[str]:
        """Files of the final state that the test command starts, as paths in the tree.

        What comes after `pytest` is what it tests.
        """
        words = takewhile(lambda word: not word.endswith(PYTEST), self.test_cmd.split())
        return frozenset({normpath(word) for word in words} & self.final_paths)

    @property
    def named(self) -> frozenset[str]:
        """Files of the final state that options of the test command, variables and pytest's own
        configuration name, as paths in the tree.

        Configuration, plug-ins and settings. A module that the fix changes is what is tested.
        """
        files, modules = _named(
            self.test_cmd, self.env_vars, self.source_paths, self.scripts, self.plugins
        )
        return (files | (modules - self.fixed)) & self.final_paths


@lru_cache(maxsize=64)
def _named(
    test_cmd: str,
    env_vars: tuple[tuple[str, str], ...],
    source_paths: tuple[str, ...],
    scripts: frozenset[str],
    plugins: tuple[str, ...],
) -> tuple[frozenset[str], frozenset[str]]:
    """Files, and where modules would be, that options and variables name."""
    names = named(test_cmd, env_vars)
    roots = [f"{root}/" if root else "" for root in _roots(source_paths, scripts)]
    modules = names.modules.union(plugins)
    places = (f"{root}{module}{end}" for root in roots for module in modules for end in _ENDS)
    return names.files, frozenset(places)


def plan(changes: Sequence[Change], surroundings: Surroundings) -> Plan:
    """Sort the differences between the model's tree and the final state."""
    remove: dict[str, str] = {}
    restore: list[str] = []
    merge: list[str] = []
    for change in sorted(changes, key=lambda each: each.path):
        if is_shared(change.path, surroundings.language):
            merge.append(change.path)
        elif change.in_final and is_kept(change.path, surroundings):
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


def is_shared(path: str, language: Language) -> bool:
    """Configuration of which a model may edit all but the test sections."""
    pure = PurePosixPath(path)
    return pure.name in SHARED and language.classify(pure) is not FileClass.TEST


def is_protected(path: str, language: Language) -> bool:
    """Test files and test configuration, by path."""
    pure = PurePosixPath(path)
    return (
        _configures(pure)
        or any(_PLUGIN_FOLDER.fullmatch(part) for part in pure.parts)
        or language.classify(pure) is FileClass.TEST
    )


def is_kept(path: str, surroundings: Surroundings) -> bool:
    """Whether a path is as in the final state when tests run, whatever a patch says of it."""
    return (
        is_protected(path, surroundings.language)
        or path in surroundings.scripts
        or path in surroundings.named
        or path in surroundings.held
    )


def _configures(path: PurePosixPath) -> bool:
    return (
        path.name in CONFIGURATION
        or path.suffix == ".pth"
        or any(part.partition(".")[0] in _AT_START for part in path.parts)
    )


def _unwanted(path: str, surroundings: Surroundings) -> str | None:
    """Why a file that only the model has is removed, or None."""
    pure = PurePosixPath(path)
    if _configures(pure):
        return "configures how tests run"
    if any(_PLUGIN_FOLDER.fullmatch(part) for part in pure.parts):
        return "declares plug-ins"
    if pure.suffix == ".pyc" or "__pycache__" in pure.parts:
        return "bytecode"
    if surroundings.language.classify(pure) is FileClass.TEST or path in surroundings.held:
        return "stands at a test path"
    return before_a_test(pure, surroundings) or shadowed(path, surroundings)


def rivals(path: str) -> tuple[str, ...]:
    """Where a package would be that is imported instead of the module at `path`."""
    if not path.endswith(".py") or path.endswith("__init__.py"):
        return ()
    return (path.removesuffix(".py") + "/__init__.py",)


def before_a_test(path: PurePosixPath, surroundings: Surroundings) -> str | None:
    """Why what lies at `path` would be imported instead of a test, or None.

    Python takes a folder before a module of its name, and compiled code before source.
    """
    compiled = path.parent / path.name.partition(".")[0]
    for place in (compiled, *path.parents):
        module = f"{place}.py"
        if module in surroundings.final_paths and is_kept(module, surroundings):
            return f"would be imported instead of {module}"
    return None


def shadowed(path: str, surroundings: Surroundings) -> str | None:
    """A new top-level module that hides one of the standard library's or of an installed one."""
    modules = _module_names(surroundings)
    for root in import_roots(surroundings):
        prefix = f"{root}/" if root else ""
        if not path.startswith(prefix):
            continue
        name = path[len(prefix) :].split("/", maxsplit=1)[0].split(".", maxsplit=1)[0]
        if name in modules and not _is_own(f"{prefix}{name}", path, surroundings.final_paths):
            return f"would shadow the module {name}"
    return None


def _is_own(module: str, path: str, final_paths: frozenset[str]) -> bool:
    """Whether the project has that module itself, or a folder of its name that stays a mere folder.

    `packaging/` with files for a distribution hides nothing, until it is made a package.
    """
    sources = [f"{module}{end}{suffix}" for end in ("", "/__init__") for suffix in _MODULES]
    if not final_paths.isdisjoint(sources):
        return True
    folder = f"{module}/"
    stays = path.startswith(folder) and not path.startswith(f"{folder}__init__.")
    return stays and any(each.startswith(folder) for each in final_paths)


def import_roots(surroundings: Surroundings) -> set[str]:
    """Folders whose modules can be imported by name, "" for the tree itself."""
    return _roots(surroundings.source_paths, surroundings.scripts)


def _roots(source_paths: Iterable[str], scripts: Iterable[str]) -> set[str]:
    """Python finds what lies beside a script that it starts."""
    beside = (str(PurePosixPath(each).parent) for each in scripts)
    return {*_ROOTS, *(each.strip("/.") for each in (*source_paths, *beside))}


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
    version = tuple(int(part) for part in re.findall(r"\d+", surroundings.python)[:2])
    retired = (names for gone_in, names in _RETIRED if version and version < gone_in)
    return (sys.stdlib_module_names | _RUNNER).union(packages, modules, *retired)
