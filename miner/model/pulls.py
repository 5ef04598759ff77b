"""What was merged: repositories, pulls, issues, commits, as a source and git say it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum


class ActorKind(StrEnum):
    """Who wrote something. Deleted accounts are `None` actors."""

    USER = "User"
    BOT = "Bot"
    ORGANIZATION = "Organization"
    MANNEQUIN = "Mannequin"
    ENTERPRISE = "EnterpriseUserAccount"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """An account."""

    login: str
    kind: ActorKind = ActorKind.USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Repo:
    """A repository as the source shows it today. Rows are keyed by (source, database_id)."""

    source: str
    database_id: int
    name: str  # "owner/name", current
    clone_url: str
    default_branch: str
    language: str | None
    languages: tuple[tuple[str, int], ...] = ()  # (name, bytes), largest first
    license: str | None = None  # SPDX id
    stars: int = 0
    is_fork: bool = False
    is_archived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far back a crawl that is not complete has come. All pulls updated from behind `after`
    (the source's own mark) up to `newest`, the newest update when it began, are stored."""

    after: str
    newest: datetime


EVER = datetime(1970, 1, 1, tzinfo=UTC)
"""Older than any pull: a repository whose whole history was read is read back to here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """How far back a repository was read.

    All pulls updated since `back_to` are stored; None: not known. Behind `after`, the source's own
    mark, reading further back goes on; None: from the top.
    """

    back_to: datetime | None = None
    after: str | None = None


class LinkSource(StrEnum):
    """Where a link between pull and issue was found."""

    CLOSING_REFERENCE = "closing_reference"  # the API's closingIssuesReferences
    TITLE = "title"
    BODY = "body"
    COMMIT_MESSAGE = "commit_message"
    CLOSED_EVENT = "closed_event"  # the issue's last close names this pull or its merge commit
    CONNECTED_EVENT = "connected_event"


class LinkStrength(StrEnum):
    """CLOSES is enough for a candidate; MENTIONS is kept as evidence, never enough alone."""

    CLOSES = "closes"
    MENTIONS = "mentions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One piece of evidence that a pull closes or mentions an issue. `repo` is the target's."""

    repo: str
    number: int
    source: LinkSource
    strength: LinkStrength
    place: str = ""  # commit sha, "body:3" (line) …
    author: str | None = None
    made_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextVersion:
    """A title and body as they stood from `edited_at` on."""

    title: str
    body: str
    edited_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A comment of an issue. `body` is today's unless edits were fetched."""

    author: Actor | None
    body: str
    created_at: datetime
    edited_at: datetime | None = None
    minimized: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """What a link points at: an issue, or (`is_pull`) another pull. `versions`: oldest first."""

    repo: str
    number: int
    title: str
    body: str
    author: Actor | None
    created_at: datetime
    is_pull: bool = False
    closed_at: datetime | None = None
    edited_at: datetime | None = None
    labels: tuple[str, ...] = ()
    comments: tuple[Comment, ...] = ()
    versions: tuple[TextVersion, ...] = ()
    versions_complete: bool = False  # the whole edit history was readable


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit of the pull's branch."""

    oid: str
    message: str
    authored_at: datetime
    committed_at: datetime
    parents: tuple[str, ...] = ()


class ChangeType(StrEnum):
    """How the pull changed a file."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    COPIED = "copied"
    CHANGED = "changed"  # type or mode only


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A changed file as the source lists it: what a base commit is checked against."""

    path: str
    additions: int
    deletions: int
    change: ChangeType


class MergeMethod(StrEnum):
    """How the pull got into its base branch."""

    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The commit before the fix, and how it was found. `commit` None: unresolved, with `detail`.

    `merge_tree` is the commit whose tree is the fixed state (merge, squash or last rebased commit).
    """

    commit: str | None
    merge_tree: str
    method: MergeMethod | None
    rule: str
    detail: str = ""
    committed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """A merged pull with all that later stages need. `raw_digest` names the payload it came from.

    `diff` is git's own bytes from base to merge tree, b"" when the base is unresolved.
    `manifests` are not here: trees are read from the mirror.
    """

    source: str
    repo: str
    repo_id: int  # the source's database_id
    number: int
    title: str
    body: str
    author: Actor | None
    merged_by: Actor | None
    base_branch: str
    default_branch: str
    head_commit: str
    merge_commit: str
    created_at: datetime
    merged_at: datetime
    updated_at: datetime
    edited_at: datetime | None = None
    labels: tuple[str, ...] = ()
    commits: tuple[Commit, ...] = ()
    files: tuple[ChangedFile, ...] = ()
    links: tuple[Link, ...] = ()
    issues: tuple[Issue, ...] = ()  # the targets of links that could be read
    reverts: tuple[int, ...] = ()  # pulls that this one undoes
    base: Base
    diff: bytes = field(default=b"", repr=False)
    license: str | None = None
    languages: tuple[tuple[str, int], ...] = ()
    fetched_at: datetime
    raw_digest: str
