"""Records and repositories together, looked up the ways an API asks for them."""

import functools
import hashlib
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from miner.demo.forge import ForgeData
from miner.demo.git_facts import CommitFact, FileFact, RepositoryFacts
from miner.demo.languages import languages_of
from miner.demo.licences import is_licence_file, told_by
from miner.demo.pulls import IssueRecord, PullRecord, RepositoryRecord
from miner.errors import ConfigError

_MENTION = re.compile(r"(?<![\w/])#(\d+)\b|\b([\w.-]+/[\w.-]+)#(\d+)\b")
_REBASE_WALK = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class PullFacts:
    """What git says of a pull: `base` is the fork point, `files` as of the three-dot diff."""

    merge_commit: str | None
    head: str
    base: str
    commits: tuple[str, ...]
    files: tuple[FileFact, ...]


class RepositoryWorld:
    """One repository: its record, what was written, and its git facts."""

    def __init__(self, record: RepositoryRecord, git_root: Path) -> None:
        self.record = record
        self.name = record.name
        self._git_root = git_root
        self.issues: dict[int, IssueRecord] = {}
        self.pulls: dict[int, PullRecord] = {}
        self._lock = threading.RLock()
        self._pull_facts: dict[int, PullFacts] = {}
        self._owners: dict[str, list[int]] | None = None

    @functools.cached_property
    def database_id(self) -> int:
        """The record's, else a number made from the name."""
        if self.record.database_id is not None:
            return self.record.database_id
        return int(hashlib.sha256(self.name.encode()).hexdigest()[:7], 16) + 1

    @functools.cached_property
    def facts(self) -> RepositoryFacts:
        """What git knows. ConfigError without a repository; one that has only issues needs none."""
        return RepositoryFacts(find_git_dir(self._git_root, self.record))

    @functools.cached_property
    def has_git(self) -> bool:
        """Is there a repository behind the name, or are there issues alone?"""
        return _git_dir(self._git_root, self.record) is not None

    @functools.cached_property
    def default_branch(self) -> str:
        """The record's, else the one git's HEAD names; "main" without git."""
        return self.record.default_branch or (self.facts.head_branch if self.has_git else "main")

    @functools.cached_property
    def languages(self) -> Mapping[str, int]:
        """Programming language → bytes, largest first: the record's, else the default branch's."""
        if self.record.languages or not self.has_git:
            return self.record.languages
        return languages_of(self.facts.sizes(self.head))

    @functools.cached_property
    def license(self) -> str | None:
        """SPDX id: the record's, else what the licence file at the head says."""
        if self.record.license is not None or not self.has_git:
            return self.record.license
        paths = [path for path in self.facts.paths(self.head) if is_licence_file(path)]
        return told_by(self.facts.read(self.head, paths[0])) if paths else None

    @property
    def head(self) -> str:
        """The newest commit of the default branch."""
        return self.facts.resolve(f"refs/heads/{self.default_branch}")

    @property
    def pushed_at(self) -> datetime:
        """The record's, else when the default branch got its newest commit."""
        return self.record.pushed_at or self.facts.commit(self.head).committed_at

    def updated_at(self, pull: PullRecord) -> datetime:
        """The pull's last change; its merge or close when the record does not say."""
        return pull.updated_at or pull.merged_at or pull.closed_at or pull.created_at

    def pulls_by_update(self) -> Sequence[PullRecord]:
        """All pulls, newest update first."""
        return sorted(self.pulls.values(), key=lambda p: (self.updated_at(p), p.number))[::-1]

    def pull_facts(self, pull: PullRecord) -> PullFacts:
        """Derived from git as `PullRecord` says. ConfigError when a commit is missing."""
        with self._lock:
            if not self._pull_facts:  # the first asked for pays for all: one git call, not many
                self.facts.read_files(self._ends(known) for known in self.pulls.values())
            if pull.number not in self._pull_facts:
                self._pull_facts[pull.number] = self._derive(pull)
            return self._pull_facts[pull.number]

    def _derive(self, pull: PullRecord) -> PullFacts:
        base, head = self._ends(pull)
        merge = self.facts.resolve(pull.merge_commit) if pull.merge_commit else None
        parents = self.facts.commit(merge).parents if merge else ()
        against = base if pull.base_commit or not parents else parents[0]
        return PullFacts(
            merge_commit=merge,
            head=head,
            base=base,
            commits=self.facts.branch(against, head),
            files=self.facts.files(base, head),
        )

    def _ends(self, pull: PullRecord) -> tuple[str, str]:
        """Fork point and head."""
        facts = self.facts
        merge = facts.resolve(pull.merge_commit) if pull.merge_commit else None
        parents = facts.commit(merge).parents if merge else ()
        head = self._head_of(pull, merge, parents)
        if pull.base_commit:
            return facts.resolve(pull.base_commit), head
        return facts.merge_base(parents[0] if parents else self.head, head), head

    def _head_of(self, pull: PullRecord, merge: str | None, parents: Sequence[str]) -> str:
        if pull.head_commit:
            return self.facts.resolve(pull.head_commit)
        if len(parents) > 1:
            return parents[1]  # before the ref: in an inherited history that is another pull's
        found = self.facts.refs.get(f"refs/pull/{pull.number}/head", merge)
        if found is None:
            raise ConfigError(f"{self.name}#{pull.number} has neither head nor merge commit.")
        return found

    def pulls_of_commit(self, oid: str) -> Sequence[PullRecord]:
        """Pulls a commit came with: in their branch, their merge, or their rebased commits."""
        with self._lock:
            if self._owners is None:
                self._owners = {}
                for pull in self.pulls.values():
                    for owned in self._commits_of(pull):
                        self._owners.setdefault(owned, []).append(pull.number)
            return [self.pulls[number] for number in self._owners.get(oid, ())]

    def _commits_of(self, pull: PullRecord) -> set[str]:
        facts = self.pull_facts(pull)
        owned = set(facts.commits)
        commit: CommitFact | None = (
            self.facts.commit(facts.merge_commit) if facts.merge_commit else None
        )
        messages = {self.facts.commit(oid).message for oid in facts.commits}
        if commit is not None:
            owned.add(commit.oid)
            for _ in range(_REBASE_WALK):
                if len(commit.parents) != 1 or commit.message not in messages:
                    break
                owned.add(commit.oid)
                commit = self.facts.commit(commit.parents[0])
        return owned

    @functools.cached_property
    def mentions(self) -> Mapping[int, Sequence[PullRecord]]:
        """Number → pulls of this repository whose text names it."""
        found: dict[int, list[PullRecord]] = {}
        for pull in self.pulls.values():
            for here, repo, there in _MENTION.findall(f"{pull.title}\n{pull.body}"):
                if here or repo == self.name:
                    mentioned = found.setdefault(int(here or there), [])
                    if pull not in mentioned and pull.number != int(here or there):
                        mentioned.append(pull)
        return found


