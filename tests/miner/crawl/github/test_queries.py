"""Every query we send is one that GitHub's official schema accepts."""

import re

import pytest
from graphql import parse, validate

from miner.crawl.github import queries
from tests import schemas

NUMBERED = {"targets", "pulls_by_number", "reverted"}


def _whole(name: str) -> str:
    return queries.numbered_query(name, 20) if name in NUMBERED else queries.query(name)


@pytest.mark.network
@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", queries.names())
def test_a_query_is_valid_by_the_official_schema(name: str) -> None:
    assert validate(schemas.graphql_schema(), parse(_whole(name))) == []


@pytest.mark.network
@pytest.mark.timeout(240)
def test_a_misspelt_field_would_be_found() -> None:
    text = queries.query("merged_pulls").replace("headRefOid", "headRefOidd")
    assert len(validate(schemas.graphql_schema(), parse(text))) == 1


@pytest.mark.parametrize("name", queries.names())
def test_a_query_asks_what_it_cost(name: str) -> None:
    assert "rateLimit { cost remaining limit resetAt }" in _whole(name)


def test_repeated_aliases_have_their_own_variables() -> None:
    text = queries.numbered_query("targets", 3)
    assert re.findall(r"^  (t\d):", text, re.MULTILINE) == ["t0", "t1", "t2"]
    assert "$number2: Int!" in text
    assert "issueOrPullRequest(number: $number2)" in text


def test_a_query_carries_exactly_the_fragments_it_uses() -> None:
    text = queries.query("more_files")
    assert re.findall(r"^fragment (\w+)", text, re.MULTILINE) == ["Files"]
    whole = queries.query("merged_pulls")
    assert sorted(re.findall(r"^fragment (\w+)", whole, re.MULTILINE)) == sorted(
        set(re.findall(r"\.\.\.(\w+)", whole))
    )
