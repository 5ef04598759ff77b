"""The rows that flow from stage to stage. Frozen values; aware UTC datetimes; tuples."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from validators.model import Environment, Examination, Grade, Recipe, Verdict

Clock = Callable[[], datetime]
"""The time, aware and UTC: an argument, never ambient."""


class Stage(StrEnum):
    """The six stages, in order."""

    CRAWL = "crawl"
    SPLIT = "split"
    VERIFY = "verify"
    ASSESS = "assess"
    PUBLISH = "publish"
    EVALUATE = "evaluate"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A pull cut into patches, not yet verified."""

    instance_id: str  # "owner__name-123"
    repo: str
    repo_id: int
    pull_number: int
    raw_digest: str
    policy: str  # the gate policy's digest it passed
    issue_numbers: tuple[int, ...]
    base_commit: str
    base_committed_at: datetime | None = None  # unknown of candidates of earlier versions
    nearest_tag: str | None = None  # of the base commit
    merge_tree: str
    patch: bytes = field(repr=False)
    test_patch: bytes = field(repr=False)
    patch_hash: str  # of the normalised gold patch: equal for backports
    problem_statement: str
    hints_text: str
    statement_marks: tuple[str, ...] = ()  # "edited_later", "several_issues" …
    issue_created_at: (
        datetime  # the oldest of its issues: all are later than a cutoff, or none counts
    )
    created_at: datetime  # of the pull
    merged_at: datetime
    language: str
    version: str
    license: str | None
    file_classes: tuple[tuple[str, str], ...] = ()  # (path, FileClass)


class Gate(StrEnum):
    """The named reasons of a split rejection."""

    BASE_UNRESOLVED = "base_unresolved"
    NOT_DEFAULT_BRANCH = "not_default_branch"
    BOT_AUTHOR = "bot_author"
    MERGED_BY_BOT = "merged_by_bot"
    REVERT = "revert"
    REVERTED = "reverted"
    NO_LINKED_ISSUE = "no_linked_issue"
    LINKED_NUMBER_IS_PULL = "linked_number_is_pull"
    LINKED_ISSUE_ELSEWHERE = "linked_issue_elsewhere"
    LINKED_ISSUE_YOUNGER = "linked_issue_younger"
    ISSUE_TEXT_TOO_SHORT = "issue_text_too_short"
    DOCS_ONLY = "docs_only"
    NO_TEST_CHANGE = "no_test_change"
    NO_SOURCE_CHANGE = "no_source_change"
    SEVERAL_ISSUES = "several_issues"
    TOO_FEW_FILES = "too_few_files"
    TOO_MANY_FILES = "too_many_files"
    PATCH_TOO_LARGE = "patch_too_large"
    SUBMODULE_OR_LFS = "submodule_or_lfs"
    LICENSE_NOT_ALLOWED = "license_not_allowed"
    LANGUAGE_NOT_SUPPORTED = "language_not_supported"
    PATCHES_DO_NOT_ADD_UP = "patches_do_not_add_up"
    MALFORMED_PAYLOAD = "malformed_payload"
    UNREADABLE = "unreadable"  # a commit or file that git cannot hand out


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A recorded no. `gate` is a Gate's or a Flaw's value; `detail` a sentence with the facts."""

    repo: str
    pull_number: int
    stage: Stage
    gate: str
    detail: str
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A verified task."""

    candidate: Candidate
    environment: Environment  # recipe with lock, image digests, key, packages
    verdict: Verdict
    verified_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DueInstance:
    """An instance to be measured, and the rows it was read from: what was measured is stored there,
    also when a newer examination is there by then."""

    instance: Instance
    candidate_id: int
    examination_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What the verify stage stores for a candidate: instance or rejection, and all the evidence."""

    candidate: Candidate
    examination: Examination
    instance: Instance | None
    rejection: Rejection | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecipe:
    """A recipe row. A maintainer's wins over a learned one; the newest of its kind counts."""

    repo: str
    recipe: Recipe
    environment_key: str | None  # of the environment it was learned in
    author: str | None  # a person, or None when learned
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One fact about how good a task is. `value` is JSON text."""

    instance_id: str
    name: str
    value: str
    version: int


class Split(StrEnum):
    """The label of a snapshot's member."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An instance in a snapshot."""

    instance_id: str
    split: Split


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A dated, immutable set. `content_hash` is sha256 over its members' export rows."""

    name: str  # YYYY-MM-DD
    members: tuple[Member, ...]
    content_hash: str
    created_at: datetime
    window: tuple[date | None, date | None] = (None, None)  # merged_at, both ends inclusive
    policy: str = "all"
    excluded: tuple[tuple[str, str], ...] = ()  # (instance_id, reason)
    supersedes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A model's answer to one instance. An empty `model_patch` is an answer."""

    instance_id: str
    model_name_or_path: str
    model_patch: bytes = field(repr=False)


class EvaluationState(StrEnum):
    """INFRASTRUCTURE is never counted as the model's failure."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    INFRASTRUCTURE = "infrastructure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One graded prediction. `dataset` is a snapshot's name or a file's content hash."""

    dataset: str
    run_id: str
    instance_id: str
    model_name_or_path: str
    patch_hash: str  # sha256 of model_patch
    state: EvaluationState
    grade: Grade | None
    detail: str
    evaluated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReport:
    """What one call of a stage did. `counts`: outcome or rejection reason → how many."""

    stage: Stage
    done: int = 0
    rejected: int = 0
    retried: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    started_at: datetime
    ended_at: datetime