def find_git_dir(git_root: Path, record: RepositoryRecord) -> Path:
    """The repository's git directory: bare, or the `.git` of a work tree.

    Tried below the root: the record's `git`, else owner/name.git, owner/name, owner__name.git,
    owner__name, name.git, name. ConfigError when none is there.
    """
    found = _git_dir(git_root, record)
    if found is None:
        raise ConfigError(
            f"{git_root} holds no git repository for {record.name}; it may be named "
            f"{', '.join(_names_of(record))}."
        )
    return found


def _git_dir(git_root: Path, record: RepositoryRecord) -> Path | None:
    for name in _names_of(record):
        for git_dir in (git_root / name / ".git", git_root / name):
            if (git_dir / "HEAD").is_file():
                return git_dir
    return None


def _names_of(record: RepositoryRecord) -> Sequence[str]:
    if record.git:
        return (record.git,)
    owner, name = record.name.split("/")
    stems = (record.name, f"{owner}__{name}", name)
    return [f"{stem}{end}" for stem in stems for end in (".git", "")]


class World:
    """All repositories. Names are looked up without case, former names too."""

    def __init__(self, data: ForgeData) -> None:
        self.repositories: dict[str, RepositoryWorld] = {}
        self._names: dict[str, str] = {}
        for record in data.records:
            if isinstance(record, RepositoryRecord):
                self.repositories[record.name] = RepositoryWorld(record, data.git_root)
                for name in (*record.former_names, record.name):
                    self._names[name.lower()] = record.name
        for record in data.records:
            self.add(record)

    def add(self, record: RepositoryRecord | IssueRecord | PullRecord) -> None:
        """Put a record in, or replace the one of its number."""
        if isinstance(record, IssueRecord):
            self.repositories[record.repo].issues[record.number] = record
        elif isinstance(record, PullRecord):
            self.repositories[record.repo].pulls[record.number] = record

    def remove(self, name: str) -> None:
        """The repository was deleted: nobody finds it any more."""
        self.repositories.pop(name, None)
        self._names = {known: now for known, now in self._names.items() if now != name}

    def repository(self, name: str, *, follow_renames: bool = True) -> RepositoryWorld | None:
        """The repository of that name, or None."""
        current = self._names.get(name.lower())
        if current is None or (not follow_renames and current.lower() != name.lower()):
            return None
        return self.repositories[current]

    def by_database_id(self, database_id: int) -> RepositoryWorld | None:
        """The repository of that id, or None."""
        for repository in self.repositories.values():
            if repository.database_id == database_id:
                return repository
        return None
