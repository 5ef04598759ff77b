"""What git knows of one repository: commits, parents, branches of pulls, changed files."""

import functools
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from miner.demo.commit_graph import linear_branch, merge_base
from miner.demo.fast_import import git
from miner.errors import ConfigError, FatalError

_FORMAT = "%x01".join(("%H", "%T", "%P", "%an", "%ae", "%at", "%cn", "%ce", "%ct", "%B"))
_CHANGE_TYPES = {
    "A": "ADDED", "M": "MODIFIED", "D": "DELETED", "R": "RENAMED", "C": "COPIED", "T": "CHANGED",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitFact:
    """A commit as git has it; times in UTC."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    author_name: str
    author_email: str
    authored_at: datetime
    committer_name: str
    committer_email: str
    committed_at: datetime
    message: str

    @property
    def headline(self) -> str:
        """The message's first line."""
        return self.message.split("\n", 1)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFact:
    """A changed file; `change` in GitHub's PatchStatus words."""

    path: str
    additions: int
    deletions: int
    change: str


class RepositoryFacts:
    """Reads a repository lazily and remembers what it read. Safe to share between threads."""

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir
        self._lock = threading.RLock()
        self._commits: dict[str, CommitFact] | None = None
        self._branch = functools.lru_cache(maxsize=None)(self._read_branch)
        self._files: dict[tuple[str, str], tuple[FileFact, ...]] = {}  # by two trees
        self._history = functools.lru_cache(maxsize=256)(self._read_history)
        self._bases = functools.lru_cache(maxsize=None)(self._read_merge_base)

    def commit(self, oid: str) -> CommitFact:
        """A commit by its full id. FatalError when the repository has none such."""
        with self._lock:
            commits = self._all_commits()
            if oid not in commits:
                commits |= _parse_log(self._git("log", "-z", "--no-walk", _format(), oid, "--"))
            return commits[oid]

    @functools.cached_property
    def refs(self) -> Mapping[str, str]:
        """Full ref name → commit id (tags peeled)."""
        listed = self._git("for-each-ref", "--format=%(refname) %(objectname) %(*objectname)")
        refs = {}
        for line in listed.decode("utf-8", "surrogateescape").split("\n"):
            if line:
                name, oid, peeled = (*line.split(" "), "")[:3]
                refs[name] = peeled or oid
        return refs

    @functools.cached_property
    def head_branch(self) -> str:
        """What HEAD names, without refs/heads/."""
        return self._git("symbolic-ref", "--short", "HEAD").decode().strip()

    def sizes(self, oid: str) -> Mapping[str, int]:
        """Path → bytes of every file of a commit."""
        listed = self._git("ls-tree", "-r", "-l", "-z", oid).decode("utf-8", "replace")
        entries = [entry.split("\t", 1) for entry in listed.split("\0") if entry]
        return {
            path: int(size) for facts, path in entries if (size := facts.split()[3]).isdecimal()
        }

    def resolve(self, name: str) -> str:
        """A commit's full id from any name git knows."""
        if name in self.refs:
            return self.refs[name]
        if len(name) == 40 and (name in self._all_commits()):
            return name
        try:
            return (
                self._git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").decode().strip()
            )
        except FatalError as error:
            raise ConfigError(
                f"{self.git_dir} has no commit {name!r}; the pulls file names one it should have."
            ) from error

    def merge_base(self, one: str, other: str) -> str:
        """The commit where two branches part."""
        with self._lock:
            return self._bases(one, other)

    def branch(self, base: str, head: str) -> tuple[str, ...]:
        """Commits that are in head and not in base, oldest first."""
        with self._lock:
            return self._branch(base, head)

    def files(self, before: str, after: str) -> tuple[FileFact, ...]:
        """Changed files between two commits, renames found."""
        self.read_files([(before, after)])
        return self._files[(self.commit(before).tree, self.commit(after).tree)]

    def read_files(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Read the changed files of many pairs of commits in one go."""
        with self._lock:
            trees = {(self.commit(one).tree, self.commit(two).tree) for one, two in pairs}
            unread = sorted(trees - self._files.keys())
            if unread:
                lines = "".join(f"{one} {two}\n" for one, two in unread).encode()
                told = dict(_parse_changes(self._git(*_DIFF_TREE, stdin=lines)))
                self._files |= {pair: told.get(pair, ()) for pair in unread}

    def history(self, oid: str) -> tuple[str, ...]:
        """A commit and its ancestors, newest first."""
        with self._lock:
            return self._history(oid)

    def paths(self, oid: str) -> tuple[str, ...]:
        """Names in the top folder of a commit."""
        return tuple(
            self._git("ls-tree", "-z", "--name-only", oid)
            .decode("utf-8", "surrogateescape")
            .split("\0")[:-1]
        )

    def read(self, oid: str, path: str) -> bytes:
        """A file of a commit."""
        return self._git("cat-file", "blob", f"{oid}:{path}")

    def _all_commits(self) -> dict[str, CommitFact]:
        with self._lock:
            if self._commits is None:
                self._commits = _parse_log(self._git("log", "-z", "--all", _format()))
            return self._commits

    def _read_branch(self, base: str, head: str) -> tuple[str, ...]:
        fork = merge_base(self._all_commits(), base, head)
        simple = linear_branch(self._all_commits(), fork, head) if fork else None
        if simple is not None:
            return simple
        listed = self._git("rev-list", "--reverse", "--topo-order", head, f"^{base}")
        return tuple(listed.decode().split())

    def _read_merge_base(self, one: str, other: str) -> str:
        simple = merge_base(self._all_commits(), one, other)
        return simple or self._git("merge-base", one, other).decode().strip()

    def _read_history(self, oid: str) -> tuple[str, ...]:
        return tuple(self._git("rev-list", oid).decode().split())

    def _git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        return git(["-C", str(self.git_dir), *arguments], stdin=stdin)


def _format() -> str:
    return f"--format={_FORMAT}"


def _parse_log(log: bytes) -> dict[str, CommitFact]:
    commits: dict[str, CommitFact] = {}
    for entry in log.decode("utf-8", "replace").split("\0"):
        if entry:
            parts = entry.strip("\n").split("\x01", 9)
            oid, tree, parents, author, email, authored, committer, mail, committed, body = parts
            commits[oid] = CommitFact(
                oid=oid,
                tree=tree,
                parents=tuple(parents.split()),
                author_name=author,
                author_email=email,
                authored_at=datetime.fromtimestamp(int(authored), UTC),
                committer_name=committer,
                committer_email=mail,
                committed_at=datetime.fromtimestamp(int(committed), UTC),
                message=body.rstrip("\n"),
            )
    return commits


_DIFF_TREE = ("diff-tree", "--stdin", "-r", "-M", "--raw", "--numstat", "-z")
_PAIR = re.compile(r"([0-9a-f]{40,64}) ([0-9a-f]{40,64})\n")


def _parse_changes(output: bytes) -> Iterator[tuple[tuple[str, str], tuple[FileFact, ...]]]:
    """Per pair of trees: a line with both, then all raw entries, then all counts, in one order."""
    text = output.decode("utf-8", "surrogateescape")
    start = 0
    while match := _PAIR.match(text, start):
        following = _PAIR.search(text, match.end())
        end = following.start() if following else len(text)
        yield (match[1], match[2]), _parse_pair(text[match.end() : end])
        start = end


def _parse_pair(text: str) -> tuple[FileFact, ...]:
    fields = iter(text.split("\0"))
    changes: dict[str, str] = {}
    counts: dict[str, tuple[int, int]] = {}
    for item in fields:
        if item.startswith(":"):
            letter = item.rsplit(" ", 1)[1][0]
            path = next(fields)
            if letter in "RC":
                path = next(fields)
            changes[path] = _CHANGE_TYPES.get(letter, "CHANGED")
        elif item:
            added, removed, path = item.split("\t", 2)
            if not path:  # a rename: both names follow
                _, path = next(fields), next(fields)
            counts[path] = (_count(added), _count(removed))
    return tuple(
        FileFact(
            path=path.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
            additions=counts.get(path, (0, 0))[0],
            deletions=counts.get(path, (0, 0))[1],
            change=change,
        )
        for path, change in sorted(changes.items())
    )


def _count(number: str) -> int:
    return 0 if number == "-" else int(number)
