"""What tests rest on is told apart from what the program is."""

from collections import Counter
from dataclasses import replace

import pytest

from validators.languages import LANGUAGES
from validators.model import Outcome
from validators.preparation import Prepared
from validators.putting_back import Trees
from validators.support import examples, leaned_on, modules_of_examples
from validators.surroundings import Surroundings

PYTHON = LANGUAGES["python"]
PATHS = frozenset(
    [
        *("calc/core.py", "calc/fixtures.py", "calc/testing.py", "calc/contesting.py"),
        *("calc/cases.json", "calc/zones.json", "tests/test_a.py", "calc/testutils/a.py"),
    ]
)
SURROUNDINGS = Surroundings(language=PYTHON, packages=(), final_paths=PATHS)
PREPARED = Prepared(
    outcome=Outcome(exit_code=0, output=b""),
    added=b"",
    trees=Trees(model="m", final="f"),
    changes=(),
    final_paths=PATHS,
    installed=(),
    linked=(),
    configurations=(),
    conftests="",
)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("calc/testing.py", True),
        ("calc/testutils/a.py", True),
        ("calc/fixtures.py", True),
        ("calc/contesting.py", False),
        ("calc/core.py", False),
        ("tests/test_a.py", False),  # put back
        ("calc/_testing.py", False),  # new
    ],
)
def test_helpers_are_known_by_name_and_by_what_they_import(path: str, *, found: bool) -> None:
    prepared = replace(PREPARED, helpers=("calc/fixtures.py",))
    assert leaned_on(prepared, SURROUNDINGS, [path]) == ({path} if found else set())


def test_helpers_are_not_told_where_the_fix_changes_one() -> None:
    fixed = replace(SURROUNDINGS, fixed=frozenset({"calc/testing.py"}))
    changed = ["calc/testing.py", "calc/testutils/a.py"]
    assert leaned_on(PREPARED, fixed, changed) == set()
    other = replace(SURROUNDINGS, fixed=frozenset({"calc/core.py"}))
    assert leaned_on(PREPARED, other, changed) == {*changed}


@pytest.mark.parametrize(
    ("mentions", "found"),
    [
        ([("tests/test_a.py", "cases.json")], True),
        ([("tests/test_a.py", "cases.json"), ("calc/core.py", "cases.json")], False),
        ([("calc/core.py", "cases.json")], False),
        ([], False),
        ([("tests/test_a.py", "zones.json")], False),
    ],
)
def test_data_is_told_where_none_but_tests_name_it(
    mentions: list[tuple[str, str]], *, found: bool
) -> None:
    prepared = replace(PREPARED, data=("calc/cases.json",), mentions=tuple(mentions))
    expected = {"calc/cases.json"} if found else set()
    assert leaned_on(prepared, SURROUNDINGS, ["calc/cases.json"]) == expected
    fixed = replace(SURROUNDINGS, fixed=frozenset({"calc/cases.json"}))
    assert leaned_on(prepared, fixed, ["calc/cases.json"]) == set()


ONE = '    """Sum.\n\n    >>> add(2, 3)\n    5\n    """\n'


@pytest.mark.parametrize(
    ("final", "model", "found"),
    [
        (ONE, ONE.replace("Sum", "The sum"), False),
        (ONE, ONE.replace("5", "-1"), True),
        (ONE, "", True),
        (ONE, ONE + ONE.replace("3", "4"), False),
        (ONE.replace("5", "6"), ONE.replace("5", "7"), False),  # the fix changes it too
        (ONE, ONE.replace("    ", "\t").replace("\n", "\r\n"), False),
    ],
)
def test_examples_are_told_that_the_fix_leaves_alone(
    final: str, model: str, *, found: bool
) -> None:
    prepared = replace(PREPARED, examples=(("calc/core.py", ONE, final, model),))
    fixed = replace(SURROUNDINGS, fixed=frozenset({"calc/core.py"}))
    assert leaned_on(prepared, fixed, []) == ({"calc/core.py"} if found else set())


def test_examples_are_read_as_doctest_does() -> None:
    text = ">>> a\n... b\n1\n>>> c\n\nprose\n  >>> d\n  2\n  '''\n>>>none\n"
    assert examples(text) == Counter([">>> a\n... b\n1", ">>> c", ">>> d\n2"])
    assert examples("") == Counter()


def test_modules_that_hold_required_examples() -> None:
    ids = ["calc/core.py::calc.core.add", "tests/test_a.py::test_a", "docs/a.rst::a.rst", "a.b.c"]
    assert modules_of_examples(ids, PYTHON) == ("calc/core.py",)
