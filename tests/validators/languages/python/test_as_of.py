"""Exceptions from the date, each with its reason."""

from datetime import UTC, datetime

from validators.languages.python.as_of import LAST_2TO3, can_edit, exemptions


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
