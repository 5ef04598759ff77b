"""Which files the required tests are in, by their ids: pure.

Not every project calls its tests as others do (`python_files = check_*.py`, doctests of a guide).
A file that holds a required test is a file of the tests, whatever it is called.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath

_TEST_NAME = re.compile(r"(test|check|should|spec|bench|it_)", re.IGNORECASE)
"""How functions that test begin. A doctest, or a linter's item, stands in what it looks at."""


def files_of_tests(
    ids: Iterable[str], paths: Collection[str], roots: Iterable[str]
) -> frozenset[str]:
    """The files among `paths` that hold tests of these ids, pytest's or unittest's.

    `roots` are the folders on the import path, "" for the tree: dotted names start there.
    """
    prefixes = [f"{root}/" if root else "" for root in roots]
    found = (_of_pytest(each) if "::" in each else _of_unittest(each, prefixes) for each in ids)
    firsts = (next((path for path in each if path in paths), None) for each in found)
    return frozenset(path for path in firsts if path is not None)


def import_bases(modules: Iterable[str], paths: Collection[str]) -> frozenset[str]:
    """Folders from which pytest imports these test modules, which it puts first on the import path:
    the nearest one above that is no package. "" is the tree."""
    bases = set()
    for module in modules:
        folder = PurePosixPath(module).parent
        while folder != folder.parent and f"{folder}/__init__.py" in paths:
            folder = folder.parent
        bases.add("" if folder == folder.parent else str(folder))
    return frozenset(bases)


def _of_pytest(identifier: str) -> Iterator[str]:
    path, _, rest = identifier.partition("::")
    name = rest.partition("[")[0].rpartition("::")[2]
    is_text = not path.endswith(".py") and rest == PurePosixPath(path).name
    if is_text or (path.endswith(".py") and _TEST_NAME.match(name)):
        yield path


def _of_unittest(identifier: str, prefixes: Iterable[str]) -> Iterator[str]:
    """`checks.sums.T.test_add` is in checks/sums.py or checks/sums/__init__.py; the longest first:
    what holds that is no test."""
    words = identifier.split(".")
    if not _TEST_NAME.match(words[-1]):
        return
    for length in range(len(words) - 1, 0, -1):
        for prefix in prefixes:
            module = prefix + "/".join(words[:length])
            yield f"{module}.py"
            yield f"{module}/__init__.py"
