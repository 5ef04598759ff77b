"""From a pull cut into patches to a verified task, and the recorded noes on the way."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from miner.model.stages import Stage
from validators.model import Environment, Examination, Recipe, Verdict


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
    base_image: str | None = None  # digest of the one it was learned on
    base_commit: str | None = None  # the commit it was learned at


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One fact about how good a task is. `value` is JSON text."""

    instance_id: str
    name: str
    value: str
    version: int
