"""Which commit is the base: merge, squash, rebase, queue, indirect.

A candidate is accepted only if git's count of lines by file from it to the fixed state equals the
pull's own file list; that check is decisive, the order of the candidates is not. What no candidate
fits stays unresolved, with the facts. The pull's own `base.sha` is never used: it is the tip of the
base branch at some time, not the state the fix was put upon.

| merged by                    | candidates, in order                             | fixed state  |
|------------------------------|--------------------------------------------------|--------------|
| merge commit, button or queue| its first parent; its second ("foxtrot" merge)   | merge commit |
| squash, one-commit rebase    | its parent                                       | merge commit |
| rebase of n commits (the     | n, n-1 … 2 behind it (empty ones are dropped),   | merge commit |
| message is one of theirs)    | then its parent; else these after the parent     |              |
| a push, another pull's merge | merge base with the head; the parent of the      | the head     |
|                              | pull's first commit                              |              |
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from miner.errors import BadItemError
from miner.git import CommitHeader, Mirror, RawChange
from miner.model import Base, ChangedFile, Commit, MergeMethod, PullRequest
from validators.plural import counted

FILES_LISTED_AT_MOST = 3000
"""GitHub lists no more changed files of one pull than this."""

_Counts = Counter[tuple[str, int, int]]


@dataclass(frozen=True, slots=True)
class _Try:
    """A possible base, the commit it would lead to, and why it is worth a look."""

    base: str
    merge_tree: str
    method: MergeMethod | None
    rule: str


def based(pull: PullRequest, mirror: Mirror) -> PullRequest:
    """The pull with its base, and git's diff from base to fixed state, which the check has made
    anyway. Where nothing fits, or git cannot read it: an unresolved base that says why, no diff.
    """
    try:
        base, diff = _resolved(mirror, pull)
    except BadItemError as error:
        base, diff = _unresolved(pull, str(error)), b""
    return replace(pull, base=base, diff=diff)


def _resolved(mirror: Mirror, told: PullRequest) -> tuple[Base, bytes]:
    merge = mirror.find(told.merge_commit)
    why_not = _cannot_be_checked(told, merge)
    if why_not:
        return _unresolved(told, why_not), b""
    wanted = _listed(told.files)
    misfits = []
    for candidate in _candidates(mirror, merge, told):
        found = mirror.compare(candidate.base, candidate.merge_tree)
        difference = _difference(mirror, candidate, found.changes, wanted)
        if not difference:
            return _base(mirror, candidate, merge), found.diff
        misfits.append(f"{candidate.rule} {candidate.base[:12]}: {difference}")
    if not mirror.has(told.head_commit):
        misfits.append(f"head commit {told.head_commit[:12]} is not in the mirror")
    detail = "; ".join(misfits[:10]) or "The merge commit has no parent."
    return _unresolved(told, detail), b""


def _unresolved(told: PullRequest, detail: str) -> Base:
    return Base(
        commit=None,
        merge_tree=told.merge_commit,
        method=None,
        rule="unresolved",
        detail=detail,
    )


def _cannot_be_checked(told: PullRequest, merge: Sequence[CommitHeader]) -> str:
    """Why no candidate could be accepted, whichever it is."""
    listed = len(told.files)
    if not listed:
        return "The source lists no changed files to check a base by."
    if listed >= FILES_LISTED_AT_MOST:
        return f"The source lists {counted(listed, 'changed file')}, which may not be all of them."
    if not merge:
        return f"Merge commit {told.merge_commit} is not in the mirror."
    return ""


def _base(mirror: Mirror, candidate: _Try, known: Sequence[CommitHeader]) -> Base:
    times = {header.oid: header.committed_at for header in known}
    return Base(
        commit=candidate.base,
        merge_tree=candidate.merge_tree,
        method=candidate.method,
        rule=candidate.rule,
        committed_at=times.get(candidate.base) or mirror.committed_at(candidate.base),
    )


def _candidates(mirror: Mirror, merge: Sequence[CommitHeader], told: PullRequest) -> Iterator[_Try]:
    """Lazily, likeliest first; no base twice for the same fixed state."""
    seen = set()
    for candidate in _all_candidates(mirror, merge, told):
        key = (candidate.base, candidate.merge_tree)
        if key not in seen and candidate.base != candidate.merge_tree:
            seen.add(key)
            yield candidate


def _all_candidates(
    mirror: Mirror, merge: Sequence[CommitHeader], told: PullRequest
) -> Iterator[_Try]:
    commit, parents = merge[0], merge[0].parents
    if len(parents) == 1:
        method = _one_parent_method(commit, told.commits)
        by_parent = _Try(parents[0], commit.oid, method, "parent")
        if method is MergeMethod.REBASE and len(told.commits) > 1:
            yield from _rebased(mirror, commit, told.commits)
            yield by_parent
        else:
            yield by_parent
            yield from _rebased(mirror, commit, told.commits)
    for parent, rule in zip(parents, ("first_parent", "second_parent"), strict=False):
        yield _Try(parent, commit.oid, MergeMethod.MERGE, rule)
    yield from _indirect(mirror, parents, told)


def _one_parent_method(merge: CommitHeader, commits: Sequence[Commit]) -> MergeMethod:
    """A rebased commit keeps its message; a squash is given one of its own."""
    message = merge.message.strip()
    kept = any(commit.message.strip() == message for commit in commits)
    return MergeMethod.REBASE if kept else MergeMethod.SQUASH


def _rebased(mirror: Mirror, merge: CommitHeader, commits: Sequence[Commit]) -> Iterator[_Try]:
    """The commits up to one for each of the pull's non-merge commits behind, farthest first."""
    count = sum(len(commit.parents) < 2 for commit in commits)
    behind = []
    for header in mirror.first_parents(merge.oid, limit=count + 1)[1:]:
        behind.append(header.oid)
        if len(header.parents) != 1:  # a rebase makes no merges: do not walk past one
            break
    for steps, oid in reversed([*enumerate(behind, start=1)][1:]):
        yield _Try(oid, merge.oid, MergeMethod.REBASE, f"rebased_{steps}")


