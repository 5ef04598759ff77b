"""Which commit is the base: merge, squash, rebase, queue, indirect.

A candidate is accepted only if git's count of lines by file from it to the fixed state equals the
pull's own file list; that check is decisive, the order of the candidates is not. What no candidate
fits stays unresolved, with the facts. The pull's own `base.sha` is never used: it is the tip of the
base branch at some time, not the state the fix was put upon.

| merged by                    | candidates, in order                             | fixed state  |
|------------------------------|--------------------------------------------------|--------------|
| merge commit, button or queue| its first parent; its second ("foxtrot" merge)   | merge commit |
| squash, one-commit rebase    | its parent                                       | merge commit |
| rebase of n commits          | n, n-1 … 2 behind it (empty ones are dropped)    | merge commit |
| a push, another pull's merge | merge base with the head; the parent of the      | the head     |
|                              | pull's first commit                              |              |
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from miner.git import Mirror, RawChange
from miner.model import Base, ChangedFile, Commit, MergeMethod

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


def resolve_base(
    mirror: Mirror,
    *,
    merge_commit: str,
    head_commit: str,
    commits: Sequence[Commit],
    files: Sequence[ChangedFile],
) -> Base:
    """The base of a merged pull, or an unresolved Base whose `detail` says what did not fit."""
    unresolved = Base(commit=None, merge_tree=merge_commit, method=None, rule="unresolved")
    if not files:
        return replace(unresolved, detail="The source lists no changed files to check a base by.")
    if len(files) >= FILES_LISTED_AT_MOST:
        return replace(
            unresolved,
            detail=f"The source lists {len(files)} changed files, which may not be all of them.",
        )
    if not mirror.has(merge_commit):
        return replace(unresolved, detail=f"Merge commit {merge_commit} is not in the mirror.")
    wanted = _listed(files)
    misfits = []
    for candidate in _candidates(mirror, merge_commit, head_commit, commits):
        difference = _difference(mirror, candidate, wanted)
        if not difference:
            return Base(
                commit=candidate.base,
                merge_tree=candidate.merge_tree,
                method=candidate.method,
                rule=candidate.rule,
                committed_at=mirror.committed_at(candidate.base),
            )
        misfits.append(f"{candidate.rule} {candidate.base[:12]}: {difference}")
    if not mirror.has(head_commit):
        misfits.append(f"head commit {head_commit[:12]} is not in the mirror")
    return replace(unresolved, detail="; ".join(misfits[:10]) or "The merge commit has no parent.")


def _candidates(
    mirror: Mirror, merge_commit: str, head_commit: str, commits: Sequence[Commit]
) -> Iterator[_Try]:
    """Lazily, likeliest first; no base twice for the same fixed state."""
    seen = set()
    for candidate in _all_candidates(mirror, merge_commit, head_commit, commits):
        key = (candidate.base, candidate.merge_tree)
        if key not in seen and candidate.base != candidate.merge_tree:
            seen.add(key)
            yield candidate


def _all_candidates(
    mirror: Mirror, merge_commit: str, head_commit: str, commits: Sequence[Commit]
) -> Iterator[_Try]:
    parents = mirror.parents(merge_commit)
    if len(parents) == 1:
        method = _one_parent_method(mirror, merge_commit, commits)
        yield _Try(parents[0], merge_commit, method, "parent")
        yield from _rebased(mirror, merge_commit, commits)
    for parent, rule in zip(parents, ("first_parent", "second_parent"), strict=False):
        yield _Try(parent, merge_commit, MergeMethod.MERGE, rule)
    yield from _indirect(mirror, parents, head_commit, commits)


def _one_parent_method(mirror: Mirror, merge_commit: str, commits: Sequence[Commit]) -> MergeMethod:
    """A rebased commit keeps its message; a squash is given one of its own."""
    message = mirror.message(merge_commit).strip()
    kept = any(commit.message.strip() == message for commit in commits)
    return MergeMethod.REBASE if kept else MergeMethod.SQUASH


def _rebased(mirror: Mirror, merge_commit: str, commits: Sequence[Commit]) -> Iterator[_Try]:
    """The commits up to one for each of the pull's non-merge commits behind, farthest first."""
    count = sum(len(commit.parents) < 2 for commit in commits)
    behind = []
    for commit in mirror.first_parents(merge_commit, limit=count + 1)[1:]:
        behind.append(commit)
        if len(mirror.parents(commit)) != 1:  # a rebase makes no merges: do not walk past one
            break
    for steps, commit in reversed([*enumerate(behind, start=1)][1:]):
        yield _Try(commit, merge_commit, MergeMethod.REBASE, f"rebased_{steps}")


def _indirect(
    mirror: Mirror, parents: Sequence[str], head_commit: str, commits: Sequence[Commit]
) -> Iterator[_Try]:
    """The pull's own branch, for pulls that got in by a push or with another pull.

    That range is what the pull's page shows; with a merge commit the state was never on the base
    branch as it is.
    """
    if not mirror.has(head_commit):
        return
    method = MergeMethod.MERGE if len(parents) > 1 else None
    if parents:
        base = mirror.merge_base(parents[0], head_commit)
        if base is not None:
            yield _Try(base, head_commit, method, "merge_base")
    own = {commit.oid for commit in commits}
    for commit in commits:
        for parent in commit.parents:
            if parent not in own and mirror.has(parent):
                yield _Try(parent, head_commit, method, "first_commit_parent")


def _difference(mirror: Mirror, candidate: _Try, wanted: _Counts) -> str:
    """ "" when git counts what the pull lists, with or without looking for renames."""
    found = _counted(mirror.changes(candidate.base, candidate.merge_tree))
    if found == wanted:
        return ""
    if found.total() < wanted.total():  # the source may not see a rename that git sees
        apart = mirror.changes(candidate.base, candidate.merge_tree, renames=False)
        if _counted(apart) == wanted:
            return ""
    missing, extra = wanted - found, found - wanted
    return (
        f"git counts {found.total()} files and the pull lists {wanted.total()}; "
        f"{missing.total()} listed ones differ or are missing, {extra.total()} are not listed so"
    )


def _listed(files: Sequence[ChangedFile]) -> _Counts:
    return Counter((file.path, file.additions, file.deletions) for file in files)


def _counted(changes: Sequence[RawChange]) -> _Counts:
    """As the source counts: no lines for binary files, unreadable path bytes shown as U+FFFD."""
    return Counter(
        (_shown(change.path), change.additions or 0, change.deletions or 0) for change in changes
    )


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
