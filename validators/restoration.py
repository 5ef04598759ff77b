"""What of a model's patch is put back before its tests are run: pure rules, by path and section.

Restored to base + test patch + gold are test files, every file that configures how tests run, and
the test sections of shared configuration. Removed is what the patch adds at such places, and what
would shadow the runner, the standard library or an installed package. What remains is the model's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from validators.languages.base import FileClass, Language
from validators.shadowing import AT_START, shadowed
from validators.surroundings import Surroundings, import_roots

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

_LEFT_BY_RUNS = frozenset([".hypothesis", ".pytest_cache"])
"""Folders in which runs of tests keep what later runs go by."""

_RUNS_TESTS = re.compile(r"(.*/)?management/commands/test(\..*|/.*)")
"""What `manage.py test` starts in place of Django's own command, from whatever application."""

_PLUGIN_FOLDER = re.compile(r".*\.(egg-info|dist-info)", re.IGNORECASE)
"""As importlib.metadata takes them: in any case, and with nothing before the dot."""


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
        or _RUNS_TESTS.fullmatch(path) is not None
        or any(_PLUGIN_FOLDER.fullmatch(part) for part in pure.parts)
        or language.classify(pure) is FileClass.TEST
    )


def is_kept(path: str, surroundings: Surroundings) -> bool:
    """Whether a path is as in the final state when tests run, whatever a patch says of it."""
    return (
        (is_protected(path, surroundings.language) and not _is_fixed_source(path, surroundings))
        or path in surroundings.scripts
        or path in surroundings.named
        or path in surroundings.held
        or before_a_test(PurePosixPath(path), surroundings) is not None
    )


def _is_fixed_source(path: str, surroundings: Surroundings) -> bool:
    """What the fix changes would be the fix, put back: a `sitecustomize` inside of a package, which
    Python does not import by itself, or a command that tests."""
    pure = PurePosixPath(path)
    if path not in surroundings.fixed or surroundings.language.classify(pure) is FileClass.TEST:
        return False
    return _RUNS_TESTS.fullmatch(path) is not None or (
        any(_is_at_start(part) for part in pure.parts)
        and not any(
            _is_at_start(path.removeprefix(f"{root}/").partition("/")[0])
            for root in import_roots(surroundings)
        )
    )


def _is_at_start(part: str) -> bool:
    return part.partition(".")[0] in AT_START


def _configures(path: PurePosixPath) -> bool:
    return (
        path.name in CONFIGURATION
        or path.suffix == ".pth"
        or any(map(_is_at_start, path.parts))
        or not _LEFT_BY_RUNS.isdisjoint(path.parts)
    )


def _unwanted(path: str, surroundings: Surroundings) -> str | None:
    """Why a file that only the model has is removed, or None."""
    pure = PurePosixPath(path)
    if _configures(pure):
        return "configures how tests run"
    if any(_PLUGIN_FOLDER.fullmatch(part) for part in pure.parts):
        return "declares plug-ins"
    if _RUNS_TESTS.fullmatch(path):
        return "would run the tests"
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

    Python takes a folder before a module of its name, and compiled code before source. Where the
    final state has such a folder, it holds that test's data.
    """
    compiled = path.parent / path.name.partition(".")[0]
    for place in (compiled, *path.parents):
        module = f"{place}.py"
        if (
            module != str(path)
            and module in surroundings.final_paths
            and is_kept(module, surroundings)
        ):
            return f"would be imported instead of {module}"
    return None
