"""What "as of the date" cannot mean literally: packages resolved later than it, and why."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from validators.model import Recipe

_PEP_660_TOOLS = ("setuptools", "wheel", "setuptools-scm", "flit-core", "poetry-core")
_PEP_660_KNOWN = datetime(2022, 12, 31, tzinfo=UTC)
"""Back-ends learned editable installs (PEP 660) until then: setuptools 64 is of August 2022."""

_PEP_517_KNOWN = datetime(2019, 6, 1, tzinfo=UTC)
"""Before it, setuptools had no `build_meta:__legacy__` (40.8) for any installer to call."""

LAST_2TO3 = datetime(2021, 8, 31, tzinfo=UTC)
"""setuptools 58 (September 2021) dropped use_2to3 and refuses projects that ask for it."""

LAST_PKG_RESOURCES = datetime(2026, 2, 8, tzinfo=UTC)
"""setuptools 82, of that day's afternoon, has no pkg_resources, which many a setup.py imports."""

_ATOMICWRITES_REUPLOADED = datetime(2022, 7, 8, tzinfo=UTC)
_AFTER_REUPLOAD = datetime(2022, 12, 31, tzinfo=UTC)
"""All files of atomicwrites were uploaded anew in July 2022. By their dates no pytest from 3.6 to
5.2 could be installed before, and a resolver falls back to an ancient one without a word."""

_OLD_PYTEST = datetime(2018, 7, 1, tzinfo=UTC)
_REPORTING_PYTEST = datetime(2019, 6, 1, tzinfo=UTC)
"""Older pytests break on Pythons released after them, and report less; this one is 4.6."""

_PYTEST_FAMILY = (
    "pytest",
    "py",
    "pluggy",
    "attrs",
    "more-itertools",
    "six",
    "wcwidth",
    "importlib-metadata",
    "zipp",
    "pathlib2",
    "packaging",
    "pyparsing",
    "setuptools-scm",
)


def exemptions(date: datetime) -> Sequence[tuple[str, datetime]]:
    """(package, its own cut-off) for a project whose dependencies are resolved as of `date`."""
    found: dict[str, datetime] = {}
    if date < _OLD_PYTEST:
        found.update(dict.fromkeys(_PYTEST_FAMILY, _REPORTING_PYTEST))
    if date < _PEP_517_KNOWN:
        found.update(dict.fromkeys(("setuptools", "wheel", "setuptools-scm"), LAST_2TO3))
    elif date < _PEP_660_KNOWN:
        found.update(dict.fromkeys(_PEP_660_TOOLS, _PEP_660_KNOWN))
    if date < _ATOMICWRITES_REUPLOADED:
        found["atomicwrites"] = _AFTER_REUPLOAD
    return tuple(sorted(found.items()))


_PYTEST_SINCE: Mapping[tuple[int, int], datetime] = {
    (9, 0): datetime(2025, 11, 8, tzinfo=UTC),
    (8, 0): datetime(2024, 1, 27, tzinfo=UTC),
    (7, 0): datetime(2022, 2, 3, tzinfo=UTC),
    (6, 0): datetime(2020, 7, 28, tzinfo=UTC),
    (5, 0): datetime(2019, 6, 28, tzinfo=UTC),
    (4, 0): datetime(2018, 11, 13, tzinfo=UTC),
    (3, 6): datetime(2018, 5, 23, tzinfo=UTC),
    (3, 0): datetime(2016, 8, 18, tzinfo=UTC),
}
_PYTEST = re.compile(r"^pytest==(\d+)\.(\d+)\S*", re.MULTILINE)
_ANCIENT = timedelta(days=4 * 365)
_YOUNGER = timedelta(days=365)
_PYTEST_NEEDS = (
    *("atomicwrites", "attrs", "colorama", "exceptiongroup", "importlib-metadata", "iniconfig"),
    *("more-itertools", "packaging", "pluggy", "py", "pygments", "pyparsing", "toml", "tomli"),
    *("typing-extensions", "wcwidth", "zipp"),
)


def fallback(lock: str, recipe: Recipe) -> str | None:
    """What a resolver says nothing of: it chose a pytest of years ago.

    That is what a package whose files were uploaded again does to all that need it; or something
    pins pytest, in whatever file or package: then `past_fallback` gives the same one. None where
    that was tried already.
    """
    found = _PYTEST.search(lock)
    if found is None or recipe.cutoff_at is None or "iniconfig" in dict(recipe.cutoff_exempt):
        return None
    version = (int(found.group(1)), int(found.group(2)))
    later = [date for since, date in _PYTEST_SINCE.items() if since > version]
    if not later or recipe.cutoff_at - min(later) < _ANCIENT:
        return None
    return f"{found.group()} for {recipe.cutoff_at:%Y-%m-%d}"


def pytest_of(lock: str) -> str | None:
    """The line of a lock that names its pytest, as "pytest==8.2.0"."""
    found = _PYTEST.search(lock)
    return found.group() if found else None


def past_fallback(recipe: Recipe) -> Recipe:
    """The recipe with all that any pytest needs a year younger, pytest itself as of the date."""
    if recipe.cutoff_at is None:
        return recipe
    exempt = dict.fromkeys(_PYTEST_NEEDS, recipe.cutoff_at + _YOUNGER) | dict(recipe.cutoff_exempt)
    return replace(recipe, cutoff_exempt=tuple(sorted(exempt.items())))


def can_edit(python: str, date: datetime) -> bool:
    """Whether build back-ends for that Python and date know editable installs (PEP 660).

    Python 3.6 never got one from setuptools.
    """
    return python != "3.6" and date >= _PEP_517_KNOWN
