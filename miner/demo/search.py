"""GitHub's search, as far as a miner uses it: qualifiers over repositories and merged pulls."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from miner.demo.pulls import PullRecord
from miner.demo.world import RepositoryWorld, World

MAX_RESULTS = 1000
T = TypeVar("T", int, datetime)
_TERM = re.compile(r'(-?)([a-z-]+):("[^"]*"|\S+)')


@dataclass(frozen=True, slots=True)
class _Qualifier:
    negated: bool
    name: str
    value: str


def _qualifiers(query: str) -> tuple[Sequence[_Qualifier], Sequence[str]]:
    """Qualifiers and the free words left over."""
    found = [
        _Qualifier(bool(minus), name, value.strip('"'))
        for minus, name, value in _TERM.findall(query)
    ]
    return found, [word.lower() for word in _TERM.sub(" ", query).split()]


def _order(qualifiers: Sequence[_Qualifier]) -> tuple[str, Sequence[_Qualifier]]:
    """`sort:stars-desc` is no filter."""
    orders = [q.value for q in qualifiers if q.name == "sort"]
    return "".join(orders[:1]), [q for q in qualifiers if q.name != "sort"]


def find_repositories(world: World, query: str) -> list[RepositoryWorld]:
    """Matching repositories, most stars first unless the query says `sort:stars-asc`."""
    qualifiers, words = _qualifiers(query)
    order, qualifiers = _order(qualifiers)
    found = [
        repository
        for repository in world.repositories.values()
        if all(_repository_matches(repository, q) != q.negated for q in qualifiers)
        and all(
            word in f"{repository.name} {repository.record.description}".lower() for word in words
        )
    ]
    by_stars = sorted(found, key=lambda item: (-item.record.stars, item.name))
    return by_stars[::-1] if order.endswith("-asc") else by_stars


def find_pulls(world: World, query: str) -> list[tuple[RepositoryWorld, PullRecord]]:
    """Matching pulls, newest first."""
    qualifiers, words = _qualifiers(query)
    _, qualifiers = _order(qualifiers)
    found = [
        (repository, pull)
        for repository in world.repositories.values()
        for pull in repository.pulls.values()
        if all(_pull_matches(repository, pull, q) != q.negated for q in qualifiers)
        and all(word in f"{pull.title} {pull.body}".lower() for word in words)
    ]
    return sorted(found, key=lambda item: (item[1].created_at, item[0].name), reverse=True)


Test = Callable[[RepositoryWorld, str], bool]
PullTest = Callable[[RepositoryWorld, PullRecord, str], bool]

_REPOSITORY_TESTS: Mapping[str, Test] = {
    "language": lambda repository, value: _primary(repository) == value,
    "license": lambda repository, value: (repository.license or "").lower() == value,
    "stars": lambda repository, value: in_range(repository.record.stars, value, int),
    "size": lambda repository, value: in_range(_size_kb(repository), value, int),
    "archived": lambda repository, value: repository.record.is_archived == (value == "true"),
    "fork": lambda repository, value: (
        value == "true" or repository.record.is_fork == (value == "only")
    ),
    "is": lambda _repository, value: value == "public",
    "created": lambda repository, value: in_range(_created_at(repository), value, _moment),
    "pushed": lambda repository, value: in_range(repository.pushed_at, value, _moment),
    "repo": lambda repository, value: repository.name.lower() == value,
    "org": lambda repository, value: repository.name.lower().split("/")[0] == value,
    "user": lambda repository, value: repository.name.lower().split("/")[0] == value,
}
_PULL_TESTS: Mapping[str, PullTest] = {
    "is": lambda _, pull, value: value != "merged" or pull.merged_at is not None,
    "type": lambda _repository, _pull, value: value == "pr",
    "merged": lambda _, pull, value: (
        pull.merged_at is not None and in_range(pull.merged_at, value, _moment)
    ),
    "created": lambda _, pull, value: in_range(pull.created_at, value, _moment),
    "updated": lambda repository, pull, value: in_range(
        repository.updated_at(pull), value, _moment
    ),
    "linked": lambda _repository, pull, _value: bool(pull.closing_references),
    "author": lambda _, pull, value: (
        pull.author is not None and value in (pull.author.login, f"app/{pull.author.login}")
    ),
    "base": lambda repository, pull, value: (
        (pull.base_branch or repository.default_branch).lower() == value
    ),
}


def _repository_matches(repository: RepositoryWorld, qualifier: _Qualifier) -> bool:
    """A qualifier that is not known here matches nothing, so that it cannot go unnoticed."""
    test = _REPOSITORY_TESTS.get(qualifier.name)
    return test is not None and test(repository, qualifier.value.lower())


def _pull_matches(repository: RepositoryWorld, pull: PullRecord, qualifier: _Qualifier) -> bool:
    test = _PULL_TESTS.get(qualifier.name)
    if test is None:
        return _repository_matches(repository, qualifier)
    return test(repository, pull, qualifier.value.lower())


def _primary(repository: RepositoryWorld) -> str:
    languages = repository.languages
    return max(languages, key=lambda name: languages[name], default="").lower()


def _size_kb(repository: RepositoryWorld) -> int:
    return 1 + sum(repository.languages.values()) // 1024


def _created_at(repository: RepositoryWorld) -> datetime:
    return repository.record.created_at or datetime(2020, 1, 1, tzinfo=UTC)


def in_range(number: T, text: str, read: Callable[[str], T]) -> bool:
    """`5`, `>5`, `>=5`, `<5`, `<=5`, `5..9`, `5..*`, `*..9`: closed at both ends."""
    if ".." in text:
        low, high = text.split("..", 1)
        return (low == "*" or number >= read(low)) and (high == "*" or number <= read(high))
    for sign, holds in (
        (">=", number.__ge__),
        ("<=", number.__le__),
        (">", number.__gt__),
        ("<", number.__lt__),
    ):
        if text.startswith(sign):
            return bool(holds(read(text[len(sign) :])))
    return number == read(text)


def _moment(text: str) -> datetime:
    at = datetime.fromisoformat(text.upper())
    return at if at.tzinfo else at.replace(tzinfo=UTC)
