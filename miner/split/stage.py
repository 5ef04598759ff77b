"""Split: a stored pull → Candidate | Rejection."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Protocol

from miner.errors import BadItemError, ConfigError, RetryableError
from miner.git import Mirror, Mirrors
from miner.model import (
    Candidate,
    Clock,
    Gate,
    PullRequest,
    Rejection,
    Stage,
    StageReport,
)
from miner.progress import Progress
from miner.split import gates, licence, patch, proof, version
from miner.split.closing import closing
from miner.split.gates import Context, Refusal
from miner.split.policy import GatePolicy
from miner.split.statement import Statement, statement
from validators.languages import LANGUAGES

BATCH = 100
MIRRORS_KEPT_OPEN = 8


class Store(Protocol):
    """What splitting reads and leaves."""

    def due_pulls(self, *, policy: str, limit: int, repo: str | None) -> Sequence[PullRequest]:
        """Newest version of each pull without candidate or rejection for (raw digest, policy)."""
        ...

    def reverted_by(self, pull: PullRequest) -> int | None:
        """The number of a stored pull of the same repository that undoes this one."""
        ...

    def save_split(self, pull: PullRequest, result: Candidate | Rejection, *, policy: str) -> None:
        """Append the result for (raw digest of the pull, policy)."""
        ...


def split(  # noqa: PLR0913  # a stage is handed all it uses
    store: Store,
    *,
    mirrors: Mirrors,
    policy: GatePolicy,
    repo: str | None,
    limit: int,
    now: Clock,
    progress: Progress,
) -> StageReport:
    """Judge at most `limit` due pulls, of one repository or of all.

    Every result is stored by itself: ended at any moment and called again, nothing is judged twice
    and nothing left out. A pull whose mirror is missing or cannot be read now stays due.
    ConfigError when the policy wants a language that this version does not know.
    """
    unknown = sorted(set(policy.languages) - set(LANGUAGES))
    if unknown:
        raise ConfigError(
            f"The gate policy wants {', '.join(unknown)}; known are {', '.join(sorted(LANGUAGES))}."
        )
    started_at, counts, retried = now(), Counter[str](), 0
    progress.start(Stage.SPLIT, total=None)
    opened = _OpenMirrors(mirrors)
    try:
        due = _due(store, policy=policy, repo=repo, limit=limit, expect=opened.expect)
        for pull in due:
            try:
                result = _judged(store, pull, mirrors=opened, policy=policy, now=now)
            except (RetryableError, ConfigError) as error:
                retried += 1
                progress.advance(Stage.SPLIT, f"{pull.repo}#{pull.number}: {error}")
                continue
            store.save_split(pull, result, policy=policy.digest)
            outcome = result.gate if isinstance(result, Rejection) else "candidate"
            counts[outcome] += 1
            progress.advance(Stage.SPLIT, f"{pull.repo}#{pull.number}: {outcome}")
    finally:
        opened.close()
        progress.end(Stage.SPLIT)
    return StageReport(
        stage=Stage.SPLIT,
        done=counts["candidate"],
        rejected=counts.total() - counts["candidate"],
        retried=retried,
        counts=dict(sorted(counts.items())),
        started_at=started_at,
        ended_at=now(),
    )


class _OpenMirrors:
    """The mirrors of the repositories met last, kept open."""

    def __init__(self, mirrors: Mirrors) -> None:
        self._mirrors = mirrors
        self._open: dict[str, tuple[Mirror, ExitStack]] = {}
        self._expected: dict[str, list[str]] = {}

    def open(self, name: str) -> Mirror:
        """See Mirrors.open."""
        known = self._open.pop(name) if name in self._open else self._opened(name)
        self._open[name] = known
        if name in self._expected:
            known[0].expect(self._expected.pop(name))
        return known[0]

    def expect(self, pulls: Sequence[PullRequest]) -> None:
        """These come next: what one run of git can say of all their bases is asked at once."""
        self._expected.clear()
        for pull in pulls:
            if pull.base.commit is not None:
                self._expected.setdefault(pull.repo, []).append(pull.base.commit)

    def close(self) -> None:
        """End their git processes."""
        for _, stack in self._open.values():
            stack.close()
        self._open.clear()

    def _opened(self, name: str) -> tuple[Mirror, ExitStack]:
        if len(self._open) >= MIRRORS_KEPT_OPEN:
            _, oldest = self._open.pop(next(iter(self._open)))
            oldest.close()
        stack = ExitStack()
        return stack.enter_context(self._mirrors.open(name).kept_open()), stack


def _due(
    store: Store,
    *,
    policy: GatePolicy,
    repo: str | None,
    limit: int,
    expect: Callable[[Sequence[PullRequest]], None],
) -> Iterator[PullRequest]:
    """Due pulls, a batch in memory at a time; one that stays due is not given out again."""
    seen: set[tuple[int, int]] = set()
    still_due = 0
    while len(seen) < limit:
        asked = min(BATCH, limit - len(seen)) + still_due
        found = store.due_pulls(policy=policy.digest, limit=asked, repo=repo)
        fresh = [pull for pull in found if (pull.repo_id, pull.number) not in seen]
        if not fresh and len(found) < asked:
            return
        still_due = len(found) - len(fresh)
        expect(fresh)
        for pull in fresh[: limit - len(seen)]:
            seen.add((pull.repo_id, pull.number))
            yield pull


def _judged(
    store: Store, pull: PullRequest, *, mirrors: _OpenMirrors, policy: GatePolicy, now: Clock
) -> Candidate | Rejection:
    """The result for one pull; what is unreadable about it is a rejection of its own."""
    try:
        result = judge(pull, mirrors=mirrors, policy=policy, reverted_by=store.reverted_by(pull))
    except BadItemError as error:
        result = Refusal(gate=Gate.UNREADABLE, detail=str(error))
    if isinstance(result, Candidate):
        return result
    return Rejection(
        repo=pull.repo,
        pull_number=pull.number,
        stage=Stage.SPLIT,
        gate=result.gate.value,
        detail=result.detail,
        made_at=now(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """A candidate in the making: what passed the gates."""

    sections: Sequence[patch.Section]
    told: Statement
    context: Context
    texts: Mapping[str, str]  # licence and metadata files of the base


def judge(
    pull: PullRequest, *, mirrors: _OpenMirrors, policy: GatePolicy, reverted_by: int | None
) -> Candidate | Refusal:
    """Cut one pull. BadItemError when git cannot read it, RetryableError when not now."""
    found = closing(pull)
    told = statement(pull, found.issues)
    context = Context(
        pull=pull,
        policy=policy,
        closing=found,
        reverted_by=reverted_by,
        problem_statement=told.problem_statement,
    )
    refused = gates.refusal(gates.PULL_GATES, context)
    if refused is not None:
        return refused
    mirror, base = mirrors.open(pull.repo), _base_commit(pull)
    sections = _sections(pull, mirror, base, _language(context))
    texts = _decoded(mirror.read_all(base, licence.PATHS))
    context = replace(context, sections=sections, license=licence.license_of(texts) or pull.license)
    refused = gates.refusal(gates.CHANGE_GATES, context) or _sum(mirror, base, sections)
    if refused is not None:
        return refused
    return _candidate(
        mirror, base, _Cut(sections=sections, told=told, context=context, texts=texts)
    )


def _sections(
    pull: PullRequest, mirror: Mirror, base: str, language: str
) -> tuple[patch.Section, ...]:
    """The pull's stored diff, cut; compared anew without renames where one crosses the border."""
    classify = LANGUAGES[language].classify
    changes = mirror.changes(base, pull.base.merge_tree)
    if not patch.crosses_border(changes, classify):
        return patch.cut(pull.diff, changes, classify)
    apart = mirror.compare(base, pull.base.merge_tree, renames=False)
    return patch.cut(apart.diff, apart.changes, classify)


