"""Every fault shows itself as GitHub shows it, at the request it was planned for."""

import http.client
import json
from contextlib import closing

import pytest

from miner.demo import Forge, ForgeData, faults, serve
from miner.demo.faults import Fault
from tests.miner.demo.conftest import NOW, Asked, ask, dig

REPO = "/repos/demo/tally"
PAGE = {
    "query": """query ($after: String) { repository(owner: "demo", name: "tally") {
  pullRequests(states: [MERGED], first: 4, after: $after,
    orderBy: {field: UPDATED_AT, direction: DESC}) {
    pageInfo { endCursor hasNextPage } nodes { number body } } } }"""
}


def struck(forge: Forge, fault: Fault, path: str, body: object = None) -> Asked:
    """The answer with the fault; the one after it must be sound again."""
    forge.faults.add(fault)
    answer = ask(forge, path, body=body)
    sound = ask(forge, path, body=body)
    assert sound.status == 200
    assert "errors" not in sound.json if isinstance(sound.json, dict) else True
    return answer


@pytest.mark.parametrize("status", [403, 429])
def test_rest_primary_limit(forge: Forge, status: int) -> None:
    answer = struck(forge, faults.primary_limit(status=status, reset_at=NOW), REPO)
    assert answer.status == status
    assert answer.headers["x-ratelimit-remaining"] == "0"
    assert answer.headers["x-ratelimit-reset"] == str(int(NOW.timestamp()))


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize("retry_after_s", [None, 7])
def test_secondary_limit(forge: Forge, status: int, retry_after_s: int | None) -> None:
    fault = faults.secondary_limit(status=status, retry_after_s=retry_after_s)
    answer = struck(forge, fault, REPO)
    assert answer.status == status
    assert "secondary rate limit" in str(dig(answer.json, "message"))
    assert answer.headers.get("retry-after") == (None if retry_after_s is None else "7")
    assert answer.headers["x-ratelimit-remaining"] != "0"


def test_graphql_limits_come_with_status_200(forge: Forge) -> None:
    primary = struck(forge, faults.graphql_limit(reset_at=NOW), "/graphql", PAGE)
    assert (primary.status, dig(primary.json, "errors", 0, "type")) == (200, "RATE_LIMITED")
    assert primary.headers["x-ratelimit-remaining"] == "0"
    secondary = struck(forge, faults.secondary_limit(status=200, retry_after_s=3), "/graphql", PAGE)
    assert (secondary.status, secondary.headers["retry-after"]) == (200, "3")
    assert "secondary" in str(dig(secondary.json, "errors", 0, "message"))


def test_too_heavy_a_query_keeps_half_its_data(forge: Forge) -> None:
    answer = struck(forge, faults.resource_limits(), "/graphql", PAGE)
    nodes = dig(answer.json, "data", "repository", "pullRequests", "nodes")
    assert isinstance(nodes, list)
    assert [node is None for node in nodes] == [False, False, True, True]
    assert dig(answer.json, "errors", 1, "type") == "RESOURCE_LIMITS_EXCEEDED"
    assert dig(answer.json, "errors", 1, "path") == ["repository", "pullRequests", "nodes", 3]


@pytest.mark.parametrize("status", [500, 502, 504])
def test_server_errors_are_no_json(forge: Forge, status: int) -> None:
    answer = struck(forge, faults.server_error(status), "/graphql", PAGE)
    assert answer.status == status
    with pytest.raises(json.JSONDecodeError):
        json.loads(answer.body)


def test_a_reset_comes_inside_the_body(forge: Forge) -> None:
    forge.faults.add(faults.reset_mid_body(50))
    host = forge.base_url.removeprefix("http://")
    headers = {"Authorization": f"Bearer {forge.token}"}
    with closing(http.client.HTTPConnection(host, timeout=20)) as connection:
        connection.request("POST", "/graphql", json.dumps(PAGE), headers)
        with pytest.raises((ConnectionError, http.client.IncompleteRead)):
            connection.getresponse().read()
    assert ask(forge, "/graphql", body=PAGE).status == 200


def test_truncated_json_looks_whole_to_http(forge: Forge) -> None:
    answer = struck(forge, faults.truncated_json(), "/graphql", PAGE)
    assert answer.status == 200
    with pytest.raises(json.JSONDecodeError):
        json.loads(answer.body)


def test_a_revoked_token_from_a_request_on(forge: Forge) -> None:
    forge.faults.add(faults.bad_credentials(), when=lambda seen: seen.number >= 2, times=10**6)
    assert [ask(forge, REPO).status for _ in range(3)] == [200, 401, 401]


def test_gone_and_blocked(forge: Forge) -> None:
    assert struck(forge, faults.missing(), REPO).status == 404
    dmca = struck(forge, faults.blocked(), REPO)
    assert (dmca.status, dig(dmca.json, "block", "reason")) == (451, "dmca")
    terms = struck(forge, faults.blocked(status=403, reason="tos"), REPO)
    assert (terms.status, dig(terms.json, "block", "reason")) == (403, "tos")


def test_a_pull_may_come_while_pages_are_read(forge: Forge) -> None:
    old = forge.world.repositories["demo/tally"].pulls[2]
    new = old.model_copy(update={"number": 60, "updated_at": NOW})
    forge.faults.add(faults.change_world(new), when=faults.at(2))
    first = ask(forge, "/graphql", body=PAGE)
    cursor = dig(first.json, "data", "repository", "pullRequests", "pageInfo", "endCursor")
    second = ask(forge, "/graphql", body={**PAGE, "variables": {"after": cursor}})
    nodes = dig(second.json, "data", "repository", "pullRequests", "nodes")
    assert isinstance(nodes, list)
    assert [node["number"] for node in nodes] == [2]
    assert 60 in forge.world.repositories["demo/tally"].pulls


def test_a_repository_may_go_while_pages_are_read(made: ForgeData) -> None:
    with serve(made) as forge:
        forge.faults.add(faults.delete_repository("demo/tally"), when=faults.at(2))
        assert ask(forge, "/graphql", body=PAGE).status == 200
        gone = ask(forge, "/graphql", body=PAGE)
        assert dig(gone.json, "errors", 0, "type") == "NOT_FOUND"
        assert ask(forge, REPO).status == 404


def test_a_fault_strikes_only_what_it_is_for(forge: Forge) -> None:
    forge.faults.add(faults.server_error(), when=faults.of("graphql"), times=2)
    assert ask(forge, REPO).status == 200
    assert ask(forge, "/graphql", body=PAGE).status == 502
    assert ask(forge, "/graphql", body=PAGE).status == 502
    assert ask(forge, "/graphql", body=PAGE).status == 200
    assert forge.faults.struck == 2
    assert forge.requests.points() == 1
