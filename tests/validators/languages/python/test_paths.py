"""What a file is, told by the components of its path."""

from pathlib import PurePosixPath

import pytest

from validators.languages.base import FileClass
from validators.languages.python.paths import classify, is_test_module, test_files
from validators.model import Recipe

RECIPE = Recipe(language="python", python="3.12")
TEST, SOURCE, DOCS = FileClass.TEST, FileClass.SOURCE, FileClass.DOCS
LOCK, CI, OTHER = FileClass.LOCK, FileClass.CI, FileClass.OTHER

CASES = [
    # sounds like tests, is not
    ("src/latest.py", SOURCE),
    ("contest/a.py", SOURCE),
    ("src/attestation.go", SOURCE),
    ("src/click/testing.py", SOURCE),
    ("click/testing.py", SOURCE),
    ("numpy/testing/utils.py", SOURCE),
    ("lib/sqlalchemy/testing/assertions.py", SOURCE),
    ("django/test/client.py", SOURCE),
    ("src/werkzeug/test.py", SOURCE),
    ("werkzeug/test.py", SOURCE),
    ("pkg/test.py", SOURCE),
    ("fastest/core.py", SOURCE),
    ("protest/__init__.py", SOURCE),
    # tests by name
    ("test.py", TEST),
    ("tests.py", TEST),
    ("test_six.py", TEST),
    ("pkg/tests.py", TEST),
    ("conftest.py", TEST),
    ("pkg/conftest.py", TEST),
    ("src/pkg/core_test.py", TEST),
    ("examples/tests/test_x.py", TEST),
    ("docs/test_snippets.py", TEST),
    ("src/a.spec.ts", TEST),
    ("spec/a_spec.rb", TEST),
    ("src/FooTest.java", TEST),
    ("pkg/a_test.go", TEST),
    # tests by folder, with all that lies there
    ("tests/data/x.json", TEST),
    ("tests/files/ragged.xlsx", TEST),
    ("tests/README.md", TEST),
    ("tests/fixtures/poetry.lock", TEST),
    ("tests/requirements.txt", TEST),
    ("tests/__init__.py", TEST),
    ("tests/helpers.py", TEST),
    ("toolz/tests/test_itertoolz.py", TEST),
    ("src/isodate/tests/test_duration.py", TEST),
    ("tornado/test/util.py", TEST),
    ("pkg/Tests/A.cs", TEST),
    ("src/__tests__/a.js", TEST),
    ("testdata/x.bin", TEST),
    ("cypress/a.cy.js", TEST),
    ("testing/benchmark.py", TEST),
    ("test_project/settings.py", TEST),
    # the rest told apart
    ("docs/testing.md", DOCS),
    ("docs/conf.py", DOCS),
    ("README.rst", DOCS),
    ("CHANGES.txt", DOCS),
    ("CHANGELOG", DOCS),
    ("AUTHORS", DOCS),
    ("newsfragments/12.bugfix", DOCS),
    ("releasenotes/notes/allow-mocking.yaml", DOCS),
    (".github/PULL_REQUEST_TEMPLATE.md", DOCS),
    (".github/workflows/tests.yml", CI),
    (".travis.yml", CI),
    (".pre-commit-config.yaml", CI),
    ("poetry.lock", LOCK),
    ("frontend/package-lock.json", LOCK),
    ("pytest.ini", OTHER),
    ("requirements-test.txt", OTHER),
    ("requirements/tests.txt", OTHER),
    ("tox.ini", OTHER),
    ("fixtures/x.json", OTHER),
    ("humanize/locale/fr_FR/LC_MESSAGES/humanize.mo", OTHER),
    ("setup.py", SOURCE),
    (".", OTHER),  # no file at all, but a patch may say so
    ("src/pkg/_speedups.c", SOURCE),
    ("src/pkg/docs/render.py", SOURCE),
]


@pytest.mark.parametrize(("path", "expected"), CASES)
def test_a_file_is_classed_by_path_component(path: str, expected: FileClass) -> None:
    assert classify(PurePosixPath(path)) is expected


@pytest.mark.parametrize("path", ["tests/test_a.py", "test.py", "pkg/tests.py", "tests/testOld.py"])
def test_a_runner_can_be_pointed_at_test_modules(path: str) -> None:
    assert is_test_module(PurePosixPath(path))


@pytest.mark.parametrize(
    "path",
    [
        *("tests/conftest.py", "tests/__init__.py", "tests/helpers.py", "tests/testutils.py"),
        "tests/data/x.json",
        "src/click/testing.py",
        "tests/data/sample.py",
    ],
)
def test_a_runner_is_not_pointed_at_what_holds_no_tests(path: str) -> None:
    assert not is_test_module(PurePosixPath(path))


def test_modules_are_run_and_data_beside_them_is_not() -> None:
    paths = ["tests/files/ragged.xlsx", "tests/test_tablib.py", "tests/conftest.py", "test.py"]
    assert test_files(paths, RECIPE) == ("tests/test_tablib.py", "test.py")


def test_data_alone_runs_the_folder_that_holds_it() -> None:
    assert test_files(["tests/data/a.json", "tests/data/b.json"], RECIPE) == ("tests",)


def test_nothing_of_the_tests_is_nothing_to_run() -> None:
    assert test_files(["src/a.py"], RECIPE) == ()