def _indirect(mirror: Mirror, parents: Sequence[str], told: PullRequest) -> Iterator[_Try]:
    """The pull's own branch, for pulls that got in by a push or with another pull.

    That range is what the pull's page shows; with a merge commit the state was never on the base
    branch as it is.
    """
    head = told.head_commit
    if not mirror.has(head):
        return
    method = MergeMethod.MERGE if len(parents) > 1 else None
    if parents:
        base = mirror.merge_base(parents[0], head)
        if base is not None:
            yield _Try(base, head, method, "merge_base")
    own = {commit.oid for commit in told.commits}
    for commit in told.commits:
        for parent in commit.parents:
            if parent not in own and mirror.has(parent):
                yield _Try(parent, head, method, "first_commit_parent")


def _difference(
    mirror: Mirror, candidate: _Try, changes: Sequence[RawChange], wanted: _Counts
) -> str:
    """ "" when git counts what the pull lists, with or without looking for renames."""
    found = _counted(changes)
    if _agree(found, wanted):
        return ""
    if found.total() < wanted.total():  # the source may not see a rename that git sees
        apart = mirror.changes(candidate.base, candidate.merge_tree, renames=False)
        if _agree(_counted(apart), wanted):
            return ""
    missing, extra = wanted - found, found - wanted
    return (
        f"git counts {counted(found.total(), 'file')} and the pull lists {wanted.total()}; "
        f"listed and other or missing: {missing.total()}, not listed so: {extra.total()}"
    )


def _agree(found: _Counts, wanted: _Counts) -> bool:
    """The same files with the same counts.

    The project's attributes may tell the source to show a file without its lines (`-diff`), which
    we do not follow: such a file is one listed without lines. Its path must still be there, and
    another file must agree line for line.
    """
    if found == wanted:
        return True
    missing, extra = wanted - found, found - wanted
    unshown = all(not (added or removed) for _, added, removed in missing)
    same_paths = sorted(path for path, *_ in missing.elements()) == sorted(
        path for path, *_ in extra.elements()
    )
    shown = any(added or removed for _, added, removed in found & wanted)
    return unshown and same_paths and shown


def _listed(files: Sequence[ChangedFile]) -> _Counts:
    return Counter((file.path, file.additions, file.deletions) for file in files)


def _counted(changes: Sequence[RawChange]) -> _Counts:
    """As the source counts: no lines for binary files, unreadable path bytes shown as U+FFFD."""
    return Counter(
        (_shown(change.path), change.additions or 0, change.deletions or 0) for change in changes
    )


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
