"""The GraphQL client: where it asks, what it keeps, what it refuses to go on with."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from miner.crawl.github.graphql import GraphQL, HeavyQueryError
from miner.errors import ConfigError
from miner.http import HttpClient
from miner.wire import Request, Response, Token

SECRET = "ghp_secret"


class Api:
    """Answers every request the same."""

    def __init__(self, answer: object, *, status: int = 200) -> None:
        self.answer = answer
        self.status = status
        self.urls: list[str] = []

    def send(self, request: Request) -> Response:
        self.urls.append(request.url)
        assert request.headers["authorization"] == f"Bearer {SECRET}"
        return Response(
            status=self.status,
            headers={"content-type": "application/json"},
            body=json.dumps(self.answer).encode(),
            url=request.url,
        )

    def stream(self, request: Request) -> Iterator[bytes]:
        raise AssertionError(request)

    def close(self) -> None:
        """Nothing is held."""


def graphql(api: Api, base_url: str = "https://api.test") -> GraphQL:
    return GraphQL(HttpClient(base_url, tokens=[Token(SECRET)], transport=api))


@pytest.mark.parametrize(
    ("base_url", "asked"),
    [
        ("https://api.github.com", "https://api.github.com/graphql"),
        ("https://git.example.com/api/v3", "https://git.example.com/api/graphql"),
        ("https://git.example.com/api/v3/", "https://git.example.com/api/graphql"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/graphql"),
    ],
)
def test_the_endpoint_follows_from_the_base_url(base_url: str, asked: str) -> None:
    api = Api({"data": {}})
    graphql(api, base_url).ask("query { x }", {})
    assert api.urls == [asked]


def test_partial_data_is_kept_with_its_problems_and_cost() -> None:
    error = {"type": "NOT_FOUND", "message": "no such thing", "path": ["b", 0]}
    told = {"data": {"rateLimit": {"cost": 3}, "a": 1, "b": None}, "errors": [error, "odd"]}
    client = graphql(Api(told))
    answer = client.ask("query { a b }", {})
    assert (answer.data["a"], answer.cost, client.spent) == (1, 3, 3)
    assert [(p.type, p.path) for p in answer.problems] == [("NOT_FOUND", ("b", 0)), ("", ())]


@pytest.mark.parametrize(
    "error",
    [
        {"type": "RESOURCE_LIMITS_EXCEEDED", "message": "too much"},
        {"type": "MAX_NODE_LIMIT_EXCEEDED", "message": "too many"},
        {"message": "Something went wrong while executing your query. Please include …"},
    ],
)
def test_a_query_that_was_too_much_is_told_apart(error: dict[str, Any]) -> None:
    with pytest.raises(HeavyQueryError) as caught:
        graphql(Api({"data": {"a": 1}, "errors": [error]})).ask("query { a }", {})
    assert caught.value.answer is not None
    assert caught.value.answer.data == {"a": 1}


@pytest.mark.parametrize("status", [502, 504])
def test_a_time_out_is_one_too(status: int) -> None:
    with pytest.raises(HeavyQueryError):
        graphql(Api({}, status=status)).ask("query { a }", {})


def test_a_query_that_the_api_does_not_understand_is_a_persons_matter() -> None:
    error = {"message": f"Field 'x' doesn't exist (asked with {SECRET})"}
    with pytest.raises(ConfigError, match="refuses our query: Field 'x'") as caught:
        graphql(Api({"errors": [error]})).ask("query { x }", {})
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("answer", [[], "text", 3])
def test_what_is_no_graphql_answer_is_told(answer: object) -> None:
    with pytest.raises(ConfigError, match="check the base URL"):
        graphql(Api(answer)).ask("query { x }", {})
