"""Reading a mirror: commits, changes, files, and whether patches make another commit's tree."""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from miner.errors import BadItemError
from miner.git import command, index
from miner.git.change import Comparison, RawChange, parse, raw_bytes
from miner.git.commits import CommitHeader
from miner.git.objects import Objects, StoredObject, output_of
from miner.git.session import NAMES_AT_ONCE, LostError, Session
from miner.git.tree import TreeEntry, check, pack, parse_entries, tree_names
from validators.model import Tree

_OID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_COMPARE = ("-r", "-z", "--raw", "--numstat", "--no-abbrev")
_PATCH = ("--patch", "--binary", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv")


@dataclass(frozen=True, slots=True)
class Mirror:
    """A bare repository on this machine. Cheap to make; safe to read while another updates it.

    Every commit argument is a full object id. BadItemError where a commit is not in the mirror.
    """

    path: Path
    name: str  # "owner/name", for messages
    session: Session | None = field(default=None, compare=False, repr=False)

    @contextmanager
    def kept_open(self) -> Iterator["Mirror"]:
        """The same mirror with git processes kept open, for many questions by one thread."""
        session = Session(self.path)
        try:
            yield replace(self, session=session)
        finally:
            session.close()

    def has(self, commit: str) -> bool:
        """Is it there? (Never true for a branch name.)"""
        return bool(self._headers([commit]))

    def missing(self, commits: Sequence[str]) -> Sequence[str]:
        """Those that are not there."""
        found: list[StoredObject] = []
        for start in range(0, len(commits), NAMES_AT_ONCE):
            found += self._objects(commits[start : start + NAMES_AT_ONCE])
        doubtful = [oid for oid, each in zip(commits, found, strict=True) if not each.kind]
        return [oid for oid in doubtful if not self.has(oid)]

    def find(self, commit: str) -> tuple[CommitHeader, ...]:
        """The commit and then its first and second parent; () when it is not there."""
        return self._headers([commit, f"{commit}^1", f"{commit}^2"])

    def first_parents(self, commit: str, *, limit: int) -> tuple[CommitHeader, ...]:
        """The commit and what is behind it by first parents, at most `limit`."""
        if self.session is not None and limit <= NAMES_AT_ONCE:
            return self._headers([commit, *(f"{commit}~{steps}" for steps in range(1, limit))])
        walk = ("rev-list", "--first-parent", f"--max-count={limit}", self._checked(commit), "--")
        return self._headers(self._said(self._run(*walk)).decode().split())

    def committed_at(self, commit: str) -> datetime:
        """The committer's time, UTC."""
        return self._header(commit).committed_at

    def merge_base(self, a: str, b: str) -> str | None:
        """The best common ancestor, or None when the histories are unrelated."""
        answer = self._run("merge-base", self._checked(a), self._checked(b))
        if answer.exit_code == 1 and not answer.error:
            return None
        return self._said(answer).decode().split()[0]

    def changes(self, a: str, b: str, *, renames: bool = True) -> tuple[RawChange, ...]:
        """The changed files from `a` to `b`, in the order of `diff`."""
        return self._compare(a, b, "-M" if renames else "--no-renames").changes

    def diff(self, a: str, b: str, *, renames: bool = True) -> bytes:
        """git's own diff: binary content and full blob names in it, renames found, a/ and b/."""
        return self.compare(a, b, renames=renames).diff

    def compare(self, a: str, b: str, *, renames: bool = True) -> Comparison:
        """`changes` and `diff` of one run of git."""
        return self._compare(a, b, "-M" if renames else "--no-renames", *_PATCH)

    def entries(self, commit: str) -> tuple[TreeEntry, ...]:
        """Every file, symlink and submodule of a commit, sorted by git."""
        answer = self._run("ls-tree", "-r", "-l", "-z", "--full-tree", self._checked(commit))
        return parse_entries(self._said(answer))

    def paths(self, commit: str) -> tuple[str, ...]:
        """The paths of its files and symlinks (str as in RawChange)."""
        return tuple(entry.path for entry in self.entries(commit) if entry.mode != "160000")

    def read_all(self, commit: str, paths: Sequence[str]) -> Mapping[str, bytes]:
        """Those of the files that are there, by path, in the order asked for."""
        (root,) = self._objects([f"{self._checked(commit)}^{{tree}}"])
        names = tree_names(root.content, oid_bytes=len(commit) // 2)
        asked = [
            path
            for path in dict.fromkeys(paths)
            if "\n" not in path and path.split("/")[0] in names
        ]
        found = self._objects([f"{commit}:{path}" for path in asked])
        return {
            path: each.content
            for path, each in zip(asked, found, strict=True)
            if each.kind == "blob"
        }

    def blobs(self, oids: Sequence[str]) -> Mapping[str, bytes]:
        """Contents by blob name. BadItemError when one is missing."""
        wanted = tuple(dict.fromkeys(oids))
        found = {}
        for oid, each in zip(wanted, self._objects(wanted), strict=True):
            if each.kind != "blob":
                raise BadItemError(f"Object {oid} of {self.name} is not a blob in the mirror.")
            found[oid] = each.content
        return found

    def tree(self, commit: str) -> Tree:
        """All files of a commit as a tar: symlinks and modes as stored, submodules empty folders,
        export-ignored files there, LFS files as pointers."""
        entries = self.entries(commit)
        check(entries)
        contents = self.blobs([entry.blob for entry in entries if entry.mode != "160000"])
        committed_at = self.committed_at(commit)
        return Tree(
            commit=commit,
            committed_at=committed_at,
            tar=pack(entries, read=contents.__getitem__, committed_at=committed_at),
            nearest_tag=self.nearest_tag(commit),
        )

    def nearest_tag(self, commit: str) -> str | None:
        """The nearest tag behind the commit, or on it, that is named like a version.

        A session looks for all that `expect` announced at once.
        """
        if not self._has_tags():
            return None
        if self.session is None:
            return self._nearest_tags([commit])[commit]
        known = self.session.nearest_tags
        if commit not in known:
            try:
                known.update(self._nearest_tags([commit, *self.session.expected]))
            except BadItemError:  # one of the others may be missing
                known.update(self._nearest_tags([commit]))
            self.session.expected = ()
        return known[commit]

    def expect(self, commits: Sequence[str]) -> None:
        """These commits' nearest tags will be asked for in this session."""
        if self.session is not None:
            self.session.expected = tuple(map(self._checked, commits))

    def _nearest_tags(self, commits: Sequence[str]) -> dict[str, str | None]:
        found: dict[str, str | None] = dict.fromkeys(map(self._checked, commits))
        for pattern in ("*[0-9].[0-9]*", "*[0-9]*"):  # "6.7" before "6.x"
            untold = [commit for commit, tag in found.items() if tag is None]
            if not untold:
                break
            # a commit behind which there is no tag is answered by its own id
            describe = ("describe", "--tags", "--always", "--abbrev=0", f"--match={pattern}")
            told = self._said(self._run(*describe, *untold)).decode("utf-8", "replace")
            for commit, tag in zip(untold, told.splitlines(), strict=True):
                found[commit] = None if tag == commit else tag
        return found

    def _has_tags(self) -> bool:
        """Is there any tag? Asked once a session: most small projects have none."""
        if self.session is None:
            return True
        if self.session.has_tags is None:
            tags = self._run("for-each-ref", "--count=1", "--format=%(refname)", "refs/tags/")
            self.session.has_tags = bool(self._said(tags))
        return self.session.has_tags

    def adds_up(self, changes: Sequence[RawChange], patches: Sequence[bytes]) -> bool:
        """Do the patches together make every changed file what it is in the end, and no other?

        Asked of the changed files alone, in one run however large the tree is, in a throw-away
        index and object folder: the mirror is not touched.
        """
        before = {
            raw_bytes(each.old_path): (each.old_mode, each.old_blob)
            for each in changes
            if each.status != "A"
        }
        after = {
            raw_bytes(each.path): (each.new_mode, each.new_blob)
            for each in changes
            if each.status != "D"
        }
        with tempfile.TemporaryDirectory(prefix="miner-apply-") as scratch:
            file = Path(scratch, "index")
            file.write_bytes(index.write(before))
            if not self._applied([b"".join(patches)], self._scratch_env(scratch)):
                return False
            return index.read(file.read_bytes()) == after

    def _scratch_env(self, scratch: str) -> dict[str, str]:
        """An index and new objects in `scratch`, the mirror's objects only to read."""
        return {
            "GIT_INDEX_FILE": f"{scratch}/index",
            "GIT_OBJECT_DIRECTORY": scratch,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self.path / "objects"),
        }

    def _applied(self, patches: Sequence[bytes], env: Mapping[str, str]) -> bool:
        apply = ("apply", "--cached", "--whitespace=nowarn", "-")
        return all(self._run(*apply, stdin=patch, env=env).ok for patch in patches if patch)

    def _objects(self, names: Sequence[str]) -> list[StoredObject]:
        return Objects(self.path, self.name, self.session).read(names)

    def _headers(self, names: Sequence[str]) -> tuple[CommitHeader, ...]:
        """Of the commits among the objects; () when the first one is none."""
        if not names or _OID.fullmatch(names[0]) is None:
            return ()
        return Objects(self.path, self.name, self.session).commits(names)

    def _compare(self, a: str, b: str, *options: str) -> Comparison:
        output = self._diff_tree(a, b, (*_COMPARE, *options))
        changes, diff = parse(output)
        return Comparison(changes=changes, diff=diff)

    def _diff_tree(self, a: str, b: str, options: Sequence[str]) -> bytes:
        pair = [self._checked(a), self._checked(b)]
        if self.session is not None:
            with suppress(LostError):
                output = self.session.compare(a, b, options)
                if output:  # nothing may also mean that a commit is not there: ask anew
                    return output
        return self._said(self._run("diff-tree", *options, *pair))

    def _header(self, commit: str) -> CommitHeader:
        found = self._headers([commit])
        if not found:
            raise BadItemError(f"{commit!r} is no commit in the mirror of {self.name}.")
        return found[0]

    def _checked(self, commit: str) -> str:
        """Only full ids get to git: a branch name or an option would mean something else."""
        if _OID.fullmatch(commit) is None:
            raise BadItemError(f"{commit!r} is not a full commit id.")
        return commit

    def _run(
        self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> command.Answer:
        return command.run(self.path, arguments, stdin=stdin, env=env)

    def _said(self, answer: command.Answer) -> bytes:
        return output_of(answer, self.name)
