"""Which Python: what the project declares, what was released by then, what we have."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from packaging.specifiers import SpecifierSet

RELEASED_AT = {
    "3.6": datetime(2016, 12, 23, tzinfo=UTC),
    "3.7": datetime(2018, 6, 27, tzinfo=UTC),
    "3.8": datetime(2019, 10, 14, tzinfo=UTC),
    "3.9": datetime(2020, 10, 5, tzinfo=UTC),
    "3.10": datetime(2021, 10, 4, tzinfo=UTC),
    "3.11": datetime(2022, 10, 24, tzinfo=UTC),
    "3.12": datetime(2023, 10, 2, tzinfo=UTC),
    "3.13": datetime(2024, 10, 7, tzinfo=UTC),
}
"""First release of every Python a recipe may ask for (PEPs 494 to 719), oldest first."""

UNTESTED = {"3.14": datetime(2025, 10, 7, tzinfo=UTC)}
"""Asked for by recipes, and where a project takes no other; not in every run of our tests."""

_SETTLED = timedelta(days=180)
"""How old a Python was before wheels for it were common."""

_MINOR = re.compile(r"3\.(\d{1,2})(?:\.\d+|\.x|\.\*)?(?:-dev)?")
_TOX = re.compile(r"\bpy(?:thon)?-?3\.?(\d{1,2})\b|\bpy\{([^}]{,200})\}")


def choose_pythons(
    *, requires: str | None, declared: Iterable[str], date: datetime
) -> Sequence[str]:
    """Pythons to try as of `date`, likeliest first; never empty.

    `requires` is a requires-python specifier, `declared` the versions named by classifiers and CI.
    The newest declared one that was well released comes first; what `requires` excludes comes not
    at all unless it excludes everything we have.
    """
    known = [version for version in RELEASED_AT if allows(requires, version)]
    if not known:
        untested = [version for version in UNTESTED if requires and allows(requires, version)]
        known = untested or [*RELEASED_AT]
    named = [version for version in known if version in set(declared)]
    settled = _released(known, date - _SETTLED)
    if not named:
        return _newest_first(settled or _released(known, date) or known[:1])[:3]
    best = _newest_first(_released(named, date - _SETTLED))
    late = _newest_first(_released(named, date))
    rest = _newest_first([version for version in settled if version not in named])
    return tuple(dict.fromkeys([*best, *late, *named, *rest]))[:4]


def versions_in(texts: Iterable[object]) -> Sequence[str]:
    """The Python 3 versions that a CI matrix or a list of classifiers names, in their order."""
    found = []
    for text in texts:
        # an unquoted 3.10 in YAML is the number 3.1
        value = "3.10" if text == 3.1 and isinstance(text, float) else str(text)
        found += [f"3.{match.group(1)}" for match in _MINOR.finditer(value)]
    return tuple(dict.fromkeys(found))


def tox_versions(text: str) -> Sequence[str]:
    """The Python 3 versions of environment names such as py36, py3.12 and py{38,39}."""
    found: list[str] = []
    for single, braces in _TOX.findall(text):
        minors = [single] if single else re.findall(r"3\.?(\d{1,2})", braces)
        found += [f"3.{int(minor)}" for minor in minors]
    return tuple(dict.fromkeys(found))


def allows(requires: str | None, version: str) -> bool:
    """Whether a requires-python specifier takes a Python; one that cannot be read takes all."""
    try:
        specifiers = SpecifierSet(requires or "")
        # ">=3.6.2" and ">3.6,<4" mean the newest patch release of a line, which is what we have
        return any(specifiers.contains(f"{version}.{patch}") for patch in (0, 8, 99))
    except ValueError:  # no specifier, or a number too long for this Python
        return True


def _released(versions: Iterable[str], date: datetime) -> list[str]:
    released_at = RELEASED_AT | UNTESTED
    return [version for version in versions if released_at[version] <= date]


def _newest_first(versions: Sequence[str]) -> list[str]:
    return sorted(versions, key=lambda version: int(version.partition(".")[2]), reverse=True)
