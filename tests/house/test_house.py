"""The rules of the house that no other tool checks."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path for package in ("miner", "validators") for path in (ROOT / package).rglob("*.py")
)
GUEST_SIDE = {"validators/reporter.py"}
"""Carried into the container: it speaks and reads the environment there."""
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "core", "misc", "types"}


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _calls(tree: ast.AST, name: str) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node.lineno


def test_only_the_command_line_prints() -> None:
    printing = [
        f"{_name(path)}:{line}"
        for path in SOURCES
        if not _name(path).startswith("miner/cli/") and _name(path) not in GUEST_SIDE
        for line in _calls(ast.parse(path.read_bytes()), "print")
    ]
    assert printing == []


def test_every_module_says_its_subject() -> None:
    silent = [
        _name(path)
        for path in SOURCES
        if path.read_bytes().strip() and not ast.get_docstring(ast.parse(path.read_bytes()))
    ]
    assert silent == []


def test_modules_are_named_after_their_subject() -> None:
    assert [
        _name(path)
        for path in SOURCES
        if path.stem in FORBIDDEN_NAMES or path.parent.name in FORBIDDEN_NAMES
    ] == []


def test_a_map_of_a_package_names_every_module() -> None:
    missing = []
    for path in SOURCES:
        told = ast.get_docstring(ast.parse(path.read_bytes())) or ""
        modules = {each.name for each in path.parent.glob("[!_]*.py")}
        named = set(re.findall(r"[a-z_]+\.py", told)) & modules
        if path.name == "__init__.py" and len(named) > 1 and "the rest " not in told:
            missing += [f"{_name(path)}: {name}" for name in sorted(modules - named)]
    assert missing == []


def test_the_environment_is_read_in_one_place() -> None:
    readers = {
        _name(path) for path in SOURCES if re.search(r"\bos\.(environ|getenv)\b", path.read_text())
    }
    assert readers <= {"miner/config.py"} | GUEST_SIDE


NOT_COUNTS = {"miner/demo/cost.py", "validators/debian.py", "validators/engines/streams.py"}
"""GitHub's own sentences; numbers that are never one."""

NOUNS = re.compile(
    r" (?:[a-z]+ )?(?:tasks|tests|instances|pulls|repositories|models|candidates|containers|"
    r"grades|hours|days|recipes|predictions|commits|files|issues|lines|attempts|times|caches|images|"
    r"packages|stars|seconds|hints|snapshots|authorities|rows|months|minutes|passes|patches)\b|"
    r" [a-z]+\(s\)"
)


def _numbers_without_care(tree: ast.AST) -> Iterator[int]:
    """f-strings that put a value right before a plural: "1 tasks"."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for value, text in zip(node.values, node.values[1:], strict=False):
                told = text.value if isinstance(text, ast.Constant) else None
                if isinstance(value, ast.FormattedValue) and NOUNS.match(str(told or "")):
                    yield node.lineno


def test_a_number_is_told_with_its_noun_as_one_or_as_many() -> None:
    """`validators.plural.counted` does."""
    assert [
        f"{_name(path)}:{line}"
        for path in SOURCES
        if _name(path) not in NOT_COUNTS | GUEST_SIDE
        for line in _numbers_without_care(ast.parse(path.read_bytes()))
    ] == []
