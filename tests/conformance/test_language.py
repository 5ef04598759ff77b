"""What every language must do, whichever it is. A new one is picked up by itself."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath

import pytest

from validators.languages import LANGUAGES, FileClass, Language
from validators.model import BuildFailure, FailureClass, Outcome, Recipe, Verdict

DATE = datetime(2024, 5, 6, tzinfo=UTC)

SAMPLES: Mapping[str, Mapping[str, str]] = {
    "python": {
        "pyproject.toml": '[project]\nname = "a"\nversion = "1"\nrequires-python = ">=3.8"\n',
        "a.py": "x = 1\n",
        "tests/test_a.py": "def test_a():\n    pass\n",
        "tests/data/a.json": "{}",
        "README.md": "# a\n",
    },
}
"""A small project of each language."""


@pytest.fixture(params=sorted(LANGUAGES))
def language(request: pytest.FixtureRequest) -> Language:
    """Each language there is."""
    return LANGUAGES[request.param]


@pytest.fixture
def files(language: Language) -> Mapping[str, str]:
    """Its sample project."""
    return SAMPLES[language.name]


def _recipe(language: Language, files: Mapping[str, str]) -> Recipe:
    wanted = language.manifest_paths(list(files))
    recipes = language.propose_recipes({path: files[path] for path in wanted}, list(files), DATE)
    return recipes[0]


def test_it_is_registered_by_its_name(language: Language) -> None:
    assert LANGUAGES[language.name] is language


def test_tests_are_told_from_sources(language: Language, files: Mapping[str, str]) -> None:
    classes = {path: language.classify(PurePosixPath(path)) for path in files}
    assert FileClass.TEST in classes.values()
    assert FileClass.SOURCE in classes.values()
    assert language.classify(PurePosixPath("README.md")) is FileClass.DOCS


def test_manifests_are_of_the_tree(language: Language, files: Mapping[str, str]) -> None:
    wanted = language.manifest_paths(list(files))
    assert wanted
    assert set(wanted) <= set(files)


def test_a_sample_gets_a_recipe_of_the_date(language: Language, files: Mapping[str, str]) -> None:
    recipe = _recipe(language, files)
    assert recipe.language == language.name
    assert recipe.cutoff_at == DATE
    assert recipe.runner in language.read_report


def test_proposals_are_the_same_each_time(language: Language, files: Mapping[str, str]) -> None:
    assert _recipe(language, files) == _recipe(language, files)


def test_an_empty_tree_breaks_nothing(language: Language) -> None:
    assert all(
        recipe.language == language.name for recipe in language.propose_recipes({}, [], DATE)
    )


def test_test_files_are_tests_in_their_order(language: Language, files: Mapping[str, str]) -> None:
    found = language.test_files(list(files), _recipe(language, files))
    assert found
    assert all(language.classify(PurePosixPath(path)) is FileClass.TEST for path in found)


def test_an_empty_report_shows_no_tests(language: Language) -> None:
    for read in language.read_report.values():
        assert read(()) == {}


@pytest.mark.parametrize("failure_class", FailureClass)
def test_no_failure_breaks_the_repair_and_none_repeats_the_recipe(
    language: Language, files: Mapping[str, str], failure_class: FailureClass
) -> None:
    recipe = _recipe(language, files)
    failure = BuildFailure(
        outcome=Outcome(exit_code=1, output=b"\xff\x00"),
        failure_class=failure_class,
        detail="something",
        step="install",
    )
    repaired = language.repair(recipe, failure, files)
    assert recipe not in repaired
    assert all(one.language == language.name for one in repaired)


def test_a_verdict_without_runs_needs_no_repair(
    language: Language, files: Mapping[str, str]
) -> None:
    assert language.repair(_recipe(language, files), Verdict(), files) == ()
