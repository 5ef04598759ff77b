"""GitHub as a source: pages, what hangs on pulls, facts, and what it costs."""

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from miner.crawl.github import GitHub
from miner.crawl.github.nodes import Envelope
from miner.crawl.github.payload import pull_request
from miner.crawl.source import Fetched, Told, Unreadable
from miner.errors import (
    ConfigError,
    NoPermissionError,
    NotFoundError,
    SourceUnavailableError,
)
from miner.http import HttpClient
from miner.model import Link, LinkSource, LinkStrength, PullRequest, Repo
from miner.wire import Request, Response, Token
from tests.miner.crawl.fake_github import (
    BASE_URL,
    FakeGitHub,
    answered,
    at,
    closed,
    comment,
    commit,
    issue,
    pull,
    renamed,
    repository,
    who,
)

NOW = datetime(2024, 2, 1, tzinfo=UTC)
Node = dict[str, Any]


def source_of(fake: FakeGitHub) -> GitHub:
    client = HttpClient(BASE_URL, tokens=[Token("ghp_secret")], transport=fake)
    return GitHub(client, now=lambda: NOW)


def told(fake: FakeGitHub, *, since: datetime | None = None) -> list[Told]:
    source = source_of(fake)
    return listed(source, source.repo(fake.repos[0]["name"]), since=since)


def listed(
    source: GitHub, repo: Repo, *, since: datetime | None = None, after: str | None = None
) -> list[Told]:
    pages = source.pages(repo, since=since, after=after)
    return [item for page in pages for item in page.items]


def numbers_of(items: Iterable[Told]) -> list[int]:
    return [item.pull.number for item in items if isinstance(item, Fetched)]


def pulls_of(*pulls: Node, **repo: Any) -> list[PullRequest]:
    items = told(FakeGitHub(repository(pulls=list(pulls), **repo)))
    fetched = [item for item in items if isinstance(item, Fetched)]
    assert len(fetched) == len(items), items
    return [item.pull for item in fetched]


def one(node: Node, **repo: Any) -> PullRequest:
    (found,) = pulls_of(node, **repo)
    return found


def closing(links: tuple[Link, ...]) -> set[tuple[str, int, LinkSource]]:
    return {(k.repo, k.number, k.source) for k in links if k.strength is LinkStrength.CLOSES}


def test_facts_of_a_repository_come_by_rest() -> None:
    fake = FakeGitHub(repository(database_id=42, stars=7))
    assert source_of(fake).repo("o/r") == Repo(
        source="github",
        database_id=42,
        name="o/r",
        clone_url="https://github.com/o/r.git",
        default_branch="main",
        language="Python",
        languages=(("Python", 900), ("Shell", 100)),
        license="MIT",
        stars=7,
    )
    assert fake.counted == 2


def test_a_repository_without_licence_has_none() -> None:
    assert source_of(FakeGitHub(repository(license=None))).repo("o/r").license is None
    assert source_of(FakeGitHub(repository(license="NOASSERTION"))).repo("o/r").license is None


def test_an_unknown_repository_is_answered_with_the_closest_match() -> None:
    source = source_of(FakeGitHub(repository("pallets/flask"), repository("pallets/click")))
    with pytest.raises(ConfigError, match="did you mean pallets/flask") as caught:
        source.repo("pallets/flsk")
    assert isinstance(caught.value, NotFoundError)


def test_a_misspelt_owner_is_found_by_the_repositorys_name() -> None:
    source = source_of(FakeGitHub(repository("pallets/flask"), repository("other/thing")))
    with pytest.raises(ConfigError, match="did you mean pallets/flask"):
        source.repo("palets/flask")


def test_nothing_alike_is_told_without_a_guess() -> None:
    with pytest.raises(ConfigError, match="check owner and name"):
        source_of(FakeGitHub(repository("pallets/flask"))).repo("zzz/qqq")


@pytest.mark.parametrize("name", ["flask", "a/b/c", "/x", ""])
def test_a_name_that_is_none_is_told_before_any_request(name: str) -> None:
    fake = FakeGitHub()
    with pytest.raises(ConfigError, match="owner/name"):
        source_of(fake).repo(name)
    assert fake.requests == []


