"""Repositories worth watching, by GitHub's search and our own look at each.

A search text gives 1,000 results at most, so its window of stars is halved until it fits; where one
number of stars is still too much, its window of creation times is. What the search cannot tell
(share of a language, licence) is judged here, and every found repository comes with the reason.
"""

import logging
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from pydantic import AwareDatetime, ValidationError

from miner.crawl.github.graphql import GraphQL, HeavyQueryError
from miner.crawl.github.nodes import Node
from miner.crawl.github.queries import query
from miner.errors import ConfigError, MalformedPayloadError
from miner.http import HttpClient
from validators.plural import counted

RESULTS_A_TEXT = 1000
FIRST_PAGE = 50
FIRST_REPOSITORY = datetime(2007, 10, 1, tzinfo=UTC)

PERMISSIVE = frozenset(
    {"MIT", "MIT-0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "ISC", "Unlicense",
     "CC0-1.0", "Zlib", "PSF-2.0", "Python-2.0", "BSL-1.0", "BlueOak-1.0.0"}
)  # fmt: skip
"""SPDX ids of licences that let code be used and passed on."""

_SPDX = re.compile(r"[A-Za-z0-9.+-]+")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is looked for. `min_share`: of the language among all bytes, 0 to 1."""

    language: str = "Python"
    min_share: float = 0.5
    min_stars: int = 100
    max_stars: int | None = None
    licenses: frozenset[str] = PERMISSIVE
    pushed_since: date

    def __post_init__(self) -> None:
        if not 0 <= self.min_share <= 1:
            raise ConfigError("The least share of a language is a number from 0 to 1.")
        if self.min_stars < 0 or (self.max_stars or self.min_stars) < self.min_stars:
            raise ConfigError("The stars looked for must be a range upwards from 0.")
        if not self.licenses or not all(_SPDX.fullmatch(name) for name in self.licenses):
            raise ConfigError("Licences are named by SPDX ids such as MIT or Apache-2.0.")
        if not self.language or '"' in self.language:
            raise ConfigError(f"{self.language!r} is no language's name.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A repository, whether it is to be watched, and why or why not."""

    name: str
    database_id: int
    stars: int
    license: str | None
    share: float
    wanted: bool
    reason: str


class _License(Node):
    spdx_id: str | None = None


class _Language(Node):
    name: str


class _Edge(Node):
    size: int
    node: _Language


class _Languages(Node):
    total_size: int
    edges: tuple[_Edge, ...] = ()


class _Repository(Node):
    database_id: int
    name_with_owner: str
    is_fork: bool
    is_archived: bool
    is_disabled: bool
    is_mirror: bool
    stargazer_count: int
    pushed_at: AwareDatetime | None = None
    license_info: _License | None = None
    languages: _Languages | None = None


