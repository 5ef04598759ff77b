"""Budgets by token, as `miner status` shows them."""

from pathlib import Path

import pytest

from miner.crawl.github.budget import budgets
from miner.demo import made_forge, serve
from miner.errors import MalformedPayloadError
from miner.http import HttpClient
from miner.wire import Request, Token
from tests.miner.crawl.fake_github import BASE_URL, FakeGitHub, answered


def test_every_token_is_asked_for_without_cost(tmp_path: Path) -> None:
    tokens = ["ghp_" + "a" * 36, "ghp_" + "b" * 36]
    with (
        serve(made_forge(tmp_path), tokens=tokens) as forge,
        HttpClient(forge.base_url, tokens=[Token(text) for text in tokens]) as client,
    ):
        client.get("repos/demo/tally")
        told = budgets(client)
        again = budgets(client)
    assert [one.token for one in told] == [1, 2]
    core = [next(b for b in one.budgets if b.resource == "core") for one in told]
    assert [(b.limit, b.limit - b.remaining) for b in core] == [(5000, 1), (5000, 0)]
    assert {b.resource for b in told[0].budgets} == {"core", "graphql", "search"}
    assert [b.remaining for one in again for b in one.budgets] == [
        b.remaining for one in told for b in one.budgets
    ]


@pytest.mark.parametrize("answer", [{}, {"resources": {"core": {"limit": 1}}}, []])
def test_an_answer_that_is_none_is_told(answer: object) -> None:
    fake = FakeGitHub()

    def fault(request: Request) -> object:
        return answered(request, answer)

    fake.faults.append(fault)  # type: ignore[arg-type]
    with pytest.raises(MalformedPayloadError, match="rate_limit"):
        budgets(HttpClient(BASE_URL, transport=fake))