def test_a_renamed_repository_is_followed() -> None:
    fake = FakeGitHub(repository("new/name", former=["old/name"]))
    assert source_of(fake).repo("old/name").name == "new/name"


def test_pulls_come_newest_update_first_over_all_pages() -> None:
    found = pulls_of(*(pull(n, updatedAt=at(1 + n % 28, n % 24)) for n in range(1, 60)))
    times = [p.updated_at for p in found]
    assert len(found) == 59
    assert times == sorted(times, reverse=True)


def test_since_ends_the_paging() -> None:
    fake = FakeGitHub(repository(pulls=[pull(n, updatedAt=at(n)) for n in range(1, 29)]))
    items = told(fake, since=datetime(2024, 1, 20, tzinfo=UTC))
    assert [i.pull.number for i in items if isinstance(i, Fetched)] == list(range(28, 19, -1))
    assert fake.operations == ["MergedPulls"]


def test_a_pull_is_told_in_full() -> None:
    found = one(pull(7, author=None, mergedBy=who("merge[bot]", "Bot"), labels=[{"name": "bug"}]))
    assert (found.author, found.merged_by and found.merged_by.kind) == (None, "Bot")
    assert found.labels == ("bug",)
    assert found.created_at == datetime(2024, 1, 10, tzinfo=UTC)
    assert (found.repo_id, found.license, found.default_branch) == (1, "MIT", "main")
    assert [(f.path, f.additions, f.change) for f in found.files] == [("a.py", 1, "modified")]
    assert (found.base.commit, found.diff) == (None, b"")


def test_long_lists_are_fetched_to_their_end() -> None:
    closes = [issue(n, comments=[comment(f"{n}.{i}", created=at(2)) for i in range(60)])
              for n in range(100, 132)]  # fmt: skip
    found = one(
        pull(
            7,
            commits=[commit(f"{n:040x}") for n in range(250)],
            files=[
                {"path": f"f{n}", "additions": 1, "deletions": 0, "changeType": "ADDED"}
                for n in range(310)
            ],
            closingIssuesReferences=closes,
        )
    )
    assert len({c.oid for c in found.commits}) == 250
    assert len({f.path for f in found.files}) == 310
    assert [i.number for i in found.issues] == list(range(100, 132))
    assert all(len({c.body for c in i.comments}) == 60 for i in found.issues)


def test_every_kind_of_evidence_is_kept() -> None:
    node = pull(
        7,
        title="Fix #1",
        body="Closes #2, #3",
        commits=[commit("a" * 40, "resolves #4"), commit("b" * 40, "see #5")],
        mergeCommit={"oid": "c" * 40, "message": "x (#7)\n\nfixes #6", "committedDate": at(11)},
        closingIssuesReferences=[
            issue(2, history=[closed({"__typename": "PullRequest", "number": 7,
                                      "repository": {"nameWithOwner": "o/r"}}, created=at(11))]),
        ],
        timelineItems=[hand("ConnectedEvent", 8, at(10)), hand("ConnectedEvent", 9, at(10)),
                       hand("DisconnectedEvent", 9, at(10, 5))],
    )  # fmt: skip
    found = one(node, issues=[issue(n) for n in (1, 4, 6, 8, 9)])
    assert closing(found.links) == {
        ("o/r", 2, LinkSource.CLOSING_REFERENCE),
        ("o/r", 1, LinkSource.TITLE),
        ("o/r", 2, LinkSource.BODY),
        ("o/r", 4, LinkSource.COMMIT_MESSAGE),
        ("o/r", 6, LinkSource.COMMIT_MESSAGE),
        ("o/r", 8, LinkSource.CONNECTED_EVENT),
        ("o/r", 2, LinkSource.CLOSED_EVENT),
    }
    weak = {k.number for k in found.links if k.strength is LinkStrength.MENTIONS}
    assert weak == {3, 5}
    assert {i.number for i in found.issues} == {1, 2, 4, 6, 8}


