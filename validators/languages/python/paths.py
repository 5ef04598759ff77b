"""What a file of a Python project is, told by the components of its path, never by substrings.

`latest.py`, `contest/`, `click/testing.py` and `numpy/testing/` are no tests; a `conftest.py`,
and whatever lies under a tests folder, goes with the tests.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

from validators.languages.base import FileClass
from validators.model import Recipe

_TEST_FOLDERS = frozenset(
    [
        "test",
        "tests",
        "unittest",
        "unittests",
        "unit_tests",
        "functional_tests",
        "integration_tests",
        "acceptance_tests",
        "system_tests",
        "regression_tests",
        "e2e",
        "e2e_tests",
        "testdata",
        "test_data",
        "test-data",
        "testsuite",
        "test_suite",
        "testsuites",
        "test_fixtures",
        "__tests__",
        "__snapshots__",
        "cypress",
    ]
)
_ROOT_TEST_FOLDER = re.compile(r"testing|tests?[-_].+|.+[-_]tests?")
"""Looser names, taken for tests only at the root, where no importable package hides them."""

_SHIPPED_TEST_TOOLS = (("django", "test"), ("twisted", "trial"), ("werkzeug", "test.py"))
"""Library code that only sounds like tests."""

_PYTHON_TEST = re.compile(r"(test_.*|tests_.*|.*_test|.*_tests|tests|conftest)\.(py|pyi|pyx)")
_OTHER_TEST = re.compile(
    r".+\.(spec|test|cy)\.[cm]?[jt]sx?|.+_spec\.rb|.+_test\.(go|rb|cc|cpp|exs)"
    r"|(.*[a-z0-9])?(Test|Tests|IT)\.(java|kt|scala|cs|php)"
)
_CI_NAMES = frozenset(
    [
        ".travis.yml",
        ".travis.yaml",
        "appveyor.yml",
        ".appveyor.yml",
        "azure-pipelines.yml",
        ".gitlab-ci.yml",
        "jenkinsfile",
        "codecov.yml",
        ".codecov.yml",
        ".coveralls.yml",
        ".pre-commit-config.yaml",
        ".cirrus.yml",
        "bitbucket-pipelines.yml",
        "circle.yml",
        ".drone.yml",
        "tox.yml",
        ".readthedocs.yml",
        ".readthedocs.yaml",
        "readthedocs.yml",
        "dependabot.yml",
        "renovate.json",
        ".landscape.yml",
        ".scrutinizer.yml",
        ".zuul.yaml",
        "mergify.yml",
        ".mergify.yml",
    ]
)
_CI_FOLDERS = frozenset({".github", ".circleci", ".ci", "ci", ".azure-pipelines", ".gitlab"})
_LOCK_NAMES = frozenset(
    [
        "poetry.lock",
        "uv.lock",
        "pdm.lock",
        "pipfile.lock",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "cargo.lock",
        "go.sum",
        "gemfile.lock",
        "composer.lock",
        "pylock.toml",
        "conda-lock.yml",
        "flake.lock",
        "pixi.lock",
        "bun.lock",
        "bun.lockb",
    ]
)
_DOC_FOLDERS = frozenset(
    [
        "doc",
        "docs",
        "documentation",
        "newsfragments",
        "changelog.d",
        "changelog",
        "changes.d",
        "news",
        "releasenotes",
        "release-notes",
        "release_notes",
        "website",
    ]
)
_DOC_SUFFIXES = frozenset({".md", ".rst", ".adoc", ".mkd", ".markdown", ".1", ".texi"})
_DOC_STEM = re.compile(
    r"readme|change-?log|changes|history|news|authors|contributors|contributing|license|licence"
    r"|copying|notice|todo|security|release[-_]?notes|code_of_conduct|maintainers|citation|thanks"
    r"|what'?s[-_]?new|upgrading|install|roadmap",
    re.IGNORECASE,
)
_SOURCE_SUFFIXES = frozenset(
    [
        ".py",
        ".pyi",
        ".pyx",
        ".pxd",
        ".pxi",
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".cxx",
        ".hpp",
        ".hh",
        ".cu",
        ".f",
        ".f90",
        ".rs",
        ".go",
        ".js",
        ".mjs",
        ".cjs",
        ".jsx",
        ".ts",
        ".tsx",
        ".java",
        ".kt",
        ".cs",
        ".rb",
        ".sh",
        ".bat",
        ".ps1",
        ".sql",
        ".lark",
        ".g4",
        ".proto",
        ".jinja",
        ".jinja2",
        ".j2",
    ]
)
_RUNNABLE = re.compile(r"(test_.*|.*_tests?|tests?|tests_.*)\.py", re.IGNORECASE)
_UNITTEST_NAME = re.compile(r"test.*\.py", re.IGNORECASE)
_HELPER = re.compile(r"test(utils?|ing|lib|cases?|base|helpers?|support|common|data|settings)\.py")
"""Names that `unittest`'s own pattern takes for tests and that nearly always are not."""


