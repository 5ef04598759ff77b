"""A made repository history: what was committed, on which branch, when and by whom. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from miner.demo.sdists import SourceFile

Changes = Mapping[str, SourceFile | None]  # path → new file, or None when deleted


@dataclass(frozen=True, slots=True)
class Identity:
    """Who committed."""

    login: str
    name: str

    @property
    def email(self) -> str:
        """An address that reaches nobody."""
        return f"{self.login}@users.noreply.example"


MAINTAINER = Identity("maintainer", "Marit Ainer")
CONTRIBUTOR = Identity("contributor", "Con Tributor")
WEB_FLOW = Identity("web-flow", "GitHub")


class Method(StrEnum):
    """How a pull enters its base branch."""

    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCommit:
    """A commit as changes to its first parent's tree."""

    key: int
    parents: tuple[int, ...]
    message: str
    author: Identity
    committer: Identity
    authored_at: datetime
    committed_at: datetime
    changes: Changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One commit of a pull's branch."""

    message: str
    authored_at: datetime
    changes: Changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A pull as git sees it. `base_moved_at`: the base branch gets a commit of its own then.

    `takes_base`: the branch merges the moved base into itself before it is merged.
    """

    number: int
    name: str
    title: str
    steps: tuple[Step, ...]
    method: Method
    merged_at: datetime
    author: Identity = CONTRIBUTOR
    base_moved_at: datetime | None = None
    takes_base: bool = False
    squash_body: str = ""


@dataclass(slots=True)
class History:
    """Grows one repository, oldest commit first. `refs` and `tags`: name → commit key."""

    default_branch: str = "main"
    commits: list[PlannedCommit] = field(default_factory=list)
    refs: dict[str, int] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    tree: dict[str, SourceFile] = field(default_factory=dict)  # of the default branch
    _own: dict[str, SourceFile] = field(default_factory=dict)  # not part of any release

    def release(self, tag: str, files: Mapping[str, SourceFile], *, at: datetime) -> None:
        """The default branch becomes `files` (nothing happens when it is) and gets the tag."""
        if tag in self.tags:
            return
        changes = changes_between(self.tree, {**files, **self._own})
        if changes:
            message = f"Release {tag}\n"
            self._advance(self._commit(message, MAINTAINER, at, changes=changes))
        self.tags[tag] = self._tip()

    def push(self, message: str, changes: Changes, *, at: datetime) -> None:
        """A commit straight to the default branch; its files stay through later releases."""
        self._advance(self._commit(message, MAINTAINER, at, changes=changes))
        self._own |= {path: file for path, file in changes.items() if file is not None}

    def propose(self, branch: Branch) -> None:
        """The pull's branch under refs/pull/N/head; nothing is merged."""
        parent = self._tip()
        for step in branch.steps:
            parent = self._commit(
                step.message,
                branch.author,
                step.authored_at,
                changes=step.changes,
                parents=(parent,),
            )
        self.refs[f"refs/pull/{branch.number}/head"] = parent

    def merge(self, branch: Branch) -> int:
        """Propose and merge; returns the key of the pull's merge commit."""
        self.propose(branch)
        if branch.base_moved_at is not None:
            self._move_base(branch, at=branch.base_moved_at)
        match branch.method:
            case Method.MERGE:
                return self._merge_commit(branch)
            case Method.SQUASH:
                return self._squash_commit(branch)
            case Method.REBASE:
                return self._rebased_commits(branch)

    def _merge_commit(self, branch: Branch) -> int:
        head = self.refs[f"refs/pull/{branch.number}/head"]
        message = (
            f"Merge pull request #{branch.number} from {branch.author.login}/{branch.name}\n\n"
            f"{branch.title}\n"
        )
        return self._advance(
            self._commit(
                message,
                MAINTAINER,
                branch.merged_at,
                changes=_combined(branch.steps),
                parents=(self._tip(), head),
                committer=WEB_FLOW,
            )
        )

    def _squash_commit(self, branch: Branch) -> int:
        body = f"\n{branch.squash_body}\n" if branch.squash_body else ""
        message = f"{branch.title} (#{branch.number})\n{body}"
        return self._advance(
            self._commit(
                message,
                branch.author,
                branch.merged_at,
                changes=_combined(branch.steps),
                committer=WEB_FLOW,
            )
        )

    def _rebased_commits(self, branch: Branch) -> int:
        tip = self._tip()
        for step in branch.steps:
            tip = self._advance(
                self._commit(
                    step.message,
                    branch.author,
                    step.authored_at,
                    changes=step.changes,
                    committer=WEB_FLOW,
                    committed_at=branch.merged_at,
                )
            )
        return tip

    def _move_base(self, branch: Branch, *, at: datetime) -> None:
        path = "SUPPORT.md"
        before = self.tree.get(path, SourceFile(b"# Support\n")).data
        line = f"\nQuestions are welcome in the issues (see #{branch.number} for an example).\n"
        moved: Changes = {path: SourceFile(before + line.encode())}
        self.push("Say where to ask\n", moved, at=at)
        if branch.takes_base:
            ref = f"refs/pull/{branch.number}/head"
            self.refs[ref] = self._commit(
                f"Merge branch '{self.default_branch}' into {branch.name}\n",
                branch.author,
                at + timedelta(minutes=5),
                changes=moved,
                parents=(self.refs[ref], self._tip()),
            )

    def _commit(  # noqa: PLR0913  a commit has these parts
        self,
        message: str,
        author: Identity,
        at: datetime,
        *,
        changes: Changes,
        parents: tuple[int, ...] | None = None,
        committer: Identity | None = None,
        committed_at: datetime | None = None,
    ) -> int:
        if parents is None:
            parents = (self._tip(),) if self.commits else ()
        key = len(self.commits) + 1
        self.commits.append(
            PlannedCommit(
                key=key,
                parents=parents,
                message=message,
                author=author,
                committer=committer or author,
                authored_at=at,
                committed_at=committed_at or at,
                changes=changes,
            )
        )
        return key

    def _tip(self) -> int:
        return self.refs[f"refs/heads/{self.default_branch}"]

    def _advance(self, key: int) -> int:
        self.refs[f"refs/heads/{self.default_branch}"] = key
        for path, file in self.commits[key - 1].changes.items():
            if file is None:
                self.tree.pop(path, None)
            else:
                self.tree[path] = file
        return key


def changes_between(
    before: Mapping[str, SourceFile], after: Mapping[str, SourceFile]
) -> dict[str, SourceFile | None]:
    """What turns one tree into the other, in the order of the paths."""
    paths = sorted(before.keys() | after.keys())
    return {path: after.get(path) for path in paths if before.get(path) != after.get(path)}


def _combined(steps: Sequence[Step]) -> Changes:
    changes: dict[str, SourceFile | None] = {}
    for step in steps:
        changes |= step.changes
    return changes