def hand(typename: str, number: int, created: str) -> Node:
    """A link made or undone in the sidebar, as the pull's timeline shows it."""
    here = {"nameWithOwner": "o/r"}
    return {"__typename": typename, "createdAt": created, "actor": who("max"),
            "source": {"__typename": "PullRequest", "number": 7, "repository": here},
            "subject": {"__typename": "Issue", "number": number, "repository": here}}  # fmt: skip


def test_an_issue_closed_by_the_merge_commit_is_linked_by_that_event() -> None:
    event = closed({"__typename": "Commit", "oid": f"{7 + 2**40:040x}", "repository": None},
                   created=at(11))  # fmt: skip
    found = one(pull(7, body="fixes #1"), issues=[issue(1, history=[event])])
    assert ("o/r", 1, LinkSource.CLOSED_EVENT) in closing(found.links)


def test_only_the_last_close_counts() -> None:
    ours = closed({"__typename": "PullRequest", "number": 7,
                   "repository": {"nameWithOwner": "o/r"}}, created=at(11))  # fmt: skip
    found = one(
        pull(7, closingIssuesReferences=[issue(1, history=[ours, closed(None, created=at(15))])])
    )
    assert {k.source for k in found.links} == {LinkSource.CLOSING_REFERENCE}


def test_a_number_that_is_a_pull_is_told_as_one() -> None:
    found = one(pull(7, body="fixes #5"), issues=[issue(5, typename="PullRequest")])
    assert [(i.number, i.is_pull) for i in found.issues] == [(5, True)]


def test_a_number_that_nobody_holds_leaves_the_link_alone() -> None:
    found = one(pull(7, body="fixes #5, closes other/gone#6"))
    assert {(k.repo, k.number) for k in found.links} == {("o/r", 5), ("other/gone", 6)}
    assert found.issues == ()


def test_a_link_by_a_former_name_is_one_to_the_repository() -> None:
    found = one(pull(7, body="fixes old/r#5"), former=["old/r"], issues=[issue(5)])
    assert {(k.repo, k.number) for k in found.links} == {("o/r", 5)}


def test_targets_of_a_whole_page_are_asked_for_together() -> None:
    pulls = [pull(n, body=f"fixes #{n + 100}") for n in range(1, 11)]
    fake = FakeGitHub(repository(pulls=pulls, issues=[issue(n) for n in range(101, 111)]))
    told(fake)
    assert fake.operations == ["MergedPulls", "Targets"]


def test_an_issue_edited_after_the_pull_comes_with_its_versions() -> None:
    edited = issue(
        1,
        title="Now",
        body="fixed by #7",
        lastEditedAt=at(12),
        includesCreatedEdit=True,
        history=[renamed("Before", "Now", created=at(11))],
        edits=[
            {"editedAt": at(1), "deletedAt": None, "diff": "first"},
            {"editedAt": at(5), "deletedAt": None, "diff": "second"},
            {"editedAt": at(12), "deletedAt": None, "diff": "fixed by #7"},
        ],
    )
    found = one(pull(7, closingIssuesReferences=[edited]))
    versions = [(v.title, v.body, v.edited_at.day) for v in found.issues[0].versions]
    assert versions == [
        ("Before", "first", 1),
        ("Before", "second", 5),
        ("Now", "second", 11),
        ("Now", "fixed by #7", 12),
    ]
    assert found.issues[0].versions_complete


def test_a_title_changed_after_the_pull_alone_is_an_edit() -> None:
    node = issue(1, title="Now", history=[renamed("Before", "Now", created=at(11))])
    found = one(pull(7, closingIssuesReferences=[node])).issues[0]
    assert [v.title for v in found.versions] == ["Before", "Now"]
    assert found.versions_complete
    assert found.edited_at == datetime(2024, 1, 11, tzinfo=UTC)


def test_an_issue_edited_only_before_the_pull_costs_no_query() -> None:
    old = issue(1, lastEditedAt=at(9), edits=[{"editedAt": at(9), "deletedAt": None, "diff": "x"}])
    fake = FakeGitHub(repository(pulls=[pull(7, closingIssuesReferences=[old])]))
    told(fake)
    assert fake.operations == ["MergedPulls"]


