"""GraphQL answers over the made projects."""

from collections.abc import Mapping
from datetime import timedelta

from miner.demo import ForgeData
from miner.demo.pulls import PullRecord
from miner.demo.world import World
from tests.miner.demo.conftest import NOW, Query, dig, querier

PAGE = """query ($after: String, $first: Int!) {
  rateLimit { cost remaining used nodeCount }
  repository(owner: "demo", name: "tally") {
    pullRequests(states: [MERGED], first: $first, after: $after,
                 orderBy: {field: UPDATED_AT, direction: DESC}) {
      totalCount pageInfo { hasNextPage endCursor } nodes { number } } } }"""


def numbers(answer: Mapping[str, object]) -> list[object]:
    nodes = dig(answer, "data", "repository", "pullRequests", "nodes")
    assert isinstance(nodes, list)
    return [node["number"] for node in nodes]


def test_merged_pulls_come_newest_update_first_and_unmerged_ones_do_not(query: Query) -> None:
    answer = query(PAGE, first=100)
    assert numbers(answer) == [7, 6, 5, 3, 2]
    assert dig(answer, "data", "repository", "pullRequests", "pageInfo", "hasNextPage") is False


def test_pages_meet_without_hole_or_repeat(query: Query) -> None:
    seen: list[object] = []
    after = None
    while True:
        answer = query(PAGE, first=2, after=after)
        seen += numbers(answer)
        page = dig(answer, "data", "repository", "pullRequests", "pageInfo")
        after = dig(page, "endCursor")
        if not dig(page, "hasNextPage"):
            break
    assert seen == [7, 6, 5, 3, 2]


def test_a_pull_put_in_between_two_pages_shifts_nothing(made: ForgeData) -> None:
    world = World(made)
    run = querier(world)
    first = run(PAGE, first=2)
    world.add(a_pull(world, number=50))
    second = run(
        PAGE,
        first=2,
        after=dig(first, "data", "repository", "pullRequests", "pageInfo", "endCursor"),
    )
    assert numbers(first) + numbers(second) == [7, 6, 5, 3]


def a_pull(world: World, *, number: int) -> PullRecord:
    old = world.repositories["demo/tally"].pulls[2]
    moved = {"number": number, "updated_at": NOW, "merged_at": NOW - timedelta(hours=1)}
    return old.model_copy(update=moved)


def test_rate_limit_tells_this_query_s_own_cost(query: Query) -> None:
    query(PAGE, first=2)
    limit = dig(query(PAGE, first=2), "data", "rateLimit")
    assert limit == {"cost": 1, "remaining": 4998, "used": 2, "nodeCount": 2}


def test_spent_points_are_answered_with_status_200_and_rate_limited(made: ForgeData) -> None:
    run = querier(World(made), limits={"graphql": 1})
    run(PAGE, first=2)
    answer = run(PAGE, first=2)
    assert dig(answer, "errors", 0, "type") == "RATE_LIMITED"
    assert "data" not in answer


def test_files_and_commits_are_git_s(query: Query) -> None:
    answer = query("""{ repository(owner: "demo", name: "tally") { pullRequest(number: 5) {
      additions deletions changedFiles
      files(first: 9) { nodes { path additions deletions changeType } }
      commits(first: 9) { totalCount nodes { commit { oid message } } }
      mergeCommit { parents(first: 2) { nodes { oid } } } headRefOid } } }""")
    pull = dig(answer, "data", "repository", "pullRequest")
    assert dig(pull, "files", "nodes") == [
        {"path": "tally/words.py", "additions": 3, "deletions": 3, "changeType": "MODIFIED"},
        {"path": "tests/test_words.py", "additions": 4, "deletions": 0, "changeType": "MODIFIED"},
    ]
    assert (dig(pull, "additions"), dig(pull, "deletions"), dig(pull, "changedFiles")) == (7, 3, 2)
    assert dig(pull, "commits", "nodes", 0, "commit", "oid") == dig(pull, "headRefOid")
    assert dig(pull, "mergeCommit", "parents", "nodes", 1, "oid") == dig(pull, "headRefOid")


def test_an_issue_says_who_closed_it(query: Query) -> None:
    answer = query("""{ repository(owner: "demo", name: "tally") { issue(number: 4) {
      timelineItems(last: 1, itemTypes: [CLOSED_EVENT]) { nodes { ... on ClosedEvent {
        closer { __typename ... on PullRequest { number } } } } } } } }""")
    closer = dig(answer, "data", "repository", "issue", "timelineItems", "nodes", 0, "closer")
    assert closer == {"__typename": "PullRequest", "number": 5}