def _sum(mirror: Mirror, base: str, sections: Sequence[patch.Section]) -> Refusal | None:
    """Is base + test patch + gold patch the fixed state, to the last byte of every file?"""
    if _adds_up(mirror, sections):
        return None
    return Refusal(
        gate=Gate.PATCHES_DO_NOT_ADD_UP,
        detail=f"Test patch and gold patch on {base} do not give the merged files.",
    )


def _adds_up(mirror: Mirror, sections: Sequence[patch.Section]) -> bool:
    """Told here for plain text, by git where anything else is among the changes."""
    changes = [section.change for section in sections]
    if not all(proof.is_plain(change) for change in changes):
        patches = [patch.test_patch(sections), patch.gold_patch(sections)]
        return mirror.adds_up(changes, patches)
    old = mirror.blobs([change.old_blob for change in changes if change.status != "A"])
    return all(
        proof.is_proven(section, old.get(section.change.old_blob, b"")) for section in sections
    )


def _candidate(mirror: Mirror, base: str, cut: _Cut) -> Candidate:
    context, pull = cut.context, cut.context.pull
    issues = context.closing.issues
    return Candidate(
        instance_id=f"{pull.repo.replace('/', '__')}-{pull.number}",
        repo=pull.repo,
        repo_id=pull.repo_id,
        pull_number=pull.number,
        raw_digest=pull.raw_digest,
        policy=context.policy.digest,
        issue_numbers=tuple(issue.number for issue in issues),
        base_commit=base,
        base_committed_at=pull.base.committed_at or mirror.committed_at(base),
        nearest_tag=mirror.nearest_tag(base),
        merge_tree=pull.base.merge_tree,
        patch=patch.gold_patch(cut.sections),
        test_patch=patch.test_patch(cut.sections),
        patch_hash=patch.patch_hash(cut.sections),
        problem_statement=cut.told.problem_statement,
        hints_text=cut.told.hints_text,
        statement_marks=cut.told.marks,
        issue_created_at=min(issue.created_at for issue in issues),
        created_at=pull.created_at,
        merged_at=pull.merged_at,
        language=_language(context),
        version=_version(mirror, base, cut.texts),
        license=context.license,
        file_classes=tuple((section.change.path, section.kind) for section in cut.sections),
    )


def _version(mirror: Mirror, base: str, texts: Mapping[str, str]) -> str:
    """Of the nearest tag, else as the project's files say; `texts` are those read already."""
    tag = mirror.nearest_tag(base)
    tagged = None if tag is None else version.version_of_tag(tag)
    if tagged is not None:
        return tagged
    told = version.version_of_files(texts, paths=version.METADATA_PATHS)
    if told != version.UNKNOWN:
        return told
    modules = version.module_paths(mirror.paths(base))
    return version.version_of_files(_decoded(mirror.read_all(base, modules)), paths=modules)


def _decoded(files: Mapping[str, bytes]) -> Mapping[str, str]:
    return {path: content.decode("utf-8", "replace") for path, content in files.items()}


def _language(context: Context) -> str:
    """The language of the candidate; its gate has let it through."""
    found = gates.main_language(context.pull.languages, context.policy)
    if found is None or found not in LANGUAGES:
        raise BadItemError(f"{context.pull.repo} is in no language this version knows.")
    return found


def _base_commit(pull: PullRequest) -> str:
    if pull.base.commit is None:
        raise BadItemError(f"The base commit of {pull.repo}#{pull.number} is not resolved.")
    return pull.base.commit
