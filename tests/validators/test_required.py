"""Files are told from the ids of the tests in them; what is merely looked at is not."""

import pytest

from validators.required import files_of_tests, import_bases

PATHS = frozenset(
    {
        *("checks/check_a.py", "calc/__init__.py", "calc/core.py", "docs/usage.rst", "README.md"),
        *("code/calc/checks.py", "pkg/checks/__init__.py", "setup.py"),
    }
)


@pytest.mark.parametrize(
    ("identifier", "path"),
    [
        ("checks/check_a.py::test_one", "checks/check_a.py"),
        ("checks/check_a.py::Sums::test_one[a::b/c.py]", "checks/check_a.py"),
        ("checks/check_a.py::check_one", "checks/check_a.py"),
        ("docs/usage.rst::usage.rst", "docs/usage.rst"),
        ("calc.checks.Sums.test_one", "code/calc/checks.py"),
        ("pkg.checks.Sums.test_one", "pkg/checks/__init__.py"),
    ],
)
def test_a_required_test_makes_its_file_a_test(identifier: str, path: str) -> None:
    assert files_of_tests([identifier], PATHS, ["", "code"]) == {path}


@pytest.mark.parametrize(
    "identifier",
    [
        "calc/core.py::calc.core.add",  # a doctest: what the fix changes is there too
        "calc/core.py::flake-8::FLAKE8",
        "calc/core.py::mypy",
        "calc.core.add",
        "gone/check_b.py::test_one",
        "",
        "::",
        "gone.checks.T.test_one",
    ],
)
def test_what_is_looked_at_is_no_test(identifier: str) -> None:
    assert files_of_tests([identifier], PATHS, ["", "code"]) == frozenset()


def test_tests_are_imported_from_the_nearest_folder_that_is_no_package() -> None:
    paths = {"a/__init__.py", "a/b/__init__.py", "c/b/__init__.py"}
    modules = ["a/b/test_x.py", "c/b/test_x.py", "d/e/test_x.py", "test_x.py"]
    assert import_bases(modules, paths) == {"", "c", "d/e"}
    assert import_bases(["a/b/test_x.py"], paths - {"a/__init__.py"}) == {"a"}