def test_a_number_may_be_an_issue_or_a_pull_and_a_bot_is_one(query: Query) -> None:
    answer = query("""{ repository(owner: "demo", name: "tally") {
      a: issueOrPullRequest(number: 2) { __typename }
      b: issueOrPullRequest(number: 4) { __typename }
      c: issueOrPullRequest(number: 99) { __typename }
      d: pullRequest(number: 7) { author { __typename login } } } }""")
    repository = dig(answer, "data", "repository")
    assert dig(repository, "a") == {"__typename": "PullRequest"}
    assert dig(repository, "b") == {"__typename": "Issue"}
    assert dig(repository, "c") is None
    assert dig(repository, "d", "author") == {"__typename": "Bot", "login": "dependabot"}
    assert dig(answer, "errors", 0, "type") == "NOT_FOUND"
    assert dig(answer, "errors", 0, "path") == ["repository", "c"]


def test_one_bad_alias_leaves_the_others_whole(query: Query) -> None:
    answer = query("""{ good: repository(owner: "demo", name: "tally") { name }
      bad: repository(owner: "demo", name: "nothing") { name } }""")
    assert answer["data"] == {"good": {"name": "tally"}, "bad": None}
    assert dig(answer, "errors", 0, "type") == "NOT_FOUND"


def test_every_object_is_found_by_its_id(query: Query) -> None:
    answer = query("""{ repository(owner: "demo", name: "tally") { id
      pullRequest(number: 5) { id mergeCommit { id } }
      issue(number: 4) { id comments(first: 1) { nodes { id } } } } }""")
    repository = dig(answer, "data", "repository")
    ids = [
        dig(repository, "id"),
        dig(repository, "pullRequest", "id"),
        dig(repository, "pullRequest", "mergeCommit", "id"),
        dig(repository, "issue", "id"),
        dig(repository, "issue", "comments", "nodes", 0, "id"),
        "PR_1_1",
    ]
    found = query("query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }", ids=ids)
    nodes = dig(found, "data", "nodes")
    assert isinstance(nodes, list)
    assert [node and node["id"] for node in nodes] == [*ids[:-1], None]
    assert dig(found, "errors", 0, "path") == ["nodes", 5]


def test_a_revert_is_seen_from_what_it_undoes(query: Query) -> None:
    answer = query("""{ repository(owner: "demo", name: "tally") { pullRequest(number: 5) {
      timelineItems(first: 9, itemTypes: [CROSS_REFERENCED_EVENT, MERGED_EVENT]) { nodes {
        __typename
        ... on CrossReferencedEvent { source { ... on PullRequest { number title } } } } } } } }""")
    nodes = dig(answer, "data", "repository", "pullRequest", "timelineItems", "nodes")
    assert nodes == [
        {"__typename": "MergedEvent"},
        {
            "__typename": "CrossReferencedEvent",
            "source": {"number": 6, "title": 'Revert "Split at hyphens"'},
        },
    ]


def test_a_merged_commit_names_its_pull(query: Query) -> None:
    answer = query("""{ repository(owner: "demo", name: "tally") { defaultBranchRef { target {
      ... on Commit { history(first: 9) { nodes { associatedPullRequests(first: 2) {
        nodes { number } } } } } } } } }""")
    nodes = dig(answer, "data", "repository", "defaultBranchRef", "target", "history", "nodes")
    assert isinstance(nodes, list)
    found = [[pull["number"] for pull in n["associatedPullRequests"]["nodes"]] for n in nodes]
    assert found == [[7], [6], [5], [5], [3], [2], []]


def test_a_misspelt_field_is_refused_without_cost(query: Query) -> None:
    answer = query('{ repository(owner: "demo", name: "tally") { nmae } }')
    assert answer["data"] is None
    assert "nmae" in str(dig(answer, "errors", 0, "message"))
    assert dig(query("{ rateLimit { used } }"), "data", "rateLimit", "used") == 1


def test_what_is_no_query_is_refused(query: Query) -> None:
    assert dig(query("{ repository("), "errors", 0, "type") == "PARSE_ERROR"
    assert query("query A { viewer { login } } query B { viewer { login } }")["data"] is None


def test_search_finds_repositories_and_pulls(query: Query) -> None:
    text = """query ($q: String!, $type: SearchType!) { search(type: $type, query: $q, first: 9) {
      issueCount repositoryCount nodes { __typename ... on Repository { name }
      ... on PullRequest { number } } } }"""
    one = query(text, q="language:python stars:>=10 fork:false", type="REPOSITORY")
    assert dig(one, "data", "search", "nodes") == [{"__typename": "Repository", "name": "tally"}]
    window = "is:pr is:merged linked:issue merged:2026-04-01..2026-04-30"
    two = query(text, q=window, type="ISSUE")
    assert dig(two, "data", "search", "issueCount") == 1
    assert dig(query(text, q="typo:1", type="ISSUE"), "data", "search", "issueCount") == 0
