"""Points and nodes by GitHub's formula; the numbers are its documentation's own examples."""

from collections.abc import Mapping

import pytest
from graphql import OperationDefinitionNode, parse, validate

from miner.demo.cost import Cost, query_cost
from miner.demo.graph import schema

PULLS = """
query ($prs: Int!, $commits: Int!, $issues: Int!, $comments: Int!) {
  repository(owner: "o", name: "n") {
    languages(first: 10) { totalSize }
    pullRequests(first: $prs) { nodes {
      mergeCommit { parents(first: 2) { nodes { oid } } }
      labels(first: 20) { nodes { name } }
      commits(first: $commits) { nodes { commit { parents(first: 2) { nodes { oid } } } } }
      files(first: 100) { nodes { path } }
      closingIssuesReferences(first: $issues) { nodes {
        labels(first: 20) { nodes { name } }
        timelineItems(last: 1) { nodes { __typename } }
        comments(first: $comments) { nodes { id } }
      } }
      timelineItems(first: 20) { nodes { __typename } }
    } }
  }
}
"""


def cost_of(text: str, variables: Mapping[str, object] | None = None) -> Cost:
    document = parse(text)
    assert not validate(schema(), document)
    operation = document.definitions[0]
    assert isinstance(operation, OperationDefinitionNode)
    return query_cost(schema(), document, operation, variables or {})


@pytest.mark.parametrize(
    ("prs", "commits", "issues", "comments", "requests", "points", "nodes"),
    [
        (5, 50, 5, 20, 357, 4, 2525),
        (10, 50, 5, 20, 712, 7, 5040),
        (20, 50, 5, 20, 1422, 14, 10070),
        (25, 50, 3, 20, 1627, 16, 10485),
        (100, 100, 5, 50, 12102, 121, 80310),
    ],
)
def test_every_parent_counts_at_its_limit(  # noqa: PLR0917  a table's columns
    prs: int, commits: int, issues: int, comments: int, requests: int, points: int, nodes: int
) -> None:
    cost = cost_of(
        PULLS,
        {"prs": prs, "commits": commits, "issues": issues, "comments": comments},
    )
    assert (cost.requests, cost.points, cost.nodes) == (requests, points, nodes)
    assert not cost.refusals


def test_the_smallest_charge_is_one_point() -> None:
    assert cost_of('{ repository(owner: "o", name: "n") { id } }').points == 1


def test_a_leaf_costs_the_same_whatever_its_limit() -> None:
    text = '{ repository(owner: "o", name: "n") { issues(first: %d) { totalCount } } }'
    assert cost_of(text % 100).requests == cost_of(text % 1).requests == 1


def test_nodes_by_id_are_parents() -> None:
    text = """query ($ids: [ID!]!) { nodes(ids: $ids) {
      ... on PullRequest { closingIssuesReferences(first: 5) { nodes { number } } } } }"""
    cost = cost_of(text, {"ids": [str(number) for number in range(25)]})
    assert (cost.requests, cost.nodes) == (26, 150)


def test_fragments_cost_as_if_written_out() -> None:
    spread = """{ repository(owner: "o", name: "n") { ...P } } fragment P on Repository {
      pullRequests(first: 10) { nodes { labels(first: 5) { totalCount } } } }"""
    assert cost_of(spread).requests == 11


def test_the_same_connection_twice_is_one() -> None:
    text = """{ repository(owner: "o", name: "n") {
      issues(first: 10) { totalCount } ... on Repository { issues(first: 10) { totalCount } } } }"""
    assert cost_of(text).requests == 1


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ("", "MISSING_PAGINATION_BOUNDARIES"),
        ("(first: 101)", "EXCESSIVE_PAGINATION"),
        ("(last: 0)", "EXCESSIVE_PAGINATION"),
    ],
)
def test_a_connection_needs_a_limit_from_1_to_100(arguments: str, kind: str) -> None:
    text = f'{{ repository(owner: "o", name: "n") {{ issues{arguments} {{ totalCount }} }} }}'
    (refusal,) = cost_of(text).refusals
    assert refusal.type == kind
    assert refusal.path == ("repository", "issues")


def test_half_a_million_nodes_are_the_limit() -> None:
    text = """{ repository(owner: "o", name: "n") { pullRequests(first: 100) { nodes {
      commits(first: 100) { nodes { commit { parents(first: 100) { nodes { oid } } } } } } } } }"""
    (refusal,) = cost_of(text).refusals
    assert refusal.type == "MAX_NODE_LIMIT_EXCEEDED"
    assert "1,010,100 possible nodes" in refusal.message


def test_at_most_100_ids() -> None:
    ids = {"ids": [str(number) for number in range(101)]}
    (refusal,) = cost_of("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", ids).refusals
    assert refusal.type == "ARGUMENT_LIMIT"