@dataclass(frozen=True, slots=True)
class _Window:
    """Stars and creation times, all ends included."""

    least: int
    most: int | None
    created: tuple[datetime, datetime] | None = None

    def text(self, wish: Wish) -> str:
        stars = f">={self.least}" if self.most is None else f"{self.least}..{self.most}"
        created = ""
        if self.created is not None:
            created = f" created:{self.created[0].isoformat()}..{self.created[1].isoformat()}"
        return (
            f'language:"{wish.language}" fork:false archived:false stars:{stars} '
            f"pushed:>={wish.pushed_since.isoformat()}{created} sort:stars-desc"
        )

    def halves(self, *, most_stars: int, now: datetime) -> tuple["_Window", "_Window"] | None:
        """Two windows that make up this one; None when it cannot be cut."""
        most = max(self.least, most_stars)
        if most > self.least:
            middle = max(self.least, min(math.isqrt(max(self.least, 1) * most), most - 1))
            return replace(self, most=middle), replace(self, least=middle + 1, most=self.most)
        since, until = self.created or (FIRST_REPOSITORY, now.replace(microsecond=0))
        seconds = int((until - since).total_seconds())
        if seconds < 1:
            return None
        middle_at = since + timedelta(seconds=seconds // 2)
        cut = replace(self, most=most)
        return (
            replace(cut, created=(since, middle_at)),
            replace(cut, created=(middle_at + timedelta(seconds=1), until)),
        )


def discover(client: HttpClient, wish: Wish, *, now: datetime) -> Iterator[Found]:
    """Every repository the search finds for `wish`, once, with our judgement.

    Errors as of HttpClient.
    """
    api = GraphQL(client)
    seen: set[int] = set()
    windows = [_Window(wish.min_stars, wish.max_stars)]
    while windows:
        window = windows.pop()
        results = _Results(api, window.text(wish))
        if results.count > RESULTS_A_TEXT:
            halves = window.halves(most_stars=results.most_stars, now=now)
            if halves is not None:
                windows += halves
                continue
            _log.warning("more than %d repositories for %s", RESULTS_A_TEXT, window.text(wish))
        for repository in results:
            if repository.database_id not in seen:
                seen.add(repository.database_id)
                yield judged(repository, wish)


def judged(repository: _Repository, wish: Wish) -> Found:
    """Our judgement of one repository, and the reason in words."""
    spdx = repository.license_info.spdx_id if repository.license_info else None
    share = _share(repository.languages, wish.language)
    refusal = _refusal(repository, wish, spdx=spdx, share=share)
    praise = (
        f"{share:.0%} {wish.language}, {counted(repository.stargazer_count, 'star')}, {spdx}, "
        f"pushed {repository.pushed_at:%Y-%m-%d}"
        if repository.pushed_at
        else ""
    )
    return Found(
        name=repository.name_with_owner,
        database_id=repository.database_id,
        stars=repository.stargazer_count,
        license=spdx,
        share=share,
        wanted=refusal is None,
        reason=refusal or praise,
    )


def _refusal(repository: _Repository, wish: Wish, *, spdx: str | None, share: float) -> str | None:
    pushed = repository.pushed_at
    stars = repository.stargazer_count
    rules = (
        (repository.is_fork, "it is a fork"),
        (repository.is_archived, "it is archived"),
        (repository.is_disabled, "it is disabled"),
        (repository.is_mirror, "it is a mirror of another host's"),
        (
            (spdx or "").lower() not in {name.lower() for name in wish.licenses},
            f"its licence is {spdx or 'not known'}",
        ),
        (share < wish.min_share, f"only {share:.0%} of it is {wish.language}"),
        (stars < wish.min_stars, f"it has {counted(stars, 'star')}"),
        (pushed is None or pushed.date() < wish.pushed_since, "nothing was pushed of late"),
    )
    return next((reason for applies, reason in rules if applies), None)


def _share(languages: _Languages | None, wanted: str) -> float:
    if languages is None or languages.total_size <= 0:
        return 0.0
    sizes = [e.size for e in languages.edges if e.node.name.lower() == wanted.lower()]
    return sum(sizes) / languages.total_size


class _Results:
    """One search text's results; pages shrink when they are too heavy."""

    def __init__(self, api: GraphQL, text: str) -> None:
        self._api = api
        self._text = text
        self._size = FIRST_PAGE
        self._first = self._page(None)
        count = self._first.get("repositoryCount")
        self.count = count if isinstance(count, int) else 0

    @property
    def most_stars(self) -> int:
        """Of the first result, which has the most."""
        return max((r.stargazer_count for r in _repositories(self._first)), default=0)

    def __iter__(self) -> Iterator[_Repository]:
        page = self._first
        while True:
            yield from _repositories(page)
            info = page.get("pageInfo")
            if not isinstance(info, dict) or info.get("hasNextPage") is not True:
                return
            page = self._page(str(info.get("endCursor")))

    def _page(self, after: str | None) -> Mapping[str, object]:
        while True:
            variables = {"text": self._text, "after": after, "first": self._size}
            try:
                answer = self._api.ask(query("discover"), variables)
            except HeavyQueryError:
                if self._size == 1:
                    raise
                self._size //= 2
                continue
            page = answer.data.get("search")
            if not isinstance(page, dict):
                raise MalformedPayloadError("The search answered without results or count.")
            return page


def _repositories(page: Mapping[str, object]) -> list[_Repository]:
    nodes = page.get("nodes")
    try:
        return [
            _Repository.model_validate(node)
            for node in (nodes if isinstance(nodes, list) else [])
            if node
        ]
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise MalformedPayloadError(f"A found repository came malformed: {place}.") from None
