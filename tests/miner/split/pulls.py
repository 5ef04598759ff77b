"""Pulls, issues and comments with the fields a test does not care about filled in."""

from datetime import UTC, datetime, timedelta

from miner.model import (
    Actor,
    ActorKind,
    Base,
    Comment,
    Commit,
    Issue,
    Link,
    LinkSource,
    LinkStrength,
    MergeMethod,
    PullRequest,
    TextVersion,
)

OPENED = datetime(2024, 3, 1, 12, tzinfo=UTC)
"""When the pulls of the tests were opened; their first commit is an hour older."""

ANN = Actor(login="ann")
BOB = Actor(login="bob")
DEPENDABOT = Actor(login="dependabot", kind=ActorKind.BOT)


def at(hours: float) -> datetime:
    """A moment, in hours after the pull was opened."""
    return OPENED + timedelta(hours=hours)


def make_issue(
    number: int = 5,
    *,
    repo: str = "o/r",
    title: str = "It breaks",
    body: str = "Calling it twice raises an error.",
    created_at: datetime | None = None,
    is_pull: bool = False,
    edited_at: datetime | None = None,
    comments: tuple[Comment, ...] = (),
    versions: tuple[TextVersion, ...] = (),
    versions_complete: bool = False,
) -> Issue:
    return Issue(
        repo=repo,
        number=number,
        title=title,
        body=body,
        author=BOB,
        created_at=created_at or at(-48),
        is_pull=is_pull,
        edited_at=edited_at,
        comments=comments,
        versions=versions,
        versions_complete=versions_complete,
    )


def make_comment(
    body: str,
    *,
    hours: float = -24,
    author: Actor | None = BOB,
    edited_at: datetime | None = None,
    minimized: bool = False,
) -> Comment:
    return Comment(
        author=author, body=body, created_at=at(hours), edited_at=edited_at, minimized=minimized
    )


def make_link(
    number: int = 5, *, repo: str = "o/r", strength: LinkStrength = LinkStrength.CLOSES
) -> Link:
    return Link(repo=repo, number=number, source=LinkSource.BODY, strength=strength)


def make_pull(
    *,
    number: int = 7,
    author: Actor | None = ANN,
    merged_by: Actor | None = BOB,
    base_branch: str = "main",
    links: tuple[Link, ...] = (make_link(),),
    issues: tuple[Issue, ...] = (make_issue(),),
    reverts: tuple[int, ...] = (),
    base: str | None = "b" * 40,
    merge_tree: str = "c" * 40,
    detail: str = "",
    diff: bytes = b"",
    spdx: str | None = "MIT",
    languages: tuple[tuple[str, int], ...] = (("Python", 900), ("C", 100)),
    raw_digest: str = "digest",
) -> PullRequest:
    return PullRequest(
        source="github",
        repo="o/r",
        repo_id=1,
        number=number,
        title="Do not break",
        body="Fixes #5",
        author=author,
        merged_by=merged_by,
        base_branch=base_branch,
        default_branch="main",
        head_commit="d" * 40,
        merge_commit=merge_tree,
        created_at=OPENED,
        merged_at=at(5),
        updated_at=at(6),
        commits=(
            Commit(oid="d" * 40, message="Do not break", authored_at=at(-1), committed_at=at(0)),
        ),
        links=links,
        issues=issues,
        reverts=reverts,
        base=Base(
            commit=base,
            merge_tree=merge_tree,
            method=MergeMethod.SQUASH,
            rule="parent",
            detail=detail,
        ),
        diff=diff,
        license=spdx,
        languages=languages,
        fetched_at=at(24),
        raw_digest=raw_digest,
    )
