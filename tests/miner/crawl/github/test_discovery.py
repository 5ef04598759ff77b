"""Finding repositories: windows below the search's cap, and our judgement."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from miner.crawl.github.discovery import RESULTS_A_TEXT, Found, Wish, discover
from miner.errors import ConfigError
from miner.http import HttpClient
from miner.wire import Request, Response
from tests.miner.crawl.fake_github import answered

NOW = datetime(2025, 1, 1, tzinfo=UTC)
WISH = Wish(pushed_since=date(2024, 1, 1))


def repository(number: int, **more: Any) -> dict[str, Any]:
    """A repository as the search shows it."""
    return {
        "databaseId": number,
        "nameWithOwner": f"o/r{number}",
        "isFork": False,
        "isArchived": False,
        "isDisabled": False,
        "isMirror": False,
        "stargazerCount": 100 + number,
        "pushedAt": "2024-12-01T00:00:00Z",
        "createdAt": (datetime(2010, 1, 1, tzinfo=UTC) + timedelta(hours=number)).isoformat(),
        "licenseInfo": {"spdxId": "MIT"},
        "primaryLanguage": {"name": "Python"},
        "languages": {
            "totalSize": 100,
            "edges": [
                {"size": 90, "node": {"name": "Python"}},
                {"size": 10, "node": {"name": "C"}},
            ],
        },
        **more,
    }


class Search:
    """Answers repository searches by stars and creation, never past the cap."""

    def __init__(self, *repositories: dict[str, Any], heavy_above: int = 100) -> None:
        self.repositories = repositories
        self.heavy_above = heavy_above
        self.texts: list[str] = []

    def send(self, request: Request) -> Response:
        variables = json.loads(request.body)["variables"]
        if variables["first"] > self.heavy_above:
            return answered(request, {}, status=502)
        self.texts.append(variables["text"])
        matching = [r for r in self.repositories if self._matches(r, variables["text"])]
        matching.sort(key=lambda r: -int(r["stargazerCount"]))
        start = int(variables["after"] or 0)
        reachable = matching[:RESULTS_A_TEXT]
        page = reachable[start : start + variables["first"]]
        end = start + len(page)
        info = {"hasNextPage": end < len(reachable), "endCursor": str(end)}
        found = {"repositoryCount": len(matching), "pageInfo": info, "nodes": page}
        return answered(request, {"data": {"rateLimit": {"cost": 1}, "search": found}})

    def _matches(self, repo: dict[str, Any], text: str) -> bool:
        stars = re.search(r"stars:(?:>=(\d+)|(\d+)\.\.(\d+))", text)
        assert stars
        least, most = int(stars[1] or stars[2]), int(stars[3] or 10**9)
        if not least <= repo["stargazerCount"] <= most:
            return False
        created = re.search(r"created:(\S+?)\.\.(\S+)", text)
        return created is None or created[1] <= repo["createdAt"] <= created[2]

    def stream(self, request: Request) -> Iterator[bytes]:
        raise AssertionError(request)

    def close(self) -> None:
        """Nothing is held."""


def found_by(search: Search, wish: Wish = WISH) -> list[Found]:
    return list(discover(HttpClient("https://api.test", transport=search), wish, now=NOW))


def test_a_small_result_is_one_search() -> None:
    search = Search(*(repository(n) for n in range(120)))
    assert {f.database_id for f in found_by(search)} == set(range(120))
    assert len(set(search.texts)) == 1
    assert search.texts[0] == (
        'language:"Python" fork:false archived:false stars:>=100 pushed:>=2024-01-01 '
        "sort:stars-desc"
    )


def test_windows_of_stars_are_halved_below_the_cap() -> None:
    search = Search(*(repository(n) for n in range(3500)))
    found = found_by(search)
    assert len(found) == 3500
    assert len({f.database_id for f in found}) == 3500


def test_equal_stars_are_cut_by_creation() -> None:
    search = Search(*(repository(n, stargazerCount=150) for n in range(2500)))
    assert {f.database_id for f in found_by(search)} == set(range(2500))
    assert any("created:" in text for text in search.texts)


def test_what_cannot_be_cut_is_read_as_far_as_it_goes(caplog: pytest.LogCaptureFixture) -> None:
    same = datetime(2012, 1, 1, tzinfo=UTC).isoformat()
    search = Search(*(repository(n, stargazerCount=150, createdAt=same) for n in range(1200)))
    assert len(found_by(search)) == RESULTS_A_TEXT
    assert "more than 1000" in caplog.text


def test_heavy_pages_are_halved() -> None:
    search = Search(*(repository(n) for n in range(40)), heavy_above=10)
    assert len(found_by(search)) == 40


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"isFork": True}, "fork"),
        ({"isArchived": True}, "archived"),
        ({"isMirror": True}, "mirror"),
        ({"isDisabled": True}, "disabled"),
        ({"licenseInfo": None}, "licence is not known"),
        ({"licenseInfo": {"spdxId": "GPL-3.0"}}, "licence is GPL-3.0"),
        ({"languages": None}, "only 0% of it is Python"),
        ({"languages": {"totalSize": 100, "edges": [{"size": 20, "node": {"name": "Python"}}]}},
         "only 20%"),
        ({"pushedAt": "2023-01-01T00:00:00Z"}, "of late"),
        ({"pushedAt": None}, "of late"),
    ],
)  # fmt: skip
def test_a_repository_is_refused_with_its_reason(change: dict[str, Any], reason: str) -> None:
    (found,) = found_by(Search(repository(1, **change)))
    assert not found.wanted
    assert reason in found.reason


def test_a_repository_is_wanted_with_its_reason() -> None:
    (found,) = found_by(Search(repository(1)))
    assert found.wanted
    assert found.reason == "90% Python, 101 stars, MIT, pushed 2024-12-01"


@pytest.mark.parametrize(
    "change",
    [{"min_share": 1.5}, {"min_stars": -1}, {"min_stars": 10, "max_stars": 5}, {"language": ""}],
)
def test_a_wish_that_makes_no_sense_is_told(change: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Wish(pushed_since=date(2024, 1, 1), **change)
