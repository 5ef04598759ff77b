"""What "as of the date" cannot mean literally: packages resolved later than it, and why."""

from collections.abc import Sequence
from datetime import UTC, datetime

_PEP_660_TOOLS = ("setuptools", "wheel", "setuptools-scm", "flit-core", "poetry-core")
_PEP_660_KNOWN = datetime(2022, 12, 31, tzinfo=UTC)
"""Back-ends learned editable installs (PEP 660) until then: setuptools 64 is of August 2022."""

_PEP_517_KNOWN = datetime(2019, 6, 1, tzinfo=UTC)
"""Before it, setuptools had no `build_meta:__legacy__` (40.8) for any installer to call."""

LAST_2TO3 = datetime(2021, 8, 31, tzinfo=UTC)
"""setuptools 58 (September 2021) dropped use_2to3 and refuses projects that ask for it."""

_ATOMICWRITES_REUPLOADED = datetime(2022, 7, 8, tzinfo=UTC)
_AFTER_REUPLOAD = datetime(2022, 12, 31, tzinfo=UTC)
"""All files of atomicwrites were uploaded anew in July 2022. By their dates no pytest from 3.6 to
5.3 could be installed before, and a resolver falls back to an ancient one without a word."""

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


def can_edit(python: str, date: datetime) -> bool:
    """Whether build back-ends for that Python and date know editable installs (PEP 660).

    Python 3.6 never got one from setuptools.
    """
    return python != "3.6" and date >= _PEP_517_KNOWN
