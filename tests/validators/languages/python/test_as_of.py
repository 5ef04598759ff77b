"""Exceptions from the date, each with its reason."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from validators.languages.python.as_of import (
    LAST_2TO3,
    can_edit,
    exemptions,
    fallback,
    past_fallback,
    pytest_of,
)
from validators.model import Recipe


def _exempt(year: int) -> dict[str, datetime]:
    return dict(exemptions(datetime(year, 3, 1, tzinfo=UTC)))


def test_today_has_no_exceptions() -> None:
    assert _exempt(2024) == {}


def test_before_pep_660_the_back_ends_are_younger() -> None:
    assert _exempt(2022)["setuptools"].year == 2022
    assert _exempt(2022)["poetry-core"].year == 2022


def test_before_pep_517_setuptools_still_converts() -> None:
    assert _exempt(2015)["setuptools"] == LAST_2TO3


def test_a_reupload_hides_no_pytest() -> None:
    assert "atomicwrites" in _exempt(2019)
    assert "atomicwrites" not in _exempt(2023)


def test_an_old_project_gets_a_pytest_that_runs_on_our_oldest_python() -> None:
    assert _exempt(2014)["pytest"].year == 2019
    assert "pytest" not in _exempt(2019)


def test_python_3_6_installs_nothing_editable() -> None:
    assert not can_edit("3.6", datetime(2021, 1, 1, tzinfo=UTC))
    assert can_edit("3.9", datetime(2021, 1, 1, tzinfo=UTC))


RECIPE = Recipe(
    language="python",
    python="3.9",
    requirements=(".[test]", "pytest"),
    cutoff_at=datetime(2025, 3, 1, tzinfo=UTC),
    cutoff_exempt=(("attrs", datetime(2025, 6, 1, tzinfo=UTC)),),
)
ANCIENT = "attrs==17.0 \\\n    --hash=sha256:00\npytest==3.5.1 \\\n    --hash=sha256:00\n"


def test_an_ancient_pytest_is_suspected_of_a_reupload() -> None:
    assert fallback(ANCIENT, RECIPE) == "pytest==3.5.1 for 2025-03-01"
    assert fallback(ANCIENT.replace("3.5.1", "5.4.3"), RECIPE) is not None


@pytest.mark.parametrize("version", ["6.2.5", "8.3.4", "9.0.0", "10.1"])
def test_a_pytest_of_the_last_years_is_none(version: str) -> None:
    assert fallback(f"pytest=={version}\n", RECIPE) is None


def test_where_pytest_was_that_old_it_is_none() -> None:
    assert fallback(ANCIENT, replace(RECIPE, cutoff_at=datetime(2019, 3, 1, tzinfo=UTC))) is None
    assert fallback(ANCIENT, replace(RECIPE, cutoff_at=None)) is None
    assert fallback("attrs==17.0\n", RECIPE) is None
    assert pytest_of("pytest-cov==2.0\nattrs==17.0\n") is None


def test_what_pytest_needs_is_then_a_year_younger_once() -> None:
    repaired = past_fallback(RECIPE)
    exempt = dict(repaired.cutoff_exempt)
    assert exempt["pluggy"] == datetime(2026, 3, 1, tzinfo=UTC)
    assert exempt["attrs"] == datetime(2025, 6, 1, tzinfo=UTC)
    assert "pytest" not in exempt
    assert fallback(ANCIENT, repaired) is None
    assert past_fallback(replace(RECIPE, cutoff_at=None)).cutoff_at is None