def classify(path: PurePosixPath) -> FileClass:
    """The class of a file, by its place and name; the file itself is not read."""
    return next((kind for rule, kind in _RULES if rule(path)), FileClass.OTHER)


def test_files(paths: Sequence[str], recipe: Recipe) -> Sequence[str]:
    """Of the test patch's paths, those `recipe.runner` can be pointed at, in their order.

    Python's runners agree on what a test module is called, and files that pytest would not find
    by itself (`tests.py`, a root `test.py`) run when named. When the patch touches no such module,
    only data or a conftest, the tests folders that hold them are what can be run.
    """
    del recipe  # every Python runner takes the same modules
    modules = [path for path in paths if is_test_module(PurePosixPath(path))]
    if modules:
        return tuple(dict.fromkeys(modules))
    folders = [
        str(folder)
        for path in paths
        if classify(PurePosixPath(path)) is FileClass.TEST
        and (folder := next(_test_folders(PurePosixPath(path)), None)) is not None
    ]
    return tuple(dict.fromkeys(folders))


test_files.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it where imported


def is_test_module(path: PurePosixPath) -> bool:
    """A module of tests, as opposed to a conftest, a helper or data beside them."""
    if path.suffix != ".py" or classify(path) is not FileClass.TEST:
        return False
    if _HELPER.fullmatch(path.name.lower()):
        return False
    return bool(_RUNNABLE.fullmatch(path.name) or _UNITTEST_NAME.fullmatch(path.name))


def _is_test_name(path: PurePosixPath) -> bool:
    if _PYTHON_TEST.fullmatch(path.name) or _OTHER_TEST.fullmatch(path.name):
        return True
    return path.name == "test.py" and len(path.parts) == 1


def _test_folders(path: PurePosixPath) -> Iterator[PurePosixPath]:
    """The folders above `path` that hold tests, outermost first."""
    for depth, part in enumerate(path.parts[:-1]):
        lowered = part.lower()
        if lowered in _TEST_FOLDERS or (depth == 0 and _ROOT_TEST_FOLDER.fullmatch(lowered)):
            yield PurePosixPath(*path.parts[: depth + 1])


def _is_shipped_tool(path: PurePosixPath) -> bool:
    parts = path.parts[1:] if path.parts[:1] in {("src",), ("lib",)} else path.parts
    return any(parts[:2] == tool for tool in _SHIPPED_TEST_TOOLS)


def _is_ci(path: PurePosixPath) -> bool:
    if len(path.parts) > 1 and path.parts[0].lower() in _CI_FOLDERS:
        return path.suffix.lower() not in _DOC_SUFFIXES
    return len(path.parts) == 1 and path.name.lower() in _CI_NAMES


def _is_document(path: PurePosixPath) -> bool:
    if path.suffix.lower() in _DOC_SUFFIXES:
        return True
    return path.suffix.lower() in {"", ".txt"} and bool(_DOC_STEM.fullmatch(path.stem))


def _is_in_docs(path: PurePosixPath) -> bool:
    return len(path.parts) > 1 and path.parts[0].lower() in _DOC_FOLDERS


def _is_in_tests(path: PurePosixPath) -> bool:
    return next(_test_folders(path), None) is not None


def _is_lock(path: PurePosixPath) -> bool:
    return path.name.lower() in _LOCK_NAMES or path.suffix == ".lock"


def _is_source(path: PurePosixPath) -> bool:
    return path.suffix.lower() in _SOURCE_SUFFIXES


_RULES: tuple[tuple[Callable[[PurePosixPath], bool], FileClass], ...] = (
    (_is_shipped_tool, FileClass.SOURCE),
    (_is_test_name, FileClass.TEST),
    (_is_ci, FileClass.CI),
    (_is_in_docs, FileClass.DOCS),
    (_is_in_tests, FileClass.TEST),
    (_is_lock, FileClass.LOCK),
    (_is_document, FileClass.DOCS),
    (_is_source, FileClass.SOURCE),
)
"""The first rule that holds decides."""
