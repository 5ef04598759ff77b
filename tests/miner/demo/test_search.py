"""Search as a discovery uses it: windows, more than a thousand hits, no git needed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from miner.demo import ForgeData, serve
from miner.demo.pulls import RepositoryRecord
from miner.demo.search import find_repositories, in_range
from miner.demo.world import World
from tests.miner.demo.conftest import ask, dig, querier

DAY = datetime(2025, 1, 1, tzinfo=UTC)


def many(count: int, **more: object) -> ForgeData:
    records = tuple(
        RepositoryRecord.model_validate(
            {
                "name": f"many/r{place:04}",
                "stars": place,
                "license": "MIT",
                "languages": {"Python": 10},
                "created_at": DAY + timedelta(days=place),
                "pushed_at": DAY + timedelta(days=500 + place),
                **more,
            }
        )
        for place in range(count)
    )
    return ForgeData(git_root=Path("/nowhere"), records=records)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("5", [5]),
        (">5", [6, 7]),
        (">=5", [5, 6, 7]),
        ("<5", [3, 4]),
        ("<=5", [3, 4, 5]),
        ("4..6", [4, 5, 6]),
        ("*..4", [3, 4]),
        ("6..*", [6, 7]),
    ],
)
def test_ranges_are_closed(text: str, inside: list[int]) -> None:
    assert [number for number in range(3, 8) if in_range(number, text, int)] == inside


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("stars:>=8", ["r0009", "r0008"]),
        ("stars:>=8 sort:stars-asc", ["r0008", "r0009"]),
        ("stars:1..2", ["r0002", "r0001"]),
        ("created:2025-01-03..2025-01-04", ["r0003", "r0002"]),
        ("pushed:>=2026-05-24T00:00:00+00:00", ["r0009", "r0008"]),
        ('language:"python" license:mit fork:false archived:false stars:<1', ["r0000"]),
        ("language:go", []),
        ("-stars:<9", ["r0009"]),
        ("repo:many/R0004", ["r0004"]),
        ("org:many r0005", ["r0005"]),
        ("colour:red", []),
    ],
)
def test_qualifiers(query: str, names: list[str]) -> None:
    found = find_repositories(World(many(10)), query)
    assert [repository.name.removeprefix("many/") for repository in found] == names


def test_forks_and_archived_ones_are_left_out_on_request() -> None:
    world = World(many(3, is_fork=True, is_archived=True))
    assert find_repositories(world, "fork:false") == []
    assert find_repositories(world, "archived:false") == []
    assert len(find_repositories(world, "fork:true archived:true")) == 3
    assert len(find_repositories(world, "fork:only")) == 3


def test_a_thousand_is_all_that_is_shown() -> None:
    run = querier(World(many(1100)))
    text = """query ($after: String) { search(type: REPOSITORY, query: "stars:>=0", first: 100,
      after: $after) { repositoryCount pageInfo { hasNextPage endCursor }
      nodes { ... on Repository { name pushedAt licenseInfo { spdxId } } } } }"""
    seen: set[object] = set()
    after = None
    while True:
        found = dig(run(text, after=after), "data", "search")
        assert dig(found, "repositoryCount") == 1100
        nodes = dig(found, "nodes")
        assert isinstance(nodes, list)
        seen |= {node["name"] for node in nodes}
        after = dig(found, "pageInfo", "endCursor")
        if not dig(found, "pageInfo", "hasNextPage"):
            break
    assert len(seen) == 1000


def test_rest_refuses_what_lies_past_the_thousandth() -> None:
    with serve(many(1100)) as forge:
        last = ask(forge, "/search/repositories?q=stars:>=0&per_page=100&page=10")
        past = ask(forge, "/search/repositories?q=stars:>=0&per_page=100&page=11")
        assert dig(last.json, "total_count") == 1100
        assert "link" not in last.headers
        assert past.status == 422
        assert last.headers["x-ratelimit-resource"] == "search"
        assert last.headers["x-ratelimit-limit"] == "30"