@pytest.mark.parametrize(
    ("edits", "created_edit"),
    [
        ([{"editedAt": at(12), "deletedAt": None, "diff": "- old\n+ new"}], True),  # no full texts
        ([{"editedAt": at(12), "deletedAt": at(13), "diff": None}], True),  # history deleted
    ],
)
def test_a_history_that_does_not_end_in_todays_text_is_not_believed(
    edits: list[Node], created_edit: bool
) -> None:
    node = issue(1, lastEditedAt=at(12), includesCreatedEdit=created_edit, edits=edits)
    found = one(pull(7, closingIssuesReferences=[node])).issues[0]
    assert (found.versions, found.versions_complete) == ((), False)


def test_a_history_without_its_beginning_is_kept_as_partial() -> None:
    edits = [{"editedAt": at(5), "deletedAt": None, "diff": "second"},
             {"editedAt": at(12), "deletedAt": None, "diff": "third"}]  # fmt: skip
    node = issue(1, body="third", lastEditedAt=at(12), edits=edits)
    found = one(pull(7, closingIssuesReferences=[node])).issues[0]
    assert [v.body for v in found.versions] == ["second", "third"]
    assert not found.versions_complete


def test_long_edit_histories_are_read_to_their_end() -> None:
    edits = [{"editedAt": at(1 + n // 24, n % 24), "deletedAt": None, "diff": f"v{n}"}
             for n in range(300)]  # fmt: skip
    node = issue(1, body="v299", lastEditedAt=at(13, 11), includesCreatedEdit=True, edits=edits)
    found = one(pull(7, closingIssuesReferences=[node])).issues[0]
    assert len(found.versions) == 300
    assert found.versions_complete


def text(body: str, day: int) -> Node:
    """A text as it stood after an edit."""
    return {"editedAt": at(day), "deletedAt": None, "diff": body}


COMMENTS: list[tuple[list[Node], tuple[str, int | None]]] = [
    ([text("as written", 2), text("now: see #7", 12)], ("as written", None)),
    ([text("as written", 2), text("typo", 3), text("now: see #7", 12)], ("typo", 3)),
    ([text("-typo +now", 12)], ("now: see #7", 12)),  # no history to believe
    ([text("now: see #7", 12)], ("now: see #7", 12)),  # its beginning is lost
    ([], ("now: see #7", 12)),
]


@pytest.mark.parametrize(("edits", "expected"), COMMENTS)
def test_a_comment_edited_after_the_fix_was_begun_is_told_as_it_stood(
    edits: list[Node], expected: tuple[str, int | None]
) -> None:
    edited = comment("now: see #7", created=at(2), lastEditedAt=at(12), edits=edits)
    found = one(pull(7, closingIssuesReferences=[issue(1, comments=[edited])]))
    (told_comment,) = found.issues[0].comments
    day = told_comment.edited_at.day if told_comment.edited_at else None
    assert (told_comment.body, day) == expected


def test_comments_edited_earlier_or_written_later_cost_no_query() -> None:
    early = comment("early", created=at(2), lastEditedAt=at(3))
    late = comment("late", created=at(10), lastEditedAt=at(12))
    node = pull(7, closingIssuesReferences=[issue(1, comments=[early, late])])
    fake = FakeGitHub(repository(pulls=[node]))
    told(fake)
    assert fake.operations == ["MergedPulls"]


def test_reverts_are_numbers_also_where_a_commit_is_named() -> None:
    sha = "d" * 40
    by_number = pull(7, title='Revert "x"', body="Reverts o/r#5")
    by_commit = pull(8, body=f"This reverts commit {sha}.")
    found = pulls_of(by_number, by_commit, commits={sha: 6})
    assert {p.number: p.reverts for p in found} == {7: (5,), 8: (6,)}


def test_a_pull_without_merge_commit_is_kept() -> None:
    assert one(pull(7, mergeCommit=None)).merge_commit == ""


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"mergedAt": "yesterday"}, "mergedAt"),
        ({"title": None}, "title"),
        ({"headRefOid": None}, "headRefOid"),
        ({"commits": [{"commit": None}]}, "commits.nodes.0.commit"),
    ],
)
def test_a_malformed_pull_is_told_with_its_place_and_the_rest_goes_on(
    change: Node, place: str
) -> None:
    items = told(FakeGitHub(repository(pulls=[pull(1), pull(2, **change), pull(3)])))
    bad = [item for item in items if isinstance(item, Unreadable)]
    assert [item.number for item in bad] == [2]
    assert place in bad[0].error
    assert bad[0].raw
    assert len(items) == 3


