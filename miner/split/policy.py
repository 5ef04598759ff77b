"""What a maintainer may change about the gates. Another policy makes every pull due again."""

import functools
import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields

from miner.errors import ConfigError
from miner.jsontext import parsed
from validators.languages import LANGUAGES

RULES_VERSION = 1
"""Counts up when the code decides differently under the same policy."""

PERMISSIVE = (
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "PSF-2.0",
    "Python-2.0",
    "Unlicense",
    "WTFPL",
    "Zlib",
)
"""SPDX ids of licences that let code be used with little more than a notice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePolicy:
    """The limits of the gates.

    Files are counted without documentation, lock files and CI: those make a task no larger, and
    a real release touches many of them. Lines and bytes are of both patches together.
    """

    files_min: int = 1
    files_max: int = 15
    patch_kb_max: int = 512
    text_chars_min: int = 20  # of the problem statement
    licenses: tuple[str, ...] = PERMISSIVE
    languages: tuple[str, ...] = ("python",)
    language_share_min: float = 0.3  # of the repository's bytes of code
    default_branch_only: bool = True
    bots_may_write: bool = False
    bots_may_merge: bool = False
    several_issues: bool = True  # may a pull close more than one?

    @property
    def digest(self) -> str:
        """Names policy and rules together: what was judged under it needs no second look."""
        return _digest(self)

    def to_json(self) -> str:
        """As a maintainer reads and edits it."""
        return json.dumps(asdict(self), indent=2)


@functools.cache
def _digest(policy: GatePolicy) -> str:
    text = json.dumps({**asdict(policy), "rules": RULES_VERSION}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def policy_from_json(text: str) -> GatePolicy:
    """A policy from a JSON object; what it does not name keeps its default.

    ConfigError for text that is no object, unknown names and values of another type.
    """
    try:
        given = parsed(text)
    except ValueError as error:
        raise ConfigError(f"The gate policy is not JSON ({error}).") from error
    if not isinstance(given, dict):
        raise ConfigError("The gate policy is not a JSON object.")
    defaults = asdict(GatePolicy())
    known = [each.name for each in fields(GatePolicy)]
    for name, value in given.items():
        if name not in defaults:
            raise ConfigError(f"A gate policy has no {name!r}; it has {', '.join(known)}.")
        given[name] = _checked(name, value, defaults[name])
    policy = GatePolicy(**given)
    for complaint in _complaints(policy):
        raise ConfigError(f"This gate policy cannot work: {complaint}.")
    return policy


def _complaints(policy: GatePolicy) -> Iterator[str]:
    if not 0 <= policy.files_min <= policy.files_max:
        yield f"files_min is {policy.files_min} and files_max {policy.files_max}"
    if policy.patch_kb_max < 1:
        yield f"patch_kb_max is {policy.patch_kb_max}"
    if policy.text_chars_min < 0:
        yield f"text_chars_min is {policy.text_chars_min}"
    if not 0 <= policy.language_share_min <= 1:
        yield f"language_share_min is {policy.language_share_min}, not between 0 and 1"
    strangers = sorted(set(policy.languages) - set(LANGUAGES))
    if strangers or not policy.languages:
        named = f"there is no language {strangers[0]!r}" if strangers else "languages is empty"
        yield f"{named}; known are {', '.join(LANGUAGES)}"
    if not policy.licenses:
        yield "licenses is empty"


def _checked(name: str, value: object, default: object) -> object:
    """The value in the default's type."""
    if isinstance(default, tuple):
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return tuple(value)
        raise ConfigError(f"{name!r} of the gate policy is a list of names.")
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        raise ConfigError(f"{name!r} of the gate policy is true or false.")
    if isinstance(value, bool) or not isinstance(value, int | type(default)):
        raise ConfigError(f"{name!r} of the gate policy is a number.")
    return type(default)(value)  # type: ignore[call-arg]  # int or float
