"""The shape in which GitHub's GraphQL answers tell a pull: pydantic at the door.

Only what the queries ask for, in their spelling; unknown fields are let pass.
"""

from datetime import datetime
from typing import Generic, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

_Item = TypeVar("_Item")


class Node(BaseModel):
    """What all have in common."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)


class Typed(Node):
    """A member of a union or interface, of which only the type is sure."""

    typename: str = Field(alias="__typename")


class PageInfo(Node):
    """Is there more, and after what."""

    has_next_page: bool
    end_cursor: str | None = None


class Connection(Node, Generic[_Item]):
    """A list that may go on."""

    total_count: int | None = None
    page_info: PageInfo | None = None
    nodes: tuple[_Item, ...]


class Who(Typed):
    """An account; deleted ones are null."""

    login: str


class Named(Node):
    """A repository's name."""

    name_with_owner: str


class Label(Node):
    """A label."""

    name: str


class CommentNode(Node):
    """A comment of an issue."""

    id: str
    created_at: AwareDatetime
    last_edited_at: AwareDatetime | None = None
    body: str
    is_minimized: bool = False
    author: Who | None = None


class Closer(Typed):
    """What closed an issue: a pull, a commit, or a project."""

    number: int | None = None
    oid: str | None = None
    repository: Named | None = None


class HistoryEvent(Typed):
    """An issue was closed or renamed."""

    created_at: AwareDatetime
    actor: Who | None = None
    closer: Closer | None = None
    previous_title: str = ""
    current_title: str = ""


class TargetNode(Typed):
    """What a number points at: an issue, or a pull (then without comments and history)."""

    id: str
    number: int
    title: str
    body: str
    created_at: AwareDatetime
    closed_at: AwareDatetime | None = None
    last_edited_at: AwareDatetime | None = None
    includes_created_edit: bool = False
    author: Who | None = None
    repository: Named
    labels: Connection[Label] | None = None
    history: Connection[HistoryEvent] | None = None
    comments: Connection[CommentNode] | None = None


class GitUser(Node):
    """The account behind a commit's author, where GitHub knows it."""

    user: "Login | None" = None


class Login(Node):
    """An account's name alone."""

    login: str


class CommitFields(Node):
    """A commit of the pull's branch."""

    oid: str
    message: str
    authored_date: AwareDatetime
    committed_date: AwareDatetime
    author: GitUser | None = None


class CommitNode(Node):
    """As it stands in the list."""

    commit: CommitFields


class MergeCommit(Node):
    """The commit by which the pull got in."""

    oid: str
    message: str
    committed_date: AwareDatetime


class FileNode(Node):
    """A changed file."""

    path: str
    additions: int
    deletions: int
    change_type: str


class Subject(Typed):
    """One end of a link event."""

    number: int | None = None
    repository: Named | None = None


class LinkEvent(Typed):
    """Somebody linked an issue by hand, or undid it."""

    created_at: AwareDatetime
    actor: Who | None = None
    source: Subject
    subject: Subject


class PullNode(Node):
    """A merged pull with all that hangs on it, connections fetched to their end."""

    id: str
    number: int
    title: str
    body: str
    created_at: AwareDatetime
    updated_at: AwareDatetime
    merged_at: AwareDatetime
    last_edited_at: AwareDatetime | None = None
    author: Who | None = None
    merged_by: Who | None = None
    base_ref_name: str
    head_ref_oid: str
    merge_commit: MergeCommit | None = None
    labels: Connection[Label] | None = None
    commits: Connection[CommitNode]
    files: Connection[FileNode] | None = None
    closing_issues_references: Connection[TargetNode]
    timeline_items: Connection[LinkEvent]


class Edit(Node):
    """A text as it stood after an edit (`diff`: the whole text); deleted ones have none."""

    edited_at: AwareDatetime
    deleted_at: datetime | None = None
    diff: str | None = None


class Rename(Node):
    """A title was changed."""

    created_at: AwareDatetime
    previous_title: str
    current_title: str


class EditsNode(Node):
    """The edit history of one issue or comment; comments have no titles."""

    id: str
    user_content_edits: Connection[Edit] | None = None
    renames: Connection[Rename] | None = None


class AskedTarget(Node):
    """A target with the name and number it was asked by (renamed repositories answer too)."""

    repo: str
    number: int
    answer: TargetNode


def begun_at(pull: PullNode) -> datetime:
    """When the fix was begun, as far as one can tell: first commit or pull, whichever is first."""
    authored = (listed.commit.authored_date for listed in pull.commits.nodes)
    return min(pull.created_at, *authored)


class Envelope(Node):
    """One pull's raw payload, as stored: the node and what was fetched for it."""

    pull: PullNode
    targets: tuple[AskedTarget, ...] = ()
    edits: tuple[EditsNode, ...] = ()
    reverted: tuple[int, ...] = ()