def change_next_answer(fake: FakeGitHub, change: Callable[[Node], object]) -> None:
    """A fault: the data of the next GraphQL answer is changed."""

    def fault(request: Request) -> Response | None:
        if not request.url.endswith("/graphql"):
            return None
        fake.faults.remove(fault)
        answer = json.loads(fake.send(request).body)
        change(answer["data"])
        return answered(request, answer)

    fake.faults.append(fault)


def test_what_no_database_can_hold_is_replaced() -> None:
    found = one(pull(7, title="a\0b", body="\ud83d \U0001f600"))
    assert (found.title, found.body) == ("a\ufffdb", "\ufffd \U0001f600")


def test_a_stored_payload_is_read_again_to_the_same_pull() -> None:
    fake = FakeGitHub(repository(pulls=[pull(7, body="fixes #1")], issues=[issue(1)]))
    source = source_of(fake)
    repo = source.repo("o/r")
    (item,) = listed(source, repo)
    assert isinstance(item, Fetched)
    again = pull_request(
        Envelope.model_validate_json(item.raw),
        repo=repo,
        host="github.com",
        fetched_at=NOW,
        raw_digest=item.pull.raw_digest,
    )
    assert again == item.pull


def test_a_null_pull_is_reported() -> None:
    fake = FakeGitHub(repository(pulls=[pull(1)]))
    change_next_answer(fake, lambda data: data["repository"]["pullRequests"]["nodes"].append(None))
    assert [type(item) for item in told(fake)] == [Fetched, Unreadable]


def heavy(
    limit: int, *, status: int = 502, data: bool = False
) -> Callable[[Request], Response | None]:
    """A fault: pages of more than `limit` pulls are too heavy."""

    def fault(request: Request) -> Response | None:
        variables = json.loads(request.body or "{}").get("variables", {})
        if variables.get("pulls", 0) <= limit:
            return None
        if status != 200:
            return answered(request, {"message": "Bad gateway"}, status=status)
        error = {"type": "RESOURCE_LIMITS_EXCEEDED", "message": "too much", "path": ["repository"]}
        return answered(
            request, {"data": {"repository": None} if data else None, "errors": [error]}
        )

    return fault


@pytest.mark.parametrize("status", [502, 504, 200])
def test_a_page_that_is_too_heavy_is_halved_and_the_size_remembered(status: int) -> None:
    fake = FakeGitHub(repository(pulls=[pull(n) for n in range(1, 12)]))
    fake.faults.append(heavy(4, status=status))
    source = source_of(fake)
    repo = source.repo("o/r")
    for _ in range(2):
        assert len(listed(source, repo)) == 11
    sizes = [json.loads(r.body)["variables"]["pulls"] for r in fake.requests if r.body]
    assert sizes[:3] == [10, 5, 2]
    assert 10 not in sizes[1:]
    assert max(sizes[3:]) <= 4


def test_the_size_that_worked_is_kept_for_the_next_crawl() -> None:
    fake = FakeGitHub(repository(pulls=[pull(n) for n in range(1, 8)]))
    fake.faults.append(heavy(4))
    source = source_of(fake)
    repo = source.repo("o/r")
    _, mark = source.changed(repo, etag=None)
    assert len(listed(source, repo)) == 7
    mark = source.sealed(repo, mark)
    before = len(fake.page_sizes)
    later = source_of(fake)  # another process, another night
    assert later.changed(repo, etag=mark) == (False, mark)
    assert len(listed(later, repo)) == 7
    assert fake.page_sizes[before] <= 4


def test_a_crawl_without_trouble_leaves_no_size_behind() -> None:
    fake = FakeGitHub(repository(pulls=[pull(1)]))
    source = source_of(fake)
    repo = source.repo("o/r")
    _, mark = source.changed(repo, etag=None)
    listed(source, repo)
    assert source.sealed(repo, mark) == mark


