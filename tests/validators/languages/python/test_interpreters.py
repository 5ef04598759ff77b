"""Which Python is asked for: declared, released well before the date, and one that we have."""

from datetime import UTC, datetime

import pytest

from validators.languages.python.interpreters import (
    RELEASED_AT,
    choose_pythons,
    tox_versions,
    versions_in,
)


def _at(year: int, month: int) -> datetime:
    return datetime(year, month, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("requires", "declared", "date", "first"),
    [
        (">=3.8", ("3.8", "3.9", "3.10", "3.11", "3.12"), _at(2024, 8), "3.12"),
        (">=3.8", ("3.8", "3.9", "3.10", "3.11", "3.12"), _at(2023, 12), "3.11"),  # 3.12 is new
        (None, ("3.9", "3.10"), _at(2022, 2), "3.9"),
        (None, (), _at(2015, 8), "3.6"),  # older than all that we have
        (None, (), _at(2021, 1), "3.8"),
        (">=3.6.2,<4", (), _at(2019, 10), "3.7"),
        (">=3.13", (), _at(2024, 11), "3.13"),  # newer than settled, but nothing else is allowed
        (">=3.9", ("3.14",), _at(2026, 6), "3.13"),  # declares only what we have not
        ("<3.10", ("3.8", "3.9", "3.12"), _at(2024, 8), "3.9"),
        ("nonsense", ("3.11",), _at(2024, 8), "3.11"),
    ],
)
def test_the_newest_settled_declared_python_comes_first(
    requires: str | None, declared: tuple[str, ...], date: datetime, first: str
) -> None:
    assert choose_pythons(requires=requires, declared=declared, date=date)[0] == first


def test_an_excluded_python_is_never_proposed() -> None:
    chosen = choose_pythons(requires=">=3.10,<3.12", declared=("3.9", "3.10"), date=_at(2025, 1))
    assert set(chosen) <= {"3.10", "3.11"}


def test_there_is_always_a_python() -> None:
    assert choose_pythons(requires="<3", declared=("2.7",), date=_at(2014, 1))


def test_a_yaml_number_of_one_digit_is_ten() -> None:
    assert versions_in([3.1, "3.9", 3.8, "pypy-3.7", "3.12-dev"]) == (
        "3.10", "3.9", "3.8", "3.7", "3.12",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("envlist = py36, py37-mock, py3.12", ("3.6", "3.7", "3.12")),
        ("envlist = py{38,39,310}-{a,b}", ("3.8", "3.9", "3.10")),
        ("envlist = lint", ()),
    ],
)
def test_tox_names_tell_versions(text: str, versions: tuple[str, ...]) -> None:
    assert tox_versions(text) == versions


def test_releases_are_in_order() -> None:
    assert list(RELEASED_AT.values()) == sorted(RELEASED_AT.values())


def test_an_untested_python_is_only_for_those_that_take_no_other() -> None:
    date = datetime(2026, 11, 1, tzinfo=UTC)
    assert choose_pythons(requires=">=3.14", declared=["3.14"], date=date) == ("3.14",)
    assert "3.14" not in choose_pythons(requires=">=3.12", declared=["3.13", "3.14"], date=date)
    assert "3.14" not in choose_pythons(requires=">=4", declared=[], date=date)