@pytest.mark.parametrize("mark", [None, "", "nonsense", "[]", '{"page": "x"}', '{"etag": null}'])
def test_a_mark_of_another_kind_is_no_mark(mark: str | None) -> None:
    source = source_of(FakeGitHub(repository(pulls=[pull(1)])))
    assert source.changed(source.repo("o/r"), etag=mark)[0]


def test_pages_grow_while_they_are_answered() -> None:
    fake = FakeGitHub(repository(pulls=[pull(n) for n in range(1, 120)]))
    assert len(told(fake)) == 119
    assert fake.page_sizes[0] == 10
    assert fake.page_sizes[-1] > 10


def test_a_single_pull_that_is_too_heavy_ends_in_try_again_later() -> None:
    fake = FakeGitHub(repository(pulls=[pull(1)]))
    fake.faults.append(heavy(0))
    with pytest.raises(SourceUnavailableError, match="single pull of o/r"):
        told(fake)


def test_partial_data_of_a_single_heavy_pull_is_kept_and_its_holes_filled() -> None:
    fake = FakeGitHub(repository(pulls=[pull(7, files=[
        {"path": f"f{n}", "additions": 1, "deletions": 0, "changeType": "ADDED"} for n in range(3)
    ])]))  # fmt: skip

    def fault(request: Request) -> Response | None:
        asked = json.loads(request.body or "{}")
        if "pulls" not in asked.get("variables", {}):
            return None
        fake.faults.remove(fault)
        answer = json.loads(fake.send(request).body)
        fake.faults.append(fault)
        for node in answer["data"]["repository"]["pullRequests"]["nodes"]:
            node["files"] = None
        error = {"type": "RESOURCE_LIMITS_EXCEEDED", "message": "too much", "path": ["x"]}
        return answered(request, {**answer, "errors": [error]})

    fake.faults.append(fault)
    (item,) = told(fake)
    assert isinstance(item, Fetched)
    assert [f.path for f in item.pull.files] == ["f0", "f1", "f2"]
    assert "MoreFiles" in fake.operations


def test_the_same_answers_give_the_same_payload_whatever_the_page_size() -> None:
    pulls = [pull(n, commits=[commit(f"{n}{i:039x}") for i in range(120)]) for n in range(1, 7)]
    whole = FakeGitHub(repository(pulls=pulls))
    halved = FakeGitHub(repository(pulls=pulls))
    halved.faults.append(heavy(2))
    assert [i.raw for i in told(whole)] == [i.raw for i in told(halved)]


def test_an_unchanged_repository_costs_no_counted_request() -> None:
    fake = FakeGitHub(repository(pulls=[pull(1)]))
    source = source_of(fake)
    repo = source.repo("o/r")
    moved, mark = source.changed(repo, etag=None)
    assert moved
    before = fake.counted
    assert source.changed(repo, etag=mark) == (False, mark)
    assert fake.counted == before


def test_counters_that_churn_are_no_movement() -> None:
    fake = FakeGitHub(repository(pulls=[pull(1)]))
    source = source_of(fake)
    repo = source.repo("o/r")
    _, mark = source.changed(repo, etag=None)
    fake.repos[0]["stars"] += 1
    moved, fresh = source.changed(repo, etag=mark)
    assert not moved
    assert fresh != mark
    fake.repos[0]["pulls"].append(pull(2))
    assert source.changed(repo, etag=fresh)[0]


def test_a_renamed_repository_has_moved() -> None:
    fake = FakeGitHub(repository(pulls=[pull(1)]))
    source = source_of(fake)
    repo = source.repo("o/r")
    _, mark = source.changed(repo, etag=None)
    fake.repos[0] |= {"name": "o/new", "former": ["o/r"]}
    fake.repos[0]["stars"] += 1
    assert source.changed(repo, etag=mark)[0]


def test_a_repository_deleted_between_pages_is_not_found() -> None:
    fake = FakeGitHub(repository(pulls=[pull(n) for n in range(1, 30)]))
    source = source_of(fake)
    pages = source.pages(source.repo("o/r"), since=None)
    next(pages)
    fake.repos.clear()
    with pytest.raises(NotFoundError, match="o/r"):
        list(pages)


def test_reading_goes_on_after_any_page_whatever_was_put_before_it() -> None:
    fake = FakeGitHub(repository(pulls=[pull(n, updatedAt=at(n)) for n in range(1, 29)]))
    source = source_of(fake)
    repo = source.repo("o/r")
    whole = list(source.pages(repo, since=None))
    assert whole[-1].after is None
    fake.repos[0]["pulls"].append(pull(99, updatedAt=at(30)))
    for place, page in enumerate(whole[:-1], start=1):
        rest = [item for later in whole[place:] for item in later.items]
        assert numbers_of(listed(source, repo, after=page.after)) == numbers_of(rest)
    (last,) = source.pages(repo, since=datetime(2024, 1, 28, tzinfo=UTC))
    assert (numbers_of(last.items), last.after) == ([99, 28], None)  # it ends at a date


def test_a_place_that_is_known_no_more_begins_from_the_top() -> None:
    fake = FakeGitHub(repository(pulls=[pull(n) for n in range(1, 5)]))
    said = {"type": "INVALID_CURSOR_ARGUMENTS", "message": "`x` does not appear to be a cursor."}

    def refuse(request: Request) -> Response | None:
        after = json.loads(request.body or "{}").get("variables", {}).get("after")
        refusal = {"data": {"repository": None}, "errors": [said]}
        return answered(request, refusal) if after else None

    fake.faults.append(refuse)
    source = source_of(fake)
    assert len(listed(source, source.repo("o/r"), after="x")) == 4


@pytest.mark.parametrize("kind", ["INTERNAL", "SERVICE_UNAVAILABLE", "", None])
def test_a_passing_null_is_no_lost_place(kind: str | None) -> None:
    fake = FakeGitHub(repository(pulls=[pull(n) for n in range(1, 5)]))
    problems = [] if kind is None else [{"type": kind, "message": "no cursor is invalid"}]
    after: list[str | None] = []

    def refuse(request: Request) -> Response | None:
        asked = json.loads(request.body or "{}").get("variables", {})
        if "pulls" not in asked:
            return None
        after.append(asked["after"])
        return answered(request, {"data": {"repository": None}, "errors": problems})

    fake.faults.append(refuse)
    source = source_of(fake)
    with pytest.raises(SourceUnavailableError, match="o/r"):
        listed(source, source.repo("o/r"), after="x")
    assert after == ["x"]  # reading did not begin from the top: the place stays


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("NOT_FOUND", NotFoundError),
        ("FORBIDDEN", NoPermissionError),
        ("INTERNAL", SourceUnavailableError),
        (None, SourceUnavailableError),
    ],
)
def test_only_a_clear_no_says_that_a_repository_is_gone(
    kind: str | None, error: type[Exception]
) -> None:
    fake = FakeGitHub(repository(pulls=[pull(1)]))
    problems = [{"type": kind, "message": "no"}] if kind else []

    def refuse(request: Request) -> Response | None:
        answer = {"data": {"repository": None}, "errors": problems}
        return answered(request, answer) if request.body else None

    fake.faults.append(refuse)
    with pytest.raises(error, match="o/r") as caught:
        told(fake)
    assert type(caught.value) is error


def test_a_pull_updated_while_paging_is_told_now_or_next_time() -> None:
    fake = FakeGitHub(repository(pulls=[pull(n, updatedAt=at(n)) for n in range(1, 29)]))
    source = source_of(fake)
    repo = source.repo("o/r")
    pages = source.pages(repo, since=None)
    first = next(pages)
    newest = first.items[0]
    assert isinstance(newest, Fetched)
    moved = fake.repos[0]["pulls"][2]
    moved["updatedAt"] = at(30)
    seen = [item for page in (first, *pages) for item in page.items]
    again = listed(source, repo, since=newest.pull.updated_at)
    assert {*numbers_of(seen), *numbers_of(again)} == set(range(1, 29))


def test_git_is_given_the_token_by_name_only() -> None:
    source = source_of(FakeGitHub())
    assert source.git_credentials() == ("x-access-token", "ghp_secret")
